"""CUPUS's sequences of announcing, subscribing and activating (sources.md C), each as its figure draws it."""

from __future__ import annotations

import time
from collections.abc import Iterator

import msgspec
import pytest

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.catalogue.activation import sensing_interval
from likewise.broker.log.commits import wait_for
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import StateError, UnknownId
from likewise.model.announcements.announcement import AnnouncedAttribute, Announcement
from likewise.testing.clocks import ManualClock

SECOND = 1_000_000
TEMPERATURE = (AnnouncedAttribute("temp", "degC", low=-40, high=85),)


def sensor(source: str, **more: object) -> Announcement:
    said: dict[str, object] = {"controllable": True, "place": "the roof", "interval": 10.0, "lease": 86_400.0}
    return Announcement(source, TEMPERATURE, **(said | more))  # type: ignore[arg-type]


class Engine:
    """A broker whose catalogue takes its turns when the test says so, and a subscriber who hears what is told."""

    def __init__(self) -> None:
        self.clock = ManualClock("2026-01-01T00:00:00Z")
        self.broker = Broker(None, clock=self.clock)
        self.broker.learning.stop()
        self.tenant: Tenant = self.broker.tenant("default")
        self.broker.register(self.tenant, "ann")
        self.broker.register(self.tenant, "controller")
        self.broker.subscribe(self.tenant, "controller", [lw.parse('{type starts with "sense"}', id="told")])

    def turn(self) -> None:
        self.broker.wait_until_matched()
        self.broker.learning._learn_pending()
        self.broker._update_sources()
        self.broker.wait_until_matched()

    def announce(self, *announced: Announcement) -> None:
        for each in announced:
            self.broker.announcements.announce(self.tenant, each)
        self.turn()

    def subscribe(self, text: str, id: str = "warm") -> None:
        self.broker.subscribe(self.tenant, "ann", [lw.parse(text, id=id)])
        self.turn()

    def unsubscribe(self, id: str = "warm") -> None:
        self.broker.unsubscribe(self.tenant, "ann", id)
        self.turn()

    def read(self, source: str, temp: float = 21.0) -> None:
        self.broker.publish(self.tenant, [lw.event({"temp": temp}, source=source)])
        self.turn()

    def awake(self) -> list[str]:
        held = self.tenant.sources.announcements
        return [each for each in sorted(held) if self.broker.activation.sense(self.tenant, each).on]

    def told(self) -> list[tuple[str, str]]:
        """What was told, in order, since it was last asked."""
        deadline = time.monotonic() + 60
        queue = self.tenant.subscriber("controller")
        self.broker.store.commit(lambda tables: None)  # what the catalogue said is on disk
        self.broker.wait_until_matched()
        assert time.monotonic() < deadline
        found = []
        page = self.broker.page(self.tenant, queue, after=queue.acknowledged)
        for number, body in page:
            said = {t["attribute"]: t["value"] for t in msgspec.json.decode(body)["event"]["tuples"]}
            found.append((said["type"], said["device"]))
            self.broker.acknowledge(self.tenant, "controller", number)
        return found

    def delivered(self) -> int:
        self.broker.wait_until_matched()
        return len(self.broker.page(self.tenant, self.tenant.subscriber("ann"), after=0))


@pytest.fixture
def engine() -> Iterator[Engine]:
    made = Engine()
    with made.broker:
        yield made


def test_figure_7_a_new_publisher_is_activated_if_a_subscription_asks_for_it(engine: Engine) -> None:
    """The announcement is stored and compared with the active subscriptions; without one, the source rests."""
    engine.announce(sensor("a"))
    assert (engine.awake(), engine.told()) == ([], [("sense off", "a")])
    engine.subscribe("{temperature~ > 20 degC}")
    assert engine.told() == [("sense on", "a")]
    engine.announce(sensor("b", place="the cellar"))
    assert (engine.awake(), engine.told()) == (["a", "b"], [("sense on", "b")])
    sense = engine.broker.activation.sense(engine.tenant, "b")
    assert (sense.interval, sense.wanted) == (10.0, 1)


def test_figure_8_when_a_publisher_revokes_an_alternative_one_is_activated(engine: Engine) -> None:
    """Where one source is enough, the next takes over."""
    engine.subscribe("{temperature~ > 20 degC} from one source")
    engine.announce(sensor("a", battery=0.9), sensor("b", battery=0.5))
    assert engine.awake() == ["a"]
    engine.told()
    engine.broker.announcements.revoke(engine.tenant, "a")
    engine.turn()
    assert (engine.awake(), engine.told()) == (["b"], [("sense on", "b")])
    with pytest.raises(UnknownId):
        engine.broker.activation.sense(engine.tenant, "a")


