"""Decode payloads of Sparkplug B into metrics as they were sent, before BIRTHs are applied.

`sparkplug_b.proto` names the fields. A field that is not known is passed over; one that holds something else than it
should, more fields or deeper templates than are allowed, and a payload in another encoding are refused.

Protobuf's encoding: the fields of a message, each length checked against what is there before it is used.

A field is its number and what it holds: a varint (wire type 0), eight or four bytes (1, 5), or bytes of a stated length
(2). Groups, which Sparkplug does not have, and everything that is cut short are refused with `FormatError`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

from likewise.defaults import MAX_SPARKPLUG_FIELDS, MAX_SPARKPLUG_TEMPLATES
from likewise.errors import FormatError, LimitExceeded

VARINT: Final = 0
EIGHT: Final = 1
BYTES: Final = 2
FOUR: Final = 5
_FLOAT: Final = struct.Struct("<f")
_DOUBLE: Final = struct.Struct("<d")
_MOST: Final = 10  # bytes of a varint of 64 bits


class ProtobufField(NamedTuple):
    """A field of a message, as it stands there; asked for as something else, it is refused."""

    number: int
    kind: int
    value: int | bytes

    def whole(self, bits: int = 64) -> int:
        """Return a whole number, cut to its type's bits as Protobuf does.

        >>> ProtobufField(4, VARINT, 2**32 + 7).whole(32)
        7
        """
        if not isinstance(self.value, int):
            raise self._wrong_type("a varint")
        return self.value & ((1 << bits) - 1)

    def truth(self) -> bool:
        """Return a Boolean."""
        return self.whole() != 0

    def body(self) -> bytes:
        """Bytes, or a message inside this one."""
        if self.kind != BYTES or not isinstance(self.value, bytes):
            raise self._wrong_type("bytes with their length")
        return self.value

    def text(self) -> str:
        """Return a text in UTF-8."""
        try:
            return self.body().decode()
        except UnicodeDecodeError:
            raise FormatError(f"field {self.number} is no text in UTF-8; send Sparkplug's texts as UTF-8") from None

    def double(self) -> float:
        """Return a number of eight bytes."""
        if self.kind != EIGHT or not isinstance(self.value, bytes):
            raise self._wrong_type("eight bytes")
        return float(_DOUBLE.unpack(self.value)[0])

    def float(self) -> float:
        """Return a number of four bytes, by the fewest digits that mean the same four bytes.

        >>> ProtobufField(12, FOUR, _FLOAT.pack(21.1)).float()
        21.1
        """
        if self.kind != FOUR or not isinstance(self.value, bytes):
            raise self._wrong_type("four bytes")
        number = float(_FLOAT.unpack(self.value)[0])
        if number - number != 0:  # infinite, or no number
            return number
        shorter = (float(f"{number:.{digits}g}") for digits in (6, 7, 8))
        return next((each for each in shorter if _same(each, self.value)), number)

    def _wrong_type(self, expected: str) -> FormatError:
        return FormatError(f"field {self.number} holds wire type {self.kind}, not {expected}; it is not Sparkplug B's")


def _same(number: float, packed: bytes) -> bool:
    try:
        return _FLOAT.pack(number) == packed
    except OverflowError:  # rounded up beyond the largest
        return False


def read_varint(body: bytes, at: int) -> tuple[int, int]:
    """Return the whole number at a place, and the place after it.

    >>> read_varint(bytes([0x96, 0x01]), 0)
    (150, 2)
    """
    value = 0
    for place, byte in enumerate(body[at : at + _MOST]):
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            if value >= 1 << 64:
                break
            return value, at + place + 1
    raise FormatError(f"the varint at byte {at} is cut short or larger than 64 bits")


class FieldBudget:
    """The number of fields that a payload may still have, nested messages included."""

    def __init__(self, most: int = MAX_SPARKPLUG_FIELDS) -> None:
        self._most = self._left = most

    def take(self) -> None:
        """Count a field; refuse it if there are too many."""
        self._left -= 1
        if self._left < 0:
            raise LimitExceeded("fields of a Sparkplug payload", allowed=self._most)


def read_fields(body: bytes, room: FieldBudget) -> Iterator[ProtobufField]:
    """Yield the fields of a message, in their order.

    >>> message = bytes([0x08, 0x96, 0x01, 0x12, 0x02]) + b"hi"
    >>> [(each.number, each.value) for each in read_fields(message, FieldBudget())]
    [(1, 150), (2, b'hi')]
    >>> list(read_fields(bytes([0x12, 0x7F]) + b"hi", FieldBudget()))
    Traceback (most recent call last):
    likewise.errors.FormatError: field 2 says that it has 127 bytes, and 2 are left
    """
    at, end = 0, len(body)
    while at < end:
        room.take()
        tag, at = read_varint(body, at)
        number, kind = tag >> 3, tag & 7
        if not 0 < number < 1 << 29:
            raise FormatError(f"there is no field {number}; Protobuf's are numbered from 1 to 536,870,911")
        if kind == VARINT:
            value, at = read_varint(body, at)
            yield ProtobufField(number, kind, value)
            continue
        if kind == BYTES:
            size, at = read_varint(body, at)
        elif kind in (EIGHT, FOUR):
            size = 8 if kind == EIGHT else 4
        else:
            raise FormatError(f"field {number} has wire type {kind}, which Sparkplug B does not use")
        if size > end - at:
            raise FormatError(f"field {number} says that it has {size} bytes, and {end - at} are left")
        yield ProtobufField(number, kind, body[at : at + size])
        at += size


_SIGNED: Final = {1: 8, 2: 16, 3: 32, 4: 64}  # Int8 to Int64, and their bits
_UNIT: Final = "engunit"


class UnsignedInteger(NamedTuple):
    """A whole number as it travels: without a sign, in a field of so many bits."""

    value: int
    bits: int

    def of(self, datatype: int) -> int:
        """Return the number that it is, by its type; without one it has no sign.

        >>> UnsignedInteger(2**32 - 3, 32).of(1), UnsignedInteger(253, 32).of(1), UnsignedInteger(253, 32).of(5)
        (-3, -3, 253)
        """
        signed_bits = _SIGNED.get(datatype)
        for bits in (self.bits, signed_bits) if signed_bits else ():
            if 1 << (bits - 1) <= self.value < 1 << bits:
                return self.value - (1 << bits)
        return self.value


Plain = UnsignedInteger | float | bool | str
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
    """Return the metrics of a payload.

    >>> read_payload(bytes([0x08, 0x07, 0x12, 0x06, 0x0A, 0x01]) + b"t" + bytes([0x50, 0xAC, 0x02])).metrics[0].value
    UnsignedInteger(value=300, bits=32)
    """
    time: int | None = None
    metrics: list[Metric] = []
    room = FieldBudget()
    for field in read_fields(body, room):
        if field.number == 1:
            time = field.whole()
        elif field.number == 2:
            metrics.append(_metric(field.body(), room, 0))
        elif field.number == 4 and (encoding := field.text()).startswith("SPBV1.0_COMPRESSED"):
            raise FormatError(f"the payload is compressed ({encoding[:40]}), which is not read; send it as it is")
    return Payload(time, tuple(metrics))


def _scalar(field: ProtobufField, first: int) -> Plain | None:
    """Return the value of a field, where six of them stand for six kinds, from the number of the first on."""
    match field.number - first:
        case 0:
            return UnsignedInteger(field.whole(32), 32)
        case 1:
            return UnsignedInteger(field.whole(), 64)
        case 2:
            return field.float()
        case 3:
            return field.double()
        case 4:
            return field.truth()
        case 5:
            return field.text()
    return None


def _metric(body: bytes, room: FieldBudget, depth: int) -> Metric:
    name, unit, datatype, historical, null = "", "", 0, False, False
    alias: int | None = None
    time: int | None = None
    value: Plain | bytes | Rows | tuple[Metric, ...] | None = None
    for field in read_fields(body, room):
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
                value = _scalar(field, 10)
    return Metric(name, alias, time, datatype, historical, unit, None if null else value)


def _unit(body: bytes, room: FieldBudget) -> str:
    """Return the engineering unit among properties; '' if there is none."""
    keys: list[str] = []
    values: list[bytes] = []
    for field in read_fields(body, room):
        if field.number == 1:
            keys.append(field.text())
        elif field.number == 2:
            values.append(field.body())
    if len(keys) != len(values):
        raise FormatError(f"a set of properties has {len(keys)} keys and {len(values)} values; send as many of both")
    units = (value for key, value in zip(keys, values, strict=True) if key.casefold() == _UNIT)
    return next(
        (field.text().strip() for value in units for field in read_fields(value, room) if field.number == 8), ""
    )


def _rows(body: bytes, room: FieldBudget) -> Rows:
    """Return the rows of a data set, each by the names of its columns."""
    columns: list[str] = []
    types: list[int] = []
    rows: list[list[Plain | None]] = []
    for field in read_fields(body, room):
        if field.number == 2:
            columns.append(field.text())
        elif field.number == 3:
            types += _packed(field)
        elif field.number == 4:
            rows.append([_last(each.body(), 1, room) for each in read_fields(field.body(), room) if each.number == 1])
    if any(len(row) != len(columns) for row in rows) or len(types) != len(columns):
        raise FormatError(f"a data set has {len(columns)} columns; send as many types, and as many values in each row")
    return [
        {
            name: value.of(kind) if isinstance(value, UnsignedInteger) else value
            for name, kind, value in zip(columns, types, row, strict=True)
            if value is not None
        }
        for row in rows
    ]


def _packed(field: ProtobufField) -> list[int]:
    """Whole numbers of a repeated field, which may stand in one piece."""
    if field.kind != BYTES:
        return [field.whole(32)]
    body, at, numbers = field.body(), 0, []
    while at < len(body):
        value, at = read_varint(body, at)
        numbers.append(value)
    return numbers


def _last(body: bytes, first: int, room: FieldBudget) -> Plain | None:
    """Return the value of a message that holds nothing else."""
    value: Plain | None = None
    for field in read_fields(body, room):
        value = _scalar(field, first) if first <= field.number < first + 6 else value
    return value


def _template(body: bytes, room: FieldBudget, depth: int) -> tuple[Metric, ...] | None:
    """Return the metrics and parameters of a template's instance; None of a definition, which is no reading."""
    if depth > MAX_SPARKPLUG_TEMPLATES:
        raise LimitExceeded("templates within templates", allowed=MAX_SPARKPLUG_TEMPLATES)
    metrics: list[Metric] = []
    definition = False
    for field in read_fields(body, room):
        if field.number == 2:
            metrics.append(_metric(field.body(), room, depth))
        elif field.number == 3:
            metrics.append(_parameter(field.body(), room))
        elif field.number == 5:
            definition = field.truth()
    return None if definition else tuple(metrics)


def _parameter(body: bytes, room: FieldBudget) -> Metric:
    name, datatype = "", 0
    for field in read_fields(body, room):
        if field.number == 1:
            name = field.text()
        elif field.number == 2:
            datatype = field.whole(32)
    return Metric(name, None, None, datatype, False, "", _last(body, 3, room))
