"""`likewise bench`: run the benchmarks of a source checkout.

The benchmarks stand in the repository's folder `benchmarks/`, one script each, and are no part of the installed
package: they need yardsticks (other libraries) that nobody else needs. What they measured is kept beside them, in
`benchmarks/history/`, when `--record` asks for it.
"""

from __future__ import annotations

import contextlib
import io
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from likewise.cli import bench_history
from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson
from likewise.errors import ArtefactMissing, FormatError, UnknownId


def bench(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Which one; all if none is named.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="Print their names and leave.")] = False,
    record: Annotated[bool, typer.Option("--record", help="Keep the figures in benchmarks/history/.")] = False,
    history: Annotated[
        bool, typer.Option("--history", help="Print how the newest kept figures stand to those before, and leave.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run benchmarks; figures are CPU time unless they say otherwise.

    Further options are the benchmark's own; `python -m benchmarks.NAME --help` lists them. The exit code is 1
    if a benchmark missed what is promised of it, or if a kept figure is a fifth worse than the median of those before.

    Examples: `likewise bench exact --workload DIR --subscriptions 10000`, `likewise bench parsing --record`
    """
    folder = benchmarks_folder()
    known = benchmark_names(folder)
    if listed:
        output.print_json(known) if as_json else print(*known, sep="\n")
        return
    if name is not None and name not in known:
        raise UnknownId(name)
    chosen = known if name is None else [name]
    if history:
        if _show_history(folder / "history", chosen, as_json):
            raise typer.Exit(output.NO)
        return
    missed = False
    for each in chosen:
        if record:
            missed |= _run_and_record(folder, each, context.args, as_json)
            continue
        if name is None and not as_json:
            print(f"== {each}", flush=True)
        missed |= run_script(folder / f"{each}.py", [*(["--json"] if as_json else []), *context.args]) != 0
    if missed:
        raise typer.Exit(output.NO)


def _run_and_record(folder: Path, name: str, arguments: list[str], as_json: bool) -> bool:
    """Run a benchmark, keep its figures; whether it missed a promise or got slower."""
    print(f"running {name}", file=sys.stderr, flush=True)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        code = run_script(folder / f"{name}.py", ["--json", *arguments])
    try:
        figures = bench_history.parse_figures(printed.getvalue())
    except FormatError as error:
        raise FormatError(f"{name} cannot be recorded, it printed no JSON figures with --json: {error}") from None
    path = bench_history.append_run(folder / "history", bench_history.new_run(figures, name, arguments, code != 0))
    print(f"kept {len(figures)} figures in {path}", file=sys.stderr, flush=True)
    return _show_history(folder / "history", [name], as_json) or code != 0


def _show_history(folder: Path, names: Sequence[str], as_json: bool) -> bool:
    """Print how the newest figures of benchmarks stand to those before; whether one is worse."""
    histories = {name: lines for name in names if (lines := bench_history.read_history(folder / f"{name}.jsonl"))}
    changes = {name: bench_history.compare_runs(lines) for name, lines in histories.items()}
    if as_json:
        output.print_json(
            {
                name: {"newest": histories[name][-1], "lines": len(histories[name]), "changes": changes[name]}
                for name in histories
            }
        )
    else:
        if not histories:
            print(f"Nothing was recorded in {folder} yet: likewise bench NAME --record")
        for name, lines in histories.items():
            newest = lines[-1]
            print(f"{name}: {len(lines)} lines, the newest of {newest.when} at {newest.commit}")
            for change in changes[name]:
                mark = "  worse" if change.worse else ""
                print(f"  {change.figure}: {change.before:g} -> {change.now:g} ({change.times:.2f} times){mark}")
            if not changes[name]:
                print("  nothing of the same machine and options to compare with")
    return any(change.worse for each in changes.values() for change in each)


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
    """Return the folder of benchmarks, beside this source or below the working directory."""
    import likewise

    for root in (Path(likewise.__file__).resolve().parents[2], Path.cwd()):
        if (root / "benchmarks").is_dir() and (root / "pyproject.toml").is_file():
            return root / "benchmarks"
    raise ArtefactMissing(
        "the benchmarks are in the source repository, not in the installed package; run this in a checkout, "
        "or there: make bench"
    )


def benchmark_names(folder: Path) -> list[str]:
    """Return the names of the scripts in a folder, without importing them."""
    script = '\nif __name__ == "__main__":'
    return sorted(path.stem for path in folder.glob("[a-z]*.py") if script in path.read_text(encoding="utf-8"))
