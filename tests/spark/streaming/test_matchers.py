"""Promises of the matchers that are saved for workers."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import likewise as lw
from likewise.lake.change_log import ChangeLog
from likewise.lake.storage import files_below
from likewise.spark.streaming.matchers import MeaningChoice, open_matcher, save_matcher

pytestmark = pytest.mark.timeout(600)  # kernels may have to be compiled


def test_a_log_that_was_made_anew_in_the_same_folder_is_seen(tmp_path: Path) -> None:
    """A worker that lives on has opened the matcher of the former, which has the same version and path."""
    for text, met in (("{t > 1}", ["a"]), ("{t > 9}", [])):
        shutil.rmtree(tmp_path / "log", ignore_errors=True)
        log = ChangeLog(tmp_path / "log")
        log.add([lw.parse(text, id="a")], at=0)
        saved = save_matcher(log.snapshot(), 0, MeaningChoice(), log.folder / "matchers")
        assert [match.subscription_id for match in open_matcher(saved).match({"t": 5})] == met


def test_a_matcher_of_a_former_log_is_not_gone_on_from(tmp_path: Path) -> None:
    """Where only the versions went, or a log was restored and went another way: numbers are the same, meanings not."""
    folder = tmp_path / "log"
    for bound, met in ((1, ["a", "b"]), (9, ["b"])):
        for name in ("changes", "snapshots"):
            shutil.rmtree(folder / name, ignore_errors=True)
        log = ChangeLog(folder)
        for id, text in (("a", f"{{t > {bound}}}"), ("b", "{t > 2}")):
            log.add([lw.parse(text, id=id)], at=0)
            saved = save_matcher(log.snapshot(), 0, MeaningChoice(), folder / "matchers")
        assert sorted(match.subscription_id for match in open_matcher(saved).match({"t": 5})) == met
        log.compact(keep=0)


def test_a_compaction_takes_out_the_matchers_of_versions_that_are_not_kept(tmp_path: Path) -> None:
    """A log that changes all the time would fill a disk with them; one that is missing is made again."""
    log = ChangeLog(tmp_path / "log")
    for number in range(6):
        log.add([lw.parse(f"{{t > {number}}}", id=f"s{number}")], at=0)
        save_matcher(log.snapshot(), 0, MeaningChoice(), log.folder / "matchers")
    before = len([*files_below(log.folder / "matchers")])
    gone = log.compact(keep=2)
    assert sorted(int(path.name[:20]) for path in (log.folder / "matchers").iterdir()) == [4, 5, 6]
    assert gone == before // 2
    assert (
        len(open_matcher(save_matcher(log.snapshot(2), 0, MeaningChoice(), log.folder / "matchers")).match({"t": 9}))
        == 2
    )
