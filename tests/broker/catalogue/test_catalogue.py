"""The catalogue of a running broker: learnt, announced, corrected; over restarts, and apart for each tenant."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.catalogue import follower as following
from likewise.broker.catalogue.demand_index import SourceDemand
from likewise.broker.catalogue.source_profiles import profile_path
from likewise.broker.config import CatalogueSettings, Config, LakeSettings
from likewise.broker.log.entries import SubscribeCommand, command_entry
from likewise.broker.log.files import DATABASE
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import InputError, LimitExceeded, UnitError, UnknownId
from likewise.model.announcements.announcement import AnnouncedAttribute, Announcement, Area
from likewise.semantics.enrichment.corrections import Correction
from likewise.testing.clocks import ManualClock

ROOF = Announcement("roof", (AnnouncedAttribute("temp1", "°C", low=-40, high=85),), model="X", place="the roof")

MANY = [f"a{n}" for n in range(300)]


def until(holds: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait for a state that the broker comes to by itself."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.01)


def delivered(broker: Broker, tenant: Tenant, subscriber: str = "ann") -> list[tuple[str, list[str]]]:
    broker.wait_until_matched()
    found = [msgspec.json.decode(body) for _, body in broker.page(tenant, tenant.subscriber(subscriber), after=0)]
    return [(each["event"].get("source", ""), [s["id"] for s in each["subscriptions"]]) for each in found]


def test_a_name_that_may_be_several_things_is_described_and_not_named(tmp_path: Path) -> None:
    """A bare battery is its voltage or its charge: neither is likelier than not."""
    with Broker(tmp_path / "data") as broker:
        tenant = broker.tenant("default")
        broker.publish(tenant, [lw.event({"battery": 2, "temp": 21}, source="roof")])
        broker.learning.wait_until_learnt()
        understood = {each.attribute: each.understood for each in broker.catalogue.source(tenant, "roof").attributes}
        assert understood["temp"].means
        assert not understood["battery"].means
        assert "too unsure to say" in understood["battery"].words


def test_sources_are_learnt_and_come_back_after_a_restart(tmp_path: Path) -> None:
    """What they send, how often, which range; without asking anybody, and once only."""
    for _ in range(2):
        with Broker(tmp_path / "data") as broker:
            tenant = broker.tenant("default")
            before = 0 if not broker.catalogue.page(tenant).sources else broker.catalogue.source(tenant, "roof").events
            sent = [lw.event({"temp": t, "room": "attic", "model": "SHT31"}, source="roof") for t in (20, 24)]
            broker.publish(tenant, sent)
            broker.learning.wait_until_learnt()
            found = broker.catalogue.source(tenant, "roof")
            assert (found.events, found.place, found.model) == (before + 2, "attic", "SHT31")
            [temp] = [each for each in found.attributes if each.attribute == "temp"]
            assert (temp.low, temp.high, temp.last, temp.kinds) == (20, 24, 24, ("number",))
            assert "temperature" in temp.understood.means
            assert temp.understood.probability > 0.5
    assert found.events == 4


def test_what_was_not_saved_is_learnt_again_from_the_log(tmp_path: Path) -> None:
    """The file is gone, or damaged: the log has it."""
    for damage in (Path.unlink, lambda path: path.write_bytes(b"{}\n")):
        with Broker(tmp_path / "data") as broker:
            broker.publish(broker.tenant("default"), [lw.event({"temp": 20}, source="roof")])
        damage(profile_path(tmp_path / "data", 1))
    with Broker(tmp_path / "data") as broker:
        broker.publish(broker.tenant("default"), [lw.event({"temp": 30}, source="cellar")])
        broker.learning.wait_until_learnt()
        tenant = broker.tenant("default")
        assert broker.catalogue.source(tenant, "roof").events == 2
        assert broker.catalogue.source(tenant, "cellar").events == 1


def test_no_tenant_sees_anothers_sources_words_or_corrections() -> None:
    """Each has its own."""
    with Broker(None) as broker:
        one, other = broker.tenant("one"), broker.tenant("other")
        broker.publish(one, [lw.event({"temp": 20}, source="roof")])
        broker.publish(other, [lw.event({"no2": 20}, source="street")])
        broker.announcements.announce(one, ROOF)
        broker.announcements.correct(one, [Correction("temp", means="water temperature")])
        broker.learning.wait_until_learnt()
        assert [each.source for each in broker.catalogue.page(other).sources] == ["street"]
        assert [word.attribute for word in broker.catalogue.words(other)] == ["no2"]
        assert [word.understood.means for word in broker.catalogue.words(one)] == ["water temperature"]
        with pytest.raises(UnknownId):
            broker.catalogue.source(other, "roof")
        assert (len(other.sources.announcements), len(other.sources.corrections)) == (0, 0)


def test_learning_can_be_switched_off_and_announcements_hold_anyway() -> None:
    """Nothing is kept of events then."""
    with Broker(None, Config(catalogue=CatalogueSettings(learn=False))) as broker:
        tenant = broker.tenant("default")
        broker.publish(tenant, [lw.event({"temp": 20}, source="cellar")])
        broker.announcements.announce(tenant, ROOF)
        broker.learning.wait_until_learnt()
        assert [(each.source, each.activity) for each in broker.catalogue.page(tenant).sources] == [
            ("roof", "announced")
        ]


def test_of_very_many_events_a_part_is_looked_at_and_every_source_among_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a look costs is bounded; what it passed over is counted."""
    monkeypatch.setattr(following, "EVENTS_PER_LOOK", 10)
    with Broker(None) as broker:
        tenant = broker.tenant("default")
        broker.learning.stop()  # the test looks itself
        broker.publish(tenant, [lw.event({"t": n}, source=f"s{n % 7}") for n in range(100)])
        broker.learning._learn_pending()
        assert sorted(broker.learning.learnt[tenant.number].sources()) == [f"s{n}" for n in range(7)]
        assert broker.learning.passed_over > 50


