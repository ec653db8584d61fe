"""Demand: exact filters that miss no match, kept up to date by an index that visits few."""

from __future__ import annotations

from random import Random

import pytest

import likewise as lw
from likewise.matching.demand import index as indexing
from likewise.matching.demand.compiler import compile_demand
from likewise.matching.demand.demand_filter import Demand
from likewise.matching.demand.index import DemandIndex
from likewise.model import Event, EventTuple
from likewise.model.announcements.announcement import AnnouncedAttribute, Announcement, Area
from likewise.semantics.enrichment.corrections import CorrectedAnnotations, Correction, correction_rows
from likewise.semantics.enrichment.table import NO_ANNOTATIONS
from likewise_experiments.demand.generating import draw


def demand_of(announcement: Announcement, *texts: str) -> Demand:
    index = DemandIndex(lw.Matcher().interpretation)
    for number, text in enumerate(texts):
        index.add(number, lw.parse(text, id=f"s{number}"))
    index.announce(announcement)
    return index.demand(announcement.source)


def said(*attributes: AnnouncedAttribute, **more: object) -> Announcement:
    return Announcement("roof", attributes, **more)  # type: ignore[arg-type]


def test_a_relaxed_subscription_becomes_an_exact_filter_on_the_names_of_the_source() -> None:
    """With its own unit: what a reading states is brought to it there, too."""
    made = demand_of(
        said(AnnouncedAttribute("air_temp_f", low=-40, high=120), AnnouncedAttribute("no2")), "{temperature~ > 25 degC}"
    )
    assert [str(each) for each in made.filters] == ["{air_temp_f > 25 degC}"]
    assert made.evaluate(lw.event({"air_temp_f": 81})).subscriptions == ("s0",)
    assert not made.evaluate(lw.event({"air_temp_f": 60})).is_demanded


@pytest.mark.parametrize(
    ("announced", "asked"),
    [
        (AnnouncedAttribute("no2", low=0, high=30), "{no2 > 40}"),
        (AnnouncedAttribute("mode", values=("eco", "boost")), "{mode = away}"),
        (AnnouncedAttribute("mode", kind="text"), "{temperature~ > 20 degC}"),
        (AnnouncedAttribute("temp", "degC"), "{no2 exists}"),
        (AnnouncedAttribute("door", kind="boolean"), "{door > 5}"),
        (AnnouncedAttribute("t", "degC", low=0, high=50), "{t > 100 degC}"),
        (AnnouncedAttribute("no2"), "{some alarms (level > 3)}"),
    ],
)
def test_what_a_source_can_never_meet_is_not_sent(announced: AnnouncedAttribute, asked: str) -> None:
    """Neither by name, nor by range, values or kind."""
    assert not demand_of(said(announced), asked)


@pytest.mark.parametrize(
    ("payload", "new", "outside"),
    [
        ({"no2": 500}, 0, 1),  # beyond the range
        ({"no2": "broken"}, 1, 0),  # of another kind
        ({"no2": {"value": 3, "unit": "kg"}}, 1, 0),  # in another unit
        ({"no2": 3, "o3": 4}, 1, 0),  # a name that was not announced
        ({"mode": "away"}, 0, 1),  # a text that was not announced
        ({"no2": 3, "mode": "eco"}, 0, 0),
    ],
)
def test_what_was_not_announced_is_forwarded_and_reported(payload: dict[str, object], new: int, outside: int) -> None:
    """So a wrong `complete`, a wrong range or a new word loses nothing."""
    announcement = said(
        AnnouncedAttribute("no2", low=0, high=200), AnnouncedAttribute("mode", values=("eco", "boost")), complete=True
    )
    looked = demand_of(announcement, "{no2 > 100}").evaluate(lw.event(payload))
    assert (len(looked.new), len(looked.outside)) == (new, outside)
    assert looked.is_demanded == bool(new or outside)


