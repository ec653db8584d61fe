"""Original bytes of the payload inside an event's envelope."""

from __future__ import annotations

from typing import Final

import msgspec


class _Envelope(msgspec.Struct):
    """The payload of an envelope; other fields are skipped."""

    payload: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_ENVELOPES: Final = msgspec.json.Decoder(_Envelope)


def raw_payload(body: bytes) -> bytes:
    """Return the payload's original bytes; the whole envelope if it has tuples instead.

    >>> raw_payload(b'{"v":1,"payload":{"no2": 45},"id":"e1"}')
    b'{"no2": 45}'
    """
    payload = _ENVELOPES.decode(body).payload
    return body if payload is msgspec.UNSET else bytes(payload)
