"""Engineering vocabulary of attribute names: abbreviations, formulas, quantities, words without content.

General knowledge of measuring, as found in any handbook: the usual clippings (`temp`, `lvl`) and initials (RH, RSSI),
formulas of common gases, which words name a measurable quantity and of what dimension (the dimensions
of `likewise.units`), and which nouns carry little meaning of their own (`value`, `level`). Two quantities of
different dimensions are never the same reading, however often they are spoken of together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from likewise.defaults import NAME_CACHE_ENTRIES
from likewise.units import find_unit


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _table(rows: str) -> dict[str, tuple[str, ...]]:
    """Parse rows of `word word: meaning meaning`."""
    out = {}
    for row in rows.strip().splitlines():
        words, _, meaning = row.partition(":")
        for word in words.split():
            out[word] = tuple(meaning.split())
    return out


# Short forms and what they stand for.
EXPANSIONS: Final = _table("""
temp tmp: temperature
hum humid: humidity
rh: relative humidity
bat batt: battery
volt: voltage
curr: current
pwr pow: power
press baro: pressure
lat: latitude
lon lng: longitude
alt: altitude
dist: distance
freq: frequency
vol: volume
spd: speed
dir: direction
pos: position
acc accel: acceleration
lum: luminosity
illum: illuminance
cond: conductivity
conc: concentration
cons: consumption
lvl: level
pct perc: percentage
avg: average
cnt ctr: count
num nr: number
seq: sequence
idx: index
msg: message
evt: event
ts: timestamp
ver: version
rev: revision
fw: firmware
hw: hardware
sw: software
sn: serial number
dev: device
stat sts: status
cfg conf config: configuration
cmd: command
err: error
btn: button
chn ch: channel
mac imei imsi eui uid uuid guid: identifier
id: identifier
rssi: received signal strength
rsrp: received signal strength
snr: signal noise ratio
gps gnss: position
soc: state charge
soh: state health
lqi: link quality
aqi: air quality
iaq: air quality
spl: sound pressure level
tds: dissolved solids
orp: redox potential
uvi: ultraviolet index
pir: motion
voc tvoc: volatile organic compounds
pm: particulate matter
vwc: volumetric water content
ec: electrical conductivity
uv: ultraviolet
co: carbon monoxide
co2: carbon dioxide
no: nitrogen monoxide
no2: nitrogen dioxide
so2: sulfur dioxide
o2: oxygen
o3: ozone
h2s: hydrogen sulfide
nh3: ammonia
ch4: methane
hcho ch2o: formaldehyde
h2: hydrogen
""")

# Letters for quantities that stand before a name (ISO 80000): `Vbat`, `T_air`.
SYMBOLS: Final = {"v": "voltage", "t": "temperature"}

# What a word measures: a dimension of the table of units, or a name of its own where several things share one.
QUANTITIES: Final = _table("""
temperature celsius fahrenheit dewpoint thermometer: temperature
humidity moisture wetness dampness: humidity
percentage percent: ratio
voltage: voltage
current amperage: current
power wattage: power
load: power current
energy electricity: energy
pressure barometer barometric: pressure
distance height altitude depth length range clearance elevation width displacement: length
speed velocity: speed
volume: volume
flow: flow
rainfall precipitation: rainfall
mass weight: mass
illuminance brightness light luminosity illumination luminance: illuminance
noise sound loudness: sound
frequency: frequency
latitude: latitude
longitude: longitude
direction heading angle tilt inclination: angle
acceleration: acceleration
vibration: acceleration speed
conductivity salinity: conductivity
acidity: acidity
resistance: resistance
capacitance: capacitance
irradiance radiation: irradiance
time date timestamp clock: time
duration interval period: time
count counter quantity: count
number index: count identifier
identifier: identifier
version revision firmware software hardware: version
carbon: carbon
nitrogen: nitrogen
sulfur: sulfur
oxygen: oxygen
ozone: ozone
dioxide: dioxide
monoxide: monoxide
ammonia: ammonia
methane: methane
formaldehyde: formaldehyde
hydrogen: hydrogen
particulate: particles
volatile: volatile
""")

# Dimensions of units that fit a quantity whose name is no dimension, or not the only one.
_PARTS: Final = ("ratio", "concentration")
_UNITS: Final = {
    "humidity": _PARTS,
    "latitude": ("angle",),
    "longitude": ("angle",),
    "sound": ("sound level",),
    "illuminance": ("illuminance", "ratio", "irradiance"),
    "rainfall": ("length", "density of flow"),
    "power": ("power", "apparent power", "reactive power"),
    "energy": ("energy", "reactive energy"),
    "particles": ("concentration",),
    "volatile": _PARTS,
    "carbon": _PARTS,
    "nitrogen": _PARTS,
    "sulfur": _PARTS,
    "oxygen": _PARTS,
    "ozone": _PARTS,
    "dioxide": _PARTS,
    "monoxide": _PARTS,
    "hydrogen": _PARTS,
    "ammonia": _PARTS,
    "methane": _PARTS,
    "formaldehyde": _PARTS,
}

# Words that say little about which reading it is, and how much they still count.
TRANSPARENT: Final = _words("""
value values val reading readings measurement measurements measure measured raw data sensor sensors payload payloads
bytes byte object decoded field fields channel channels input average mean minimum maximum min max last latest first
actual instantaneous present header info meter gauge probe
""")
LIGHT: Final = _words("""
level state status rate amount strength intensity content concentration degree quality room outdoor indoor outside
inside ambient device air total
""")
# Words for what is so or not so, rather than how much.
STATES: Final = _words("""
alarm alert warning state status presence occupancy motion movement detected occupied open closed leak leakage flood
tamper fault failure active contact
""")
# Words after which a phrase says no more what it is but where, when or how.
PREPOSITIONS: Final = _words("of in on at to from for by with when while per since until under over")
_AFTER_NOUN: Final = _words("open closed on off active inactive full empty low high")
# Names of units that are as often other things.
_ALSO_UNITS: Final = _words("meter min degree degrees second minute minutes bar bars yard pound foot feet day hour var")
_FORMULA: Final = re.compile(r"(pm)\d+")


@lru_cache(maxsize=NAME_CACHE_ENTRIES)
def expanded(word: str) -> tuple[str, ...]:
    """Return the words for a folded word: itself unless it is a known short form, a formula or a unit's name.

    >>> expanded("temp"), expanded("co2"), expanded("pm10"), expanded("volts"), expanded("house")
    (('temperature',), ('carbon', 'dioxide'), ('particulate', 'matter'), ('voltage',), ('house',))
    """
    expansion = EXPANSIONS.get(word)
    if expansion is not None:
        return expansion
    formula = _FORMULA.fullmatch(word)
    if formula:
        return EXPANSIONS[formula.group(1)]
    measured = unit_named(word)
    return (measured,) if measured else (word,)


def is_short(word: str) -> bool:
    """Return whether a word is a known short form."""
    return word in EXPANSIONS


def unit_named(word: str) -> str:
    """Return the quantity that a unit's name measures (`volts`: voltage); '' for other or ambiguous words."""
    if len(word) < 3 or word in QUANTITIES or word in _ALSO_UNITS:
        return ""
    unit = find_unit(word)
    return unit.dimension if unit is not None and " " not in unit.dimension and unit.dimension in QUANTITIES else ""


