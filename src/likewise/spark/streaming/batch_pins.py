"""Pin what a micro-batch of Structured Streaming sees, so that all of its tasks and every replay see the same.

    <change log>/pins/<query>/<choice>/0000000007.json   version, moment and saved matcher of batch 7

The first task of a batch creates the file; all others, and the same batch again after a crash, read it. Spark's
checkpoint numbers the batches of a query, and Spark tells the numbers to every task.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec

from likewise.errors import ArtefactDamaged, InputError
from likewise.lake.atomic_create import create_once
from likewise.lake.change_log import ChangeLog
from likewise.lake.subscription_snapshot import SubscriptionSnapshot
from likewise.lake.versioned import decoded

PINS: Final = "pins"
VERSION: Final = 1
RETAINED: Final = 200  # batches; Spark itself can go back by 100
_LOGS: Final = 8  # change logs that a worker follows, each for one query
_logs: OrderedDict[tuple[str, str], ChangeLog] = OrderedDict()


class MicroBatch(NamedTuple):
    """A query of Structured Streaming, by the id in its checkpoint, and the number of one of its batches."""

    query: str
    batch: int


class BatchPin(msgspec.Struct, frozen=True, omit_defaults=True):
    """A version of the change log, the moment at which validity is judged, and the folder that serves both."""

    version: int
    digest: str
    at: int
    folder: str
    selecting: tuple[int, ...] = ()
    next_number: int | None = None  # subscriptions with lower numbers were known to the batch
    sorts: tuple[str, ...] = ()  # of shards that have or had state, for rankings and alerts
    v: int = VERSION

    def check_log(self, snapshot: SubscriptionSnapshot) -> None:
        """Refuse another change log than the one that was pinned: its numbers stand for other subscriptions."""
        known = snapshot.digest if snapshot.version == self.version else snapshot.digests.get(self.version)
        if snapshot.version < self.version or known not in (None, self.digest):
            raise InputError(
                f"an earlier batch saw version {self.version} of another change log of subscriptions; this one, at "
                f"version {snapshot.version}, was made anew or restored, and its numbers stand for others. Bring that "
                "one back, or start the query with a new checkpoint"
            )


def current_micro_batch() -> MicroBatch | None:
    """Return the micro-batch of the task that is running; None outside a stream."""
    from pyspark import TaskContext

    context = TaskContext.get()
    batch = None if context is None else context.getLocalProperty("streaming.sql.batchId")
    if context is None or batch is None:
        return None
    return MicroBatch(context.getLocalProperty("sql.streaming.queryId") or "unnamed", int(batch))


def followed_log(address: str, query: str) -> ChangeLog:
    """Return the change log that a query follows, opened once by a worker, which then reads changes alone."""
    key = (address, query)
    log = _logs.get(key)
    if log is None:
        log = _logs[key] = ChangeLog.opened(address)
        while len(_logs) > _LOGS:
            _logs.popitem(last=False)
    _logs.move_to_end(key)
    return log


def pinned_before(log: ChangeLog, choice: str, micro: MicroBatch) -> BatchPin | None:
    """Return the pin of the micro-batch before this one; None if there is none."""
    path = log.folder / PINS / micro.query / choice / f"{micro.batch - 1:010d}.json"
    return decoded(path, path.read_bytes(), BatchPin, current=VERSION) if path.is_file() else None


def pin_batch(log: ChangeLog, choice: str, micro: MicroBatch, propose: Callable[[], BatchPin]) -> BatchPin:
    """Return the pin of a micro-batch; the first task that asks creates it by `propose`.

    Args:
        log: the change log that the query follows.
        choice: name of the way to compare, so that each has pins of its own.
        micro: the micro-batch.
        propose: makes the pin, and the folder it names.
    """
    folder = log.folder / PINS / micro.query / choice
    path = folder / f"{micro.batch:010d}.json"
    if path.is_file():
        return decoded(path, path.read_bytes(), BatchPin, current=VERSION)
    pin = propose()
    former = pinned_before(log, choice, micro)
    if former is not None:
        former.check_log(log.snapshot())
    if create_once(path, msgspec.json.encode(pin)):
        (folder / f"{micro.batch - RETAINED:010d}.json").unlink(missing_ok=True)
    return decoded(path, path.read_bytes(), BatchPin, current=VERSION)


def pinned_snapshot(log: ChangeLog, pin: BatchPin) -> SubscriptionSnapshot:
    """Return the subscriptions that a pin names, or raise if the log holds others at that version."""
    snapshot = log.snapshot(pin.version)
    if snapshot.digest != pin.digest:
        raise ArtefactDamaged(
            f"version {pin.version} of the subscriptions in {log.folder} is not what a batch saw before it was "
            "repeated; restore a copy"
        )
    return snapshot
