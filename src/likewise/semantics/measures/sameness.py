"""The matcher's default measure: is what an event says the same thing that a subscription asks for?

Relatedness (`combine`) is where it begins: synonyms, abbreviations and identifiers are found by it. But opposites,
other media and other roles are related too. So names of attributes are taken apart into facets (`concepts`): names
of one kind agree, and every difference that tells two readings apart, another medium, role, unit or number, leaves
less of the score. Values are judged by rules of their own (`concepts.values`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from msgspec.structs import replace

from likewise import defaults
from likewise.kernels.sizes import check_ids, check_lengths
from likewise.semantics.concepts.agreement import Agreement, agreement
from likewise.semantics.concepts.encyclopaedia.lexicon import folded
from likewise.semantics.concepts.facets import LISTED, FacetParser, Facets
from likewise.semantics.concepts.inventory import Inventory, singular
from likewise.semantics.concepts.normalisation.normaliser import Normaliser, Reading, Rewrite, rewritten
from likewise.semantics.concepts.normalisation.short_forms import ShortForms
from likewise.semantics.concepts.open_words import OpenWords, WordSide
from likewise.semantics.concepts.sides import FacetArrays, facet_arrays, spoken_words
from likewise.semantics.concepts.tables import SAME, SIBLINGS, Tables
from likewise.semantics.concepts.values.judge import ValueJudge
from likewise.semantics.concepts.values.turned import TurnedItems
from likewise.semantics.concepts.weights import FacetWeights
from likewise.semantics.concepts.wording import same_reading
from likewise.semantics.measure import Term
from likewise.semantics.measures.combine import CombinedMeasure
from likewise.semantics.measures.esa import equal_are_one
from likewise.semantics.vectors.asked_side import AskedSide
from likewise.semantics.vectors.least_recent import LeastRecent
from likewise.semantics.words.identifiers import words_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


TURNED: Final = 0.95  # of the score that the name of the opposite has
REWRITTEN: Final = 0.98  # of the score of a name that was read in other words than it is written in
SHORTENED: Final = 0.95  # of the score of a name with a word read as the initials of asked words, or as one cut
SAME_STATE: Final = 0.9  # two values that the encyclopaedia gives as words for one state, at least
OTHER_STATE: Final = 0.1  # two values for different states of one group, at most


class NormalisedSide(NamedTuple):
    """The readings of some terms: as terms, where each term's begin, and what is left of each one's score.

    `values` are the states that values stand for, with their groups.
    """

    terms: tuple[Term, ...]
    starts: NDArray[np.int64]
    left: NDArray[np.float32]
    values: dict[int, tuple[str, tuple[str, ...]]]


class SamenessMeasure:
    """How surely a seen term is what was asked for, in [0, 1].

    Terms that are wholly equal, unit, kind and context too, give 1. `knows` says whether the space has a word.
    `opposed` says whether being true of one name is being false of another.
    """

    name = "sameness"

    def __init__(
        self,
        combine: CombinedMeasure,
        knows: Callable[[str], bool],
        inventory: Inventory,
        values: ValueJudge,
        spoken: OpenWords,
        normaliser: Normaliser,
        weights: FacetWeights | None = None,
    ) -> None:
        self._combine = combine
        self._normaliser = normaliser
        self._values = values
        self._spoken = spoken
        self._positive = values.polarity.positive
        self.weights = weights or FacetWeights()
        self.tables = Tables(inventory)
        self._parser = FacetParser(inventory, knows)
        self.opposed = lru_cache(maxsize=defaults.NAMES_KEPT)(values.opposed)
        self._facets: LeastRecent[Term, Facets] = LeastRecent(
            defaults.TERM_CACHE_BYTES // 8, lambda f: 300 + 150 * len(f.qualifiers)
        )
        self._side: AskedSide[FacetArrays] = AskedSide(self._prepare)
        self._words: AskedSide[WordSide] = AskedSide(self._spoken_words)
        self._turned: AskedSide[TurnedItems] = AskedSide(lambda terms: spoken.turned(self._words(terms)))
        self._terms: AskedSide[tuple[Term, ...]] = AskedSide(lambda terms: terms)
        self._places: AskedSide[tuple[list[int], list[int]]] = AskedSide(_places)
        self._normalised: AskedSide[NormalisedSide] = AskedSide(self._normalise)
        self._shortened: AskedSide[ShortForms] = AskedSide(lambda terms: ShortForms([t.text for t in terms]))
        self._readings: LeastRecent[Term, tuple[Reading, ...]] = LeastRecent(
            defaults.TERM_CACHE_BYTES // 8, lambda found: 300 * len(found)
        )

    def with_weights(self, weights: FacetWeights) -> SamenessMeasure:
        """The same measure with other weights of facets; what it knows about terms is shared."""
        other = copy(self)
        other.weights = weights
        other._side = AskedSide(other._prepare)
        return other

    def configuration(self) -> dict[str, object]:
        """What rebuilds this measure over the same space."""
        return {**self._combine.configuration(), "name": self.name}

    def matrix(self, asked: Sequence[Term], seen: Sequence[Term]) -> NDArray[np.float32]:
        """The score of every asked term with every seen one: that of their readings that agree best."""
        asked, seen = self._terms(asked), tuple(seen)  # the same objects as last time are found at a glance
        a, s = self._normalised(asked), self._normalised(seen)
        out = self._scores(a.terms, s.terms)
        if (
            len(a.terms) > len(asked)
            or len(s.terms) > len(seen)
            or a.left.min(initial=1) < 1
            or s.left.min(initial=1) < 1
        ):
            out *= np.outer(a.left, s.left)
            out = np.maximum.reduceat(np.maximum.reduceat(out, a.starts, axis=0), s.starts, axis=1)
        self._read_short_forms(out, a, s)
        _compare_states(out, a.values, s.values)
        return _wholly_equal_are_one(out, asked, seen)

    def _scores(self, asked: tuple[Term, ...], seen: tuple[Term, ...]) -> NDArray[np.float32]:
        """The scores of terms as they are written."""
        related, words = self.compared(asked, seen)
        places = [self._places(side)[0] for side in (asked, seen)]
        if len(places[0]) == len(asked) and len(places[1]) == len(seen):
            return self._values.matrix(asked, seen, related)
        out = self.scored(related, words, asked, seen)
        self._turn(out, asked, seen)
        if all(places):
            rows, columns = np.ix_(*places)
            values = [[side[i] for i in found] for side, found in zip((asked, seen), places, strict=True)]
            out[rows, columns] = self._values.matrix(values[0], values[1], related[rows, columns])
        return out

    def _read_short_forms(self, scores: NDArray[np.float32], asked: NormalisedSide, seen: NormalisedSide) -> None:
        """Raise the scores of pairs whose seen name has initials, or a cut word, of the asked one."""
        for j, start in enumerate(seen.starts.tolist()):
            end = int(seen.starts[j + 1]) if j + 1 < len(seen.starts) else len(seen.terms)
            for term in seen.terms[start:end]:
                for plain, places in self._short_forms(asked, term).items():
                    rows = sorted(places)
                    found = self._scores(tuple(asked.terms[i] for i in rows), (replace(term, text=plain),))[:, 0]
                    for row, score in zip(rows, found.tolist(), strict=True):
                        i = int(np.searchsorted(asked.starts, row, "right")) - 1
                        scores[i, j] = max(scores[i, j], SHORTENED * asked.left[row] * score)

    def _short_forms(self, asked: NormalisedSide, seen: Term) -> dict[str, set[int]]:
        """The readings of a name by initials and cut words, each with the asked terms that it holds for."""
        if seen.role == "value":
            return {}
        unknown = self._normaliser.unknown(seen.text)
        if not unknown:
            return {}
        words = [folded(word) for word in words_of(seen.text)]
        out: dict[str, set[int]] = {}
        for form in self._shortened(asked.terms).of(unknown, words):
            text = rewritten(seen.text, form.start, form.end, form.plain)
            out.setdefault(text, set()).update(i for i in form.asked if asked.terms[i].role == "attribute")
        return {text: places for text, places in out.items() if places}

    def readings(self, term: Term) -> tuple[Reading, ...]:
        """What a name may stand for in plain words; a value is read as it is written."""
        if term.role == "value":
            return (Reading(term.text),)
        plain = Term(term.text, term.role, (), term.unit, "", term.context)
        kept = self._readings.get(plain)
        if kept is None:
            kept = self._normaliser.readings(plain)
            self._readings.put(plain, kept)
        return kept

    def _normalise(self, terms: tuple[Term, ...]) -> NormalisedSide:
        found: list[Term] = []
        starts, left = [], []
        values = {}
        for place, term in enumerate(terms):
            starts.append(len(found))
            readings = self.readings(term)
            found += [_reworded(term, r) for r in readings]
            left += [REWRITTEN if r.steps else 1.0 for r in readings]
            if term.role == "value":
                state = self._normaliser.value(term.text)
                if state[0]:
                    values[place] = state
        same = len(found) == len(terms) and all(a is b for a, b in zip(found, terms, strict=True))
        return NormalisedSide(
            terms if same else tuple(found), np.array(starts, np.int64), np.array(left, np.float32), values
        )

    def _turn(self, scores: NDArray[np.float32], asked: Sequence[Term], seen: Sequence[Term]) -> None:
        """Scores names of Booleans by the side that is usually asked for: whether it is so or not, the value says."""
        places = [self._places(side)[1] for side in (asked, seen)]
        if not all(places):
            return
        terms = [[side[i] for i in found] for side, found in zip((asked, seen), places, strict=True)]
        turned = [tuple(replace(t, text=self._positive(t.text)) for t in side) for side in terms]
        changed = [
            np.array([old.text != new.text for old, new in zip(*sides, strict=True)])
            for sides in zip(terms, turned, strict=True)
        ]
        either = np.logical_or.outer(*changed)
        if either.any():
            block = np.ix_(*places)
            found = TURNED * self.scored(*self.compared(*turned), *turned)
            scores[block] = np.where(either, np.maximum(found, scores[block]), scores[block])

    def facets(self, term: Term) -> Facets:
        """What the name of an attribute says about its reading, in its likeliest plain words."""
        return self._taken_apart(_reworded(term, self.readings(term)[0]))

    def _taken_apart(self, term: Term) -> Facets:
        """The facets of a name as it is written."""
        plain = Term(term.text, term.role, (), term.unit, term.kind, term.context)
        kept = self._facets.get(plain)
        if kept is None:
            kept = self._parser.facets(plain)
            self._facets.put(plain, kept)
        return kept

    def explained(self, asked: Term, seen: Term) -> str:
        """In words what two names or values have in common and what tells them apart; '' if they say nothing.

        >>> from likewise.semantics.library import load_space
        >>> load_space().measure("sameness").explained(Term("pipe temperature"), Term("air_temp"))
        "both are temperature; you ask for the pipe's, this is the air's"
        >>> load_space().measure("sameness").explained(Term("outdoor temperature"), Term("Aussentemperatur"))
        "both are temperature; 'Aussentemperatur' is read as 'outdoor temperature' (word in de, heating-ventilation)"
        """
        if asked.role == seen.role == "value":
            return self._values.explained(asked, seen, float(self._combine.matrix([asked], [seen])[0, 0]))
        a, s, steps = self._best_readings(asked, seen)
        turned = asked.kind == seen.kind == "boolean" and self.opposed(a.text, s.text)
        denied = f"what is true of {seen.text!r} is false of {asked.text!r}" if turned else ""
        if turned:
            a, s = (replace(term, text=self._positive(term.text)) for term in (a, s))
        facets = self._taken_apart(a), self._taken_apart(s)
        if not any(f.kinds or f.role for f in facets):
            return denied
        read = [f"{step.written!r} is read as {step.plain!r} ({step.how})" for step in steps]
        said = same_reading(*facets, self.agreement_as_written(a, s))
        return "; ".join(part for part in (said, *read, denied) if part)

    def agreement(self, asked: Term, seen: Term) -> Agreement:
        """What two names have in common and what tells them apart, by the readings that agree best."""
        return self.agreement_as_written(*self._best_readings(asked, seen)[:2])

    def agreement_as_written(self, asked: Term, seen: Term) -> Agreement:
        """`agreement` of two names that are not read in other words: the plain form of `scored`."""
        return agreement(self._taken_apart(asked), self._taken_apart(seen), self.tables, self.weights, self)

    def _best_readings(self, asked: Term, seen: Term) -> tuple[Term, Term, tuple[Rewrite, ...]]:
        """The readings of two names that their score is from, and how they came to be."""
        side = self._normalised((asked,))
        ours = [(_reworded(asked, r), r.steps) for r in self.readings(asked)]
        theirs = [(_reworded(seen, r), r.steps) for r in self.readings(seen)]
        for term, steps in tuple(theirs):
            for text in self._short_forms(side, term):
                step = Rewrite(term.text, text, "initials or a cut word of what is asked for")
                theirs.append((replace(term, text=text), (*steps, step)))
        scores = self._scores(tuple(term for term, _ in ours), tuple(term for term, _ in theirs))
        i, j = np.unravel_index(int(scores.argmax()), scores.shape)
        (a, asked_steps), (s, seen_steps) = ours[i], theirs[j]
        return a, s, (*asked_steps, *seen_steps)

    def relation(self, asked: str, seen: str, *, siblings: bool = True) -> int:
        """How two words stand to each other that no inventory lists (`open_words`)."""
        found = self._spoken.relation(asked, seen, self.weights.named)
        if found == 0 or (found == SIBLINGS and not siblings):
            related = float(self._combine.compared([Term(asked)], [Term(seen)])[1].max(initial=0.0))
            found = SAME if related >= self.weights.same_word else 0
        return found

    def names(self, asked: str, seen: str) -> tuple[str, str]:
        """Two names of vocabularies that decide how two words stand to each other, or two empty ones."""
        naming = self._spoken.naming
        decides = abs(naming.agreement(asked, seen)) >= self.weights.named
        return naming.example(asked, seen) if decides else ("", "")

    def compared(self, asked: Sequence[Term], seen: Sequence[Term]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The relatedness of terms and of their words, which `scored` starts from; weights play no part in it."""
        related, words = self._combine.compared(asked, seen)
        return equal_are_one(related, asked, seen), words

    def scored(
        self, related: NDArray[np.float32], words: NDArray[np.float32], asked: Sequence[Term], seen: Sequence[Term]
    ) -> NDArray[np.float32]:
        """The scores of names of attributes, from their relatedness and their facets."""
        from likewise.semantics.concepts.kernels import agreements

        sides, known = (self._side(asked), self._side(seen)), self._known(asked, seen)
        for axis, side in enumerate(sides):
            check_lengths("names", related.shape[axis], side.kind_ends, side.qualifier_ends, side.defaults)
            check_ids("words of qualifiers", side.words, words.shape[axis], -1)
            check_ids("spoken words of qualifiers", side.spoken, known.shape[axis], -1)
        found: NDArray[np.float32] = agreements(
            related, *sides, self.tables.kind_relations, self.tables.qualifier_relations,
            words, known, self.tables.dimension_bit("ratio"), self.weights.numbers(),
        )  # fmt: skip
        return found

    def _known(self, asked: Sequence[Term], seen: Sequence[Term]) -> NDArray[np.uint8]:
        """What is known about the words of qualifiers, beside the inventory."""
        return self._spoken.relations(self._words(asked), self._turned(asked), self._words(seen), self.weights.named)

    def _spoken_words(self, terms: tuple[Term, ...]) -> WordSide:
        return self._spoken.side(spoken_words([self._taken_apart(t) for t in terms]))

    def _prepare(self, terms: tuple[Term, ...]) -> FacetArrays:
        places = [{singular(word): place for word, place in words[::-1]} for words in self._combine.words(terms)]
        found = facet_arrays([self._taken_apart(t) for t in terms], places, self.tables, self.weights)
        check_ids("kinds of names", found.kinds, min(self.tables.kind_relations.shape))
        listed = found.qualifiers[found.standings == LISTED]
        check_ids(
            "listed qualifiers", listed, min(*self.tables.qualifier_relations.shape, 64 * found.defaults.shape[1])
        )
        return found


