"""What publishers are told."""

from __future__ import annotations

from typing import Any

import msgspec


class Receipt(msgspec.Struct, frozen=True, gc=False):
    """What a publisher is told: the event's id, where it stands in the log, and whether it stood there before.

    >>> msgspec.json.encode(Receipt("e1", 7))
    b'{"id":"e1","position":7,"duplicate":false}'
    """

    id: str
    position: int
    duplicate: bool = False


class PublishProgress(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a publisher on a stream is told: its messages from `first` to `last`, counted from 1, are on disk.

    With `problem`, as an answer to a request would say it, they were refused.

    >>> msgspec.json.encode(Published(1, 40))
    b'{"first":1,"last":40}'
    """

    first: int
    last: int
    problem: dict[str, Any] | None = None


class PublishReceipts(msgspec.Struct, frozen=True):
    """The events of one request, in their order."""

    events: tuple[Receipt, ...]
