"""Promises of a worker's task that need no Spark."""

from __future__ import annotations

import gc
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import likewise as lw
from likewise.errors import FormatError
from likewise.lake.change_log import ChangeLog
from likewise.pipeline.streaming.inlets.ranges import FileRange, Records
from likewise.pipeline.streaming.matchers import MeaningChoice, opened, save_matcher
from likewise.pipeline.streaming.task import YOUNG, Order, run_task

pytestmark = pytest.mark.timeout(600)  # kernels may have to be compiled


@pytest.mark.parametrize("wrong", [False, True], ids=["done", "refused"])
def test_garbage_is_looked_for_seldom_only_while_a_task_runs(tmp_path: Path, wrong: bool) -> None:
    """A worker serves others, too: what it found is what it leaves, also after an error."""
    log = ChangeLog(tmp_path / "log")
    log.add([lw.parse("{t > 1}", id="a")], at=0)
    saved = save_matcher(log.held(), 0, MeaningChoice(), tmp_path / "matchers")
    seen: list[int] = []

    def came() -> Iterator[Records]:
        seen.append(gc.get_threshold()[0])
        if wrong:
            raise FormatError("no event")
        return
        yield

    before = gc.get_threshold()
    read = FileRange(str(tmp_path), "a.jsonl", "lines", 0, 0, 0, 0)
    done = run_task(Order("q", 0, 0, read, saved, 0, "matches", "t", str(tmp_path / "lake")), came())
    assert (seen, bool(done.code), gc.get_threshold()) == ([YOUNG], wrong, before)


def test_a_log_that_was_made_anew_in_the_same_folder_is_seen(tmp_path: Path) -> None:
    """A worker that lives on has opened the matcher of the former, which has the same version and path."""
    for text, met in (("{t > 1}", ["a"]), ("{t > 9}", [])):
        shutil.rmtree(tmp_path / "log", ignore_errors=True)
        log = ChangeLog(tmp_path / "log")
        log.add([lw.parse(text, id="a")], at=0)
        saved = save_matcher(log.held(), 0, MeaningChoice(), log.folder / "matchers")
        assert [match.subscription_id for match in opened(saved).match({"t": 5})] == met
