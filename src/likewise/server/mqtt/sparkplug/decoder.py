"""Messages of Sparkplug B to events: one a message, its metrics as attributes by the names that a BIRTH gave them.

Metrics that are historical have their own time, and stand in an event of that time; so does, in another event, a metric
that a message repeats. What does not fit into one event goes on in the next. An alias that nobody announced is kept as
`alias N`, noted in the event and counted: a node is not asked to be born again.

What the BIRTH messages of nodes and devices announced: names, units and types of metrics, by name and by alias.

A node's BIRTH replaces what it announced before and forgets its devices, which are born anew after it; so does its
DEATH, unless it belongs to an earlier session (`bdSeq`). Memory is bounded: beyond a limit the node that was born first
is forgotten, with its devices.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import msgspec
import structlog

from likewise.defaults import (
    MAX_SPARKPLUG_ANNOUNCED,
    MAX_SPARKPLUG_CHARACTERS,
    MAX_SPARKPLUG_SOURCES,
    MAX_TERM_LENGTH,
    MAX_TUPLES,
)
from likewise.errors import FormatError
from likewise.model import Event, event
from likewise.server.mqtt.sparkplug.payload import Metric, UnsignedInteger, read_payload


class BirthMetric(NamedTuple):
    """A metric as a BIRTH announced it: `alias` is None if it has none, `unit` is '' and `datatype` 0 if unsaid."""

    name: str
    alias: int | None
    unit: str
    datatype: int


class _Birth:
    """The metrics of one node or device."""

    __slots__ = ("by_alias", "by_name", "characters")

    def __init__(self, key: str, announced: Iterable[BirthMetric]) -> None:
        self.by_name = {each.name: each for each in announced}
        self.by_alias = {each.alias: each for each in self.by_name.values() if each.alias is not None}
        self.characters = len(key) + sum(len(each.name) + len(each.unit) for each in self.by_name.values())


class BirthRegistry:
    """The current BIRTHs, by node (`GROUP/NODE`) and device ('' is the node itself).

    >>> births = BirthRegistry()
    >>> births.record_birth("plant/press", "", [BirthMetric("oil/temperature", 7, "degC", 10)], session=3)
    >>> births.find("plant/press", "", "", 7).name, births.find("plant/press", "", "", 8)
    ('oil/temperature', None)
    >>> ended = [births.record_death("plant/press", "", session=session) for session in (2, 3)]
    >>> (*ended, births.sources)
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

    def record_birth(
        self, node: str, device: str, announced: Iterable[BirthMetric], session: int | None = None
    ) -> None:
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

    def record_death(self, node: str, device: str, session: int | None = None) -> bool:
        """Forget a device, or a node with its devices; False if the node has been born again since that session."""
        if device:
            self._forget(node, device)
            return True
        if not self.is_current(node, session):
            return False
        self._forget_node(node)
        return True

    def is_current(self, node: str, session: int | None) -> bool:
        """Return whether a session is a node's last one, as far as is known."""
        return session is None or self._sessions.get(node, session) == session

    def find(self, node: str, device: str, name: str, alias: int | None) -> BirthMetric | None:
        """Return the BIRTH's description of a metric, by its name, or else by its alias."""
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


_log = structlog.get_logger("likewise.mqtt")
LEVELS: Final = ("group", "message", "node")  # that a topic map names, and `device` where there is one
_NODE: Final = frozenset(("NBIRTH", "NDATA", "NDEATH", "NCMD"))
_DEVICE: Final = frozenset(("DBIRTH", "DDATA", "DDEATH", "DCMD"))
_SESSION: Final = "bdSeq"
_FULL: Final = MAX_TUPLES - 20  # tuples of metrics in an event; topic, levels and client stand beside them
_PIECE: Final = MAX_TERM_LENGTH // 4 * 4
_LATEST: Final = 2**63 // 1_000


class _ResolvedMetric(NamedTuple):
    """A metric by the name and with the type and unit that it has, itself or by its BIRTH."""

    metric: Metric
    name: str
    unit: str
    datatype: int
    known: bool = True  # False: by an alias that nobody announced


