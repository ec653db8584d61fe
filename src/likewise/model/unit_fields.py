"""Units in a field of their own: `{temperature: 81.2, unit: "F"}`, `{n: temp, u: Cel, v: 21.5}`.

A unit belongs to the value it is named after (`value` and `unit`, `v` and `u` of SenML, `temperature` and
`temperature_unit`), else to the only number beside it, else to the only one whose name fits what it measures.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Final

from likewise.model.values import read_magnitude
from likewise.units.lookup import stated_units
from likewise.units.names import measured_dimensions
from likewise.units.stated import is_stated

UNIT_FIELDS: Final = frozenset(
    ("unit", "units", "uom", "unitcode", "unit_code", "unit_of_measurement", "unitofmeasurement", "unittext")
)
_SUFFIXES: Final = ("_unit", "_units", "unit", "units", "_uom", "_unit_code", "unitcode")
_ENDS: Final = frozenset(name[-4:] for name in (*_SUFFIXES, *UNIT_FIELDS))  # a quick look before a closer one
_NUMBER_STARTS: Final = frozenset("+-.0123456789")


def units_of_fields(obj: Mapping[str, object]) -> dict[str, str] | None:
    """Return the unit that other fields state for each field of an object; None if there is none.

    >>> units_of_fields({"temperature": "81.2", "unit": "F"}), units_of_fields({"n": "temp", "u": "Cel", "v": 21.5})
    ({'temperature': 'F'}, {'v': 'Cel'})
    >>> units_of_fields({"temperature": 81.2, "battery": 80, "unit": "degF"}), units_of_fields({"a": 1, "b": 2})
    ({'temperature': 'degF'}, None)
    """
    units: dict[str, str] | None = None
    for key, value in obj.items():
        if type(value) is str and type(key) is str and may_state_unit(key):
            owner = _described_field(key, value, obj)
            if owner:
                units = units or {}
                units.setdefault(owner, value)
    return units


@lru_cache(maxsize=4096)
def may_state_unit(key: str) -> bool:
    """Return whether a field may state the unit of another, by the end of its name.

    >>> may_state_unit("temperature_unit"), may_state_unit("temperature")
    (True, False)
    """
    return key == "u" or key[-4:].lower() in _ENDS


def _described_field(key: str, unit_text: str, obj: Mapping[str, object]) -> str:
    """Return the field whose unit a field states; '' if it states none."""
    if not is_stated(unit_text):
        return ""
    if key == "u":
        return "v" if is_senml_record(obj) else ""
    if key.lower() not in UNIT_FIELDS:
        return next((stem for stem in _stems(key) if is_number(obj.get(stem))), "")
    if is_number(obj.get("value")):
        return "value"
    numbers = [name for name, value in obj.items() if is_number(value)]
    if len(numbers) <= 1:
        return numbers[0] if numbers else ""
    measured = {candidate.dimension for candidate in stated_units(unit_text)}
    fit = [name for name in numbers if measured_dimensions(name) & measured]
    return fit[0] if len(fit) == 1 else ""


@lru_cache(maxsize=4096)
def _stems(key: str) -> tuple[str, ...]:
    """Return the fields whose unit a field may state, by its name."""
    lower = key.lower()
    return tuple(key[: -len(suffix)] for suffix in _SUFFIXES if lower.endswith(suffix) and len(key) > len(suffix))


def has_blank_unit(obj: Mapping[str, object]) -> bool:
    """Return whether an object of two fields is a number and a blank unit.

    >>> has_blank_unit({"value": 6, "unit": ""}), has_blank_unit({"value": 6, "unit": "mm"})
    (True, False)
    """
    other = next((key for key in obj if key != "value"), None)
    if not isinstance(other, str) or other.lower() not in UNIT_FIELDS:
        return False
    unit_text = obj[other]
    return (unit_text is None or (isinstance(unit_text, str) and not is_stated(unit_text))) and is_number(obj["value"])


def is_senml_record(obj: Mapping[str, object]) -> bool:
    """Return whether an object is a SenML record: a value `v` with a name `n` or a unit `u` (RFC 8428).

    >>> is_senml_record({"n": "temp", "v": 21.5}), is_senml_record({"u": 3, "v": 4})
    (True, False)
    """
    return is_number(obj.get("v")) and (isinstance(obj.get("n"), str) or isinstance(obj.get("u"), str))


def is_number(value: object) -> bool:
    """Return whether a value is a number, or text that is wholly one.

    >>> is_number("81.2"), is_number(True), is_number("room 1")
    (True, False, False)
    """
    if isinstance(value, str):
        return value[:1] in _NUMBER_STARTS and isinstance(read_magnitude(value), (int, float))
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
