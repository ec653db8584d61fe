"""What QUDT says of units (Release 3.2.1, CC BY 4.0, https://qudt.org): names, symbols, codes, kinds, multipliers.

Facts are taken from its vocabulary of units; the table made of them is ours. A unit's name says how it is made
(`KiloGM-PER-M3`), so pint, asked for `kilogram*meter**-3`, computes its factor exactly. Where pint has no such
unit, QUDT's own multiplier counts.
"""

from __future__ import annotations

import gzip
import re
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import NamedTuple

PREFIXES = {
    "Quecto": -30,
    "Ronto": -27,
    "Yocto": -24,
    "Zepto": -21,
    "Atto": -18,
    "Femto": -15,
    "Pico": -12,
    "Nano": -9,
    "Micro": -6,
    "Milli": -3,
    "Centi": -2,
    "Deci": -1,
    "Deca": 1,
    "Deka": 1,
    "Hecto": 2,
    "Kilo": 3,
    "Mega": 6,
    "Giga": 9,
    "Tera": 12,
    "Peta": 15,
    "Exa": 18,
    "Zetta": 21,
    "Yotta": 24,
    "Ronna": 27,
    "Quetta": 30,
    "Kibi": 1024,
    "Mebi": 1024**2,
    "Gibi": 1024**3,
    "Tebi": 1024**4,
    "Pebi": 1024**5,
    "Exbi": 1024**6,
    "Zebi": 1024**7,
    "Yobi": 1024**8,
}

# QUDT's name of a unit without prefix: pint's name. What is missing takes QUDT's multiplier.
_LEAVES = """
    M=meter SEC=second GM=gram HR=hour K=kelvin L=liter FT=foot MIN=minute IN=inch MOL=mole LB=pound LB_M=pound
    BAR=bar BAR_A=bar DAY=day PA=pascal PA_A=pascal W=watt J=joule N=newton A=ampere DEG_F=delta_degF C=coulomb
    LB_F=pound_force BTU_IT=british_thermal_unit YD=yard V=volt OHM=ohm BIT=bit DEG_C=delta_degC GAL_US=gallon
    GAL_UK=imperial_gallon GAL_IMP=imperial_gallon OZ=ounce OZ_M=ounce TONNE=metric_ton TON_Metric=metric_ton
    PSI=psi SR=steradian HZ=hertz BQ=becquerel S=siemens RAD=radian VA=volt_ampere POISE=poise HA=hectare
    EV=electron_volt GRAY=gray BYTE=byte OCTET=byte CAL_TH=calorie CAL=calorie VAR=volt_ampere SV=sievert H=henry
    T=tesla FARAD=farad DEG=degree DEG_R=delta_degF ERG=erg KAT=katal PDL=poundal SLUG=slug LM=lumen
    WB=weber MI=mile CD=candela DYN=dyne REV=revolution CI=curie WK=week ST=stokes QT_US=quart PINT_US=pint
    OZ_VOL_US=fluid_ounce GALILEO=galileo GRAIN=grain TORR=torr R=roentgen ANGSTROM=angstrom ATM=atmosphere
    BARN=barn LUX=lux G=standard_gravity REM=rem PERMILLE=permille PPM=ppm PERCENT=percent ARCMIN=arcminute
    ARCSEC=arcsecond MIN_Angle=arcminute DARCY=darcy MHO=siemens GAUSS=gauss KN=knot ARE=are ROD=rod FUR=furlong
    FATH=fathom CHAIN=chain LY=light_year PARSEC=parsec AU=astronomical_unit GON=grade GRAD=grade
    CARAT=carat OZ_TROY=troy_ounce PENNYWEIGHT=pennyweight DWT=pennyweight TON_SHORT=ton TON_US=ton TON_LONG=long_ton
    TON_UK=long_ton CWT_SHORT=hundredweight CWT_LONG=long_hundredweight TSP=teaspoon TBSP=tablespoon CUP_US=cup
    PK_US_DRY=peck BU_US_DRY=bushel BBL_US_PET=oil_barrel BBL=oil_barrel GI_US=gill YR=year
    OZ_F=ounce_force HP=horsepower NUM=count ONE=count UNITLESS=count
"""
LEAVES = dict(pair.split("=") for pair in _LEAVES.split())
# Units of these names have an offset, and are listed by hand.
LISTED = {"DEG_C": "degC", "DEG_F": "degF", "K": "K", "DEG_R": "degR", "MilliDEG_C": ""}
_TOKEN = re.compile(rf"({'|'.join(PREFIXES)})?(.+?)(\d*)")
_TEXTS = ("hasQuantityKind", "symbol", "altSymbol", "udunitsCode", "label", "ucumCode", "uneceCommonCode")
_UNIT = "http://qudt.org/vocab/unit/"
_SCHEMA = "http://qudt.org/schema/qudt/"


