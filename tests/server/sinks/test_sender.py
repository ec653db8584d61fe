"""What brings matches to a target: in order, again until they are accepted, never twice for who looks at the ids."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

import likewise as lw
from likewise.api.sinks import WebhookSettings
from likewise.broker.broker import Broker
from likewise.broker.config import Config, MatchingSettings
from likewise.broker.log import dead_letters
from likewise.broker.log.event_log import Done
from likewise.broker.tenants.sink_queues import SinkQueue
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import LimitExceeded, UnknownId
from likewise.server.gateway import Gateway
from likewise.server.sinks.sender import TargetSenders
from likewise.server.sinks.target import Parcel, Target
from likewise.testing.clocks import ManualClock
from likewise.testing.targets import MemoryTarget

SMALL = Config(matching=MatchingSettings(profile="small"))
PAUSES = (0.001, 0.01)


async def until(holds: Any, seconds: float = 120) -> None:
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(0.01)


class Side:
    """A broker with targets in memory, which are found by their settings' address."""

    def __init__(self, broker: Broker, **outside: MemoryTarget) -> None:
        self.broker, self.outside = broker, outside
        self.door = Gateway(broker)
        self.tenant = broker.tenant("default")
        if "ann" not in self.tenant.subscribers:
            broker.register(self.tenant, "ann")
            broker.subscribe(self.tenant, "ann", [lw.parse("{no2 > 40}", id="bad air")])

    def make(self, setting: Any, allowed: Any, resolve: Any) -> Target:
        return self.outside[setting.wanted.url]

    async def set(self, id: str = "hook", url: str = "a", subscription: str = "bad air", **more: Any) -> SinkQueue:
        wanted = WebhookSettings(url, **more)

        def start(done: Done) -> None:
            self.broker.targets.start_set(self.tenant, "ann", subscription, id, wanted, done)

        found = await self.door.wait_committed(start)
        assert isinstance(found, SinkQueue)
        return found

    async def publish(self, *numbers: int, no2: int = 50) -> None:
        for n in numbers:
            await asyncio.to_thread(self.broker.publish, self.tenant, [lw.event({"no2": no2}, id=f"e{n}")])
        await asyncio.to_thread(self.broker.wait_until_matched)

    def letters(self) -> list[dead_letters.DeadLetter]:
        with self.broker.store.reading() as tables:
            return dead_letters.listed(tables, self.tenant.number, 0, 1_000)


@asynccontextmanager
async def running(side: Side) -> AsyncIterator[Side]:
    senders = asyncio.create_task(TargetSenders(side.door, side.make, PAUSES).run())
    try:
        yield side
    finally:
        senders.cancel()
        await asyncio.gather(senders, return_exceptions=True)


def names(target: MemoryTarget) -> list[str]:
    return [msgspec.json.decode(parcel.match.event)["id"] for parcel in target.received]


def test_matches_come_in_order_and_what_is_accepted_is_settled() -> None:
    """One at a time, in the order of the log; an answer that is lost brings the same id again."""
    out = MemoryTarget("take", "not now", "take and break", "not now", "take")

    async def play() -> None:
        async with running(Side(Broker(None, SMALL), a=out)) as side:
            feed = await side.set()
            await side.publish(*range(6))
            await side.publish(90, no2=10)
            await until(lambda: len(out.distinct) == 6 and not feed.pending)
            assert [msgspec.json.decode(p.match.event)["id"] for p in out.distinct] == [f"e{n}" for n in range(6)]
            assert names(out) == ["e0", "e1", "e1", "e2", "e3", "e4", "e5"]
            state = side.broker.targets.states(side.tenant)[feed.number]
            assert (state.waiting, state.dead, state.sent, state.failed) == (0, 0, 6, 3)
            assert state.last_success is not None
            assert state.last_error == "not now"
            side.broker.close()

    asyncio.run(play())


