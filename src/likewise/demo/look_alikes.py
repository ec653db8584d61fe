"""Dialects whose names and values are easily mistaken for each other: that related is not the same can be seen in them.

One message has several temperatures; doors say open and closed in three ways; pumps start and stop; platforms have
numbers. Vendors and products are invented.
"""

from __future__ import annotations

from typing import Final

from likewise.demo.device_message import DeviceContext, Dialect, Json


def _heating(sight: DeviceContext) -> Json:
    warm = sight.get("temperature")
    return {
        "unit": sight.device,
        "room_temperature_c": warm,
        "outdoor_temperature_c": round(warm - 8, 1),
        "return_water_temperature_c": round(warm + 21, 1),
        "temperature_setpoint_c": 21,
    }


def _door_contact(sight: DeviceContext) -> Json:
    return {"sensor": sight.device, "contact": sight.chance.random() < 0.7, "battery_low": False}


def _door_flag(sight: DeviceContext) -> Json:
    return {"entrance": sight.place.name, "door_open": sight.chance.choice((0, 0, 1))}


def _door_word(sight: DeviceContext) -> Json:
    return {"gate": sight.device, "door": sight.pick("shut", "shut", "ajar"), "site": sight.place.name}


def _pumps(sight: DeviceContext) -> Json:
    return {"station": sight.place.name, "pump event": sight.pick("pump started", "pump stopped", "pump running")}


def _pump_words(sight: DeviceContext) -> Json:
    return {"asset": sight.device, "pump state": sight.pick("pump halted", "pump switched on"), "leak": False}


def _platform(sight: DeviceContext) -> Json:
    return {
        "station": "Station Road",
        "platform": sight.pick("platform 3", "platform 4", "platform 13"),
        "passengers": sight.count("people"),
    }


def _track(sight: DeviceContext) -> Json:
    return {
        "board": sight.device,
        "platform": sight.pick("Platform No. 3", "Platform 03", "Platform No. 2"),
        "train": sight.pick("arriving", "departing"),
    }


_DOORS, _PUMPS, _RAIL = ("security", "building"), ("water", "pump"), ("railway", "transport")

DIALECTS: Final = (
    Dialect("Thermolux", "TX-4", ("heating", "building"), 22, _heating),
    Dialect("Reedwell", "Contact", _DOORS, 24, _door_contact),
    Dialect("Portico", "Flag", _DOORS, 24, _door_flag),
    Dialect("Gatehouse", "GH-1", _DOORS, 26, _door_word),
    Dialect("Pumpwright", "PW-2", _PUMPS, 22, _pumps),
    Dialect("Sluicegate", "Watch", _PUMPS, 24, _pump_words),
    Dialect("Railboard", "Platform Eye", _RAIL, 20, _platform),
    Dialect("Tracklight", "TL-9", _RAIL, 22, _track),
)
