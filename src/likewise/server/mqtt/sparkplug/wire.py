"""Protobuf's encoding: the fields of a message, each length checked against what is there before it is used.

A field is its number and what it holds: a varint (wire type 0), eight or four bytes (1, 5), or bytes of a stated length
(2). Groups, which Sparkplug does not have, and everything that is cut short are refused with `FormatError`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

from likewise.defaults import MAX_SPARKPLUG_FIELDS
from likewise.errors import FormatError, LimitExceeded

VARINT: Final = 0
EIGHT: Final = 1
BYTES: Final = 2
FOUR: Final = 5
_FLOAT: Final = struct.Struct("<f")
_DOUBLE: Final = struct.Struct("<d")
_MOST: Final = 10  # bytes of a varint of 64 bits


class Field(NamedTuple):
    """A field of a message, as it stands there; asked for as something else, it is refused."""

    number: int
    kind: int
    held: int | bytes

    def whole(self, bits: int = 64) -> int:
        """A whole number, cut to its type's bits as Protobuf does.

        >>> Field(4, VARINT, 2**32 + 7).whole(32)
        7
        """
        if not isinstance(self.held, int):
            raise self._other("a varint")
        return self.held & ((1 << bits) - 1)

    def truth(self) -> bool:
        """A Boolean."""
        return self.whole() != 0

    def body(self) -> bytes:
        """Bytes, or a message inside this one."""
        if self.kind != BYTES or not isinstance(self.held, bytes):
            raise self._other("bytes with their length")
        return self.held

    def text(self) -> str:
        """A text in UTF-8."""
        try:
            return self.body().decode()
        except UnicodeDecodeError:
            raise FormatError(f"field {self.number} is no text in UTF-8; send Sparkplug's texts as UTF-8") from None

    def double(self) -> float:
        """A number of eight bytes."""
        if self.kind != EIGHT or not isinstance(self.held, bytes):
            raise self._other("eight bytes")
        return float(_DOUBLE.unpack(self.held)[0])

    def float(self) -> float:
        """A number of four bytes, by the fewest digits that mean the same four bytes.

        >>> Field(12, FOUR, _FLOAT.pack(21.1)).float()
        21.1
        """
        if self.kind != FOUR or not isinstance(self.held, bytes):
            raise self._other("four bytes")
        number = float(_FLOAT.unpack(self.held)[0])
        if number - number != 0:  # infinite, or no number
            return number
        shorter = (float(f"{number:.{digits}g}") for digits in (6, 7, 8))
        return next((each for each in shorter if _same(each, self.held)), number)

    def _other(self, wanted: str) -> FormatError:
        return FormatError(f"field {self.number} holds wire type {self.kind}, not {wanted}; it is not Sparkplug B's")


def _same(number: float, packed: bytes) -> bool:
    try:
        return _FLOAT.pack(number) == packed
    except OverflowError:  # rounded up beyond the largest
        return False


def varint(body: bytes, at: int) -> tuple[int, int]:
    """The whole number at a place, and the place after it.

    >>> varint(bytes([0x96, 0x01]), 0)
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


class Room:
    """How many more fields a payload may have, those of messages inside it counted."""

    def __init__(self, most: int = MAX_SPARKPLUG_FIELDS) -> None:
        self._most = self._left = most

    def take(self) -> None:
        """One more field; refused if there is no room for it."""
        self._left -= 1
        if self._left < 0:
            raise LimitExceeded("fields of a Sparkplug payload", allowed=self._most)


def fields(body: bytes, room: Room) -> Iterator[Field]:
    """The fields of a message, in their order.

    >>> [(each.number, each.held) for each in fields(bytes([0x08, 0x96, 0x01, 0x12, 0x02]) + b"hi", Room())]
    [(1, 150), (2, b'hi')]
    >>> list(fields(bytes([0x12, 0x7F]) + b"hi", Room()))
    Traceback (most recent call last):
    likewise.errors.FormatError: field 2 says that it has 127 bytes, and 2 are left
    """
    at, end = 0, len(body)
    while at < end:
        room.take()
        tag, at = varint(body, at)
        number, kind = tag >> 3, tag & 7
        if not 0 < number < 1 << 29:
            raise FormatError(f"there is no field {number}; Protobuf's are numbered from 1 to 536,870,911")
        if kind == VARINT:
            value, at = varint(body, at)
            yield Field(number, kind, value)
            continue
        if kind == BYTES:
            size, at = varint(body, at)
        elif kind in (EIGHT, FOUR):
            size = 8 if kind == EIGHT else 4
        else:
            raise FormatError(f"field {number} has wire type {kind}, which Sparkplug B does not use")
        if size > end - at:
            raise FormatError(f"field {number} says that it has {size} bytes, and {end - at} are left")
        yield Field(number, kind, body[at : at + size])
        at += size
