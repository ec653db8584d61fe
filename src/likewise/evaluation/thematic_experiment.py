"""The whole thematic experiment: load, baseline, grid, throughput, table of measures, figures, report.

`report.json` in the folder says everything; the steps before it are JSON lines one can read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from likewise.errors import LikewiseError
from likewise.evaluation.load_arrays import load_arrays
from likewise.evaluation.thematic import Quality, SubExperiment, Truth, quality, run_grid
from likewise.evaluation.thematic_load import EVENTS, SUBSCRIPTIONS, thematic_load, write_load
from likewise.evaluation.thematic_report import PAPER, Cell, Headline, cells, headline, sentence
from likewise.evaluation.thematic_throughput import Throughput, cold_throughput, throughputs
from likewise.evaluation.themes import ThemePair, read_cells, theme_pairs
from likewise.evaluation.thesaurus import open_thesaurus
from likewise.semantics.library import load_space

if TYPE_CHECKING:
    from rich.console import Console

    from likewise.evaluation.load_arrays import LoadArrays
    from likewise.evaluation.thematic_load import ThematicLoad
    from likewise.semantics.space import Space

MEASURES: Final[tuple[tuple[str, Mapping[str, str]], ...]] = (
    ("esa", {"metric": "raw"}), ("esa", {"metric": "unit"}), ("esa", {"metric": "cosine"}), ("jcn", {}), ("names", {}),
    ("combine", {}), ("embeddings", {}),
)  # fmt: skip
BASELINE_RUNS: Final = 5  # as in the paper's section 5.2.5


class Choices(msgspec.Struct, frozen=True):
    """What can be chosen about the experiment; `throughput` is the number of samples timed for each cell."""

    thesaurus: str
    space: str | None = None
    measure: tuple[str | None, dict[str, str]] = ("thematic", {})
    cells: str = "quick"
    seed: int = 0
    throughput: int = 1
    events: int = EVENTS
    subscriptions: int = SUBSCRIPTIONS


class MeasureRow(msgspec.Struct, frozen=True):
    """A measure without themes: maximal F1 by lineage and by the wider reading."""

    measure: str
    f1: float
    wider_f1: float
    note: str = ""


class Report(msgspec.Struct, frozen=True):
    """Everything the experiment found."""

    thesaurus: str
    space: str
    measure: str
    circular: bool
    seeds: int
    events: int
    subscriptions: int
    relevant_pairs: int
    wider_pairs: int
    sub_experiments: int
    baseline: Quality
    quality: Headline
    wider_quality: Headline
    throughput: Headline | None
    measures: tuple[MeasureRow, ...]
    cells: tuple[Cell, ...]
    throughput_cells: tuple[Cell, ...]
    sentences: tuple[str, ...]
    paper: dict[str, str]
    grid_seconds: float


def experiment(choices: Choices, folder: Path, *, master: str | None = None, console: Console | None = None) -> Report:
    """Run it all into a folder; what an interrupted run had finished is not done again."""
    from likewise.pipeline.session import spark_session

    event_sizes, subscription_sizes, samples = read_cells(choices.cells)
    thesaurus = open_thesaurus(choices.thesaurus)
    space = load_space(choices.space)
    load = thematic_load(thesaurus, events=choices.events, subscriptions=choices.subscriptions, seed=choices.seed)
    write_load(load, folder)
    pairs = theme_pairs(thesaurus.top_terms(), event_sizes, subscription_sizes, samples, choices.seed)
    _lines(folder / "themes.jsonl", pairs)
    arrays, truth = load_arrays(load.subscriptions, load.events), Truth(load.relevant, load.wider)
    baseline = quality(arrays, truth, space.measure(choices.measure[0], **choices.measure[1]))
    begun = time.monotonic()
    with spark_session(master) as spark:
        results = run_grid(
            spark, arrays, truth, pairs, space=choices.space, measure=choices.measure, folder=folder, console=console
        )
    seconds = time.monotonic() - begun
    _lines(folder / "results.jsonl", results)
    speeds, slow = _speeds(choices, space, load, pairs, folder)
    measures = tuple(_measures(space, arrays, truth))
    report = _report(choices, space, load, baseline, results, speeds, slow, measures, seconds)
    (folder / "report.json").write_bytes(msgspec.json.format(msgspec.json.encode(report)))
    draw(report, folder)
    return report


def _speeds(
    choices: Choices, space: Space, load: ThematicLoad, pairs: list[ThemePair], folder: Path
) -> tuple[list[Throughput], float]:
    """Throughput of the cells and of the baseline; nothing if no sample is to be timed."""
    timed = [pair for pair in pairs if pair.sample < choices.throughput]
    if not timed:
        return [], 0.0
    path = folder / f"throughput-{choices.throughput}.jsonl"
    speeds = list(throughputs(space, choices.measure, load, timed))
    _lines(path, speeds)
    runs = [cold_throughput(space, choices.measure, load) for _ in range(BASELINE_RUNS)]
    return speeds, sum(runs) / len(runs)


def _measures(space: Space, arrays: LoadArrays, truth: Truth) -> Iterator[MeasureRow]:
    for name, options in MEASURES:
        said = ":".join([name, *(f"{k}={v}" for k, v in options.items())])
        try:
            found = quality(arrays, truth, space.measure(name, **options))
        except LikewiseError as error:  # a measure whose model or dependency is not there
            yield MeasureRow(said, 0.0, 0.0, f"not available: {error}")
        else:
            yield MeasureRow(said, found.f1, found.wider_f1)


def _report(
    choices: Choices, space: Space, load: ThematicLoad, baseline: Quality, results: list[SubExperiment],
    speeds: list[Throughput], slow: float, measures: tuple[MeasureRow, ...], seconds: float,
) -> Report:  # fmt: skip
    grid, speed_cells = cells(results), cells(speeds)
    told = headline(grid, baseline.f1)
    fast = headline(speed_cells, slow) if speed_cells else None
    name, options = choices.measure
    return Report(
        thesaurus=load.thesaurus,
        space=space.name,
        measure=":".join([name or "default", *(f"{k}={v}" for k, v in options.items())]),
        circular=load.thesaurus == "wordnet" and space.name == "wordnet",
        seeds=len(load.seeds),
        events=len(load.events),
        subscriptions=len(load.subscriptions),
        relevant_pairs=int(load.relevant.sum()),
        wider_pairs=int(load.wider.sum()),
        sub_experiments=len(results),
        baseline=baseline,
        quality=told,
        wider_quality=headline(cells(results, wider=True), baseline.wider_f1),
        throughput=fast,
        measures=measures,
        cells=tuple(grid),
        throughput_cells=tuple(speed_cells),
        sentences=(sentence(told, "F1"), *((sentence(fast, "events/s"),) if fast else ())),
        paper=PAPER,
        grid_seconds=seconds,
    )


def draw(report: Report, folder: Path) -> None:
    """The four figures: F1, its standard error, throughput, its standard error (Figures 7 to 10)."""
    from likewise.evaluation.heat_maps import heat_map

    write: Callable[..., None] = heat_map
    grid, base = list(report.cells), report.quality.baseline
    write(grid, folder / "f1.png", "Maximal F1 by theme sizes", baseline=base)
    write(grid, folder / "f1-error.png", "Standard error of F1", error=True, baseline=base)
    if report.throughput is not None:
        speeds, base = list(report.throughput_cells), report.throughput.baseline
        write(speeds, folder / "throughput.png", "Cold events a second of CPU", baseline=base)
        write(speeds, folder / "throughput-error.png", "Standard error of throughput", error=True, baseline=base)


def _lines(path: Path, rows: list[ThemePair] | list[SubExperiment] | list[Throughput]) -> None:
    path.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
