"""Demand against cases that a stranger drew: it misses no match, and starves no alert of an event that moves it."""

from __future__ import annotations

import pytest

import likewise as lw
from likewise.matching.demand.index import DemandIndex
from likewise.model.announcements.announcement import AnnouncedAttribute, Announcement
from tests.matching.demand.at_length import compare_alerts, compare_matches


def test_no_match_of_a_strangers_cases_is_missed() -> None:
    """Every operator, lists, dates, topics, odd spellings; a tenth of the events outside their announcement."""
    found = [compare_matches(seed) for seed in range(12)]
    assert [each for one in found for each in one.missed] == []
    assert sum(each.found for each in found) > 300
    assert sum(each.judged for each in found) > 60


@pytest.mark.parametrize("lateness", [0, 20_000_000])
def test_alerts_say_the_same_of_what_the_demand_sends_on_as_of_everything(lateness: int) -> None:
    """Against the engine of alerts: an event that is not wanted moves no state."""
    found = [compare_alerts(seed, lateness) for seed in (1, 4, 7, 13, 20)]  # which say something, and keep events back
    assert [each for one in found for each in one.missed] == []
    assert sum(each.found for each in found) > 5
    assert sum(each.judged for each in found) > 20


def test_true_is_not_one() -> None:
    """Python calls them equal; a source that announces the one does not announce the other."""
    index = DemandIndex(lw.Matcher().interpretation)
    index.add(1, lw.parse("{door~ = open~}", id="s"))
    index.announce(Announcement("a", (AnnouncedAttribute("door_open"),)))
    for value in (True, 1, "open"):
        assert index.demand("a").evaluate(lw.event({"door_open": value})).is_demanded, value
    either = [Announcement("b", (AnnouncedAttribute("door", values=("x", value)),)) for value in (True, 1.0)]
    assert not either[0].same_as(either[1])
    for each in either:
        index.announce(each)
        assert not index.demand("b").evaluate(lw.event({"door": each.attributes[0].values[1]})).outside


@pytest.mark.parametrize("bounds", [{"low": 0.0}, {"high": 100.0}, {"low": -40.0, "high": 85.0}])
@pytest.mark.parametrize("unit", ["degF", "kPa", "mV", ""])
def test_a_range_of_one_end_is_a_range_in_every_unit(unit: str, bounds: dict[str, float]) -> None:
    """What lies beyond the end is outside; the other side is open."""
    announced = AnnouncedAttribute("x", unit, "number", bounds.get("low"), bounds.get("high"))
    index = DemandIndex(lw.Matcher().interpretation)
    index.add(1, lw.parse("{x < 1000000}", id="s"))
    index.announce(Announcement("a", (announced,)))

    def looked(number: float) -> bool:
        reading: object = {"value": number, "unit": unit} if unit else number
        return bool(index.demand("a").evaluate(lw.event({"x": reading})).outside)

    assert looked(-5000.0) == ("low" in bounds)
    assert looked(5000.0) == ("high" in bounds)
    assert not looked(50.0)
