"""Why an event meets a subscription, or what keeps it from doing so, for every kind (how-matching-works.md).

The explanation runs the functions that match: what it says is what happened.

Explanations of the kinds without predicates: statements, graph patterns, near triples, interest vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from likewise.defaults import HYBRID_M, THRESHOLD
from likewise.errors import UnsupportedSubscription
from likewise.matching.explain.conditions import ConditionFinding, explain_condition
from likewise.matching.reference.event_view import EventView
from likewise.matching.reference.graphs import search, unify
from likewise.matching.reference.interests import disagreements
from likewise.matching.reference.match_threshold import MatchThreshold
from likewise.matching.reference.scoring import number_of, rank_value, scored_attributes, scored_units
from likewise.matching.reference.statements import EventStatements, StatementAnswer, relevance
from likewise.matching.reference.triple_distance import (
    POSITIONS,
    TripleDistance,
    TripleDistances,
    parts_of,
    score_of,
)
from likewise.matching.reference.window import WindowPosition
from likewise.model.event import Event
from likewise.model.explanation import Explanation, PredicateReport, Verdict
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.model.probability import AS_SCORED, ProbabilityCurve
from likewise.model.rdf import TriplePattern, is_variable
from likewise.model.subscription import (
    FARTHEST,
    Condition,
    GraphPattern,
    Interest,
    NearbyTriple,
    Statement,
    Statements,
    Subscription,
    Top,
    Variant,
)
from likewise.semantics.measure import Measure


def explain_interest(interest: Interest, event: Event) -> ConditionFinding:
    """Each property that is asked for, numbered from 1 as in `p1`; `*` asks for nothing."""
    interest_bits, event_bits = interest.vector, event.interest()
    wrong = set(disagreements(interest_bits, event_bits))
    reports = tuple(
        PredicateReport(
            f"p{i + 1} = {a}",
            "match" if i not in wrong else "exact_part_false" if i < len(event_bits) else "missing_attribute",
            i if i < len(event_bits) else None,
            f"p{i + 1}",
            event_bits[i : i + 1],
            1.0,
            float(i not in wrong),
        )
        for i, a in enumerate(interest_bits)
        if a != "*"
    )
    if len(interest_bits) != len(event_bits):
        change = f"It would need a vector of {len(interest_bits)} properties; the event's has {len(event_bits)}."
        return ConditionFinding("missing_attribute", reports, change)
    if wrong:
        first = min(wrong)
        change = f"It would match if property {first + 1} were {interest_bits[first]} instead of {event_bits[first]}"
        change += f", and {len(wrong) - 1} more likewise." if len(wrong) > 1 else "."
        return ConditionFinding("exact_part_false", reports, change)
    return ConditionFinding("match", reports, score=1.0)


def explain_pattern(pattern: GraphPattern, event: Event) -> ConditionFinding:
    """Each triple pattern with a triple of a solution, or the first one at which the join fails."""
    bound = next(search(pattern.patterns, event.graph), None)
    if bound is not None:
        return ConditionFinding("match", tuple(_pattern_report(p, event, bound) for p in pattern.patterns), score=1.0)
    reports = tuple(_pattern_report(p, event, {}) for p in pattern.patterns)
    alone = next((r for r in reports if r.verdict != "match"), None)
    if alone is not None:
        change = f"It would need a triple that meets `{alone.text}`; the event has none."
        return ConditionFinding(alone.verdict, reports, change)
    patterns = pattern.patterns
    count = next(n for n in range(2, len(patterns) + 1) if next(search(patterns[:n], event.graph), None) is None)
    joined = _pattern_text(patterns[count - 1])
    known = {name for p in patterns[: count - 1] for name in p.variables()}
    shared = [name for name in patterns[count - 1].variables() if name in known]
    change = f"It would match if some {' '.join(shared)} met `{joined}` together with the patterns before it."
    note = "met alone, but not joined with the patterns before it"
    failed = PredicateReport(joined, "exact_part_false", notes=(note,))
    return ConditionFinding("exact_part_false", (*reports[: count - 1], failed, *reports[count:]), change)


def _pattern_report(pattern: TriplePattern, event: Event, bound: dict[str, str]) -> PredicateReport:
    text = _pattern_text(pattern)
    for place, triple in enumerate(event.graph):
        if unify(pattern, triple, bound) is not None:
            return PredicateReport(text, "match", place, triple.predicate, triple.object, 1.0, 1.0)
    has_predicate = any(triple.predicate == pattern.predicate for triple in event.graph)
    return PredicateReport(text, "exact_part_false" if has_predicate else "missing_attribute")


def _pattern_text(pattern: TriplePattern) -> str:
    from likewise.language.printer import body_text

    return body_text(GraphPattern((pattern,)))


def explain_near(
    near: NearbyTriple, event: Event, nearness: TripleDistances, threshold: float | None
) -> ConditionFinding:
    """Each term that is asked for with its counterpart in the triple that comes nearest."""
    if not event.graph:
        return ConditionFinding("missing_attribute", (), "It would need triples (RDF); the event has none.")
    nearby = nearness.within(near, threshold, event.graph)
    if nearby:
        best = min(nearby, key=lambda each: each.mean)
        return ConditionFinding("match", _near_reports(near, event, best), score=score_of(best))
    every = list(nearness.measure(near, event.graph))
    if not every:
        names = " and ".join(near.pattern.variables())
        change = f"It would need a triple that has the same term wherever {names} stands; the event has none."
        return ConditionFinding("exact_part_false", (), change)
    best = min(every, key=lambda each: (max(each.distances) > near.radius, each.mean))
    reports, needed = _near_reports(near, event, best), max(best.distances)
    if needed <= near.radius:
        change = f"It would match with a threshold of at most {score_of(best):.3g}."
    elif needed <= FARTHEST:
        change = f"It would match with a radius of at least {math.ceil(needed * 1000) / 1000:g}."
        if threshold is not None and score_of(best) < threshold:
            change = f"{change[:-1]} and a threshold of at most {score_of(best):.3g}."
    else:
        weakest = max(zip(best.distances, reports, strict=True), key=lambda pair: pair[0])[1]
        change = f"It would need a triple that comes nearer to {weakest.text}; this one has nothing in common with it."
    return ConditionFinding("below_threshold", reports, change, score_of(best))


def _near_reports(near: NearbyTriple, event: Event, best: TripleDistance) -> tuple[PredicateReport, ...]:
    from likewise.language.rdf_terms import term_text

    pattern_terms, triple_terms = parts_of(near.pattern), parts_of(event.graph[best.place])
    constants = [
        (p, a, s) for p, a, s in zip(POSITIONS, pattern_terms, triple_terms, strict=True) if not is_variable(a)
    ]
    return tuple(
        PredicateReport(
            f"{position} near {term_text(a)}",
            "match" if distance <= near.radius else "below_threshold",
            best.place,
            position,
            term_text(s),
            max(0.0, 1.0 - distance),
            1.0,
            notes=(f"{distance:.3f} apart by {near.by}, {near.radius:g} is allowed",),
        )
        for (position, a, s), distance in zip(constants, best.distances, strict=True)
    )


def explain_statements(
    statements: Statements, view: EventStatements, way: tuple[Variant, int], threshold: float
) -> ConditionFinding:
    """Each statement with the event's statement that answers it best: fP, fV, and what is behind fP."""
    using, m = way
    answers = view.answers(statements, m, using)
    score = relevance(answers)
    is_match = score >= threshold
    pairs = zip(statements.items, answers, strict=True)
    reports = tuple(_answer_report(s, a, threshold, is_match, using) for s, a in pairs)
    if is_match:
        return ConditionFinding("match", reports, score=score)
    if not view.statements:
        change = "It would need at least one statement in English; it makes none."
        return ConditionFinding("missing_attribute", reports, change, score)
    weakest = min(range(len(answers)), key=lambda i: answers[i].similarity)
    needed = answers[weakest].similarity + (threshold - score) * len(answers)
    have = f"`{reports[weakest].text}` is answered weakest, at {answers[weakest].similarity:.3g}"
    if needed > 1:
        change = f"It would match with a threshold of at most {score:.3g}; {have}, and even 1 there alone would not do."
    else:
        change = f"It would match if {have}, reached {needed:.3g}, or with a threshold of at most {score:.3g}."
    return ConditionFinding("below_threshold", reports, change, score)


