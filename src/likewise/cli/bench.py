"""`likewise bench`: run the benchmarks of a source checkout.

The benchmarks stand in the repository's folder `benchmarks/`, one module each with a function `run`, and are
no part of the installed package: they need yardsticks (other libraries) that nobody else needs.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from likewise.cli import output
from likewise.cli.options import AsJson
from likewise.errors import ArtefactMissing, UnknownId


def bench(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Which; all if none is named.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="Print their names and leave.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run benchmarks; figures are CPU time unless they say otherwise.

    Example: `likewise bench parse`
    """
    folder = benchmarks_folder()
    known = benchmark_names(folder)
    if listed:
        output.print_json(known) if as_json else print(*known, sep="\n")
        return
    for name in names or known:
        if name not in known:
            raise UnknownId(name)
    root = str(folder.parent)
    if root not in sys.path:
        sys.path.insert(0, root)
    for name in names or known:
        result = importlib.import_module(f"benchmarks.{name}").run()
        if as_json:
            output.print_json({"benchmark": name, "result": result})
        else:
            _show(name, result)


def benchmarks_folder() -> Path:
    """The folder of benchmarks beside the source this package runs from, or below the working directory."""
    import likewise

    for root in (Path(likewise.__file__).resolve().parents[2], Path.cwd()):
        if (root / "benchmarks").is_dir() and (root / "pyproject.toml").is_file():
            return root / "benchmarks"
    raise ArtefactMissing(
        "the benchmarks are in the source repository, not in the installed package; run this in a checkout, "
        "or there: make bench"
    )


def benchmark_names(folder: Path) -> list[str]:
    """The modules of a folder that have a function `run`, without importing them."""
    return sorted(path.stem for path in folder.glob("[a-z]*.py") if "\ndef run(" in path.read_text(encoding="utf-8"))


def _show(name: str, result: object) -> None:
    """A result as a table if it is rows or facts; what a benchmark has printed itself needs no more."""
    from rich.table import Table

    if result is None:
        return
    rows = [result] if isinstance(result, Mapping) else result
    if not isinstance(rows, Sequence) or isinstance(rows, str) or not all(isinstance(row, Mapping) for row in rows):
        output.console().print(str(result))
        return
    table = Table(title=name, title_justify="left")
    columns = list(dict.fromkeys(str(key) for row in rows for key in row))
    for column in columns:
        table.add_column(column, justify="right")
    for row in rows:
        table.add_row(*(_cell(row.get(column, "")) for column in columns))
    output.console().print(table)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 10_000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
