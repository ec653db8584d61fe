"""Responses to publishers."""

from __future__ import annotations

from typing import Any

import msgspec


class Receipt(msgspec.Struct, frozen=True, gc=False):
    """Receipt of a published event: its id, its position in the log, and whether it was stored before.

    >>> msgspec.json.encode(Receipt("e1", 7))
    b'{"id":"e1","position":7,"duplicate":false}'
    """

    id: str
    position: int
    duplicate: bool = False


class PublishProgress(msgspec.Struct, frozen=True, omit_defaults=True):
    """Receipt on a stream: the messages from `first` to `last`, counted from 1, are on disk.

    With `problem`, as an answer to a request would say it, they were refused.

    >>> msgspec.json.encode(PublishProgress(1, 40))
    b'{"first":1,"last":40}'
    """

    first: int
    last: int
    problem: dict[str, Any] | None = None


class PublishReceipts(msgspec.Struct, frozen=True):
    """The events of one request, in their order."""

    events: tuple[Receipt, ...]
