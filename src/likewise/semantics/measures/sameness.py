"""Default measure of the matcher: does the event mean the same as the subscription?

Relatedness (`combine`) is where it begins: synonyms, abbreviations and identifiers are found by it. But opposites,
other media and other roles are related too. So names of attributes are taken apart into facets (`concepts`): names
of one kind agree, and every difference that tells two readings apart, another medium, role, unit or number, leaves
less of the score. Values are judged by rules of their own (`concepts.values`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from msgspec.structs import replace

from likewise import defaults
from likewise.kernels.sizes import check_ids, check_lengths
from likewise.semantics.concepts.comparison import (
    FacetAgreement,
    facet_agreement,
    no_reasons,
    reasons_of_one_pair,
)
from likewise.semantics.concepts.encyclopaedia.lexicon import folded
from likewise.semantics.concepts.explanations import explain_agreement
from likewise.semantics.concepts.facet_arrays import FacetArrays, facet_arrays, qualifier_words
from likewise.semantics.concepts.facets import LISTED, FacetParser, Facets, Qualifier
from likewise.semantics.concepts.inventory import Inventory, singular
from likewise.semantics.concepts.normalisation.normaliser import Normaliser, Reading, Rewrite, ValueState, rewritten
from likewise.semantics.concepts.normalisation.short_forms import ShortForms
from likewise.semantics.concepts.open_vocabulary import OpenVocabulary, PreparedWords
from likewise.semantics.concepts.surroundings import MARKS, WITHIN, implied, name_of, unmarked
from likewise.semantics.concepts.tables import InventoryTables
from likewise.semantics.concepts.values.inverted_index import InvertedItems
from likewise.semantics.concepts.values.judge import ValueComparer
from likewise.semantics.concepts.weights import FacetWeights
from likewise.semantics.measure import Term
from likewise.semantics.measures.combine import CombinedMeasure
from likewise.semantics.measures.esa import set_equal_to_one
from likewise.semantics.text.identifiers import split_identifier
from likewise.semantics.vectors.lru_cache import LruCache
from likewise.semantics.vectors.prepared_terms import PreparedTerms
from likewise.units import units_in_name

if TYPE_CHECKING:
    from numpy.typing import NDArray


_TURNS_A_MINUTE: Final = re.compile(r"[ _-](?:tr|giri|revs?|turns|omw|rot)[ _/-]min$", re.IGNORECASE)
_INNER_INDEX: Final = re.compile(r"(?<=[A-Za-z]{2})[ _-]?(\d{1,2})([ _-])(?=[A-Za-z]{2}[^.\[\]/]*$)")
OPPOSITE_SCORE: Final = 0.95  # of the score that the name of the opposite has
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
    values: dict[int, ValueState]


class SamenessMeasure:
    """Score in [0, 1] of how surely a candidate term means the query term.

    Terms that are wholly equal, unit, kind and context too, give 1. `knows` says whether the space has a word.
    `opposed` says whether being true of one name is being false of another.
    """

    name = "sameness"

    def __init__(
        self,
        combine: CombinedMeasure,
        has_word: Callable[[str], bool],
        inventory: Inventory,
        values: ValueComparer,
        open_words: OpenVocabulary,
        normaliser: Normaliser,
        weights: FacetWeights | None = None,
    ) -> None:
        self._combine = combine
        self._normaliser = normaliser
        self._values = values
        self._open_words = open_words
        self._positive = values.polarity.positive
        self.weights = weights or FacetWeights()
        self.tables = InventoryTables(inventory)
        self._parser = FacetParser(inventory, has_word)
        self.opposed = lru_cache(maxsize=defaults.NAME_CACHE_ENTRIES)(values.opposed)
        self._no_reasons = no_reasons()
        self._facets: LruCache[Term, Facets] = LruCache(
            defaults.TERM_CACHE_BYTES // 8, lambda f: 300 + 150 * len(f.qualifiers)
        )
        self._side: PreparedTerms[FacetArrays] = PreparedTerms(self._prepare)
        self._words: PreparedTerms[PreparedWords] = PreparedTerms(self._prepare_words)
        self._turned: PreparedTerms[InvertedItems] = PreparedTerms(lambda terms: open_words.invert(self._words(terms)))
        self._terms: PreparedTerms[tuple[Term, ...]] = PreparedTerms(lambda terms: terms)
        self._indices: PreparedTerms[dict[Term, int]] = PreparedTerms(
            lambda terms: {term: index for index, term in enumerate(terms)}
        )
        self._places: PreparedTerms[tuple[list[int], list[int]]] = PreparedTerms(_values_and_booleans)
        self._normalised: PreparedTerms[NormalisedSide] = PreparedTerms(self._normalise)
        self._shortened: PreparedTerms[ShortForms] = PreparedTerms(lambda terms: ShortForms([t.text for t in terms]))
        self._readings: LruCache[Term, tuple[Reading, ...]] = LruCache(
            defaults.TERM_CACHE_BYTES // 8, lambda found: 300 * len(found)
        )

    def with_weights(self, weights: FacetWeights) -> SamenessMeasure:
        """Return the same measure with other facet weights; its caches are shared."""
        other = copy(self)
        other.weights = weights
        other._side = PreparedTerms(other._prepare)
        return other

    def configuration(self) -> dict[str, object]:
        """Return the settings that rebuild this measure over the same space."""
        return {**self._combine.configuration(), "name": self.name}

    def matrix(self, queries: Sequence[Term], candidates: Sequence[Term]) -> NDArray[np.float32]:
        """Return the score of each query with each candidate: that of the readings that agree best."""
        # The same objects as last time are found at a glance.
        queries, candidates = (
            self._terms(queries),
            tuple(candidates),
        )
        a, s = self._normalised(queries), self._normalised(candidates)
        out = self._scores(a.terms, s.terms)
        if (
            len(a.terms) > len(queries)
            or len(s.terms) > len(candidates)
            or a.left.min(initial=1) < 1
            or s.left.min(initial=1) < 1
        ):
            out *= np.outer(a.left, s.left)
            out = np.maximum.reduceat(np.maximum.reduceat(out, a.starts, axis=0), s.starts, axis=1)
        self._read_short_forms(out, a, s)
        _compare_states(out, a.values, s.values)
        return _set_identical_to_one(out, self._indices(queries), candidates)

    def _scores(self, asked: tuple[Term, ...], seen: tuple[Term, ...]) -> NDArray[np.float32]:
        """The scores of terms as they are written."""
        related, words = self.relatedness(asked, seen)
        places = [self._places(side)[0] for side in (asked, seen)]
        if len(places[0]) == len(asked) and len(places[1]) == len(seen):
            return self._values.matrix(asked, seen, related)
        out = self.facet_scores(related, words, asked, seen)
        self._score_polarity(out, asked, seen)
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
        words = [folded(word) for word in split_identifier(seen.text)]
        out: dict[str, set[int]] = {}
        for form in self._shortened(asked.terms).of(unknown, words):
            text = rewritten(seen.text, form.start, form.end, form.plain)
            out.setdefault(text, set()).update(i for i in form.asked if asked.terms[i].role == "attribute")
        return {text: places for text, places in out.items() if places}

    def readings(self, term: Term) -> tuple[Reading, ...]:
        """Return what a name may stand for in plain words; a value is read as it is written."""
        if term.role == "value":
            return (Reading(term.text),)
        plain = Term(term.text, term.role, (), term.unit, "", term.context)
        kept = self._readings.get(plain)
        if kept is None:
            kept = self._read(plain)
            self._readings.put(plain, kept)
        return kept

    def _read(self, term: Term) -> tuple[Reading, ...]:
        """Read a name, or the one beside the value; as it is written too, if that one says nothing that is known."""
        context = unmarked(term.context)
        name = name_of(term.text, term.context)
        if name == term.text:
            return self._between_numbers(replace(term, context=context))
        step = Rewrite(term.text, name, "the name beside it")
        beside = tuple(
            Reading(r.text, (step, *r.steps), r.unit or _unit_in(term.text))
            for r in self._normaliser.readings(replace(term, text=name, context=context))
        )
        known = {self._parser.facets(replace(term, text=r.text, context=())).certainty for r in beside}
        if not known <= {"", "unit", "guess"}:
            return beside
        return (*beside, *self._normaliser.readings(replace(term, context=context)))

    def _between_numbers(self, term: Term) -> tuple[Reading, ...]:
        """Read a name; an index inside it stands at its end if a longer phrase is found then: `fan1_speed`."""
        turns = _TURNS_A_MINUTE.search(term.text)
        if turns is not None and not term.unit:  # the `min` of `tr_min` is no minimum
            readings = self._between_numbers(replace(term, text=term.text[: turns.start()], unit="rpm"))
            return tuple(Reading(r.text, r.steps, r.unit or "rpm") for r in readings)
        readings = self._normaliser.readings(term)
        moved = _index_last(term.text)
        if moved == term.text:
            return readings
        others = self._normaliser.readings(replace(term, text=moved))
        longest = [max((len(s.written) for r in some for s in r.steps), default=0) for some in (readings, others)]
        return others if longest[1] > longest[0] else readings

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
                if state.senses:
                    values[place] = state
        same = len(found) == len(terms) and all(a is b for a, b in zip(found, terms, strict=True))
        return NormalisedSide(
            terms if same else tuple(found), np.array(starts, np.int64), np.array(left, np.float32), values
        )

    def _score_polarity(self, scores: NDArray[np.float32], queries: Sequence[Term], candidates: Sequence[Term]) -> None:
        """Score Boolean names by their usual side; whether it is true or false is the value's matter."""
        places = [self._places(side)[1] for side in (queries, candidates)]
        if not all(places):
            return
        terms = [[side[i] for i in indices] for side, indices in zip((queries, candidates), places, strict=True)]
        turned = [tuple(replace(t, text=self._positive(t.text)) for t in side) for side in terms]
        changed = [
            np.array([old.text != new.text for old, new in zip(*sides, strict=True)])
            for sides in zip(terms, turned, strict=True)
        ]
        either = np.logical_or.outer(*changed)
        if either.any():
            block = np.ix_(*places)
            indices = OPPOSITE_SCORE * self.facet_scores(*self.relatedness(*turned), *turned)
            scores[block] = np.where(either, np.maximum(indices, scores[block]), scores[block])

    def facets(self, term: Term) -> Facets:
        """Return what the name of an attribute says about its reading, in its likeliest plain words."""
        return self._taken_apart(_reworded(term, self.readings(term)[0]))

    def _taken_apart(self, term: Term) -> Facets:
        """The facets of a name as it is written."""
        plain = Term(term.text, term.role, (), term.unit, term.kind, term.context)
        facets = self._facets.get(plain)
        if facets is None:
            facets = self._parser.facets(replace(plain, context=unmarked(plain.context)))
            for text in plain.context:
                if text.startswith(WITHIN):
                    facets = self._with_implied(facets, text)
            self._facets.put(plain, facets)
        return facets

    def _with_implied(self, facets: Facets, mark: str) -> Facets:
        """Add the qualifiers that surroundings imply of a name that has none, or only those beside which they hold."""
        names, beside = implied(mark)
        listed = {q.name for q in facets.qualifiers if q.source == LISTED and not q.is_outer}
        if not listed <= beside:
            return facets
        added = tuple(Qualifier(n) for name in names for n in self._parser.inventory.qualifier_names(name))
        return replace(facets, qualifiers=(*facets.qualifiers, *added))

    def explanation(self, query: Term, candidate: Term) -> str:
        """Explain what two names or values have in common and what tells them apart; '' if unknown.

        >>> from likewise.semantics.library import load_space
        >>> load_space().measure("sameness").explanation(Term("pipe temperature"), Term("air_temp"))
        "both are temperature; you ask for the pipe's, this is the air's"
        >>> load_space().measure("sameness").explanation(Term("outdoor temperature"), Term("Aussentemperatur"))
        "both are temperature; 'Aussentemperatur' is read as 'outdoor temperature' (word in de, heating-ventilation)"
        """
        if query.role == candidate.role == "value":
            return self._values.explanation(query, candidate, float(self._combine.matrix([query], [candidate])[0, 0]))
        a, s, steps = self._best_readings(query, candidate)
        turned = query.kind == candidate.kind == "boolean" and self.opposed(a.text, s.text)
        denied = f"what is true of {candidate.text!r} is false of {query.text!r}" if turned else ""
        if turned:
            a, s = (replace(term, text=self._positive(term.text)) for term in (a, s))
        facets = self._taken_apart(a), self._taken_apart(s)
        if not any(f.kinds or f.role for f in facets):
            return denied
        read = [f"{step.written!r} is read as {step.plain!r} ({step.how})" for step in steps]
        said = explain_agreement(*facets, self.agreement_as_written(a, s))
        around = [
            f"the rest of the event says that it is the {name}'s ({text.removeprefix(WITHIN)})"
            for text in candidate.context
            if text.startswith(WITHIN)
            for name in implied(text)[0]
            if any(q.name == name and not q.is_outer and not q.word for q in facets[1].qualifiers)
        ]
        return "; ".join(part for part in (said, *read, *around, denied) if part)

    def agreement(self, query: Term, candidate: Term) -> FacetAgreement:
        """Return what two names share and what tells them apart, by the readings that agree best."""
        return self.agreement_as_written(*self._best_readings(query, candidate)[:2])

    def agreement_as_written(self, query: Term, candidate: Term) -> FacetAgreement:
        """Return `agreement` of two names that are not read in other words."""
        queries, candidates, reasons = (query,), (candidate,), reasons_of_one_pair()
        self._compare(*self.relatedness(queries, candidates), queries, candidates, reasons)
        return facet_agreement(self._taken_apart(query), self._taken_apart(candidate), reasons, self)

    def _best_readings(self, query: Term, candidate: Term) -> tuple[Term, Term, tuple[Rewrite, ...]]:
        """Return the readings of two names that their score is from, and the steps to them."""
        side = self._normalised((query,))
        ours = [(_reworded(query, r), r.steps) for r in self.readings(query)]
        theirs = [(_reworded(candidate, r), r.steps) for r in self.readings(candidate)]
        for term, steps in tuple(theirs):
            for text in self._short_forms(side, term):
                step = Rewrite(term.text, text, "initials or a cut word of what is asked for")
                theirs.append((replace(term, text=text), (*steps, step)))
        scores = self._scores(tuple(term for term, _ in ours), tuple(term for term, _ in theirs))
        i, j = np.unravel_index(int(scores.argmax()), scores.shape)
        (a, query_steps), (s, candidate_steps) = ours[i], theirs[j]
        return a, s, (*query_steps, *candidate_steps)

    def example_names(self, query: str, candidate: str) -> tuple[str, str]:
        """Return the two vocabulary names that decide the relation of two words, or two empty strings."""
        naming = self._open_words.names
        decides = abs(naming.agreement(query, candidate)) >= self.weights.named
        return naming.example(query, candidate) if decides else ("", "")

    @staticmethod
    def _unmarked(terms: Sequence[Term]) -> Sequence[Term]:
        """Return the terms without what their surroundings say, which is no matter of relatedness."""
        if not any(text[:1] in MARKS for term in terms for text in term.context):
            return terms
        return tuple(replace(term, context=unmarked(term.context)) for term in terms)

    def relatedness(
        self, queries: Sequence[Term], candidates: Sequence[Term]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the relatedness of terms and of their words, the input of `facet_scores`. Weights do not affect it."""
        queries, candidates = self._unmarked(queries), self._unmarked(candidates)
        related, words = self._combine.scores_and_words(queries, candidates)
        return set_equal_to_one(related, queries, candidates), words

    def facet_scores(
        self,
        related: NDArray[np.float32],
        words: NDArray[np.float32],
        queries: Sequence[Term],
        candidates: Sequence[Term],
    ) -> NDArray[np.float32]:
        """Return the scores of attribute names from their relatedness and their facets."""
        return self._compare(related, words, queries, candidates, self._no_reasons)

    def _compare(
        self,
        related: NDArray[np.float32],
        words: NDArray[np.float32],
        queries: Sequence[Term],
        candidates: Sequence[Term],
        reasons: NDArray[np.float32],
    ) -> NDArray[np.float32]:
        """Return the scores of names; of one pair note the reasons where `reasons` has rows."""
        from likewise.semantics.concepts.kernels import facet_scores

        sides, known = (self._side(queries), self._side(candidates)), self._word_relations(queries, candidates)
        for axis, side in enumerate(sides):
            check_lengths("names", related.shape[axis], side.kind_ends, side.qualifier_ends, side.defaults)
            check_ids("words of qualifiers", side.words, words.shape[axis], -1)
            check_ids("open words of qualifiers", side.open_words, known.shape[axis], -1)
        scores: NDArray[np.float32] = facet_scores(
            related,
            *sides,
            self.tables.kind_relations,
            self.tables.qualifier_relations,
            words,
            known,
            self.tables.dimension_bit("ratio"),
            self.weights.numbers(),
            reasons,
        )
        return scores

    def _word_relations(self, queries: Sequence[Term], candidates: Sequence[Term]) -> NDArray[np.uint8]:
        """Return the known relations between qualifier words, besides the inventory."""
        return self._open_words.relations(
            self._words(queries), self._turned(queries), self._words(candidates), self.weights.named
        )

    def _prepare_words(self, terms: tuple[Term, ...]) -> PreparedWords:
        return self._open_words.prepare(qualifier_words([self._taken_apart(t) for t in terms]))

    def _prepare(self, terms: tuple[Term, ...]) -> FacetArrays:
        named = self._combine.word_indices(self._unmarked(terms))
        places = [{singular(word): place for word, place in words[::-1]} for words in named]
        arrays = facet_arrays([self._taken_apart(t) for t in terms], places, self.tables, self.weights)
        check_ids("kinds of names", arrays.kinds, min(self.tables.kind_relations.shape))
        listed = arrays.qualifiers[arrays.sources == LISTED]
        check_ids(
            "listed qualifiers", listed, min(*self.tables.qualifier_relations.shape, 64 * arrays.defaults.shape[1])
        )
        return arrays


def _reworded(term: Term, reading: Reading) -> Term:
    """A term in the words of a reading; the same object if it is as written."""
    return replace(term, text=reading.text, unit=term.unit or reading.unit) if reading.steps else term


def _index_last(name: str) -> str:
    """Return a name with the index inside its last part at the end.

    >>> _index_last("fan1-speed"), _index_last("pm2_5_raw"), _index_last("a1.temp"), _index_last("tank 2 level")
    ('fan-speed 1', 'pm2_5_raw', 'a1.temp', 'tank level 2')
    """
    inner = _INNER_INDEX.search(name)
    if inner is None or name[: inner.start()].casefold().endswith("pm"):
        return name
    return f"{name[: inner.start()].rstrip(' _-')}{inner[2] or ' '}{name[inner.end() :]} {inner[1]}"


def _unit_in(name: str) -> str:
    """Return the unit that a name surely has; '' if it has none."""
    return next((unit.symbol for unit, sure in units_in_name(name) if sure), "")


def _values_and_booleans(terms: tuple[Term, ...]) -> tuple[list[int], list[int]]:
    """Return the indices of values and of Boolean attribute names."""
    values = [i for i, term in enumerate(terms) if term.role == "value"]
    return values, [i for i, term in enumerate(terms) if term.kind == "boolean" and term.role == "attribute"]


def _compare_states(
    scores: NDArray[np.float32],
    asked: Mapping[int, ValueState],
    seen: Mapping[int, ValueState],
) -> None:
    """Settle the scores of values that the encyclopaedia knows: words for one state, or for two of one group."""
    for i, a in asked.items():
        for j, s in seen.items():
            if not {*a.senses}.isdisjoint(s.senses):
                if a.thing == s.thing or a.thing & s.thing:
                    scores[i, j] = max(scores[i, j], SAME_STATE)
            elif all(not {*x}.isdisjoint(y) for _, x in a.senses for _, y in s.senses):
                scores[i, j] = min(scores[i, j], OTHER_STATE)


def _set_identical_to_one(
    scores: NDArray[np.float32], places: Mapping[Term, int], seen: Sequence[Term]
) -> NDArray[np.float32]:
    for j, term in enumerate(seen):
        if term in places:
            scores[places[term], j] = 1
    return scores
