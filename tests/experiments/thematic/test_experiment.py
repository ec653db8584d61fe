"""The thematic evaluation ranks as the matcher does, and tells what it found."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from rich.console import Console

from benchmarks.yardsticks.numpy_approximate import NumpyApproximate
from likewise.errors import InputError
from likewise.matching.reference.match_threshold import part_floor
from likewise.matching.thematic.engine import ThematicEngine
from likewise.model import Event
from likewise.semantics.library import load_space
from likewise.testing import TableMeasure
from likewise_experiments.charts.pictures import write_png
from likewise_experiments.thematic.grid import Grid
from likewise_experiments.thematic.heat_maps import heat_map_figure
from likewise_experiments.thematic.load import ThematicLoad, thematic_load
from likewise_experiments.thematic.load_arrays import LoadArrays, load_arrays
from likewise_experiments.thematic.report import Cell, cells, headline, sentence
from likewise_experiments.thematic.sub_experiment import SubExperiment, Truth, averaged_f1, quality, scores
from likewise_experiments.thematic.themes import read_cells, theme_pairs, theme_sizes
from likewise_experiments.thematic.throughput import Throughput, cold_throughput, throughputs
from tests.experiments.small_thesaurus import small_thesaurus

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MEASURE = TableMeasure(seed=3)


@pytest.fixture(scope="module")
def load() -> ThematicLoad:
    """A small load."""
    return thematic_load(small_thesaurus(), seeds=12, events=60, subscriptions=15)


@pytest.fixture(scope="module")
def arrays(load: ThematicLoad) -> LoadArrays:
    """The same as arrays."""
    return load_arrays(load.subscriptions, load.events)


@pytest.mark.parametrize("tags", [((), ()), (("energy", "transport"), ("energy",))])
def test_scores_are_those_of_the_matcher(
    load: ThematicLoad, arrays: LoadArrays, tags: tuple[tuple[str, ...], tuple[str, ...]]
) -> None:
    """All pairs at once equal the thematic engine at threshold 0, under the same themes."""
    import msgspec

    asked, seen = tags
    engine = ThematicEngine(MEASURE, 0.0)
    for ordinal, subscription in enumerate(load.subscriptions):
        engine.add(ordinal, msgspec.structs.replace(subscription, themes=asked), 0)
    found = engine.match_batch([Event(e.tuples, themes=seen) for e in load.events], [0] * len(load.events))
    wanted = np.zeros((len(load.subscriptions), len(load.events)))
    assert found.scores is not None
    wanted[found.ordinals, found.event_index] = found.scores
    assert np.allclose(scores(arrays, MEASURE, asked, seen), wanted, atol=1e-6)
    assert (wanted > 0).any()


@pytest.mark.parametrize("threshold", [0.0, 0.4])
def test_the_numpy_yardstick_answers_as_the_engine(load: ThematicLoad, arrays: LoadArrays, threshold: float) -> None:
    """What the benchmark compares with is right."""
    engine = ThematicEngine(MEASURE, threshold)
    for ordinal, subscription in enumerate(load.subscriptions):
        engine.add(ordinal, subscription, 0)
    yardstick = NumpyApproximate(
        arrays, arrays.similarities(MEASURE, floor=part_floor(threshold)), load.events, threshold
    )
    for event in load.events:
        ordinals, found = yardstick.match(event)
        ours = engine.find(event, 0)
        assert ordinals.tolist() == ours.ordinals.tolist()
        assert found.tolist() == pytest.approx(ours.scores.tolist(), abs=1e-6)  # type: ignore[union-attr]


def test_f1_is_that_of_the_averaged_curve() -> None:
    """Two subscriptions, one ranked rightly, one upside down: precision 1 and 1/2 at every recall."""
    found, curve = averaged_f1(np.array([[0.9, 0.1], [0.9, 0.1]]), np.array([[True, False], [False, True]]))
    assert curve.tolist() == [0.75] * 11
    assert found == pytest.approx(2 * 0.75 / 1.75)


def test_an_all_knowing_measure_reaches_the_top(load: ThematicLoad, arrays: LoadArrays) -> None:
    """With the thesaurus itself as the measure, relevant events come first but for what it confuses."""
    thesaurus = small_thesaurus()
    known = [*arrays.asked_attributes, *arrays.asked_values]
    table = {(t.text, a.text): 0.9 for t in known for a in thesaurus.alternatives(t.text)}
    truth = Truth(load.relevant, load.wider)
    assert quality(arrays, truth, TableMeasure(table)).wider_f1 > 0.95
    assert quality(arrays, truth, TableMeasure()).f1 < quality(arrays, truth, TableMeasure(table)).f1


def test_one_theme_always_contains_the_other() -> None:
    """In every cell, with the sizes asked for; a cell's themes do not depend on the rest of the grid."""
    tops = [f"tag {n}" for n in range(40)]
    pairs = theme_pairs(tops, theme_sizes(30), [1, 30], 2)
    for pair in pairs:
        assert (len(pair.event), len(pair.subscription)) == (pair.event_size, pair.subscription_size)
        assert set(pair.event) <= set(pair.subscription) or set(pair.event) >= set(pair.subscription)
    assert set(theme_pairs(tops, [5], [30], 1)) <= set(pairs)


