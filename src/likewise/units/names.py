"""Units inside attribute names: `wind_avg_km_h`, `TempC_SHT`, and joined, `BatV`, `tempf`, `windspeedmph`.

A name's unit stands behind what is measured. A single letter may be a unit but need not: it is sure where the word
before it is known to be measured so (a battery in volts, a temperature in degrees), else it counts only where it fits
the unit asked for.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Final

from likewise.units.lookup import any_unit, find_unit
from likewise.units.table import EVERYDAY
from likewise.units.unit import Unit

Stated = tuple[Unit, bool]

# What is measured, in the short and long words of names, and in which dimensions.
MEASURED: Final[dict[str, frozenset[str]]] = {
    word: frozenset(dimensions.split(","))
    for words, dimensions in (
        ("t temp tmp temperature dewpt dewpoint dew windchill feelslike heatindex wetbulb", "temperature"),
        ("bat batt battery vbat vcc vdd volt voltage supply u", "voltage"),
        ("curr current i", "current"),
        ("wind gust windspeed windgust speed velocity windavg", "speed"),
        ("press pressure baro barom barometer baromrel baromabs", "pressure"),
        (
            "rain rainfall precip precipitation rainrate dailyrain hourlyrain eventrain weeklyrain monthlyrain"
            " yearlyrain totalrain",
            "length,density of flow",
        ),
        ("hum humidity rh moisture soilmoisture battery batt bat level charge soc", "ratio"),
        ("power pwr pow apparent active reactive", "power,apparent power,reactive power"),
        ("energy consumption", "energy,reactive energy"),
        ("dist distance height depth alt altitude range clearance", "length"),
        ("weight mass", "mass"),
        ("freq frequency", "frequency"),
        ("illuminance light luminosity brightness", "illuminance"),
        ("solarradiation solar irradiance radiation", "irradiance"),
        ("co no2 o3 so2 co2 pm10 pm25 pm1 voc tvoc ch4 nh3 h2s", "ratio,concentration"),
        ("time duration uptime interval age period", "time"),
        ("volume", "volume"),
        ("flow", "flow"),
        ("noise sound spl", "sound level"),
        ("rssi snr signal", "signal level"),
        ("angle dir direction heading winddir bearing", "angle"),
    )
    for word in words.split()
}
_ALSO: Final = {word: MEASURED[word] | {"voltage", "ratio"} for word in ("bat", "batt", "battery")}
MEASURED.update(_ALSO)
# Words that say at the end of a name in plain words what is measured, whatever stands before; and some units of it.
CERTAIN: Final[dict[str, tuple[frozenset[str], str]]] = {
    "temperature": (frozenset({"temperature"}), "degC, degF or K"),
    "voltage": (frozenset({"voltage"}), "V or mV"),
    "illuminance": (frozenset({"illuminance"}), "lx"),
    "energy": (frozenset({"energy", "apparent energy", "reactive energy"}), "kWh or J"),
}
_OTHER_SENSE: Final = frozenset({"colour", "color", "noise", "specific", "dose"})  # a colour temperature in mired
PLACES: Final = ("in", "out", "indoor", "outdoor", "ext", "int", "max", "min", "avg", "mean")

# A word of an identifier: an acronym (or several: MACs), a capitalised or lower-case word, or digits.
_UPPER: Final = "A-ZÀ-ÖØ-Þ"
_LOWER: Final = "a-zß-öø-ÿāăąćčďđēęěğīįłńňőœřśşšţťūůűųźżž"
_WORD: Final = re.compile(rf"[{_UPPER}]+s?(?![{_LOWER}])|[{_UPPER}]?[{_LOWER}]+|\d+|°[CF]|%")
_SIGNS: Final = ("°C", "°F", "%")
_SUFFIX_SYMBOLS: Final = "cfvw"  # others end too many words: `timed`, `messages`
_SHORTEST_GLUED: Final = 3  # letters of what is measured before a unit that is glued on


def _in_names() -> dict[str, tuple[Stated, ...]]:
    table: dict[str, tuple[Stated, ...]] = {}
    for row in EVERYDAY:
        parsed_unit = find_unit(row.symbol)
        assert parsed_unit is not None  # every symbol of the table is a spelling of its unit
        for name in row.names:
            table[name.lower()] = (*table.get(name.lower(), ()), (parsed_unit, name.islower()))
    for sign in _SIGNS:
        parsed_unit = find_unit(sign)
        assert parsed_unit is not None
        table[sign.lower()] = ((parsed_unit, True),)
    return table


_IN_NAMES: Final = _in_names()


@lru_cache(maxsize=65_536)
def units_in_name(attribute: str) -> tuple[Stated, ...]:
    """Return the units that an attribute's name may state, and whether each is certain, the last one first.

    >>> [(u.symbol, sure) for u, sure in units_in_name("air_temp_f")]
    [('degF', True)]
    >>> [(u.symbol, sure) for u, sure in units_in_name("wind_avg_km_h")]
    [('km/h', True)]
    >>> [u.symbol for name in ("BatV", "tempf", "windspeedmph") for u, _ in units_in_name(name)]
    ['V', 'degF', 'mph']
    >>> units_in_name("temperature"), [(u.symbol, sure) for u, sure in units_in_name("phase_a")]
    ((), [('A', False)])
    """
    units: list[Stated] = []
    words = list(_WORD.finditer(attribute))
    end = len(words)
    counted = end > 1 and words[-2].group().lower() in _COUNTED  # `mg_l`
    if end > 1 and words[-1].group() in ("l", "L") and words[-2].end() < words[-1].start() and not counted:
        litres = find_unit("l")  # one letter may stand for much: as the last word alone, where it fits what is asked
        units += [(litres, False)] if litres is not None else []
        end -= 1
    while end > 0:
        if end > 1 and words[end - 2].end() == words[end - 1].start():  # `batterymV` is cut into `batterym` and `V`
            joined = _glued((words[end - 2].group() + words[end - 1].group()).lower(), shortest=2)
            if joined:
                units += joined
                end -= 2
                continue
        for width in (3, 2, 1):  # `km_h` before `h`, `kPa` (which is cut into `k` and `Pa`) before `Pa`
            start = end - width
            if start < 1:  # the first word is the thing measured, never its unit
                continue
            hits = _prefixed(words, start, end) or _IN_NAMES.get(_spelling(words[start:end])) or _per(words, start, end)
            if hits is not None:
                if _is_place(words, start):
                    units += [(each, False) for each, _ in hits]
                elif not _is_rate(words, start, end):
                    units += _with_measured(hits, words[start - 1].group())
                end = start
                break
        else:
            end -= 1
            units += _glued(words[end].group().lower())
    return tuple(units)


def _prefixed(words: list[re.Match[str]], start: int, end: int) -> tuple[Stated, ...]:
    """Return a unit whose metric prefix is case-sensitive: `power_MW` is no milliwatt, `energy_GWh` no watt-hour."""
    text = "".join(word.group() for word in words[start:end])
    if end - start == 2 and words[start].end() == words[start + 1].start() and len(words[start].group()) == 1:
        known, parsed_unit = _IN_NAMES.get(words[start + 1].group().lower()), any_unit(text)
    elif end - start == 1 and len(text) > 1 and text[0] == "M" and not words[start].string.isupper():
        if words[start - 1].end() == words[start].start():
            return ()  # `powerMW`: the capital may be that of a word
        known, parsed_unit = _IN_NAMES.get(text.lower()), find_unit(text)
    else:
        return ()
    fits = (
        known is not None
        and parsed_unit is not None
        and any(each.dimension == parsed_unit.dimension for each, _ in known)
    )
    return ((parsed_unit, True),) if parsed_unit is not None and fits else ()


# What a unit of two parts counts, and per what: `mg_l`, `MgL`, `mgl`, `l_min`, `mm_s`, `m3_h`.
_COUNTED: Final = frozenset({"mg", "ug", "ng", "g", "kg", "l", "ml", "m3", "mm", "m", "km", "gal"})
_PER: Final = frozenset({"l", "dl", "min", "h", "s", "d", "m3", "m2"})
_TURNS: Final = frozenset({"tr", "giri", "rev", "revs", "turns", "omw", "rot"})  # per minute: `regime_tr_min`
_JOINED: Final = {
    f"{counted}{per}": f"{counted}/{per}"
    for pairs in ("mg,ug,ng l", "mg dl", "l,ml min", "m3 h,s", "mg,ug,ng m3")
    for counted in pairs.split()[0].split(",")
    for per in pairs.split()[1].split(",")
} | {"lph": "l/h", "lps": "l/s", "gpm": "gal/min", "kgh": "kg/h", "mms": "mm/s", "cms": "cm/s", "kt": "kn"}
_TORQUE: Final = {"Nm": "N.m", "kNm": "kN.m"}  # `nm` are nanometres


def _per(words: list[re.Match[str]], start: int, end: int) -> tuple[Stated, ...] | None:
    """Return a unit per another one that the table has no name for, in the words from `start` to `end`; else None."""
    last = words[end - 1].group().lower()
    text = "".join(word.group() for word in words[start:end]).lower()
    if end - start > 1:
        counted = text.removesuffix(last)
        spelled = f"{counted}/{last}" if counted in _COUNTED and last in _PER else ""
        spelled = "rpm" if counted in _TURNS and last == "min" else spelled
    else:
        spelled = _TORQUE.get(words[start].group()) or _JOINED.get(text, "")
    found = any_unit(spelled) if spelled else None
    return ((found, True),) if found is not None else None


def _is_place(words: list[re.Match[str]], start: int) -> bool:
    """Return whether a unit gives a height, depth or length, not the reading's unit: `temp_10cm`."""
    number = words[start - 1]
    alone = start < 2 or words[start - 2].end() < number.start()
    return number.group().isdigit() and number.end() == words[start].start() and alone


