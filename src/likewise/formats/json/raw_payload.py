"""The payload of an event's envelope in the bytes it came in."""

from __future__ import annotations

from typing import Final

import msgspec


class _Envelope(msgspec.Struct):
    """What of an event's envelope is its payload."""

    payload: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_ENVELOPES: Final = msgspec.json.Decoder(_Envelope)


def raw_payload(body: bytes) -> bytes:
    """The payload of an envelope as it came; the whole envelope where it has tuples instead.

    >>> raw_payload(b'{"v":1,"payload":{"no2": 45},"id":"e1"}')
    b'{"no2": 45}'
    """
    found = _ENVELOPES.decode(body).payload
    return body if found is msgspec.UNSET else bytes(found)
