"""Stores of earlier versions: kept as folders, migrated, and then as good as any other."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

import likewise as lw
from likewise.broker.admin import migrate, verify_store
from likewise.broker.broker import Broker
from likewise.broker.log.files import DATABASE
from likewise.broker.log.schema import OLDEST, SCHEMA, VERSION
from likewise.cli.main import app
from likewise.errors import ArtefactDamaged, ArtefactMissing, ArtefactVersion, StateError
from likewise.testing.clocks import ManualClock
from tests.broker.fixtures.make_store import HOUR, START

KEPT = Path(__file__).parent / "fixtures"


@pytest.fixture(params=range(OLDEST, VERSION))
def older(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder of each earlier version."""
    folder = tmp_path / "data"
    shutil.copytree(KEPT / f"store-{request.param}", folder)
    return folder


def got(broker: Broker, tenant: str, subscriber: str) -> list[tuple[int, str, str, list[str]]]:
    owner = broker.tenant(tenant)
    pages = broker.page(owner, owner.subscriber(subscriber), after=0, limit=100)
    found = [(number, msgspec.json.decode(frame)) for number, frame in pages]
    return [(n, said["event"]["id"], said["cause"], [s["id"] for s in said["subscriptions"]]) for n, said in found]


def tables_of(path: Path) -> dict[str, str]:
    with sqlite3.connect(path) as connection:
        found = dict(connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall())
    connection.close()
    return {name: "".join(sql.split()) for name, sql in found.items()}


def test_an_older_store_is_migrated_and_goes_on(older: Path) -> None:
    """What was there is there, what was not matched is matched, windows and numbers go on, nothing comes twice."""
    with pytest.raises(ArtefactVersion, match="likewise admin migrate"):
        Broker(older)
    assert migrate(older).after == VERSION
    found = verify_store(older)
    assert (found["followers"], found["judgements"], found["dead_letters"], found["tokens"]) == (2, 1, 3, 1)
    clock = ManualClock(START)
    clock.advance(10)
    with Broker(older, clock=clock) as broker:
        broker.wait_until_matched()
        ann = [(3, "e2", "arrival", ["bad air"]), (5, "late", "arrival", ["bad air"])]
        assert got(broker, "default", "ann") == ann
        assert got(broker, "other", "eve") == [(1, "e0", "arrival", ["hers"]), (2, "late", "arrival", ["hers"])]
        clock.advance(HOUR)
        broker.publish(broker.tenant("default"), [lw.event({"no2": 99}, id="new")])
        broker.wait_until_matched()
        after = [(id, cause) for _, id, cause, _ in got(broker, "default", "ann")[2:]]
        assert {("new", "arrival"), ("e1", "promoted")} <= set(after)
        assert len(after) == len(set(after))


def test_a_migrated_store_has_the_tables_of_a_new_one(older: Path, tmp_path: Path) -> None:
    """Neither a table, a column nor an index is missing or left over."""
    migrate(older)
    with sqlite3.connect(tmp_path / "new.db") as connection:
        connection.executescript(SCHEMA)
    connection.close()
    assert tables_of(older / DATABASE) == tables_of(tmp_path / "new.db")


def test_migrating_again_changes_nothing(older: Path) -> None:
    """The second time there is nothing to do."""
    migrate(older)
    before = (older / DATABASE).read_bytes()
    assert migrate(older) == (VERSION, VERSION)
    assert (older / DATABASE).read_bytes() == before


def test_a_step_that_fails_leaves_the_store_as_it_was(older: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All steps share one transaction."""
    from likewise.broker.log import migrations

    steps = dict(migrations._STEPS)

    def broken(tables: object) -> None:
        steps[VERSION - 1](tables)  # type: ignore[arg-type]
        raise sqlite3.OperationalError("database or disk is full")

    tables = tables_of(older / DATABASE)
    with monkeypatch.context() as patched:
        patched.setitem(migrations._STEPS, VERSION - 1, broken)
        with pytest.raises(lw.LikewiseError, match="full"):
            migrate(older)
    assert tables_of(older / DATABASE) == tables
    assert migrate(older).after == VERSION


def test_a_newer_store_is_refused_with_words(older: Path) -> None:
    """There is no way back, neither by serving it nor by migrating it."""
    migrate(older)
    with sqlite3.connect(older / DATABASE) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()
    for use in (Broker, migrate):
        with pytest.raises(ArtefactVersion, match="never taken back"):
            use(older)


def test_what_cannot_be_migrated_is_said(older: Path, tmp_path: Path) -> None:
    """No store, a store in use, a number that was altered, a version before the first that is known."""
    with pytest.raises(ArtefactMissing):
        migrate(tmp_path / "nothing")
    damaged = tmp_path / "damaged"
    shutil.copytree(older, damaged)
    with sqlite3.connect(damaged / DATABASE) as connection:
        connection.execute("UPDATE state SET guard = 7")
        connection.execute("UPDATE tokens SET checksum = 7")
    connection.close()
    with pytest.raises(ArtefactDamaged):
        migrate(damaged)
    migrate(older)
    with Broker(older), pytest.raises(StateError, match="another broker"):
        migrate(older)
    with sqlite3.connect(older / DATABASE) as connection:
        connection.execute(f"PRAGMA user_version = {OLDEST - 1}")
    connection.close()
    with pytest.raises(ArtefactVersion, match="with the release that wrote it"):
        migrate(older)


def test_the_command_says_what_it_did(older: Path) -> None:
    """In words, or as JSON."""
    told = CliRunner().invoke(app, ["admin", "migrate", str(older), "--json"])
    assert (told.exit_code, msgspec.json.decode(told.stdout)["after"]) == (0, VERSION)
    assert "nothing to do" in CliRunner().invoke(app, ["admin", "migrate", str(older)]).stdout
