"""Which departure from the paper ends the gain of themes: the same small grid for every variant of the matcher.

Every pair of the sizes 1, 2, 4, 7, 11, 16, 22 and 30, one sample each: 64 sub-experiments a variant.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from likewise.semantics.library import load_space
from likewise_experiments.progress import counting
from likewise_experiments.thematic.grid import Grid
from likewise_experiments.thematic.letter import Variant, variants
from likewise_experiments.thematic.load import EVENTS, SUBSCRIPTIONS, thematic_load
from likewise_experiments.thematic.load_arrays import load_arrays
from likewise_experiments.thematic.report import cells, headline
from likewise_experiments.thematic.sub_experiment import Truth, quality
from likewise_experiments.thematic.themes import theme_pairs
from likewise_experiments.thematic.thesauri import open_thesaurus

if TYPE_CHECKING:
    from rich.console import Console

SIZES: Final = (1, 2, 4, 7, 11, 16, 22, 30)
FILE: Final = "departures.json"


class Row(msgspec.Struct, frozen=True):
    """One variant: its own baseline, and what themes do to it; `gain` is the mean of F1 less the baseline."""

    variant: str
    measure: str
    shared: bool
    baseline: float
    share_above: float
    gain: float
    mean: float
    best: float
    worst: float
    diagonal: float
    larger_event_themes: float
    larger_subscription_themes: float


class Departures(msgspec.Struct, frozen=True):
    """What every variant did on one space and one load."""

    space: str
    thesaurus: str
    seed: int
    sizes: tuple[int, ...]
    events: int
    subscriptions: int
    rows: tuple[Row, ...]


def departures(
    thesaurus: str,
    folder: Path,
    *,
    space: str | None = None,
    sizes: Sequence[int] = SIZES,
    seed: int = 0,
    events: int = EVENTS,
    subscriptions: int = SUBSCRIPTIONS,
    chosen: Sequence[Variant] | None = None,
    console: Console | None = None,
) -> Departures:
    """Run every variant in this process; what an interrupted run had finished is not done again."""
    words = open_thesaurus(thesaurus)
    load = thematic_load(words, events=events, subscriptions=subscriptions, seed=seed)
    arrays, truth = load_arrays(load.subscriptions, load.events), Truth(load.relevant, load.wider)
    pairs = theme_pairs(words.top_terms(), sizes, sizes, 1, seed)
    asked = tuple(variants()) if chosen is None else tuple(chosen)
    opened = load_space(space)
    rows = []
    with counting("variants", len(asked), console) as tell:
        for number, variant in enumerate(asked, 1):
            grid = Grid(
                arrays, truth, pairs, space=space, measure=variant.measure, folder=folder, shared=variant.shared
            )
            grid.run_here()
            name, options = variant.measure
            baseline = quality(arrays, truth, opened.measure(name, **options), shared=variant.shared).f1
            rows.append(_row(variant, grid, baseline))
            tell(number)
    found = Departures(
        opened.name, load.thesaurus, seed, tuple(sizes), len(load.events), len(load.subscriptions), tuple(rows)
    )
    (folder / FILE).write_bytes(msgspec.json.format(msgspec.json.encode(found)))
    return found


def _row(variant: Variant, grid: Grid, baseline: float) -> Row:
    found = cells(grid.results())
    told = headline(found, baseline)
    said = ",".join(f"{option}={value}" for option, value in variant.options.items())
    return Row(
        variant=variant.name,
        measure=f"thematic:{said}" if said else "thematic",
        shared=variant.shared,
        baseline=baseline,
        share_above=told.share_above,
        gain=told.mean - baseline,
        mean=told.mean,
        best=told.best.mean,
        worst=told.worst.mean,
        diagonal=float(np.mean([c.mean for c in found if c.event_size == c.subscription_size])),
        larger_event_themes=told.larger_event_theme_mean,
        larger_subscription_themes=told.larger_subscription_theme_mean,
    )
