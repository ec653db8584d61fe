"""Requested columns: a mapping of names to phrases, a list of phrases, or a class whose fields are columns."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Annotated, Literal, get_args, get_origin, get_type_hints

import msgspec

from likewise.errors import InputError, LikewiseError
from likewise.language import parse
from likewise.units import find_unit

ValueType = Literal["number", "text", "boolean", "time", ""]

_TYPES: dict[object, ValueType] = {
    float: "number",
    int: "number",
    str: "text",
    bool: "boolean",
    datetime: "time",
    date: "time",
}


class RequestedColumn(msgspec.Struct, frozen=True):
    """One requested column.

    Attributes:
        name: Name of the column in the result.
        attribute: Phrase that says what the column contains, as after `select` in the language.
        unit: Symbol of the unit of the result, '' to keep values as they are.
        type: Type of the values, '' if any type will do. A unit implies numbers.
    """

    name: str
    attribute: str
    unit: str = ""
    type: ValueType = ""


def requested_columns(request: object) -> tuple[RequestedColumn, ...]:
    """Return the requested columns of any form that `likewise.columns` accepts.

    Args:
        request: Mapping of names to phrases, list of phrases, or a class with annotated fields (dataclass, msgspec
            struct, pydantic model, TypedDict). A phrase may end in `in UNIT`; the sign `~` may be left out.

    Raises:
        InputError: The request has no column, a name twice, or a phrase that cannot be parsed.

    >>> requested_columns({"t": "outdoor temperature~ in degC"})
    (RequestedColumn(name='t', attribute='outdoor temperature', unit='degC', type='number'),)
    >>> [each.name for each in requested_columns(["wind speed in m/s", "date"])]
    ['wind speed', 'date']
    """
    columns: list[RequestedColumn]
    if inspect.isclass(request):
        columns = _of_class(request)
    elif isinstance(request, Mapping):
        columns = [_of_phrase(str(name), phrase) for name, phrase in request.items()]
    elif isinstance(request, Iterable) and not isinstance(request, (str, bytes)):
        columns = [_of_phrase("", phrase) for phrase in request]
    else:
        raise InputError(
            f"requested columns are a mapping of names to phrases, a list of phrases or a class, not {request!r:.60}"
        )
    names = [column.name for column in columns]
    if not names:
        raise InputError('no column is requested; give a mapping such as {"t_out": "outdoor temperature in degC"}')
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"two requested columns are named {repeated!r}; give each its own name")
    return tuple(columns)


def _of_phrase(name: str, phrase: object, type: ValueType = "") -> RequestedColumn:
    if not isinstance(phrase, str) or not phrase.strip():
        raise InputError(
            f"the phrase of the column {name!r} is {phrase!r:.60}; give text such as 'air pressure in hPa'"
        )
    try:
        (column,) = parse("{x exists} select (" + phrase + ")").select
    except LikewiseError as error:
        raise InputError(
            f"the phrase {phrase!r:.80} of a column cannot be read; quote names with signs: {error}"
        ) from None
    except ValueError:
        raise InputError(f"the phrase {phrase!r:.80} names more than one column; give each its own entry") from None
    if column.fact is not None:
        raise InputError(f"{phrase!r:.80} is a fact of an event; a table has columns only")
    return RequestedColumn(name or column.attribute, column.attribute, column.unit, "number" if column.unit else type)


def _of_class(request: type) -> list[RequestedColumn]:
    try:
        hints = get_type_hints(request, include_extras=True)
    except (NameError, TypeError) as error:
        raise InputError(f"the annotations of {request.__name__} cannot be resolved: {error}") from None
    return [_of_field(name, hint) for name, hint in hints.items() if not name.startswith("_")]


def _of_field(name: str, hint: object) -> RequestedColumn:
    notes = [note for note in get_args(hint)[1:] if isinstance(note, str)] if get_origin(hint) is Annotated else []
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    type: ValueType = next((_TYPES[one] for one in (hint, *get_args(hint)) if one in _TYPES), "")
    phrase = name.replace("_", " ")
    for note in notes:  # a unit alone, or the phrase with its unit
        phrase = f"{phrase} in {note}" if find_unit(note) is not None else note
    return _of_phrase(name, phrase, type)