# -- announcements ---------------------------------------------------------------------------------


def test_announcements_are_events_that_one_can_subscribe_to_by_meaning() -> None:
    """Also later, while they hold; what is only renewed says nothing anew, what is revoked is taken back."""
    with Broker(None) as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        asked = "{type = announcement, announced.name~ = temperature~}"
        broker.subscribe(
            tenant, "ann", [lw.parse(asked, id="thermometers"), lw.parse("{type = revocation}", id="gone")]
        )
        assert broker.announcements.announce(tenant, ROOF) is False
        assert broker.announcements.announce(tenant, ROOF) is True
        broker.announcements.announce(tenant, Announcement("street", (AnnouncedAttribute("no2"),)))
        assert [ids for _, ids in delivered(broker, tenant)] == [["thermometers"]]
        broker.register(tenant, "bob")
        broker.subscribe(tenant, "bob", [lw.parse(asked, id="earlier")])
        assert [ids for _, ids in delivered(broker, tenant, "bob")] == [["earlier"]]
        broker.announcements.revoke(tenant, "roof", "it is being repaired")
        assert ["gone"] in [ids for _, ids in delivered(broker, tenant)]
        broker.register(tenant, "eve")
        broker.subscribe(tenant, "eve", [lw.parse(asked, id="late")])
        assert delivered(broker, tenant, "eve") == []
        with pytest.raises(UnknownId):
            broker.announcements.revoke(tenant, "roof")


def test_an_announcement_holds_until_its_lease_is_over_also_over_a_restart(tmp_path: Path) -> None:
    """Renewed in time it goes on; the end of the lease is a revocation like any other."""
    clock = ManualClock("2026-01-01T00:00:00Z")
    with Broker(tmp_path / "data", clock=clock) as broker:
        tenant = broker.tenant("default")
        broker.announcements.announce(tenant, ROOF)
        clock.advance(500 * 1_000_000)
        broker.announcements.announce(tenant, ROOF)
        clock.advance(500 * 1_000_000)
        assert tenant.sources.over(clock()) == []
    with Broker(tmp_path / "data", clock=clock) as broker:
        tenant = broker.tenant("default")
        assert tenant.sources.announcement("roof").announcement == ROOF
        broker.register(tenant, "ann")
        broker.subscribe(tenant, "ann", [lw.parse('{type = revocation, reason contains "lease"}', id="gone")])
        clock.advance(101 * 1_000_000)
        until(lambda: not tenant.sources.announcements)
        until(lambda: [ids for _, ids in delivered(broker, tenant)] == [["gone"]])
    with Broker(tmp_path / "data", clock=clock) as broker:
        assert not broker.tenant("default").sources.announcements


