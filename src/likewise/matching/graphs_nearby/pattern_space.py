"""Triple patterns as points, lines and planes of a space of coordinates: what both indexes share (sources.md L).

An index says which patterns may lie within the radius of a triple in every constant position; here those
are measured, and ranked by the mean distance of their constants. What is left is exactly what comparing every
pattern with every triple would give.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from likewise.errors import DuplicateId, UnknownId
from likewise.kernels.sizes import check_ids, check_lengths
from likewise.matching.reference.locality import MARGIN, Locality, coordinates, principal_axis
from likewise.model.rdf import TriplePattern, is_variable

if TYPE_CHECKING:
    from numpy.typing import NDArray

Parts = tuple[str, str, str]
_PAIRS: Final = ((0, 1), (0, 2), (1, 2))
_SAMPLE: Final = 1_000  # terms of each position that choose the axes


class NearbyPatterns(NamedTuple):
    """Triple `triples[i]` is near pattern `numbers[i]`; ordered by triple, then distance, then number."""

    triples: NDArray[np.int64]
    numbers: NDArray[np.int64]
    distances: NDArray[np.float32]


class PatternSpace:
    """Patterns by number, and the patterns near a triple; subclasses say how candidates are found.

    `sample` are triples or patterns like those to come: they choose the directions of the coordinates, which
    stay as they are. Without one any direction serves, only slower.
    """

    def __init__(
        self, locality: Locality, radius: float, sample: Sequence[tuple[str, str, str] | TriplePattern] = ()
    ) -> None:
        self.locality = locality
        self.radius = radius
        self._axes = np.stack([self._axis(sample, position) for position in range(3)])
        self._slots: dict[int, int] = {}  # by number
        self._numbers = np.empty(16, np.int64)  # by slot
        self._constants = np.full((16, 3), -1, np.int64)  # by slot: rows of the constants, -1 for a variable
        self._placed: dict[int, dict[int, float]] = {}  # by slot: the very coordinates it was placed with
        self._free: list[int] = []
        self._equal: dict[int, tuple[tuple[int, int], ...]] = {}  # by slot, where a variable stands twice
        self._everything: set[int] = set()  # slots of (?s ?p ?o)
        self._texts: dict[str, int] = {}  # constants' texts to their rows
        self._text_of: list[str] = []
        self._uses: list[int] = []
        self._rows = np.zeros((16, locality.dimensions), np.float32)
        self._empty = np.zeros(16, bool)  # rows of terms that have no vector
        self._free_rows: list[int] = []

    def _axis(self, sample: Sequence[Parts | TriplePattern], position: int) -> NDArray[np.float64]:
        parts = [(t.subject, t.predicate, t.object) if isinstance(t, TriplePattern) else t for t in sample]
        texts = dict.fromkeys(self.locality.text(p[position]) for p in parts if not is_variable(p[position]))
        step = max(1, len(texts) // _SAMPLE)
        return principal_axis(self.locality.vectors(list(texts)[::step]).reshape(-1, self.locality.dimensions))

    def __len__(self) -> int:
        return len(self._slots)

    # -- changing -------------------------------------------------------------------------------

    def insert(self, pattern: TriplePattern, number: int) -> None:
        """Add a pattern under a number of its own."""
        self.extend([pattern], number)

    def extend(self, patterns: Iterable[TriplePattern], first: int = 0) -> None:
        """Add patterns, numbered on from `first`; their vectors are made together."""
        listed = [(p.subject, p.predicate, p.object) for p in patterns]
        for number in range(first, first + len(listed)):
            if number in self._slots:
                raise DuplicateId(str(number))
        texts = [["" if is_variable(part) else self.locality.text(part) for part in parts] for parts in listed]
        self._learn({t for row in texts for t in row if t and t not in self._texts})
        for number, (parts, row) in enumerate(zip(listed, texts, strict=True), first):
            slot = self._free.pop() if self._free else len(self._slots)
            self._slots[number] = slot
            if slot >= len(self._numbers):
                self._numbers = np.resize(self._numbers, 2 * slot)
                self._constants = np.concatenate([self._constants, np.full((slot, 3), -1)])
            self._numbers[slot] = number
            for position, part in enumerate(parts):
                constants = -1 if is_variable(part) else self._texts[row[position]]
                self._constants[slot, position] = constants
                if constants >= 0:
                    self._uses[constants] += 1
            equal = tuple((i, j) for i, j in _PAIRS if is_variable(parts[i]) and parts[i] == parts[j])
            if equal:
                self._equal[slot] = equal
            placed = self._placed[slot] = self._coordinates_of(slot)
            if placed:
                self.place(slot, placed)
            else:
                self._everything.add(slot)

    def _learn(self, texts: Iterable[str]) -> None:
        listed = sorted(texts)
        if not listed:
            return
        for text, vector in zip(listed, self.locality.vectors(listed), strict=True):
            row = self._free_rows.pop() if self._free_rows else len(self._text_of)
            if row == len(self._text_of):
                self._text_of.append(text)
                self._uses.append(0)
            if row >= len(self._rows):
                self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
                self._empty = np.concatenate([self._empty, np.zeros_like(self._empty)])
            self._text_of[row] = text
            self._rows[row] = vector
            self._empty[row] = not vector.any()
            self._texts[text] = row

    def _coordinates_of(self, slot: int) -> dict[int, float]:
        """The coordinates of a pattern's constants, by position."""
        constants = self._constants[slot].tolist()
        along = coordinates(self._rows[constants], self._axes).tolist()  # a row for a variable is not used
        return {i: along[i][i] for i, row in enumerate(constants) if row >= 0}

    def remove(self, number: int) -> None:
        """Take a pattern out."""
        slot = self._slots.pop(number, None)
        if slot is None:
            raise UnknownId(str(number))
        placed = self._placed.pop(slot)
        if placed:
            self.displace(slot, placed)
        self._everything.discard(slot)
        self._equal.pop(slot, None)
        for row in self._constants[slot].tolist():
            if row >= 0:
                self._uses[row] -= 1
                if self._uses[row] == 0:
                    del self._texts[self._text_of[row]]
                    self._free_rows.append(row)
        self._free.append(slot)

    # -- what an index says ---------------------------------------------------------------------

    def place(self, slot: int, coordinates: dict[int, float]) -> None:
        """Hold a pattern with constants at these positions."""
        raise NotImplementedError(f"{type(self).__name__} must say where it holds a pattern")

    def displace(self, slot: int, coordinates: dict[int, float]) -> None:
        """Let go of a pattern."""
        raise NotImplementedError(f"{type(self).__name__} must say how it lets go of a pattern")

    def search(
        self, lows: NDArray[np.float64], highs: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Pairs of a triple and the slot of a pattern whose constants' coordinates lie in the triple's ranges."""
        raise NotImplementedError(f"{type(self).__name__} must say how it searches")

    # -- matching -------------------------------------------------------------------------------

    def match(self, subject: str, predicate: str, object: str) -> list[tuple[int, float]]:
        """The patterns within the radius of a triple, the nearest first, with their distances."""
        near = self.match_batch([(subject, predicate, object)])
        return list(zip(near.numbers.tolist(), near.distances.tolist(), strict=True))

    def match_batch(self, triples: Sequence[Parts]) -> NearbyPatterns:
        """`match` for many triples at once, as arrays."""
        from likewise.matching.graphs_nearby.pattern_space_kernels import measure

        spoken = list(map(self.locality.text, chain.from_iterable(triples)))
        texts = {text: place for place, text in enumerate(dict.fromkeys(spoken))}
        of = np.fromiter(map(texts.__getitem__, spoken), np.int64, len(spoken)).reshape(-1, 3)
        vectors = self.locality.vectors(list(texts)).reshape(-1, self.locality.dimensions)
        centres = coordinates(vectors, self._axes)[of, np.arange(3)]
        reach = self.radius + MARGIN
        candidates, slots = self.search(centres - reach, centres + reach)
        # Where each text stands among the constants, -1 if nowhere: such a pair is at distance 0.
        known = np.fromiter(map(self._texts.get, texts, repeat(-1)), np.int64, len(texts))
        mean = np.empty(len(candidates), np.float32)
        check_ids("slots of patterns", slots, len(self._constants))
        check_ids("rows of constants", self._constants[slots], len(self._rows), -1)
        check_ids("triples that were searched for", candidates, len(of))
        check_lengths("rows of constants", len(self._rows), self._empty)
        within = measure(
            vectors,
            self._rows,
            of,
            self._constants,
            known,
            ~vectors.any(axis=1),
            self._empty,
            candidates,
            slots,
            self.radius,
            mean,
        )
        candidates, slots, mean = candidates[:within], slots[:within], mean[:within]
        if self._equal:
            keep = np.fromiter(
                (
                    all(triples[t][i] == triples[t][j] for i, j in self._equal.get(s, ()))
                    for t, s in zip(candidates.tolist(), slots.tolist(), strict=True)
                ),
                bool,
                len(candidates),
            )
            candidates, slots, mean = candidates[keep], slots[keep], mean[keep]
        return self._ranked(triples, candidates, slots, mean)

    def _ranked(
        self,
        triples: Sequence[Parts],
        candidates: NDArray[np.int64],
        slots: NDArray[np.int64],
        mean: NDArray[np.float32],
    ) -> NearbyPatterns:
        if self._everything:
            pairs = [
                (t, slot)
                for t, parts in enumerate(triples)
                for slot in self._everything
                if all(parts[i] == parts[j] for i, j in self._equal.get(slot, ()))
            ]
            further = np.array(pairs, np.int64).reshape(-1, 2)
            candidates, slots = np.concatenate([candidates, further[:, 0]]), np.concatenate([slots, further[:, 1]])
            mean = np.concatenate([mean, np.zeros(len(further), np.float32)])
        numbers = self._numbers[slots]
        order = np.lexsort((numbers, mean, candidates))
        return NearbyPatterns(candidates[order], numbers[order], mean[order])
