"""SenML in JSON (RFC 8428): sensor readings in packs, with base fields resolved.

A pack becomes one event for each device (base name) and time, in the order in which these first
appear: the readings a device took together belong together. A record's name after the base name is the
attribute, its unit stands beside the value, and a sum or an update time is a tuple of its own
(`energy.sum`, `energy.ut`). The base name is the event's source.
"""

from __future__ import annotations

import re
from typing import Final

from likewise.defaults import MAX_DOCUMENT_BYTES
from likewise.errors import FormatError
from likewise.formats.json.events import Data
from likewise.formats.payload import Json
from likewise.formats.strict_json import as_bytes, decode_items
from likewise.model import Event, EventTuple
from likewise.model.values import finite

_RELATIVE: Final = 2**28  # seconds; smaller times count from now (RFC 8428, section 4.5.3)
_NEWEST: Final = 10  # the version RFC 8428 describes
_NAME: Final = re.compile(r"[A-Za-z0-9][-A-Za-z0-9:./_]*")
_KNOWN: Final = frozenset(("bn", "bt", "bu", "bv", "bs", "bver", "n", "u", "v", "vs", "vb", "vd", "s", "t", "ut"))
_NUMBERS: Final = ("bt", "bv", "bs", "v", "s", "t", "ut")
_TEXTS: Final = ("bn", "bu", "n", "u", "vs", "vd")
# Units whose SenML names (RFC 8428, section 12.1; RFC 8798) are not spellings of our table.
_UNITS: Final = {"Cel": "degC", "Ohm": "ohm", "lat": "deg", "lon": "deg", "%EL": "%"}


def events_from_senml(data: Data, *, now: int | None = None) -> tuple[Event, ...]:
    """Decode a pack. `now` (µs) is the reference of relative times; without it they stay open.

    Args:
        data: The pack.
        now: Reference of relative times, in µs; None leaves these events without a time.

    >>> pack = '[{"bn": "urn:dev:1/", "bt": 1.7e9, "n": "temp", "u": "Cel", "v": 21.5}, {"n": "hum", "v": 60}]'
    >>> [event] = events_from_senml(pack)
    >>> event.source, event.time, [(t.attribute, t.value, t.unit) for t in event.tuples]
    ('urn:dev:1/', 1700000000000000, [('temp', 21.5, 'degC'), ('hum', 60, '')])
    """
    groups: dict[tuple[str, int | None], list[EventTuple]] = {}
    base: Json = {}
    for number, record in enumerate(decode_items(as_bytes(data, "SenML pack", MAX_DOCUMENT_BYTES), "SenML pack"), 1):
        _check(record, number)
        base.update((key, value) for key, value in record.items() if key.startswith("b"))
        if base.get("bver", _NEWEST) > _NEWEST:  # type: ignore[operator]
            raise FormatError(f"SenML version {base['bver']} is newer than {_NEWEST}, which is read here")
        source, attribute = _names(str(base.get("bn", "")), str(record.get("n", "")), number)
        tuples = _tuples(base, record, attribute)
        if tuples:
            groups.setdefault((source, _time(base, record, now)), []).extend(tuples)
    return tuple(
        Event(tuple(event_tuples), source=source or None, time=time) for (source, time), event_tuples in groups.items()
    )


def _check(record: Json, number: int) -> None:
    for key in record:
        if key not in _KNOWN and key.endswith("_"):
            raise FormatError(f"SenML record {number}: {key[:40]!r} must be understood and is not; leave it out")
    for key in _NUMBERS:
        if key in record and type(record[key]) not in (int, float):
            raise FormatError(f"SenML record {number}: `{key}` must be a number")
        finite(record.get(key, 0))  # type: ignore[arg-type]
    for key in _TEXTS:
        if key in record and not isinstance(record[key], str):
            raise FormatError(f"SenML record {number}: `{key}` must be text")
    if "vb" in record and not isinstance(record["vb"], bool):
        raise FormatError(f"SenML record {number}: `vb` must be a Boolean")
    if "bver" in record and type(record["bver"]) is not int:
        raise FormatError(f"SenML record {number}: `bver` must be a whole number")
    if sum(key in record for key in ("v", "vs", "vb", "vd")) > 1:
        raise FormatError(f"SenML record {number} has more than one value; send a record for each")


def _names(base: str, name: str, number: int) -> tuple[str, str]:
    """Return the device and its measured attribute. A name of one part is split at its last `/`;
    else it is a device's.
    """
    full = base + name
    if _NAME.fullmatch(full) is None:
        raise FormatError(
            f"SenML record {number}: {full[:60]!r} is no name; start with a letter or digit, then also -:./_"
        )
    if base and name:
        return base, name
    device, slash, rest = full.rpartition("/")
    return (device + slash, rest) if slash and rest else (full, "value")


def _time(base: Json, record: Json, now: int | None) -> int | None:
    if "bt" not in base and "t" not in record:
        return now
    seconds = float(base.get("bt", 0)) + float(record.get("t", 0))  # type: ignore[arg-type]
    if not abs(seconds) < 2**43:  # in microseconds it would pass 64 bits
        raise FormatError(f"the SenML time {seconds:g} s lies beyond what can be said; send seconds since 1970")
    if seconds < _RELATIVE:
        return None if now is None else now + round(seconds * 1_000_000)
    return round(seconds * 1_000_000)


def _tuples(base: Json, record: Json, attribute: str) -> list[EventTuple]:
    unit = str(record.get("u", base.get("bu", "")))
    unit = _UNITS.get(unit, unit)
    tuples: list[EventTuple] = []
    if "vs" in record or "vd" in record:
        tuples.append(EventTuple(attribute, str(record.get("vs", record.get("vd")))))
    elif "vb" in record:
        tuples.append(EventTuple(attribute, bool(record["vb"])))
    elif "v" in record or ("bv" in base and "s" not in record and "n" in record):
        tuples.append(EventTuple(attribute, _sum(base.get("bv", 0), record.get("v", 0)), unit))
    if "s" in record or "bs" in base:
        tuples.append(EventTuple(f"{attribute}.sum", _sum(base.get("bs", 0), record.get("s", 0))))
    if "ut" in record and tuples:
        tuples.append(EventTuple(f"{attribute}.ut", _sum(0, record["ut"]), "s"))
    return tuples


def _sum(base: object, value: object) -> float:
    """Return base plus value; integers stay integers."""
    return base + value  # type: ignore[operator, no-any-return]
