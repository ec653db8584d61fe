"""Autoscaling: how many workers there are, and which of them splits or merges next.

`paper` is the rule of the source (CUPUS, section 4.2): a matcher whose quickest of the last N publications took longer
than a threshold splits, one whose slowest took less than another merges. `utilisation` goes by the share of time that
workers were busy lately, with a gap between both thresholds, a pause after each change, and only where cores are free.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from math import inf
from typing import Final, Literal, Protocol

import msgspec
import structlog

from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import (
    WORKER_LAST,
    WORKER_MERGE_BUSY,
    WORKER_MERGE_US,
    WORKER_PAUSE,
    WORKER_SPAN,
    WORKER_SPLIT_BUSY,
    WORKER_SPLIT_US,
)
from likewise.errors import InputError

_log = structlog.get_logger("likewise.workers")
MAX_SAMPLE: Final = 100_000  # events that the policy `paper` may look back on
MAX_WORKERS: Final = 256
DAY: Final = 86_400
SPLIT_RETRY_S: Final = 10.0  # seconds after which a split that could not be begun is tried again
Policy = Literal["paper", "utilisation", "none"]
Decision = Literal["split", "merge"] | None


class ScalingSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of autoscaling; all of them may change at run time.

    `minimum` and `maximum` bound their number, `memory` the bytes all of them may take together (0: no bound; below
    the minimum it keeps nobody from coming).
    `split_us` and `merge_us` are the thresholds of `paper`, in µs of the processor an event, over `last` events;
    `split_busy` and `merge_busy` those of `utilisation`, as shares of `span` seconds; `pause` are the seconds after a
    change in which there is no other.
    """

    policy: Policy = "none"
    minimum: int = 1
    maximum: int = 1
    memory: int = 0
    split_us: float = WORKER_SPLIT_US
    merge_us: float = WORKER_MERGE_US
    last: int = WORKER_LAST
    split_busy: float = WORKER_SPLIT_BUSY
    merge_busy: float = WORKER_MERGE_BUSY
    span: float = WORKER_SPAN
    pause: float = WORKER_PAUSE

    def __post_init__(self) -> None:
        if not 1 <= self.minimum <= self.maximum <= MAX_WORKERS:
            raise InputError(
                f"workers are from 1 to {MAX_WORKERS}, the minimum first; found {self.minimum} to {self.maximum}"
            )
        if not (0 <= self.merge_us <= self.split_us < inf and 0 <= self.merge_busy <= self.split_busy <= 1):
            raise InputError(
                "the threshold for merging lies below the one for splitting; `split_us` and `merge_us` are µs, "
                "`split_busy` and `merge_busy` shares from 0 to 1"
            )
        if not (1 <= self.last <= MAX_SAMPLE and 0 < self.span <= DAY and 0 <= self.pause <= DAY and self.memory >= 0):
            raise InputError(
                f"`last` is from 1 to {MAX_SAMPLE:,}, `span` above 0 and `pause` from 0 to {DAY:,} s, "
                "`memory` not negative"
            )


class WorkerLoad(msgspec.Struct, frozen=True):
    """The load of one worker: µs an event of its last events, and the share of time it was busy."""

    number: int
    times: Sequence[float]
    busy: float
    merges: bool = True  # whether it may go: in a hierarchy only leaves do


def decide_paper(settings: ScalingSettings, workers: Sequence[WorkerLoad]) -> tuple[Decision, int]:
    """Apply the paper's rule: return which worker splits or merges, if one does.

    >>> rule = ScalingSettings("paper", 1, 4, last=3, split_us=100, merge_us=10)
    >>> decide_paper(rule, [WorkerLoad(1, [150, 90, 200], 0), WorkerLoad(2, [150, 101, 200], 0)])
    ('split', 2)
    >>> decide_paper(rule, [WorkerLoad(1, [150, 90, 200], 0), WorkerLoad(2, [5, 9, 3], 0)])
    ('merge', 2)
    """
    for each in workers:
        last = each.times[-settings.last :]
        if len(last) >= settings.last and min(last) > settings.split_us and len(workers) < settings.maximum:
            return "split", each.number
    for each in workers:
        last = each.times[-settings.last :]
        full = len(last) >= settings.last and max(last) < settings.merge_us
        if full and each.merges and len(workers) > settings.minimum:
            return "merge", each.number
    return None, 0