class _EventBuilder(msgspec.Struct):
    """An event that is being made: its time, its attributes as JSON has them, units by attribute, and its size."""

    time: int | None
    content: dict[str, Any] = {}
    units: dict[str, str] = {}
    size: int = 0

    def event(self) -> Event:
        made, units = event(self.content, time=self.time), self.units
        if not units:
            return made
        stated = (msgspec.structs.replace(t, unit=t.unit or units.get(t.attribute, "")) for t in made.tuples)
        return msgspec.structs.replace(made, tuples=tuple(stated))


class SparkplugReader:
    """Reads the messages of nodes and devices, remembering what they announce.

    >>> birth = bytes([0x12, 0x07, 0x0A, 0x01]) + b"t" + bytes([0x10, 0x07, 0x50, 0x15])
    >>> update = bytes([0x12, 0x04, 0x10, 0x07, 0x50, 0x16])
    >>> plant = SparkplugReader()
    >>> topic = {"group": "plant", "node": "press"}
    >>> [[(t.attribute, t.value) for t in made.tuples] for made in plant.read(topic | {"message": "NBIRTH"}, birth)]
    [[('state', 'online'), ('t', 21)]]
    >>> [[(t.attribute, t.value) for t in made.tuples] for made in plant.read(topic | {"message": "NDATA"}, update)]
    [[('t', 22)]]
    """

    def __init__(self, births: BirthRegistry | None = None) -> None:
        self.births = births or BirthRegistry()
        self.unannounced = 0  # metrics whose alias no BIRTH had announced

    def read(self, levels: Mapping[str, str], body: bytes) -> list[Event]:
        """Return the events of a message, by the named levels of its topic; none if it says nothing."""
        kind, node, device = _address(levels)
        payload = read_payload(body)
        metrics = [self._resolve(each, node, device, kind) for each in payload.metrics]
        first: dict[str, Any] = {}
        session = next((_integer(each) for each in metrics if each.name == _SESSION), None)
        if kind.endswith("BIRTH"):
            first["state"] = "online"
        elif kind.endswith("DEATH"):
            if device or self.births.is_current(node, session):
                first["state"] = "offline"
            else:
                first["note"] = "the end of an earlier session; the node has been born again since"
        unknown = [each.name for each in metrics if not each.known]
        if unknown:
            first["note"] = _note(unknown)
        made = _events(first, metrics, payload.time)
        if kind.endswith("BIRTH"):
            self.births.record_birth(node, device, _birth_metrics(metrics), session)
        elif kind.endswith("DEATH"):
            self.births.record_death(node, device, session)
        if unknown:
            if not self.unannounced:
                _log.warning("sparkplug_alias_unknown", node=node[:200], device=device[:200])
            self.unannounced += len(unknown)
        return made

    def _resolve(self, metric: Metric, node: str, device: str, kind: str) -> _ResolvedMetric:
        if not metric.name and metric.alias is None:
            raise FormatError("a metric has neither a name nor an alias; send one of them")
        if kind.endswith("BIRTH"):
            if not metric.name:
                raise FormatError(f"a BIRTH announces alias {metric.alias} without a name; send the name with it")
            return _ResolvedMetric(metric, metric.name, metric.unit, metric.datatype)
        known = self.births.find(node, device, metric.name, metric.alias)
        if known is None:
            name = metric.name or f"alias {metric.alias}"
            return _ResolvedMetric(metric, name, metric.unit, metric.datatype, known=bool(metric.name))
        return _ResolvedMetric(metric, known.name, metric.unit or known.unit, metric.datatype or known.datatype)


def sparkplug_source(levels: Mapping[str, str]) -> str:
    """Return the source of a message: `GROUP/NODE` or `GROUP/NODE/DEVICE`.

    >>> sparkplug_source({"group": "plant", "message": "DDATA", "node": "press", "device": "oil"})
    'plant/press/oil'
    """
    return "/".join(levels[name] for name in ("group", "node", "device") if name in levels)


