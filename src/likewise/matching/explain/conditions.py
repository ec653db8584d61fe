"""The explanation of a condition: each predicate with the tuple that met it best, and what would change the answer.

The explanation of `some list (...)`: the item that meets it, or the one that meets most of it.

What a reader must know about a reading: a unit taken for granted, one that does not fit, no number, no zone.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from likewise.defaults import SENSIBLE_THRESHOLD, TOP_MAPPINGS
from likewise.matching.explain.counterfactuals import FailingPart, Score, propose
from likewise.matching.reference.conditions import (
    PreparedCondition,
    PreparedConjunction,
    best_score,
    evaluate,
    first_holder,
    prepare_condition,
    rows_of,
)
from likewise.matching.reference.event_view import EventView, SimilarityRow
from likewise.matching.reference.list_items import (
    ListItem,
    PreparedItem,
    item_row,
    list_items,
    list_relatedness,
    matching_items,
)
from likewise.matching.reference.mappings import describe, score_of
from likewise.matching.reference.match_threshold import MatchThreshold
from likewise.matching.reference.operators import OperatorOutcome, meets
from likewise.model.condition import Not, Some
from likewise.model.event import EventTuple
from likewise.model.explanation import PredicateReport, Verdict
from likewise.model.mapping import Mapping
from likewise.model.predicate import Predicate
from likewise.model.rendering import amount_text
from likewise.model.subscription import Subscription
from likewise.model.text import attribute_names, fold
from likewise.model.timestamps import MOMENT, MOMENT_UNITS, parse_timestamp
from likewise.semantics.concepts.customary import candidate_units, is_whole
from likewise.units import UNKNOWN, reading_unit, unit


def reading_notes(predicate: Predicate, item: EventTuple) -> tuple[str, ...]:
    """The notes on a predicate and a tuple it is about.

    >>> reading_notes(Predicate("t", ">", 25.0), EventTuple("t", "warm"))
    ("'warm' is not a number",)
    """
    units = _predicate_units(predicate)
    if not units:
        return ()
    reading = item.reading()
    moment = parse_timestamp(item.value) if isinstance(item.value, str) else None
    if moment is not None and any(symbol == MOMENT or symbol in MOMENT_UNITS for symbol in units):
        return () if moment.zoned else (f"{item.value!r} names no time zone and was taken in UTC",)
    if reading is None:
        return (f"{str(item.value)!r} is not a {'time' if MOMENT in units else 'number'}",)
    if (taken := candidate_units(predicate, item.attribute, reading[1], whole=is_whole(item.value))) is not None:
        fitting = next((each.unit.symbol for each in taken if each.holds(reading[0])), "")
        if not fitting:
            return (f"a bare number under {item.attribute!r} of {reading[0]} cannot be {predicate.attribute}",)
        if fitting != predicate.unit:
            return (f"the reading states no unit and was taken in {fitting}, as {predicate.attribute} mostly is",)
    for symbol in units:
        note = _unit_note(item.attribute, reading, symbol)
        if note:
            return (note,)
    return ()


def comparison_text(predicate: Predicate, item: EventTuple, *, holds: bool) -> str:
    """Return a reading as it was compared, in the unit asked for; '' if no number was compared.

    >>> from likewise.model.values import Quantity
    >>> comparison_text(Predicate("t", ">", Quantity(25.0, "degC")), EventTuple("air_temp_f", 68), holds=False)
    '68 °F = 20 °C, not above 25 °C'
    >>> comparison_text(Predicate("t", "<=", 3.0), EventTuple("t", 2.5), holds=True)
    '2.5, at most 3'
    """
    reading, interval = item.reading(), predicate.interval()
    if reading is None or interval is None or interval.unit == MOMENT:
        return ""
    number, symbol = reading[0], ""
    if not interval.unit:
        shown = amount_text(number, reading[1])
    else:
        target = unit(interval.unit)
        symbol = target.symbol
        custom = candidate_units(predicate, item.attribute, reading[1], whole=is_whole(item.value))
        taken = next((each.unit for each in custom or () if each.holds(number)), None)
        taken = taken or reading_unit(item.attribute, reading[1], target) or target
        if taken.dimension != target.dimension or custom == ():
            return ""
        shown = amount_text(number, taken.symbol)
        if taken.symbol != target.symbol:
            shown += f" = {amount_text(taken.to(target, number), target.symbol, digits=4)}"
    low, high = (None if bound is None else amount_text(bound, symbol) for bound in (interval.low, interval.high))
    if low is not None and high is not None:
        relation = ("equal to" if holds else "not") if low == high else "between" if holds else "not between"
        return f"{shown}, {relation} {low if low == high else f'{low} and {high}'}"
    if low is not None:
        relation = ("above" if holds else "not above") if interval.low_open else ("at least" if holds else "below")
    else:
        relation = ("below" if holds else "not below") if interval.high_open else ("at most" if holds else "above")
    return f"{shown}, {relation} {low or high}"


def _unit_note(attribute: str, reading: tuple[float, str], symbol: str) -> str:
    if not symbol:
        return ""
    target = unit("s" if symbol == MOMENT else symbol)
    taken_unit = reading_unit(attribute, reading[1], target)
    if taken_unit is None:
        if symbol == MOMENT:
            return "a bare number is no time; state its unit: s, ms or us since 1970"
        return f"the reading states no unit and was taken in {target.symbol}"
    if taken_unit.dimension == UNKNOWN:
        return f"the reading is in {taken_unit.symbol!r}, which is no unit of the table; {target.symbol} was asked for"
    if taken_unit.dimension != target.dimension:
        unit_note = f"the reading is in {taken_unit.symbol}, which measures {taken_unit.dimension}"
        return f"{unit_note}; {target.symbol} measures {target.dimension}"
    number = reading[0]
    if isinstance(number, int) and not isinstance(taken_unit.to_base(number), int):
        return f"{number} {taken_unit.symbol} was converted in floating point, which is exact to 15 digits"
    return ""


def _predicate_units(predicate: Predicate) -> list[str]:
    """The unit of every number a predicate asks for, '' for a bare one, `MOMENT` for times."""
    if isinstance(predicate.value, tuple):
        intervals = [
            Predicate(predicate.attribute, "=", v).interval() for v in predicate.value if not isinstance(v, str)
        ]
    else:
        single = predicate
        if predicate.operator == "!=":
            single = Predicate(predicate.attribute, "=", predicate.value)
        intervals = [single.interval()]
    return [interval.unit for interval in intervals if interval is not None]


def item_report(
    item: PreparedItem, view: EventView, theme: tuple[str, ...], needed: MatchThreshold, *, negated: bool
) -> PredicateReport:
    """A `some`, with the item that meets it, or the one that meets most of it."""
    from likewise.language.printer import predicate_text

    text = _item_text(item)
    best = max(matching_items(item, view, theme, needed), key=lambda found: found[1], default=None)
    parts = item.relaxed_parts
    holds = best is not None and (not parts or negated is False or score_of(best[1], parts) >= needed.score)
    if best is not None and holds:
        enough = not parts or score_of(best[1], parts) >= needed.score
        verdict: Verdict = "exact_part_false" if negated else "match" if enough else "below_threshold"
        return PredicateReport(
            text, verdict, best[0].places[0], best[0].name, _shown(best[0], view), 1.0, best[1], negated
        )
    if negated:
        return PredicateReport(text, "match", negated=True)
    items = [one for one in list_items(view.tuples) if list_relatedness(item, one, view) > 0]
    if not items:
        return PredicateReport(text, "missing_attribute")
    failing = [
        [p for p in item.positive if not any(item_row(p, one, view, theme, needed.part).similarity)] for one in items
    ]
    place = min(range(len(items)), key=lambda i: (_other_thing(failing[i]), len(failing[i])))
    nearest = items[place]
    note = f"of {len(items)} items none meets all of it"
    if failing[place]:
        note += f"; the nearest fails `{predicate_text(failing[place][0])}`"
    shown = _shown(nearest, view)
    return PredicateReport(text, "exact_part_false", nearest.places[0], nearest.name, shown, 1.0, 0.0, notes=(note,))


def _other_thing(failing: list[Predicate]) -> int:
    """Return how many failing parts say what an item is, not how much: such an item is not the one asked for."""
    return sum(p.operator not in ("<", "<=", ">", ">=", "between") for p in failing)


def _shown(item: ListItem, view: EventView) -> str:
    fields = [f"{field}: {view.tuples[place].value}" for field, place in zip(item.fields, item.places, strict=True)]
    return ", ".join(fields[:5]) + (", ..." if len(fields) > 5 else "")


def _item_text(item: PreparedItem) -> str:
    from likewise.language.printer import node_text

    inside = item.item.conjunction
    return node_text(
        Some(item.item.attribute, (*inside.positive, *map(Not, inside.negative)), item.item.attribute_relaxed)
    )


NONE_LEFT = "each predicate needs a tuple of its own, and none is left"


class ConditionFinding(NamedTuple):
    """The findings of an explanation, apart from the subscription and the event."""

    verdict: Verdict
    reports: tuple[PredicateReport, ...]
    change: str = ""
    score: float = 0.0
    mapping: Mapping | None = None
    runner_up: Mapping | None = None
    nearness: float | None = None  # what near triples are ranked by, where scores are 0 alike


def explain_condition(
    subscription: Subscription, view: EventView, needed: MatchThreshold, score: Score
) -> ConditionFinding:
    """The conjunction that counts if the condition is met, else the one that came nearest, with what would mend it.

    `score` is that of a changed event at a threshold, 0 if it does not meet the condition.
    """
    condition = prepare_condition(subscription)
    result = evaluate(condition, view, needed)
    judged = [_judge(condition, place, view, needed) for place in range(len(condition.conjunctions))]
    if result is not None:
        findings = judged[result.conjunction]
        return findings._replace(verdict="match", score=result.score)
    place, nearest = min(
        enumerate(judged), key=lambda pair: (sum(r.verdict != "match" for r in pair[1].reports), -pair[1].score)
    )
    if nearest.verdict == "match":  # every part is strong enough alone, yet rounding left their mean below
        nearest = nearest._replace(verdict="below_threshold")
    return nearest._replace(change=_change(subscription, nearest, condition.conjunctions[place], view, score))


def _change(
    subscription: Subscription,
    finding: ConditionFinding,
    conjunction: PreparedConjunction,
    view: EventView,
    score: Score,
) -> str:
    """Return what would make it match, as far as that is known; else what fails."""
    some, none = (len(items) * (None,) for items in (conjunction.some, conjunction.none))
    predicates = (*conjunction.positive, *some, *conjunction.negative, *none)
    parts = [pair for pair in zip(predicates, finding.reports, strict=True) if pair[1].verdict != "match"]
    failing = [FailingPart(predicate, report) for predicate, report in parts if predicate is not None]
    # An item of a list has no one value to change.
    if len(failing) == len(parts) and (change := propose(subscription, view.event, failing, score)):
        return change
    failed = [f"not {report.text}" if report.negated else report.text for _, report in parts]
    if len(failed) > 1:
        return f"{len(failed)} parts fail: {', '.join(f'`{text}`' for text in failed)}."
    return f"No single change is known to make it match{f'; what fails is `{failed[0]}`' if failed else ''}."


def _judge(condition: PreparedCondition, place: int, view: EventView, needed: MatchThreshold) -> ConditionFinding:
    conjunction = condition.conjunctions[place]
    mappings: list[Mapping] = []
    score = 1.0
    if conjunction.relaxed_parts == 0:
        reports = [exact_report(predicate, view) for predicate in conjunction.positive]
    else:
        outer = sum(p.relaxed_parts for p in conjunction.positive)
        score = best_score(conjunction, view, condition.theme, needed)[0]
        reached = score > 0
        enough = reached and score >= needed.score
        rows = rows_of(conjunction, view, condition.theme, needed.part if reached else 0.0)
        mappings = describe(rows, outer, TOP_MAPPINGS, place) if rows else []
        if not reached:  # then the best one of which some part is too weak
            score = mappings[0].score if mappings and not conjunction.some else 0.0
        chosen = (
            [c.tuple for c in mappings[0].correspondences]
            if mappings and enough
            else nearest_tuples(conjunction.positive, rows, needed)
        )
        reports = [
            relaxed_report(predicate, row, index, view, needed)
            for predicate, row, index in zip(conjunction.positive, rows, chosen, strict=True)
        ]
        if enough:  # a strong predicate may carry a weak one
            reports = [_with_verdict(report, "match") for report in reports]
        else:
            mappings = [m for m in mappings if [c.tuple for c in m.correspondences] == chosen]
    reports += [item_report(item, view, condition.theme, needed, negated=False) for item in conjunction.some]
    reports += [negative_report(p, view, condition.theme, needed) for p in conjunction.negative]
    reports += [item_report(item, view, condition.theme, needed, negated=True) for item in conjunction.none]
    failing = next((r for r in reports if r.verdict not in ("match", "below_threshold")), None)
    if failing is None:
        failing = min((r for r in reports if r.verdict != "match"), key=lambda r: r.similarity, default=None)
    verdict: Verdict = "match" if failing is None else failing.verdict
    if failing is not None and not conjunction.relaxed_parts:
        score = 0.0
    runner_up = mappings[1] if len(mappings) > 1 else None
    return ConditionFinding(verdict, tuple(reports), "", score, mappings[0] if mappings else None, runner_up)


def exact_report(predicate: Predicate, view: EventView) -> PredicateReport:
    """A predicate without relaxed parts against the tuples of its attribute, the first true one if any."""
    folded = fold(predicate.attribute)
    places = [i for i, item in enumerate(view.tuples) if folded in attribute_names(item.attribute)]
    if not places:
        return PredicateReport(_text(predicate), "missing_attribute")
    outcomes = [meets(predicate, view.tuples[i], view.types) for i in places]
    failed = OperatorOutcome.UNIT_MISMATCH if OperatorOutcome.UNIT_MISMATCH in outcomes else OperatorOutcome.FALSE
    outcome = next((o for o in outcomes if o), failed)
    place = places[outcomes.index(outcome)]
    return _report(predicate, view.tuples[place], place, _EXACT_VERDICTS[outcome], 1.0, 1.0 if outcome else 0.0)


_EXACT_VERDICTS: dict[OperatorOutcome, Verdict] = {
    OperatorOutcome.TRUE: "match",
    OperatorOutcome.ASSUMED: "match",
    OperatorOutcome.FALSE: "exact_part_false",
    OperatorOutcome.UNIT_MISMATCH: "unit_mismatch",
}


def relaxed_report(
    predicate: Predicate, row: SimilarityRow, index: int | None, view: EventView, needed: MatchThreshold
) -> PredicateReport:
    """A predicate of a conjunction with relaxed parts, with the tuple it was given (None: none was left for it)."""
    text = _text(predicate)
    if index is None:
        return PredicateReport(text, "missing_attribute", notes=(NONE_LEFT,))
    attribute, value = row.attribute[index], row.value[index]
    item = view.tuples[index]
    if predicate.attribute_relaxed and attribute < min(needed.part, SENSIBLE_THRESHOLD):
        note = f"the nearest is {item.attribute!r} at {attribute:.2g}, which says something else"
        return PredicateReport(text, "missing_attribute", notes=(note,) if attribute else ())
    if attribute * value > 0:
        parts = predicate.relaxed_parts
        reached = attribute >= needed.part and value >= needed.part
        enough = parts == 0 or (reached and score_of(attribute * value, parts) >= needed.score)
        report = _report(predicate, item, index, "match" if enough else "below_threshold", attribute, value)
        if not reached and parts:
            least = f"each part that is not exact must reach {needed.part:.3g}, however well the others do"
            report = msgspec.structs.replace(report, notes=(*report.notes, least))
        return report
    if attribute == 0:
        return PredicateReport(text, "missing_attribute")
    if predicate.value_relaxed:
        return _report(predicate, item, index, "below_threshold", attribute, value)
    mismatch = meets(predicate, item, view.types) is OperatorOutcome.UNIT_MISMATCH
    return _report(predicate, item, index, "unit_mismatch" if mismatch else "exact_part_false", attribute, value)


def negative_report(
    predicate: Predicate, view: EventView, theme: tuple[str, ...], needed: MatchThreshold
) -> PredicateReport:
    """A predicate under `not`, with the tuple that satisfies it if one does."""
    place = first_holder(predicate, view, theme, needed)
    if place is None:
        return PredicateReport(_text(predicate), "match", negated=True)
    row = view.row(predicate, theme)
    return _report(
        predicate, view.tuples[place], place, "exact_part_false", row.attribute[place], row.value[place], negated=True
    )


def nearest_tuples(
    predicates: tuple[Predicate, ...], rows: list[SimilarityRow], needed: MatchThreshold
) -> list[int | None]:
    """For a conjunction that is not met: the reading each predicate is about, no tuple twice.

    What meets a predicate at the threshold comes first; else the attribute decides, whatever the value: a temperature
    that is too low is what `temperature~ > 25` asks about, not some other number above 25.
    """
    ranked: list[tuple[bool, float, float, int, int]] = []
    for number, (predicate, row) in enumerate(zip(predicates, rows, strict=True)):
        for place, similarity in enumerate(row.similarity):
            parts = predicate.relaxed_parts
            fits = similarity > 0 and (not parts or score_of(similarity, parts) >= needed.score)
            ranked.append((fits, row.attribute[place], row.value[place], -number, -place))
    chosen: list[int | None] = [None] * len(rows)
    used: set[int] = set()
    for _, attribute, _, number, place in sorted(ranked, reverse=True):
        if attribute > 0 and chosen[-number] is None and -place not in used:
            chosen[-number] = -place
            used.add(-place)
    for number, row in enumerate(rows):  # none is near: show that, unless another predicate took the only one
        if chosen[number] is None and not any(row.attribute):
            chosen[number] = 0 if row.attribute else None
    return chosen


def _report(
    predicate: Predicate,
    item: EventTuple,
    place: int,
    verdict: Verdict,
    attribute: float,
    value: float,
    *,
    negated: bool = False,
) -> PredicateReport:
    value_text = str(int(item.value)) if isinstance(item.value, float) and item.value.is_integer() else str(item.value)
    shown = f"{value_text} {item.unit}".strip()
    return PredicateReport(
        _text(predicate),
        verdict,
        place,
        item.attribute,
        shown,
        attribute,
        value,
        negated,
        reading_notes(predicate, item),
        comparison=comparison_text(predicate, item, holds=value > 0) if verdict != "unit_mismatch" else "",
    )


def _with_verdict(report: PredicateReport, verdict: Verdict) -> PredicateReport:
    return msgspec.structs.replace(report, verdict=verdict)


def _text(predicate: Predicate) -> str:
    from likewise.language.printer import predicate_text

    return predicate_text(predicate)
