"""Declared hierarchies of types: what `is-a` follows beside the prefixes of names.

A hierarchy is a value: pairs of a type and a wider one, as rdfs:subClassOf says them. Names are compared folded, whole
and by their last part (`https://brickschema.org/schema/Brick#Air_Temperature_Sensor`, `Air Temperature Sensor`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from likewise.model.text import fold

_LAST: Final = re.compile(r"[^#/:]+\Z")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@lru_cache(maxsize=65_536)
def type_names(name: str) -> tuple[str, ...]:
    """The forms in which a type is named: as it is, and its last part in words.

    >>> type_names("<http://www.w3.org/ns/sosa/ObservableProperty>")
    ('http://www.w3.org/ns/sosa/observableproperty', 'observable property')
    """
    text = name.strip().removeprefix("<").removesuffix(">")
    last = _LAST.search(text)
    words = fold(_CAMEL.sub(" ", last.group()).replace("_", " ")) if last else ""
    return tuple(dict.fromkeys(form for form in (fold(text), words) if form))


class Hierarchy:
    """Types and the wider ones declared for them; it never changes.

    >>> types = Hierarchy([("Thermometer", "Sensor"), ("Sensor", "Device"), ("Device", "Thermometer")])
    >>> types.is_a("thermometer", "DEVICE"), types.is_a("lamp", "Device"), types.is_a("ex:Sensor", "Device")
    (True, False, True)
    """

    __slots__ = ("_wider",)

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        """Pairs of a type and one that is wider; cycles do no harm."""
        wider: dict[str, set[str]] = {}
        for narrow, wide in pairs:
            for name in type_names(narrow):
                wider.setdefault(name, set()).update(type_names(wide))
        self._wider = wider

    def __bool__(self) -> bool:
        return bool(self._wider)

    def __len__(self) -> int:
        return len(self._wider)

    def wider(self, name: str) -> frozenset[str]:
        """Every form of a type and of all that are wider, nearest or not."""
        found: set[str] = set()
        pending = list(type_names(name))
        while pending:
            one = pending.pop()
            if one not in found:
                found.add(one)
                pending.extend(self._wider.get(one, ()))
        return frozenset(found)

    def is_a(self, narrow: str, wide: str) -> bool:
        """Whether one type is another, or is declared to be a kind of it."""
        return not self.wider(narrow).isdisjoint(type_names(wide))

    def pairs(self) -> Iterator[tuple[str, str]]:
        """What was declared, in folded forms."""
        for narrow, wide in self._wider.items():
            for one in sorted(wide):
                yield narrow, one


NO_TYPES: Final = Hierarchy()
