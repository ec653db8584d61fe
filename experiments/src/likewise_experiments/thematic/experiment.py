"""The whole thematic experiment: load, baseline, grid, throughput, table of measures, figures, report.

`report.json` in the folder says everything; the steps before it are JSON lines one can read.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from likewise.semantics.library import load_space
from likewise_experiments.thematic.grid import Grid, load_key
from likewise_experiments.thematic.load import EVENTS, SUBSCRIPTIONS, thematic_load, write_load
from likewise_experiments.thematic.load_arrays import load_arrays
from likewise_experiments.thematic.measures import MeasureRow, measure_rows
from likewise_experiments.thematic.report import PAPER, Cell, Headline, cells, headline, sentence
from likewise_experiments.thematic.rewriting import Rewriting
from likewise_experiments.thematic.sub_experiment import Quality, SubExperiment, Truth, quality
from likewise_experiments.thematic.themes import ThemePair, read_cells, theme_pairs
from likewise_experiments.thematic.thesauri import open_thesaurus
from likewise_experiments.thematic.throughput import Throughput, throughputs
from likewise_experiments.thematic.wordnet_thesaurus import wordnet

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console

    from likewise.semantics.space import Space
    from likewise_experiments.thematic.load import ThematicLoad

HERE: Final = 200  # sub-experiments that take less time here than Spark takes to start and run them
CHOICES: Final = "choices.json"  # in the folder of an experiment
BASELINE_RUNS: Final = 5  # as in the paper's section 5.2.5


class Choices(msgspec.Struct, frozen=True):
    """What can be chosen about the experiment.

    `throughput` is the number of samples timed for each cell; `model` an embedding model for the table of measures;
    `shared` lets predicates share a tuple, as the paper's letter does; `degree` is the percentage of the parts of
    each subscription that is relaxed.
    """

    thesaurus: str
    space: str | None = None
    measure: tuple[str | None, dict[str, str]] = ("thematic", {})
    cells: str = "quick"
    seed: int = 0
    throughput: int = 1
    events: int = EVENTS
    subscriptions: int = SUBSCRIPTIONS
    model: str | None = None
    shared: bool = False
    degree: int = 100


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
    degree: int = 100
    rewritten: int = 0  # exact subscriptions that stand for all, rewritten with WordNet


def experiment(choices: Choices, folder: Path, *, master: str | None = None, console: Console | None = None) -> Report:
    """Run it all into a folder; what an interrupted run had finished is not done again, the figures are drawn anew."""
    event_sizes, subscription_sizes, samples = read_cells(choices.cells)
    thesaurus = open_thesaurus(choices.thesaurus)
    space = load_space(choices.space)
    load = thematic_load(
        thesaurus, events=choices.events, subscriptions=choices.subscriptions, seed=choices.seed, degree=choices.degree
    )
    write_load(load, folder)
    (folder / CHOICES).write_bytes(msgspec.json.encode(choices))
    pairs = theme_pairs(thesaurus.top_terms(), event_sizes, subscription_sizes, samples, choices.seed)
    _lines(folder / "themes.jsonl", pairs)
    arrays, truth = load_arrays(load.subscriptions, load.events), Truth(load.relevant, load.wider)
    measure = space.measure(choices.measure[0], **choices.measure[1])
    baseline = quality(arrays, truth, measure, shared=choices.shared)
    grid = Grid(
        arrays, truth, pairs, space=choices.space, measure=choices.measure, folder=folder, shared=choices.shared
    )
    if master is None and not os.environ.get("SPARK_REMOTE") and len(pairs) - grid.done() <= HERE:
        grid.run_here(console)
    elif grid.lacking():
        from likewise.spark.session import spark_session

        with spark_session(master) as spark:
            grid.run(spark, console)
    results = grid.results()
    _lines(folder / "results.jsonl", results)
    timed = [pair for pair in pairs if pair.sample < choices.throughput]
    path = folder / f"throughput-{load_key(arrays, (), choices.space, choices.measure)}.jsonl"
    speeds, slow = _speeds(choices, space, load, timed, path, console) if timed else ([], 0.0)
    rewriting = Rewriting(wordnet())
    measures = tuple(
        measure_rows(space, arrays, load, rewriting, model=choices.model, shared=choices.shared, console=console)
    )
    rewritten = sum(rewriting.rewritten(subscription) for subscription in load.subscriptions)
    report = _report(choices, space, load, baseline, results, speeds, slow, measures, grid.seconds(), rewritten)
    (folder / "report.json").write_bytes(msgspec.json.format(msgspec.json.encode(report)))
    draw(report, folder)
    return report


def _speeds(
    choices: Choices, space: Space, load: ThematicLoad, timed: list[ThemePair], path: Path, console: Console | None
) -> tuple[list[Throughput], float]:
    """Throughput of the cells and of the baseline, which is the cell of no tags."""
    runs = [ThemePair(0, 0, sample, (), ()) for sample in range(BASELINE_RUNS)]
    found = throughputs(space, choices.measure, load, [*runs, *timed], path, console)
    slow = found[:BASELINE_RUNS]
    return found[BASELINE_RUNS:], sum(t.events_per_s for t in slow) / len(slow)


def _report(
    choices: Choices,
    space: Space,
    load: ThematicLoad,
    baseline: Quality,
    results: list[SubExperiment],
    speeds: list[Throughput],
    slow: float,
    measures: tuple[MeasureRow, ...],
    seconds: float,
    rewritten: int,
) -> Report:
    grid, speed_cells = cells(results), cells(speeds)
    told = headline(grid, baseline.f1)
    fast = headline(speed_cells, slow) if speed_cells else None
    name, options = choices.measure
    return Report(
        thesaurus=load.thesaurus,
        space=space.name,
        measure=":".join([name or "default", *(f"{k}={v}" for k, v in options.items())])
        + (", tuples shared" if choices.shared else ""),
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
        degree=load.degree,
        rewritten=rewritten,
    )


def figures(report: Report) -> dict[str, Figure]:
    """The four maps by name: F1, its standard error, throughput, its standard error (Figures 7 to 10).

    An error needs two samples of a cell; a map of errors that has none is left out.
    """
    from likewise_experiments.thematic.heat_maps import heat_map_figure

    grid, base = list(report.cells), report.quality.baseline
    found = {"f1": heat_map_figure(grid, "Maximal F1", baseline=base, percent=True)}
    if any(cell.samples > 1 for cell in grid):
        found["f1-error"] = heat_map_figure(grid, "Standard error of F1", error=True, percent=True)
    if report.throughput is not None:
        speeds, base = list(report.throughput_cells), report.throughput.baseline
        found["throughput"] = heat_map_figure(speeds, "Events a second of CPU, cold", baseline=base)
        if any(cell.samples > 1 for cell in speeds):
            found["throughput-error"] = heat_map_figure(speeds, "Standard error of throughput", error=True)
    return found


def draw(report: Report, folder: Path) -> None:
    """The maps as PNG files."""
    from likewise_experiments.charts.pictures import write_png

    for name, figure in figures(report).items():
        write_png(figure, folder / f"{name}.png")


def _lines(path: Path, rows: list[ThemePair] | list[SubExperiment] | list[Throughput]) -> None:
    path.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