class QudtUnit(NamedTuple):
    """One unit as QUDT has it."""

    name: str
    multiplier: Fraction
    vector: str
    kinds: tuple[str, ...]
    symbols: tuple[str, ...]
    labels: tuple[str, ...]
    ucum: tuple[str, ...]
    unece: tuple[str, ...]


def read_qudt(path: Path) -> list[QudtUnit]:
    """Every unit that is not deprecated and no currency, by name."""
    import pyoxigraph as ox

    found: dict[str, dict[str, list[str]]] = {}
    deprecated: set[str] = set()
    with gzip.open(path) as file:
        for quad in ox.parse(file.read(), format=ox.RdfFormat.TURTLE):
            if not isinstance(quad.subject, ox.NamedNode) or not quad.subject.value.startswith(_UNIT):
                continue
            name, of = quad.subject.value[len(_UNIT) :], quad.predicate.value
            said = quad.object
            if isinstance(said, ox.BlankNode):
                continue
            text = said.value if isinstance(said, ox.Literal) else said.value.rsplit("/", 1)[-1]
            if of == _SCHEMA + "deprecated":
                deprecated.add(name)
            if isinstance(said, ox.Literal) and said.language not in (None, "en", "en-US"):
                continue
            found.setdefault(name, {}).setdefault(of.rsplit("/", 1)[-1].rsplit("#", 1)[-1], []).append(text)
    units = []
    for name, facts in sorted(found.items()):
        if name in deprecated or "currencyCode" in facts or "CCY_" in name or "conversionMultiplier" not in facts:
            continue
        texts = {key: tuple(sorted(set(facts.get(key, ())))) for key in _TEXTS}
        units.append(
            QudtUnit(
                name,
                Fraction(facts["conversionMultiplier"][0]),
                facts["hasDimensionVector"][0],
                texts["hasQuantityKind"],
                texts["symbol"] + texts["altSymbol"] + texts["udunitsCode"],
                texts["label"],
                texts["ucumCode"],
                texts["uneceCommonCode"],
            )
        )
    return units


@cache
def pint_expression(name: str) -> str | None:
    """What pint calls the unit QUDT calls so; None where some part of it has no name in pint.

    >>> pint_expression("KiloGM-PER-M3"), pint_expression("MicroPOISE"), pint_expression("PK_UK")
    ('1000*gram**1*meter**-3', '1/1000000*poise**1', None)
    """
    sign, parts, power = 1, [], Fraction(1)
    for token in name.split("-"):
        if token == "PER":
            sign = -1
            continue
        hit = _TOKEN.fullmatch(token)
        assert hit is not None
        prefix, leaf, exponent = hit.groups()
        if token in LEAVES:  # not cut: `PERCENT` is no hundredth of an `RCENT`
            prefix, leaf, exponent = None, token, ""
        if leaf not in LEAVES:
            return None
        size = sign * int(exponent or 1)
        if prefix:
            value = PREFIXES[prefix]
            power *= (Fraction(value) if value >= 1024 else Fraction(10) ** value) ** size
        parts.append(f"{LEAVES[leaf]}**{size}")
    factor = "" if power == 1 else f"{power}*"
    return factor + "*".join(parts)


def own_kind(units: Iterable[QudtUnit]) -> dict[str, str]:
    """For each dimension vector the kind most of its units have, in words."""
    counts: dict[str, Counter[str]] = {}
    for unit in units:
        counts.setdefault(unit.vector, Counter()).update(k for k in unit.kinds if k != "Unknown")
    return {
        vector: _words(min(found, key=lambda kind: (-found[kind], kind))) if found else vector
        for vector, found in counts.items()
    }


def _words(kind: str) -> str:
    """`ThermalConductivity` as `thermal conductivity`."""
    return " ".join(re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", kind)).lower()
