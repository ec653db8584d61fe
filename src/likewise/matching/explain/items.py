"""The explanation of `some list (...)`: the item that meets it, or the one that meets most of it."""

from __future__ import annotations

from likewise.matching.reference.items import ListItem, PlainItem, item_row, list_items, list_relatedness, met_items
from likewise.matching.reference.mappings import score_of
from likewise.matching.reference.needed import Needed
from likewise.matching.reference.similarity import SeenEvent
from likewise.model.condition import Not, Some
from likewise.model.explanation import PredicateReport, Verdict
from likewise.model.predicate import Predicate


def item_report(
    item: PlainItem, seen: SeenEvent, theme: tuple[str, ...], needed: Needed, *, negated: bool
) -> PredicateReport:
    """A `some`, with the item that meets it, or the one that meets most of it."""
    from likewise.language.printer import predicate_text

    text = _item_text(item)
    met = max(met_items(item, seen, theme, needed), key=lambda found: found[1], default=None)
    parts = item.relaxed_parts
    holds = met is not None and (not parts or negated is False or score_of(met[1], parts) >= needed.score)
    if met is not None and holds:
        enough = not parts or score_of(met[1], parts) >= needed.score
        verdict: Verdict = "exact_part_false" if negated else "match" if enough else "below_threshold"
        return PredicateReport(text, verdict, met[0].places[0], met[0].name, _shown(met[0], seen), 1.0, met[1], negated)
    if negated:
        return PredicateReport(text, "match", negated=True)
    items = [one for one in list_items(seen.tuples) if list_relatedness(item, one, seen) > 0]
    if not items:
        return PredicateReport(text, "missing_attribute")
    failing = [
        [p for p in item.positive if not any(item_row(p, one, seen, theme, needed.part).similarity)] for one in items
    ]
    place = min(range(len(items)), key=lambda i: (_other_thing(failing[i]), len(failing[i])))
    nearest = items[place]
    note = f"of {len(items)} items none meets all of it"
    if failing[place]:
        note += f"; the nearest fails `{predicate_text(failing[place][0])}`"
    shown = _shown(nearest, seen)
    return PredicateReport(text, "exact_part_false", nearest.places[0], nearest.name, shown, 1.0, 0.0, notes=(note,))


def _other_thing(failing: list[Predicate]) -> int:
    """How many of the parts that an item fails say what it is, not how much: such an item is not the one asked for."""
    return sum(p.operator not in ("<", "<=", ">", ">=", "between") for p in failing)


def _shown(item: ListItem, seen: SeenEvent) -> str:
    fields = [f"{field}: {seen.tuples[place].value}" for field, place in zip(item.fields, item.places, strict=True)]
    return ", ".join(fields[:5]) + (", ..." if len(fields) > 5 else "")


def _item_text(item: PlainItem) -> str:
    from likewise.language.printer import node_text

    inside = item.item.conjunction
    return node_text(
        Some(item.item.attribute, (*inside.positive, *map(Not, inside.negative)), item.item.attribute_relaxed)
    )
