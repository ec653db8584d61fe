"""Clocks that fell back, in the broker: the alarm comes, and its source is shown with a warning."""

from __future__ import annotations

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


def publish(broker: Broker, id: str, time: int, *, smoke: bool, source: str = "kitchen") -> None:
    event = lw.event({"smoke": smoke}, id=id, source=source, time=time)
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
