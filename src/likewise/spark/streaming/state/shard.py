"""One task of a shard: take its state up, feed it, keep the state, and write what was said."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa

from likewise.errors import LikewiseError
from likewise.lake.parts import DAY, NOTIFICATIONS, LakePart, day_text, lake_schema, write_part
from likewise.lake.storage import storage_path, use_store_settings
from likewise.model import Match
from likewise.model.alerts.notification import AlertNotification
from likewise.spark.streaming.matchers import MeaningChoice, set_subscriptions
from likewise.spark.streaming.state.fed_events import read_shuffle_files
from likewise.spark.streaming.state.saved_shard import SavedShard, load_shard, save_shard
from likewise.spark.streaming.state.shuffle import subscriptions_of


class ShardTask(msgspec.Struct, frozen=True):
    """What a task of a shard is told; `since` is how far time was after the batch before, `until` after this one."""

    query: str
    batch: int
    shard: str
    feeds: str
    state: str
    tenant: str
    choice: MeaningChoice = MeaningChoice()
    before: SavedShard | None = None
    since: int | None = None
    until: int | None = None
    fed: tuple[str, ...] = ()
    folder: str = ""  # of the lake
    topic: str = ""  # to send what is said to, in place of the lake
    kafka_out: dict[str, str] = {}
    objects: dict[str, str] = {}  # what the driver's environment says about object stores

    @property
    def name(self) -> str:
        """What its files are called."""
        return f"{self.query}-{self.batch:010d}-{self.shard}"


class ShardResult(msgspec.Struct, frozen=True):
    """What came of it, or why it could not be done."""

    shard: str
    saved: SavedShard | None = None
    parts: tuple[LakePart, ...] = ()
    said: int = 0
    error: str = ""
    code: str = ""


class StateNotification(NamedTuple):
    """Something said: when, whose (by number), and what."""

    moment: int
    number: int
    match: Match


def run_shard(order: ShardTask) -> ShardResult:
    """Do what a task is told; an error of the tree comes back as words."""
    try:
        return _run(order)
    except LikewiseError as error:
        return ShardResult(order.shard, error=str(error), code=error.code)


def run_shard_order(order: bytes) -> bytes:
    """What a worker does with one order."""
    return msgspec.json.encode(run_shard(msgspec.json.decode(order, type=ShardTask)))


def _run(order: ShardTask) -> ShardResult:
    use_store_settings(order.objects)
    state = Path(order.state)
    matcher = set_subscriptions(
        load_shard(state, order.before, order.choice), subscriptions_of(order.feeds, order.shard)
    )
    numbers = {id: number for number, id in matcher.state.numbers().items()}
    said: list[StateNotification] = []

    def say(matches: Iterable[Match], moment: int) -> None:
        for match in matches:
            spoken = match.spoken
            said.append(
                StateNotification(moment if spoken is None else spoken.moment, numbers[match.subscription_id], match)
            )

    if order.since is not None:
        say(matcher.advance(order.since), order.since)
    events, moments = read_shuffle_files(state, order.fed)
    for event, moment in zip(events, moments, strict=True):
        say(matcher.match(event, at=moment), moment)
    if order.until is not None:
        say(matcher.advance(order.until), order.until)
    saved = save_shard(matcher, state, order.batch, order.shard, order.choice)
    rows = [_row(order, place, each) for place, each in enumerate(said)]
    if order.topic:
        from likewise.spark.streaming.kafka_sink import send_notifications

        send_notifications(rows, order.topic, order.kafka_out)
        return ShardResult(order.shard, saved, (), len(rows))
    by_day: dict[int, list[dict[str, Any]]] = {}
    for each, row in zip(said, rows, strict=True):
        by_day.setdefault(each.moment // DAY, []).append(row)
    parts = [
        write_part(
            storage_path(order.folder),
            NOTIFICATIONS,
            pa.Table.from_pylist(several, lake_schema(NOTIFICATIONS)),
            order.name,
            order.tenant,
            day_text(day),
        )
        for day, several in sorted(by_day.items())
    ]
    return ShardResult(order.shard, saved, tuple(parts), len(rows))


def _row(order: ShardTask, place: int, saying: StateNotification) -> dict[str, Any]:
    whose = {"query": order.query, "batch": order.batch, "shard": order.shard, "place": place}
    return whose | notification_columns(saying)


def notification_columns(saying: StateNotification) -> dict[str, Any]:
    """Return what a ranking or an alert said, as columns; moments are in µs."""
    match = saying.match
    spoken = match.spoken
    digest = None
    if spoken is not None and match.cause == "digest":
        digest = msgspec.json.encode(
            AlertNotification((), 0, None, 0, spoken.items, spoken.total, spoken.counts)
        ).decode()
    return {
        "subscription": saying.number,
        "cause": match.cause,
        "event_id": match.event_id,
        "score": match.score,
        "rank_value": match.rank_value,
        "key": None if spoken is None else list(spoken.key),
        "moment": saying.moment,
        "since": None if spoken is None else spoken.since,
        "suppressed": 0 if spoken is None else spoken.suppressed,
        "digest": digest,
    }
