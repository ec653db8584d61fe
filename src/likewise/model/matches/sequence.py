"""Lazy sequence of the matches of one event. Creating a thousand `Match` objects costs more than finding them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

from likewise.model.match import Match, ReadingsReader

if TYPE_CHECKING:
    from numpy import signedinteger
    from numpy.typing import NDArray

    Ordinals = NDArray[signedinteger[Any]]

Make = Callable[[int, int], list[Match]]  # the matches from one place up to another


class Matches(Sequence[Match]):
    """Immutable sequence of matches. It equals a list of the same matches and prints like one.

    How many there are is known at once. A `Match` is made when it is first looked at, and kept.

    >>> found = Matches(2, lambda start, stop: [Match("e1", f"s{n}", "exact") for n in range(start, stop)])
    >>> len(found), found[-1].subscription_id, [match.subscription_id for match in found]
    (2, 's1', ['s0', 's1'])
    >>> found == [Match("e1", "s0", "exact"), Match("e1", "s1", "exact")], found[0] is found[0]
    (True, True)
    """

    __slots__ = ("_count", "_made", "_make", "_whole", "reader")

    def __init__(self, count: int, make: Make) -> None:
        self._count = count
        self._make = make
        self._made: dict[int, Match] = {}  # looked at one by one
        self._whole: list[Match] | None = None
        self.reader: ReadingsReader | None = None  # what computes the readings of each match

    def __len__(self) -> int:
        return self._count

    def _all(self) -> list[Match]:
        """Create all remaining matches and return the list."""
        if self._whole is None:
            self._whole = self._make(0, self._count)
            if self.reader is not None:
                for match in self._whole:
                    match.read_by(self.reader)
            for place, match in self._made.items():
                self._whole[place] = match
        return self._whole

    @overload
    def __getitem__(self, index: int) -> Match: ...
    @overload
    def __getitem__(self, index: slice) -> list[Match]: ...
    def __getitem__(self, index: int | slice) -> Match | list[Match]:
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(self._count))]
        position = index + self._count if index < 0 else index
        if not 0 <= position < self._count:
            raise IndexError(f"there are {self._count} matches, none at {index}")
        if self._whole is not None:
            return self._whole[position]
        match = self._made.get(position)
        if match is None:
            match = self._made[position] = self._make(position, position + 1)[0]
            if self.reader is not None:
                match.read_by(self.reader)
        return match

    def __iter__(self) -> Iterator[Match]:
        return iter(self._all())

    def __reversed__(self) -> Iterator[Match]:
        return reversed(self._all())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Matches):
            return self._count == other._count and self._all() == other._all()
        if isinstance(other, (list, tuple)):
            return self._count == len(other) and self._all() == list(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # as a list has none

    def __reduce__(self) -> tuple[Callable[[list[Match]], Matches], tuple[list[Match]]]:
        """Pickle as the complete list."""
        return matches_of, (self._all(),)

    def __add__(self, other: Iterable[Match]) -> list[Match]:
        return [*self._all(), *other]

    def __radd__(self, other: Iterable[Match]) -> list[Match]:
        return [*other, *self._all()]

    def __repr__(self) -> str:
        return repr(self._all())


def matches_of(matches: list[Match]) -> Matches:
    """Return a sequence of existing matches.

    >>> import pickle
    >>> found = matches_of([Match("e1", "s0", "exact")])
    >>> pickle.loads(pickle.dumps(found)) == found
    True
    """
    sequence = Matches(len(matches), lambda start, stop: matches[start:stop])
    sequence._whole = matches
    return sequence


NO_MATCHES = Matches(0, lambda start, stop: [])


def merged(parts: Sequence[tuple[Ordinals, Matches]]) -> Matches:
    """Merge the matches of several engines by ordinal; each part is sorted.

    >>> import numpy as np
    >>> def named(*ids): return Matches(len(ids), lambda a, b: [Match("e", id, "exact") for id in ids[a:b]])
    >>> both = merged([(np.array([4, 7]), named("s4", "s7")), (np.array([5]), named("s5"))])
    >>> [match.subscription_id for match in both]
    ['s4', 's5', 's7']
    """
    parts = [part for part in parts if len(part[1])]
    if not parts:
        return NO_MATCHES
    if len(parts) == 1:
        return parts[0][1]
    import numpy as np

    sizes = [len(ordinals) for ordinals, _ in parts]
    order = np.argsort(np.concatenate([ordinals for ordinals, _ in parts]), kind="stable")
    which = np.repeat(np.arange(len(parts)), sizes)[order]
    place = np.concatenate([np.arange(size) for size in sizes])[order]

    def make(start: int, stop: int) -> list[Match]:
        chosen = zip(which[start:stop].tolist(), place[start:stop].tolist(), strict=True)
        if stop - start == len(order):
            made = [piece[:] for _, piece in parts]
            return [made[part][at] for part, at in chosen]
        return [parts[part][1][at] for part, at in chosen]

    return Matches(len(order), make)
