"""Write the table of units; pint computes every factor and offset, exactly, as fractions.

    python -m tools.make_unit_table            write the table
    python -m tools.make_unit_table --check    fail if the table on disk differs

`src/likewise/data/units.tsv` begins with the everyday units, listed below. A row: symbol, dimension, pint expression,
further spellings in text, spellings inside identifiers. An identifier spelling in UPPER CASE marks a weak one (a
single letter that is often no unit): it counts if what is measured or the unit asked for fits it.

All others follow: prefixes by rule, and what QUDT lists (see `qudt_units`), with UCUM's and UN/CEFACT's codes. They
need QUDT's vocabulary of units: `--qudt FILE`, by default where `LIKEWISE_QUDT` says; without it they stay as they are.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from likewise.units.table import FILE, OTHERS, EverydayUnit
from tools.qudt_units import LISTED, QudtUnit, own_kind, pint_expression, read_qudt

if TYPE_CHECKING:
    import pint

BASES = {
    "temperature": "kelvin",
    "temperature difference": "kelvin",
    "length": "meter",
    "speed": "meter/second",
    "time": "microsecond",
    "mass": "kilogram",
    "pressure": "pascal",
    "energy": "joule",
    "power": "watt",
    "voltage": "volt",
    "current": "ampere",
    "charge": "coulomb",
    "frequency": "hertz",
    "ratio": "dimensionless",
    "concentration": "kilogram/meter**3",
    "volume": "meter**3",
    "flow": "meter**3/second",
    "area": "meter**2",
    "angle": "radian",
    "illuminance": "lux",
    "irradiance": "watt/meter**2",
    "acceleration": "meter/second**2",
    "force": "newton",
    "resistance": "ohm",
    "capacitance": "farad",
    "conductivity": "siemens/meter",
    "data": "bit",
    "data rate": "bit/second",
    "rotation": "radian/second",
    "apparent power": "volt*ampere",
    "photon flux": "mole/meter**2/second",
    "magnetic flux density": "tesla",
    "sound level": "1",
    "signal level": "1",
    "acidity": "1",
    "angular acceleration": "radian/second**2",
    "radioactivity": "becquerel",
    "radioactivity concentration": "becquerel/meter**3",
    "torque": "newton*meter",
    "dose rate": "sievert/second",
    "density of flow": "meter/second",
    "reactive power": "volt*ampere",
    "reactive energy": "volt*ampere*second",
}

UNITS = """
degC | temperature | degC | °C ℃ ºC C Cel celsius centigrade deg_C degrees_celsius | degc celsius C
degF | temperature | degF | °F ℉ ºF F [degF] fahrenheit deg_F degrees_fahrenheit | degf fahrenheit F
K | temperature | kelvin | kelvin kelvins | kelvin K
degR | temperature | degR | °R [degR] rankine |
delta_degC | temperature difference | delta_degC | delta_degC Δ°C ΔC Δ_°C delta_C delta_celsius delta_K ΔK | deltac
delta_degF | temperature difference | delta_degF | delta_degF Δ°F ΔF Δ_°F delta_F delta_fahrenheit | deltaf
m | length | meter | meter meters metre metres | meters metres M
km | length | kilometer | kilometer kilometers kilometre kilometres | km
cm | length | centimeter | centimeter centimeters centimetre centimetres | cm
mm | length | millimeter | millimeter millimeters millimetre millimetres | mm
um | length | micrometer | µm μm micron microns | um
inch | length | inch | in inches | inch inches IN
ft | length | foot | feet foot | ft feet
yd | length | yard | yard yards |
mi | length | mile | mile miles | miles mi
m/s | speed | meter/second | mps m_s metres_per_second meters_per_second | mps m_s MS
mm/s | speed | millimeter/second | |
km/h | speed | kilometer/hour | kmh kph kmph km/hr | kmh kph km_h kmph
mph | speed | mile/hour | mi/h | mph mi_h
kn | speed | knot | knot knots kt | knots knot kn kts
ft/s | speed | foot/second | fps |
mm/h | density of flow | millimeter/hour | mm/hr mmh | mm_h mmh
in/h | density of flow | inch/hour | in/hr | in_h
us | time | microsecond | µs μs microsecond microseconds |
s | time | second | sec secs second seconds | sec secs seconds S
ms | time | millisecond | millisecond milliseconds msec | ms msec
min | time | minute | minute minutes mins | mins minutes
h | time | hour | hr hrs hour hours | hours hrs H
d | time | day | day days | days D
wk | time | week | week weeks | weeks
kg | mass | kilogram | kilogram kilograms kilo kilos | kg
g | mass | gram | gram grams | grams G
mg | mass | milligram | milligram milligrams | mg
t | mass | metric_ton | tonne tonnes |
lb | mass | pound | lbs pound pounds | lbs lb
oz | mass | ounce | ounce ounces |
Pa | pressure | pascal | pascal pascals | pa pascal
hPa | pressure | hectopascal | hectopascal hectopascals | hpa
kPa | pressure | kilopascal | kilopascal kilopascals | kpa
MPa | pressure | megapascal | megapascal |
bar | pressure | bar | bars | BAR
mbar | pressure | millibar | millibar millibars | mbar
psi | pressure | psi | | psi
mmHg | pressure | mmHg | torr | mmhg
inHg | pressure | inHg | | inhg IN
atm | pressure | atm | atmosphere atmospheres |
J | energy | joule | joule joules | joule joules
kJ | energy | kilojoule | kilojoule kilojoules | kj
MJ | energy | megajoule | megajoule megajoules |
GJ | energy | gigajoule | gigajoule gigajoules |
Wh | energy | watt*hour | watt_hour watt_hours watthour | wh
kWh | energy | kilowatt*hour | kilowatt_hour kilowatt_hours kilowatthour | kwh
MWh | energy | megawatt*hour | megawatt_hour megawatt_hours |
cal | energy | calorie | calorie calories |
kcal | energy | kilocalorie | kilocalorie kilocalories | kcal
BTU | energy | Btu | btu |
W | power | watt | watt watts | watt watts W
kW | power | kilowatt | kilowatt kilowatts | kw
MW | power | megawatt | megawatt megawatts |
mW | power | milliwatt | milliwatt milliwatts | mw
hp | power | horsepower | horsepower |
VA | apparent power | volt*ampere | voltampere | va
kVA | apparent power | kilovolt*ampere | | kva
var | reactive power | volt*ampere | VAr VAR |
kvar | reactive power | kilovolt*ampere | kVAr kVAR | kvar
varh | reactive energy | volt*ampere*hour | VArh VARh | varh
kvarh | reactive energy | kilovolt*ampere*hour | kVArh kVARh | kvarh
V | voltage | volt | volt volts | volt volts V
mV | voltage | millivolt | millivolt millivolts | mv millivolt millivolts
kV | voltage | kilovolt | kilovolt kilovolts | kv
uV | voltage | microvolt | µV μV microvolt microvolts |
A | current | ampere | amp amps ampere amperes | amp amps A
mA | current | milliampere | milliamp milliamps milliampere milliamperes | MA milliamp
uA | current | microampere | µA μA microamp microamps |
Ah | charge | ampere*hour | amp_hour amp_hours |
mAh | charge | milliampere*hour | | mah
Hz | frequency | hertz | hertz | hz hertz
kHz | frequency | kilohertz | kilohertz | khz
MHz | frequency | megahertz | megahertz | mhz
GHz | frequency | gigahertz | gigahertz | ghz
rpm | rotation | revolution/minute | | rpm
% | ratio | percent | percent pct %RH per_cent percentage | percent pct percentage
ppm | ratio | ppm | | ppm
ppb | ratio | 1e-9 | | ppb
permille | ratio | permille | ‰ |
ug/m3 | concentration | microgram/meter**3 | µg/m3 μg/m3 µg/m³ μg/m³ ug/m³ ug/m^3 µg/m^3 | ugm3 ug_m3
mg/m3 | concentration | milligram/meter**3 | mg/m³ mg/m^3 | mgm3 mg_m3
g/m3 | concentration | gram/meter**3 | g/m³ g/m^3 | gm3 g_m3
mg/l | concentration | milligram/liter | mg/L |
g/l | concentration | gram/liter | g/L |
l | volume | liter | L liter liters litre litres | liter liters litre litres
ml | volume | milliliter | mL milliliter milliliters millilitre millilitres | ml
m3 | volume | meter**3 | m³ m^3 cbm cubic_meter cubic_meters cubic_metre cubic_metres | M3
ft3 | volume | foot**3 | ft³ ft^3 cubic_feet cubic_foot | ft3
gal | volume | gallon | gallon gallons | gallon gallons
l/s | flow | liter/second | L/s |
l/min | flow | liter/minute | L/min lpm | lpm l_min
l/h | flow | liter/hour | L/h | l_h
m3/h | flow | meter**3/hour | m³/h m^3/h | m3h m3_h
m3/s | flow | meter**3/second | m³/s m^3/s |
m3/min | flow | meter**3/minute | m³/min m^3/min |
gpm | flow | gallon/minute | gal/min gallons/min | gpm
m2 | area | meter**2 | m² m^2 sqm | M2 sqm
km2 | area | kilometer**2 | km² km^2 |
ha | area | hectare | hectare hectares |
deg | angle | degree | ° degree degrees | deg degrees
rad | angle | radian | radian radians | rad
lx | illuminance | lux | lux | lux lx
W/m2 | irradiance | watt/meter**2 | W/m² W/m^2 | wm2 w_m2
umol/m2/s | photon flux | micromole/meter**2/second | µmol/m²/s μmol/m²/s umol/m²/s µmol/m2/s |
m/s2 | acceleration | meter/second**2 | m/s² m/s^2 | mps2 m_s2
mgn | acceleration | 9.80665e-3*meter/second**2 | milli_g |
gn | acceleration | 9.80665*meter/second**2 | g0 |
N | force | newton | newton newtons | newton newtons
kN | force | kilonewton | kilonewton kilonewtons |
ohm | resistance | ohm | Ω ohms | ohm ohms
kohm | resistance | kiloohm | kΩ kiloohm | kohm
Mohm | resistance | megaohm | MΩ megaohm |
uF | capacitance | microfarad | µF μF microfarad |
nF | capacitance | nanofarad | nanofarad |
pF | capacitance | picofarad | picofarad |
uS/cm | conductivity | microsiemens/centimeter | µS/cm μS/cm | uscm us_cm
mS/cm | conductivity | millisiemens/centimeter | | mscm ms_cm
dS/m | conductivity | decisiemens/meter | |
S/m | conductivity | siemens/meter | |
uT | magnetic flux density | microtesla | µT μT microtesla |
mT | magnetic flux density | millitesla | millitesla |
bit | data | bit | bits |
B | data | byte | byte bytes | BYTE BYTES
kB | data | kilobyte | KB kilobyte kilobytes | KB
MB | data | megabyte | megabyte megabytes | MB
GB | data | gigabyte | gigabyte gigabytes | GB
kbit/s | data rate | kilobit/second | kbps | kbps
Mbit/s | data rate | megabit/second | Mbps | mbps
Bq/m3 | radioactivity concentration | becquerel/meter**3 | Bq/m³ Bq/m^3 | bqm3 bq_m3
uSv/h | dose rate | microsievert/hour | µSv/h μSv/h | usv_h usvh
dB | sound level | 1 | decibel decibels dBA dB(A) | db dba
dBm | signal level | 1 | | dbm
pH | acidity | 1 | |
"""

# Units that take prefixes: symbol, dimension, pint's name, names in words.
PREFIXED = """
m | length | meter | metre meter
g | mass | gram | gram gramme
s | time | second | second
A | current | ampere | ampere amp
K | temperature difference | delta_degC | kelvin
mol | amount of substance | mole | mole
cd | luminous intensity | candela | candela
Hz | frequency | hertz | hertz
N | force | newton | newton
Pa | pressure | pascal | pascal
J | energy | joule | joule
W | power | watt | watt
coulomb | charge | coulomb | coulomb
V | voltage | volt | volt
farad | capacitance | farad | farad
ohm | resistance | ohm | ohm
S | conductance | siemens | siemens
Wb | magnetic flux | weber | weber
T | magnetic flux density | tesla | tesla
henry | inductance | henry | henry
lm | luminous flux | lumen | lumen
lx | illuminance | lux | lux
Bq | radioactivity | becquerel | becquerel
Gy | absorbed dose | gray | gray
Sv | dose equivalent | sievert | sievert
l | volume | liter | litre liter
bar | pressure | bar | bar
eV | energy | electron_volt | electronvolt
Wh | energy | watt*hour | watt_hour watthour
VA | apparent power | volt*ampere | voltampere volt_ampere
var | reactive power | volt*ampere | var
varh | reactive energy | volt*ampere*hour | varh
Ah | charge | ampere*hour | ampere_hour amp_hour
B | data | byte | byte
bit | data | bit | bit
bit/s | data rate | bit/second | bit_per_second
B/s | data rate | byte/second | byte_per_second
cal | energy | calorie | calorie
t | mass | metric_ton | tonne
g/m3 | concentration | gram/meter**3 | gram_per_cubic_metre gram_per_cubic_meter
g/l | concentration | gram/liter | gram_per_litre gram_per_liter
mol/m2/s | photon flux | mole/meter**2/second |
W/m2 | irradiance | watt/meter**2 | watt_per_square_metre watt_per_square_meter
S/m | conductivity | siemens/meter | siemens_per_metre siemens_per_meter
S/cm | conductivity | siemens/centimeter | siemens_per_centimetre siemens_per_centimeter
Sv/h | dose rate | sievert/hour | sievert_per_hour
Gy/h | absorbed dose rate | gray/hour | gray_per_hour
Bq/m3 | radioactivity concentration | becquerel/meter**3 |
Bq/l | radioactivity concentration | becquerel/liter |
"""
SYMBOLS = {
    -30: "q",
    -27: "r",
    -24: "y",
    -21: "z",
    -18: "a",
    -15: "f",
    -12: "p",
    -9: "n",
    -6: "u",
    -3: "m",
    -2: "c",
    -1: "d",
    1: "da",
    2: "h",
    3: "k",
    6: "M",
    9: "G",
    12: "T",
    15: "P",
    18: "E",
    21: "Z",
    24: "Y",
    27: "R",
    30: "Q",
}
WORDS = {
    -30: "quecto",
    -27: "ronto",
    -24: "yocto",
    -21: "zepto",
    -18: "atto",
    -15: "femto",
    -12: "pico",
    -9: "nano",
    -6: "micro",
    -3: "milli",
    -2: "centi",
    -1: "deci",
    1: "deca",
    2: "hecto",
    3: "kilo",
    6: "mega",
    9: "giga",
    12: "tera",
    15: "peta",
    18: "exa",
    21: "zetta",
    24: "yotta",
    27: "ronna",
    30: "quetta",
}
COMMON = frozenset((-12, -9, -6, -3, 3, 6, 9, 12))  # prefixes whose symbols are read in any text
BINARY = {"Ki": 1024, "Mi": 1024**2, "Gi": 1024**3, "Ti": 1024**4, "Pi": 1024**5}
TIMES_OF_DAY = frozenset(("am", "pm", "as", "at"))  # `5 pm` is no length, `5 as` no time

BASES |= {
    "amount of substance": "mole",
    "luminous intensity": "candela",
    "conductance": "siemens",
    "magnetic flux": "weber",
    "inductance": "henry",
    "luminous flux": "lumen",
    "absorbed dose": "gray",
    "dose equivalent": "sievert",
    "absorbed dose rate": "gray/second",
    "solid angle": "steradian",
    "count": "count",
}

# Kinds of QUDT that tell readings of one dimension vector apart.
APART = {
    "ApparentPower": "apparent power",
    "ReactivePower": "reactive power",
    "ReactiveEnergy": "reactive energy",
    "Activity": "radioactivity",
    "DataRate": "data rate",
    "ByteRate": "data rate",
    "BitRate": "data rate",
    "AngularVelocity": "rotation",
    "RotationalVelocity": "rotation",
    "RotationalFrequency": "rotation",
    "AbsorbedDose": "absorbed dose",
    "DoseEquivalent": "dose equivalent",
    "AbsorbedDoseRate": "absorbed dose rate",
    "Angle": "angle",
    "PlaneAngle": "angle",
    "SolidAngle": "solid angle",
    "InformationEntropy": "data",
    "DatasetOfBits": "data",
    "HeartRate": "heart rate",
    "RespiratoryRate": "respiratory rate",
    "VideoFrameRate": "frame rate",
    "RadiantIntensity": "radiant intensity",
    "Radiance": "radiance",
    "Luminance": "luminance",
    "EnergyDensity": "energy density",
    "MassRatio": "ratio",
    "VolumeFraction": "ratio",
    "AmountOfSubstanceFraction": "ratio",
    "DimensionlessRatio": "ratio",
    "PressureRatio": "ratio",
    "RelativeHumidity": "ratio",
    "AreaRatio": "ratio",
    "Gradient": "ratio",
    "SpecificHumidity": "ratio",
    "LuminousFlux": "luminous flux",
    "LuminousIntensity": "luminous intensity",
    "Illuminance": "illuminance",
    "MagnetomotiveForce": "current",
    "AngularAcceleration": "angular acceleration",
    "FloatingPointCalculationCapability": "computing speed",
}
TORQUES = frozenset(("Torque", "MomentOfForce"))
NOTHING = "A0E0L0I0M0H0T0D1"  # QUDT's vector of numbers without a dimension

HEADER = """\
# Units of measurement, written by tools/make_unit_table.py; do not edit. Lists are separated by semicolons.
# symbol, dimension, factor to the dimension's base, offset, spellings, spellings in names (in UPPER CASE one that may
# be no unit), codes that count beside a value only. First the everyday units: pint computes every factor and offset.
"""
OTHERS_HEADER = f"""\
{OTHERS}: prefixes by rule, and what QUDT lists, with UCUM's and UN/CEFACT's codes. Names, symbols and codes are
# facts of QUDT's vocabulary of units, Release 3.2.1 (https://qudt.org, CC BY 4.0); factors are pint's where pint has
# the unit, else QUDT's. A line without a dimension adds spellings and codes to an everyday unit.
"""


@cache
def registry() -> pint.UnitRegistry[Any]:
    """pint, with fractions for numbers."""
    import pint

    made: pint.UnitRegistry[Any] = pint.UnitRegistry(non_int_type=Fraction, autoconvert_offset_to_baseunit=True)
    return made


def exact(expression: str, dimension: str) -> tuple[Fraction, Fraction]:
    """Factor and offset from a pint expression to a dimension's base."""
    base = BASES[dimension]
    if base == "1":  # logarithmic or conventional scales: compared as they stand
        return Fraction(1), Fraction(0)
    if dimension == "temperature":
        offset = Fraction(registry().Quantity(Fraction(0), expression).to(base).magnitude)
        return Fraction(registry().Quantity(Fraction(1), expression).to(base).magnitude) - offset, offset
    found = registry().parse_expression(expression)
    return Fraction((found * Fraction(1)).to(base).magnitude), Fraction(0)


