"""Tables and requests in files: CSV and Parquet, and requested columns in TOML or a saved report."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from likewise.errors import InputError
from likewise.tables.report import ColumnReport

if TYPE_CHECKING:
    import pyarrow as pa

CSV_SUFFIXES = {".csv": ",", ".tsv": "\t", ".txt": ","}


def read_table(path: str | Path) -> pa.Table:
    """Read a table from a CSV, TSV or Parquet file. Fields of a CSV file that are separated by `;` are found, too.

    Args:
        path: The file; a name that ends in `.gz` is decompressed.

    Raises:
        InputError: The file is missing, or is no table.
    """
    import pyarrow as pa
    from pyarrow import csv, parquet

    file = Path(path)
    try:
        if file.suffix == ".parquet":
            return parquet.read_table(file)
        name = file.with_suffix("").name if file.suffix == ".gz" else file.name
        delimiter = CSV_SUFFIXES.get(Path(name).suffix.lower())
        if delimiter is None:
            raise InputError(f"{path} is not named as a table is; give a file .csv, .tsv or .parquet")
        with pa.input_stream(file) as stream:
            first = stream.read(65_536).split(b"\n", 1)[0]
        if delimiter == "," and first.count(b";") > first.count(b","):
            delimiter = ";"
        return csv.read_csv(
            file,
            parse_options=csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=csv.ConvertOptions(strings_can_be_null=True),
        )
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{path} cannot be read as a table: {error}") from None


def write_table(table: pa.Table, path: str | Path) -> None:
    """Write a table as CSV or Parquet, by the name of the file.

    Args:
        table: The table.
        path: File that is created or replaced.

    Raises:
        InputError: The name ends in neither.
    """
    from pyarrow import csv, parquet

    suffix = Path(path).suffix.lower()
    if suffix == ".parquet":
        parquet.write_table(table, path)
    elif suffix == ".csv":
        csv.write_csv(table, path)
    else:
        raise InputError(f"{path} ends in {suffix or 'nothing'}; a table is written to a file .csv or .parquet")


def read_request(path: str | Path) -> tuple[object, dict[str, str | int | None]]:
    """Read requested columns and overrides from a TOML file, or a saved report (JSON).

    Args:
        path: A TOML file with `[columns]` (name = phrase) and, where wanted, `[overrides]` (name = header or position,
            false to leave it out); or a report that `ColumnReport.save` wrote.

    Raises:
        InputError: The file is missing or has another form.
    """
    if Path(path).suffix == ".json":
        return ColumnReport.load(path), {}
    try:
        tables = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    columns, overrides = tables.pop("columns", None), tables.pop("overrides", {})
    if not isinstance(columns, dict) or not isinstance(overrides, dict) or tables:
        raise InputError(
            f'{path} has a table [columns], such as t_out = "outdoor temperature in degC", and [overrides]'
        )
    return columns, {name: None if column is False else column for name, column in overrides.items()}
