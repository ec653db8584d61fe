"""A progress bar over a running Spark job, fed by Spark's own count of finished tasks."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from rich.console import Console
    from rich.progress import Progress

_PAUSE: Final = 0.3  # seconds between two looks


@contextmanager
def progress(spark: SparkSession, stages: Sequence[str], console: Console | None) -> Iterator[None]:
    """Show the job of the block, a bar for each stage in the order given; nothing without a console.

    Spark Connect has no status tracker; there the bars only show that work is under way.
    """
    if console is None:
        yield
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:.0f}/{task.total}"))
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as bars:
        done = threading.Event()
        watcher = threading.Thread(target=_watch, args=(spark, stages, bars, done), name="progress", daemon=True)
        watcher.start()
        try:
            yield
        finally:
            done.set()
            watcher.join()


def _watch(spark: SparkSession, stages: Sequence[str], bars: Progress, done: threading.Event) -> None:
    tasks = [bars.add_task(name, total=None) for name in stages]
    tracker = spark.sparkContext.statusTracker() if hasattr(spark, "_jsc") else None
    stage_ids: list[int] = []
    while not done.wait(_PAUSE):
        if tracker is None:
            continue
        for stage in sorted(tracker.getActiveStageIds()):
            if stage not in stage_ids:
                stage_ids.append(stage)
        for task, stage in zip(tasks, stage_ids, strict=False):
            info = tracker.getStageInfo(stage)
            if info is not None:
                bars.update(task, total=info.numTasks, completed=info.numCompletedTasks)