def test_an_attribute_that_comes_twice_was_not_judged() -> None:
    """Since two predicates may each have one of them then."""
    event = Event((EventTuple("t", 1), EventTuple("t", 9)))
    assert demand_of(said(AnnouncedAttribute("t")), "{t > 20}").evaluate(event).new == ("t, twice",)


def test_texts_of_relaxed_values_are_forwarded_until_they_are_known() -> None:
    """A text nobody has judged may be what is meant."""
    index = DemandIndex(lw.Matcher().interpretation)
    index.add(1, lw.parse("{device = laptop~}", id="s"))
    index.announce(said(AnnouncedAttribute("device", kind="text")))
    assert index.demand("roof").evaluate(lw.event({"device": "heater"})).new == ("device = heater",)
    index.announce(said(AnnouncedAttribute("device", kind="text")), lambda name: ("heater", "laptop"))
    known = index.demand("roof")
    assert not known.evaluate(lw.event({"device": "heater"})).is_demanded
    assert known.evaluate(lw.event({"device": "Laptop"})).subscriptions == ("s",)


def test_an_area_limits_who_asks_by_latitude_and_longitude() -> None:
    """And a source that leaves it is heard."""
    announcement = said(AnnouncedAttribute("no2"), area=Area((45.80, 45.85), (15.95, 16.00)))
    made = demand_of(announcement, "{no2 > 40, 45.81 <= lat <= 45.82}", "{no2 > 40, 50.1 <= lat <= 50.2}")
    assert [each.id for each in made.filters] == ["s0"]
    assert made.evaluate(lw.event({"no2": 50, "lat": 50.15, "long": 15.97})).outside


def test_alerts_demand_what_is_about_them_and_what_ends_them() -> None:
    """A state must see every event that can move it."""
    made = demand_of(
        said(AnnouncedAttribute("door", values=("open", "closed")), AnnouncedAttribute("key", kind="boolean")),
        "{door = open} for 5 min",
        "{door = open} once until {key = true}",
    )
    assert made.evaluate(lw.event({"door": "closed"})).subscriptions == ("s0",)  # the other is armed by its key alone
    assert made.evaluate(lw.event({"door": "open"})).subscriptions == ("s0", "s1")
    assert made.evaluate(lw.event({"key": True})).subscriptions == ("s1",)
    assert not made.evaluate(lw.event({"key": False})).is_demanded


def test_of_top_k_the_condition_goes_and_negative_parts_stay_at_the_hub() -> None:
    """The filter is met by too many rather than by too few."""
    made = demand_of(
        said(AnnouncedAttribute("no2"), AnnouncedAttribute("mode", kind="text")),
        "{no2 > 40} top 3 within 1 h by value(no2)",
        "{no2 > 40, not mode = away}",
    )
    assert {str(each) for each in made.filters} == {"{no2 > 40}"}
    assert made.evaluate(lw.event({"no2": 50, "mode": "away"})).subscriptions == ("s0", "s1")


def test_statements_and_graphs_are_asked_for_as_they_are() -> None:
    """No filter can be made of them: every event is wanted."""
    made = demand_of(said(AnnouncedAttribute("no2")), 'event type "Football Match"')
    assert made.evaluate(lw.event({"no2": 1})).subscriptions == ("s0",)


def test_a_correction_with_a_unit_is_compiled_into_the_readings_of_the_source() -> None:
    """Bare numbers are compared in the unit that a person stated."""
    annotations = CorrectedAnnotations(NO_ANNOTATIONS)
    matcher = lw.Matcher(annotations=annotations)
    index = DemandIndex(matcher.interpretation)
    index.add(1, lw.parse("{supply air temperature~ < 10 degC}", id="cold"))
    index.announce(said(AnnouncedAttribute("temp1")))
    assert index.demand("roof").evaluate(lw.event({"temp1": 40})).subscriptions == ()
    annotations.set_corrections(
        correction_rows({1: Correction("temp1", means="supply air temperature", unit="degF")}, {})
    )
    assert not index.up_to_date()
    index.recompile()
    assert index.up_to_date()
    assert index.demand("roof").evaluate(lw.event({"temp1": 40})).subscriptions == ("cold",)  # 4.4 degC
    assert index.demand("roof").evaluate(lw.event({"temp1": 60})).subscriptions == ()


