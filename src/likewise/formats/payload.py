"""Reconstruction of the nested object behind flat tuples: the inverse of `likewise.event`, where there is one."""

from __future__ import annotations

from likewise.errors import LikewiseError
from likewise.model import Event, EventTuple, event

Json = dict[str, object]


def payload_of(tuples: tuple[EventTuple, ...]) -> Json | None:
    """Return an object that flattens to exactly these tuples, or None.

    >>> payload_of((EventTuple("room.temp", 21, "C"), EventTuple("tags[]", "a"), EventTuple("tags[]", "b")))
    {'room': {'temp': {'value': 21, 'unit': 'C'}}, 'tags': ['a', 'b']}
    >>> payload_of((EventTuple("a", 1), EventTuple("a", 2))) is None
    True
    """
    root: Json = {}
    items: dict[tuple[str, int], Json] = {}
    for item in tuples:
        if not _place(root, items, item):
            return None
    try:
        again = event(root).tuples if root else ()
    except LikewiseError:
        return None
    return root if _same(again, tuples) else None


def _same(a: tuple[EventTuple, ...], b: tuple[EventTuple, ...]) -> bool:
    return a == b and all(type(x.value) is type(y.value) for x, y in zip(a, b, strict=True))


def _place(root: Json, items: dict[tuple[str, int], Json], item: EventTuple) -> bool:
    """Insert one tuple at its path; return False if something else is there."""
    here, path = root, ""
    *parents, last = item.attribute.split(".")
    for part in parents:
        path += part + "."
        name = part.removesuffix("[]")
        if name == part:
            inner = here.setdefault(name, {})
        else:  # an item of a list, known by its group
            inner = items.get((path, item.group))
            if inner is None:
                inner = items[path, item.group] = {}
                listed = here.setdefault(name, [])
                if not isinstance(listed, list):
                    return False
                listed.append(inner)
        if not isinstance(inner, dict):
            return False
        here = inner
    value: object = {"value": item.value, "unit": item.unit} if item.unit and last != "value" else item.value
    if last == "value" and item.unit:
        here["unit"] = item.unit
    name = last.removesuffix("[]")
    if name != last:
        listed = here.setdefault(name, [])
        if not isinstance(listed, list):
            return False
        listed.append(value)
        return True
    if name in here:
        return False
    here[name] = value
    return True


def content_of(event: Event) -> Json | None:
    """Return the payload of an event that has nothing else; None with a graph or a vector, or without a fitting
    payload.
    """
    return None if event.graph or event.vector else payload_of(event.tuples)