def test_what_is_refused_is_a_dead_letter_and_can_be_retried() -> None:
    """It stops nothing; it is tried again when asked, and stays a dead letter while it is not accepted."""
    out = MemoryTarget("refuse", "take")

    async def play() -> None:
        async with running(Side(Broker(None, SMALL), a=out)) as side:
            feed = await side.set()
            await side.publish(1, 2)
            await until(lambda: names(out) == ["e2"])
            [letter] = side.letters()
            assert (letter.reason, letter.detail) == ("undelivered", "the target 'hook' of 'bad air': refused")
            out.answers.extend(["refuse", "not now"])
            for attempts in (3, 4):
                assert side.broker.targets.retry_all(side.tenant, feed) == 1
                await until(lambda wanted=attempts: out.attempts == wanted and not feed.redo)
                assert len(side.letters()) == 1
            assert side.broker.targets.retry_all(side.tenant, feed) == 1
            await until(lambda: not side.letters())
            assert names(out) == ["e2", "e1"]
            side.broker.close()

    asyncio.run(play())


def test_a_match_that_nobody_takes_is_given_up_after_its_time() -> None:
    """What cannot be sent stands in the way of the rest for so long and no longer."""
    out = MemoryTarget("not now", "not now")

    async def play() -> None:
        async with running(Side(Broker(None, SMALL), a=out)) as side:
            await side.set(patience=0.0)
            await side.publish(1, 2, 3)
            await until(lambda: names(out) == ["e3"])
            assert [each.detail[:52] for each in side.letters()] == [
                "the target 'hook' of 'bad air': not accepted within "
            ] * 2
            side.broker.close()

    asyncio.run(play())


class Mistaken(MemoryTarget):
    """Meets a mistake of ours with one event, whenever it is sent."""

    async def send(self, parcel: Parcel) -> None:
        if msgspec.json.decode(parcel.match.event)["id"] == "e1":
            self.attempts += 1
            raise struct.error("too long")
        await super().send(parcel)


def test_a_match_that_meets_a_mistake_of_ours_is_given_up_after_its_time() -> None:
    """It blocks the target for so long and no longer, and tried again it is still a dead letter."""
    out = Mistaken()

    async def play() -> None:
        async with running(Side(Broker(None, SMALL), a=out)) as side:
            feed = await side.set(patience=0.0)
            await side.publish(1, 2)
            await until(lambda: names(out) == ["e2"])
            [letter] = side.letters()
            assert letter.detail.endswith("not accepted within 0 s: error; look at the broker's log")
            assert side.broker.targets.retry_all(side.tenant, feed) == 1
            await until(lambda: out.attempts == 3 and feed.failed == 2)
            await side.publish(3)
            await until(lambda: names(out) == ["e2", "e3"])
            assert (len(side.letters()), out.closed) == (1, 0)
            side.broker.close()

    asyncio.run(play())


def test_a_target_that_stalls_stops_no_other_and_no_stream() -> None:
    """Each has a task of its own; what waits is numbers, not events."""
    slow, quick = MemoryTarget("stall"), MemoryTarget()

    async def play() -> None:
        async with running(Side(Broker(None, SMALL), slow=slow, quick=quick)) as side:
            stalled = await side.set("slow", "slow")
            await side.set("quick", "quick")
            await side.publish(*range(40))
            await until(lambda: len(quick.received) == 40)
            queue = side.tenant.subscriber("ann")
            assert len(side.broker.page(side.tenant, queue, after=0)) == 40
            assert (len(stalled.pending), slow.received) == (40, [])
            slow.go_on()
            await until(lambda: len(slow.received) == 40)
            side.broker.close()

    asyncio.run(play())


