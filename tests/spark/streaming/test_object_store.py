"""Promises of streams whose change log and lake lie in an object store: the same rows as in folders."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import likewise as lw
from likewise.errors import InputError, Unavailable
from likewise.lake.change_log import ChangeLog
from likewise.lake.maintenance import open_lake
from likewise.lake.parts import read_part
from likewise.lake.plain_commits import PlainCommits
from likewise.lake.storage import files_below, storage_path
from likewise.spark.stream import Stream, StreamSettings
from likewise.spark.streaming import matcher_copies
from likewise.spark.streaming.matchers import MeaningChoice, open_matcher, save_matcher
from tests.lake.s3_server import served_bucket

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.timeout(900)  # the first test may wait for Spark, and for kernels to be compiled


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    with served_bucket("streams") as address:
        yield address


def test_a_stream_lives_in_a_bucket(spark: SparkSession, bucket: str, tmp_path: Path, monkeypatch: Any) -> None:
    """Killed after the parts it is repeated, and the rows are there once, as in folders."""
    monkeypatch.setattr(matcher_copies, "copy_folder", lambda folder: tmp_path / "copies")
    monkeypatch.setattr("likewise.spark.streaming.matchers.copy_folder", lambda folder: tmp_path / "copies")
    incoming = tmp_path / "in"
    incoming.mkdir()
    (incoming / "a.jsonl").write_text("".join(json.dumps({"t": t}) + "\n" for t in range(40)) + "no event\n")
    subscriptions = [lw.parse("{t > 10}", id="warm"), lw.parse("{t > 30}", id="hot")]
    found: dict[str, Counter[Any]] = {}
    for kind in ("folder", "bucket"):
        root = str(tmp_path / "here") if kind == "folder" else f"{bucket}/there"
        ChangeLog(f"{root}/log").add(subscriptions, at=0)
        settings = StreamSettings(f"files:{incoming}", f"parquet:{root}/lake", f"{root}/log", keep="wanted")
        checkpoint = tmp_path / f"{kind}-checkpoint"  # which Spark writes, that has no client of S3 here

        def die(*_: Any) -> bool:
            raise Unavailable("the driver died")

        with monkeypatch.context() as dying:
            dying.setattr(PlainCommits, "commit", die)
            with pytest.raises(Unavailable, match="the driver died"):
                list(Stream(settings, checkpoint, bad=f"{root}/bad").run(spark))
        again = Stream(settings, checkpoint, bad=f"{root}/bad")
        assert [report.repeated for report in again.run(spark)] == [True]
        lake = storage_path(f"{root}/lake")
        tables = [read_part(lake, part) for part in open_lake(lake).parts("matches")]
        found[kind] = Counter((row["offset"], *row["subscriptions"]) for table in tables for row in table.to_pylist())
        assert sum(part.rows for part in open_lake(lake).parts("events")) == 29
        (bad,) = [each.read_bytes() for each in storage_path(f"{root}/bad").iterdir()]
        assert b'"payload":"no event"' in bad
    assert found["bucket"] == found["folder"]
    assert sum(found["bucket"].values()) == 29


def test_a_log_that_was_made_anew_at_the_same_address_is_seen(bucket: str, tmp_path: Path, monkeypatch: Any) -> None:
    """Machines have copies of the former's matchers, of the same versions; compacted, the store has none of before."""
    log = ChangeLog(f"{bucket}/anew/log")
    for bound, met in ((1, ["a", "b"]), (9, ["b"])):
        for name, _ in [*files_below(log.folder)]:
            (log.folder / name).unlink()
        log = ChangeLog(log.folder)
        for id, text in (("a", f"{{t > {bound}}}"), ("b", "{t > 2}")):
            log.add([lw.parse(text, id=id)], at=0)
            monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "driver"))
            saved = save_matcher(log.snapshot(), 0, MeaningChoice(), log.folder / "matchers")
            monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "worker"))
            found = open_matcher(saved).match({"t": 5})
        assert sorted(match.subscription_id for match in found) == met
        log.compact(keep=0)
        assert {name[:20] for name, _ in files_below(log.folder / "matchers")} == {f"{2:020d}"}


def test_files_are_not_read_from_an_object_store(bucket: str, tmp_path: Path) -> None:
    """Which is said at the start."""
    ChangeLog(tmp_path / "log").add([lw.parse("{t > 1}")], at=0)
    settings = StreamSettings(f"files:{bucket}/in", f"parquet:{tmp_path / 'lake'}", str(tmp_path / "log"))
    with pytest.raises(InputError, match="read from a folder"):
        Stream(settings, tmp_path / "checkpoint")
