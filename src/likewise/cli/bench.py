"""`likewise bench`: run the benchmarks of a source checkout.

The benchmarks stand in the repository's folder `benchmarks/`, one script each, and are no part of the installed
package: they need yardsticks (other libraries) that nobody else needs. What they measured is kept beside them, in
`benchmarks/history/`, when `--record` asks for it.
"""

from __future__ import annotations

import contextlib
import io
import os
import platform
import re
import runpy
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson
from likewise.errors import ArtefactDamaged, ArtefactMissing, FormatError, UnknownId


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
        raise UnknownId(name, known=known)
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
        figures = parse_figures(printed.getvalue())
    except FormatError as error:
        raise FormatError(f"{name} cannot be recorded, it printed no JSON figures with --json: {error}") from None
    path = append_run(folder / "history", new_run(figures, name, arguments, code != 0))
    print(f"kept {len(figures)} figures in {path}", file=sys.stderr, flush=True)
    return _show_history(folder / "history", [name], as_json) or code != 0


def _show_history(folder: Path, names: Sequence[str], as_json: bool) -> bool:
    """Print how the newest figures of benchmarks stand to those before; whether one is worse."""
    histories = {name: lines for name in names if (lines := read_history(folder / f"{name}.jsonl"))}
    changes = {name: compare_runs(lines) for name, lines in histories.items()}
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


WORSE: Final = 0.20  # busy machines differ by less; a kernel that no longer compiles as it did, by more
BEFORE: Final = 5  # lines whose median is the measure of the next
# Names say which way is better: rates and shares up, times and sizes down. Other figures are kept, not judged.
_UP: Final = re.compile(r"/s\b|_per_s\b|per_second|\bshare|\btimes\b|\brate\b|speed|_f1\b|spearman", re.IGNORECASE)
_DOWN: Final = re.compile(r"(?<![a-z])(ns|us|µs|ms|s|seconds?|cpu|wall|bytes|mi?b|p\d\d)(?![a-z])", re.IGNORECASE)


class BenchmarkRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run of one benchmark."""

    benchmark: str
    commit: str  # with a `+` if files differed from it
    when: str
    machine: str
    arguments: list[str]
    missed: bool  # whether it missed what is promised of it
    figures: dict[str, float]


class FigureChange(msgspec.Struct, frozen=True):
    """A figure of the newest line beside the median of those before; `times` is new by old."""

    figure: str
    before: float
    now: float
    times: float
    worse: bool


def new_run(
    figures: dict[str, float], name: str = "", arguments: Sequence[str] = (), missed: bool = False
) -> BenchmarkRun:
    """Return the record of a run that ended now, on this machine."""
    python = platform.python_version().rpartition(".")[0]
    return BenchmarkRun(
        benchmark=name,
        commit=_commit(),
        when=datetime.now(UTC).isoformat(timespec="seconds"),
        machine=f"{_processor()}, {os.cpu_count()} cores, Python {python}",
        arguments=list(arguments),
        missed=missed,
        figures=figures,
    )


def parse_figures(printed: str) -> dict[str, float]:
    """Return every number that a benchmark printed with `--json`: one JSON value, or one on each line.

    >>> parse_figures('{"rows": [{"engine": "bitmap", "us": 4.5}, {"engine": "naive", "us": 90}], "size": 10}')
    {'rows.bitmap.us': 4.5, 'rows.naive.us': 90.0, 'size': 10.0}
    """
    try:
        document = msgspec.json.decode(printed)
    except msgspec.DecodeError:
        try:
            document = [msgspec.json.decode(each) for each in printed.splitlines() if each.strip()]
        except msgspec.DecodeError as error:
            raise FormatError(
                f"expected one JSON value, or one on each line; found {printed[:80]!r}: {error}"
            ) from None
    return dict(_numbers(document, ()))


def append_run(folder: Path, new: BenchmarkRun) -> Path:
    """Add a line to the history of its benchmark; the file it went to."""
    path = folder / f"{new.benchmark}.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(msgspec.json.encode(new) + b"\n")
    return path


def read_history(path: Path) -> list[BenchmarkRun]:
    """Read the runs of one benchmark, oldest first; none if nothing was recorded."""
    if not path.is_file():
        return []
    lines = []
    for number, each in enumerate(path.read_bytes().splitlines(), 1):
        try:
            lines.append(msgspec.json.decode(each, type=BenchmarkRun))
        except msgspec.DecodeError as error:
            raise ArtefactDamaged(f"{path}, line {number}: {error}; restore it from git") from None
    return lines


def compare_runs(lines: Sequence[BenchmarkRun]) -> list[FigureChange]:
    """Compare the newest run with those before it; return nothing if there is nothing to compare with."""
    if not lines:
        return []
    new = lines[-1]
    like = [each for each in lines[:-1] if (each.machine, each.arguments) == (new.machine, new.arguments)][-BEFORE:]
    compared = []
    for figure, now in new.figures.items():
        earlier = [each.figures[figure] for each in like if figure in each.figures]
        before = statistics.median(earlier) if earlier else 0.0
        if before > 0 and now >= 0:
            compared.append(FigureChange(figure, before, now, now / before, _worse(figure, now / before)))
    return compared


def _worse(figure: str, times: float) -> bool:
    last = figure.rpartition(".")[2]
    if _UP.search(last):
        return times < 1 - WORSE
    return bool(_DOWN.search(last.replace("_", " "))) and times > 1 + WORSE


def _numbers(value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, float]]:
    match value:
        case bool():
            return
        case int() | float():
            yield ".".join(path), float(value)
        case dict():
            for key, each in value.items():
                yield from _numbers(each, (*path, str(key)))
        case list():
            names = [_row_name(each) for each in value]
            if len(set(names)) < len(names) or not all(names):
                names = [str(number) for number in range(len(value))]
            for name, each in zip(names, value, strict=True):
                yield from _numbers(each, (*path, name))


def _row_name(row: Any) -> str:
    """Return the texts in a row of a table, as its name."""
    return " ".join(each for each in row.values() if isinstance(each, str)) if isinstance(row, dict) else ""


def _processor() -> str:
    try:
        for each in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if each.startswith("model name"):
                return each.partition(":")[2].strip()
    except OSError:
        pass  # not Linux: the platform's own word does
    return platform.processor() or platform.machine()


def _commit() -> str:
    """Return the commit of the checkout, with `+` if files differ from it; `unknown` outside a repository."""
    folder = Path(__file__).resolve().parent

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no", "--", ":/", ":(top,exclude)benchmarks/history")
        return git("rev-parse", "--short=12", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
