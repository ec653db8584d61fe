"""Every measure on the thematic load without themes, and the rewriting baseline beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from likewise.errors import LikewiseError
from likewise_experiments.progress import counting
from likewise_experiments.thematic.load import exact_relevance
from likewise_experiments.thematic.rewriting import Rewriting
from likewise_experiments.thematic.sub_experiment import averaged_f1, best_f1, curves, scores, ten_sets
from likewise_experiments.thematic.throughput import rewriting_throughput, warm_throughput

if TYPE_CHECKING:
    from rich.console import Console

    from likewise.semantics.measure import Measure
    from likewise.semantics.space import Space
    from likewise_experiments.thematic.load import ThematicLoad
    from likewise_experiments.thematic.load_arrays import LoadArrays

MEASURES: Final[tuple[tuple[str, Mapping[str, str]], ...]] = (
    ("esa", {"metric": "letter"}),
    ("esa", {"metric": "raw"}),
    ("esa", {"metric": "unit"}),
    ("esa", {"metric": "cosine"}),
    ("jcn", {}),
    ("names", {}),
    ("combine", {}),
)


class MeasureRow(msgspec.Struct, frozen=True):
    """A measure without themes: maximal F1 by lineage and by the wider reading.

    `meant_f1` counts all events of a seed that meets the exact subscription, also those that changed a part which
    is not relaxed; `least` and `most` are the range of F1 over ten sets of a tenth to all of the subscriptions.
    `events_per_s` is the throughput, a second of CPU, once every pair of terms has its score.
    """

    measure: str
    f1: float
    wider_f1: float
    note: str = ""
    meant_f1: float = 0.0
    least: float = 0.0
    most: float = 0.0
    events_per_s: float = 0.0


def measure_rows(
    space: Space,
    arrays: LoadArrays,
    load: ThematicLoad,
    rewriting: Rewriting,
    *,
    model: str | None = None,
    shared: bool = False,
    console: Console | None = None,
) -> Iterator[MeasureRow]:
    """Every measure without themes; the user's model, or a word that there is none; the rewriting baseline."""
    chosen = [*MEASURES, ("embeddings", {} if model is None else {"model": model})]
    meant = exact_relevance(load.subscriptions, load.seeds)[:, load.lineage]
    with counting("measures", len(chosen) + 1, console) as tell:
        for number, (name, options) in enumerate(chosen, 1):
            said = ":".join([name, *(f"{k}={v}" for k, v in options.items() if k != "model")])
            try:
                measure = space.measure(name, **options)
            except LikewiseError as error:  # a measure whose model or dependency is not there
                yield MeasureRow(said, 0.0, 0.0, f"not available: {error}")
            else:
                row = _measured(said, arrays, load, meant, measure, shared)
                yield msgspec.structs.replace(row, events_per_s=warm_throughput(measure, load))
            tell(number)
        row = _measured("rewriting with WordNet", arrays, load, meant, rewriting, shared)
        yield msgspec.structs.replace(row, events_per_s=rewriting_throughput(rewriting, load))
        tell(len(chosen) + 1)


def _measured(
    said: str, arrays: LoadArrays, load: ThematicLoad, meant: NDArray[np.bool_], measure: Measure, shared: bool
) -> MeasureRow:
    found = scores(arrays, measure, shared=shared)
    ascending = np.sort(found, axis=1)
    each = curves(found, load.relevant, ascending)
    sets = ten_sets(each)
    return MeasureRow(
        said,
        best_f1(each.mean(axis=0)),
        averaged_f1(found, load.wider, ascending)[0],
        meant_f1=averaged_f1(found, meant, ascending)[0],
        least=min(sets),
        most=max(sets),
    )