def decide_utilisation(settings: ScalingSettings, workers: Sequence[WorkerLoad], free: float) -> tuple[Decision, int]:
    """Decide by how busy the workers are; `free` are the idle cores.

    >>> rule = ScalingSettings("utilisation", 1, 4)
    >>> decide_utilisation(rule, [WorkerLoad(1, [], 0.9)], free=1.5)
    ('split', 1)
    >>> decide_utilisation(rule, [WorkerLoad(1, [], 0.9)], free=0.1)
    (None, 0)
    >>> decide_utilisation(rule, [WorkerLoad(1, [], 0.5)], free=2)
    (None, 0)
    >>> decide_utilisation(rule, [WorkerLoad(1, [], 0.1), WorkerLoad(2, [], 0.2)], free=0)
    ('merge', 1)
    """
    busiest, idlest = max(workers, key=lambda w: w.busy), min(workers, key=lambda w: (not w.merges, w.busy))
    if busiest.busy > settings.split_busy and len(workers) < settings.maximum and free >= 0.5:
        return "split", busiest.number
    if len(workers) > settings.minimum and idlest.merges:
        rest = sum(each.busy for each in workers) / (len(workers) - 1)
        if all(each.busy < settings.merge_busy for each in workers) and rest < settings.split_busy:
            return "merge", idlest.number
    return None, 0


class ScalableWorkers(Protocol):
    """The workers as autoscaling uses them."""

    def load(self, since: float) -> list[WorkerLoad]:
        """Return the load of each worker, its busy share since a time of the clock."""
        ...

    def split(self, number: int) -> bool:
        """Let a worker share what it holds with a new one; whether that is under way."""
        ...

    def merge(self, number: int) -> bool:
        """Let a worker's share go to the others, and the worker end; whether that is under way."""
        ...

    def advance(self, tenants: Sequence[Tenant]) -> bool:
        """Go on with what is under way; whether nothing is."""
        ...

    def memory(self) -> int:
        """Return the bytes of all workers together."""
        ...


def free_cores() -> float:
    """Return the idle cores that this process may use, by the load average of the last minute."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(0.0, cores - os.getloadavg()[0]) if hasattr(os, "getloadavg") else float(cores)


class Autoscaler:
    """Splits and merges workers by its settings, one step at a time, between batches."""

    def __init__(
        self,
        workers: ScalableWorkers,
        settings: ScalingSettings,
        clock: Callable[[], float] = time.monotonic,
        free: Callable[[], float] = free_cores,
    ) -> None:
        self.settings = settings
        self.changes: deque[tuple[float, str, int]] = deque(maxlen=1_000)  # when what was begun with which worker
        self._workers = workers
        self._clock = clock
        self._free = free
        self._changed = clock()
        self._since = clock()
        self._no_split_until = 0.0  # until when no split is tried
        self.trouble = ""  # why the last one could not be begun

    def turn(self, tenants: Sequence[Tenant]) -> None:
        """Go on with a split or merge under way, or begin one if the policy says so. On the matching thread."""
        if not self._workers.advance(tenants):
            return
        now, settings = self._clock(), self.settings
        workers = self._workers.load(self._since)
        decided: tuple[Decision, int] = (None, 0)
        if len(workers) < settings.minimum:
            decided = "split", max(workers, key=lambda each: each.busy).number
        elif len(workers) > settings.maximum:
            decided = "merge", min(workers, key=lambda each: (not each.merges, each.busy)).number
        elif now - self._changed < settings.pause:
            return
        elif settings.policy == "paper":
            decided = decide_paper(settings, workers)
        elif settings.policy == "utilisation" and now - self._since >= settings.span:
            decided = decide_utilisation(settings, workers, self._free())
            self._since = now
        what, number = decided
        more = self._workers.memory() * (len(workers) + 1) / max(1, len(workers))
        if what == "split" and 0 < settings.memory < more and len(workers) >= settings.minimum:
            return
        if what is None or (what == "split" and now < self._no_split_until):
            return
        try:
            begun = self._workers.split(number) if what == "split" else self._workers.merge(number)
        except OSError as error:  # no memory, no room, too many processes: it is tried again
            self._no_split_until = now + SPLIT_RETRY_S
            self.trouble = f"no further worker can be started: {error}"
            _log.error("worker_split_failed", worker=number, exc_info=error)
            return
        if begun:
            self.trouble = ""
            self._changed = self._since = now
            self.changes.append((now, what, number))
