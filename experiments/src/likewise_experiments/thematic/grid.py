"""All sub-experiments of the thematic evaluation, on Spark or here, in packs that are written as they are done.

Sub-experiments are packed into tasks; each task writes a part file whole or not at all, and a run that is
started again goes on with the parts that are missing.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import pyarrow as pa

from likewise.semantics.measure import Measure
from likewise_experiments.progress import counting, watching
from likewise_experiments.thematic.load_arrays import LoadArrays
from likewise_experiments.thematic.sub_experiment import SubExperiment, Truth, quality
from likewise_experiments.thematic.themes import ThemePair

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from rich.console import Console

PACK: Final = 25  # sub-experiments of a task, at the most
FEWEST: Final = 5  # at the least: a task opens the space anew
TASKS: Final = 32  # of a small grid, so that its progress is seen
MeasureChoice = tuple[str | None, Mapping[str, str]]


class Grid:
    """The sub-experiments of one load, one measure and many pairs of themes, and the folder their results are in.

    On a cluster the workers must see the space and the folder.
    """

    def __init__(
        self,
        arrays: LoadArrays,
        truth: Truth,
        pairs: Sequence[ThemePair],
        *,
        space: str | None,
        measure: MeasureChoice,
        folder: Path,
        shared: bool = False,
    ) -> None:
        self._arrays, self._truth, self._space, self._measure = arrays, truth, space, measure
        self._shared = shared
        size = max(FEWEST, min(PACK, len(pairs) // TASKS))
        self._packs = [tuple(pairs[i : i + size]) for i in range(0, len(pairs), size)]
        self._total = len(pairs)
        smaller = () if size == PACK else (size,)
        with_shared = ("shared",) if shared else ()
        self.folder = folder.absolute() / f"parts-{load_key(arrays, pairs, space, measure, *smaller, *with_shared)}"
        self.folder.mkdir(parents=True, exist_ok=True)

    def lacking(self) -> list[int]:
        """The packs that are still to be run."""
        return [n for n in range(len(self._packs)) if not _part(self.folder, n).is_file()]

    def done(self) -> int:
        """How many sub-experiments have results."""
        return self._total - sum(len(self._packs[n]) for n in self.lacking())

    def run(self, spark: SparkSession, console: Console | None = None) -> None:
        """Run what is lacking on Spark, and note how long it took."""
        lacking, begun = self.lacking(), time.monotonic()
        work = _worker(
            self._arrays, self._truth, self._packs, lacking, self._space, self._measure, self._shared, str(self.folder)
        )
        rows = spark.range(0, len(lacking), 1, numPartitions=max(1, len(lacking)))
        try:
            with counting("sub-experiments", self._total, console, done=self.done()) as tell, watching(self.done, tell):
                rows.mapInArrow(work, "done long").count()
        finally:
            self._note(begun)

    def run_here(self, console: Console | None = None) -> None:
        """Run what is lacking in this process: for grids too small to be worth a start of Spark."""
        from likewise.semantics.library import load_space

        lacking, begun = self.lacking(), time.monotonic()
        measure = load_space(self._space).measure(self._measure[0], **self._measure[1])
        try:
            with counting("sub-experiments", self._total, console, done=self.done()) as tell:
                for number in lacking:
                    _run_pack(
                        self._arrays,
                        self._truth,
                        self._packs[number],
                        measure,
                        self._shared,
                        _part(self.folder, number),
                    )
                    tell(self.done())
        finally:
            if lacking:
                self._note(begun)

    def _note(self, begun: float) -> None:
        seconds = self.seconds() + time.monotonic() - begun
        (self.folder / "seconds").write_text(f"{seconds:.1f}\n")

    def seconds(self) -> float:
        """How long the runs took so far, together."""
        path = self.folder / "seconds"
        return float(path.read_text()) if path.is_file() else 0.0

    def results(self) -> list[SubExperiment]:
        """Every result, in the order of the pairs; all packs must have been run."""
        lines = [line for n in range(len(self._packs)) for line in _part(self.folder, n).read_bytes().splitlines()]
        return [msgspec.json.decode(line, type=SubExperiment) for line in lines]


def load_key(arrays: LoadArrays, pairs: Sequence[ThemePair], *choices: object) -> str:
    """What results depend on, as a short name."""
    digest = hashlib.sha256(repr(choices).encode())
    digest.update(msgspec.json.encode(list(pairs)))
    for each in (arrays.events, arrays.subscriptions, arrays.tuples, arrays.predicates, arrays.relaxed):
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
    measure: MeasureChoice,
    shared: bool,
    folder: str,
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What a task does: open the space, run its pack, write its part whole or not at all."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from likewise.semantics.library import load_space

        chosen = load_space(space).measure(measure[0], **measure[1])
        done = 0
        for batch in batches:
            for place in batch.column(0).to_numpy(zero_copy_only=False).tolist():
                number = lacking[place]
                done += _run_pack(arrays, truth, packs[number], chosen, shared, _part(Path(folder), number))
        yield pa.RecordBatch.from_arrays([pa.array([done], pa.int64())], names=["done"])

    return run


def _run_pack(
    arrays: LoadArrays, truth: Truth, pairs: Sequence[ThemePair], measure: Measure, shared: bool, path: Path
) -> int:
    """Run the sub-experiments of one pack and write its part; how many there were."""
    found = []
    for pair in pairs:
        q = quality(arrays, truth, measure, pair.subscription, pair.event, shared=shared)
        found.append(SubExperiment(pair.event_size, pair.subscription_size, pair.sample, q.f1, q.wider_f1))
    near = path.with_suffix(f".{os.getpid()}")
    near.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in found))
    os.replace(near, path)
    return len(found)
