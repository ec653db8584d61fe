"""The evidence behind the scores of an explanation: each measure's own score, what the themes did, feedback.

Asked for only when something is explained: the matching itself needs the one score of its measure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from likewise.matching.reference.conditions import prepare_condition
from likewise.matching.reference.terms import (
    event_attribute_terms,
    event_value_terms,
    predicate_attribute_term,
    predicate_value_term,
)
from likewise.model import Condition, Event, Explanation, Predicate, PredicateReport, Subscription, fold
from likewise.semantics.feedback import Feedback, term_pair
from likewise.semantics.measure import Term

if TYPE_CHECKING:
    from likewise.semantics.interpretation import Interpretation
    from likewise.semantics.measure import Measure
    from likewise.semantics.space import Space


def with_evidence(
    explanation: Explanation,
    event: Event,
    subscription: Subscription,
    interpretation: Interpretation,
) -> Explanation:
    """The explanation with what made each relaxed part's score, as notes and as numbers by measure.

    Only where matching has needed a space: a measure of the user's own says nothing beyond its score.
    """
    from likewise.language.printer import predicate_text

    used = interpretation.opened()
    if used is None or not isinstance(subscription.body, Condition):
        return explanation
    space, measure = used
    feedback = interpretation.feedback
    condition = prepare_condition(subscription)
    predicates = {predicate_text(p): p for c in condition.conjunctions for p in (*c.positive, *c.negative)}
    reports = tuple(
        report
        if report.text not in predicates
        else _nearest(report, predicates[report.text], event, condition.theme, measure)
        if report.tuple is None
        else _witnessed(report, predicates[report.text], event, condition.theme, space, measure, feedback)
        for report in explanation.predicates
    )
    return msgspec.structs.replace(explanation, predicates=reports)


def in_words(measure: Measure, term: Term, event_term: Term) -> str:
    """Why two terms are the same or not, by a measure that can say so; '' by others."""
    explanation: Callable[[Term, Term], str] | None = getattr(measure, "explanation", None)
    return "" if explanation is None else explanation(term, event_term)


def _nearest(
    report: PredicateReport, predicate: Predicate, event: Event, theme: tuple[str, ...], measure: Measure
) -> PredicateReport:
    """A report of an attribute that is missing, with why the nearest name is another thing."""
    if report.verdict != "missing_attribute" or report.negated or not predicate.attribute_relaxed or not event.tuples:
        return report
    term, event_terms = predicate_attribute_term(predicate, theme), event_attribute_terms(event)
    scores = measure.matrix([term], list(event_terms))[0]
    nearest = event_terms[int(scores.argmax())]
    reason = in_words(measure, term, nearest) if scores.max() > 0 else ""
    return msgspec.structs.replace(report, meaning=(f"{nearest.text}: {reason}",)) if reason else report


def _witnessed(
    report: PredicateReport,
    predicate: Predicate,
    event: Event,
    theme: tuple[str, ...],
    space: Space,
    measure: Measure,
    feedback: Feedback,
) -> PredicateReport:
    assert report.tuple is not None
    notes = list(report.notes)
    meaning: list[str] = []
    evidence: list[tuple[str, float]] = []
    parts: list[tuple[str, Term, Term | None]] = []
    if predicate.attribute_relaxed:
        parts.append(
            ("attribute", predicate_attribute_term(predicate, theme), event_attribute_terms(event)[report.tuple])
        )
    if predicate.value_relaxed:
        parts.append(("value", predicate_value_term(predicate, theme), event_value_terms(event)[report.tuple]))
    for part, term, event_term in parts:
        if event_term is None or (fold(term.text) == fold(event_term.text) and not event_term.context):
            continue
        reason = in_words(measure, term, event_term)
        meaning += [f"{part}: {reason}"] if reason else []
        notes += [f"{part}: {reason}"] if reason else []
        described = space.describe(term, event_term, measure)
        evidence += [(f"{part} {name}", score) for name, score in described.scores]
        if described.without_themes is not None:
            before, after = f"{described.without_themes:.2f}", f"{described.score:.2f}"
            effect = f"without them {before} instead of {after}" if before != after else f"without them {after}, too"
            notes.append(
                f"{part}: themes span {described.asked_basis:,} and {described.seen_basis:,} documents; {effect}"
            )
        if described.documents:
            titles = "; ".join(document.title for document in described.documents[:2])
            notes.append(f"{part}: both occur in {titles}")
        notes += [f"{part}: {note}" for note in described.notes]
        balance = feedback.balance(term_pair(term.role, term.text, event_term.text))
        if balance:
            judged = "relevant" if balance > 0 else "not relevant"
            score = report.attribute_relatedness if part == "attribute" else report.value_relatedness
            notes.append(
                f"{part}: judged {judged} (net {abs(balance)}), which moved {described.score:.2f} to {score:.2f}"
            )
    return msgspec.structs.replace(report, notes=tuple(notes), evidence=tuple(evidence), meaning=tuple(meaning))
