"""A lake's events as a plain table: one row an event, and a column for each requested attribute.

In the lake an event is a list of tuples, since no two sources say the same. Whoever analyses them wants columns:
`view` makes them, each in the unit that is asked for.

What `select` of a subscription named, as a plain table: one row a match, and a column for each name.

In the lake it is a JSON object a row, since each subscription names other things (`likewise.lake.parts`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from likewise.errors import InputError
from likewise.extras import require
from likewise.formats.arrow.columns import BOOLEAN, NUMBER, WHOLE
from likewise.formats.arrow.event_batch import EventBatch
from likewise.lake.maintenance import open_lake
from likewise.lake.parts import EVENTS, SELECTED, SUBSCRIPTIONS, LakePart, read_part
from likewise.lake.storage import StoragePath, storage_path
from likewise.model.text import fold
from likewise.units import Unit, unit
from likewise.units.stated import reading_unit

if TYPE_CHECKING:
    import pyarrow as pa


_COLUMN: Final = re.compile(r"(?P<attribute>.+?)(?:\s+in\s+(?P<unit>\S+))?(?:\s+as\s+(?P<name>\S+))?", re.DOTALL)
_EVENT_COLUMNS: Final = ("id", "source", "time", "tenant", "day")
MOST: Final = 200  # columns where none are named


class ViewColumn(NamedTuple):
    """An attribute as a column: its name, and the unit to convert to; None converts nothing."""

    attribute: str
    unit: Unit | None
    name: str


def view_column(text: str) -> ViewColumn:
    """Parse a column such as `temperature in degC as t`.

    >>> view_column("temperature in degC").name, view_column("air temperature as t").attribute
    ('temperature', 'air temperature')
    """
    match = _COLUMN.fullmatch(text.strip())
    if match is None:
        raise InputError(f"a column is `attribute`, `attribute in UNIT` or `attribute as name`, not {text!r}")
    attribute = match["attribute"].strip().strip('"')
    return ViewColumn(attribute, unit(match["unit"]) if match["unit"] else None, match["name"] or attribute)


def view(
    lake: str | StoragePath,
    columns: Iterable[str] = (),
    *,
    tenant: str | None = None,
    first_day: str = "",
    last_day: str = "",
) -> pa.Table:
    """Return the events of a lake as a table: `id`, `source`, `time`, `tenant`, `day`, and the requested columns.

    A column is an attribute, compared as subscriptions compare them; `temperature in degC` brings its readings to that
    unit, and has null for what cannot be brought to it. Of an attribute that an event states several times the first
    counts. Without columns there is one for each attribute, the most frequent first. `first_day` and `last_day`
    (`2024-05-01`) are looked for by the lake's folders alone. pandas takes the table by `to_pandas()`, DuckDB by its
    name in Python, Spark by `createDataFrame`.
    """
    require("match", "a view of a lake")
    import pyarrow as pa

    place = storage_path(lake)
    requested = [view_column(each) for each in columns]
    chosen = [
        part
        for part in open_lake(place).parts(EVENTS)
        if tenant in (None, part.tenant) and first_day <= part.day and (not last_day or part.day <= last_day)
    ]
    if not requested:
        requested = [ViewColumn(name, None, name) for name in _attributes(place, chosen)]
    names = [each.name for each in requested]
    if twice := [name for name in names if names.count(name) > 1 or name in _EVENT_COLUMNS]:
        raise InputError(f"two columns would be called {twice[0]!r}; say `as` with another name")
    event_columns: dict[str, list[Any]] = {name: [] for name in _EVENT_COLUMNS}
    values: dict[str, list[Any]] = {name: [] for name in names}
    for part, batch in _batches(place, chosen):
        table = batch.to_arrow(dictionary=False)
        for name in ("id", "source", "time"):
            event_columns[name] += table.column(name).to_pylist()
        event_columns["tenant"] += [part.tenant] * len(batch)
        event_columns["day"] += [part.day] * len(batch)
        for column, readings in zip(requested, _first_readings(batch, requested), strict=True):
            values[column.name] += readings
    text: pa.DataType = pa.string()
    kinds = {"id": text, "source": text, "time": pa.timestamp("us", tz="UTC"), "tenant": text, "day": text}
    arrays = {name: pa.array(event_columns[name], kinds[name]) for name in _EVENT_COLUMNS}
    return pa.table(arrays | {each.name: column_array(values[each.name], each.unit is not None) for each in requested})


def _batches(place: StoragePath, parts: Sequence[LakePart]) -> Iterator[tuple[LakePart, EventBatch]]:
    for part in parts:
        yield part, EventBatch.from_arrow(read_part(place, part))


def _attributes(place: StoragePath, parts: Sequence[LakePart]) -> list[str]:
    """Return the attributes, the most frequent first, each as it was first spelled."""
    import numpy as np

    counts: dict[str, int] = {}
    words: dict[str, str] = {}
    for _, batch in _batches(place, parts):
        columns = batch.columns()
        for name, count in zip(
            columns.attributes, np.bincount(columns.attribute, minlength=len(columns.attributes)), strict=True
        ):
            words.setdefault(fold(name), name)
            counts[fold(name)] = counts.get(fold(name), 0) + int(count)
    ordered = sorted((name for name in counts if counts[name]), key=lambda name: -counts[name])
    return [words[name] for name in ordered[:MOST]]


def _first_readings(batch: EventBatch, columns_requested: Sequence[ViewColumn]) -> Iterator[list[Any]]:
    """Return the first reading of each event for each column, or None."""
    import numpy as np

    columns = batch.columns()
    folded = [fold(name) for name in columns.attributes]
    owner = np.repeat(np.arange(len(batch)), np.diff(columns.offsets))
    for column in columns_requested:
        matching = np.array([name == fold(column.attribute) for name in folded], bool)
        places = np.flatnonzero(matching[columns.attribute]) if len(matching) else np.empty(0, np.int64)
        events, first = np.unique(owner[places], return_index=True)
        values: list[Any] = [None] * len(batch)
        for event, place in zip(events.tolist(), places[first].tolist(), strict=True):
            values[event] = _value(columns, place, column)
        yield values


def _value(columns: Any, place: int, column: ViewColumn) -> Any:
    kind = columns.kind[place]
    if kind == BOOLEAN:
        value: Any = bool(columns.number[place] == 1.0)
    elif kind in (NUMBER, WHOLE):
        value = int(columns.whole[place]) if kind == WHOLE else float(columns.number[place])
    else:
        value = columns.texts[columns.text[place]]
    if column.unit is None:
        return value
    if kind not in (NUMBER, WHOLE):
        return None
    stated = "" if columns.unit[place] < 0 else columns.units[columns.unit[place]]
    unit = reading_unit(columns.attributes[columns.attribute[place]], stated, column.unit) or column.unit
    return float(unit.to(column.unit, value)) if unit.dimension == column.unit.dimension else None


def column_array(values: list[Any], number: bool = False) -> pa.Array[Any]:
    """Return values as an array: numbers if all are, Booleans if all are, else text."""
    import pyarrow as pa

    there = [each for each in values if each is not None]
    kinds = {type(each) for each in there}
    if number or kinds <= {float, int}:
        whole = bool(kinds) and kinds <= {int} and not number and all(-(2**63) <= each < 2**63 for each in there)
        return pa.array(
            values if whole else [None if v is None else float(v) for v in values],
            pa.int64() if whole else pa.float64(),
        )
    if kinds <= {bool}:
        return pa.array(values, pa.bool_())
    return pa.array([None if each is None else _text(each) for each in values], pa.string())


_SELECTION_COLUMNS: Final = ("event_id", "time")


def selected(
    lake: str | StoragePath, subscription: str, *, tenant: str | None = None, first_day: str = "", last_day: str = ""
) -> pa.Table:
    """Return a subscription's selected values: `event_id` and `time` of the event, then a column for each name.

    The subscription is named by its id in the change log; several that had the id one after the other give their rows
    together. A name that is also `event_id` or `time` stands for what was selected. What is no plain value
    (`@payload`) is JSON.
    """
    require("match", "what is selected in a lake")
    import pyarrow as pa

    place = storage_path(lake)
    parts = open_lake(place)
    known_rows = [row for part in parts.parts(SUBSCRIPTIONS) for row in read_part(place, part).to_pylist()]
    numbers = {row["number"] for row in known_rows if row["id"] == subscription}
    if not numbers:
        known = ", ".join(sorted({row["id"] for row in known_rows})[:10])
        raise InputError(f"no subscription {subscription!r} was matched into {place}; it knows {known or 'none'}")
    rows: list[dict[str, Any]] = []
    for part in parts.parts(SELECTED):
        if tenant in (None, part.tenant) and first_day <= part.day and (not last_day or part.day <= last_day):
            rows += [row for row in read_part(place, part).to_pylist() if row["subscription"] in numbers]
    values = [msgspec.json.decode(row["selected"]) for row in rows]
    names = list(dict.fromkeys(name for each in values for name in each))
    kinds: dict[str, pa.DataType] = {"event_id": pa.string(), "time": pa.timestamp("us", tz="UTC")}
    arrays: dict[str, Any] = {name: pa.array([row[name] for row in rows], kinds[name]) for name in _SELECTION_COLUMNS}
    for name in names:
        arrays[name] = column_array([_plain(each.get(name)) for each in values])
    return pa.table(arrays)


def _plain(value: Any) -> Any:
    return msgspec.json.encode(value).decode() if isinstance(value, dict | list) else value


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
