"""Why an event meets a subscription, or what keeps it from doing so, for every kind (how-matching-works.md).

The explanation runs the functions that match: what it says is what happened.
"""

from __future__ import annotations

from collections.abc import Callable

from likewise.defaults import HYBRID_M, THRESHOLD
from likewise.errors import NotServed
from likewise.matching.explain.conditions import Finding, explain_condition
from likewise.matching.explain.other_kinds import explain_interest, explain_near, explain_pattern, explain_statements
from likewise.matching.reference.nearness import Nearness
from likewise.matching.reference.needed import Needed
from likewise.matching.reference.scoring import number_of, rank_value, scored_attributes, scored_units
from likewise.matching.reference.similarity import SeenEvent
from likewise.matching.reference.statements import SeenStatements
from likewise.matching.reference.window import Standing
from likewise.model.event import Event
from likewise.model.explanation import Explanation, PredicateReport, Verdict
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.model.probability import AS_SCORED, ProbabilityCurve
from likewise.model.subscription import Condition, GraphPattern, Interest, Near, Subscription, Top
from likewise.semantics.measure import Measure


def explain(
    event: Event,
    subscription: Subscription,
    *,
    measure: Measure | None = None,
    named: Callable[[str], Measure] | None = None,
    m: int = HYBRID_M,
    threshold: float | None = None,
    curve: ProbabilityCurve = AS_SCORED,
    at: int | None = None,
    standing: Standing | None = None,
    nearness: Nearness | None = None,
    types: Hierarchy = NO_TYPES,
) -> Explanation:
    """Why the event does or does not meet the subscription; `threshold` is the matcher's, the subscription's own wins.

    `named` gives the measures that statements are compared by.

    `standing` is the event's place in the window of a top-k subscription; without it just the condition
    and the scored attributes are judged. `at` is the moment of asking, for engines whose answer depends
    on it.

    >>> from likewise.model import Predicate, Quantity, event
    >>> warm = Subscription(Condition((Predicate("t", ">", Quantity(25.0, "degC")),)), id="warm")
    >>> explain(event({"t": 20}), warm).verdict, explain(event({"t": "30 kg"}), warm).verdict
    ('exact_part_false', 'unit_mismatch')
    """
    needed = Needed.of(subscription, THRESHOLD if threshold is None else threshold, curve)
    level = needed.against
    compared: float | None = level
    body = subscription.body
    if isinstance(body, Condition):
        judged = explain_condition(subscription, SeenEvent(event, measure, types), needed)
        compared = level if body.is_relaxed() else None
        if subscription.top is not None and judged.verdict == "match":
            judged = _rank(event, subscription.top, judged, standing)
    elif isinstance(body, Interest):
        judged, compared = explain_interest(body, event), None
    elif isinstance(body, GraphPattern):
        judged, compared = explain_pattern(body, event), None
    elif isinstance(body, Near):
        compared = subscription.threshold
        judged = explain_near(body, event, nearness or Nearness(), compared)
    else:
        if named is None:
            raise NotServed("explaining statements needs measures by their names; give `named`")
        way = subscription.using or "hybrid", subscription.best or m
        judged = explain_statements(body, SeenStatements(event, named), way, needed.score)
    probability = None if compared is None else curve.of(judged.score)
    if judged.verdict == "below_threshold" and probability is not None and judged.score >= level:
        judged = _unsure(judged, subscription, needed, probability)
    return Explanation(
        subscription.id,
        event.id,
        judged.verdict,
        judged.reports,
        judged.change,
        judged.score,
        compared,
        judged.mapping,
        judged.runner_up,
        subscription.degree,
        probability,
    )


def _unsure(judged: Finding, subscription: Subscription, needed: Needed, probability: float) -> Finding:
    """What would match if less confidence were asked for; else as it is: a part of it is too weak."""
    if judged.score >= needed.score or subscription.confidence is None:
        return judged
    asked = f"`confidence {subscription.confidence:g}` asks for more"
    return judged._replace(
        verdict="below_confidence", change=f"This is what was meant with a probability of {probability:.2f}; {asked}."
    )


def _rank(event: Event, top: Top, judged: Finding, standing: Standing | None) -> Finding:
    """The judgement of a condition that is met, with the event's place among the k best."""
    value = rank_value(top.by, event, judged.score)
    verdict: Verdict = "match"
    if value is None:
        named_units = zip(scored_attributes(top.by), scored_units(top.by), strict=True)
        missing = [name for name, symbol in named_units if number_of(event, name, symbol) is None]
        verdict = "missing_attribute"
        note = f"no number for {', '.join(missing)}" if missing else "the value ranked by is not finite"
        named = ", ".join(missing or scored_attributes(top.by))
        change = f"It would be ranked if the event gave a finite number for {named}."
    elif standing is None:
        note, change = f"ranked by {value:g}; the window was not looked at", ""
    elif standing.expired or standing.place is None:
        verdict = "expired"
        note = "its time is outside the window"
        change = "It would count if its time were inside the window: publish it sooner or ask for a longer window."
    elif standing.place > top.k:
        verdict = "not_in_top_k"
        note = f"place {standing.place} by {value:g}"
        wanted = "a higher" if top.highest else "a lower"
        change = (
            f"It stands at place {standing.place} of the window by {value:g}, and place {top.k} is held by "
            f"{standing.kth:g}: it needs {wanted} value, or one of the better events to leave."
        )
    else:
        note, change = f"place {standing.place} by {value:g}", ""
    from likewise.language.printer import scoring_text

    report = PredicateReport(f"top {top.k} by {scoring_text(top.by)}", verdict, notes=(note,))
    return judged._replace(verdict=verdict, reports=(*judged.reports, report), change=change)
