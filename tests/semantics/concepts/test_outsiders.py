"""What people who did not build it tried, and what was wrong then."""

from __future__ import annotations

import pytest

import likewise as lw


def meets(subscription: str, payload: dict[str, object]) -> bool:
    matcher = lw.Matcher()
    matcher.add(lw.parse(subscription, id="asked"))
    return bool(matcher.match(lw.event(payload)))


@pytest.mark.parametrize(
    ("subscription", "payload"),
    [
        ('{state~ = "ready"~}', {"state": "not yet ready"}),
        ('{state~ = "open"~}', {"state": "no longer open"}),
        ('{location~ = "level -1"~}', {"location": "level 1"}),
        ('{level~ = "floor -2"~}', {"level": "floor 2"}),
        ('{status~ = "water present"~}', {"status": "lack of water"}),
        ("{upload speed~ > 5}", {"download_speed": 10}),
        ("{sunrise~ exists}", {"sunset": "18:00"}),
        ("{arrival time~ exists}", {"departure_time": "18:00"}),
        ("{exit~ > 5}", {"entrance": 10}),
        ("{tx power~ > 5}", {"rx_power": 10}),
        ("{relative humidity~ > 5}", {"absolute_humidity": 10}),
        ("{instantaneous power~ > 5}", {"average_power": 10}),
        ("{atmospheric pressure~ > 5}", {"tire_pressure": 10}),
        ("{ambient temperature~ > 5}", {"gearbox_pump_temp": 10}),
        ("{flow rate~ > 5}", {"total_flow": 10}),
        ("{input voltage~ > 5}", {"output_voltage": 10}),
        ("{phase a voltage~ > 5}", {"phase_b_voltage": 10}),
        ("{phase a voltage~ > 5}", {"voltage_c": 10}),
        ("{pm10~ > 5}", {"pm2p5": 10}),
    ],
)
def test_what_differs_is_kept_apart(subscription: str, payload: dict[str, object]) -> None:
    """Each of these was met, some at a score of 1."""
    assert not meets(subscription, payload)


@pytest.mark.parametrize(
    ("subscription", "payload"),
    [
        ('{location~ = "level -1"~}', {"location": "Level -1"}),
        ('{state~ = "not ready"~}', {"state": "not yet ready"}),
        ("{upload speed~ > 5}", {"uploadSpeed": 10}),
        ("{transmit power~ > 5}", {"tx_power": 10}),
        ("{arrival time~ exists}", {"arrivalTime": "18:00"}),
        ("{wind speed~ > 3 m/s}", {"windSpeed_ms": 10}),
        ("{fine dust pm2.5~ > 3}", {"pm2p5": 10}),
        ("{motion~ = detected~}", {"motion": True}),
        ("{smoke~ = detected~}", {"smoke": 1}),
        ('{leak~ = "leak detected"~}', {"water_leak": True}),
    ],
)
def test_what_is_the_same_is_found(subscription: str, payload: dict[str, object]) -> None:
    """Keeping the others apart loses none of these."""
    assert meets(subscription, payload)


@pytest.mark.parametrize(
    ("asked", "name", "same"),
    [
        ("door open", "doorClosed", False),
        ("door open", "door_not_closed", True),
        ("door open", "door_not_open", False),
        ("door open", "contact", False),
        ("door open", "is_open", True),
        ("online", "offline", False),
        ("online", "disconnected", False),
        ("heating enabled", "heatingDisabled", False),
        ("room occupied", "vacant", False),
        ("room occupied", "room_unoccupied", False),
        ("locked", "unlocked", False),
        ("valid", "invalid", False),
        ("leak", "no_leak", False),
        ("water leak", "leakDetected", True),
        ("motion", "presence", True),
        ("motion", "noMotion", False),
    ],
)
@pytest.mark.parametrize("wanted", [True, False])
def test_what_is_true_of_a_name_is_false_of_its_opposite(asked: str, name: str, same: bool, wanted: bool) -> None:
    """A Boolean says what its name says, and a subscription finds it under the name of the opposite, too."""
    said = "true" if wanted else "false"
    assert meets(f'{{"{asked}"~ = {said}}}', {name: wanted is same})
    assert not meets(f'{{"{asked}"~ = {said}}}', {name: wanted is not same})
    assert meets(f'{{"{asked}"~ != {said}}}', {name: wanted is not same})


def test_the_size_of_a_number_says_what_a_battery_reports() -> None:
    """3.6 is no percentage, 87 are no volts."""
    assert not meets("{battery~ < 50 %}", {"battery": 3.6})
    assert meets("{battery voltage~ < 4}", {"battery": 3.6})
    assert not meets("{battery voltage~ < 99 V}", {"battery": 87})
    assert meets("{battery level~ < 90 %}", {"battery": 87})
    assert meets("{battery level~ < 50 %}", {"battery": {"value": 3.5, "unit": "%"}})
