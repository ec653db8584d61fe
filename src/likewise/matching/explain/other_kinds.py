"""Explanations of the kinds without predicates: statements, graph patterns, near triples, interest vectors."""

from __future__ import annotations

import math

from likewise.matching.explain.conditions import Finding
from likewise.matching.reference.graphs import search, unify
from likewise.matching.reference.interests import disagreements
from likewise.matching.reference.nearness import POSITIONS, Apart, Nearness, parts_of, score_of
from likewise.matching.reference.statements import Answer, SeenStatements, relevance
from likewise.model.event import Event
from likewise.model.explanation import PredicateReport, Verdict
from likewise.model.rdf import TriplePattern, is_variable
from likewise.model.subscription import FARTHEST, GraphPattern, Interest, Near, Statement, Statements, Variant


def explain_interest(interest: Interest, event: Event) -> Finding:
    """Each property that is asked for, numbered from 1 as in `p1`; `*` asks for nothing."""
    asked, seen = interest.vector, event.interest()
    wrong = set(disagreements(asked, seen))
    reports = tuple(
        PredicateReport(
            f"p{i + 1} = {a}",
            "match" if i not in wrong else "exact_part_false" if i < len(seen) else "missing_attribute",
            i if i < len(seen) else None,
            f"p{i + 1}",
            seen[i : i + 1],
            1.0,
            float(i not in wrong),
        )
        for i, a in enumerate(asked)
        if a != "*"
    )
    if len(asked) != len(seen):
        change = f"It would need a vector of {len(asked)} properties; the event's has {len(seen)}."
        return Finding("missing_attribute", reports, change)
    if wrong:
        first = min(wrong)
        change = f"It would match if property {first + 1} were {asked[first]} instead of {seen[first]}"
        change += f", and {len(wrong) - 1} more likewise." if len(wrong) > 1 else "."
        return Finding("exact_part_false", reports, change)
    return Finding("match", reports, score=1.0)


def explain_pattern(pattern: GraphPattern, event: Event) -> Finding:
    """Each triple pattern with a triple of a solution, or the first one at which the join fails."""
    bound = next(search(pattern.patterns, event.graph), None)
    if bound is not None:
        return Finding("match", tuple(_pattern_report(p, event, bound) for p in pattern.patterns), score=1.0)
    reports = tuple(_pattern_report(p, event, {}) for p in pattern.patterns)
    alone = next((r for r in reports if r.verdict != "match"), None)
    if alone is not None:
        change = f"It would need a triple that meets `{alone.text}`; the event has none."
        return Finding(alone.verdict, reports, change)
    patterns = pattern.patterns
    count = next(n for n in range(2, len(patterns) + 1) if next(search(patterns[:n], event.graph), None) is None)
    joined = _pattern_text(patterns[count - 1])
    known = {name for p in patterns[: count - 1] for name in p.variables()}
    shared = [name for name in patterns[count - 1].variables() if name in known]
    change = f"It would match if some {' '.join(shared)} met `{joined}` together with the patterns before it."
    note = "met alone, but not joined with the patterns before it"
    failed = PredicateReport(joined, "exact_part_false", notes=(note,))
    return Finding("exact_part_false", (*reports[: count - 1], failed, *reports[count:]), change)


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


def explain_near(near: Near, event: Event, nearness: Nearness, threshold: float | None) -> Finding:
    """Each term that is asked for with its counterpart in the triple that comes nearest."""
    if not event.graph:
        return Finding("missing_attribute", (), "It would need triples (RDF); the event has none.")
    found = nearness.within(near, threshold, event.graph)
    if found:
        best = min(found, key=lambda each: each.mean)
        return Finding("match", _near_reports(near, event, best), score=score_of(best))
    every = list(nearness.apart(near, event.graph))
    if not every:
        names = " and ".join(near.pattern.variables())
        change = f"It would need a triple that has the same term wherever {names} stands; the event has none."
        return Finding("exact_part_false", (), change)
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
    return Finding("below_threshold", reports, change, score_of(best))


def _near_reports(near: Near, event: Event, best: Apart) -> tuple[PredicateReport, ...]:
    from likewise.language.rdf_terms import term_text

    asked, seen = parts_of(near.pattern), parts_of(event.graph[best.place])
    constants = [(p, a, s) for p, a, s in zip(POSITIONS, asked, seen, strict=True) if not is_variable(a)]
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
    statements: Statements, seen: SeenStatements, way: tuple[Variant, int], threshold: float
) -> Finding:
    """Each statement with the event's statement that answers it best: fP, fV, and what is behind fP."""
    using, m = way
    answers = seen.answers(statements, m, using)
    score = relevance(answers)
    met = score >= threshold
    pairs = zip(statements.items, answers, strict=True)
    reports = tuple(_answer_report(s, a, threshold, met, using) for s, a in pairs)
    if met:
        return Finding("match", reports, score=score)
    if not seen.statements:
        change = "It would need at least one statement in English; it makes none."
        return Finding("missing_attribute", reports, change, score)
    weakest = min(range(len(answers)), key=lambda i: answers[i].similarity)
    needed = answers[weakest].similarity + (threshold - score) * len(answers)
    have = f"`{reports[weakest].text}` is answered weakest, at {answers[weakest].similarity:.3g}"
    if needed > 1:
        change = f"It would match with a threshold of at most {score:.3g}; {have}, and even 1 there alone would not do."
    else:
        change = f"It would match if {have}, reached {needed:.3g}, or with a threshold of at most {score:.3g}."
    return Finding("below_threshold", reports, change, score)


def _answer_report(
    statement: Statement, answer: Answer, threshold: float, met: bool, using: Variant
) -> PredicateReport:
    from likewise.language.printer import body_text

    text = body_text(Statements((statement,)))
    if answer.found is None:
        return PredicateReport(text, "missing_attribute")
    verdict: Verdict = "match" if met or answer.similarity >= threshold else "below_threshold"
    return PredicateReport(
        text,
        verdict,
        answer.found.place,
        answer.found.property,
        answer.found.value,
        answer.property_relatedness,
        answer.value_relatedness,
        evidence=(*_behind(answer, using), ("rank", float(answer.rank))),
    )


def _behind(answer: Answer, using: Variant) -> tuple[tuple[str, float], ...]:
    if using == "hybrid":
        return ("jcn", answer.jcn), ("esa", answer.esa)
    return ((using, answer.esa),)
