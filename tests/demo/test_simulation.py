"""The simulated city."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

import likewise as lw
from likewise.demo import DEMO_SUBSCRIPTIONS, City, World, due_reports
from likewise.demo.dialects import DIALECTS
from likewise.demo.world import PLACES


def test_every_dialect_makes_an_event_of_its_own_shape() -> None:
    """Each vendor's payload is a valid event, and no two products name all their attributes alike."""
    city = City(seed=2, devices=len(DIALECTS))
    shapes = defaultdict(set)
    for report in city.between(0, 30):
        event = lw.event(report.payload, themes=report.themes, id=report.id, source=report.source)
        assert len(event.tuples) >= 2
        dialect = report.device.dialect
        shapes[frozenset(item.attribute for item in event.tuples)].add((dialect.vendor, dialect.product))
    assert set().union(*shapes.values()) == {(dialect.vendor, dialect.product) for dialect in DIALECTS}
    assert all(len(products) == 1 for products in shapes.values())


@given(seed=st.integers(0, 50), cut=st.floats(0, 60), length=st.floats(0, 30))
def test_a_city_played_in_parts_says_what_it_says_played_whole(seed: int, cut: float, length: float) -> None:
    """Nothing is lost or said twice where one stretch of time ends and the next begins."""
    city = City(seed=seed, devices=12)
    end = cut + length
    whole = city.between(0, end)
    assert whole == city.between(0, cut) + city.between(cut, end)
    assert len({(report.source, report.id) for report in whole}) == len(whole)


def test_the_clock_passed_in_sets_the_pace() -> None:
    """Without time passing nothing is reported; a clock that goes back changes nothing."""
    now = 50.0
    due = due_reports(City(seed=1), lambda: now)
    assert due() == []
    now = 60.0
    first = due()
    assert first
    assert all(0 <= report.seconds < 10 for report in first)
    now = 55.0
    assert due() == []
    now = 61.0
    assert all(10 <= report.seconds < 11 for report in due())


def test_seeds_make_different_cities() -> None:
    """Two seeds do not say the same."""
    assert City(seed=1).between(0, 5) != City(seed=2).between(0, 5)


def test_a_city_without_devices_is_refused() -> None:
    """The message says what is needed."""
    with pytest.raises(ValueError, match="at least one device"):
        City(devices=0)


def test_values_stay_within_what_can_be() -> None:
    """Percentages, counts and levels never leave their limits over a whole day."""
    world = World(seed=9)
    for place in PLACES:
        for second in range(0, 600, 7):
            assert 0 <= world.value("humidity", place, second) <= 100
            assert 0 <= world.value("fill", place, second) <= 100
            assert world.value("parking", place, second) >= 0
            assert -5 <= world.value("temperature", place, second) <= 38


def test_each_wanted_subscription_meets_several_vocabularies_within_a_day() -> None:
    """Over one day of the city each demo subscription matches, most of them words that differ from their own."""
    matcher = lw.Matcher()
    for wanted in DEMO_SUBSCRIPTIONS:
        matcher.add(lw.parse(wanted.text, id=wanted.id))
    vendors = defaultdict(set)
    for report in City(seed=1).between(0, 600):
        event = lw.event(report.payload, themes=report.themes, id=f"{report.source}-{report.id}")
        for match in matcher.match(event, at=int(report.seconds * 1_000_000)):
            vendors[match.subscription_id].add(report.device.dialect.vendor)
    assert set(vendors) == {wanted.id for wanted in DEMO_SUBSCRIPTIONS}
    assert sum(len(names) >= 2 for names in vendors.values()) >= 6


def test_look_alikes_are_told_apart() -> None:
    """Platform 3 by any spelling and not 13, pumps that stopped and not those that started, doors that are open."""
    matcher = lw.Matcher()
    for wanted in DEMO_SUBSCRIPTIONS:
        if wanted.id in ("platform-3", "pumps", "doors"):
            matcher.add(lw.parse(wanted.text, id=wanted.id))
    said: defaultdict[str, set[str]] = defaultdict(set)
    for report in City(seed=1).between(0, 600):
        event = lw.event(report.payload, themes=report.themes)
        for match in matcher.match(event):
            said[match.subscription_id] |= {str(item.value) for item in event.tuples}
    assert {"platform 3", "Platform No. 3", "Platform 03"} <= said["platform-3"]
    assert not {"platform 4", "platform 13", "Platform No. 2"} & said["platform-3"]
    assert {"pump stopped", "pump halted"} <= said["pumps"]
    assert not {"pump started", "pump running", "pump switched on"} & said["pumps"]
    assert "ajar" in said["doors"]
    assert "shut" not in said["doors"]
