"""Why an event meets a subscription, or what keeps it from doing so, for every kind (how-matching-works.md).

The explanation runs the functions that match: what it says is what happened.

Explanations of the kinds without predicates: statements, graph patterns, near triples, interest vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor
from typing import Final

import msgspec

from likewise.defaults import HYBRID_M, THRESHOLD
from likewise.errors import UnsupportedSubscription
from likewise.matching.explain.conditions import ConditionFinding, explain_condition
from likewise.matching.explain.counterfactuals import HOLDS, MATCHES, MOST_EDITS
from likewise.matching.reference.conditions import evaluate, prepare_condition
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
from likewise.model.event import Event, EventTuple
from likewise.model.explanation import Explanation, PredicateReport, Verdict
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.model.probability import AS_SCORED, ProbabilityCurve
from likewise.model.rdf import Triple, TriplePattern, is_variable
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
    if not wrong and len(interest_bits) == len(event_bits):
        return ConditionFinding("match", reports, score=1.0)
    fitting = [event_bits[i : i + 1] or "0" if a == "*" else a for i, a in enumerate(interest_bits)]
    change = f"It would match if the event's vector were [{', '.join(fitting)}] instead of [{', '.join(event_bits)}]."
    verdict: Verdict = "exact_part_false" if len(interest_bits) == len(event_bits) else "missing_attribute"
    return ConditionFinding(verdict, reports, change)


def explain_pattern(pattern: GraphPattern, event: Event) -> ConditionFinding:
    """Each triple pattern with a triple of a solution, or the first one at which the join fails."""
    bound = next(search(pattern.patterns, event.graph), None)
    if bound is not None:
        return ConditionFinding("match", tuple(_pattern_report(p, event, bound) for p in pattern.patterns), score=1.0)
    reports = tuple(_pattern_report(p, event, {}) for p in pattern.patterns)
    patterns = pattern.patterns
    joined = next(n for n in range(len(patterns)) if next(search(patterns[: n + 1], event.graph), None) is None)
    change = _missing_triples(patterns, joined, event)
    alone = next((r for r in reports if r.verdict != "match"), None)
    if alone is not None:
        change = change or f"No triple of the event meets `{alone.text}`."
        return ConditionFinding(alone.verdict, reports, change)
    text = _pattern_text(patterns[joined])
    note = "met alone, but not joined with the patterns before it"
    failed = PredicateReport(text, "exact_part_false", notes=(note,))
    change = change or f"No triple that meets `{text}` is joined with the patterns before it."
    return ConditionFinding("exact_part_false", (*reports[:joined], failed, *reports[joined + 1 :]), change)


def _missing_triples(patterns: tuple[TriplePattern, ...], joined: int, event: Event) -> str:
    """Name the triples with which the event would match: the first patterns as they are met, the others made true."""
    bound = dict(next(search(patterns[:joined], event.graph), {}))
    triples: list[Triple] = []
    for pattern in patterns[joined:]:
        parts = (pattern.subject, pattern.predicate, pattern.object)
        terms = [bound.setdefault(each, f"<{_ANYTHING}{each[1:]}>") if is_variable(each) else each for each in parts]
        triples.append(Triple(*terms))
    missing = [triple for triple in dict.fromkeys(triples) if triple not in event.graph]
    # What a person can write: a literal is no subject, and blank nodes have no names.
    proper = all(each.subject[0] == each.predicate[0] == "<" and not each.object.startswith("_:") for each in missing)
    graph = (*event.graph, *missing)
    if not proper or len(missing) > MOST_EDITS or next(search(patterns, graph), None) is None:
        return ""
    texts = [f"`{_pattern_text(TriplePattern(each.subject, each.predicate, each.object))}`" for each in missing]
    return f"It would match if the event also had the triple{'s' * (len(texts) > 1)} {' and '.join(texts)}."


_ANYTHING: Final = "http://example.org/"  # what a variable may stand for


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
        return ConditionFinding(
            "match", _near_reports(near, event, best), score=score_of(best), nearness=1.0 - best.mean
        )
    every = list(nearness.measure(near, event.graph))
    if not every:
        names = " and ".join(near.pattern.variables())
        change = f"It would need a triple that has the same term wherever {names} stands; the event has none."
        return ConditionFinding("exact_part_false", (), change)
    best = min(every, key=lambda each: (max(each.distances) > near.radius, each.mean))
    reports, needed = _near_reports(near, event, best), max(best.distances)
    if needed <= near.radius:
        change = f"It would match with a threshold of at most {_thousandths(score_of(best))}."
    elif needed <= FARTHEST:
        change = f"It would match with a radius of at least {ceil(needed * 1000) / 1000:g}."
        if threshold is not None and score_of(best) < threshold:
            change = f"{change[:-1]} and a threshold of at most {_thousandths(score_of(best))}."
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
        change = "The event makes no statement in English; at least one is needed."
        return ConditionFinding("missing_attribute", reports, change, score)
    weakest = min(range(len(answers)), key=lambda i: answers[i].similarity)
    change = f"`{reports[weakest].text}` is answered weakest, at {answers[weakest].similarity:.3g}."
    if least := _thousandths(score):
        change = f"It would match with a threshold of at most {least}: {change}"
    return ConditionFinding("below_threshold", reports, change, score)


def _thousandths(score: float) -> float:
    """Return a score rounded down, so that it is reached."""
    return floor(score * 1000) / 1000


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
    if using in ("hybrid", "background"):
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
        condition = prepare_condition(subscription)

        def score_of_change(changed: Event, at_most: float | None) -> float:
            """Match a changed event, at a lower threshold if one is given."""
            view = views.setdefault(changed.tuples, EventView(changed, measure, types))
            lower = subscription if at_most is None else msgspec.structs.replace(subscription, threshold=at_most)
            asked = MatchThreshold.of(lower, THRESHOLD if threshold is None else threshold, curve)
            result = evaluate(condition, view, asked)
            return 0.0 if result is None else result.score

        views: dict[tuple[EventTuple, ...], EventView] = {}
        judged = explain_condition(subscription, EventView(event, measure, types), needed, score_of_change)
        compared = round(level, 6) if body.is_relaxed() else None  # as it was asked for, not in 32 bits
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
    if subscription.top is not None or subscription.alert is not None:  # more than its condition decides
        judged = judged._replace(change=judged.change.replace(MATCHES, HOLDS, 1))
    if subscription.top is not None and judged.verdict == "match":
        judged = _rank(event, subscription.top, judged, position)
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
    """Return what would match if less confidence were asked for; else as it is: a part of it is too weak."""
    if judged.score >= needed.score or subscription.confidence is None:
        return judged
    demand = f"`confidence {subscription.confidence:g}` asks for more"
    return judged._replace(
        verdict="below_confidence", change=f"This is what was meant with a probability of {probability:.2f}; {demand}."
    )


def _rank(event: Event, top: Top, judged: ConditionFinding, position: WindowPosition | None) -> ConditionFinding:
    """The judgement of a condition that is met, with the event's place among the k best."""
    value = rank_value(top.by, event, judged.score if judged.nearness is None else judged.nearness)
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
