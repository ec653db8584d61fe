"""`some list (...)`: does one item of a list meet all of it? (docs/language.md, "Lists")

The fields of one list item share a group; a plain value of a list is an item of its own, called `value`. Inside, an
exact attribute is the field's name in its item; relaxed ones are related as anywhere, and have a tuple each, all of the
item.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from likewise.matching.reference.event_view import EventView, SimilarityRow, related, relaxed_terms
from likewise.matching.reference.mappings import best_mapping, score_of
from likewise.matching.reference.match_threshold import MatchThreshold
from likewise.matching.reference.operators import meets
from likewise.model.condition import ItemConjunction, merge_comparisons
from likewise.model.event import EventTuple
from likewise.model.predicate import Predicate
from likewise.model.text import attribute_names, fold
from likewise.semantics.measure import Term

PLAIN_VALUE = "value"  # what a list's plain value is called inside `some`


class PreparedItem(NamedTuple):
    """A `some`, ready to be evaluated; `positive` is merged if anything in it is relaxed."""

    item: ItemConjunction
    name: str  # the list's, folded
    term: Term | None  # the list's name if it is relaxed
    positive: tuple[Predicate, ...]
    negative: tuple[Predicate, ...]
    relaxed_parts: int


class ListItem(NamedTuple):
    """One item of an event's list: the list's name as written, and its tuples with their names inside it."""

    name: str
    places: tuple[int, ...]
    fields: tuple[str, ...]


def prepare_item(item: ItemConjunction, theme: tuple[str, ...]) -> tuple[PreparedItem, list[Term]]:
    """Return what has to be known of a `some` before any event, and the terms its relaxed parts ask about."""
    inside = item.conjunction
    positive = merge_comparisons(inside.positive) if item.relaxed_parts else inside.positive
    term = Term(item.attribute, "attribute", theme) if item.attribute_relaxed else None
    parts = sum(p.relaxed_parts for p in positive) + item.attribute_relaxed
    made = PreparedItem(item, fold(item.attribute), term, positive, inside.negative, parts)
    return made, relaxed_terms((*positive, *inside.negative), theme)


def list_items(tuples: Sequence[EventTuple]) -> list[ListItem]:
    """Every item of every list of an event, in order.

    >>> from likewise.model import event
    >>> [(i.name, i.fields) for i in list_items(event({"r": [{"n": "t", "v": 1}], "tags": ["a"], "x": 1}).tuples)]
    [('r', ('n', 'v')), ('tags', ('value',))]
    """
    grouped: dict[tuple[str, int], list[tuple[int, str]]] = {}
    for place, item in enumerate(tuples):
        attribute = item.attribute
        inner = attribute.rfind("[].")
        if attribute.endswith("[]"):
            grouped[attribute[:-2], -place - 1] = [(place, PLAIN_VALUE)]
        if inner >= 0:
            grouped.setdefault((attribute[:inner], item.group), []).append((place, attribute[inner + 3 :]))
    return [
        ListItem(name, tuple(place for place, _ in fields), tuple(field for _, field in fields))
        for (name, _), fields in grouped.items()
    ]


def best_item(wanted_item: PreparedItem, view: EventView, theme: tuple[str, ...], needed: MatchThreshold) -> float:
    """The product of the relaxed parts for the item that meets it best, 1 if there are none; 0 if none meets it."""
    return max((product for _, product in matching_items(wanted_item, view, theme, needed)), default=0.0)


def matching_items(
    wanted_item: PreparedItem, view: EventView, theme: tuple[str, ...], needed: MatchThreshold
) -> Iterator[tuple[ListItem, float]]:
    """The items that meet it, each with its product."""
    for item in list_items(view.tuples):
        named = list_relatedness(wanted_item, item, view)
        if named <= 0 or (named < needed.part and wanted_item.term is not None):
            continue
        product = named * _inside(wanted_item, item, view, theme, needed)
        if product > 0 and not any(_holds(p, item, view, theme, needed) for p in wanted_item.negative):
            yield item, product


def list_relatedness(wanted_item: PreparedItem, item: ListItem, view: EventView) -> float:
    """Return how well a list's name fits: 1 or 0 unless it is relaxed."""
    if wanted_item.name in attribute_names(item.name) or wanted_item.name == fold(item.name + "[]"):
        return 1.0
    if wanted_item.term is None:
        return 0.0
    listed = Term(item.name, "attribute", view.theme)
    return related([wanted_item.term], [listed], view.measure)[0][0]


def _inside(
    wanted_item: PreparedItem, item: ListItem, view: EventView, theme: tuple[str, ...], needed: MatchThreshold
) -> float:
    rows = [item_row(p, item, view, theme, needed.part).similarity for p in wanted_item.positive]
    if not all(any(row) for row in rows):
        return 0.0
    if not any(p.relaxed_parts for p in wanted_item.positive):  # predicates may share a tuple
        return 1.0
    best = best_mapping(rows)
    return 0.0 if best is None else best[0]


def item_row(
    predicate: Predicate, item: ListItem, view: EventView, theme: tuple[str, ...], floor: float = 0.0
) -> SimilarityRow:
    """A predicate against the tuples of one item; 0 where a relaxed part is below the floor."""
    folded = fold(predicate.attribute)
    tuples = [view.tuples[place] for place in item.places]
    if predicate.relaxed_parts:
        whole = view.row(predicate, theme)
        attribute = tuple(whole.attribute[place] for place in item.places)
        value = tuple(whole.value[place] for place in item.places)
    else:
        value = tuple(1.0 if meets(predicate, t, view.types) else 0.0 for t in tuples)
        attribute = ()
    if not predicate.attribute_relaxed:
        attribute = tuple(1.0 if folded in attribute_names(field) else 0.0 for field in item.fields)
    pairs = zip(attribute, value, strict=True)
    return SimilarityRow(attribute, value, tuple(a * v if a >= floor and v >= floor else 0.0 for a, v in pairs))


def _holds(
    predicate: Predicate, item: ListItem, view: EventView, theme: tuple[str, ...], needed: MatchThreshold
) -> bool:
    """Return whether some tuple of the item satisfies a predicate standing alone."""
    parts = predicate.relaxed_parts
    similarity = item_row(predicate, item, view, theme, needed.part).similarity
    return any(s > 0 and (not parts or score_of(s, parts) >= needed.against) for s in similarity)
