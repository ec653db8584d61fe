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

# The end of a key, or of anything that looks like one: never fewer than there are keys.
_KEY_END: Final = re.compile(rb'"\s*:')
_BLANK_AFTER_QUOTE: Final = (b'" ', b'"\n', b'"\t', b'"\r')
_SURROGATE: Final = re.compile(rb"\\u[dD][89abAB]")
_ANYTHING: Final = msgspec.json.Decoder()


def as_bytes(data: bytes | bytearray | memoryview | str, what: str, limit: int) -> bytes:
    """The data as bytes, at most `limit` of them.

    >>> as_bytes("{}", "event", 10)
    b'{}'
    """
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
    """What the decoder makes of the data; every failure becomes an error of the tree.

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
    found = decode(data, _ANYTHING, what)
    if not isinstance(found, dict):
        raise FormatError(f"the {what} must be a JSON object, not {_kind(found)}; send {{...}}")
    check_keys(data, _count_keys(found), what)
    return found


def decode_items(data: bytes, what: str) -> list[dict[str, object]]:
    """A JSON array of objects, or one object as a list of one; no key twice.

    >>> decode_items(b'[{"n": "a"}]', "pack"), decode_items(b'{"n": "a"}', "pack")
    ([{'n': 'a'}], [{'n': 'a'}])
    """
    found = decode(data, _ANYTHING, what)
    items = found if isinstance(found, list) else [found]
    for item in items:
        if not isinstance(item, dict):
            raise FormatError(f"the {what} must hold JSON objects, not {_kind(item)}; send [{{...}}, ...]")
    check_keys(data, _count_keys(items), what)
    return items


def check_keys(data: bytes, kept: int, what: str) -> None:
    """Refuse data with more keys than were kept: some key stands twice.

    Counting what looks like the end of a key is quick and never counts too few; only if it differs
    from what was kept is the text read again, slowly, to know.
    """
    if count_key_ends(data) != kept:
        refuse_repeated_keys(data, what)


def count_key_ends(data: bytes) -> int:
    """At least as many as there are keys; exactly as many unless a text value looks like one."""
    if any(blank in data for blank in _BLANK_AFTER_QUOTE):
        return len(_KEY_END.findall(data))
    return data.count(b'":')


def refuse_repeated_keys(data: bytes, what: str) -> None:
    """Refuse JSON in which a key stands twice in one object; the data has been decoded before."""

    def pairs(found: list[tuple[str, object]]) -> None:
        seen: set[str] = set()
        for key, _ in found:
            if key in seen:
                raise FormatError(f"the {what} has the key {key[:60]!r} twice in one object; send it once, or a list")
            seen.add(key)

    try:
        json.loads(data, object_pairs_hook=pairs)
    except RecursionError:
        raise LimitExceeded(f"nesting of a JSON {what}", allowed=MAX_DEPTH) from None
    except ValueError as error:  # whole numbers of thousands of digits, which msgspec reads as floating point
        raise FormatError(f"the {what} cannot be read: {error}; send numbers of 64 bits") from None


def _count_keys(found: object) -> int:
    """How many keys all objects inside hold, without recursion."""
    count, pending = 0, [found]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            count += len(item)
            pending.extend(v for v in item.values() if type(v) is dict or type(v) is list)
        elif isinstance(item, list):
            pending.extend(v for v in item if type(v) is dict or type(v) is list)
    return count


def _lone_surrogate(data: bytes) -> bool:
    """Whether what stopped the decoder may be half of a surrogate pair."""
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
    """Compact JSON of a value; text that is no Unicode is refused.

    >>> encode({"a": 1}, "event")
    b'{"a":1}'
    """
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        raise FormatError(f"the {what} holds half of a surrogate pair, which is no character; take it out") from None
    except (OverflowError, TypeError, ValueError) as error:
        raise FormatError(f"the {what} cannot be written as JSON: {error}") from None


def _kind(value: object) -> str:
    names = {type(None): "null", bool: "a Boolean", int: "a number", float: "a number", str: "text", list: "an array"}
    return names.get(type(value), type(value).__name__)