def _answer_report(
    statement: Statement, answer: StatementAnswer, threshold: float, is_match: bool, using: Variant
) -> PredicateReport:
    from likewise.language.printer import body_text

    text = body_text(Statements((statement,)))
    if answer.statement is None:
        return PredicateReport(text, "missing_attribute")
    verdict: Verdict = "match" if is_match or answer.similarity >= threshold else "below_threshold"
    return PredicateReport(
        text,
        verdict,
        answer.statement.place,
        answer.statement.property,
        answer.statement.value,
        answer.property_relatedness,
        answer.value_relatedness,
        evidence=(*_behind(answer, using), ("rank", float(answer.rank))),
    )


def _behind(answer: StatementAnswer, using: Variant) -> tuple[tuple[str, float], ...]:
    if using == "hybrid":
        return ("jcn", answer.jcn), ("esa", answer.esa)
    return ((using, answer.esa),)


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
    position: WindowPosition | None = None,
    nearness: TripleDistances | None = None,
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
    needed = MatchThreshold.of(subscription, THRESHOLD if threshold is None else threshold, curve)
    level = needed.against
    compared: float | None = level
    body = subscription.body
    if isinstance(body, Condition):
        judged = explain_condition(subscription, EventView(event, measure, types), needed)
        compared = level if body.is_relaxed() else None
        if subscription.top is not None and judged.verdict == "match":
            judged = _rank(event, subscription.top, judged, position)
    elif isinstance(body, Interest):
        judged, compared = explain_interest(body, event), None
    elif isinstance(body, GraphPattern):
        judged, compared = explain_pattern(body, event), None
    elif isinstance(body, NearbyTriple):
        compared = subscription.threshold
        judged = explain_near(body, event, nearness or TripleDistances(), compared)
    else:
        if named is None:
            raise UnsupportedSubscription("explaining statements needs measures by their names; give `named`")
        way = subscription.using or "hybrid", subscription.best or m
        judged = explain_statements(body, EventStatements(event, named), way, needed.score)
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


