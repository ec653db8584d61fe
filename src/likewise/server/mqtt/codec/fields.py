"""The fields that packets are made of (MQTT 5.0, section 1.5): texts, bytes, numbers; each checked against its end.

A reading function takes the bytes, where the field begins and where its packet ends, and gives the value and where the
next field begins. Bytes after the packet's end may be another packet's, so they are never looked at.
"""

from __future__ import annotations

from typing import Final, NoReturn

from likewise.errors import FormatError, LimitExceeded, PacketError
from likewise.server.mqtt.codec.reasons import Reason

LONGEST_FIELD: Final = 65_535  # bytes of a text or of binary data
LARGEST_NUMBER: Final = 268_435_455  # that a number of variable length can say; so much of a packet follows its head
LARGEST_PACKET: Final = LARGEST_NUMBER + 5


def malformed(problem: str) -> NoReturn:
    """Refuse bytes that are no packet."""
    raise PacketError(problem, reason=Reason.MALFORMED_PACKET)


def protocol_error(problem: str) -> NoReturn:
    """Refuse what can be read but may not be said."""
    raise PacketError(problem, reason=Reason.PROTOCOL_ERROR)


def read_byte(data: bytes, at: int, end: int) -> tuple[int, int]:
    """One byte."""
    if at >= end:
        malformed("a packet of MQTT ends before its fields do")
    return data[at], at + 1


def read_number(data: bytes, at: int, end: int, size: int) -> tuple[int, int]:
    """Return a number of two or four bytes."""
    after = at + size
    if after > end:
        malformed("a packet of MQTT ends within a number")
    return int.from_bytes(data[at:after]), after


def read_variable(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Return a number of one to four bytes, in as few of them as it needs.

    >>> read_variable(b"\\xc1\\x02", 0, 2)
    (321, 2)
    """
    value = shift = 0
    for place in range(at, min(at + 4, end)):
        byte = data[place]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if byte == 0 and shift:
                malformed("a packet of MQTT has a number in more bytes than it needs")
            return value, place + 1
        shift += 7
    malformed("a packet of MQTT has a number of variable length without an end")


def read_binary(data: bytes, at: int, end: int) -> tuple[bytes, int]:
    """Binary data with its length before it."""
    begin = at + 2
    if begin <= end and (after := begin + (data[at] << 8 | data[at + 1])) <= end:
        return data[begin:after], after
    malformed("a packet of MQTT ends within a text or binary data")


def read_text(data: bytes, at: int, end: int) -> tuple[str, int]:
    """Return a text in UTF-8 with its length before it; neither surrogates nor U+0000 may stand in it.

    >>> read_text(b"\\x00\\x03roof", 0, 6)
    ('roo', 5)
    """
    raw, after = read_binary(data, at, end)
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        malformed(f"a text in a packet of MQTT is not UTF-8: {error.reason} at byte {error.start}")
    if "\0" in text:
        malformed("a text in a packet of MQTT has the character U+0000")
    return text, after


def encode_variable(number: int) -> bytes:
    """Return a number in one to four bytes.

    >>> encode_variable(127), encode_variable(321)
    (b'\\x7f', b'\\xc1\\x02')
    """
    if number < 0x80:
        return number.to_bytes()
    if number > LARGEST_NUMBER:
        raise LimitExceeded("bytes of a packet of MQTT", allowed=LARGEST_NUMBER, found=number)
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    written.append(number)
    return bytes(written)


def encode_binary(data: bytes) -> bytes:
    """Binary data with its length before it."""
    if len(data) > LONGEST_FIELD:
        raise LimitExceeded("bytes of a text or of binary data in a packet of MQTT", allowed=65_535, found=len(data))
    return len(data).to_bytes(2) + data


def encode_text(words: str) -> bytes:
    """Return a text in UTF-8 with its length before it."""
    try:
        written = words.encode()
    except UnicodeEncodeError:
        raise FormatError(f"{words[:60]!a} cannot be said in a packet of MQTT: it is no Unicode") from None
    if b"\0" in written:
        raise FormatError(f"{words[:60]!a} cannot be said in a packet of MQTT: it has U+0000")
    return encode_binary(written)


def truncate_text(words: str, most: int = LONGEST_FIELD) -> str:
    """Return a text that a packet can hold: invalid characters are U+FFFD, and it is cut to a number of bytes.

    >>> truncate_text("a\\0b\\ud800"), truncate_text("grün", 3)
    ('a\\ufffdb\\ufffd', 'gr')
    """
    encoded = words.encode(errors="surrogatepass").replace(b"\0", b"\xef\xbf\xbd")
    encoded = (
        encoded.decode(errors="surrogatepass").encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
    )
    return encoded[:most].decode(errors="ignore")