def test_figure_9_a_new_subscription_gets_earlier_events_and_activates_publishers(engine: Engine) -> None:
    """What is valid is delivered at once; matching announcements are woken."""
    engine.announce(sensor("a"))
    engine.read("a", 25.0)
    assert engine.awake() == []
    engine.subscribe("{temperature~ > 20 degC}")
    assert (engine.delivered(), engine.awake()) == (1, ["a"])


def test_figure_10_the_last_cancelled_subscription_deactivates_the_publisher(engine: Engine) -> None:
    """Not the first of two."""
    engine.announce(sensor("a"))
    engine.subscribe("{temperature~ > 20 degC}", "one")
    engine.subscribe("{temp < 5 degC}", "two")
    engine.told()
    engine.unsubscribe("one")
    assert (engine.awake(), engine.told()) == (["a"], [])
    engine.unsubscribe("two")
    assert (engine.awake(), engine.told()) == ([], [("sense off", "a")])


def test_figure_12_the_catalogue_is_told_of_a_new_sensor(engine: Engine) -> None:
    """It stands among the sources, and whoever subscribed to announcements hears of it."""
    engine.broker.subscribe(engine.tenant, "ann", [lw.parse("{type = announcement}", id="new sensors")])
    engine.announce(sensor("a", model="X"))
    [found] = engine.broker.catalogue.page(engine.tenant).sources
    assert (found.source, found.model, found.activity, engine.delivered()) == ("a", "X", "resting", 1)


def test_figure_13_the_catalogue_is_told_that_a_sensor_is_gone(engine: Engine) -> None:
    """It is among the sources no more, unless it was heard."""
    engine.announce(sensor("a"))
    engine.broker.subscribe(engine.tenant, "ann", [lw.parse("{type = revocation}", id="gone")])
    engine.broker.announcements.revoke(engine.tenant, "a")
    engine.turn()
    assert (engine.broker.catalogue.page(engine.tenant).sources, engine.delivered()) == ((), 1)


def test_figure_14_a_platforms_own_subscription_activates_what_it_asks_for(engine: Engine) -> None:
    """It need not know whether anybody else does; what it does not ask for rests."""
    engine.announce(sensor("a"), Announcement("c", (AnnouncedAttribute("no2"),), controllable=True))
    engine.subscribe("{temp exists}", "platform")
    assert engine.awake() == ["a"]


def test_figure_15_when_the_platform_cancels_what_nobody_else_asks_for_rests(engine: Engine) -> None:
    """A person's word keeps it awake all the same."""
    engine.announce(sensor("a"))
    engine.subscribe("{temp exists}", "platform")
    engine.unsubscribe("platform")
    assert engine.awake() == []
    wait_for(lambda done: engine.broker.announcements.start_keep(engine.tenant, "a", True, done))
    engine.turn()
    assert engine.awake() == ["a"]


# -- beyond the figures ----------------------------------------------------------------------------


def test_only_a_controllable_source_is_ever_told(engine: Engine) -> None:
    """Others go on as they like."""
    engine.announce(sensor("a", controllable=False))
    assert engine.told() == []
    with pytest.raises(StateError, match="controllable"):
        engine.broker.activation.sense(engine.tenant, "a")


def test_the_next_is_started_before_the_old_one_is_stopped(engine: Engine) -> None:
    """After silence over three intervals."""
    engine.subscribe("{temperature~ > 20 degC} from one source")
    engine.announce(sensor("a", battery=0.9), sensor("b", battery=0.8))
    engine.read("a")
    engine.told()
    engine.clock.advance(29 * SECOND)
    engine.turn()
    assert (engine.awake(), engine.told()) == (["a"], [])
    engine.clock.advance(2 * SECOND)
    engine.turn()
    assert engine.told() == [("sense on", "b"), ("sense off", "a")]


def test_a_source_that_fell_silent_is_not_chosen_again_before_it_gives_a_sign(engine: Engine) -> None:
    """Though it is worth more: else it would be started, and the other one stopped, again and again."""
    engine.subscribe("{temperature~ > 20 degC} from one source")
    engine.announce(sensor("a", battery=1.0), sensor("b", battery=0.2))
    assert engine.awake() == ["a"]
    engine.clock.advance(31 * SECOND)
    engine.turn()
    assert engine.awake() == ["b"]
    for _ in range(20):
        engine.clock.advance(10 * SECOND)
        engine.read("b")
        assert engine.awake() == ["b"]
    engine.announce(sensor("a", battery=1.0))  # it renews its lease
    assert engine.awake() == ["a"]


def test_when_all_are_silent_one_of_them_is_still_asked(engine: Engine) -> None:
    """There is nobody better."""
    engine.subscribe("{temperature~ > 20 degC} from one source")
    engine.announce(sensor("a", battery=0.9), sensor("b", battery=0.8))
    for _ in range(12):
        engine.clock.advance(20 * SECOND)
        engine.turn()
        assert len(engine.awake()) == 1