def rows() -> list[EverydayUnit]:
    """Each everyday unit with what pint says of it."""
    table = []
    for line in UNITS.strip().splitlines():
        symbol, dimension, expression, spellings, names = (part.strip() for part in line.split("|"))
        factor, offset = exact(expression, dimension)
        spelled = tuple(spelling.replace("_", " ") for spelling in spellings.split())
        table.append(EverydayUnit(symbol, dimension, str(factor), str(offset), spelled, tuple(names.split())))
    return table


class More(NamedTuple):
    """A unit of the second table while it is put together, or what it adds to an everyday one."""

    symbol: str
    dimension: str
    factor: Fraction
    everyday: bool
    spellings: dict[str, None]
    codes: dict[str, None]

    def line(self) -> str:
        """Its line of the table."""
        known = ("", "") if self.everyday else (self.dimension, str(self.factor))
        codes = [c for c in self.codes if c != self.symbol and c not in self.spellings]
        spelled = [s for s in self.spellings if s != self.symbol]
        return "\t".join((self.symbol, *known, "", ";".join(spelled), "", ";".join(codes)))


class Table:
    """Units by dimension and factor, so that none stands twice; everyday units first."""

    def __init__(self) -> None:
        from likewise.units.lookup import normalize_unit

        self.plain = normalize_unit
        self.units: dict[tuple[str, Fraction], More] = {}
        self.symbols: dict[str, More] = {}
        self.all: list[More] = []
        for symbol, dimension, factor, offset, spellings, _ in rows():
            more = More(symbol, dimension, Fraction(factor), True, {}, {})
            self.all.append(more)
            if offset == "0":
                self.units.setdefault((dimension, more.factor), more)
            for spelling in (symbol, *spellings):
                self.symbols.setdefault(self.plain(spelling), more)

    def add(
        self, symbol: str, dimension: str, factor: Fraction, spellings: Iterable[str], codes: Iterable[str]
    ) -> None:
        """A unit, or further spellings of one that is there."""
        more = self.symbols.get(self.plain(symbol))
        if more is None or more.factor != factor or more.dimension not in (dimension, "density of flow"):
            more = self.units.get((dimension, factor))
        if more is None:
            if self.plain(symbol) in self.symbols:
                named = (*codes, *spellings)  # QUDT's own name, else what it is called
                symbol = next(s for s in named if len(s) > 2 and _SYMBOL.fullmatch(s) and s not in self.symbols)
            more = self.units[dimension, factor] = More(symbol, dimension, factor, False, {}, {})
            self.all.append(more)
            self.symbols[self.plain(symbol)] = more
        for text in dict.fromkeys(map(self.plain, (symbol, *spellings))):
            if ";" in text or not text or text.isdigit():
                continue
            if (len(text) < 3 or text.casefold() in TIMES_OF_DAY) and text != more.symbol:
                more.codes[text] = None  # in a text it may be something else
            elif self.symbols.setdefault(text, more) is more:
                more.spellings[text] = None
            else:
                more.codes[text] = None
        more.codes.update(dict.fromkeys(self.plain(c) for c in codes if ";" not in c))


