"""Declared type hierarchies: `is-a` follows them, besides the prefixes of names.

A hierarchy is a value: pairs of a type and a wider one, as rdfs:subClassOf says them. Names are compared folded, whole
and by their last part (`https://brickschema.org/schema/Brick#Air_Temperature_Sensor`, `Air Temperature Sensor`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from typing import Final

from likewise.errors import InputError
from likewise.model.text import fold

_LAST: Final = re.compile(r"[^#/:]+\Z")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@lru_cache(maxsize=65_536)
def type_names(name: str) -> tuple[str, ...]:
    """Return the names of a type: as written, and its last part in words.

    >>> type_names("<http://www.w3.org/ns/sosa/ObservableProperty>")
    ('http://www.w3.org/ns/sosa/observableproperty', 'observable property')
    """
    text = name.strip().removeprefix("<").removesuffix(">")
    last = _LAST.search(text)
    words = fold(_CAMEL.sub(" ", last.group()).replace("_", " ")) if last else ""
    return tuple(dict.fromkeys(form for form in (fold(text), words) if form))


class Hierarchy:
    """Types and their declared supertypes. Immutable.

    >>> types = Hierarchy([("Thermometer", "Sensor"), ("Sensor", "Device")])
    >>> types.is_a("thermometer", "DEVICE"), types.is_a("lamp", "Device"), types.is_a("ex:Sensor", "Device")
    (True, False, True)
    >>> Hierarchy([("Thermometer", "Sensor"), ("Sensor", "Device"), ("Device", "Thermometer")])
    Traceback (most recent call last):
    ...
    likewise.errors.InputError: types go round in a circle: thermometer, sensor, device, thermometer; take ...
    """

    __slots__ = ("_wider", "declared")

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        """Take pairs of a type and a wider one. A cycle is refused with its members."""
        wider: dict[str, set[str]] = {}
        declared = tuple(pairs)
        for pair in declared:
            if not all(isinstance(name, str) and name.strip() for name in pair):
                raise InputError(f"a type and a wider one are two names, not {pair!r}")
        self.declared: Final = tuple((narrow, wide) for narrow, wide in declared if fold(narrow) != fold(wide))
        _check_order(self.declared)
        for narrow, wide in self.declared:
            for name in type_names(narrow):
                wider.setdefault(name, set()).update(type_names(wide))
        self._wider = wider

    def __bool__(self) -> bool:
        return bool(self._wider)

    def __len__(self) -> int:
        return len(self._wider)

    def wider(self, name: str) -> frozenset[str]:
        """Return all names of a type and of its transitive supertypes."""
        forms: set[str] = set()
        pending = list(type_names(name))
        while pending:
            one = pending.pop()
            if one not in forms:
                forms.add(one)
                pending.extend(self._wider.get(one, ()))
        return frozenset(forms)

    def is_a(self, narrow: str, wide: str) -> bool:
        """Return whether one type equals another, or is declared to be a kind of it."""
        return not self.wider(narrow).isdisjoint(type_names(wide))

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Return the declared pairs in folded form."""
        for narrow, wide in self._wider.items():
            for one in sorted(wide):
                yield narrow, one


def _check_order(pairs: tuple[tuple[str, str], ...]) -> None:
    """Refuse types that are their own supertypes."""
    below: dict[str, list[str]] = {}
    for narrow, wide in pairs:
        below.setdefault(fold(narrow), []).append(fold(wide))
    try:
        TopologicalSorter(below).prepare()
    except CycleError as error:
        round_trip = ", ".join(reversed(error.args[1]))
        raise InputError(f"types go round in a circle: {round_trip}; take one of these steps out") from None


NO_TYPES: Final = Hierarchy()