def test_a_crash_repeats_what_was_not_written_and_loses_nothing(tmp_path: Path) -> None:
    """A restart begins after the last match that was written as accepted; the ids are the same."""
    out = MemoryTarget()

    async def before() -> None:
        side = Side(Broker(tmp_path, SMALL), a=out)
        async with running(side):
            feed = await side.set()
            await side.publish(*range(5))
            await until(lambda: not feed.pending)
        await side.publish(5, 6)  # nobody sends
        side.broker.targets.flush = lambda done=None: False  # type: ignore[method-assign]
        async with running(side):
            await until(lambda: len(out.received) == 7)
        side.broker.close()

    async def after() -> None:
        side = Side(Broker(tmp_path, SMALL), a=out)
        [feed] = side.tenant.sinks
        assert list(feed.pending) == [6, 7]
        async with running(side):
            await until(lambda: not feed.pending)
        side.broker.close()

    asyncio.run(before())
    asyncio.run(after())
    assert names(out) == [f"e{n}" for n in (0, 1, 2, 3, 4, 5, 6, 5, 6)]
    assert len(out.distinct) == 7


def test_patience_counts_from_the_first_attempt_also_after_a_restart(tmp_path: Path) -> None:
    """A broker that is started again and again gives up as late as another; what was not tried yet has its time."""
    clock = ManualClock("2024-05-01T12:00:00Z")
    before, after = MemoryTarget("not now"), MemoryTarget("not now", "not now")

    async def first() -> None:
        side = Side(Broker(tmp_path, SMALL, clock=clock), a=before)
        feed = await side.set(patience=3_600.0)
        await side.publish(1, 2)
        senders = asyncio.create_task(TargetSenders(side.door, side.make, (600.0, 600.0)).run())
        await until(lambda: feed.trying_again_at is not None)
        senders.cancel()
        await asyncio.gather(senders, return_exceptions=True)
        await side.set(patience=3_601.0)  # other settings do not begin it anew, nor are they lost by it
        side.broker.close()

    async def second() -> None:
        side = Side(Broker(tmp_path, SMALL, clock=clock), a=after)
        async with running(side):
            await until(lambda: names(after)[-1:] == ["e2"])
        assert names(after) == ["e2"]
        [letter] = side.letters()
        assert "not accepted within 3601 s" in letter.detail
        assert msgspec.json.decode(letter.body)["sequence"] == 1
        side.broker.close()

    asyncio.run(first())
    clock.advance(3_602 * 1_000_000)
    asyncio.run(second())
    assert (before.attempts, after.attempts) == (1, 3)


def test_a_target_set_before_its_subscription_gets_earlier_events_too() -> None:
    """So both together miss nothing; one set later gets what comes from then on."""
    first, later = MemoryTarget(), MemoryTarget()

    async def play() -> None:
        async with running(Side(Broker(None, SMALL), first=first, later=later)) as side:
            await side.publish(1, no2=30)
            await side.set("first", "first", "new")
            await asyncio.to_thread(side.broker.subscribe, side.tenant, "ann", [lw.parse("{no2 > 20}", id="new")])
            await side.publish(2)
            await side.set("later", "later", "new")
            await side.publish(3)
            await until(lambda: (len(first.received), len(later.received)) == (3, 1))
            assert (names(first), names(later)) == (["e1", "e2", "e3"], ["e3"])
            side.broker.close()

    asyncio.run(play())


def test_a_subscription_put_in_place_of_another_keeps_its_targets() -> None:
    """What waits of the earlier one comes too, in order."""
    out = MemoryTarget()

    async def play() -> None:
        side = Side(Broker(None, SMALL), a=out)
        await side.set()
        await side.publish(1)
        stricter = [lw.parse("{no2 > 60}", id="bad air")]
        await asyncio.to_thread(lambda: side.broker.subscribe(side.tenant, "ann", stricter, replace=True))
        await side.publish(2)
        await side.publish(3, no2=70)
        side.broker.sweep()
        async with running(side):
            await until(lambda: len(out.received) == 2)
            assert names(out) == ["e1", "e3"]
        side.broker.close()

    asyncio.run(play())