def test_a_resting_source_that_asks_right_after_a_restart_is_told_to_rest(tmp_path: Path) -> None:
    """What was told is known before anybody can ask, not with the first look at who wants what."""
    resting = msgspec.structs.replace(ROOF, controllable=True)
    with Broker(tmp_path / "data") as broker:
        tenant = broker.tenant("default")
        broker.announcements.announce(tenant, resting)
        until(lambda: not broker.activation.sense(tenant, "roof").on)
        told = broker.activation.sense(tenant, "roof")
    with Broker(tmp_path / "data") as broker:
        found = broker.activation.sense(broker.tenant("default"), "roof")
        assert (found.on, found.version) == (False, told.version)


def test_a_subscription_that_came_by_before_its_tenant_had_an_index_is_demand() -> None:
    """It was read behind the log, the first announcement is there, and matching has not come to it yet."""
    wanted = SourceDemand("full")
    with Broker(None) as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        broker.announcements.announce(tenant, ROOF)
        broker.wait_until_matched()
        asked = lw.parse("{temp1 > 20 degC}", id="warm")
        came_by = command_entry(tenant.number, SubscribeCommand("ann", asked))
        came_by.position = tenant.matched + 1
        wanted.observe(tenant, [came_by])
        assert wanted.bring_up_to_date(tenant)
        assert wanted.subscription_count(tenant) == 0
        broker.subscribe(tenant, "ann", [asked])
        broker.wait_until_matched()
        wanted.bring_up_to_date(tenant)
        assert wanted.count(tenant, "roof") == 1


@pytest.mark.parametrize(
    ("said", "error", "words"),
    [
        (lambda: AnnouncedAttribute("t", "furlong per fortnight"), UnitError, "is not known"),
        (lambda: AnnouncedAttribute("t", low=5, high=1), InputError, "reversed"),
        (lambda: AnnouncedAttribute("t", low=float("nan")), InputError, "not finite"),
        (lambda: AnnouncedAttribute("t", "degCC"), UnitError, "did you mean degC, or leave it out"),
        (lambda: Announcement("likewise/catalogue", ROOF.attributes), InputError, "own voice"),
        (lambda: AnnouncedAttribute(" "), InputError, "a name"),
        (lambda: AnnouncedAttribute("t", kind="text", low=1), InputError, "no unit and no range"),
        (lambda: AnnouncedAttribute("t", low=1, values=(1, 2)), InputError, "the one or the other"),
        (lambda: AnnouncedAttribute("t", values=tuple(range(1_000))), LimitExceeded, "values of 't'"),
        (lambda: Announcement("s", ()), InputError, "names no attribute"),
        (lambda: Announcement(" ", ROOF.attributes), InputError, "names no source"),
        (lambda: Announcement("s", tuple(map(AnnouncedAttribute, MANY))), LimitExceeded, "attributes"),
        (lambda: Announcement("s", (*ROOF.attributes, *ROOF.attributes)), InputError, "twice"),
        (lambda: Announcement("s", ROOF.attributes, lease=0), InputError, "must end"),
        (lambda: Announcement("s", ROOF.attributes, lease=float("inf")), InputError, "must end"),
        (lambda: Announcement("s", ROOF.attributes, battery=1.5), InputError, "from 0 to 1"),
        (lambda: Announcement("s", ROOF.attributes, interval=0), InputError, "above 0"),
        (lambda: Area((50, 45), (1, 2)), InputError, "low first"),
    ],
)
def test_a_bad_announcement_is_refused_with_words(said: object, error: type[Exception], words: str) -> None:
    """Before anybody counts on it."""
    with pytest.raises(error, match=words):
        said()  # type: ignore[operator]


# -- corrections -----------------------------------------------------------------------------------