@pytest.mark.parametrize("seed", range(3))
def test_an_index_that_changes_says_what_a_new_one_says(seed: int) -> None:
    """Whatever the order in which subscriptions and announcements come and go."""
    chance = Random(seed)
    drawn = [draw(chance, 12, 1, 0.0) for _ in range(4)]
    subscriptions = {
        (which, place): each for which, one in enumerate(drawn) for place, each in enumerate(one.subscriptions)
    }
    announcements = {f"a{which}": one.announcement for which, one in enumerate(drawn)}
    matcher = lw.Matcher()
    index = DemandIndex(matcher.interpretation)
    held: dict[int, object] = {}
    there: dict[str, Announcement] = {}
    keys = list(subscriptions)
    for step in range(120):
        number = chance.randrange(len(keys))
        if chance.random() < 0.7:
            if number in held:
                index.remove(number)
                del held[number]
            else:
                index.add(number, subscriptions[keys[number]])
                held[number] = None
        else:
            name = chance.choice(list(announcements))
            if name in there:
                index.revoke(name)
                del there[name]
            else:
                there[name] = lw_replace(announcements[name], name)
                index.announce(there[name])
        if step % 40 == 39:
            fresh = DemandIndex(matcher.interpretation)
            for each in held:
                fresh.add(each, subscriptions[keys[each]])
            for each_said in there.values():
                fresh.announce(each_said)
            assert sorted(index.sources()) == sorted(fresh.sources())
            for name in there:
                assert index.demand(name) == fresh.demand(name)
                assert index.demand(name).version == fresh.demand(name).version


def lw_replace(announcement: Announcement, source: str) -> Announcement:
    from msgspec.structs import replace

    return replace(announcement, source=source)


def test_neither_a_new_subscription_nor_a_new_announcement_visits_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only whom it concerns: of 300 rooms and 300 subscriptions, one each."""
    visited: list[str] = []

    def counting(subscription: lw.Subscription, *rest: object) -> object:
        visited.append(subscription.id)
        return compile_demand(subscription, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(indexing, "compile_demand", counting)
    index = DemandIndex(lw.Matcher().interpretation)
    for n in range(300):
        index.add(n, lw.parse(f"{{room = room{n}, t > 5}}", id=f"s{n}"))
        index.announce(
            Announcement(f"a{n}", (AnnouncedAttribute("room", values=(f"room{n}",)), AnnouncedAttribute("t")))
        )
    assert len(visited) <= 2 * 300
    visited.clear()
    index.announce(Announcement("new", (AnnouncedAttribute("room", values=("room7",)), AnnouncedAttribute("h"))))
    assert visited == ["s7"]
    boxes = DemandIndex(lw.Matcher().interpretation)
    for n in range(300):
        boxes.add(n, lw.parse(f"{{{n} <= lat <= {n + 0.5}}}", id=f"b{n}"))
    visited.clear()
    boxes.announce(Announcement("here", (AnnouncedAttribute("lat", low=17.1, high=18.2),)))
    assert sorted(visited) == ["b17", "b18"]


def test_a_change_of_demand_says_what_is_new_and_what_goes() -> None:
    """So that a version follows from another without sending all of it."""
    index = DemandIndex(lw.Matcher().interpretation)
    index.add(1, lw.parse("{no2 > 40}", id="a"))
    index.add(2, lw.parse("{no2 > 50}", id="b"))
    index.announce(said(AnnouncedAttribute("no2")))
    before = index.demand("roof")
    index.remove(1)
    assert list(index.add(3, lw.parse("{no2 > 60}", id="c"))) == ["roof"]
    after = index.demand("roof")
    had, has = ({each.id for each in demand.filters} for demand in (before, after))
    assert (has - had, had - has) == ({"c"}, {"a"})
    assert before.version != after.version
