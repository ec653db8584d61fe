"""Record the figures of benchmarks, a line for each run and commit, so that a slow-down is noticed.

`benchmarks/history/NAME.jsonl` holds the lines. A line is compared with lines of the same machine and options only.

>>> before, after = {"match_us": 10.0, "events/s": 100.0}, {"match_us": 14.0, "events/s": 99.0}
>>> [(change.figure, change.worse) for change in compare_runs([new_run(before), new_run(before), new_run(after)])]
[('match_us', True), ('events/s', False)]
"""

from __future__ import annotations

import os
import platform
import re
import statistics
import subprocess
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from likewise.errors import ArtefactDamaged, FormatError

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
