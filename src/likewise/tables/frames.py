"""One view of the tables people have: pandas, polars, Arrow, and mappings of columns.

A table is read column by column; only requested columns are converted. The result has the type of what was given.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from likewise.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray


MAX_FLOAT: Final = sys.float_info.max  # whole numbers of Python may be larger; they count as missing
_NUMBERS: Final = (int, float, np.integer, np.floating, Decimal)


class Table(NamedTuple):
    """A table: headers, a reader of one column, and how a table of the same type is made.

    `column(i)` returns the column as it is, `array(i)` as an array: float64 with NaN for numbers, datetime64 for times,
    bool, or objects with None for missing values.
    """

    headers: list[str]
    rows: int
    column: Callable[[int], Any]
    array: Callable[[int], NDArray[Any]]
    build: Callable[[dict[str, Any]], Any]
    array_of_rows: Callable[[int, NDArray[np.int64]], NDArray[Any]] | None = None  # where rows are read cheaply


def as_table(given: object) -> Table:
    """Return the view of a table.

    Args:
        given: A pandas or polars data frame, an Arrow table, any object with the Arrow PyCapsule interface, or a
            mapping of headers to columns of equal length.

    Raises:
        InputError: It is none of these, or the columns of a mapping differ in length.

    >>> table = as_table({"t": [1, None], "name": ["a", None]})
    >>> table.headers, table.array(0).tolist(), table.array(1).tolist()
    (['t', 'name'], [1.0, nan], ['a', None])
    """
    module = type(given).__module__.partition(".")[0]
    if module == "pandas" and hasattr(given, "iloc") and hasattr(given, "columns"):
        return _pandas_table(given)
    if isinstance(given, Mapping):
        return _mapping_table(given)
    if hasattr(given, "__arrow_c_stream__"):
        return _arrow_table(given, module)
    raise InputError(
        "a table is a data frame of pandas or polars, an Arrow table or a mapping of columns, "
        f"not {type(given).__name__}"
    )


def _pandas_table(frame: Any) -> Table:
    def array(index: int, rows: NDArray[np.int64] | None = None) -> NDArray[Any]:
        series = frame.iloc[:, index]
        series = series if rows is None else series.iloc[rows]
        kind = getattr(series.dtype, "kind", "O")
        if kind in "iufM" and isinstance(series.dtype, np.dtype):
            return series.to_numpy(np.float64) if kind in "iuf" else series.to_numpy()  # type: ignore[no-any-return]
        if kind in "iuf":  # an extension type, which has missing values of its own
            return series.to_numpy(np.float64, na_value=np.nan)  # type: ignore[no-any-return]
        if kind == "M":
            return series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()  # type: ignore[no-any-return]
        return as_array(series.astype(object).where(series.notna(), None).to_numpy())

    def build(columns: dict[str, Any]) -> Any:
        return type(frame)(columns, index=frame.index)

    return Table([str(name) for name in frame.columns], len(frame), lambda i: frame.iloc[:, i], array, build, array)


def _arrow_table(given: Any, module: str) -> Table:
    import pyarrow as pa

    headers: list[str] | None = None
    if module == "polars" and any("\0" in name for name in given.columns):  # its export would end the process
        headers = list(given.columns)
        given = given.rename({name: f"{index}" for index, name in enumerate(headers)})
    try:
        table = given if isinstance(given, pa.Table) else pa.table(given)
    except pa.ArrowException as error:  # types that Arrow has no name for, such as whole numbers of 128 bits
        raise InputError(f"the table cannot be read by Arrow; convert its columns to usual types: {error}") from None

    def array(index: int) -> NDArray[Any]:
        return _arrow_array(table.column(index))

    def build(columns: dict[str, Any]) -> Any:
        arrays = [
            each if isinstance(each, pa.ChunkedArray) else pa.array(each, from_pandas=True) for each in columns.values()
        ]
        made = pa.Table.from_arrays(arrays, names=list(columns))
        if module == "polars":
            return importlib.import_module("polars").from_arrow(made)
        return made

    return Table(headers or list(table.column_names), table.num_rows, table.column, array, build)


def _arrow_array(column: Any) -> NDArray[Any]:
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        whole = column.unify_dictionaries().combine_chunks()  # a cast of it cannot give every type of text
        entries = np.array([*whole.dictionary.to_pylist(), None], dtype=object)
        return as_array(entries[whole.indices.cast(pa.int64()).fill_null(len(entries) - 1).to_numpy()])
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_decimal(column.type):
        return column.cast(pa.float64()).to_numpy()  # type: ignore[no-any-return]
    if pa.types.is_temporal(column.type):
        return column.to_numpy()  # type: ignore[no-any-return]
    return as_array(np.array(column.to_pylist() or [], dtype=object))


def _mapping_table(columns: Mapping[Any, Any]) -> Table:
    headers, values = [str(name) for name in columns], list(columns.values())
    for name, column in zip(headers, values, strict=True):
        if not hasattr(column, "__len__") or isinstance(column, (str, bytes)):
            raise InputError(f"the column {name!r:.60} is a {type(column).__name__}; give a list or an array of values")
    lengths = {len(column) for column in values}
    if len(lengths) > 1:
        raise InputError(f"the columns have {sorted(lengths)[:4]} values; columns of a table are equally long")
    rows = lengths.pop() if lengths else 0

    def array(index: int) -> NDArray[Any]:
        column = values[index]
        if isinstance(column, np.ndarray):
            return as_array(column)
        made = np.empty(len(column), dtype=object)
        made[:] = list(column)
        return as_array(made)

    return Table(headers, rows, lambda index: values[index], array, dict)


def as_array(values: NDArray[Any]) -> NDArray[Any]:
    """Return an array in its canonical type: float64 if all values are numbers, else objects with None for missing.

    >>> as_array(np.array([1, None, 2.5], dtype=object)).tolist()
    [1.0, nan, 2.5]
    >>> as_array(np.array(["a", float("nan")], object)).tolist()
    ['a', None]
    """
    if values.ndim != 1:
        raise InputError(f"a column has one dimension, not {values.ndim}")
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(np.float64), np.nan) if values.dtype.kind in "iuf" else _unmasked(values)
    if values.dtype.kind in "iuf":
        return values.astype(np.float64)
    if values.dtype.kind in "bM":
        return values
    if values.dtype.kind != "O":
        return values.astype(object)
    missing = np.fromiter((each is None or (each != each) is True for each in values), bool, len(values))
    present = values[~missing]
    if len(present) and all(type(each) is not bool and isinstance(each, _NUMBERS) for each in present):
        numbers = np.full(len(values), np.nan)
        numbers[~missing] = [float(each) if abs(each) <= MAX_FLOAT else np.nan for each in present]
        return numbers
    if missing.any():
        values = values.copy()
        values[missing] = None
    return values


def _unmasked(values: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    made = values.data.astype(object)
    made[np.ma.getmaskarray(values)] = None
    return made