def _with_measured(hits: tuple[Stated, ...], before: str) -> list[Stated]:
    """Return the units of a spelling after a word: those that fit the word are certain; those that do not, never."""
    dimensions = _measured(before.lower())
    fit = [(candidate, True) for candidate, _ in hits if candidate.dimension in dimensions]
    return fit or [(candidate, sure and not dimensions) for candidate, sure in hits]


def _measured(word: str) -> frozenset[str]:
    """Return the dimensions in which a word is measured; a joined word (`windspeed`, `tempin`) has those of a part."""
    dimensions = MEASURED.get(word)
    if dimensions is not None:
        return dimensions
    for place in PLACES:
        if word.endswith(place) and (dimensions := MEASURED.get(word.removesuffix(place))):
            return dimensions
    for cut in range(_SHORTEST_GLUED, len(word) - 3):  # `soiltemp`, `outdoortemp`
        if dimensions := MEASURED.get(word[cut:]):
            return dimensions
    return frozenset()


def _glued(word: str, shortest: int = 1) -> list[Stated]:
    """Return the unit at the end of one word, if the part before it is measured in it."""
    for cut in range(_SHORTEST_GLUED, len(word) - shortest + 1):  # the longest unit first
        hits = _IN_NAMES.get(word[cut:])
        if hits is not None and (len(word) - cut > 1 or word[-1] in _SUFFIX_SYMBOLS):
            dimensions = _measured(word[:cut])
            fit = [(candidate, True) for candidate, _ in hits if candidate.dimension in dimensions]
            if fit and word not in MEASURED:
                return fit
    return []


