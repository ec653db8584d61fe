"""`likewise bench`: run the benchmarks of a source checkout.

The benchmarks stand in the repository's folder `benchmarks/`, one script each, and are no part of the installed
package: they need yardsticks (other libraries) that nobody else needs.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Annotated

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson
from likewise.errors import ArtefactMissing, UnknownId


def bench(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Which one; all if none is named.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="Print their names and leave.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run benchmarks; figures are CPU time unless they say otherwise.

    Further options are the benchmark's own; `python -m benchmarks.NAME --help` lists them. The exit code is 1
    if a benchmark missed what is promised of it.

    Example: `likewise bench exact --workload DIR --subscriptions 10000`
    """
    folder = benchmarks_folder()
    known = benchmark_names(folder)
    if listed:
        output.print_json(known) if as_json else print(*known, sep="\n")
        return
    if name is not None and name not in known:
        raise UnknownId(name)
    missed = False
    for each in known if name is None else [name]:
        if name is None and not as_json:
            print(f"== {each}", flush=True)
        missed |= run_script(folder / f"{each}.py", [*(["--json"] if as_json else []), *context.args]) != 0
    if missed:
        raise typer.Exit(output.NO)


bench.context_settings = {"allow_extra_args": True, "ignore_unknown_options": True}  # type: ignore[attr-defined]


def run_script(path: Path, arguments: list[str]) -> int:
    """Run one benchmark as a script, with these arguments; its exit code."""
    before, root = sys.argv, str(path.parent.parent)
    sys.argv = [str(path), *arguments]
    if root not in sys.path:
        sys.path.insert(0, root)  # benchmarks import each other as `benchmarks.name`
    try:
        runpy.run_path(str(path), run_name="__main__")
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    finally:
        sys.argv = before
    return 0


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
    """The modules of a folder that are scripts, without importing them."""
    script = '\nif __name__ == "__main__":'
    return sorted(path.stem for path in folder.glob("[a-z]*.py") if script in path.read_text(encoding="utf-8"))
