"""Bare numbers under names asked for by meaning: one unit by custom, the same in engine, oracle and demand."""

from __future__ import annotations

from random import Random

import pytest

import likewise as lw
from likewise.matching.demand.index import DemandIndex
from likewise.matching.oracle.engine import OracleEngine
from likewise.model import Predicate, Quantity
from likewise.model.announcements.announcement import AnnouncedAttribute, Announcement
from likewise.semantics.concepts.customary import candidate_units, customary_units
from likewise.semantics.library import load_space

ASKED = (
    '{"active power"~ > 2 kW}',
    '{"atmospheric pressure"~ between 980 hPa and 1000 hPa}',
    '{"outdoor temperature"~ < 77 degF}',
    '{"water temperature"~ > 20 degC}',
    '{"uptime"~ > 7 d}',
    '{"battery voltage"~ = 3.3 V}',
    '{"soil moisture"~ <= 25 %}',
)
NAMES = (
    "power",
    "pressure",
    "outdoorTemp",
    "water_temperature",
    "uptime",
    "battery_voltage",
    "soilMoisture",
    "power_count",
)
NUMBERS = (0, 1, 3, 3.3, 20, 24.9, 25, 71, 99, 101, 293.15, 295.3, 990, 1700, 2254.1, 99_000, 604_801, "21,5", "3300")


@pytest.mark.parametrize(
    ("asked", "payload", "met"),
    [
        ('{"heart rate"~ > 100 bpm}', {"heart rate": 118}, True),
        ('{"engine speed"~ > 2500 rpm}', {"rpm": 2843}, True),
        ('{"solar radiation"~ > 500 W/m2}', {"solar_rad": 733}, True),
        ('{"dissolved oxygen"~ < 5 mg/L}', {"dissolved_oxygen_mg_l": 4.1}, True),
        ("{mass~ exists}", {"dissolved_oxygen_mg_l": 4.1}, False),
        ('{"electric current"~ > 10 A}', {"current_heating_setpoint": 21.5}, False),
        ('{"operating hours"~ > 1000 h}', {"uptime": 912_330_000}, False),
        ('{"particulate matter"~ exists}', {"tpms_fl_kpa": 240}, False),
        ("{price~ exists}", {"energy_delivered_tariff1": 1234.5}, False),
        ("{battery~ < 20 %}", {"Bat_status": 3}, False),
        ('{"electric power"~ > 2.5 kW}', {"LoadAvg": 19}, False),
        ('{"electric power"~ > 2.5 kW}', {"power_outage_count": 3}, False),
        ('{"active power"~ > 2 kW}', {"apower": 2254.1}, True),
        ('{"outdoor temperature"~ > 25 degC}', {"temperature": 658}, False),
        ('{"atmospheric pressure"~ < 1000 hPa}', {"pressure": 98_430}, True),
        ('{"fill level"~ > 80 %}', {"waterLevel_m": 0.93}, False),
        ('{"fill level"~ > 80 %}', {"tankLevel": 0.93}, True),
        ('{"water level"~ > 200 l}', {"water_level_ft": 300}, False),
        ('{"fill level"~ > 200 kg}', {"tank_level_m": 300}, False),
        ('{"fill level"~ > 200 l}', {"tank_level": 300}, True),
    ],
)
def test_what_a_payload_of_a_device_meets(asked: str, payload: dict[str, object], met: bool) -> None:
    """Units in names, customary units and names that are no quantity decide as an engineer would."""
    matcher = lw.Matcher()
    matcher.add(lw.parse(asked, id="s"))
    assert bool(matcher.match(lw.event(payload))) is met


def test_engines_the_oracle_and_demand_read_a_bare_number_alike() -> None:
    """Every engine matches what the oracle matches, and demand sends on all of it."""
    chance = Random(39)
    matcher, oracle = lw.Matcher(), OracleEngine(load_space().measure("sameness"))
    index = DemandIndex(matcher.interpretation)
    for place, text in enumerate(ASKED):
        subscription = lw.parse(text, id=f"s{place}")
        matcher.add(subscription)
        oracle.add(place, subscription, 0)
        index.add(place, subscription)
    index.announce(Announcement("s", tuple(AnnouncedAttribute(name) for name in NAMES)))
    demand = index.demand("s")
    met = 0
    for _ in range(150):
        payload = {name: chance.choice(NUMBERS) for name in chance.sample(NAMES, 2)}
        event = lw.event(payload, source="s")
        found = {match.subscription_id for match in matcher.match(event)}
        assert found == {match.subscription_id for _, match in oracle.match(event, 0)}, payload
        assessed = demand.evaluate(event)
        assert assessed.new or assessed.outside or found <= set(assessed.subscriptions), payload
        met += len(found)
    assert met > 40


def test_an_exact_condition_takes_a_bare_number_in_the_unit_it_asks_for() -> None:
    """Custom is for what is found by meaning."""
    matcher = lw.Matcher()
    matcher.add(lw.parse("{power > 2 kW}", id="s"))
    assert matcher.match(lw.event({"power": 3}))


def test_an_explanation_says_what_a_bare_number_was_taken_in() -> None:
    """The note names the unit, or says that the number cannot be what is asked for."""
    matcher = lw.Matcher()
    matcher.add(lw.parse('{"active power"~ > 2 kW}', id="s"))
    assert "taken in W" in matcher.explain(lw.event({"power": 2254.1}), "s").predicates[0].notes[0]
    assert "cannot be" in matcher.explain(lw.event({"power": 1e15}), "s").predicates[0].notes[0]


def test_a_unit_that_is_stated_stands() -> None:
    """Neither beside the value nor in the name does custom overrule it."""
    asked = Predicate("active power", ">", Quantity(2.0, "kW"), attribute_relaxed=True)
    assert candidate_units(asked, "power", "kW") is None
    assert candidate_units(asked, "power_kW", "") is None
    assert [each.unit.symbol for each in candidate_units(asked, "power", "") or ()] == ["W"]
    assert customary_units("pump pressure", "bar") == ()