def measured_dimensions(attribute: str) -> frozenset[str]:
    """Return the dimensions in which the words of a name are measured.

    >>> sorted(measured_dimensions("outdoor_temp")), sorted(measured_dimensions("door"))
    (['temperature'], [])
    """
    return frozenset().union(*(_measured(word.group().lower()) for word in _WORD.finditer(attribute)))


def unfit_unit(attribute: str, symbol: str) -> tuple[str, str] | None:
    """Return the kind of reading that a name asks for, and units of it, if a unit certainly measures something else.

    >>> unfit_unit("air temperature", "kW"), unfit_unit("temperature", "K"), unfit_unit("temperature alarm", "kW")
    (('temperature', 'degC, degF or K'), None, None)
    """
    words = attribute.lower().split()
    dimensions, units = CERTAIN.get(words[-1], (frozenset[str](), "")) if words else (frozenset[str](), "")
    measured = find_unit(symbol)
    if not dimensions or measured is None or measured.dimension in dimensions or _OTHER_SENSE.intersection(words):
        return None
    return words[-1], units


def _is_rate(words: list[re.Match[str]], start: int, end: int) -> bool:
    """Return whether words are half of a rate, which the table lacks: `pulses_per_kwh`, `GallonsPerTap`."""
    return "per" in {word.group().lower() for word in words[start - 1 : start] + words[end : end + 1]}


def _spelling(words: list[re.Match[str]]) -> str:
    """Return words of a name in the table's spelling: adjacent ones joined, others with `_` between."""
    text = words[0].group()
    for before, word in pairwise(words):
        text += word.group() if word.start() == before.end() else "_" + word.group()
    return text.lower()
