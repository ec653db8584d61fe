"""JSON as strictly as it is published: what is not plain RFC 8259 is refused with a stable code.

Refused are NaN and Infinity, numbers beyond 64-bit floating point, invalid UTF-8, lone surrogates,
nesting without end, text beyond a stated size, and a key that stands twice in one object (RFC 8259,
section 4, leaves its meaning open; keeping either value would lose the other silently).
"""

from __future__ import annotations

import json
import re
from typing import Final, TypeVar

import msgspec

from likewise.defaults import MAX_DEPTH
from likewise.errors import FormatError, LikewiseError, LimitExceeded

T = TypeVar("T")

_SURROGATE: Final = re.compile(rb"\\u[dD][89abAB]")
_ANYTHING: Final = msgspec.json.Decoder()
_ENCODE: Final = msgspec.json.Encoder().encode


def as_bytes(data: bytes | bytearray | memoryview | str, what: str, limit: int) -> bytes:
    """The data as bytes, at most `limit` of them.

    >>> as_bytes("{}", "event", 10)
    b'{}'
    """
    if type(data) is bytes and len(data) <= limit:  # the common case, kept cheap
        return data
    if isinstance(data, str):
        try:
            data = data.encode()
        except UnicodeEncodeError:
            raise FormatError(f"the {what} holds half of a surrogate pair, which is no character; send UTF-8") from None
    elif not isinstance(data, (bytes, bytearray, memoryview)):
        raise FormatError(f"the {what} must be bytes or text with JSON in it, not {type(data).__name__}")
    if len(data) > limit:
        raise LimitExceeded(f"bytes of one {what}", allowed=limit, found=len(data))
    return bytes(data)


def decode(data: bytes, decoder: msgspec.json.Decoder[T], what: str) -> T:
    """Return what the decoder makes of the data; every failure becomes an error of the tree.

    >>> decode(b'{"a": NaN}', msgspec.json.Decoder(), "event")
    Traceback (most recent call last):
    likewise.errors.FormatError: the event is not JSON: JSON is malformed: invalid character (byte 6); send ...
    """
    try:
        return decoder.decode(data)
    except LikewiseError:
        raise
    except msgspec.ValidationError as error:
        raise FormatError(f"the {what} does not follow its schema: {error}; see docs/formats.md") from None
    except msgspec.DecodeError as error:
        problem = "half of a surrogate pair, which is no character" if _lone_surrogate(data) else str(error)
        raise FormatError(f"the {what} is not JSON: {problem}; send one JSON object (RFC 8259)") from None
    except UnicodeDecodeError as error:
        raise FormatError(f"the {what} is not UTF-8 ({error.reason}); send JSON in UTF-8") from None
    except RecursionError:
        raise LimitExceeded(f"nesting of a JSON {what}", allowed=MAX_DEPTH) from None


def decode_object(data: bytes, what: str) -> dict[str, object]:
    """A JSON object as a mapping, no key of it twice, at any depth.

    >>> decode_object(b'{"a": {"b": [1]}}', "event")
    {'a': {'b': [1]}}
    """
    decoded = decode(data, _ANYTHING, what)
    if not isinstance(decoded, dict):
        raise FormatError(f"the {what} must be a JSON object, not {_kind(decoded)}; send {{...}}")
    check_keys(data, decoded, what)
    return decoded


def decode_items(data: bytes, what: str) -> list[dict[str, object]]:
    """A JSON array of objects, or one object as a list of one; no key twice.

    >>> decode_items(b'[{"n": "a"}]', "pack"), decode_items(b'{"n": "a"}', "pack")
    ([{'n': 'a'}], [{'n': 'a'}])
    """
    decoded = decode(data, _ANYTHING, what)
    items = decoded if isinstance(decoded, list) else [decoded]
    for item in items:
        if not isinstance(item, dict):
            raise FormatError(f"the {what} must hold JSON objects, not {_kind(item)}; send [{{...}}, ...]")
    if data.count(b":") != sum(map(len, items)):  # as many colons as keys at the top: none was lost, none is deeper
        check_keys(data, decoded, what)
    return items


def check_keys(data: bytes, decoded: object, what: str) -> None:
    """Refuse data with a repeated key in one object.

    The decoder keeps the last of equal keys. Written again, what it kept has as many colons as the data
    if nothing was lost: a lost key takes its colon along, and text keeps its own unless one is escaped
    (`\\u003a`). What was decoded to a type may leave out defaults that the data spells; then the data
    decoded as it stands is counted. Only if that differs, too, is it read slowly, to know.
    """
    if b"\\u" not in data:
        colons = data.count(b":")
        try:
            if colons == _ENCODE(decoded).count(b":") or colons == _ENCODE(_ANYTHING.decode(data)).count(b":"):
                return
        except (OverflowError, RecursionError):
            pass  # whole numbers beyond 64 bits and deep nesting cannot be written; read the data again
    refuse_repeated_keys(data, what)


def refuse_repeated_keys(data: bytes, what: str) -> None:
    """Refuse JSON with a repeated key in one object; the data was decoded before."""

    def pairs(items: list[tuple[str, object]]) -> None:
        keys: set[str] = set()
        for key, _ in items:
            if key in keys:
                raise FormatError(f"the {what} has the key {key[:60]!r} twice in one object; send it once, or a list")
            keys.add(key)

    try:
        json.loads(data, object_pairs_hook=pairs)
    except RecursionError:
        raise LimitExceeded(f"nesting of a JSON {what}", allowed=MAX_DEPTH) from None
    except ValueError as error:  # whole numbers of thousands of digits, which msgspec reads as floating point
        raise FormatError(f"the {what} cannot be read: {error}; send numbers of 64 bits") from None


def _lone_surrogate(data: bytes) -> bool:
    """Return whether the decoder may have stopped at half of a surrogate pair."""
    if _SURROGATE.search(data) is None:
        return False
    try:
        json.dumps(json.loads(data), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    except (ValueError, RecursionError):
        return False
    return False


def encode(value: object, what: str) -> bytes:
    """Encode a value as compact JSON; text that is invalid Unicode is refused.

    >>> encode({"a": 1}, "event")
    b'{"a":1}'
    """
    try:
        return _ENCODE(value)
    except UnicodeEncodeError:
        raise FormatError(f"the {what} holds half of a surrogate pair, which is no character; take it out") from None
    except OverflowError:  # a whole number beyond 64 bits, which the quick encoder does not write
        plain = msgspec.to_builtins(value, builtin_types=(int,))
        return json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode()


def _kind(value: object) -> str:
    names = {type(None): "null", bool: "a Boolean", int: "a number", float: "a number", str: "text", list: "an array"}
    return names.get(type(value), type(value).__name__)
