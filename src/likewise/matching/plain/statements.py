"""Approximate statements about one RDF event, hybrid over WordNet and ESA (sources.md H).

Hasan, O'Riain and Curry, "Approximate Semantic Matching of Heterogeneous Events", DEBS 2012, section 5:
Top_m by JCn, fP = min(1, (m - rank + 1) * ESA), fV = ESA, fR = the mean of the best f_stmt.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from likewise.matching.plain.similarity import related
from likewise.matching.plain.statement_terms import EventStatement, event_statements, plain_words
from likewise.model.event import Event
from likewise.model.subscription import Statement, Statements
from likewise.model.text import fold
from likewise.semantics.measure import Measure, Role, Term


class Answer(NamedTuple):
    """The event's statement that answers one statement best: fP, fV, and what fP was made of."""

    found: EventStatement | None
    property_relatedness: float = 0.0  # fP
    value_relatedness: float = 0.0  # fV
    rank: int = 0
    jcn: float = 0.0
    esa: float = 0.0

    @property
    def similarity(self) -> float:
        """f_stmt = fP * fV."""
        return self.property_relatedness * self.value_relatedness


class SeenStatements:
    """An event's statements, and how the terms asked about relate to their properties and values.

    >>> from likewise.model import event
    >>> seen = SeenStatements(event({"team": "Spain", "type": "Match"}), None, None)
    >>> [a.similarity for a in seen.answers(Statements((Statement("team", "spain"), Statement("type", "race"))), m=5)]
    [1.0, 0.0]
    """

    def __init__(self, event: Event, jcn: Measure | None, esa: Measure | None) -> None:
        self.statements = event_statements(event)
        self.properties = tuple(dict.fromkeys(fold(s.property) for s in self.statements))
        self.values = tuple(dict.fromkeys(fold(s.value) for s in self.statements))
        self._measures = {"jcn": jcn, "esa": esa}
        self._related: dict[tuple[str, Role, str], dict[str, float]] = {}

    def _relate(self, name: str, role: Role, text: str) -> dict[str, float]:
        """Relatedness of an asked text with every distinct property or value."""
        found = self._related.get((name, role, text))
        if found is None:
            seen = self.properties if role == "attribute" else self.values
            terms = [Term(other, role, kind="text") for other in seen]
            (row,) = related([Term(text, role, kind="text")], terms, self._measures[name])
            found = self._related[name, role, text] = dict(zip(seen, row, strict=True))
        return found

    def answers(self, statements: Statements, m: int) -> list[Answer]:
        """The best answer to each statement; two statements may share one."""
        return [self._answer(statement, m) for statement in statements.items]

    def _answer(self, statement: Statement, m: int) -> Answer:
        asked = fold(plain_words(statement.property))
        jcn = self._relate("jcn", "attribute", asked)
        esa = self._relate("esa", "attribute", asked)
        values = self._relate("esa", "value", fold(plain_words(statement.value)))
        ranks = {p: rank for rank, p in enumerate(sorted(self.properties, key=lambda p: (-jcn[p], p)), 1)}
        best = Answer(None)
        for candidate in self.statements:
            name = fold(candidate.property)
            if ranks[name] > m:
                continue
            weight = min(1.0, (m - ranks[name] + 1) * esa[name])
            answer = Answer(candidate, weight, values[fold(candidate.value)], ranks[name], jcn[name], esa[name])
            if best.found is None or answer.similarity > best.similarity:
                best = answer
        return best


def relevance(answers: list[Answer]) -> float:
    """fR: the mean over the subscription's statements.

    >>> relevance([Answer(None, 1.0, 0.5), Answer(None)])
    0.25
    """
    return math.fsum(answer.similarity for answer in answers) / len(answers)