def add_prefixed(table: Table) -> None:
    """Prefixes by rule."""
    for line in PREFIXED.strip().splitlines():
        symbol, dimension, expression, names = (part.strip() for part in line.split("|"))
        size, _ = exact(expression, dimension)
        short = {"coulomb": "C", "farad": "F", "henry": "H"}.get(symbol, symbol)
        worded = [name.replace("_", " ") for name in names.split()]
        plural = [name + "s" for name in worded if not name.endswith(("s", "z", "x")) and " per " not in name]
        table.add(symbol, dimension, size, [*worded, *plural], [short])
        for power, letter in SYMBOLS.items():
            spelled = [WORDS[power] + name for name in (*worded, *plural)]
            own = f"{letter}{short}"
            factor = size * Fraction(10) ** power
            common = power in COMMON and own.casefold() not in TIMES_OF_DAY
            name = own if common or not spelled else spelled[0]
            if common:
                table.add(name, dimension, factor, spelled, ())
            elif spelled:
                table.add(name, dimension, factor, spelled, [own])
        if dimension in ("data", "data rate"):
            for letter, power in BINARY.items():
                table.add(f"{letter}{short}", dimension, size * power, (), ())


def dimension_of(unit: QudtUnit, defaults: dict[str, str], kinds: dict[str, str]) -> str:
    """The name of what a unit of QUDT measures; units of one name can be compared."""
    if TORQUES & set(unit.kinds) and "Energy" not in unit.kinds:
        return "torque"
    for kind, dimension in APART.items():
        if kind in unit.kinds:
            return dimension
    if unit.vector == NOTHING:
        numerator, per, denominator = unit.name.partition("-PER-")
        if per and "-" not in denominator and _leaf(numerator) == _leaf(denominator):
            return "ratio"
        return "count" if "Count" in unit.kinds else f"{unit.name} alone"
    return defaults.get(unit.vector) or kinds[unit.vector]