def test_cells_are_read_or_refused() -> None:
    """`30x30x5` are the paper's 4,500 sub-experiments."""
    events, subscriptions, samples = read_cells("30x30x5")
    assert len(events) * len(subscriptions) * samples == 4_500
    for wrong in ("30x30", "x", "0x1x1", "31x1x1"):
        with pytest.raises(InputError):
            read_cells(wrong)


def test_headlines_are_counted_from_the_cells() -> None:
    """Shares, ranges, the diagonal, and both triangles."""
    results = [
        SubExperiment(e, s, n, 0.5 + 0.1 * (s - e) + 0.01 * n, 0.0) for e in (1, 2) for s in (1, 2) for n in (0, 2)
    ]
    grid = cells(results)
    told = headline(grid, 0.505)
    assert told.share_above == 0.75
    assert told.best.subscription_size > told.best.event_size
    assert told.larger_event_theme_least == pytest.approx(0.41)
    assert told.diagonal_least == told.diagonal_most == pytest.approx(0.51)
    assert told.mean_error == pytest.approx(0.01 * 2**0.5)
    assert "75 % of 4 cells" in sentence(told, "F1")


def test_heat_maps_mark_the_highest_cell_and_the_baseline(tmp_path: Path) -> None:
    """The title says where the highest cell is; a map of errors speaks of no baseline."""
    cells = [Cell(1, 1, 0.5, 0.1, 2), Cell(1, 2, 0.7, 0.0, 2)]
    figure = heat_map_figure(cells, "F1", baseline=0.6, percent=True)
    write_png(figure, tmp_path / "f1.png")
    assert (tmp_path / "f1.png").read_bytes().startswith(b"\x89PNG")
    said = " ".join(text.get_text() for text in figure.axes[0].texts)
    assert "70.0 % at 1 event and 2 subscription tags" in said
    assert "without themes 60.0 %" in said
    errors = heat_map_figure(cells, "error", error=True, baseline=0.6, percent=True)
    assert "without themes" not in " ".join(text.get_text() for text in errors.axes[0].texts)


def test_maps_are_drawn_also_where_every_cell_is_alike() -> None:
    """A grid of one value has no range to colour."""
    assert len(heat_map_figure([Cell(1, 1, 5.0, 0.0, 1), Cell(1, 2, 5.0, 0.0, 1)], "events/s", baseline=5.0).axes) == 2


def test_throughput_is_measured_cold_every_time(load: ThematicLoad) -> None:
    """A run knows nothing of the run before: the measure is asked about every term again."""
    space = load_space()
    few = ThematicLoad(
        "small", 0, load.seeds, load.events[:10], load.lineage, load.subscriptions[:3], load.relevant, load.wider
    )
    assert cold_throughput(space, ("thematic", {}), few, ["energy policy"], ["energy policy"]) > 0


def test_sub_experiments_run_on_spark_and_go_on_where_they_stopped(
    spark: SparkSession, load: ThematicLoad, arrays: LoadArrays, tmp_path: Path
) -> None:
    """Each result is that of the same call outside Spark; finished parts are not computed again."""
    truth = Truth(load.relevant, load.wider)
    pairs = theme_pairs(small_thesaurus().top_terms(), [1, 3], [1, 2], 1)
    grid = Grid(arrays, truth, pairs, space=None, measure=("thematic", {}), folder=tmp_path)
    assert (grid.done(), len(grid.lacking())) == (0, 1)
    said = StringIO()
    grid.run(spark, Console(file=said))
    assert "sub-experiments: 4 of 4" in said.getvalue()
    assert (grid.done(), grid.lacking()) == (4, [])
    assert grid.seconds() > 0
    results = grid.results()
    measure = load_space().measure("thematic")
    wanted = [quality(arrays, truth, measure, p.subscription, p.event).f1 for p in pairs]
    assert [r.f1 for r in results] == pytest.approx(wanted)
    (part,) = tmp_path.glob("parts-*/part-*.jsonl")
    part.unlink()
    again = Grid(arrays, truth, pairs, space=None, measure=("thematic", {}), folder=tmp_path)
    again.run(spark)
    assert again.results() == results


def test_timed_cells_are_written_one_by_one_and_not_timed_again(load: ThematicLoad, tmp_path: Path) -> None:
    """What the file holds stays; a line that was cut short is measured again."""
    space, path = load_space(), tmp_path / "throughput.jsonl"
    few = ThematicLoad(
        "small", 0, load.seeds, load.events[:5], load.lineage, load.subscriptions[:2], load.relevant, load.wider
    )
    pairs = theme_pairs(small_thesaurus().top_terms(), [1], [1, 2], 1)
    path.write_bytes(
        b'{"event_size":1,"subscription_size":1,"sample":0,"events_per_s":7.0}\n{"event_size":1,"subscription_si'
    )
    found = throughputs(space, ("thematic", {}), few, pairs, path)
    assert found[0] == Throughput(1, 1, 0, 7.0)
    assert found[1].events_per_s > 0
    assert throughputs(space, ("thematic", {}), few, pairs, path) == found
    assert len(path.read_bytes().splitlines()) == 2
