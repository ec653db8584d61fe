"""The thematic evaluation: thousands of sub-experiments on Spark (Hasan and Curry 2014, section 5).

A sub-experiment puts one theme on all events and one on all subscriptions, ranks all events for every
subscription, and scores the ranking by the maximal F1 of the averaged precision-recall curve. Relatedness
is computed once for each pair of distinct terms. Sub-experiments are packed into tasks; each task writes a part file,
and a run that is started again goes on with the parts that are missing.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from likewise.evaluation.load_arrays import LoadArrays
from likewise.evaluation.ranking import RECALL_POINTS, interpolated_precision
from likewise.evaluation.themes import ThemePair
from likewise.matching.terms import theme_of
from likewise.semantics.measure import Measure

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from rich.console import Console

PACK = 25  # sub-experiments of a task


class Quality(msgspec.Struct, frozen=True):
    """Maximal F1 by lineage and by the wider reading, and the curve by lineage at the eleven recall points."""

    f1: float
    wider_f1: float
    precision: tuple[float, ...]


class SubExperiment(msgspec.Struct, frozen=True):
    """One sub-experiment's result."""

    event_size: int
    subscription_size: int
    sample: int
    f1: float
    wider_f1: float


class Truth(msgspec.Struct, frozen=True, eq=False):
    """Which events are relevant to which subscription, in both readings."""

    lineage: NDArray[np.bool_]
    wider: NDArray[np.bool_]


def scores(
    arrays: LoadArrays, measure: Measure, asked: Sequence[str] = (), seen: Sequence[str] = ()
) -> NDArray[np.float64]:
    """The score of every subscription (row) and event (column), the sides under these theme tags."""
    from likewise.evaluation.mapping_kernels import all_products

    similarity = arrays.similarities(measure, theme_of(asked), theme_of(seen))
    products: NDArray[np.float64] = all_products(similarity, arrays.subscriptions, arrays.events)
    parts = 2 * (arrays.subscriptions >= 0).sum(axis=1)
    found: NDArray[np.float64] = products ** (1 / parts)[:, None]
    return found


def averaged_f1(scores: NDArray[np.float64], relevant: NDArray[np.bool_]) -> tuple[float, NDArray[np.float64]]:
    """The maximal F1 of the curve averaged over the subscriptions that have relevant events, and that curve.

    >>> averaged_f1(np.array([[0.9, 0.5], [0.1, 0.7]]), np.array([[True, False], [False, True]]))[0]
    1.0
    """
    judged = np.flatnonzero(relevant.any(axis=1)).tolist()
    curve = np.mean([interpolated_precision(scores[i], relevant[i]) for i in judged], axis=0)
    f1 = 2 * curve * RECALL_POINTS / np.maximum(curve + RECALL_POINTS, 1e-12)
    return float(f1.max()), curve


def quality(
    arrays: LoadArrays, truth: Truth, measure: Measure, asked: Sequence[str] = (), seen: Sequence[str] = ()
) -> Quality:
    """How well a measure ranks, under theme tags or none."""
    found = scores(arrays, measure, asked, seen)
    f1, curve = averaged_f1(found, truth.lineage)
    return Quality(f1, averaged_f1(found, truth.wider)[0], tuple(curve.tolist()))


def run_grid(
    spark: SparkSession,
    arrays: LoadArrays,
    truth: Truth,
    pairs: Sequence[ThemePair],
    *,
    space: str | None,
    measure: tuple[str | None, Mapping[str, str]],
    folder: Path,
    console: Console | None = None,
) -> list[SubExperiment]:
    """Every sub-experiment, on Spark; parts that `folder` holds already are not computed again.

    On a cluster the workers must see the space and the folder.
    """
    from likewise.pipeline.progress import progress

    parts = folder / f"parts-{_key(arrays, pairs, space, measure)}"
    parts.mkdir(parents=True, exist_ok=True)
    packs = [tuple(pairs[i : i + PACK]) for i in range(0, len(pairs), PACK)]
    lacking = [n for n in range(len(packs)) if not _part(parts, n).is_file()]
    if lacking:
        work = _worker(arrays, truth, packs, lacking, space, measure, str(parts))
        rows = spark.range(0, len(lacking), 1, numPartitions=len(lacking))
        with progress(spark, ["sub-experiments"], console):
            rows.mapInArrow(work, "done long").count()
    lines = [line for n in range(len(packs)) for line in _part(parts, n).read_bytes().splitlines()]
    return [msgspec.json.decode(line, type=SubExperiment) for line in lines]


def _key(arrays: LoadArrays, pairs: Sequence[ThemePair], *choices: object) -> str:
    """What a part file depends on."""
    digest = hashlib.sha256(repr(choices).encode())
    digest.update(msgspec.json.encode(list(pairs)))
    for each in (arrays.events, arrays.subscriptions, arrays.tuples, arrays.predicates):
        digest.update(each.tobytes())
    digest.update(msgspec.json.encode([arrays.seen_values, arrays.asked_values]))
    return digest.hexdigest()[:16]


def _part(folder: Path, number: int) -> Path:
    return folder / f"part-{number:05}.jsonl"


def _worker(
    arrays: LoadArrays,
    truth: Truth,
    packs: Sequence[Sequence[ThemePair]],
    lacking: Sequence[int],
    space: str | None,
    measure: tuple[str | None, Mapping[str, str]],
    folder: str,
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What a task does: open the space, run its pack, write its part whole or not at all."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from likewise.semantics.library import load_space

        chosen: Any = load_space(space).measure(measure[0], **measure[1])
        done = 0
        for batch in batches:
            for place in batch.column(0).to_numpy(zero_copy_only=False).tolist():
                path = _part(Path(folder), lacking[place])
                found = []
                for pair in packs[lacking[place]]:
                    q = quality(arrays, truth, chosen, pair.subscription, pair.event)
                    found.append(SubExperiment(pair.event_size, pair.subscription_size, pair.sample, q.f1, q.wider_f1))
                near = path.with_suffix(f".{os.getpid()}")
                near.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in found))
                os.replace(near, path)
                done += len(found)
        yield pa.RecordBatch.from_arrays([pa.array([done], pa.int64())], names=["done"])

    return run