def test_the_end_of_a_lease_brings_the_next_source(engine: Engine) -> None:
    """As revoking does; and when the last of them is gone, a new one is found at once."""
    engine.subscribe("{temperature~ > 20 degC} from one source")
    engine.announce(sensor("a", battery=0.9, lease=100.0, interval=1000.0), sensor("b", battery=0.8, interval=1000.0))
    assert engine.awake() == ["a"]
    engine.clock.advance(101 * SECOND)
    engine.turn()
    engine.told()  # that it is over is on disk
    engine.turn()
    assert (list(engine.tenant.sources.announcements), engine.awake()) == (["b"], ["b"])
    engine.broker.announcements.revoke(engine.tenant, "b")
    engine.announce(sensor("c"))
    assert engine.awake() == ["c"]


def test_what_was_seen_beside_an_announcement_is_judged_from_then_on(engine: Engine) -> None:
    """A name, a number beyond the range and a text that were new once are not sent on for ever."""
    engine.subscribe("{temperature~ > 100 degC, status = fault~}")
    said = Announcement("a", (*TEMPERATURE, AnnouncedAttribute("status", kind="text")))
    engine.announce(said)
    event = lw.event({"temp": 90, "status": "ok", "humidity": 40}, source="a")
    looked = engine.broker.source_demand.demand(engine.tenant, "a").evaluate(event)
    assert looked.outside == ("temp = 90",)
    assert set(looked.new) == {"status = ok", "humidity"}
    engine.broker.publish(engine.tenant, [event])
    engine.turn()
    engine.turn()
    known = engine.broker.source_demand.demand(engine.tenant, "a")
    assert not known.evaluate(event).is_demanded
    assert known.evaluate(lw.event({"temp": 101, "status": "fault"}, source="a")).is_demanded


def test_others_may_ask_for_a_source_too(engine: Engine) -> None:
    """Whoever keeps everything of a tenant, for one."""
    engine.announce(sensor("a"))
    assert engine.awake() == []
    engine.broker.activation.other_demand.append(lambda tenant, source: "a lake keeps all" if source == "a" else "")
    engine.turn()
    assert engine.broker.activation.sense(engine.tenant, "a").reason == "a lake keeps all"
    assert engine.awake() == ["a"]


def test_another_takes_over_only_if_it_is_clearly_better_and_the_first_was_held(engine: Engine) -> None:
    """10 % more worth, and 60 s."""
    engine.subscribe("{temperature~ > 20 degC} from one source")
    engine.announce(sensor("a", battery=0.5, interval=1000.0))
    engine.announce(sensor("b", battery=0.55, interval=1000.0))
    assert engine.awake() == ["a"]
    engine.clock.advance(61 * SECOND)
    engine.turn()
    assert engine.awake() == ["a"]  # not clearly
    engine.announce(sensor("b", battery=1.0, interval=1000.0))
    assert engine.awake() == ["b"]
    engine.announce(sensor("a", battery=1.0, reputation=1.0, interval=1000.0))
    assert engine.awake() == ["b"]  # held
    engine.clock.advance(61 * SECOND)
    engine.turn()
    assert engine.awake() == ["a"]


def test_sources_in_other_places_serve_a_subscription_each(engine: Engine) -> None:
    """One source is enough where they overlap, not elsewhere."""
    engine.subscribe("{temperature~ > 20 degC} from one source")
    engine.announce(sensor("a"), sensor("b"), sensor("c", place="the cellar"))
    assert len(engine.awake()) == 2
    assert "c" in engine.awake()


def test_who_asks_for_less_often_lets_the_source_sense_less_often() -> None:
    """At the shortest span that anybody asks for."""
    seldom, seldomer, always = (
        lw.parse(f"{{temp exists}}{clause}", id="s") for clause in (" at most every 5 min", " at most every 1 h", "")
    )
    assert sensing_interval(sensor("a"), [seldom, seldomer], False) == 300.0
    assert sensing_interval(sensor("a"), [seldom, always], False) == 10.0
    assert sensing_interval(sensor("a"), [seldom], True) == 10.0
    assert sensing_interval(sensor("a", interval=900.0), [seldom], False) == 900.0


def test_reputation_falls_with_readings_out_of_range_and_late_ones(engine: Engine) -> None:
    """And with those that do not agree with the neighbours."""
    engine.announce(*(sensor(each) for each in "abc"))
    known = engine.broker.activation._reputation[engine.tenant.number]
    for _ in range(20):
        for source, temp in (("a", 21.0), ("b", 22.0), ("c", 500.0)):
            engine.read(source, temp)
        engine.clock.advance(10 * SECOND)
    assert known.of(sensor("a")) > 0.7 > known.of(sensor("c"))