@pytest.mark.parametrize("how", ["unsubscribe", "unregister", "remove"])
def test_a_target_ends_with_its_subscription(how: str, tmp_path: Path) -> None:
    """Nothing of it stays, in memory or on disk, nor its dead letters."""
    out = MemoryTarget("refuse", "stall")

    async def play() -> None:
        side = Side(Broker(tmp_path, SMALL), a=out)
        async with running(side):
            feed = await side.set()
            await side.publish(1, 2)
            await until(lambda: out.attempts == 2)
            assert len(side.letters()) == 1
            if how == "remove":
                await side.door.wait_committed(lambda done: side.broker.targets.start_remove(side.tenant, feed, done))
            elif how == "unsubscribe":
                await asyncio.to_thread(side.broker.unsubscribe, side.tenant, "ann", "bad air")
            else:
                await asyncio.to_thread(side.broker.unregister, side.tenant, "ann")
            assert (feed.removed, len(side.tenant.sinks), side.letters()) == (True, 0, [])
            if how != "unregister":
                with pytest.raises(UnknownId):
                    side.broker.targets.find(side.tenant, "ann", "bad air", "hook")
            out.go_on()
            await until(lambda: out.closed == 1)
        side.broker.close()

    asyncio.run(play())
    with Broker(tmp_path, SMALL) as broker:
        assert not len(broker.tenant("default").sinks)


def test_what_is_over_or_withdrawn_is_not_sent(tmp_path: Path) -> None:
    """A target that was away gets what is still valid, and the rest is counted."""
    out = MemoryTarget()
    clock = ManualClock("2024-05-01T12:00:00Z")

    async def play() -> None:
        side = Side(Broker(tmp_path, SMALL, clock=clock), a=out)
        feed = await side.set()
        soon = clock() + 1_000_000
        events = [lw.event({"no2": 50}, id="short", expires=soon), lw.event({"no2": 50}, id="back")]
        await asyncio.to_thread(side.broker.publish, side.tenant, [*events, lw.event({"no2": 50}, id="good")])
        await asyncio.to_thread(side.broker.withdraw, side.tenant, "back")
        await asyncio.to_thread(side.broker.wait_until_matched)
        clock.advance(2_000_000)
        async with running(side):
            await until(lambda: not feed.pending)
        assert (names(out), feed.expired) == (["good"], 2)
        side.broker.close()

    asyncio.run(play())


@pytest.mark.parametrize("swept", [False, True])
@pytest.mark.parametrize("first", ["stall", "not now"])
def test_what_is_over_while_it_waits_its_turn_is_not_sent(first: Any, swept: bool, tmp_path: Path) -> None:
    """It is looked at before every attempt, however long ago it was read, and also once the store has forgotten it."""
    out = MemoryTarget(first)
    clock = ManualClock("2024-05-01T12:00:00Z")

    async def play() -> None:
        side = Side(Broker(tmp_path, SMALL, clock=clock), a=out)
        feed = await side.set()
        tried = "first" if first == "stall" else "back"  # what the target was asked to take before it was over
        events = [
            lw.event({"no2": 50}, id=tried),
            lw.event({"no2": 50}, id="short", expires=clock() + 1_000_000),
            lw.event({"no2": 50}, id="back"),
            lw.event({"no2": 50}, id="good"),
        ]
        if first == "not now":
            del events[2]
        await asyncio.to_thread(side.broker.publish, side.tenant, events)
        await asyncio.to_thread(side.broker.wait_until_matched)
        pauses = (600.0, 600.0) if first == "not now" else PAUSES
        senders = asyncio.create_task(TargetSenders(side.door, side.make, pauses).run())
        await until(lambda: out.attempts == 1 and (first == "stall" or feed.trying_again_at))
        await asyncio.to_thread(side.broker.withdraw, side.tenant, "back")
        await asyncio.to_thread(side.broker.wait_until_matched)
        clock.advance(2_000_000)
        if swept:
            await asyncio.to_thread(side.broker.sweep)
        out.go_on()
        await side.set()  # other settings end a pause
        await until(lambda: not feed.pending)
        assert names(out) == (["first", "good"] if first == "stall" else ["good"])
        assert feed.expired == 2
        senders.cancel()
        await asyncio.gather(senders, return_exceptions=True)
        side.broker.close()

    asyncio.run(play())


