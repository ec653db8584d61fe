"""What publishers are told."""

from __future__ import annotations

import msgspec


class Receipt(msgspec.Struct, frozen=True, gc=False):
    """What a publisher is told: the event's id, where it stands in the log, and whether it stood there before.

    >>> msgspec.json.encode(Receipt("e1", 7))
    b'{"id":"e1","position":7,"duplicate":false}'
    """

    id: str
    position: int
    duplicate: bool = False


class PublishedAll(msgspec.Struct, frozen=True):
    """The events of one request, in their order."""

    events: tuple[Receipt, ...]
