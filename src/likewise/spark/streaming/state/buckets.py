"""Move rankings and alerts in buckets of keys, whose state Spark holds: the second stage of alerts on Spark.

A bucket is a matcher, as `Matcher.save` writes it, in one value of Spark's state store. Beside it stands a mark, which
is read first: a worker that moved the bucket in the batch before has the matcher still at hand, and a bucket that
neither events nor time move is not opened at all.
"""

from __future__ import annotations

import uuid
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from likewise.errors import InputError
from likewise.lake.storage import use_store_settings
from likewise.model import Match
from likewise.model.alerts.notification import AlertNotification
from likewise.spark.streaming.matchers import MeaningChoice, set_subscriptions
from likewise.spark.streaming.state.bucketing import COUNTS, AlertTask, WithdrawnEvent, open_plan
from likewise.spark.streaming.state.fed_events import in_order
from likewise.spark.streaming.state.packed_matcher import empty_matcher, pack_matcher, unpack_matcher
from likewise.spark.streaming.state.shuffle import subscriptions_by_shard, subscriptions_in

if TYPE_CHECKING:
    from likewise.lake.subscription_snapshot import LoggedSubscription
    from likewise.matching.matcher import Matcher

_AT_HAND: Final = 128  # buckets that a worker keeps between batches
_MARK: Final = "token string, now long, due long, plan string, numbers binary, buckets int"
_live: OrderedDict[str, Matcher] = OrderedDict()


class Mark(NamedTuple):
    """The small value of a bucket: which matcher it has, how far time is, when time next moves it, what it holds."""

    token: str
    now: int | None
    due: int | None
    plan: str
    numbers: bytes
    buckets: int

    def is_moved(self, came: BucketRows, until: int | None) -> bool:
        """Return whether what came, or time up to a moment, moves the bucket."""
        is_due = self.due is not None and until is not None and self.due <= until
        return is_due or bool(came.events or came.withdrawn)


class BucketRows(NamedTuple):
    """What came for a bucket in a batch, from all tasks."""

    plan: str
    at: int
    clock: int | None
    events: list[bytes]
    withdrawn: list[WithdrawnEvent]


class StateNotification(NamedTuple):
    """Something said: when, whose (by number), and what."""

    moment: int
    number: int
    match: Match


class BucketProcessor(StatefulProcessor):
    """What Spark calls for each bucket of a batch."""

    def __init__(self, task: AlertTask) -> None:
        self._task = task

    def init(self, handle: Any) -> None:
        """Name the two values of a bucket."""
        use_store_settings(self._task.frame.objects)
        self._mark = handle.getValueState("mark", _MARK)
        self._matcher = handle.getValueState("matcher", "files binary")

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Row]:
        """Yield what the rankings and alerts of a bucket say."""
        (bucket,) = key
        came = _collected(rows)
        if bucket == COUNTS:
            return
        plan, _ = open_plan(self._task, came.plan, came.at)
        wanted = subscriptions_in(subscriptions_by_shard(plan), bucket)
        stored = self._mark.get()
        mark = None if stored is None else Mark(*stored)
        if mark is not None and mark.buckets != plan.shards:
            raise InputError(
                f"the query was started with {mark.buckets} buckets, and now has {plan.shards}; give it "
                f"buckets={mark.buckets}, or a new checkpoint"
            )
        if not wanted:
            if mark is not None:
                self._mark.clear()
                self._matcher.clear()
            return
        numbers = msgspec.msgpack.encode(sorted(each.number for each in wanted))
        until = _later(None if mark is None else mark.now, came.clock)
        if mark is not None and mark.numbers == numbers and not mark.is_moved(came, until):
            if until != mark.now:
                self._mark.update(tuple(mark._replace(now=until)))
            return
        matcher = self._open(mark, wanted, plan.choice)
        for place, each in enumerate(move(matcher, came, None if mark is None else mark.now, until)):
            yield Row(
                bucket=bucket, place=place, subscription_id=each.match.subscription_id, **notification_columns(each)
            )
        token = uuid.uuid4().hex
        self._matcher.update((pack_matcher(matcher),))
        self._mark.update((token, until, matcher.state.next_move(), came.plan, numbers, plan.shards))
        _live[token] = matcher
        while len(_live) > _AT_HAND:
            _live.popitem(last=False)

    def close(self) -> None:
        """Do nothing: what is at hand serves the next batch."""

    def _open(self, mark: Mark | None, wanted: list[LoggedSubscription], choice: MeaningChoice) -> Matcher:
        """Return the matcher of a bucket, with the subscriptions of the batch."""
        at_hand = None if mark is None else _live.pop(mark.token, None)  # it is moved, so nobody else may have it
        if at_hand is None:
            stored = None if mark is None else self._matcher.get()
            at_hand = empty_matcher(choice) if stored is None else unpack_matcher(bytes(stored[0]), choice)
        return set_subscriptions(at_hand, wanted)


def move(matcher: Matcher, came: BucketRows, since: int | None, until: int | None) -> list[StateNotification]:
    """Let events, withdrawals and time move a matcher; what is said, in order.

    Args:
        matcher: matcher of a bucket.
        came: what came in a batch.
        since: how far time was after the batch before.
        until: how far time is after this batch.
    """
    numbers = {id: number for number, id in matcher.state.numbers().items()}
    said: list[StateNotification] = []

    def say(matches: Iterable[Match], moment: int) -> None:
        for match in matches:
            spoken = match.spoken
            moved = moment if spoken is None else spoken.moment
            said.append(StateNotification(moved, numbers[match.subscription_id], match))

    if since is not None:
        say(matcher.advance(since), since)
    events, moments = in_order(came.events)
    withdrawn = sorted(came.withdrawn)
    for event, moment in zip(events, moments, strict=True):
        while withdrawn and withdrawn[0].moment < moment:
            gone = withdrawn.pop(0)
            say(matcher.advance(gone.moment), gone.moment)
            say(matcher.withdraw(gone.id), gone.moment)
        say(matcher.match(event, at=moment), moment)
    for gone in withdrawn:
        say(matcher.advance(gone.moment), gone.moment)
        say(matcher.withdraw(gone.id), gone.moment)
    if until is not None:
        say(matcher.advance(until), until)
    return said


def _collected(rows: Iterable[Row]) -> BucketRows:
    plan, at, clock = "", 0, None
    events: list[bytes] = []
    withdrawn: list[WithdrawnEvent] = []
    for row in rows:
        plan, at, clock = row.plan, row.at, _later(clock, row.clock)
        if row.events is not None:
            events.append(bytes(row.events))
        if row.withdrawn is not None:
            withdrawn += msgspec.msgpack.decode(bytes(row.withdrawn), type=list[WithdrawnEvent])
    return BucketRows(plan, at, clock, events, withdrawn)


def _later(one: int | None, other: int | None) -> int | None:
    known = [each for each in (one, other) if each is not None]
    return max(known, default=None)


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
