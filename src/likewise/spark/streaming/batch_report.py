"""What came of a micro-batch: counts, and how a batch of `likewise stream run` is reported."""

from __future__ import annotations

import msgspec


class BatchCounts(msgspec.Struct, frozen=True):
    """What came of a batch, or of several."""

    events: int = 0
    matched: int = 0
    matches: int = 0
    bad: int = 0
    said: int = 0  # by rankings and alerts

    def plus(self, other: BatchCounts) -> BatchCounts:
        """Return both together."""
        pairs = zip(msgspec.structs.astuple(self), msgspec.structs.astuple(other), strict=True)
        return BatchCounts(*(a + b for a, b in pairs))


class BatchReport(msgspec.Struct, frozen=True):
    """What came of one batch; `repeated` if it was planned before the query was last started."""

    batch: int
    counts: BatchCounts
    subscriptions: int
    seconds: float
    lag: int
    repeated: bool = False
