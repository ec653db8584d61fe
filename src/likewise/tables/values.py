"""The values of one column: a sample, the unit they are in, and their conversion as a whole."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, datetime
from fractions import Fraction
from math import log10
from statistics import median_low
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from likewise.model.values import Quantity, read_number
from likewise.semantics.concepts.customary import CustomaryUnit, customary_units
from likewise.tables.requested import RequestedColumn
from likewise.units import Unit, find_unit, reading_unit, unit
from likewise.units.lookup import stated_units
from likewise.units.names import MEASURED, PLACES
from likewise.units.stated import NOT_STATED
from likewise.units.table import EVERYDAY

if TYPE_CHECKING:
    from numpy.typing import NDArray

SAMPLE: Final = 200  # values that decide type, unit and range of a column
NUMERIC_SHARE: Final = 0.8  # share of a sample that must be numbers for a numeric column: gaps are often marked by text
MISSING_TEXTS: Final = NOT_STATED | {"nan", "nat", "---", "?", "*", "missing"}  # what loggers write for no value
# What a header says last: in brackets, or behind a sign.
_BRACKETS: Final = re.compile(r"[\[(]\s*([^\[\]()]+?)\s*[\])]\s*$")
_BEHIND: Final = re.compile(r"[\s_,;:|/-]\s*([^\s_,;:|]+)\s*$")
_EVERYDAY: Final = frozenset(row.symbol for row in EVERYDAY)
_COMMA: Final = re.compile(r"[-+]?(\d+)((?:,\d+)+)(\.\d+)?(?![\d.,])")
PLAUSIBLE_SHARE: Final = 0.8  # share that must lie in the range of what is requested: sensors fail now and then


class Sample(NamedTuple):
    """Values of a column that stand for it: numbers with the units that texts state, or other values."""

    numbers: tuple[tuple[float, str], ...]
    others: tuple[object, ...]

    @property
    def is_numeric(self) -> bool:
        """Return whether the values are numbers."""
        return len(self.numbers) >= NUMERIC_SHARE * (len(self.numbers) + len(self.others)) and bool(self.numbers)

    @property
    def is_empty(self) -> bool:
        """Return whether the column has no values."""
        return not self.numbers and not self.others

    def typical(self) -> object:
        """Return a value that stands for the column: the median of numbers, else the first value."""
        if self.is_numeric:
            return median_low(number for number, _ in self.numbers)
        return self.others[0] if self.others else None


def sample(values: NDArray[Any], size: int = SAMPLE) -> Sample:
    """Return values of a column, evenly spread over its rows, without missing ones.

    >>> sample(np.array(["21 °C", "70 °F", "n/a", None], dtype=object))
    Sample(numbers=((21.0, 'degC'), (70.0, 'degF')), others=())
    """
    if values.dtype.kind == "f":
        present = values[np.isfinite(values)]
    elif values.dtype.kind == "M":
        present = values[~np.isnat(values)]
    elif values.dtype.kind == "O":
        values = without_commas(values)
        present = values[np.fromiter((not _is_missing(each) for each in values), bool, len(values))]
    else:
        present = values
    chosen = (
        present[np.linspace(0, len(present) - 1, min(size, len(present))).astype(np.int64)] if len(present) else present
    )
    numbers, others = [], []
    for value in chosen.tolist() if chosen.dtype.kind != "M" else chosen:
        read = number_of(value)
        if read is None:
            others.append(value)
        else:
            numbers.append(read)
    return Sample(tuple(numbers), tuple(others))


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, str) and value.strip().casefold() in MISSING_TEXTS)


def without_commas(values: NDArray[Any]) -> NDArray[Any]:
    """Return a column whose numbers have no commas, where the column as a whole says what its commas are.

    `12,5` has a decimal comma, `1,250.5` and `1,250,000` have commas between thousands. Where all that a column has is
    like `1,250`, nobody can know: its texts stay as they are, and are no numbers.

    >>> [without_commas(np.array(each, dtype=object)).tolist() for each in (["1,250", "2,5"], ["1,250", "2,000.5"])]
    [['1.250', '2.5'], ['1250', '2000.5']]
    >>> without_commas(np.array(["1,250", "3"], dtype=object)).tolist()
    ['1,250', '3']
    """
    read = {each: _COMMA.match(each.strip()) for each in values if isinstance(each, str) and "," in each}
    found = [each for each in read.values() if each is not None]
    groups = [each[2][1:].split(",") for each in found]
    thousands = any(each[3] or len(group) > 1 for each, group in zip(found, groups, strict=True))
    regular = all(len(part) == 3 for group in groups for part in group)
    decimal = any(
        len(group[-1]) != 3 or each[1] == "0" or len(each[1]) > 3 for each, group in zip(found, groups, strict=True)
    )
    points = any(isinstance(each, str) and "." in each and number_of(each) is not None for each in values)
    if thousands == decimal or (thousands and not regular) or (decimal and points):
        return values
    sign = "" if thousands else "."
    texts = {text: text.strip().replace(",", sign) for text, each in read.items() if each is not None}
    return np.array([texts.get(each, each) if isinstance(each, str) else each for each in values], dtype=object)


def number_of(value: object) -> tuple[float, str] | None:
    """Return a number and the unit that its text states; None for what is no number.

    >>> number_of("81.2 °F"), number_of(True), number_of("1,250")
    ((81.2, 'degF'), None, None)
    """
    if isinstance(value, (bool, np.bool_)):
        return None
    if isinstance(value, (int, float)):
        return float(value), ""
    if not isinstance(value, str):
        return None
    read = read_number(value.strip())
    if read is None:
        return None
    return (float(read.value), read.unit) if isinstance(read, Quantity) else (float(read), "")


class ColumnReading(NamedTuple):
    """How the numbers of a column are read: their unit (None where no unit matters), and what a reader must know."""

    unit: Unit | None
    note: str = ""


def reading_of(header: str, values: Sample, requested: RequestedColumn) -> ColumnReading | str:
    """Return the unit of a column for a requested one, or why its values cannot be what is requested.

    The unit stands in the header, else it is the customary one in which the values are possible, else the requested
    one.

    >>> wanted = RequestedColumn("t", "outdoor temperature", "degC", "number")
    >>> reading_of("Temp - °F", Sample(((70.0, ""),), ()), wanted).unit.symbol
    'degF'
    >>> reading_of("T", Sample(((658.0, ""),), ()), wanted)
    'values from 658 to 658 cannot be outdoor temperature'
    """
    if values.is_empty:
        return "the column has no values"
    if requested.type == "number" and not values.is_numeric:
        return f"values such as {str(values.typical())[:40]!r} are no numbers"
    if requested.type == "text" and values.is_numeric:
        return "the values are numbers"
    if requested.type == "time" and not _are_times(values):
        return f"values such as {str(values.typical())[:40]!r} are no times"
    if requested.type == "boolean" and len({number for number, _ in values.numbers} | set(map(str, values.others))) > 2:
        return "the column has more than two values"
    if not requested.unit:
        return ColumnReading(None)
    target = unit(requested.unit)
    stated = next((symbol for _, symbol in values.numbers if symbol), "")
    known = reading_unit(header, stated, target) or header_unit(header, target)
    numbers = [number for number, symbol in values.numbers if symbol == stated]
    if known is not None:
        if known.dimension != target.dimension:
            return f"the column is in {known.symbol}, which cannot be brought to {target.symbol}"
        bounds = customary_units(requested.attribute, requested.unit)
        if (
            bounds
            and _share(bounds[0].low <= known.to_base(number) <= bounds[0].high for number in numbers) < PLAUSIBLE_SHARE
        ):
            return _impossible(numbers, requested, known.symbol)
        return ColumnReading(known)
    customary = customary_units(requested.attribute, requested.unit)
    if not customary:
        return ColumnReading(target, f"the column states no unit; taken in {target.symbol}")
    for each in customary:
        if _share(map(each.holds, numbers)) >= PLAUSIBLE_SHARE:
            return ColumnReading(each.unit, f"the column states no unit; taken in {each.unit.symbol}")
    if (only := _only_multiple(customary[0], numbers)) is not None:
        return ColumnReading(only, f"the column states no unit; its values are possible in {only.symbol} only")
    return _impossible(numbers, requested, "")


def _only_multiple(customary: CustomaryUnit, numbers: list[float]) -> Unit | None:
    """Return the decimal multiple of a customary unit in which numbers are possible, if there is exactly one.

    The range must be narrower than a power of ten: else two multiples may hold, and a fault is taken for a unit.
    """
    if customary.low <= 0 or customary.high >= 10 * customary.low:
        return None
    fit = []
    for row in EVERYDAY:
        each = unit(row.symbol)
        ratio = (
            Fraction(*each.ratio) / Fraction(*customary.unit.ratio) if each.dimension == customary.unit.dimension else 0
        )
        if ratio and log10(ratio).is_integer() and ratio != 1:
            held = _share(customary.low <= each.to_base(number) <= customary.high for number in numbers)
            fit += [each] if held >= PLAUSIBLE_SHARE else []
    return fit[0] if len({each.ratio for each in fit}) == 1 else None


def header_unit(header: str, target: Unit) -> Unit | None:
    """Return the unit that a header ends with, if it fits what is requested or stands in brackets; else None.

    Names of attributes do not state every unit of the table: a `J` may be many things. What stands last in a header,
    and in brackets above all, is a unit.

    >>> [header_unit(each, unit("kWh")).symbol for each in ("energy [MJ]", "energy_J", "Energy - J", "speed (mph)")]
    ['MJ', 'J', 'J', 'mph']
    >>> header_unit("Temperature (min)", unit("degC")), header_unit("energy_V", unit("kWh"))
    (None, None)
    """
    bracketed = _BRACKETS.search(header)
    last = bracketed or _BEHIND.search(header)
    if last is None:
        return None
    for each in (found := stated_units(last[1])):
        if each.dimension == target.dimension:
            return each
    word = last[
        1
    ].casefold()  # `(GT)` says how it was measured, `(in)` and `(min)` say which temperature, `(A)` which sensor
    sure = bracketed is not None and len(word) > 1 and word not in PLACES and word not in MEASURED
    return found[0] if sure and found and found[0].symbol in _EVERYDAY else None


def _share(answers: Iterable[bool]) -> float:
    listed = list(answers)
    return sum(listed) / len(listed) if listed else 0.0


def _impossible(numbers: list[float], requested: RequestedColumn, symbol: str) -> str:
    span = f"{min(numbers):g} to {max(numbers):g} {symbol}".rstrip()
    return f"values from {span} cannot be {requested.attribute}"


def _are_times(values: Sample) -> bool:
    if values.numbers:
        return False
    return _share(_time_of(value) is not None for value in values.others) >= NUMERIC_SHARE


def _time_of(value: object) -> np.datetime64 | None:
    """Return a time as datetime64, None for what is no time. Times with an offset are converted to UTC."""
    if isinstance(value, np.datetime64):
        return value
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    if isinstance(value, datetime):
        offset = value.utcoffset()
        return np.datetime64(value.replace(tzinfo=None) - offset if offset else value.replace(tzinfo=None), "us")
    return np.datetime64(value, "us") if isinstance(value, date) else None


def converted(values: NDArray[Any], requested: RequestedColumn, reading: ColumnReading) -> NDArray[Any] | None:
    """Return a whole column in the requested unit and type; None if it stays as it is.

    Text that is no number becomes NaN. Each text with a unit of its own is converted from that unit.

    >>> wanted = RequestedColumn("t", "temperature", "degC", "number")
    >>> converted(np.array(["70 °F", "21", "-"], dtype=object), wanted, ColumnReading(unit("degC"))).round(1).tolist()
    [21.1, 21.0, nan]
    """
    if requested.type == "time" and values.dtype.kind != "M":
        times = {each: _time_of(each) for each in set(values.tolist())}
        return np.array([times[each] or np.datetime64("NaT") for each in values.tolist()], dtype="datetime64[us]")
    if requested.type != "number":
        return None
    target = unit(requested.unit) if requested.unit else None
    if values.dtype.kind == "f":
        return values if reading.unit is None or reading.unit == target else _affine(values, reading.unit, target)
    if values.dtype.kind == "O":
        values = without_commas(values)
    numbers: dict[object, float] = {}
    for text in set(values.tolist()):
        read = number_of(text)
        if read is None:
            numbers[text] = np.nan
            continue
        stated = (find_unit(read[1]) if read[1] else None) or reading.unit
        if target is None or stated is None:
            numbers[text] = read[0]
        else:
            numbers[text] = stated.to(target, read[0]) if stated.dimension == target.dimension else np.nan
    return np.array([numbers[each] for each in values.tolist()], dtype=np.float64)


def _affine(values: NDArray[Any], source: Unit, target: Unit | None) -> NDArray[Any]:
    """Convert numbers of one unit at once: a conversion is a factor and an offset."""
    factor, offset = affine(source, target)
    return np.asarray(values * factor + offset)


def affine(source: Unit, target: Unit | None) -> tuple[float, float]:
    """Return the factor and the offset of a conversion.

    >>> affine(unit("degC"), unit("degF"))
    (1.8, 32.0)
    """
    if target is None:
        return 1.0, 0.0
    ratio, shift = Fraction(*source.ratio) / Fraction(*target.ratio), Fraction(*source.shift) - Fraction(*target.shift)
    return float(ratio), float(shift / Fraction(*target.ratio))
