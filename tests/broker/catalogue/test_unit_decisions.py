"""Units that nobody states, over a source's history; unused inputs; jumps; renamed attributes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.catalogue.unit_decisions import BY, likely_unit
from likewise.broker.config import Config, UnitsSettings
from likewise.broker.log.entries import CorrectCommand
from likewise.matching.common_names.table import default_text, read_common_names
from likewise.model.announcements.announcement import AnnouncedAttribute, Announcement
from likewise.semantics.enrichment.corrections import Correction
from likewise.testing.clocks import ManualClock

MINUTE = 60_000_000
Publish = Callable[..., None]


@contextmanager
def asked(data: Path | None, *texts: str, config: Config | None = None) -> Iterator[tuple[Broker, Publish]]:
    """A broker with subscriptions of ann, and what publishes readings a minute apart."""
    clock = ManualClock("2026-05-01T12:00:00Z")
    with Broker(data, config, clock=clock) as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        have = {each.id for each in tenant.live()}
        wanted = [lw.parse(text, id=text) for text in texts if text not in have]
        if wanted:
            broker.subscribe(tenant, "ann", wanted)

        def publish(*payloads: dict[str, object], source: str = "roof") -> None:
            for payload in payloads:
                clock.advance(MINUTE)
                broker.publish(tenant, [lw.event(payload, source=source)])
                broker.learning.wait_until_learnt()
            broker.wait_until_matched()

        yield broker, publish


def delivered(broker: Broker) -> list[dict[str, object]]:
    tenant = broker.tenant("default")
    frames = [json.loads(frame) for _, frame in broker.page(tenant, tenant.subscriber("ann"), after=0)]
    return [{each["attribute"]: each["value"] for each in frame["event"]["tuples"]} for frame in frames]


def decisions(broker: Broker) -> list[Correction]:
    broker.learning.wait_until_learnt()
    return [each for each in broker.tenant("default").sources.corrections.values() if each.by == BY]


def test_an_outdoor_thermometer_of_98_is_in_fahrenheit(tmp_path: Path) -> None:
    """Decided once there is a history, from there on, and the same after a restart."""
    text = "{outdoor temperature~ > 30 degC}"
    readings = [{"outdoor_temp": value} for value in (97.2, 98.67, 96.4, 97.9, 98.2, 97.5)]
    with asked(tmp_path, text) as (broker, publish):
        publish(*readings)
        [decision] = decisions(broker)
        assert (decision.attribute, decision.name, decision.unit) == ("outdoor_temp", "roof", "degF")
        before = delivered(broker)
        publish({"outdoor_temp": 98.67}, {"outdoor_temp": 60.0})
        assert delivered(broker) == [*before, {"outdoor_temp": 98.67}]
    with asked(tmp_path, text) as (broker, publish):
        publish({"outdoor_temp": 99.1})
        assert delivered(broker)[-1] == {"outdoor_temp": 99.1}
        tenant = broker.tenant("default")
        broker.register(tenant, "bob")  # earlier events of a new subscription, by the same decision
        broker.subscribe(tenant, "bob", [lw.parse(text, id="later")])
        broker.wait_until_matched()
        frames = broker.page(tenant, tenant.subscriber("bob"), after=0)
        assert any(b"99.1" in frame for _, frame in frames)


def test_a_burst_does_not_put_the_decision_off(tmp_path: Path) -> None:
    """Hundreds of readings at once are one look at the source; the four after them are enough for five."""
    with asked(tmp_path, "{outdoor temperature~ > 30 degC}") as (broker, publish):
        tenant = broker.tenant("default")
        broker.publish(tenant, [lw.event({"outdoor_temp": 97 + n % 3}, source="roof") for n in range(400)])
        broker.learning.wait_until_learnt()
        publish(*[{"outdoor_temp": value} for value in (97.2, 98.67, 96.4, 97.9)])
        assert [each.unit for each in decisions(broker)] == ["degF"]


def test_where_two_units_fit_nothing_is_decided() -> None:
    with asked(None, "{outdoor temperature~ > 30 degC}") as (broker, publish):
        publish(*[{"outdoor_temp": value} for value in (20, 21.5, 22, 23, 21, 20.5, 22)])
        assert decisions(broker) == []


def test_a_person_is_never_overruled_and_settings_switch_it_off() -> None:
    readings = [{"outdoor_temp": value} for value in (97.2, 98.67, 96.4, 97.9, 98.2, 97.5)]
    with asked(None, "{outdoor temperature~ > 30 degC}") as (broker, publish):
        broker.announcements.correct(broker.tenant("default"), [Correction("outdoor_temp", unit="K")])
        publish(*readings)
        assert decisions(broker) == []
    off = Config(units=UnitsSettings(learn=False))
    with asked(None, "{outdoor temperature~ > 30 degC}", config=off) as (broker, publish):
        publish(*readings)
        assert decisions(broker) == []


def test_an_announced_unit_counts_where_events_state_none() -> None:
    with asked(None, "{battery voltage~ < 2.5 V}") as (broker, publish):
        said = Announcement("roof", (AnnouncedAttribute("battery_voltage", "mV"),), lease=600_000.0)
        broker.announcements.announce(broker.tenant("default"), said)
        publish(*[{"battery_voltage": value} for value in (3001, 3002, 3000, 2999, 3001, 3000)])
        assert [each.unit for each in decisions(broker)] == ["mV"]
        publish({"battery_voltage": 2410})
        assert delivered(broker)[-1] == {"battery_voltage": 2410}


def test_a_dead_input_does_not_win_over_a_living_one_until_it_lives() -> None:
    with asked(None, "{temperature~ > 40 degC}") as (broker, publish):
        publish(*[{"temp1": 85, "temp2": 20 + n % 3} for n in range(64)])
        assert [each.attribute for each in decisions(broker)] == ["temp1"]
        before = len(delivered(broker))
        publish({"temp1": 85, "temp2": 21})
        assert len(delivered(broker)) == before
        publish(*[{"temp1": 41 + n % 4 / 2, "temp2": 20} for n in range(40)])
        assert decisions(broker) == []
        publish({"temp1": 45, "temp2": 20})
        assert delivered(broker)[-1]["temp1"] == 45


def test_a_constant_zero_is_a_reading_of_power_and_none_of_pressure() -> None:
    with asked(None, "{power~ > 5 kW}") as (broker, publish):
        publish(*[{"power": 0, "pressure": 0} for _ in range(64)])
        assert [each.attribute for each in decisions(broker)] == ["pressure"]


def test_a_jump_by_a_known_factor_is_reported_and_not_followed() -> None:
    with asked(None, '{type = "unit jump"}', "{power~ > 50 kW}") as (broker, publish):
        publish(*[{"grid_power": 2_000 + n} for n in range(12)])
        publish(*[{"grid_power": 2 + n / 1_000} for n in range(30)])
        assert decisions(broker) == []
        reports = [each for each in delivered(broker) if each.get("type") == "unit jump"]
        assert [(each["source"], each["attribute"]) for each in reports] == [("roof", "grid_power")]
        assert reports[0]["factor"] == pytest.approx(0.001)


def test_a_renamed_attribute_is_an_event_to_subscribe_to() -> None:
    with asked(None, '{type = "attribute renamed"}', "{temperature~ > 90 degC}") as (broker, publish):
        publish(*[{"temp": 20 + n % 3, "humidity": 50} for n in range(15)])
        publish(*[{"temperature": 20 + n % 3, "humidity": 50} for n in range(8)])
        [notice] = [each for each in delivered(broker) if each.get("type") == "attribute renamed"]
        assert (notice["source"], notice["before"], notice["after"]) == ("roof", "temp", "temperature")
        assert float(str(notice["probability"])) >= 0.8


@pytest.mark.parametrize(
    ("name", "numbers", "expected"),
    [
        ("outdoor_temperature", (97.2, 98.67), "degF"),
        ("outdoor_temperature", (290.1, 285.3), "K"),
        ("pressure", (101.3, 99.8), "kPa"),
        ("pressure", (101_300, 99_800), "Pa"),
        ("pressure", (29.9, 30.1), "inHg"),
        ("battery_voltage", (3_000, 2_985), "mV"),
        ("charging_power", (7_200, 3_600), ""),
        ("pressure", (1_013, 998), ""),
        ("humidity", (0.5, 0.6), ""),
    ],
)
def test_the_unit_is_the_only_one_that_fits(name: str, numbers: tuple[float, ...], expected: str) -> None:
    rows = {row.name: row for row in read_common_names(default_text()).rows}
    assert likely_unit(rows[name], numbers) == expected


def test_a_replay_of_a_log_with_decisions_gives_the_same_deliveries() -> None:
    """Another broker that decides nothing, and is given the events and the decisions in the order of the log."""
    text = "{outdoor temperature~ > 30 degC}"
    values = (20, 97.2, 98.67, 96.4, 97.9, 98.2, 97.5, 60, 98.67, 21, 99.1, 85.5)
    with asked(None, text) as (broker, publish):
        publish(*[{"outdoor_temp": value} for value in values])
        publish(*[{"outdoor_temp": value} for value in values[1:] * 2])
        expected = delivered(broker)
        entries = list(broker.store.entries(0, broker.store.position))
        assert [each for each in entries if isinstance(each.value, CorrectCommand)]
    with asked(None, text, config=Config(units=UnitsSettings(learn=False))) as (broker, _):
        tenant = broker.tenant("default")
        for entry in entries:
            if isinstance(entry.value, CorrectCommand):
                broker.announcements.correct(tenant, [entry.value.correction])
            elif isinstance(entry.value, lw.Event) and entry.source == "roof":
                broker.publish(tenant, [entry.value])
        broker.wait_until_matched()
        assert delivered(broker) == expected
