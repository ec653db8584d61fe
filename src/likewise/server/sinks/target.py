"""The seam to the outside: what a target is asked, and the two ways in which it may not take something.

A target that speaks another protocol is a class with these two methods and a line in `kinds`.
`likewise.testing.targets.MemoryTarget` is one in memory.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from likewise.api.deliveries import MatchReason
from likewise.broker.sinks.retry_queue import SinkDelivery


class Parcel(NamedTuple):
    """A match made ready to be sent: what goes out, and of which type it is."""

    match: SinkDelivery
    body: bytes
    media_type: str
    because: tuple[MatchReason, ...] = ()


class Target(Protocol):
    """Somewhere outside. One parcel is under way at a time; the next follows when it was accepted or set aside."""

    async def send(self, parcel: Parcel) -> None:
        """Return when the outside has it; raise `Refused` if it never will, `NotNow` if it may later.

        It may be cancelled; then nobody knows whether the outside has it, and it is sent again.
        """

    async def close(self) -> None:
        """Let go of connections."""


class PermanentFailure(Exception):
    """The outside will not take this parcel, however often it is asked: it becomes a dead letter."""


class TransientFailure(Exception):
    """The outside did not take it this time; `after` is in how many seconds it wants to be asked again, if it said."""

    def __init__(self, why: str, after: float | None = None) -> None:
        super().__init__(why)
        self.after = after
