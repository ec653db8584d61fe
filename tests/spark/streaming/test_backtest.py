"""Promises of `likewise backtest`: what a Matcher finds, counted, and what changes between two versions."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

import likewise as lw
from likewise.cli.main import run
from likewise.errors import InputError
from likewise.lake.change_log import ChangeLog
from likewise.spark.streaming.backtest import backtest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.timeout(900)  # the first test may wait for Spark, and for kernels to be compiled


def found_by(held: Any, events: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """For each id the events that a Matcher finds, and their scores."""
    matcher = lw.Matcher()
    matcher.add_many([each.subscription for each in held.subscriptions.values()])
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for each in events:
        for match in matcher.match(lw.Event(lw.event(each["payload"]).tuples, id=each["id"])):
            found[match.subscription_id][each["id"]] = match.score
    return found


def jsonl(path: Path) -> dict[str, dict[str, Any]]:
    return {line["id"]: line for line in map(json.loads, path.read_text().splitlines())}


def test_counts_scores_examples_and_changes_are_those_of_a_matcher(spark: SparkSession, tmp_path: Path) -> None:
    """Exact and relaxed; one changed, one gone, one new, one as it was."""
    chance = random.Random(2)
    events = [
        {
            "v": 1,
            "id": f"e{n}",
            "payload": {"temperature": chance.randint(0, 40), "city": chance.choice(["Galway", "Cork"])},
        }
        for n in range(80)
    ]
    (tmp_path / "in").mkdir()
    for part in range(2):
        lines = [json.dumps(each) + "\n" for each in events[part::2]]
        (tmp_path / "in" / f"events{part}.jsonl").write_text("".join([*lines, "no event\n"]))
    log = ChangeLog(tmp_path / "log")
    texts = {"warm": "{temperature > 20}", "gone": "{city = Cork}", "same": "{city = Galway}", "heat": "{heat~ > 30}"}
    log.add([lw.parse(text, id=id) for id, text in texts.items()], at=0)
    log.add([lw.parse("{temperature > 25, city = Galway}", id="warm"), lw.parse("{temperature < 3}", id="new")], at=0)
    log.remove(["gone"])
    report = backtest(spark, tmp_path / "in", log, tmp_path / "out", against=1, examples=3)
    now, before = found_by(log.snapshot(), events), found_by(log.snapshot(1), events)
    assert (report.events, report.bad, report.version, report.against) == (80, 2, 3, 1)
    assert report.matches == sum(map(len, now.values()))
    rows = {row["id"]: row for row in pq.read_table(tmp_path / "out" / "subscriptions.parquet").to_pylist()}
    assert {id: row["events"] for id, row in rows.items()} == {id: len(now.get(id, ())) for id in rows}
    for id, scores in now.items():
        assert rows[id]["lowest"] == pytest.approx(min(scores.values()), abs=1e-6)
        assert rows[id]["mean"] == pytest.approx(sum(scores.values()) / len(scores), abs=1e-6)
    for id, line in jsonl(tmp_path / "out" / "examples.jsonl").items():
        assert len(line["examples"]) == min(3, len(now[id]))
        assert {each["event_id"] for each in line["examples"]} <= set(now[id])
    changes = jsonl(tmp_path / "out" / "changes.jsonl")
    assert "same" not in changes
    for id in ("warm", "gone", "new"):
        gained, lost = set(now.get(id, ())) - set(before.get(id, ())), set(before.get(id, ())) - set(now.get(id, ()))
        assert (changes[id]["gained"], changes[id]["lost"]) == (len(gained), len(lost))
        assert {each["event_id"] for each in changes[id]["lost_examples"]} <= lost
    assert (report.gained, report.lost) == tuple(sum(c[k] for c in changes.values()) for k in ("gained", "lost"))


def test_the_command_says_what_was_found_and_replaces_nothing(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One file will do; a folder that is there is replaced only if told."""
    (tmp_path / "events.jsonl").write_text('{"t": 30}\n{"t": 3}\n')
    ChangeLog(tmp_path / "log").add([lw.parse("{t > 25}", id="warm"), lw.parse("{t > 99}", id="hot")], at=0)
    said = ["backtest", str(tmp_path / "events.jsonl"), "-s", str(tmp_path / "log"), "--out", str(tmp_path / "out")]
    assert run(said) == 0
    assert "2 events, 1 met something, 1 matches, 0 bad; 1 of 2 subscriptions found nothing" in capsys.readouterr().out
    assert run(said) == 2
    assert run([*said, "--overwrite", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["silent"] == 1


@pytest.mark.parametrize("out", ["in", "in/deep", ".", "log", "log/changes", "mine", "mine.txt"])
def test_a_backtest_replaces_nothing_but_a_backtest(tmp_path: Path, out: str) -> None:
    """Stored events, a change log and what a person keeps there stay, whatever is said; nothing runs before."""
    for folder in ("in", "mine"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.jsonl").write_text('{"t": 30}\n')
    (tmp_path / "mine" / "summary.json").write_text("{}")
    (tmp_path / "mine.txt").write_text("mine")
    log = ChangeLog(tmp_path / "log")
    log.add([lw.parse("{t > 25}", id="warm")], at=0)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    with pytest.raises(InputError, match="choose another folder"):
        backtest(None, tmp_path / "in", log, tmp_path / out, overwrite=True)  # type: ignore[arg-type]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_a_folder_without_events_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    """With what was expected there."""
    (tmp_path / "in").mkdir()
    log = ChangeLog(tmp_path / "log")
    log.add([lw.parse("{t > 25}", id="warm")], at=0)
    with pytest.raises(InputError, match="there are no events in"):
        backtest(spark, tmp_path / "in", log, tmp_path / "out")
    assert not (tmp_path / "out").exists()
