"""What the BIRTH messages of nodes and devices announced: names, units and types of metrics, by name and by alias.

A node's BIRTH replaces what it announced before and forgets its devices, which are born anew after it; so does its
DEATH, unless it belongs to an earlier session (`bdSeq`). Memory is bounded: beyond a limit the node that was born first
is forgotten, with its devices.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from likewise.defaults import MAX_SPARKPLUG_ANNOUNCED, MAX_SPARKPLUG_CHARACTERS, MAX_SPARKPLUG_SOURCES


class Announced(NamedTuple):
    """A metric as a BIRTH announced it: `alias` is None if it has none, `unit` is '' and `datatype` 0 if unsaid."""

    name: str
    alias: int | None
    unit: str
    datatype: int


class _Birth:
    """What one node or device announced."""

    __slots__ = ("by_alias", "by_name", "characters")

    def __init__(self, key: str, announced: Iterable[Announced]) -> None:
        self.by_name = {each.name: each for each in announced}
        self.by_alias = {each.alias: each for each in self.by_name.values() if each.alias is not None}
        self.characters = len(key) + sum(len(each.name) + len(each.unit) for each in self.by_name.values())


class Births:
    """What is announced now, by node (`GROUP/NODE`) and device ('' is the node itself).

    >>> births = Births()
    >>> births.born("plant/press", "", [Announced("oil/temperature", 7, "degC", 10)], session=3)
    >>> births.find("plant/press", "", "", 7).name, births.find("plant/press", "", "", 8)
    ('oil/temperature', None)
    >>> births.died("plant/press", "", session=2), births.died("plant/press", "", session=3), births.sources
    (False, True, 0)
    """

    def __init__(
        self,
        sources: int = MAX_SPARKPLUG_SOURCES,
        announced: int = MAX_SPARKPLUG_ANNOUNCED,
        characters: int = MAX_SPARKPLUG_CHARACTERS,
    ) -> None:
        self._most = (sources, announced, characters)
        self._nodes: dict[str, dict[str, _Birth]] = {}  # the one born first stands first
        self._sessions: dict[str, int] = {}  # of nodes whose BIRTH said its session
        self.sources = self.announced = self.characters = 0

    def born(self, node: str, device: str, announced: Iterable[Announced], session: int | None = None) -> None:
        """Remember what a node or a device announces, instead of what it announced before."""
        if device:
            self._forget(node, device)
        else:
            self._forget_node(node)
            if session is not None:
                self._sessions[node] = session
        birth = _Birth(f"{node}/{device}", announced)
        self._nodes.setdefault(node, {})[device] = birth
        self._count(birth, 1)
        while any(has > most for has, most in zip(self._size(), self._most, strict=True)):
            self._forget_node(next(iter(self._nodes)))

    def died(self, node: str, device: str, session: int | None = None) -> bool:
        """Forget a device, or a node with its devices; False if the node has been born again since that session."""
        if device:
            self._forget(node, device)
            return True
        if not self.current(node, session):
            return False
        self._forget_node(node)
        return True

    def current(self, node: str, session: int | None) -> bool:
        """Whether a session is a node's last one, as far as is known."""
        return session is None or self._sessions.get(node, session) == session

    def find(self, node: str, device: str, name: str, alias: int | None) -> Announced | None:
        """What was announced of a metric, by its name, or else by its alias."""
        birth = self._nodes.get(node, {}).get(device)
        if birth is None:
            return None
        return birth.by_name.get(name) if name else birth.by_alias.get(alias) if alias is not None else None

    def _size(self) -> tuple[int, int, int]:
        return self.sources, self.announced, self.characters

    def _count(self, birth: _Birth, sign: int) -> None:
        self.sources += sign
        self.announced += sign * len(birth.by_name)
        self.characters += sign * birth.characters

    def _forget(self, node: str, device: str) -> None:
        devices = self._nodes.get(node, {})
        birth = devices.pop(device, None)
        if birth is not None:
            self._count(birth, -1)
            if not devices:
                del self._nodes[node]
                self._sessions.pop(node, None)

    def _forget_node(self, node: str) -> None:
        for device in list(self._nodes.get(node, {})):
            self._forget(node, device)