def test_other_settings_are_followed_at_once() -> None:
    """Also by a match that is being tried again; how far it has come stays."""
    bad, good = MemoryTarget(*["not now"] * 10_000), MemoryTarget()  # type: ignore[arg-type]

    async def play() -> None:
        async with running(Side(Broker(None, SMALL), bad=bad, good=good)) as side:
            feed = await side.set("hook", "bad")
            await side.publish(1, 2)
            await until(lambda: feed.failed > 2)
            assert await side.set("hook", "good") is feed
            await until(lambda: names(good) == ["e1", "e2"])
            assert bad.closed == 1
            side.broker.close()

    asyncio.run(play())


def test_a_target_whose_subscription_never_comes_is_removed_and_idle_cursors_move(tmp_path: Path) -> None:
    """A restart looks at nothing that is long settled; a half-done request leaves nothing for ever."""
    clock = ManualClock("2024-05-01T12:00:00Z")

    async def play() -> None:
        side = Side(Broker(tmp_path, SMALL, clock=clock))
        idle = await side.set("idle")
        await side.set("lost", "a", "no such subscription")
        await asyncio.to_thread(side.broker.subscribe, side.tenant, "ann", [lw.parse("{x = 1}", id="other")])
        await asyncio.to_thread(side.broker.publish, side.tenant, [lw.event({"x": 1}, id="e1")])
        await asyncio.to_thread(side.broker.wait_until_matched)
        assert side.broker.targets.rest(side.tenant) == []
        assert idle.acknowledged == side.tenant.stored_number == 1
        assert side.broker.targets.flush()
        clock.advance(11 * 60 * 1_000_000)
        assert [feed.id for feed in side.broker.targets.rest(side.tenant)] == ["lost"]
        side.broker.close()

    asyncio.run(play())
    with Broker(tmp_path, SMALL, clock=clock) as broker:
        found = {feed.id: feed.acknowledged for feed in broker.tenant("default").sinks}
        assert found["idle"] == 1


def test_large_matches_are_read_a_few_at_a_time() -> None:
    """What a target holds in memory is bounded by bytes, and one that is larger still comes."""

    async def play() -> None:
        side = Side(Broker(None, SMALL))
        feed = await side.set()
        many = {f"a{n}": "x" * 1_000 for n in range(150)}
        for n in range(4):
            await asyncio.to_thread(side.broker.publish, side.tenant, [lw.event({"no2": 50, **many}, id=f"e{n}")])
        await asyncio.to_thread(side.broker.wait_until_matched)
        assert len(side.broker.targets.waiting(side.tenant, feed)) == 1
        assert len(feed.pending) == 4
        side.broker.close()

    asyncio.run(play())


def test_there_is_a_limit_to_targets() -> None:
    """Of one subscription, with words."""

    async def play() -> None:
        side = Side(Broker(None, SMALL))
        for n in range(10):
            await side.set(f"t{n}")
        with pytest.raises(LimitExceeded, match="targets of a subscription"):
            await side.set("one more")
        await side.set("t3")  # a change is no new one
        side.broker.close()

    asyncio.run(play())


def test_the_delivery_of_many_matches_feeds_the_right_targets() -> None:
    """Few targets among many subscriptions, and many among few, by the same plain rule."""

    async def play() -> None:
        side = Side(Broker(None, SMALL))
        tenant: Tenant = side.tenant
        texts = [lw.parse(f"{{no2 > {n % 60}}}", id=f"s{n}") for n in range(120)]
        await asyncio.to_thread(side.broker.subscribe, tenant, "ann", texts)
        feeds = {n: await side.set("hook", "a", f"s{n}") for n in range(0, 120, 7)}
        await side.publish(1, no2=30)
        await side.publish(2, no2=5)
        await side.publish(3, no2=-1)
        for n, feed in feeds.items():
            assert len(feed.pending) == (n % 60 < 30) + (n % 60 < 5)
        side.broker.close()

    asyncio.run(play())
