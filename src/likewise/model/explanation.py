"""Explanations: why an event met a subscription or failed it."""

from __future__ import annotations

from typing import Literal

import msgspec

from likewise.model.display import html_of, text_of
from likewise.model.mapping import Mapping

Verdict = Literal[
    "match",
    "below_threshold",
    "exact_part_false",
    "missing_attribute",
    "unit_mismatch",
    "not_in_top_k",
    "expired",
    "below_confidence",
    "not_yet",
    "suppressed",
]


# Named here because the field `tuple` hides the type inside the class.
Notes = tuple[str, ...]
MeasureScores = tuple[tuple[str, float], ...]


class PredicateReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """Report on one predicate (or statement, pattern, property) and the tuple that met it best.

    `text` is the predicate as printed; `attribute` and `value` are the tuple's, '' if none came near.
    `notes` say what a reader must know: a unit taken for granted, a theme unknown to the space, feedback
    that moved the score. `meaning` says in words what both sides say and what tells them apart: the kind, a qualifier,
    a role, a number, a direction, what was assumed. `comparison` is a number as it was compared, in the unit asked for:
    `68 °F = 20 °C, not above 25 °C`. `evidence` holds each measure's own score.
    """

    text: str
    verdict: Verdict
    tuple: int | None = None
    attribute: str = ""
    value: str = ""
    attribute_relatedness: float = 0.0
    value_relatedness: float = 0.0
    negated: bool = False
    notes: Notes = ()
    evidence: MeasureScores = ()
    meaning: Notes = ()
    comparison: str = ""

    @property
    def similarity(self) -> float:
        """Relatedness of the attributes times relatedness of the values."""
        return self.attribute_relatedness * self.value_relatedness


class Explanation(msgspec.Struct, frozen=True, omit_defaults=True):
    """Explanation of a verdict, for every kind of subscription.

    `change` says in one sentence what would make it match ('' if it does). `runner_up` is the second
    best mapping. `score` and `threshold` are what was compared, `probability` follows from the score; `degree` is the
    subscription's degree of approximation. `annotations` says what annotations did to the event before it was matched.

    Attributes:
        subscription_id: Id of the subscription.
        event_id: Id of the event, None if it has none.
        verdict: Result, as a code: `match`, `below_threshold`, `unit_mismatch`, ...
        predicates: Report on each predicate, statement, pattern or property.
        change: One sentence on what would make it match, '' if it does.
        score: Score of the best mapping.
        threshold: Score that was required, None for exact subscriptions.
        mapping: Best mapping of predicates to tuples.
        runner_up: Second best mapping.
        degree: Degree of approximation of the subscription, from 0 (exact) to 1.
        probability: Probability that the match is relevant, None where no score was computed.
        annotations: Effects of annotations on the event, as sentences.
        mappings: The k best mappings, the best first, where a caller requested them.
    """

    subscription_id: str
    event_id: str | None
    verdict: Verdict
    predicates: tuple[PredicateReport, ...]
    change: str = ""
    score: float = 0.0
    threshold: float | None = None
    mapping: Mapping | None = None
    runner_up: Mapping | None = None
    degree: float = 0.0
    probability: float | None = None
    annotations: tuple[str, ...] = ()
    mappings: tuple[Mapping, ...] = ()

    def __str__(self) -> str:
        return text_of(self)

    def _repr_html_(self) -> str:
        return html_of(self)