def _unsure(
    judged: ConditionFinding, subscription: Subscription, needed: MatchThreshold, probability: float
) -> ConditionFinding:
    """What would match if less confidence were asked for; else as it is: a part of it is too weak."""
    if judged.score >= needed.score or subscription.confidence is None:
        return judged
    demand = f"`confidence {subscription.confidence:g}` asks for more"
    return judged._replace(
        verdict="below_confidence", change=f"This is what was meant with a probability of {probability:.2f}; {demand}."
    )


def _rank(event: Event, top: Top, judged: ConditionFinding, position: WindowPosition | None) -> ConditionFinding:
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
    elif position is None:
        note, change = f"ranked by {value:g}; the window was not looked at", ""
    elif position.expired or position.place is None:
        verdict = "expired"
        note = "its time is outside the window"
        change = "It would count if its time were inside the window: publish it sooner or ask for a longer window."
    elif position.place > top.k:
        verdict = "not_in_top_k"
        note = f"place {position.place} by {value:g}"
        direction = "a higher" if top.highest else "a lower"
        change = (
            f"It stands at place {position.place} of the window by {value:g}, and place {top.k} is held by "
            f"{position.kth:g}: it needs {direction} value, or one of the better events to leave."
        )
    else:
        note, change = f"place {position.place} by {value:g}", ""
    from likewise.language.printer import scoring_text

    report = PredicateReport(f"top {top.k} by {scoring_text(top.by)}", verdict, notes=(note,))
    return judged._replace(verdict=verdict, reports=(*judged.reports, report), change=change)
