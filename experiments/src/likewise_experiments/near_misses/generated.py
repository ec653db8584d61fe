"""Near misses where the right answer is known: one reading of what is asked about, among others that would do.

The names of a quantity are what any handbook or datasheet calls it; the others are of other quantities, with values
that meet the comparison.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Final

from likewise.model import event
from likewise_experiments.near_misses.case import NearMiss

# What is asked, its unit, and names of such readings.
QUANTITIES: Final = (
    (
        "temperature",
        "degC",
        ["temperature", "temp", "TempC_SHT", "air_temp_f", "tempf", "airTemperature", "room_temperature"],
    ),
    ("humidity", "%", ["humidity", "relativeHumidity", "Hum_SHT", "humidity_percent"]),
    ("pressure", "hPa", ["pressure", "barometricPressure", "pressure_hpa", "air_pressure"]),
    ("wind speed", "m/s", ["windSpeed", "wind_speed", "windspeedmph"]),
    ("battery voltage", "V", ["battery_voltage", "BatV", "batteryVoltage"]),
    ("illuminance", "lx", ["illuminance", "illuminance_lux"]),
    ("carbon dioxide", "ppm", ["co2", "CO2_ppm", "carbonDioxide"]),
    ("noise", "dB", ["noise", "noise_db", "noiseLevel"]),
)
OTHERS: Final = (
    "linkquality",
    "sequence",
    "fPort",
    "frame_counter",
    "uptime",
    "rssi",
    "door_count",
    "firmware_version",
)


def generated_misses(count: int, seed: int = 1) -> Iterator[NearMiss]:
    """So many near misses.

    >>> made = next(generated_misses(1))
    >>> len(made.right), made.right <= {item.attribute for item in made.event.tuples}
    (1, True)
    """
    chance = Random(seed)
    for _ in range(count):
        place = chance.randrange(len(QUANTITIES))
        asked, unit, names = QUANTITIES[place]
        name = chance.choice(names)
        said: list[tuple[str, float]] = [(name, chance.randint(1, 9))]
        for other in chance.sample([n for n in range(len(QUANTITIES)) if n != place], chance.randint(1, 2)):
            said.append((chance.choice(QUANTITIES[other][2]), chance.randint(5_000, 9_000)))
        said += [(other, chance.randint(5_000, 9_000)) for other in chance.sample(OTHERS, chance.randint(1, 3))]
        chance.shuffle(said)
        text = f"{{{asked}~ > 1000 {unit}}}"
        yield NearMiss(asked, text, event(dict(said)), frozenset({name}))
