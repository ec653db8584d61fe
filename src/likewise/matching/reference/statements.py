"""Approximate statements about one RDF event, hybrid over WordNet and ESA (sources.md H).

Hasan, O'Riain and Curry, "Approximate Semantic Matching of Heterogeneous Events", DEBS 2012, section 5:
Top_m by JCn, fP = min(1, (m - rank + 1) * ESA), fV = ESA, fR = the mean of the best f_stmt.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from likewise.matching.reference.conditions import ConditionMatch
from likewise.matching.reference.event_view import related
from likewise.matching.reference.match_threshold import MatchThreshold
from likewise.matching.reference.statement_terms import EventStatement, event_statements, plain_words
from likewise.model.event import Event
from likewise.model.subscription import Statement, Statements, Variant
from likewise.model.text import fold
from likewise.semantics.measure import Measure, Role, Term


class StatementAnswer(NamedTuple):
    """The event's statement that answers one statement best: fP, fV, and what fP was made of."""

    statement: EventStatement | None
    property_relatedness: float = 0.0  # fP
    value_relatedness: float = 0.0  # fV
    rank: int = 0
    jcn: float = 0.0
    esa: float = 0.0

    @property
    def similarity(self) -> float:
        """f_stmt = fP * fV."""
        return self.property_relatedness * self.value_relatedness


class EventStatements:
    """An event's statements, and how the terms asked about relate to their properties and values.

    >>> from likewise.model import event
    >>> seen = EventStatements(event({"team": "Spain", "type": "Match"}))
    >>> [a.similarity for a in seen.answers(Statements((Statement("team", "spain"), Statement("type", "race"))), m=5)]
    [1.0, 0.0]
    """

    def __init__(self, event: Event, named: Callable[[str], Measure] | None = None) -> None:
        self.statements = event_statements(event)
        self.properties = tuple(dict.fromkeys(fold(s.property) for s in self.statements))
        self.values = tuple(dict.fromkeys(fold(s.value) for s in self.statements))
        self._named = named  # a measure by its name; without it just equal terms are related
        self._related: dict[tuple[str, Role, str], dict[str, float]] = {}

    def _relate(self, name: str, role: Role, text: str) -> dict[str, float]:
        """Relatedness of an asked text with every distinct property or value."""
        cached = self._related.get((name, role, text))
        if cached is None:
            texts = self.properties if role == "attribute" else self.values
            terms = [Term(other, role, kind="text") for other in texts]
            (row,) = related([Term(text, role, kind="text")], terms, None if self._named is None else self._named(name))
            cached = self._related[name, role, text] = dict(zip(texts, row, strict=True))
        return cached

    def answers(self, statements: Statements, m: int, using: Variant = "hybrid") -> list[StatementAnswer]:
        """The best answer to each statement; two statements may share one.

        `background` is hybrid with background knowledge in fV. Of the others one measure ranks and relates, without the
        weight by rank.
        """
        return [self._answer(statement, m, using) for statement in statements.items]

    def _answer(self, statement: Statement, m: int, using: Variant) -> StatementAnswer:
        text = fold(plain_words(statement.property))
        hybrid = using in ("hybrid", "background")
        ranking, relating = ("jcn", "esa") if hybrid else (using, using)
        jcn = self._relate(ranking, "attribute", text)
        esa = self._relate(relating, "attribute", text)
        knowing = "background" if using == "background" else relating
        values = self._relate(knowing, "value", fold(plain_words(statement.value)))
        ranks = {p: rank for rank, p in enumerate(sorted(self.properties, key=lambda p: (-jcn[p], p)), 1)}
        best = StatementAnswer(None)
        for candidate in self.statements:
            name = fold(candidate.property)
            if ranks[name] > m:
                continue
            steps = m - ranks[name] + 1 if hybrid else 1
            weight = min(1.0, steps * esa[name])
            answer = StatementAnswer(
                candidate, weight, values[fold(candidate.value)], ranks[name], jcn[name], esa[name]
            )
            if best.statement is None or answer.similarity > best.similarity:
                best = answer
        return best


def meet_statements(
    statements: Statements, way: tuple[Variant, int], needed: MatchThreshold, view: EventStatements
) -> ConditionMatch | None:
    """Return how an event answers statements that are ranked, or None if it does not answer them well enough.

    >>> from likewise.model import event
    >>> seen = EventStatements(event({"team": "Spain", "type": "Match"}))
    >>> asked = Statements((Statement("team", "spain"), Statement("type", "race")))
    >>> meet_statements(asked, ("hybrid", 5), MatchThreshold.at(0.5), seen)
    ConditionMatch(score=0.5, product=0.5, conjunction=0, nearness=None)
    """
    using, m = way
    score = relevance(view.answers(statements, m, using))
    return ConditionMatch(score, score, 0) if score >= needed.score else None


def relevance(answers: list[StatementAnswer]) -> float:
    """fR: the mean over the subscription's statements.

    >>> relevance([StatementAnswer(None, 1.0, 0.5), StatementAnswer(None)])
    0.25
    """
    return math.fsum(answer.similarity for answer in answers) / len(answers)
