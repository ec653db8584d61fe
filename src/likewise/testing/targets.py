"""A target in memory: takes parcels, or does not, as it is told. For tests of what sends, and of one's own targets."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Literal

from likewise.server.sinks.target import Parcel, PermanentFailure, TransientFailure

Answer = Literal["take", "refuse", "not now", "stall", "take and break"]


class MemoryTarget:
    """A `Target` that keeps what it accepted. `answers` are what the next attempts get; then everything is taken.

    "take and break" is a receiver that has it and whose answer is lost. A stalled attempt goes on with `go_on`.

    >>> from likewise.broker.sinks.retry_queue import SinkDelivery
    >>> match = SinkDelivery("msg_1", 1, "arrival", "warm", 1, 1.0, 1, b"{}", b"{}")
    >>> target = MemoryTarget("take and break")
    >>> async def twice() -> None:
    ...     for _ in range(2):
    ...         try:
    ...             await target.send(Parcel(match, b"{}", "application/json"))
    ...         except TransientFailure as error:
    ...             print(error)
    >>> asyncio.run(twice())
    the connection broke
    >>> [parcel.match.id for parcel in target.received], len(target.distinct)
    (['msg_1', 'msg_1'], 1)
    """

    def __init__(self, *answers: Answer) -> None:
        self.answers: deque[Answer] = deque(answers)
        self.received: list[Parcel] = []
        self.attempts = 0
        self.closed = 0
        self._free = asyncio.Event()

    @property
    def distinct(self) -> list[Parcel]:
        """The distinct parcels, by id, in the order of the first time: what a receiver has that ignores repeats."""
        return list({parcel.match.id: parcel for parcel in reversed(self.received)}.values())[::-1]

    def go_on(self) -> None:
        """Let stalled attempts go on."""
        self._free.set()

    async def send(self, parcel: Parcel) -> None:
        """Do as told."""
        self.attempts += 1
        answer = self.answers.popleft() if self.answers else "take"
        if answer == "stall":
            await self._free.wait()
        elif answer == "refuse":
            raise PermanentFailure("refused")
        elif answer == "not now":
            raise TransientFailure("not now")
        self.received.append(parcel)
        if answer == "take and break":
            raise TransientFailure("the connection broke")

    async def close(self) -> None:
        """Count it."""
        self.closed += 1
