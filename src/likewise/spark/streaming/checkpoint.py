"""What a query remembers: what it is, what each batch was planned to do, and which were committed.

    query.json                 which query this is
    batches/0000000007.json    what batch 7 reads and sees, written before it runs
    commits/0000000007.json    what came of it, written after its rows were committed
    positions/0000000007.json  how far everything was read after batch 7, so that older files may go
    state/0000000007/          what rankings and alerts know after batch 7 (`state.shards`)

A batch that was planned and not committed is run again as it was planned, whatever has changed since.
"""

from __future__ import annotations

import uuid
from typing import Final, TypeVar

import msgspec

from likewise.errors import ArtefactVersion, InputError
from likewise.lake.atomic_create import create_once, write_whole
from likewise.lake.storage import StoragePath
from likewise.lake.subscription_snapshot import SubscriptionSnapshot
from likewise.lake.versioned import decoded
from likewise.matching.storage.index_file import product
from likewise.spark.streaming.matchers import MeaningChoice
from likewise.spark.streaming.sources.ranges import Positions, Range
from likewise.spark.streaming.state.paths import SHARDS

FORMAT: Final = "likewise-stream"
VERSION: Final = 1
ROLLED: Final = 100  # batches after which positions are written down and older files go
T = TypeVar("T")


class Query(msgspec.Struct, frozen=True):
    """Which query this is; what is said again at a restart must be the same."""

    inlet: str
    outlet: str
    subscriptions: str
    keep: str = "matches"
    tenant: str = "default"
    shards: int = SHARDS
    payload: str = "auto"


class StoredQuery(msgspec.Struct, frozen=True):
    """`query.json`: the query, and the name its batches go by."""

    format: str
    v: int
    name: str
    query: Query


class BatchPlan(msgspec.Struct, frozen=True):
    """What a batch reads and sees: ranges, a version of the subscriptions, a moment, by what words are compared."""

    batch: int
    likewise: str
    subscriptions: int
    at: int
    ranges: tuple[Range, ...]
    choice: MeaningChoice = MeaningChoice()
    meaning: str = ""  # checksum of the space and the measure
    digest: str = ""  # of the subscriptions
    next_number: int | None = None  # subscriptions with lower numbers were told of before, or are by this batch

    def check_log(self, held: SubscriptionSnapshot) -> None:
        """Refuse subscriptions of another log than the one this batch saw: numbers in the lake would mean others."""
        found = held.digest if held.version == self.subscriptions else held.digests.get(self.subscriptions)
        if held.version < self.subscriptions or (self.digest and found not in (None, self.digest)):
            raise InputError(
                f"batch {self.batch} saw version {self.subscriptions} of another change log of subscriptions; this "
                f"one, at version {held.version}, was made anew or restored, and its numbers stand for others. Bring "
                "that one back, or choose another --checkpoint and outlet"
            )


class BatchCounts(msgspec.Struct, frozen=True):
    """What came of a batch, or of several."""

    events: int = 0
    matched: int = 0
    matches: int = 0
    bad: int = 0
    said: int = 0  # by rankings and alerts

    def plus(self, other: BatchCounts) -> BatchCounts:
        """Both together."""
        return BatchCounts(
            *(a + b for a, b in zip(msgspec.structs.astuple(self), msgspec.structs.astuple(other), strict=True))
        )


class Checkpoint:
    """The checkpoint of a query in a folder, which is made if it is not there."""

    def __init__(self, folder: StoragePath, query: Query) -> None:
        self.folder = folder
        stored = StoredQuery(FORMAT, VERSION, uuid.uuid4().hex[:12], query)
        path = folder / "query.json"
        create_once(path, msgspec.json.encode(stored))
        found = _decoded(path, StoredQuery)
        for field in Query.__struct_fields__:
            was, said = getattr(found.query, field), getattr(query, field)
            if was != said:
                raise InputError(
                    f"{folder} is the checkpoint of another query: its {field} is {was!r}, and {said!r} was said; say "
                    "the same, or choose another --checkpoint"
                )
        self.name = found.name
        self.positions, self.last = self._read()
        self.plan: BatchPlan | None = None  # of a batch that was planned and not committed
        if (folder / "batches" / f"{self.last + 1:010d}.json").is_file():
            self.plan = self.planned(self.last + 1)
            if self.plan.likewise != product():
                raise ArtefactVersion(
                    f"batch {self.plan.batch} was planned by likewise {self.plan.likewise} and did not end; this is "
                    f"{product()}, whose rows may be others: finish it with that version, then upgrade"
                )

    def _read(self) -> tuple[Positions, int]:
        """How far everything was read, and the last batch that was committed."""
        positions: Positions = {}
        last = -1
        rolled = _numbers(self.folder / "positions")
        if rolled:
            last = rolled[-1]
            positions = _decoded(self.folder / "positions" / f"{last:010d}.json", dict[str, int])
        for number in _numbers(self.folder / "commits"):
            if number > last:
                for each in self.planned(number).ranges:
                    positions |= each.positions
                last = number
        return positions, last

    def planned(self, batch: int) -> BatchPlan:
        """What a batch was planned to do."""
        return _decoded(self.folder / "batches" / f"{batch:010d}.json", BatchPlan)

    def newest(self) -> BatchPlan | None:
        """What the newest batch was planned to do, if it was committed or not; None before the first."""
        return self.plan or (self.planned(self.last) if self.last >= 0 else None)

    def write_plan(self, plan: BatchPlan) -> None:
        """Remember what a batch is to do; another driver that planned the same batch is told."""
        if not create_once(self.folder / "batches" / f"{plan.batch:010d}.json", msgspec.json.encode(plan)):
            raise InputError(
                f"another stream uses the checkpoint {self.folder}; end it, or choose another --checkpoint"
            )
        self.plan = plan

    def write_commit(self, counts: BatchCounts) -> None:
        """Remember that the planned batch was committed."""
        plan = self.plan
        assert plan is not None
        create_once(self.folder / "commits" / f"{plan.batch:010d}.json", msgspec.json.encode(counts))
        for each in plan.ranges:
            self.positions |= each.positions
        self.last, self.plan = plan.batch, None
        if self.last % ROLLED == ROLLED - 1:
            self._roll()

    def _roll(self) -> None:
        write_whole(self.folder / "positions" / f"{self.last:010d}.json", msgspec.json.encode(self.positions))
        for room in ("batches", "commits", "positions"):
            for number in _numbers(self.folder / room):
                if number < self.last - (0 if room == "positions" else ROLLED):
                    (self.folder / room / f"{number:010d}.json").unlink(missing_ok=True)


def _numbers(folder: StoragePath) -> list[int]:
    names = [path.name.removesuffix(".json") for path in folder.iterdir()] if folder.is_dir() else []
    return sorted(int(name) for name in names if name.isdecimal())


def _decoded(path: StoragePath, kind: type[T]) -> T:
    return decoded(path, path.read_bytes(), kind, current=VERSION)
