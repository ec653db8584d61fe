"""Readings that were taken for what they are not, or missed: each was met wrongly once."""

from __future__ import annotations

from typing import Any

import pytest

import likewise as lw


def met(text: str, data: dict[str, Any]) -> bool:
    matcher = lw.Matcher()
    matcher.add(lw.parse(text, id="s"))
    return bool(matcher.match(lw.event(data, id="e")))


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ('{"heart rate"~ > 100 bpm}', {"heart rate": 118}),
        ('{"heart rate"~ > 100 bpm}', {"code": "HEART_RATE", "value": 112, "unit": "/min"}),
        ('{"engine speed"~ > 2500 rpm}', {"rpm": 2843}),
        ('{"engine speed"~ > 2500 rpm}', {"regime_moteur_tr_min": 3010}),
        ('{"solar radiation"~ > 500 W/m2}', {"solar_rad": 733}),
        ('{"temperature setpoint"~ > 20 degC}', {"current_heating_setpoint": 21}),
        ('{"dissolved oxygen"~ > 1 mg/l}', {"dissolved_oxygen_mg_l": 3}),
        ('{"grid frequency"~ < 49.98 Hz}', {"Frequency": 49.85}),
        ('{"valve position"~ > 50 %}', {"valvePosition": 0.58}),
        ('{"battery voltage"~ < 3.3 V}', {"BatVoltage": 2810}),
        ('{"wind speed"~ > 10 m/s}', {"Windgeschwindigkeit": "12,1"}),
        ('{"fan speed"~ > 1200 rpm}', {"fan1-speed": "4120"}),
        ("{smoke~ = detected~}", {"smoke:0": {"alarm": True}}),
    ],
)
def test_what_was_missed_is_met(text: str, data: dict[str, Any]) -> None:
    """By the unit, the neighbours or the size of the number."""
    assert met(text, data)


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ('{"electric current"~ > 10 A}', {"current_heating_setpoint": 21}),
        ('{"operating hours"~ > 10 h}', {"uptime": 1209833}),
        ('{"how long the device has been running"~ > 1}', {"longitude": 25.3}),
        ('{"particulate matter"~ > 25}', {"tpms_pressure": 230}),
        ('{"firmware version"~ exists}', {"hardware_version": "v1"}),
        ('{"hardware version"~ exists}', {"firmware_version": "v1"}),
        ("{price~ > 0.1}", {"energy_delivered_tariff1": 1234}),
        ("{battery~ < 20 %}", {"Bat_status": 3}),
        ('{"battery level"~ < 20 %}', {"battery": 0.61}),
        ('{"battery voltage"~ < 3.3 V}', {"battery": 0.61}),
        ('{"electric power"~ > 2.5 kW}', {"LoadAvg": 19}),
        ('{"electric power"~ > 2.5 kW}', {"power_outage_count": 3}),
        ("{mass~ > 1 mg}", {"dissolved_oxygen_mg_l": 3}),
        ('{"room temperature"~ < 19 degC}', {"temperature": 283}),
        ('{"grid frequency"~ < 49.98 Hz}', {"code": "RESP_RATE", "value": 22, "unit": "/min"}),
    ],
)
def test_what_was_met_wrongly_is_not(text: str, data: dict[str, Any]) -> None:
    """Another kind, a count or a status, or a number that cannot be it."""
    assert not met(text, data)
