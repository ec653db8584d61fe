"""What a payload of Sparkplug B says: its metrics as they were sent, before anybody looks at what was announced.

`sparkplug_b.proto` names the fields. A field that is not known is passed over; one that holds something else than it
should, more fields or deeper templates than are allowed, and a payload in another encoding are refused.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from likewise.defaults import MAX_SPARKPLUG_TEMPLATES
from likewise.errors import FormatError, LimitExceeded
from likewise.server.mqtt.sparkplug.wire import BYTES, Field, Room, fields, varint

_SIGNED: Final = {1: 8, 2: 16, 3: 32, 4: 64}  # Int8 to Int64, and their bits
_UNIT: Final = "engunit"


class Whole(NamedTuple):
    """A whole number as it travels: without a sign, in a field of so many bits."""

    value: int
    bits: int

    def of(self, datatype: int) -> int:
        """The number that it is, by its type; without one it has no sign.

        >>> Whole(2**32 - 3, 32).of(1), Whole(253, 32).of(1), Whole(253, 32).of(5)
        (-3, -3, 253)
        """
        own = _SIGNED.get(datatype)
        for bits in (self.bits, own) if own else ():
            if 1 << (bits - 1) <= self.value < 1 << bits:
                return self.value - (1 << bits)
        return self.value


Plain = Whole | float | bool | str
Rows = list[dict[str, float | int | bool | str]]


class Metric(NamedTuple):
    """One metric: `value` is None where it has none, a tuple of metrics where it is a template."""

    name: str
    alias: int | None
    time: int | None  # milliseconds
    datatype: int
    historical: bool
    unit: str
    value: Plain | bytes | Rows | tuple[Metric, ...] | None


class Payload(NamedTuple):
    """A message's metrics, and when it was sent (milliseconds)."""

    time: int | None
    metrics: tuple[Metric, ...]


def read_payload(body: bytes) -> Payload:
    """The metrics of a payload.

    >>> read_payload(bytes([0x08, 0x07, 0x12, 0x06, 0x0A, 0x01]) + b"t" + bytes([0x50, 0xAC, 0x02])).metrics[0].value
    Whole(value=300, bits=32)
    """
    time: int | None = None
    metrics: list[Metric] = []
    room = Room()
    for field in fields(body, room):
        if field.number == 1:
            time = field.whole()
        elif field.number == 2:
            metrics.append(_metric(field.body(), room, 0))
        elif field.number == 4 and (encoding := field.text()).startswith("SPBV1.0_COMPRESSED"):
            raise FormatError(f"the payload is compressed ({encoding[:40]}), which is not read; send it as it is")
    return Payload(time, tuple(metrics))


def _plain(field: Field, first: int) -> Plain | None:
    """The value of a field, where six of them stand for six kinds, from the number of the first on."""
    match field.number - first:
        case 0:
            return Whole(field.whole(32), 32)
        case 1:
            return Whole(field.whole(), 64)
        case 2:
            return field.float()
        case 3:
            return field.double()
        case 4:
            return field.truth()
        case 5:
            return field.text()
    return None


def _metric(body: bytes, room: Room, depth: int) -> Metric:
    name, unit, datatype, historical, null = "", "", 0, False, False
    alias: int | None = None
    time: int | None = None
    value: Plain | bytes | Rows | tuple[Metric, ...] | None = None
    for field in fields(body, room):
        match field.number:
            case 1:
                name = field.text()
            case 2:
                alias = field.whole()
            case 3:
                time = field.whole()
            case 4:
                datatype = field.whole(32)
            case 5:
                historical = field.truth()
            case 7:
                null = field.truth()
            case 9:
                unit = _unit(field.body(), room) or unit
            case 16:
                value = field.body()
            case 17:
                value = _rows(field.body(), room)
            case 18:
                value = _template(field.body(), room, depth + 1)
            case number if 10 <= number <= 15:
                value = _plain(field, 10)
    return Metric(name, alias, time, datatype, historical, unit, None if null else value)


def _unit(body: bytes, room: Room) -> str:
    """The engineering unit among properties; '' if there is none."""
    keys: list[str] = []
    values: list[bytes] = []
    for field in fields(body, room):
        if field.number == 1:
            keys.append(field.text())
        elif field.number == 2:
            values.append(field.body())
    if len(keys) != len(values):
        raise FormatError(f"a set of properties has {len(keys)} keys and {len(values)} values; send as many of both")
    found = (value for key, value in zip(keys, values, strict=True) if key.casefold() == _UNIT)
    return next((field.text().strip() for value in found for field in fields(value, room) if field.number == 8), "")


def _rows(body: bytes, room: Room) -> Rows:
    """The rows of a data set, each by the names of its columns."""
    columns: list[str] = []
    types: list[int] = []
    rows: list[list[Plain | None]] = []
    for field in fields(body, room):
        if field.number == 2:
            columns.append(field.text())
        elif field.number == 3:
            types += _packed(field)
        elif field.number == 4:
            rows.append([_last(each.body(), 1, room) for each in fields(field.body(), room) if each.number == 1])
    if any(len(row) != len(columns) for row in rows) or len(types) != len(columns):
        raise FormatError(f"a data set has {len(columns)} columns; send as many types, and as many values in each row")
    return [
        {
            name: value.of(kind) if isinstance(value, Whole) else value
            for name, kind, value in zip(columns, types, row, strict=True)
            if value is not None
        }
        for row in rows
    ]


def _packed(field: Field) -> list[int]:
    """Whole numbers of a repeated field, which may stand in one piece."""
    if field.kind != BYTES:
        return [field.whole(32)]
    body, at, found = field.body(), 0, []
    while at < len(body):
        value, at = varint(body, at)
        found.append(value)
    return found


def _last(body: bytes, first: int, room: Room) -> Plain | None:
    """The value of a message that holds nothing else."""
    value: Plain | None = None
    for field in fields(body, room):
        value = _plain(field, first) if first <= field.number < first + 6 else value
    return value


def _template(body: bytes, room: Room, depth: int) -> tuple[Metric, ...] | None:
    """The metrics and parameters of a template's instance; None of a definition, which is no reading."""
    if depth > MAX_SPARKPLUG_TEMPLATES:
        raise LimitExceeded("templates within templates", allowed=MAX_SPARKPLUG_TEMPLATES)
    found: list[Metric] = []
    definition = False
    for field in fields(body, room):
        if field.number == 2:
            found.append(_metric(field.body(), room, depth))
        elif field.number == 3:
            found.append(_parameter(field.body(), room))
        elif field.number == 5:
            definition = field.truth()
    return None if definition else tuple(found)


def _parameter(body: bytes, room: Room) -> Metric:
    name, datatype = "", 0
    for field in fields(body, room):
        if field.number == 1:
            name = field.text()
        elif field.number == 2:
            datatype = field.whole(32)
    return Metric(name, None, None, datatype, False, "", _last(body, 3, room))