def _address(levels: Mapping[str, str]) -> tuple[str, str, str]:
    """Return the kind of a message, its node and its device ('' for the node itself)."""
    group, kind, node = (levels.get(name, "") for name in LEVELS)
    device = levels.get("device", "")
    if not group or not node or kind not in (_DEVICE if device else _NODE):
        expected = ", ".join(sorted(_DEVICE if device else _NODE))
        raise FormatError(
            f"{kind[:40]!r} is no message of a {'device' if device else 'node'}; a topic of Sparkplug B is "
            f"spBv1.0/GROUP/TYPE/NODE or spBv1.0/GROUP/TYPE/NODE/DEVICE, here with the type {expected}"
        )
    return kind, f"{group}/{node}", device


def _birth_metrics(metrics: list[_ResolvedMetric]) -> list[BirthMetric]:
    return [BirthMetric(each.name, each.metric.alias, each.unit, each.datatype) for each in metrics]


def _integer(metric: _ResolvedMetric) -> int | None:
    value = metric.metric.value
    return value.value if isinstance(value, UnsignedInteger) else None


def _note(unknown: list[str]) -> str:
    more = f" and {len(unknown) - 1:,} more" if len(unknown) > 1 else ""
    return f"no BIRTH has announced {unknown[0]}{more}"


def _events(first: dict[str, Any], metrics: list[_ResolvedMetric], sent: int | None) -> list[Event]:
    """Return the events of metrics: each of one time, each name once, none too large."""
    now = _timestamp(sent)
    made = [_EventBuilder(now, first, size=len(first))]
    open_ = {(now, 0): made[0]}  # that more goes into, by time and by how often its names were said before
    times = {(now, name): 1 for name in first}
    for each in metrics:
        time = (_timestamp(each.metric.time) or now) if each.metric.historical else now
        units: dict[str, str] = {}
        value = _value(each, each.name, units)
        if value is None:
            continue
        repeated = times.get((time, each.name), 0)
        times[time, each.name] = repeated + 1
        size, part = _leaves(value), open_.get((time, repeated))
        if part is None or part.size + size > _FULL:
            part = open_[time, repeated] = _EventBuilder(time)
            made.append(part)
        part.content[each.name] = value
        part.units |= units
        part.size += size
    return [part.event() for part in made if part.content]


def _timestamp(milliseconds: int | None) -> int | None:
    """Return a time in µs; None where none is stated that is valid: the time of arrival counts then."""
    return milliseconds * 1_000 if milliseconds and milliseconds < _LATEST else None


def _value(metric: _ResolvedMetric, path: str, units: dict[str, str]) -> Any:
    """Return a metric's value as JSON has it, its unit put among the units; None if it has no value."""
    value = metric.metric.value
    if isinstance(value, UnsignedInteger):
        value = value.of(metric.datatype)
    if isinstance(value, tuple):
        parts = [_ResolvedMetric(each, each.name, each.unit, each.datatype) for each in value if each.name]
        values = {each.name: _value(each, f"{path}.{each.name}", units) for each in parts}
        return {name: each for name, each in values.items() if each is not None} or None
    if isinstance(value, list):
        return [{name: _json_value(cell) for name, cell in row.items()} for row in value] or None
    if isinstance(value, bytes):
        value = base64.b64encode(value).decode()
    if metric.unit and isinstance(value, (int, float)) and not isinstance(value, bool):
        units[path] = metric.unit
    return _json_value(value)


def _json_value(value: Any) -> Any:
    """Return a value that an event may hold: NaN and the like as text, a long text in pieces."""
    if isinstance(value, float) and value - value != 0:
        return str(value)
    if isinstance(value, str) and len(value) > MAX_TERM_LENGTH:
        return [value[start : start + _PIECE] for start in range(0, len(value), _PIECE)]
    return value


def _leaves(value: Any) -> int:
    """Return how many tuples a value becomes, at most."""
    if isinstance(value, dict):
        return sum(map(_leaves, value.values()))
    return sum(map(_leaves, value)) if isinstance(value, list) else 1
