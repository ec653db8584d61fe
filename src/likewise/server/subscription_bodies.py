"""The subscriptions of a body: text of the language, one a line; or JSON, one or an array."""

from __future__ import annotations

import msgspec

from likewise.errors import FormatError
from likewise.formats.json.subscriptions import subscription_from_json, with_default_id
from likewise.model import Subscription
from likewise.server.media_types import JSON, LINE_TYPES


def decode_subscriptions(body: bytes, kind: str) -> list[Subscription]:
    """Decode the subscriptions of a request: text of the language, one a line; or JSON, one or an array.

    >>> [s.id for s in decode_subscriptions(b"{no2 > 40}", "text/plain")]
    ['...']
    """
    if kind == "text/plain":
        from likewise.language import read_subscriptions as read_text

        try:
            subscriptions = list(read_text(body.decode()))
        except UnicodeDecodeError as error:
            raise FormatError(f"byte {error.start + 1} is not UTF-8; send UTF-8 text") from None
        return [with_default_id(subscription) for subscription in subscriptions]
    if kind in LINE_TYPES:
        return [subscription_from_json(line) for line in body.splitlines() if line.strip()]
    if kind != JSON:
        raise FormatError(f"subscriptions of the type {kind[:60]!r} are not read here; send {JSON} or text/plain")
    if body.lstrip()[:1] != b"[":
        return [subscription_from_json(body)]
    try:
        items = msgspec.json.decode(body, type=list[msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(f"the request is not a JSON array of subscriptions: {error}") from None
    return [subscription_from_json(bytes(item)) for item in items]