def _leaf(name: str) -> str:
    return re.sub(r"^(Pico|Nano|Micro|Milli|Centi|Deci|Kilo|Mega)", "", name)


def add_qudt(table: Table, path: Path) -> list[str]:
    """What QUDT lists; names of units where it and pint say different things."""
    from pint import DimensionalityError

    units = read_qudt(path)
    kinds = own_kind(units)
    defaults: dict[str, str] = {}
    by_base: dict[object, str] = {}
    for dimension, base in BASES.items():
        if base != "1":
            by_base.setdefault(registry().parse_expression(base).dimensionality, dimension)
    for unit in units:
        expression = pint_expression(unit.name)
        if expression is not None and unit.vector not in defaults:
            found = by_base.get(registry().parse_expression(expression).dimensionality)
            if found is not None:
                defaults[unit.vector] = found
    differing = []
    for unit in sorted(units, key=lambda u: (len(u.name), u.name)):
        symbol = next((s for s in unit.symbols if s.isascii() and _SYMBOL.fullmatch(s)), "")
        symbol = symbol or next((p for s in unit.symbols if _SYMBOL.fullmatch(p := table.plain(s))), unit.name)
        if len(symbol) < 3 and symbol not in table.symbols:
            symbol = unit.name
        codes = (unit.name, *unit.unece)
        spelled = (*unit.symbols, *unit.ucum, *(label.lower() for label in unit.labels))
        if unit.name in LISTED:
            if listed := LISTED[unit.name]:
                table.symbols[listed].codes.update(
                    dict.fromkeys(map(table.plain, (*codes, *unit.ucum, unit.labels[0].lower())))
                )
            continue
        if unit.multiplier == 0:  # a scale without a factor: compared with itself
            table.add(symbol, f"{unit.name} alone", Fraction(1), spelled, codes)
            continue
        dimension = dimension_of(unit, defaults, kinds)
        factor = unit.multiplier
        named = pint_expression(unit.name)
        if named is not None:
            measured = "temperature difference" if dimension == "temperature" else dimension  # none has an offset
            try:
                made = exact(named, measured)[0] if measured in BASES else _in_si(named)
            except DimensionalityError:  # a count has a dimension there and none here
                made = factor
            if dimension == "time":
                factor *= 1_000_000
            if (
                "BI" not in unit.name
                and "BYTE" not in unit.name
                and "OCTET" not in unit.name
                and abs(made - factor) > abs(factor) / 10**5
            ):
                differing.append(unit.name)
            factor = made
        elif dimension == "time":
            factor *= 1_000_000
        elif dimension == "data" or dimension == "data rate":
            factor = Fraction(factor / Fraction("0.69314718055994530942")).limit_denominator(
                10**6
            )  # QUDT counts in nats
        table.add(symbol, dimension, factor, spelled, codes)
    return differing


