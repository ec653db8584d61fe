"""Relevance feedback: judgements of users that adjust the scores of a measure (decision 004).

A judgement says that an event was, or was not, what a subscriber meant. It moves the scores of the term
pairs that made the match, within bounds, for one tenant; the measure itself stays as it is. Identifiers
that split into the same words count as one seen term, so a judgement on `BatV` holds for `bat_v` too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from likewise.errors import UnknownId
from likewise.model.text import DENIAL, fold, without_denials
from likewise.semantics.measure import Measure, Role, Term, opposed
from likewise.semantics.text.identifiers import split_identifier

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

STEP: Final = 0.4  # the part of the way towards 1 (or 0) that the first judgement moves a score
DENIED: Final = 0.7  # the score at which what is asked for is what a person said that an attribute is not
BOUND: Final = 0.9  # the part of the way that no number of judgements passes


class TermPair(NamedTuple):
    """Two terms whose relatedness was judged: the subscription's (`query`) and the event's (`candidate`)."""

    role: Role
    query: str
    candidate: str


class Judgement(msgspec.Struct, frozen=True):
    """One judgement of a match and the term pairs it adjusts. `number` identifies it for undoing."""

    number: int
    subscription_id: str
    event_id: str
    relevant: bool
    pairs: tuple[TermPair, ...]


def term_pair(role: Role, query: str, candidate: str) -> TermPair:
    """Return the normalised pair under which a judgement is stored.

    >>> term_pair("attribute", "Battery  voltage", "BatV") == term_pair("attribute", "battery voltage", "bat_v")
    True
    """
    return TermPair(role, fold(query), _normalized_candidate(candidate))


def _normalized_candidate(text: str) -> str:
    return fold(" ".join(split_identifier(text))) or fold(text)


def judged_by(pairs: Iterable[TermPair]) -> Callable[[str], bool]:
    """Return a predicate: whether a judgement of these pairs adjusts a candidate text.

    >>> judged_by([term_pair("attribute", "battery", "BatV")])("bat_v")
    True
    """
    touched = {pair.candidate for pair in pairs}
    return lambda text: _normalized_candidate(text) in touched


class Feedback:
    """Judgements of one tenant, and the adjustment of each pair.

    >>> feedback = Feedback()
    >>> judged = feedback.judge("s1", "e1", True, [term_pair("attribute", "battery", "BatV")])
    >>> round(feedback.adjusted_score(0.5, term_pair("attribute", "battery", "bat_v")), 3)
    0.7
    >>> feedback.undo(judged.number) == judged
    True
    >>> feedback.adjusted_score(0.5, term_pair("attribute", "battery", "bat_v"))
    0.5
    """

    def __init__(self, judgements: Iterable[Judgement] = ()) -> None:
        self._judgements: dict[int, Judgement] = {}
        self._balance: dict[TermPair, int] = {}  # judgements for, less judgements against
        self._next = 1
        for judgement in judgements:
            self._add(judgement)

    def __len__(self) -> int:
        return len(self._judgements)

    def __iter__(self) -> Iterator[Judgement]:
        return iter(tuple(self._judgements.values()))

    def judge(self, subscription_id: str, event_id: str, relevant: bool, pairs: Iterable[TermPair]) -> Judgement:
        """Add a judgement and return it.

        Args:
            subscription_id: Id of the subscription.
            event_id: Id of the event.
            relevant: Whether the event is what the subscriber meant.
            pairs: Term pairs of the match.
        """
        judgement = Judgement(self._next, subscription_id, event_id, relevant, tuple(dict.fromkeys(pairs)))
        self._add(judgement)
        return judgement

    def restore(self, judgements: Iterable[Judgement]) -> None:
        """Restore judgements under their numbers."""
        for judgement in judgements:
            self._add(judgement)

    def undo(self, number: int) -> Judgement:
        """Remove a judgement and return it. Raises `UnknownId` for an unknown number."""
        judgement = self._judgements.pop(number, None)
        if judgement is None:
            raise UnknownId(f"judgement {number}")
        self._apply(judgement, -1)
        return judgement

    def _add(self, judgement: Judgement) -> None:
        self._judgements[judgement.number] = judgement
        self._next = max(self._next, judgement.number + 1)
        self._apply(judgement, 1)

    def _apply(self, judgement: Judgement, sign: int) -> None:
        for pair in judgement.pairs:
            balance = self._balance.get(pair, 0) + (sign if judgement.relevant else -sign)
            if balance:
                self._balance[pair] = balance
            else:
                self._balance.pop(pair, None)

    def balance(self, pair: TermPair) -> int:
        """Return judgements for a pair, less judgements against it."""
        return self._balance.get(pair, 0)

    def adjusted_score(self, score: float, pair: TermPair) -> float:
        """Return a score adjusted by the judgements of its pair."""
        balance = self._balance.get(pair, 0)
        part = min(BOUND, 1 - (1 - STEP) ** abs(balance))
        return score + (1 - score) * part if balance > 0 else score * (1 - part)


class JudgedMeasure:
    """A measure whose scores are adjusted by feedback; without judgements, the measure itself."""

    def __init__(self, measure: Measure, feedback: Feedback) -> None:
        self.measure = measure
        self.feedback = feedback
        self.name = measure.name

    def configuration(self) -> dict[str, object]:
        """Return the measure's own configuration; judgements are saved apart."""
        return self.measure.configuration()

    def opposed(self, query: str, candidate: str) -> bool:
        """Return whether one Boolean name is true exactly when the other is false."""
        return opposed(self.measure, query, candidate)

    def _without_denied(self, queries: Sequence[Term], candidates: Sequence[Term]) -> NDArray[float32]:
        """Return the measure's scores; 0 where a person said that the candidate is not what the query asks for."""
        split = {
            place: without_denials(term.text)
            for place, term in enumerate(candidates)
            if DENIAL in term.text and term.role == "attribute"
        }
        if not any(denied for _, denied in split.values()):
            return self.measure.matrix(queries, candidates)
        plain = list(candidates)
        for place, (name, _) in split.items():
            plain[place] = replace(candidates[place], text=name)
        matrix = self.measure.matrix(queries, plain).copy()
        for place, (name, denied) in split.items():
            if denied:
                asked = [replace(candidates[place], text=text, context=()) for text in denied]
                meant = self.measure.matrix(asked, queries).max(0) >= DENIED
                meant &= [fold(query.text) != fold(name) for query in queries]
                matrix[meant, place] = 0.0
        return matrix

    def matrix(self, queries: Sequence[Term], candidates: Sequence[Term]) -> NDArray[float32]:
        """Return the measure's scores, adjusted for judged pairs and for what people denied. Equal terms stay at 1."""
        matrix = self._without_denied(queries, candidates)
        judged = self.feedback._balance
        if not judged:
            return matrix
        matrix = matrix.copy()
        rows: dict[tuple[Role, str], list[int]] = {}
        for index, term in enumerate(queries):
            rows.setdefault((term.role, fold(term.text)), []).append(index)
        columns: dict[tuple[Role, str], list[int]] = {}
        for index, term in enumerate(candidates):
            columns.setdefault((term.role, _normalized_candidate(term.text)), []).append(index)
        for pair in judged:
            for column in columns.get((pair.role, pair.candidate), ()):
                for row in rows.get((pair.role, pair.query), ()):
                    if fold(queries[row].text) != fold(candidates[column].text):
                        matrix[row, column] = self.feedback.adjusted_score(float(matrix[row, column]), pair)
        return matrix
