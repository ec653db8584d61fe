"""Clocks that fell back, in the broker: the alarm comes, and its source is shown with a warning."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

import likewise as lw
from likewise.api.edge_frames import EdgeItem, EventsFrame, decode_edge_frame, encode_frame
from likewise.broker.broker import Broker
from likewise.broker.config import Config, MatchingSettings
from likewise.broker.dispatch.match_events import received_event
from likewise.broker.edge_hub.ingest import EdgeIngest
from likewise.broker.log.edges.hops import EventRoute, add_hops, event_route
from likewise.broker.tenants.access import Access
from likewise.model import Event
from likewise.testing.clocks import ManualClock
from tests.broker.alerts.test_alerts import said, subscribe, tick

SECOND = 1_000_000
DAY = 86_400 * SECOND
YEAR_2000 = 946_684_800 * SECOND
pytestmark = pytest.mark.usefixtures("no_chores")


class OlderItem(msgspec.Struct, array_like=True):
    """An item as a hub of the release before reads it."""

    sequence: int
    event: msgspec.Raw
    hops: tuple[str, ...] = ()


class OlderEvents(msgspec.Struct, tag_field="type", tag="events"):
    """What it reads them from."""

    items: tuple[OlderItem, ...] = ()
    v: int = 1


def wait_until(holds: Callable[[], bool]) -> None:
    patience = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < patience
        time.sleep(0.005)


def publish(broker: Broker, id: str, moment: int, *, smoke: bool, source: str = "kitchen") -> None:
    event = lw.event({"smoke": smoke}, id=id, source=source, time=moment)
    broker.publish(broker.tenant("default"), [event])
    broker.wait_until_matched()


@pytest.mark.parametrize("workers", [0, 2])
def test_a_clock_that_fell_back_is_shown_on_its_source_and_its_alarm_comes(workers: int, clock: ManualClock) -> None:
    config = Config(matching=MatchingSettings(workers=workers))
    with Broker(None, config, clock=clock) as broker:
        tenant = broker.tenant("default")
        subscribe(broker, smoke="{smoke = true} once until false")
        publish(broker, "before", clock(), smoke=False)
        publish(broker, "alarm", YEAR_2000, smoke=True)
        arrived = clock()
        assert said(broker) == []
        clock.advance(60 * SECOND)
        tick(broker)
        assert said(broker) == [("alarm", "arrival", "smoke")]
        tenant.alerts.next_due()  # by which shares are asked
        assert tenant.alerts.wrong_clocks == {"kitchen": (YEAR_2000, arrived)}
        publish(broker, "right", clock(), smoke=False)
        tenant.alerts.next_due()
        assert said(broker)[1:] == [("right", "cleared", "smoke")]
        assert tenant.alerts.wrong_clocks == {}


@pytest.mark.parametrize("workers", [0, 2])
def test_time_goes_on_for_alerts_after_the_clock_was_set_back_though_nothing_comes(
    workers: int, clock: ManualClock
) -> None:
    """A cool-down, a run and a silence that were under way end so long after they began as if it had not been set."""
    with Broker(None, Config(matching=MatchingSettings(workers=workers)), clock=clock) as broker:
        subscribe(
            broker,
            smoke="{smoke = true} at most every 60 s",
            door="{door = open} for 60 s",
            silent="{temperature exists} absent for 90 s",
        )
        for id, fields in (("s1", {"smoke": True}), ("s2", {"smoke": True}), ("d", {"door": "open"})):
            broker.publish(broker.tenant("default"), [lw.event(fields, id=id, source="kitchen")])
        broker.publish(broker.tenant("default"), [lw.event({"temperature": 4}, id="t", source="fridge")])
        clock.advance(20 * SECOND)
        broker.publish(broker.tenant("default"), [lw.event({"battery": 80}, id="b", source="kitchen")])
        broker.wait_until_matched()
        clock.step(-3_650 * DAY)
        sent = []
        tenant, position = broker.tenant("default"), broker.store.position
        broker._housekeeping._move_time(tenant)
        wait_until(lambda: broker.store.position > position)
        for _ in range(8):
            tick(broker)
            sent.append([(id, cause) for id, cause, _ in said(broker)][1:])
            clock.advance(10 * SECOND)
        assert sent[3] == []
        assert sorted(sent[4]) == [("d", "held"), ("s2", "arrival")]
        assert sent[6] == sent[4]
        assert sent[7][-1] == ("t", "absent")


def test_a_clock_that_is_set_back_for_a_moment_moves_no_time(clock: ManualClock) -> None:
    with Broker(None, clock=clock, steady=clock.steady) as broker:
        tenant = broker.tenant("default")
        subscribe(broker, door="{door = open} for 200 s")
        broker.publish(tenant, [lw.event({"door": "open"}, id="d", source="hall")])
        broker.wait_until_matched()
        position = broker.store.position
        clock.step(-3_650 * DAY)
        for _ in range(5):
            broker._housekeeping._move_time(tenant)
            clock.advance(10 * SECOND)
            assert broker.clock.doubt is not None
        clock.step(3_650 * DAY)
        broker._housekeeping._move_time(tenant)
        clock.advance(100 * SECOND)
        tick(broker)
        assert (broker.store.position, said(broker)) == (position, [])
        clock.advance(60 * SECOND)
        tick(broker)
        assert said(broker) == [("d", "held", "door")]


def test_a_store_remembers_when_the_first_broker_got_an_event(clock: ManualClock) -> None:
    with Broker(None, clock=clock) as broker:
        came = [EventRoute(("roof",)), EventRoute(("roof", "cellar"), 5)]
        found: list[EventRoute] = []
        broker.store.commit(lambda tables: add_hops(tables, [(7, 1, came[0]), (8, 1, came[1])]))
        with broker.store.reading() as tables:
            found = [event_route(tables, position) for position in (7, 8, 9)]
        assert found == [*came, EventRoute()]


def test_an_edge_says_when_it_got_an_event_whose_clock_is_doubted_and_older_hubs_pass_over_it() -> None:
    event = msgspec.Raw(msgspec.json.encode({"v": 1, "payload": {"smoke": True}, "id": "e", "source": "s", "time": 1}))
    sent = encode_frame(EventsFrame.of([EdgeItem(3, event, (), 99)]))
    read = decode_edge_frame(sent)
    assert isinstance(read, EventsFrame)
    [(_, entry)] = (
        EdgeIngest(1, "roof", "epoch", Access("default", frozenset({"publish"})))
        .read(read.items_with_sequences(), None)
        .entries
    )
    assert entry.first_received == 99
    assert received_event(entry).received == 99

    assert msgspec.json.decode(sent, type=OlderEvents).items[0].sequence == 3


def alarms(received: list[int | None]) -> list[str]:
    """What a matcher sends of two events that state times 10 s apart in 2000 and came together."""
    matcher = lw.Matcher()
    matcher.add(lw.parse("{smoke = true} once until false", id="s"), at=0)
    now = YEAR_2000 + 999 * DAY
    matcher.match(lw.event({"smoke": False}, source="s", time=now), at=now)
    for place, first in enumerate(received):
        event: Event = lw.event({"smoke": True}, source="s", time=YEAR_2000 + place * 10 * SECOND)
        matcher.match(msgspec.structs.replace(event, received=first), at=now + 9_000 * SECOND)
    return [match.cause for match in matcher.advance(now + 9_060 * SECOND)]


def test_what_an_edge_kept_counts_when_the_edge_got_it() -> None:
    got = YEAR_2000 + 999 * DAY + 5_000 * SECOND
    assert alarms([got, got + 10 * SECOND]) == ["arrival"]  # a clock that runs, and fell back
    assert alarms([None, None]) == []  # as if both had been uploaded at once


@pytest.mark.parametrize("workers", [0, 2])
def test_no_key_is_forgotten_by_a_step_of_the_clock(workers: int, tmp_path: Path) -> None:
    """Years ahead while it runs or at a start, and put right: what was sent is over by its end, and not sent again."""
    clock, config = ManualClock("2024-05-01T12:00:00Z"), Config(matching=MatchingSettings(workers=workers))
    years = 10 * 365 * 24 * 3_600 * SECOND
    with Broker(tmp_path / "data", config, clock=clock) as broker:
        subscribe(broker, smoke="{smoke = true} once until false", silent="{smoke exists} absent for 1 h")
        for source in ("a", "b", "c"):
            publish(broker, f"on {source}", clock(), smoke=True, source=source)
        clock.step(years)
        publish(broker, "off a", clock(), smoke=False, source="a")
    clock.advance(60 * SECOND)
    with Broker(tmp_path / "data", config, clock=clock) as broker:
        publish(broker, "still b", clock(), smoke=True, source="b")
        publish(broker, "off b", clock(), smoke=False, source="b")
        clock.step(-years)
        clock.advance(60 * SECOND)
        publish(broker, "still c", clock(), smoke=True, source="c")
        publish(broker, "off c", clock(), smoke=False, source="c")
        sent = [(id, cause) for id, cause, subscription in said(broker) if subscription == "smoke"]
    assert sent == [
        *[(f"on {source}", "arrival") for source in ("a", "b", "c")],
        *[(f"off {source}", "cleared") for source in ("a", "b", "c")],
    ]
