"""Whose silence is an absence: what was announced is waited for; what cannot be heard, or rests, is not silent."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.edge_hub.connections import EdgeConnection
from likewise.broker.log.commits import wait_for
from likewise.broker.log.entries import event_entries
from likewise.model.announcements.announcement import AnnouncedAttribute, Announcement
from likewise.testing.clocks import ManualClock

SECOND = 1_000_000
SILENT = "{temperature~ exists, city = Galway} absent for 60 s"
pytestmark = pytest.mark.usefixtures("no_chores")


@pytest.fixture
def broker(clock: ManualClock) -> Iterator[Broker]:
    with Broker(None, clock=clock) as broker:
        broker.learning.stop()  # `settle` takes its turns
        yield broker


def announced(source: str, city: str = "", *, lease: float = 3_600, **more: object) -> Announcement:
    attributes = [AnnouncedAttribute("air_temp", "degC")]
    if city:
        attributes.append(AnnouncedAttribute("city", values=(city,)))
    return Announcement(source, tuple(attributes), lease=lease, **more)  # type: ignore[arg-type]


def subscribe(broker: Broker, **texts: str) -> None:
    tenant = broker.tenant("default")
    broker.register(tenant, "ann")
    broker.subscribe(tenant, "ann", [lw.parse(text, id=id) for id, text in texts.items()])


def publish(broker: Broker, id: str, source: str, **said: object) -> None:
    broker.publish(broker.tenant("default"), [lw.event(said, id=id, source=source)])


def settle(broker: Broker) -> None:
    """Let the broker do what it does every second: look after sources, look who can be heard, move time."""
    tenant = broker.tenant("default")
    broker.wait_until_matched()
    for own in broker.source_demand._tenants.values():
        own.compared = 0.0  # all that is held is looked at
    broker._update_sources()
    broker.wait_until_matched()
    with tenant.matchers:
        broker.visibility.update_absence(tenant)
    _written(broker)
    with tenant.matchers:
        broker._housekeeping._move_time(tenant)
    _written(broker)


def _written(broker: Broker) -> None:
    """What was appended beside us is on disk, and matched."""
    broker.store.commit(lambda tables: None)
    broker.wait_until_matched()


def said(broker: Broker) -> list[tuple[str, str, str]]:
    broker.wait_until_matched()
    tenant = broker.tenant("default")
    page = broker.page(tenant, tenant.subscriber("ann"), after=0, limit=1_000)
    found = [msgspec.json.decode(frame) for _, frame in page]
    return [(d["cause"], d["alert"]["key"][0], d["event"]["source"]) for d in found]


def test_what_was_announced_and_never_came_is_absent_and_what_is_elsewhere_is_not(
    broker: Broker, clock: ManualClock
) -> None:
    subscribe(broker, silent=SILENT)
    tenant = broker.tenant("default")
    for each in (announced("here", "Galway"), announced("there", "Dublin"), announced("nowhere")):
        broker.announcements.announce(tenant, each)
    settle(broker)
    clock.advance(59 * SECOND)
    settle(broker)
    assert said(broker) == []
    clock.advance(2 * SECOND)
    settle(broker)
    assert said(broker) == [("absent", "here", "likewise/catalogue")]
    publish(broker, "e1", "here", air_temp=20, city="Galway")
    assert said(broker)[1:] == [("returned", "here", "here")]


def test_an_alert_that_comes_later_waits_for_what_was_announced_before(broker: Broker, clock: ManualClock) -> None:
    broker.announcements.announce(broker.tenant("default"), announced("here", place="Galway"))
    settle(broker)
    subscribe(broker, silent="{air_temp exists, place = Galway} absent for 60 s")
    settle(broker)
    clock.advance(61 * SECOND)
    settle(broker)
    assert said(broker) == [("absent", "here", "likewise/catalogue")]


def test_a_source_that_takes_its_announcement_back_is_not_missed_one_whose_lease_ends_is(
    broker: Broker, clock: ManualClock
) -> None:
    subscribe(broker, silent=SILENT)
    tenant = broker.tenant("default")
    broker.announcements.announce(tenant, announced("leaves", "Galway"))
    broker.announcements.announce(tenant, announced("dies", "Galway", lease=10))
    settle(broker)
    broker.announcements.revoke(tenant, "leaves")
    clock.advance(20 * SECOND)
    settle(broker)
    settle(broker)
    assert "dies" not in tenant.sources.announcements
    clock.advance(41 * SECOND)
    settle(broker)
    assert said(broker) == [("absent", "dies", "likewise/catalogue")]


def test_saying_something_else_anew_is_no_event_and_one_that_no_longer_fits_is_not_missed(
    broker: Broker, clock: ManualClock
) -> None:
    subscribe(broker, silent=SILENT)
    tenant = broker.tenant("default")
    for battery in (0.9, 0.8):
        broker.announcements.announce(tenant, announced("here", "Galway", battery=battery))
        broker.announcements.announce(tenant, announced("moves", "Galway", battery=battery))
        settle(broker)
        clock.advance(29 * SECOND)
    broker.announcements.announce(tenant, announced("moves", "Dublin"))
    settle(broker)
    clock.advance(3 * SECOND)
    settle(broker)
    assert said(broker) == [("absent", "here", "likewise/catalogue")]


def test_a_key_of_per_is_waited_for_where_the_announcement_names_it(broker: Broker, clock: ManualClock) -> None:
    subscribe(broker, rooms="{air_temp exists} per city absent for 60 s")
    tenant = broker.tenant("default")
    broker.announcements.announce(tenant, announced("one", "Galway"))
    broker.announcements.announce(tenant, announced("other"))
    settle(broker)
    clock.advance(61 * SECOND)
    settle(broker)
    assert said(broker) == [("absent", "galway", "likewise/catalogue")]


def test_while_what_brings_a_source_is_down_its_silence_means_nothing(tmp_path: Path, clock: ManualClock) -> None:
    for restarting in (False, True):
        clock.advance(SECOND)
        broker = Broker(tmp_path / str(restarting), clock=clock)
        try:
            subscribe(broker, silent="{t exists} absent for 60 s")
            tenant = broker.tenant("default")
            broker.visibility.up(tenant, "bridge")
            broker.visibility.record_route(tenant, "bridge", ["far"])
            publish(broker, "e1", "far", t=1)
            publish(broker, "e2", "near", t=1)
            clock.advance(30 * SECOND)
            broker.visibility.down(tenant, "bridge")
            settle(broker)
            if restarting:
                broker.close()
                broker = Broker(tmp_path / str(restarting), clock=clock)
                tenant = broker.tenant("default")
                broker.visibility.down(tenant, "bridge")
            clock.advance(300 * SECOND)
            settle(broker)
            assert said(broker) == [("absent", "near", "near")]
            broker.visibility.up(tenant, "bridge")
            settle(broker)
            clock.advance(29 * SECOND)
            settle(broker)
            assert len(said(broker)) == 1
            clock.advance(2 * SECOND)
            settle(broker)
            assert said(broker)[1:] == [("absent", "far", "far")]
        finally:
            broker.close()


def test_what_brought_a_source_is_known_after_a_restart_and_one_that_is_gone_excuses_nothing(
    tmp_path: Path, clock: ManualClock
) -> None:
    with Broker(tmp_path / "data", clock=clock) as broker:
        subscribe(broker, silent="{t exists} absent for 60 s")
        tenant = broker.tenant("default")
        broker.visibility.down(tenant, "bridge")
        broker.visibility.record_route(tenant, "bridge", ["far"])
        publish(broker, "e1", "far", t=1)
        settle(broker)
        assert tenant.alerts.absence_suspended("unreachable") == {"far"}
    with Broker(tmp_path / "data", clock=clock) as broker:
        tenant = broker.tenant("default")
        assert tenant.sources.routes == {"far": "bridge"}
        settle(broker)
        assert tenant.alerts.absence_suspended("unreachable") == set()
        clock.advance(61 * SECOND)
        settle(broker)
        assert said(broker) == [("absent", "far", "far")]


def test_while_an_edge_is_away_what_came_over_it_is_not_silent(tmp_path: Path, clock: ManualClock) -> None:
    with Broker(tmp_path / "data", clock=clock) as broker:
        subscribe(broker, silent="{t exists} absent for 60 s")
        tenant = broker.tenant("default")
        wait_for(lambda done: broker.edges.start_open(tenant, "barn", "1", done))
        line = EdgeConnection("barn", "", clock(), lambda: None)
        broker.edges.connect(tenant, line)
        (entry,) = event_entries(tenant.number, [lw.event({"t": 1}, id="e1", source="far")], None)
        entry.hops = ("gate", "barn")
        wait_for(lambda done: broker.store.append([entry], done))
        settle(broker)
        broker.edges.disconnect(tenant, line)
        clock.advance(300 * SECOND)
        settle(broker)
        assert said(broker) == []
    with Broker(tmp_path / "data", clock=clock) as broker:
        tenant = broker.tenant("default")
        settle(broker)
        assert tenant.alerts.absence_suspended("unreachable") == {"far"}
        broker.edges.connect(tenant, EdgeConnection("barn", "", clock(), lambda: None))
        settle(broker)
        clock.advance(61 * SECOND)
        settle(broker)
        assert said(broker) == [("absent", "far", "far")]


def test_a_source_told_to_rest_is_resting(broker: Broker, clock: ManualClock) -> None:
    subscribe(broker, one="{air_temp exists} from one source absent for 60 s")
    tenant = broker.tenant("default")
    for source in ("a", "b"):
        broker.announcements.announce(tenant, announced(source, controllable=True, place="hall"))
    deadline = time.monotonic() + 60
    while not broker.activation.at_rest(tenant):
        settle(broker)
        assert time.monotonic() < deadline
    (resting,) = broker.activation.at_rest(tenant)
    settle(broker)
    clock.advance(61 * SECOND)
    settle(broker)
    assert [(cause, key) for cause, key, _ in said(broker)] == [("absent", "a" if resting == "b" else "b")]
