"""The whole thematic experiment: load, baseline, grid, throughput, table of measures, figures, report.

`report.json` in the folder says everything; the steps before it are JSON lines one can read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from likewise.errors import LikewiseError
from likewise.evaluation.progress import counting
from likewise.evaluation.thematic.grid import Grid, load_key
from likewise.evaluation.thematic.load import EVENTS, SUBSCRIPTIONS, thematic_load, write_load
from likewise.evaluation.thematic.load_arrays import load_arrays
from likewise.evaluation.thematic.report import PAPER, Cell, Headline, cells, headline, sentence
from likewise.evaluation.thematic.sub_experiment import Quality, SubExperiment, Truth, quality
from likewise.evaluation.thematic.themes import ThemePair, read_cells, theme_pairs
from likewise.evaluation.thematic.thesauri import open_thesaurus
from likewise.evaluation.thematic.throughput import Throughput, throughputs
from likewise.semantics.library import load_space

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console

    from likewise.evaluation.thematic.load import ThematicLoad
    from likewise.evaluation.thematic.load_arrays import LoadArrays
    from likewise.semantics.space import Space

MEASURES: Final[tuple[tuple[str, Mapping[str, str]], ...]] = (
    ("esa", {"metric": "raw"}), ("esa", {"metric": "unit"}), ("esa", {"metric": "cosine"}), ("jcn", {}), ("names", {}),
    ("combine", {}),
)  # fmt: skip
CHOICES: Final = "choices.json"  # in the folder of an experiment
BASELINE_RUNS: Final = 5  # as in the paper's section 5.2.5


class Choices(msgspec.Struct, frozen=True):
    """What can be chosen about the experiment.

    `throughput` is the number of samples timed for each cell; `model` an embedding model for the table of measures.
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
    """Run it all into a folder; what an interrupted run had finished is not done again, the figures are drawn anew."""
    event_sizes, subscription_sizes, samples = read_cells(choices.cells)
    thesaurus = open_thesaurus(choices.thesaurus)
    space = load_space(choices.space)
    load = thematic_load(thesaurus, events=choices.events, subscriptions=choices.subscriptions, seed=choices.seed)
    write_load(load, folder)
    (folder / CHOICES).write_bytes(msgspec.json.encode(choices))
    pairs = theme_pairs(thesaurus.top_terms(), event_sizes, subscription_sizes, samples, choices.seed)
    _lines(folder / "themes.jsonl", pairs)
    arrays, truth = load_arrays(load.subscriptions, load.events), Truth(load.relevant, load.wider)
    baseline = quality(arrays, truth, space.measure(choices.measure[0], **choices.measure[1]))
    grid = Grid(arrays, truth, pairs, space=choices.space, measure=choices.measure, folder=folder)
    if grid.lacking():
        from likewise.pipeline.session import spark_session

        with spark_session(master) as spark:
            grid.run(spark, console)
    results = grid.results()
    _lines(folder / "results.jsonl", results)
    timed = [pair for pair in pairs if pair.sample < choices.throughput]
    path = folder / f"throughput-{load_key(arrays, (), choices.space, choices.measure)}.jsonl"
    speeds, slow = _speeds(choices, space, load, timed, path, console) if timed else ([], 0.0)
    measures = tuple(_measures(space, arrays, truth, choices.model, console))
    report = _report(choices, space, load, baseline, results, speeds, slow, measures, grid.seconds())
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


def _measures(
    space: Space, arrays: LoadArrays, truth: Truth, model: str | None, console: Console | None
) -> Iterator[MeasureRow]:
    """Every measure without themes; the user's model, or a word that there is none."""
    chosen = [*MEASURES, ("embeddings", {} if model is None else {"model": model})]
    with counting("measures", len(chosen), console) as tell:
        for number, (name, options) in enumerate(chosen, 1):
            said = ":".join([name, *(f"{k}={v}" for k, v in options.items() if k != "model")])
            try:
                found = quality(arrays, truth, space.measure(name, **options))
            except LikewiseError as error:  # a measure whose model or dependency is not there
                yield MeasureRow(said, 0.0, 0.0, f"not available: {error}")
            else:
                yield MeasureRow(said, found.f1, found.wider_f1)
            tell(number)


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


def figures(report: Report) -> dict[str, Figure]:
    """The four maps by name: F1, its standard error, throughput, its standard error (Figures 7 to 10).

    An error needs two samples of a cell; a map of errors that has none is left out.
    """
    from likewise.evaluation.thematic.heat_maps import heat_map_figure

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
    from likewise.evaluation.charts.pictures import write_png

    for name, figure in figures(report).items():
        write_png(figure, folder / f"{name}.png")


def _lines(path: Path, rows: list[ThemePair] | list[SubExperiment] | list[Throughput]) -> None:
    path.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