def follows_noun(word: str) -> bool:
    """Return whether a last word modifies the noun before it: `movement detected`, `door open`.

    >>> follows_noun("detected"), follows_noun("open"), follows_noun("speed"), follows_noun("voltage")
    (True, True, False, False)
    """
    return word in _AFTER_NOUN or (len(word) > 4 and word.endswith("ed") and word not in QUANTITIES)


_TAGS: Final = {tag: i for i, tag in enumerate(sorted({t for tags in QUANTITIES.values() for t in tags}))}
_DIMENSIONS: Final = {tag: i for i, tag in enumerate(sorted({d for t in _TAGS for d in _UNITS.get(t, (t,))}))}


@lru_cache(maxsize=NAME_CACHE_ENTRIES)
def quantity(word: str) -> int:
    """Return the quantities of a word as bits; 0 if it names none.

    >>> quantity("temperature") == quantity("celsius"), quantity("temperature") & quantity("humidity"), quantity("door")
    (True, 0, 0)
    """
    tags = QUANTITIES.get(word) or QUANTITIES.get(word.removesuffix("s")) or ()
    return sum(1 << _TAGS[tag] for tag in tags)


def dimensions(bits: int) -> int:
    """Return the dimensions of units that quantities may have, as bits."""
    return dimension_bits(d for tag, i in _TAGS.items() if bits >> i & 1 for d in _UNITS.get(tag, (tag,)))


def dimension_bits(names: Iterable[str]) -> int:
    """Return dimensions as bits. All dimensions without a quantity share one bit."""
    out = 0
    for name in names:
        out |= 1 << _DIMENSIONS.get(name, 60)
    return out
