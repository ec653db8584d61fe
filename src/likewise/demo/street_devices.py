"""Dialects of parking, traffic, bins, bicycles, water, energy and alarms. Vendors and products are invented."""

from __future__ import annotations

from typing import Final

from likewise.demo.device_message import DeviceContext, Dialect, Json


def _parking_nested(sight: DeviceContext) -> Json:
    free = sight.count("parking")
    return {"lot": f"{sight.place.name} car park", "parking": {"free": free, "total": 240}}


def _parking_flat(sight: DeviceContext) -> Json:
    return {"facility": sight.device, "availableSpaces": sight.count("parking"), "capacity": 240, "open": True}


def _parking_places(sight: DeviceContext) -> Json:
    return {"garage": {"name": sight.place.name, "freePlaces": sight.count("parking")}, "tariff": "day"}


def _traffic_quantities(sight: DeviceContext) -> Json:
    return {
        "type": "TrafficFlow",
        "refRoad": sight.place.name,
        "lane": "outer",
        "averageVehicleSpeed": {"value": sight.get("speed"), "unit": "km/h"},
        "vehicleCount": sight.count("vehicles"),
    }


def _traffic_imperial(sight: DeviceContext) -> Json:
    return {
        "cam": sight.device,
        "avg_vehicle_speed_mph": sight.get("speed", 1, 0.6214),
        "volume_vph": sight.count("vehicles"),
    }


def _traffic_loop(sight: DeviceContext) -> Json:
    return {"loop": {"id": sight.device, "carVelocity": {"value": sight.get("speed", 2, 1 / 3.6), "unit": "m/s"}}}


def _people(sight: DeviceContext) -> Json:
    return {"zone": sight.place.name, "peopleCount": sight.count("people"), "dwell_s": sight.chance.randint(20, 300)}


def _bin_level(sight: DeviceContext) -> Json:
    return {
        "containerId": sight.device,
        "fillingLevel": {"value": sight.get("fill", 0), "unit": "%"},
        "waste": sight.pick("glass", "paper", "mixed"),
    }


def _bin_percent(sight: DeviceContext) -> Json:
    return {"bin": {"id": sight.device, "fill_level_pct": sight.get("fill", 0), "tilt": False}}


def _bicycles(sight: DeviceContext) -> Json:
    bikes = sight.count("bikes")
    return {"station_name": sight.place.name, "num_bikes_available": bikes, "num_docks_available": 20 - bikes}


def _water_metric(sight: DeviceContext) -> Json:
    return {"gauge": sight.place.name, "waterLevel_m": sight.get("water", 2)}


def _water_imperial(sight: DeviceContext) -> Json:
    return {"site_no": sight.device, "river": {"waterHeight": {"value": sight.get("water", 2, 3.281), "unit": "ft"}}}


def _plug(sight: DeviceContext) -> Json:
    return {
        "id": sight.device,
        "output": True,
        "electricPower": {"value": sight.get("power", 0), "unit": "W"},
        "voltage": {"value": round(sight.chance.uniform(226, 236), 1), "unit": "V"},
    }


def _meter(sight: DeviceContext) -> Json:
    return {
        "meter": sight.device,
        "active_power_kw": sight.get("power", 3, 1e-3),
        "phase": sight.pick("L1", "L2", "L3"),
    }


def _lamp(sight: DeviceContext) -> Json:
    state = sight.pick("working", "working", "defective", "switched off")
    return {"asset": "street lamp", "pole": sight.device, "condition": state, "street": sight.place.name}


def _lantern(sight: DeviceContext) -> Json:
    state = sight.pick("operational", "operational", "broken", "dimmed")
    return {"luminaire": {"kind": "streetlight", "state": state}, "road": sight.place.name}


def _office(sight: DeviceContext) -> Json:
    return {
        "type": sight.pick("increased energy consumption event", "normal energy consumption event"),
        "device": sight.pick("computer", "air conditioner", "refrigerator"),
        "office": sight.pick("room 112", "room 114"),
    }


def _guard(sight: DeviceContext) -> Json:
    return {
        "alarm": sight.pick("burglary", "break-in", "fire drill", "low battery"),
        "site": sight.place.name,
        "armed": True,
    }


_PARKING, _TRAFFIC, _WASTE = ("parking", "transport"), ("traffic", "road"), ("waste", "city")
_WATER, _ENERGY, _LIGHT = ("water", "river"), ("energy", "appliances"), ("lighting", "city")

DIALECTS: Final = (
    Dialect("Quaypark", "Count", _PARKING, 18, _parking_nested),
    Dialect("Spotwise", "Gate", _PARKING, 20, _parking_flat),
    Dialect("Baylight", "P4", _PARKING, 22, _parking_places),
    Dialect("OpenStadt", "FlowPost", _TRAFFIC, 14, _traffic_quantities),
    Dialect("RoadEye", "Cam 7", _TRAFFIC, 14, _traffic_imperial),
    Dialect("Loopwire", "LW-2", _TRAFFIC, 16, _traffic_loop),
    Dialect("Footfall", "Counter", ("crowd", "city"), 20, _people),
    Dialect("Binsight", "Lid", _WASTE, 20, _bin_level),
    Dialect("Wastely", "Can", _WASTE, 22, _bin_percent),
    Dialect("Velodock", "Dock", ("bicycle", "transport"), 22, _bicycles),
    Dialect("Tidewell", "Float", _WATER, 20, _water_metric),
    Dialect("Riverine", "Stage", _WATER, 24, _water_imperial),
    Dialect("Plugwood", "Outlet", _ENERGY, 16, _plug),
    Dialect("Kilowise", "KM-3", _ENERGY, 16, _meter),
    Dialect("Lumenta", "Mast Light", _LIGHT, 24, _lamp),
    Dialect("Brightway", "BW-L", _LIGHT, 24, _lantern),
    Dialect("Officium", "Desk Agent", _ENERGY, 26, _office),
    Dialect("Aegis", "Guard", ("security", "building"), 26, _guard),
)
