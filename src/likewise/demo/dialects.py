"""The dialects of the city's devices: how each vendor's product reports. Vendors and products are invented.

A dialect is a function that makes a payload of a device's context. They come in three groups: weather, air and noise;
parking, traffic, water, energy and alarms; and look-alikes, whose names and values are easily mistaken for each other:
several temperatures in one message, doors that are open in three ways, platforms with numbers.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from likewise.demo.world import CityPlace, Quantity, World

Json = Mapping[str, object]


class DeviceContext(NamedTuple):
    """A device, where and when it looks, and chance for its small errors (seeded for each report)."""

    world: World
    place: CityPlace
    device: str
    seconds: float
    number: int
    chance: random.Random

    def get(self, quantity: Quantity, digits: int = 1, scale: float = 1.0, offset: float = 0.0) -> float:
        """Return a measured value in a vendor's unit: `scale` and `offset` convert ours into it."""
        true = self.world.value(quantity, self.place, self.seconds)
        return round(true * self.chance.uniform(0.99, 1.01) * scale + offset, digits)

    def count(self, quantity: Quantity) -> int:
        """Return a measured whole number."""
        return max(0, round(self.world.value(quantity, self.place, self.seconds) * self.chance.uniform(0.97, 1.03)))

    def pick(self, *texts: str) -> str:
        """Return one of some texts, by chance."""
        return self.chance.choice(texts)


class Dialect(NamedTuple):
    """The reports of one vendor's product: `make_payload` makes them, `themes` are the tags it sends along."""

    vendor: str
    product: str
    themes: tuple[str, ...]
    period: float  # seconds between two reports of one device
    make_payload: Callable[[DeviceContext], Json]


def _flat_imperial(sight: DeviceContext) -> Json:
    return {
        "stationtype": "NW-WX3",
        "model": "Gale 300",
        "station": sight.device,
        "tempf": sight.get("temperature", 1, 1.8, 32),
        "windspeedmph": sight.get("wind", 1, 2.237),
        "baromrelin": sight.get("pressure", 2, 0.02953),
        "hourlyrainin": sight.get("rain", 2, 0.03937),
    }


def _uplink(sight: DeviceContext) -> Json:
    return {
        "deviceInfo": {"deviceName": sight.device, "profile": "FX-TH"},
        "fPort": 2,
        "object": {
            "TempC_SHT": sight.get("temperature", 2),
            "Hum_SHT": f"{sight.get('humidity')} %",
            "BatV": f"{3.6 - sight.number * 1e-4:.3f} V",
        },
    }


def _plain(sight: DeviceContext) -> Json:
    return {
        "temperature": sight.get("temperature", 1),
        "humidity": f"{sight.get('humidity', 0)} %",
        "battery": "87 %",
        "linkquality": sight.chance.randint(40, 240),
        "friendly_name": sight.device,
    }


def _loud_keys(sight: DeviceContext) -> Json:
    return {
        "Name": sight.device,
        "AM2301": {"Temperature": sight.get("temperature"), "Humidity": {"value": sight.get("humidity"), "unit": "%"}},
        "TempUnit": "C",
        "Wifi": {"RSSI": -sight.chance.randint(40, 80)},
    }


def _metric_weather(sight: DeviceContext) -> Json:
    return {
        "stationId": sight.device,
        "outdoor": {
            "airTemperature": {"value": sight.get("temperature"), "unit": "degC"},
            "relativeHumidity": {"value": sight.get("humidity", 0), "unit": "%"},
            "windSpeed": {"value": sight.get("wind"), "unit": "m/s"},
            "barometricPressure": {"value": sight.get("pressure", 0), "unit": "hPa"},
        },
        "location": {"lat": sight.place.latitude, "long": sight.place.longitude},
    }


def _properties(sight: DeviceContext) -> Json:
    return {
        "type": "AirQualityObserved",
        "id": f"urn:air:{sight.device}",
        "NO2": {"value": sight.get("no2"), "unit": "ug/m3"},
        "PM10": {"value": sight.get("pm10"), "unit": "ug/m3"},
        "address": {"street": sight.place.name},
        "lat": sight.place.latitude,
        "long": sight.place.longitude,
    }


def _suffixed(sight: DeviceContext) -> Json:
    return {
        "serial": sight.device,
        "no2_ugm3": sight.get("no2"),
        "pm25_ugm3": sight.get("pm25"),
        "pm10_ugm3": sight.get("pm10"),
        "ambient_temp_c": sight.get("temperature"),
        "fw": "4.1.7",
    }


def _deep(sight: DeviceContext) -> Json:
    return {
        "unit": sight.device,
        "gas": {"nitrogenDioxide": {"value": sight.get("no2", 4, 1e-3), "unit": "mg/m3"}},
        "particles": {"fineDust": {"value": sight.get("pm25"), "unit": "ug/m3"}},
        "gps": {"lat": sight.place.latitude, "long": sight.place.longitude},
    }


def _acoustic(sight: DeviceContext) -> Json:
    level = sight.get("noise")
    return {
        "mic": sight.device,
        "noise": {"laeq": {"value": level, "unit": "dB"}, "peak": {"value": round(level + 9, 1), "unit": "dB"}},
    }


def _sound(sight: DeviceContext) -> Json:
    return {"sensorId": sight.device, "soundLevel_dB": sight.get("noise"), "interval_s": 60}


def _loudness(sight: DeviceContext) -> Json:
    return {
        "node": sight.device,
        "env": {
            "loudness": {"value": sight.get("noise", 0), "unit": "dB"},
            "illuminance": {"value": sight.get("light", 0), "unit": "lx"},
        },
    }


_WEATHER, _INDOOR, _AIR, _NOISE = ("weather",), ("climate", "building"), ("air", "pollution"), ("noise", "city")

WEATHER_DIALECTS: Final = (
    Dialect("Northgale", "Gale 300", _WEATHER, 16, _flat_imperial),
    Dialect("Meteoria", "M-Station", _WEATHER, 20, _metric_weather),
    Dialect("Fennec", "FX-TH", _INDOOR, 20, _uplink),
    Dialect("Lumenta", "Climate Dot", _INDOOR, 18, _plain),
    Dialect("Plugwood", "Sense", _INDOOR, 20, _loud_keys),
    Dialect("OpenStadt", "AirPost", _AIR, 15, _properties),
    Dialect("Clarimetry", "Node-S", _AIR, 15, _suffixed),
    Dialect("AirBox", "Two", _AIR, 18, _deep),
    Dialect("Sonora", "Ear", _NOISE, 14, _acoustic),
    Dialect("Phonic", "SL-1", _NOISE, 16, _sound),
    Dialect("Urbanode", "Mast", _NOISE, 18, _loudness),
)


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

STREET_DIALECTS: Final = (
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

LOOK_ALIKES_DIALECTS: Final = (
    Dialect("Thermolux", "TX-4", ("heating", "building"), 22, _heating),
    Dialect("Reedwell", "Contact", _DOORS, 24, _door_contact),
    Dialect("Portico", "Flag", _DOORS, 24, _door_flag),
    Dialect("Gatehouse", "GH-1", _DOORS, 26, _door_word),
    Dialect("Pumpwright", "PW-2", _PUMPS, 22, _pumps),
    Dialect("Sluicegate", "Watch", _PUMPS, 24, _pump_words),
    Dialect("Railboard", "Platform Eye", _RAIL, 20, _platform),
    Dialect("Tracklight", "TL-9", _RAIL, 22, _track),
)


DIALECTS: Final = (*WEATHER_DIALECTS, *STREET_DIALECTS, *LOOK_ALIKES_DIALECTS)
