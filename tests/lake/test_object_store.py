"""Promises of a lake in an object store, tried with a server that speaks S3: one of several writers makes each file."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

import likewise as lw
from likewise.cli.main import run
from likewise.errors import InputError, Unavailable
from likewise.lake.atomic_create import create_once, write_whole
from likewise.lake.change_log import ChangeLog
from likewise.lake.delta_commits import DeltaCommits
from likewise.lake.maintenance import compact, expire, open_lake
from likewise.lake.parts import DAY, day_text, lake_schema, read_part, write_part
from likewise.lake.plain_commits import PlainCommits
from likewise.lake.storage import ObjectStorePath, storage_path
from tests.lake.s3_server import served_bucket

KINDS = [PlainCommits, DeltaCommits]


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    with served_bucket() as address:
        yield address


@pytest.fixture
def place(bucket: str) -> ObjectStorePath:
    found = storage_path(f"{bucket}/{uuid.uuid4().hex[:8]}")
    assert isinstance(found, ObjectStorePath)
    return found


def at_once(work: Any, times: int = 8) -> list[Any]:
    """What each of several threads gets that do the same at the same time."""
    found: list[Any] = [None] * times
    ready = threading.Barrier(times)

    def do(number: int) -> None:
        ready.wait()
        found[number] = work(number)

    threads = [threading.Thread(target=do, args=(number,)) for number in range(times)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    return found


def test_one_of_several_writers_makes_a_file(place: ObjectStorePath) -> None:
    """And what it wrote stays; a file that is written whole takes the place of what was there."""
    won = at_once(lambda number: create_once(place / "1.json", b"%d" % number))
    assert sum(won) == 1
    assert (place / "1.json").read_bytes() == b"%d" % won.index(True)
    write_whole(place / "1.json", b"other")
    assert (place / "1.json").read_bytes() == b"other"
    assert [each.name for each in place.iterdir()] == ["1.json"]
    (place / "1.json").unlink()
    assert not (place / "1.json").is_file()
    assert not place.is_dir()


def test_an_answer_that_was_lost_does_not_make_a_stranger_of_us(place: ObjectStorePath) -> None:
    """The request that is repeated finds its own bytes."""
    assert create_once(place / "1.json", b"ours")
    assert create_once(place / "1.json", b"ours")
    assert not create_once(place / "1.json", b"theirs")


def test_changes_by_several_writers_make_a_version_each(place: ObjectStorePath) -> None:
    """And every subscription has a number of its own."""
    at_once(lambda number: ChangeLog(place).add([lw.parse(f"{{t > {number}}}", id=f"s{number}")], at=number), 4)
    held = ChangeLog.opened(str(place)).snapshot()
    assert held.version == 4
    assert {each.subscription.id for each in held.subscriptions.values()} == {"s0", "s1", "s2", "s3"}
    log = ChangeLog(place)
    log.remove(["s2"])
    log.compact(keep=0)
    assert ChangeLog(place).snapshot().version == 5
    assert len(ChangeLog(place).snapshot().subscriptions) == 3


def test_the_commands_take_an_address(place: ObjectStorePath, capsys: pytest.CaptureFixture[str]) -> None:
    """`likewise stream subscriptions` does in a bucket what it does in a folder."""
    assert run(["stream", "subscriptions", "add", str(place), "warm: {t > 25}"]) == 0
    assert run(["stream", "subscriptions", "list", str(place), "--json"]) == 0
    assert '"warm"' in capsys.readouterr().out


@pytest.mark.parametrize("kind", KINDS)
def test_a_lake_in_a_bucket_is_kept_as_one_in_a_folder(kind: Any, place: ObjectStorePath) -> None:
    """Batches are committed once, days are put together, and those that are over go."""
    if kind is DeltaCommits:
        pytest.importorskip("deltalake")
    lake = kind(place)
    for batch in range(3):
        parts = []
        for day in (10, 20):
            row = dict.fromkeys(lake_schema("matches").names) | {"query": "q", "batch": batch, "offset": day}
            table = pa.Table.from_pylist([row], schema=lake_schema("matches"))
            parts.append(write_part(place, "matches", table, f"q-{batch}", "plant", day_text(day)))
        assert lake.commit("q", batch, parts)
        assert not lake.commit("q", batch, parts)

    def rows() -> list[tuple[int, int]]:
        opened = open_lake(place)
        tables = [read_part(place, part) for part in opened.parts("matches")]
        return sorted((row["batch"], row["offset"]) for table in tables for row in table.to_pylist())

    before = rows()
    assert len(before) == 6
    report = compact(place)
    assert (report.before, report.after) == (6, 2)
    assert rows() == before
    expire(place, 0, 15 * DAY)
    assert rows() == [(batch, 20) for batch in range(3)]
    assert kind(place).committed("q", 2)


@pytest.mark.parametrize("kind", KINDS)
def test_two_writers_commit_a_batch_once(kind: Any, place: ObjectStorePath) -> None:
    """Whoever comes second is told, or refused, and the rows are there once."""
    if kind is DeltaCommits:
        pytest.importorskip("deltalake")
    row = dict.fromkeys(lake_schema("matches").names) | {"query": "q", "batch": 0, "offset": 1}
    table = pa.Table.from_pylist([row], schema=lake_schema("matches"))
    part = write_part(place, "matches", table, "q-0", "plant", "2024-05-01")
    kind(place).parts()  # the tables are there

    def commit(number: int) -> Any:
        try:
            return kind(place).commit("q", 0, [part])
        except Exception as error:
            return error

    at_once(commit, 3)
    while not kind(place).committed("q", 0):  # all were refused for each other's sake
        kind(place).commit("q", 0, [part])
    assert [each.rows for each in kind(place).parts("matches")] == [1]


def test_a_store_that_cannot_be_reached_is_said(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """So are a bucket that is not there, and an address that is none."""
    with pytest.raises(InputError, match="there is no s3://nobody"):
        create_once(ObjectStorePath("s3://nobody/x"), b"")
    with pytest.raises(InputError, match="no address of an object store"):
        storage_path("ftp://city/lake")
    monkeypatch.setattr("likewise.lake.storage.RETRY_TIMEOUT_S", 1)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(Unavailable, match="cannot be reached"):
        create_once(ObjectStorePath(f"{bucket}/x"), b"")
