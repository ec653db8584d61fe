"""Write `src/likewise/model/unit_table.py` from the list below; pint computes the factors and offsets.

    python tools/make_unit_table.py            write the table
    python tools/make_unit_table.py --check    fail if the table on disk differs

A row: symbol, dimension, pint expression, further spellings in text, spellings inside identifiers.
An identifier spelling in UPPER CASE marks a weak one (a single letter that is often no unit): it counts
only if it fits the unit asked for.
"""

from __future__ import annotations

import sys
from pathlib import Path

BASES = {
    "temperature": "kelvin", "length": "meter", "speed": "meter/second", "time": "second", "mass": "kilogram",
    "pressure": "pascal", "energy": "joule", "power": "watt", "voltage": "volt", "current": "ampere",
    "charge": "coulomb", "frequency": "hertz", "ratio": "dimensionless", "concentration": "kilogram/meter**3",
    "volume": "meter**3", "flow": "meter**3/second", "area": "meter**2", "angle": "radian",
    "illuminance": "lux", "irradiance": "watt/meter**2", "acceleration": "meter/second**2", "force": "newton",
    "resistance": "ohm", "capacitance": "farad", "conductivity": "siemens/meter", "data": "bit",
    "data rate": "bit/second", "rotation": "radian/second", "apparent power": "volt*ampere",
    "photon flux": "mole/meter**2/second", "magnetic flux density": "tesla", "sound level": "1", "signal level": "1",
    "acidity": "1", "angular acceleration": "radian/second**2", "radioactivity": "becquerel",
    "dose rate": "sievert/second",
    "density of flow": "meter/second", "reactive power": "volt*ampere", "reactive energy": "volt*ampere*second",
}  # fmt: skip

UNITS = """
degC | temperature | degC | °C ℃ ºC C Cel celsius centigrade deg_C degrees_celsius | degc celsius C
degF | temperature | degF | °F ℉ ºF F [degF] fahrenheit deg_F degrees_fahrenheit | degf fahrenheit F
K | temperature | kelvin | kelvin kelvins | kelvin K
m | length | meter | meter meters metre metres | meters metres M
km | length | kilometer | kilometer kilometers kilometre kilometres | km
cm | length | centimeter | centimeter centimeters centimetre centimetres | cm
mm | length | millimeter | millimeter millimeters millimetre millimetres | mm
um | length | micrometer | µm μm micron microns | um
inch | length | inch | in inches | inch inches
ft | length | foot | feet foot | ft feet
yd | length | yard | yard yards |
mi | length | mile | mile miles | miles mi
m/s | speed | meter/second | mps m_s metres_per_second meters_per_second | mps m_s
mm/s | speed | millimeter/second | |
km/h | speed | kilometer/hour | kmh kph kmph km/hr | kmh kph km_h kmph
mph | speed | mile/hour | mi/h | mph mi_h
kn | speed | knot | knot knots kt | knots knot kn kts
ft/s | speed | foot/second | fps |
mm/h | density of flow | millimeter/hour | mm/hr mmh | mm_h mmh
in/h | density of flow | inch/hour | in/hr | in_h
s | time | second | sec secs second seconds | sec secs seconds S
ms | time | millisecond | millisecond milliseconds msec | ms msec
us | time | microsecond | µs μs microsecond microseconds |
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
inHg | pressure | inHg | | inhg
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
Bq/m3 | radioactivity | becquerel | Bq/m³ Bq/m^3 | bqm3 bq_m3
uSv/h | dose rate | microsievert/hour | µSv/h μSv/h | usv_h usvh
dB | sound level | 1 | decibel decibels dBA dB(A) | db dba
dBm | signal level | 1 | | dbm
pH | acidity | 1 | |
"""

HEADER = '''"""Units: symbol, dimension, factor and offset to the dimension's base, and spellings.

Written by tools/make_unit_table.py, where pint computes every factor and offset; do not edit.
"""

# fmt: off
ROWS: tuple[tuple[str, str, float, float, str, str], ...] = (
'''


def rows() -> list[tuple[str, str, float, float, str, str]]:
    """Each unit with what pint says of it."""
    import pint

    registry: pint.UnitRegistry[float] = pint.UnitRegistry(autoconvert_offset_to_baseunit=True)
    table = []
    for line in UNITS.strip().splitlines():
        symbol, dimension, expression, spellings, names = (part.strip() for part in line.split("|"))
        if BASES[dimension] == "1":  # logarithmic or conventional scales: compared as they stand
            factor, offset = 1.0, 0.0
        else:
            unit, base = registry.parse_expression(expression), BASES[dimension]
            if dimension == "temperature":
                offset = registry.Quantity(0, unit.units).to(base).magnitude
                factor = registry.Quantity(1, "delta_" + expression if offset else expression).to(base).magnitude
            else:
                offset = 0.0
                factor = registry.Quantity(1, unit.units).to(base).magnitude * unit.magnitude
        table.append((symbol, dimension, float(f"{factor:.15g}"), float(f"{offset:.15g}"), spellings, names))
    return table


def main() -> int:
    """Write the table, or compare it with what is on disk."""
    path = Path(__file__).parents[1] / "src" / "likewise" / "model" / "unit_table.py"
    text = HEADER + "".join(f"    {row!r},\n" for row in rows()) + ")\n"
    if "--check" in sys.argv[1:]:
        return 0 if path.read_text(encoding="utf-8") == text else 1
    path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
