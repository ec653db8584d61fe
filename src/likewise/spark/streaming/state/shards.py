"""Which shards a batch runs, and which of their folders count: the driver's side of state.

    state/0000000007/shards.json        the state after batch 7: where that of each shard lies
    state/0000000007/top-003.1f8e6c20/  the state of a shard
    state/0000000007/events/            what tasks left for the shards of batch 7; gone when it is committed
    state/feeds/                        what moves them, by version of the subscriptions

`shards.json` is written before the batch is committed, and the state before it is kept until then, so that a batch
that is repeated goes on from where it went on before.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from likewise.errors import InputError
from likewise.lake.atomic_create import write_whole
from likewise.lake.storage import ObjectStorePath, StoragePath
from likewise.lake.subscription_snapshot import SubscriptionSnapshot
from likewise.lake.versioned import decoded
from likewise.model import Kind
from likewise.spark.streaming.matchers import MeaningChoice
from likewise.spark.streaming.state.fed_events import ShuffleFile
from likewise.spark.streaming.state.paths import kind_of
from likewise.spark.streaming.state.saved_shard import SavedShard
from likewise.spark.streaming.state.shard import ShardResult, ShardTask, run_shard_order
from likewise.spark.streaming.state.shuffle import (
    open_shuffle_plan,
    save_shuffle_plan,
    stateful_subscriptions,
    subscriptions_of,
)
from likewise.spark.streaming.tasks import map_orders, rebuild_error

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FORMAT: Final = "likewise-stream-state"
VERSION: Final = 1
_FILE: Final = "shards.json"
_FEEDS: Final = 3  # that are kept, the newest


class StateIndex(msgspec.Struct, frozen=True):
    """`shards.json`: how far time is for each kind, and where the state of each shard lies."""

    format: str = FORMAT
    v: int = VERSION
    now: dict[Kind, int] = {}
    shards: dict[str, SavedShard] = {}


class StreamState:
    """The state of a query, below its checkpoint."""

    def __init__(self, checkpoint: StoragePath) -> None:
        self._place = checkpoint

    @property
    def folder(self) -> Path:
        """Where it lies; a checkpoint in an object store is refused."""
        if isinstance(self._place, ObjectStorePath):
            raise InputError(
                "rankings and alerts have a state, which lies below the checkpoint in a folder that workers see, "
                f"not in an object store; choose another --checkpoint than {self._place}"
            )
        return self._place / "state"

    def check(self, held: SubscriptionSnapshot, at: int, choice: MeaningChoice) -> None:
        """Say now what cannot be held, or not with this checkpoint."""
        stateful = stateful_subscriptions(held, at)
        if stateful and self.folder:
            choice.matcher().add_many([each.subscription for each in stateful], at)

    def feeds(self, held: SubscriptionSnapshot, at: int, choice: MeaningChoice, shards: int, matcher: str) -> str:
        """The folder of what moves rankings and alerts, made unless it is there; empty if there are none.

        `matcher` is where that of the other subscriptions lies, whose name says what it is made of.
        """
        stateful = stateful_subscriptions(held, at)
        if not stateful:
            return ""
        place = self.folder / "feeds" / f"{matcher.rpartition('/')[2]}-{shards}"
        save_shuffle_plan(stateful, shards, choice, place)
        return str(place)

    def after(self, batch: int) -> StateIndex | None:
        """The state after a batch; None if there is none."""
        if isinstance(self._place, ObjectStorePath):
            return None
        path = self._path(batch)
        if not path.is_file():
            return None
        return decoded(path, path.read_bytes(), StateIndex, current=VERSION, format=FORMAT)

    def run(
        self, spark: SparkSession, order: ShardTask, fed: Sequence[ShuffleFile], newest: int | None
    ) -> list[ShardResult]:
        """Move every shard that a batch moves, and remember where each lies; `order` is what all are told.

        `newest` is the latest moment of the batch's events. What nobody asks for any more is let go.
        """
        before = self.after(order.batch - 1)
        feeds = open_shuffle_plan(order.feeds) if order.feeds else None
        before = before or StateIndex()
        now = dict(before.now)
        kinds = set() if feeds is None else {each.subscription.kind for each in feeds.subscriptions}
        for kind in kinds | set(now):
            reached = [each for each in (now.get(kind), newest) if each is not None]
            if reached:
                now[kind] = max(reached)
        left: dict[str, list[str]] = {}
        for part in fed:
            left.setdefault(part.shard, []).append(part.path)
        live = {name: saved for name, saved in before.shards.items() if subscriptions_of(order.feeds, name)}
        moved = sorted(left.keys() | {name for name, saved in live.items() if _moves(name, saved, now)})
        orders = [
            msgspec.structs.replace(
                order,
                shard=name,
                before=live.get(name),
                since=before.now.get(kind_of(name)),
                until=now.get(kind_of(name)),
                fed=tuple(left.get(name, ())),
            )
            for name in moved
        ]
        found = map_orders(spark, [msgspec.json.encode(each) for each in orders], run_shard_order) if orders else []
        done = [msgspec.json.decode(each, type=ShardResult) for each in found]
        for each in done:
            if each.code:
                raise rebuild_error(each.error, each.code)
        shards = live | {each.shard: each.saved for each in done if each.saved is not None}
        write_whole(self._path(order.batch), msgspec.json.encode(StateIndex(now=now, shards=shards)))
        return done

    def tidy(self, batch: int) -> None:
        """Let go of what a committed batch needs no longer."""
        kept = self.after(batch)
        if kept is None:
            return
        used = {saved.path for saved in kept.shards.values()} | {f"{batch:010d}/{_FILE}"}
        for folder in self.folder.iterdir():
            if folder.name.isdecimal() and int(folder.name) <= batch:
                children = list(folder.iterdir())
                gone = [child for child in children if f"{folder.name}/{child.name}" not in used]
                for child in gone:
                    shutil.rmtree(child) if child.is_dir() else child.unlink()
                if len(gone) == len(children):
                    folder.rmdir()
        for feeds in sorted((self.folder / "feeds").glob("[0-9]*"))[:-_FEEDS]:
            shutil.rmtree(feeds)

    def _path(self, batch: int) -> Path:
        return self.folder / f"{batch:010d}" / _FILE


def _moves(name: str, saved: SavedShard, now: dict[Kind, int]) -> bool:
    """Whether time may move a shard: windows always, alerts when something is due."""
    kind = kind_of(name)
    return kind in now and (kind == "top" or (saved.due is not None and saved.due <= now[kind]))
