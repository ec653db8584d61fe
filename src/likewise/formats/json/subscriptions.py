"""Subscriptions as JSON: their text in the language, or their structure (docs/formats.md).

    {"v": 1, "text": "{temperature~ > 25 degC}", "id": "warm"}
    {"v": 1, "body": {"kind": "condition", "items": [...]}, "id": "warm", "themes": [...], ...}

A field that is not known is refused, at any depth: a subscription that asks for more than this version
understands must not be taken for one that asks for less. Without an id, a subscription gets the hash
of its printed form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from likewise.defaults import MAX_SUBSCRIPTION_BYTES
from likewise.errors import FormatError, LikewiseError
from likewise.formats.json.events import Data, read_lines, versioned
from likewise.formats.strict_json import as_bytes, check_keys, decode, encode
from likewise.formats.version import JSON_VERSION, check_version
from likewise.model import Body, GraphPattern, NearbyTriple, Subscription

_FIELDS: Final = msgspec.structs.fields(Subscription)[1:]  # all but the body
OPTIONS: Final = tuple(field.name for field in _FIELDS if field.name not in ("id", "themes"))
# The envelope has either `text` or `body`, so none of the two is required here. All other fields are the model's:
# a field that is added to `Subscription` is read and published without a second list.
SubscriptionDocument: Final = msgspec.defstruct(
    "SubscriptionDocument",
    [
        ("v", int | UnsetType, UNSET),
        ("text", str | UnsetType, UNSET),
        ("body", Body | UnsetType, UNSET),
        *((field.name, field.type, field.default) for field in _FIELDS),
    ],
    namespace={"__doc__": 'A subscription in JSON; `schema("subscription")` publishes this.'},
    frozen=True,
    gc=False,
    omit_defaults=True,
    forbid_unknown_fields=True,
)
_DECODER: Final[msgspec.json.Decoder[Any]] = msgspec.json.Decoder(SubscriptionDocument)


def subscription_from_json(data: Data) -> Subscription:
    """Decode a subscription from its text or its structure in JSON.

    Args:
        data: The JSON document, as bytes or text.

    Raises:
        FormatError: The document is no JSON object of this format and version, or repeats a key.
        InvalidSubscription: The subscription is impossible or can never match.

    >>> data = '{"v": 1, "body": {"kind": "interest", "vector": "10*1"}, "id": "s1"}'
    >>> subscription_from_json(data)
    Subscription(body=Interest(vector='10*1'), id='s1', themes=(), top=None, threshold=None, valid_for=None, ...)
    """
    data = as_bytes(data, "subscription", MAX_SUBSCRIPTION_BYTES)
    document = decode(data, _DECODER, "subscription")
    check_keys(data, document, "subscription")
    if document.v != JSON_VERSION:
        if document.v is UNSET:
            raise FormatError(f'the subscription has no `v`, the version of its format; add "v": {JSON_VERSION}')
        check_version(document.v, "subscription")
    body = document.body
    if body is UNSET:
        return _from_text(document)
    if document.text is not UNSET:
        raise FormatError("the subscription has both `text` and `body`; give one of them")
    if type(body) is GraphPattern:
        from likewise.formats.rdf.terms import canonical_patterns

        body = GraphPattern(canonical_patterns(body.patterns))
    elif type(body) is NearbyTriple:
        from likewise.formats.rdf.terms import canonical_patterns

        body = NearbyTriple(canonical_patterns((body.pattern,))[0], body.radius, body.by)
    made = Subscription(body, *(getattr(document, field.name) for field in _FIELDS))
    return made if made.id else with_default_id(made)


def _from_text(document: Any) -> Subscription:
    if document.text is UNSET:
        raise FormatError("the subscription has neither `text` nor `body`; give one of them")
    if document.themes or any(getattr(document, option) not in (None, (), False) for option in OPTIONS):
        raise FormatError("beside `text` only `v` and `id` may stand; write themes and options into the text")
    from likewise.language import parse

    made = parse(document.text)
    return msgspec.structs.replace(made, id=document.id) if document.id else with_default_id(made)


def with_default_id(subscription: Subscription) -> Subscription:
    """Return the subscription with its default id (a hash of its canonical text), unless it has an id."""
    if subscription.id:
        return subscription
    from likewise.language import subscription_id

    return msgspec.structs.replace(subscription, id=subscription_id(subscription))


def subscription_to_json(subscription: Subscription) -> bytes:
    """Encode a subscription's structure; decoding it gives an equal subscription.

    >>> from likewise.model import Condition, Predicate
    >>> subscription_to_json(Subscription(Condition((Predicate("t", ">", 25.0),)), id="s1"))
    b'{"v":1,"body":{"kind":"condition","items":[{"kind":"predicate","attribute":"t",...}]},"id":"s1"}'
    """
    return versioned(encode(subscription, "subscription"))


_LOOKS_LIKE_JSON: Final = re.compile(rf'\s*\{{\s*"(?:{"|".join(SubscriptionDocument.__struct_fields__)})"\s*:')


def is_json(line: bytes | str) -> bool:
    """Return whether a line has a subscription as JSON rather than in the language: its first key is one of ours.

    >>> is_json('{"v": 1, "text": "{a = 1}"}'), is_json('{"check in time"~ exists}')
    (True, False)
    """
    if isinstance(line, bytes):
        line = line[:200].decode(errors="replace")
    return _LOOKS_LIKE_JSON.match(line) is not None


def read_subscriptions(
    lines: Iterable[bytes | str], *, on_error: Callable[[LikewiseError], None] | None = None
) -> Iterator[Subscription]:
    """Decode lines that are JSON or text of the language; blank lines are skipped.

    Errors name the line as those of `read_events` do.

    >>> [s.id for s in read_subscriptions(['{"v": 1, "body": {"kind": "interest", "vector": "1"}, "id": "a"}'])]
    ['a']
    """
    return read_lines(lines, _from_line, on_error)


def _from_line(line: bytes | str) -> Subscription:
    if is_json(line):
        return subscription_from_json(line)
    from likewise.language import parse

    return with_default_id(parse(as_bytes(line, "subscription", MAX_SUBSCRIPTION_BYTES).decode()))