_SYMBOL = re.compile(r"(?!(?:in|under|or|and|not)(?: |\Z))[A-Za-z%][A-Za-z0-9_%./*^-]*(?:\.[A-Za-z0-9]+)*")


def _in_si(expression: str) -> Fraction:
    return Fraction((registry().parse_expression(expression) * Fraction(1)).to_base_units().magnitude)


def main() -> int:
    """Write the table, or compare it with what is on disk."""
    arguments = sys.argv[1:]
    given = arguments[arguments.index("--qudt") + 1] if "--qudt" in arguments else os.environ.get("LIKEWISE_QUDT", "")
    path = Path(FILE)
    before = path.read_text(encoding="utf-8")
    text = everyday_text() + (others_text(Path(given)) if given else before[before.index(OTHERS) :])
    if "--check" in arguments:
        return 0 if before == text else 1
    path.write_text(text, encoding="utf-8")
    return 0


def everyday_text() -> str:
    """The first part of the file."""
    lines = (
        "\t".join((row.symbol, row.dimension, row.factor, row.offset, ";".join(row.spellings), ";".join(row.names), ""))
        for row in rows()
    )
    return HEADER + "".join(f"{line}\n" for line in lines)


def others_text(path: Path) -> str:
    """The second part of the file."""
    table = Table()
    add_prefixed(table)
    for name in add_qudt(table, path):
        print(f"{name}: pint and QUDT differ; pint counts", file=sys.stderr)
    body = "".join(f"{more.line()}\n" for more in table.all if not more.everyday or more.spellings or more.codes)
    return OTHERS_HEADER + body


if __name__ == "__main__":
    sys.exit(main())
