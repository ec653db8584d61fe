"""Subscriptions from the grammar's rules, made while parsing, without a tree in between.

Each method serves the rule or alias of its name and gets its parts; the methods keep no state, so one
`Construction` serves every parse in every thread. Errors of the model leave the parser as they are.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from likewise.errors import InvalidSubscription
from likewise.language.mistakes import Mistake
from likewise.language.rules.bodies import Bodies
from likewise.language.rules.clauses import Clauses
from likewise.language.rules.facts import Facts
from likewise.language.rules.tokens import Clause
from likewise.model.alerts.clauses import CLAUSES, Alert, Column
from likewise.model.subscription import Body, Subscription, Top, Variant

_OF_ALERTS: Final = frozenset(("per", "stale", *CLAUSES))


class Parts(NamedTuple):
    """A subscription but for its id."""

    body: Body
    themes: tuple[str, ...] = ()
    top: Top | None = None
    threshold: float | None = None
    valid_for: int | None = None
    confidence: float | None = None
    using: Variant | None = None
    best: int | None = None
    select: tuple[Column, ...] = ()
    from_one_source: bool = False
    alert: Alert | None = None


class Construction(Facts, Clauses, Bodies):
    """One method for each rule."""

    def subscription(self, parts: list[object]) -> Parts:
        """The whole: a body, perhaps with themes, and clauses."""
        first = parts[0]
        themes, body = first if type(first) is tuple else ((), first)
        clauses: dict[str, Clause] = {}
        for clause in parts[1:]:
            assert isinstance(clause, Clause)
            if clause.field in clauses:
                name = CLAUSES.get(clause.field) or clause.field.replace("_", " ")
                raise Mistake(f"`{name}` is given a second time", position=clause.position, expected="it once")
            clauses[clause.field] = clause
        values = {field: clause.value for field, clause in clauses.items() if field not in _OF_ALERTS}
        if len(values) == len(clauses) and "select" not in values:
            return Parts(body, themes, **values)  # type: ignore[arg-type]
        try:
            if len(values) < len(clauses):
                values["alert"] = Alert(**{f: c.value for f, c in clauses.items() if f in _OF_ALERTS})  # type: ignore[arg-type]
            made = Parts(body, themes, **values)  # type: ignore[arg-type]
            Subscription(body, "", *made[1:])  # refuses what cannot stand together
        except InvalidSubscription as refused:
            at = clauses.get(refused.clause)
            if at is None:
                raise
            raise Mistake(str(refused), position=at.position) from None
        return made