def test_a_correction_is_certain_from_then_on_and_said_in_explanations(tmp_path: Path) -> None:
    """For every subscription, for the sources of a model that only their announcements name; until it is undone."""
    with Broker(tmp_path / "data") as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        wanted = lw.parse("{supply air temperature~ > 20 degC} confidence 0.95", id="supply")
        broker.subscribe(tenant, "ann", [wanted])
        broker.announcements.announce(tenant, ROOF)
        broker.publish(tenant, [lw.event({"temp1": 77}, source="roof"), lw.event({"temp1": 77}, source="cellar")])
        assert delivered(broker, tenant) == []
        said = Correction("temp1", "model", "x", means="supply air temperature", unit="degF")
        [number] = broker.announcements.correct(tenant, [said])
        broker.publish(tenant, [lw.event({"temp1": 77}, source=each) for each in ("roof", "cellar")])
        broker.publish(tenant, [lw.event({"temp1": 50}, source="roof")])  # 10 degC
        assert delivered(broker, tenant) == [("roof", ["supply"])]
        explained = tenant.stateless.matcher.annotated(lw.event({"temp1": 77}, source="roof"))
        assert [(t.attribute, t.unit) for t in explained.tuples] == [("supply air temperature", "degF")]
    with Broker(tmp_path / "data") as broker:
        tenant = broker.tenant("default")
        assert list(tenant.sources.corrections.values()) == [said]
        broker.publish(tenant, [lw.event({"temp1": 78}, source="roof")])
        assert len(delivered(broker, tenant)) == 2
        broker.announcements.take_back(tenant, number)
        broker.publish(tenant, [lw.event({"temp1": 79}, source="roof")])
        assert len(delivered(broker, tenant)) == 2
        with pytest.raises(UnknownId):
            broker.announcements.take_back(tenant, number)


def test_the_last_word_about_an_attribute_holds_and_the_narrower_one_before_the_wider() -> None:
    """One correction of one attribute of one source; a source's own before its model's, before everybody's."""
    with Broker(None) as broker:
        tenant = broker.tenant("default")
        first, second = (
            Correction("t", "source", "a", means=means) for means in ("air temperature", "soil temperature")
        )
        everybody = Correction("T", means="water temperature")
        broker.announcements.correct(tenant, [first, everybody, second])
        assert sorted(each.means for each in tenant.sources.corrections.values()) == [
            "soil temperature",
            "water temperature",
        ]
        seen = {
            by: tenant.stateless.matcher.annotated(lw.event({"t": 1}, source=by)).tuples[0].attribute for by in "ab"
        }
        assert seen == {"a": "soil temperature", "b": "water temperature"}
        broker.publish(tenant, [lw.event({"t": 1}, source="a")])
        broker.learning.wait_until_learnt()
        assert broker.catalogue.source(tenant, "a").attributes[0].understood.means == "soil temperature"


def test_the_most_useful_question_comes_first() -> None:
    """By how many deliveries its answer would change; what was answered is asked no more."""
    with Broker(None) as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        broker.subscribe(tenant, "ann", [lw.parse("{water temperature~ > 20 degC}", id="w")])
        rare, often = "pool_temp", "probe_temperature"
        broker.publish(tenant, [lw.event({often: 20 + n}, source="a") for n in range(20)])
        broker.publish(tenant, [lw.event({rare: 20}, source="b"), lw.event({"door": "open"}, source="c")])
        broker.learning.wait_until_learnt()
        asked = broker.catalogue.questions(tenant)
        assert asked == sorted(asked, key=lambda each: -each.deliveries)
        assert "door" not in [each.attribute for each in asked]
        assert asked[0].attribute == often
        assert asked[0].asked[0][0] == "water temperature"
        broker.announcements.correct(tenant, [Correction(often, means="water temperature")])
        assert often not in [each.attribute for each in broker.catalogue.questions(tenant)]


def test_what_the_catalogue_keeps_is_refused_if_it_was_altered(tmp_path: Path) -> None:
    """Every row carries its checksum."""
    import sqlite3

    from likewise.errors import ArtefactDamaged

    with Broker(tmp_path / "data") as broker:
        broker.announcements.announce(broker.tenant("default"), ROOF)
        broker.wait_until_matched()
    with sqlite3.connect(tmp_path / "data" / DATABASE) as connection:
        connection.execute("UPDATE catalogue SET body = replace(body, 'roof', 'hall')")
    connection.close()
    with pytest.raises(ArtefactDamaged, match="roof"):
        Broker(tmp_path / "data")


def test_a_lake_that_keeps_everything_asks_for_every_source(tmp_path: Path) -> None:
    """Nobody else does; it is told so."""
    config = Config(lake=LakeSettings(str(tmp_path / "lake"), keep="all"))
    with Broker(tmp_path / "data", config) as broker:
        tenant = broker.tenant("default")
        broker.announcements.announce(tenant, msgspec.structs.replace(ROOF, controllable=True))
        until(lambda: "roof" in broker.activation.commands(tenant))
        said = broker.activation.sense(tenant, "roof")
        assert (said.on, said.reason) == (True, "the lake keeps everything")