def _reworded(term: Term, reading: Reading) -> Term:
    """A term in the words of a reading; the same object if it is as written."""
    return replace(term, text=reading.text, unit=term.unit or reading.unit) if reading.steps else term


def _places(terms: tuple[Term, ...]) -> tuple[list[int], list[int]]:
    """Where values stand among terms, and where names of Booleans do."""
    values = [i for i, term in enumerate(terms) if term.role == "value"]
    return values, [i for i, term in enumerate(terms) if term.kind == "boolean" and term.role == "attribute"]


def _compare_states(
    scores: NDArray[np.float32],
    asked: Mapping[int, tuple[str, tuple[str, ...]]],
    seen: Mapping[int, tuple[str, tuple[str, ...]]],
) -> None:
    """Settle the scores of values that the encyclopaedia knows: words for one state, or for two of one group."""
    for i, (a, groups) in asked.items():
        for j, (s, others) in seen.items():
            if a == s:
                scores[i, j] = max(scores[i, j], SAME_STATE)
            elif not {*groups}.isdisjoint(others):
                scores[i, j] = min(scores[i, j], OTHER_STATE)


def _wholly_equal_are_one(
    scores: NDArray[np.float32], asked: Sequence[Term], seen: Sequence[Term]
) -> NDArray[np.float32]:
    places = {term: i for i, term in enumerate(asked)}
    for j, term in enumerate(seen):
        if term in places:
            scores[places[term], j] = 1
    return scores
