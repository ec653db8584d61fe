"""Events as the log holds them: the published JSON envelope, read back without its checks."""

from __future__ import annotations

from typing import Final

import msgspec

from likewise.errors import ArtefactDamaged
from likewise.formats.json.events import event_to_json
from likewise.model import Event

_EVENTS: Final = msgspec.json.Decoder(Event)

event_body = event_to_json


def read_event(body: bytes, position: int) -> Event:
    """The event at a position of the log.

    >>> read_event(b'{"v":1,"tuples":[{"attribute":"no2","value":45}]}', 1).tuples[0].value
    45
    """
    try:
        return _EVENTS.decode(body)
    except msgspec.MsgspecError as error:
        raise ArtefactDamaged(f"entry {position} of the log cannot be read: {error}; restore a copy") from error
