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
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from likewise.defaults import MAX_SUBSCRIPTION_BYTES
from likewise.errors import FormatError, LikewiseError
from likewise.formats.json.events import Data, read_lines, versioned
from likewise.formats.strict_json import as_bytes, check_keys, decode, encode
from likewise.formats.version import JSON_VERSION, check_version
from likewise.model import Body, GraphPattern, NearbyTriple, Subscription, Top
from likewise.model.alerts.clauses import Alert, SelectColumn
from likewise.model.subscription import Variant


class SubscriptionDocument(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """A subscription as it stands in JSON; `schema("subscription")` publishes this."""

    v: int | UnsetType = UNSET
    text: str | UnsetType = UNSET
    body: Body | UnsetType = UNSET
    id: str = ""
    themes: tuple[str, ...] = ()
    top: Top | None = None
    threshold: float | None = None
    valid_for: int | None = None
    confidence: float | None = None
    using: Variant | None = None
    best: int | None = None
    select: tuple[SelectColumn, ...] = ()
    from_one_source: bool = False
    alert: Alert | None = None


OPTIONS: Final = (
    "top",
    "threshold",
    "valid_for",
    "confidence",
    "using",
    "best",
    "select",
    "from_one_source",
    "alert",
)
_DECODER: Final = msgspec.json.Decoder(SubscriptionDocument)


def subscription_from_json(data: Data) -> Subscription:
    """A subscription from its text or its structure in JSON.

    >>> data = '{"v": 1, "body": {"kind": "interest", "vector": "10*1"}, "id": "s1"}'
    >>> subscription_from_json(data)
    Subscription(body=Interest(vector='10*1'), id='s1', themes=(), top=None, threshold=None, valid_for=None, ...)
    """
    data = as_bytes(data, "subscription", MAX_SUBSCRIPTION_BYTES)
    found = decode(data, _DECODER, "subscription")
    check_keys(data, found, "subscription")
    if found.v != JSON_VERSION:
        if found.v is UNSET:
            raise FormatError(f'the subscription has no `v`, the version of its format; add "v": {JSON_VERSION}')
        check_version(found.v, "subscription")
    body = found.body
    if body is UNSET:
        return _from_text(found)
    if found.text is not UNSET:
        raise FormatError("the subscription has both `text` and `body`; give one of them")
    if type(body) is GraphPattern:
        from likewise.formats.rdf.terms import canonical_patterns

        body = GraphPattern(canonical_patterns(body.patterns))
    elif type(body) is NearbyTriple:
        from likewise.formats.rdf.terms import canonical_patterns

        body = NearbyTriple(canonical_patterns((body.pattern,))[0], body.radius, body.by)
    made = Subscription(
        body,
        found.id,
        found.themes,
        found.top,
        found.threshold,
        found.valid_for,
        found.confidence,
        found.using,
        found.best,
        found.select,
        found.from_one_source,
        found.alert,
    )
    return made if made.id else with_default_id(made)


def _from_text(found: SubscriptionDocument) -> Subscription:
    if found.text is UNSET:
        raise FormatError("the subscription has neither `text` nor `body`; give one of them")
    if found.themes or any(getattr(found, option) not in (None, (), False) for option in OPTIONS):
        raise FormatError("beside `text` only `v` and `id` may stand; write themes and options into the text")
    from likewise.language import parse

    made = parse(found.text)
    return msgspec.structs.replace(made, id=found.id) if found.id else with_default_id(made)


def with_default_id(subscription: Subscription) -> Subscription:
    """The subscription with the hash of its printed form as its id, unless it has one."""
    if subscription.id:
        return subscription
    from likewise.language import subscription_id

    return msgspec.structs.replace(subscription, id=subscription_id(subscription))


def subscription_to_json(subscription: Subscription) -> bytes:
    """The subscription's structure; reading it gives an equal subscription.

    >>> from likewise.model import Condition, Predicate
    >>> subscription_to_json(Subscription(Condition((Predicate("t", ">", 25.0),)), id="s1"))
    b'{"v":1,"body":{"kind":"condition","items":[{"kind":"predicate","attribute":"t",...}]},"id":"s1"}'
    """
    return versioned(encode(subscription, "subscription"))


_LOOKS_LIKE_JSON: Final = re.compile(rf'\s*\{{\s*"(?:{"|".join(SubscriptionDocument.__struct_fields__)})"\s*:')


def is_json(line: bytes | str) -> bool:
    """Whether a line holds a subscription as JSON rather than in the language: its first key is one of ours.

    >>> is_json('{"v": 1, "text": "{a = 1}"}'), is_json('{"check in time"~ exists}')
    (True, False)
    """
    if isinstance(line, bytes):
        line = line[:200].decode(errors="replace")
    return _LOOKS_LIKE_JSON.match(line) is not None


def read_subscriptions(
    lines: Iterable[bytes | str], *, on_error: Callable[[LikewiseError], None] | None = None
) -> Iterator[Subscription]:
    """The subscriptions of lines that are JSON or text of the language, blank lines left out.

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
