"""Dialects of weather stations, climate sensors, air and noise monitors. Vendors and products are invented."""

from __future__ import annotations

from typing import Final

from likewise.demo.device_message import DeviceContext, Dialect, Json


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

DIALECTS: Final = (
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
