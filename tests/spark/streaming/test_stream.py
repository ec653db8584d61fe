"""Promises of streams from files into a lake: what a Matcher finds over the same log, once, whatever dies."""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likewise as lw
from likewise.errors import ArtefactMissing, ArtefactVersion, InputError, Unavailable
from likewise.formats.arrow.event_batch import EventBatch
from likewise.lake.change_log import ChangeLog
from likewise.lake.delta_commits import DeltaCommits
from likewise.lake.plain_commits import PlainCommits
from likewise.spark.stream import Stream, StreamSettings
from likewise.spark.streaming.sources.files import read_file
from likewise.spark.streaming.sources.ranges import FileRange

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.timeout(900)  # the first test may wait for Spark, and for kernels to be compiled
DAY = 86_400_000_000
TEXTS = [
    "{t > 10}",
    "{t > 20}",
    "{t < 5, city = Galway}",
    "{city = Cork}",
    "{t > 15 degC}",
    "{(t > 40 or city = Galway)}",
]


def some_event(chance: random.Random, number: int) -> dict[str, Any]:
    payload: dict[str, Any] = {"t": chance.randint(0, 50)}
    if chance.random() < 0.5:
        payload["city"] = chance.choice(["Galway", "Cork", "Sligo"])
    return {"v": 1, "payload": payload, "id": f"e{number}", "time": number * DAY // 20}


def lines(events: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(each) + "\n" for each in events)


class Lake:
    """A folder with events, subscriptions, a checkpoint and a lake."""

    def __init__(self, folder: Path, kind: str = "parquet") -> None:
        self.folder = folder
        self.kind = kind
        (folder / "in").mkdir()
        self.log = ChangeLog(folder / "log")

    def stream(self, **changed: Any) -> Stream:
        said = {
            "inlet": f"files:{self.folder / 'in'}",
            "outlet": f"{self.kind}:{self.folder / 'lake'}",
            "subscriptions": str(self.folder / "log"),
        }
        fields = StreamSettings.__struct_fields__
        settings = StreamSettings(**(said | {key: value for key, value in changed.items() if key in fields}))
        rest = {key: value for key, value in changed.items() if key not in fields}
        return Stream(settings, self.folder / "checkpoint", **rest)

    def put(self, name: str, events: list[dict[str, Any]]) -> None:
        (self.folder / "in" / name).write_text(lines(events))

    def rows(self, table: str) -> list[dict[str, Any]]:
        commits = DeltaCommits(self.folder / "lake") if self.kind == "delta" else PlainCommits(self.folder / "lake")
        found = [pq.read_table(self.folder / "lake" / part.path, partitioning=None) for part in commits.parts(table)]
        return [row for each in found for row in each.to_pylist()]

    def matches(self) -> Counter[tuple[str, int]]:
        return Counter((row["event_id"], number) for row in self.rows("matches") for number in row["subscriptions"])


def oracle(held: Any, events: list[dict[str, Any]]) -> Counter[tuple[str, int]]:
    """What a Matcher finds in events with what is held, by the log's numbers."""
    matcher = lw.Matcher()
    matcher.add_many([each.subscription for each in held.subscriptions.values()])
    batch = [lw.Event(lw.event(e["payload"]).tuples, id=e["id"], time=e["time"]) for e in events]
    return Counter((m.event_id or "", held.number(m.subscription_id)) for e in batch for m in matcher.match(e))


def test_a_file_that_cannot_be_read_goes_to_bad_with_its_name_and_stops_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Cut off, of other columns, or no such file at all; row groups beside a damaged one count."""
    lake = Lake(tmp_path)
    lake.log.add([lw.parse("{t > 0}", id="a")], at=0)
    table = EventBatch.from_events([lw.event({"t": n}, id=f"good-{n}") for n in range(1, 4)]).to_arrow(dictionary=False)
    whole = tmp_path / "whole"
    with pq.ParquetWriter(whole, table.schema, compression="snappy") as writer:
        for row in range(3):
            writer.write_batch(table.slice(row, 1))
    data = bytearray(whole.read_bytes())
    place = pq.read_metadata(whole).row_group(1).column(0).data_page_offset
    data[place : place + 12] = b"\xff" * 12
    (tmp_path / "in" / "page.parquet").write_bytes(data)
    (tmp_path / "in" / "cut.parquet").write_bytes(whole.read_bytes()[:-20])
    (tmp_path / "in" / "empty.parquet").write_bytes(b"")  # which Spark passes over
    pq.write_table(pa.table({"other": [1]}), tmp_path / "in" / "other.parquet")
    (tmp_path / "in" / "noise.arrow").write_bytes(bytes(range(256)))
    (tmp_path / "in" / "cut.jsonl.gz").write_bytes(gzip.compress(b'{"t": 1}\n' * 99)[:-10])
    (tmp_path / "in" / "none.jsonl.gz").write_bytes(b"no gzip")
    lake.put("good.jsonl", [{"v": 1, "payload": {"t": 1}, "id": "line"}])
    (report,) = lake.stream(bad=str(tmp_path / "bad")).run(spark)
    bad = [json.loads(line) for file in (tmp_path / "bad").iterdir() for line in file.read_text().splitlines()]
    names = ["cut.jsonl.gz", "cut.parquet", "noise.arrow", "none.jsonl.gz", "other.parquet"]
    assert sorted(each["inlet"] for each in bad) == [*names, "page.parquet"]
    assert {each["offset"] for each in bad if each["inlet"] == "page.parquet"} == {1}
    assert all("cannot be read from here on" in each["reason"] for each in bad)
    assert set(lake.matches()) == {("line", 0), ("good-1", 0), ("good-3", 0)}
    assert report.counts.bad == 6
    assert not list(lake.stream(bad=str(tmp_path / "bad")).run(spark))


@pytest.mark.parametrize("kind", ["parquet", "delta"])
def test_the_output_is_a_matchers_over_the_same_log_however_it_is_cut(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    """Random files cut into random batches, with changes of subscriptions between them."""
    if kind == "delta":
        pytest.importorskip("deltalake")
    chance = random.Random(7)
    lake = Lake(tmp_path, kind)
    lake.log.add([lw.parse(text, id=f"s{n}") for n, text in enumerate(TEXTS[:3])], at=0)
    expected: Counter[tuple[str, int]] = Counter()
    number = 0
    for turn in range(4):
        events = [some_event(chance, number + n) for n in range(chance.randint(20, 60))]
        number += len(events)
        cut = chance.randint(1, len(events) - 1)
        lake.put(f"{turn}a.jsonl", events[:cut])
        lake.put(f"{turn}b.jsonl", events[cut:])
        reports = list(lake.stream(keep="wanted", most=chance.choice([15, 40, 1000])).run(spark))
        assert sum(report.counts.events for report in reports) == len(events)
        assert {report.subscriptions for report in reports} == {lake.log.newest()}
        expected += oracle(lake.log.snapshot(), events)
        lake.log.add([lw.parse(chance.choice(TEXTS), id=f"s{chance.randint(0, 4)}")], at=turn)
        if turn == 2:
            lake.log.remove([next(iter(lake.log.snapshot().subscriptions.values())).subscription.id])
    assert lake.matches() == expected
    wanted = {id for id, _ in expected}
    kept = lake.rows("events")
    assert Counter(row["id"] for row in kept) == Counter(dict.fromkeys(wanted, 1))
    told = {row["number"]: row["id"] for row in lake.rows("subscriptions")}
    assert {met for _, met in expected} <= set(told)


def test_wanted_events_lie_by_tenant_and_day_in_event_batchs_schema(spark: SparkSession, tmp_path: Path) -> None:
    """Each file is a batch that can be matched again; an event's own time says the day."""
    lake = Lake(tmp_path)
    lake.log.add([lw.parse("{t > 10}", id="a")], at=0)
    events = [some_event(random.Random(3), n) for n in range(40)]
    lake.put("a.jsonl", events)
    list(lake.stream(keep="all", tenant="plant").run(spark))
    parts = PlainCommits(tmp_path / "lake").parts("events")
    assert [(part.tenant, part.day) for part in parts] == [("plant", "1970-01-01"), ("plant", "1970-01-02")]
    found = [EventBatch.from_arrow(pq.read_table(tmp_path / "lake" / p.path, partitioning=None)) for p in parts]
    assert [event.id for batch in found for event in batch] == [each["id"] for each in events]


def test_parquet_arrow_and_gzip_are_read_as_json_lines_are(spark: SparkSession, tmp_path: Path) -> None:
    """The same events in four forms meet the same; hidden files are passed over."""
    import gzip

    lake = Lake(tmp_path)
    lake.log.add([lw.parse("{t > 25}", id="a")], at=0)
    events = [some_event(random.Random(5), n) for n in range(30)]
    made = [lw.Event(lw.event(e["payload"]).tuples, id=e["id"], time=e["time"]) for e in events]
    batch = EventBatch.from_events(made)
    lake.put("a.jsonl", events)
    lake.put("_hidden.jsonl", events)
    (tmp_path / "in" / "b.jsonl.gz").write_bytes(gzip.compress(lines(events).encode()))
    import pyarrow as pa

    pq.write_table(
        pa.Table.from_batches([batch.to_arrow(dictionary=False)]), tmp_path / "in" / "c.parquet", row_group_size=7
    )
    (tmp_path / "in" / "d.arrow").write_bytes(batch.to_ipc())
    reports = list(lake.stream().run(spark))
    assert sum(report.counts.events for report in reports) == 4 * len(events)
    once = oracle(lake.log.snapshot(), events)
    assert lake.matches() == Counter(dict.fromkeys(once, 4))


def test_what_is_no_event_goes_to_bad_with_its_place_and_stops_nothing(spark: SparkSession, tmp_path: Path) -> None:
    """The offset is where the line begins."""
    lake = Lake(tmp_path)
    lake.log.add([lw.parse("{t > 0}", id="a")], at=0)
    (tmp_path / "in" / "a.jsonl").write_bytes(b'{"t": 1}\nno event\n\n{"t": 2}\n\xff\n')
    (report,) = lake.stream(bad=str(tmp_path / "bad")).run(spark)
    assert (report.counts.events, report.counts.bad, report.counts.matched) == (2, 2, 2)
    (file,) = (tmp_path / "bad").iterdir()
    found = [json.loads(line) for line in file.read_bytes().splitlines()]
    assert [(each["offset"], each.get("payload")) for each in found] == [(9, "no event"), (28, None)]
    assert all(each["code"] and each["reason"] for each in found)
    assert [row["offset"] for row in lake.rows("matches")] == [0, 19]


@pytest.mark.parametrize("kind", ["parquet", "delta"])
@pytest.mark.parametrize("where", ["parts", "commit"])
def test_a_driver_that_dies_anywhere_commits_a_batch_once(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, kind: str
) -> None:
    """After the parts, after the commit: equal rows to a run without; later changes do not count."""
    if kind == "delta":
        pytest.importorskip("deltalake")
    lake = Lake(tmp_path, kind)
    lake.log.add([lw.parse(text, id=f"s{n}") for n, text in enumerate(TEXTS)], at=0)
    held = lake.log.snapshot()
    events = [some_event(random.Random(11), n) for n in range(25)]
    lake.put("a.jsonl", events)
    commits = DeltaCommits if kind == "delta" else PlainCommits
    commit = commits.commit

    def die(self: Any, *rest: Any) -> bool:
        if where == "commit":
            commit(self, *rest)
        raise Unavailable("the driver died")

    with monkeypatch.context() as dying:
        dying.setattr(commits, "commit", die)
        with pytest.raises(Unavailable, match="the driver died"):
            list(lake.stream().run(spark))
    lake.log.remove(["s0"])
    lake.put("b.jsonl", [some_event(random.Random(1), 99)])
    (first, second) = lake.stream().run(spark)
    assert (first.repeated, second.repeated) == (True, False)
    assert (first.counts.events, second.counts.events) == (25 if where == "parts" else 0, 1)
    assert lake.matches() == oracle(held, events) + oracle(lake.log.snapshot(), [some_event(random.Random(1), 99)])
    assert not list(lake.stream().run(spark))


def test_a_restart_as_another_stream_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    """With words that say what was and what is."""
    lake = Lake(tmp_path)
    lake.log.add([lw.parse("{t > 0}", id="a")], at=0)
    lake.stream()
    with pytest.raises(InputError, match="checkpoint of another stream: its keep is 'matches', and 'all' was given"):
        lake.stream(keep="all")


def test_a_checkpoint_of_an_older_release_is_refused_with_how_to_drain_it(tmp_path: Path) -> None:
    """It stays as it is, so that the older release can go on from it."""
    lake = Lake(tmp_path)
    lake.log.add([lw.parse("{t > 0}", id="a")], at=0)
    (tmp_path / "checkpoint").mkdir()
    (tmp_path / "checkpoint" / "query.json").write_text('{"format":"likewise-stream","v":1,"name":"x","query":{}}')
    with pytest.raises(ArtefactVersion, match=r"older version of Likewise.*stream run --once.* another --checkpoint"):
        lake.stream()
    assert [path.name for path in (tmp_path / "checkpoint").iterdir()] == ["query.json"]


def test_a_log_that_was_made_anew_under_a_checkpoint_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    """Its numbers stand for others in the same lake; the log that only went on, or was compacted, is no other."""
    lake = Lake(tmp_path)
    lake.log.add([lw.parse("{t > 0}", id="a")], at=0)
    lake.put("a.jsonl", [{"t": 1}])
    assert len(list(lake.stream().run(spark))) == 1
    kept = tmp_path / "kept"
    for again in ("{t > 5}", "{t > 0}"):  # another at the same version, then the same one, word for word
        (tmp_path / "log").rename(kept) if not kept.exists() else shutil.rmtree(tmp_path / "log")
        lake.log = ChangeLog(tmp_path / "log")
        lake.log.add([lw.parse(again, id="a")], at=0)
        if again == "{t > 5}":
            with pytest.raises(InputError, match=r"saw version 1 of another .*at version 1, was made"):
                lake.stream()
    shutil.rmtree(tmp_path / "log")
    shutil.copytree(kept, tmp_path / "log")
    for number in range(5):
        lake.log.add([lw.parse(f"{{t > {number}}}", id=f"b{number}")], at=0)
    lake.log.compact(keep=0)
    lake.put("b.jsonl", [{"t": 3}])
    assert len(list(lake.stream().run(spark))) == 1
    assert [row["number"] for row in lake.rows("subscriptions")] == [0, 1, 2, 3, 4, 5]
    shutil.rmtree(tmp_path / "log")
    kept.rename(tmp_path / "log")
    with pytest.raises(InputError, match="saw version 6 of another change log"):
        lake.stream()


def test_what_cannot_run_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    """Wrong addresses, no log, a tenant that is no part of a path."""
    lake = Lake(tmp_path)
    with pytest.raises(ArtefactMissing, match="there is no change log"):
        lake.stream()
    lake.log.add([lw.parse("{t > 4}", id="warm")], at=0)
    for said in (
        {"inlet": "readings"},
        {"outlet": "lake"},
        {"keep": "none"},
        {"tenant": "a/b"},
        {"inlet": "files:none"},
    ):
        with pytest.raises(InputError):
            lake.stream(**said)
    assert not (tmp_path / "checkpoint").exists()
    assert not (tmp_path / "lake").exists()


def test_what_is_written_lies_apart_from_what_is_read(tmp_path: Path) -> None:
    """Else a stream would read its own rows; a name that is passed over is no matter."""
    lake = Lake(tmp_path)
    lake.log.add([lw.parse("{t > 4}", id="warm")], at=0)
    inside = tmp_path / "in" / "deep"
    for said in ({"outlet": f"parquet:{inside}"}, {"bad": str(inside)}, {"outlet": f"delta:{tmp_path / 'in'}"}):
        with pytest.raises(InputError, match="which is read, so that the stream would read it"):
            lake.stream(**said)
    for said in ({"outlet": f"parquet:{tmp_path / 'log'}"}, {"bad": str(tmp_path / "checkpoint")}):
        with pytest.raises(InputError, match="are both"):
            lake.stream(**said)
    (tmp_path / "link").symlink_to(tmp_path / "in")
    with pytest.raises(InputError, match="which is read"):
        lake.stream(bad=str(tmp_path / "link" / "bad"))
    lake.stream(bad=str(tmp_path / "in" / "_bad"))


def test_a_file_is_read_once_and_one_that_is_older_than_those_before_is_read(
    spark: SparkSession, tmp_path: Path
) -> None:
    """What is added to a file that was read is not read; a file that is moved in may be of any time."""
    lake = Lake(tmp_path)
    lake.log.add([lw.parse("{t > 0}", id="a")], at=0)
    lake.put("a.jsonl", [{"v": 1, "payload": {"t": 1}, "id": "e0"}])
    assert len(list(lake.stream().run(spark))) == 1
    lake.put("a.jsonl", [{"v": 1, "payload": {"t": 1}, "id": id} for id in ("e0", "e1")])
    (tmp_path / "in" / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    (tmp_path / "in" / "deep folder").mkdir()
    lake.put("deep folder/old file ü.jsonl", [{"v": 1, "payload": {"t": 1}, "id": "old"}])
    os.utime(tmp_path / "in" / "deep folder" / "old file ü.jsonl", (1_000_000_000, 1_000_000_000))
    assert len(list(lake.stream().run(spark))) == 1
    assert lake.matches() == Counter({("e0", 0): 1, ("old", 0): 1})
    assert {row["inlet"] for row in lake.rows("matches")} == {"a.jsonl", "deep folder/old file ü.jsonl"}


def test_a_file_that_is_cut_into_ranges_gives_each_of_its_events_once(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever a range ends: in a line, behind one, in a row group."""
    lake = Lake(tmp_path)
    lake.log.add([lw.parse("{t >= 0}", id="a")], at=0)
    events: list[dict[str, Any]] = [{"v": 1, "payload": {"t": n}, "id": f"e{n}" + "x" * (n % 7)} for n in range(60)]
    lake.put("a.jsonl", events)
    (tmp_path / "in" / "b.jsonl").write_bytes((tmp_path / "in" / "a.jsonl").read_bytes()[:-1])
    made = [lw.Event(lw.event(e["payload"]).tuples, id=e["id"]) for e in events]
    table = pa.Table.from_batches([EventBatch.from_events(made).to_arrow(dictionary=False)])
    pq.write_table(table, tmp_path / "in" / "c.parquet", row_group_size=7)
    expected = {each["id"]: 3 for each in events}
    for size in (1, 44, 45, 46, 1000):
        found: Counter[str] = Counter()
        for name in ("a.jsonl", "b.jsonl", "c.parquet"):
            path = tmp_path / "in" / name
            whole = path.stat().st_size
            for first in range(0, whole, size):
                for records in read_file(FileRange(str(path), whole, first, first + size), str(tmp_path / "in")):
                    found.update(event.id or "" for event in records.read.events)
                    if name != "c.parquet":
                        data = path.read_bytes()
                        assert all(data[at - 1 : at] in (b"", b"\n") for at in records.offsets.tolist())
        assert found == expected


@pytest.mark.parametrize("kind", ["parquet", "delta"])
def test_a_lake_that_is_gone_is_not_begun_anew(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    """A disk that is not mounted leaves an empty folder; when it is back, the query goes on."""
    lake = Lake(tmp_path, kind)
    lake.log.add([lw.parse("{t > 0}", id="a")], at=0)
    lake.put("a.jsonl", [{"v": 1, "payload": {"t": 1}, "id": "a"}])
    assert len(list(lake.stream().run(spark))) == 1
    (tmp_path / "lake").rename(tmp_path / "away")
    (tmp_path / "lake").mkdir()
    lake.put("b.jsonl", [{"v": 1, "payload": {"t": 1}, "id": "b"}])
    with pytest.raises(ArtefactMissing, match=r"batch 0 was committed to .* is the disk mounted"):
        lake.stream()
    assert not [path for path in (tmp_path / "lake").rglob("*") if path.is_file()]
    shutil.rmtree(tmp_path / "lake")
    (tmp_path / "away").rename(tmp_path / "lake")
    assert len(list(lake.stream().run(spark))) == 1
    assert set(lake.matches()) == {("a", 0), ("b", 0)}


def test_validity_ends_between_batches(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A subscription that is over when a batch is planned meets nothing in it."""
    lake = Lake(tmp_path)
    lake.log.add([lw.parse("{t > 0} valid for 1 min", id="a"), lw.parse("{t > 0}", id="b")], at=0)
    for turn, now in enumerate([1, 60_000_000]):
        monkeypatch.setattr("likewise.spark.lake.system_clock", lambda now=now: now)
        lake.put(f"{turn}.jsonl", [{"v": 1, "payload": {"t": 1}, "id": f"e{turn}"}])
        list(lake.stream().run(spark))
    assert lake.matches() == Counter([("e0", 0), ("e0", 1), ("e1", 1)])
