"""Every column of every table: what was altered on disk is found when it is read and when it is verified."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

import likewise as lw
from likewise.api.sinks import WebhookSettings
from likewise.broker.admin import verify_store
from likewise.broker.broker import Broker
from likewise.broker.log import dead_letters
from likewise.broker.log.commits import wait_for
from likewise.broker.log.edges.connections import EdgePosition, open_edge, read_edges
from likewise.broker.log.edges.hops import hops_between
from likewise.broker.log.edges.outbox import WithdrawnItem, put, waiting
from likewise.broker.log.edges.uplink import UPLINK, ReceivedPosition, advance_uplink, uplink_row
from likewise.broker.log.entries import JudgeCommand, SubscribeTopicCommand, event_entries
from likewise.broker.log.files import DATABASE
from likewise.broker.log.mqtt.messages import StoredMessage, messages_between, read_received
from likewise.broker.log.mqtt.sessions import (
    FilterOptions,
    InFlightRow,
    SessionState,
    add_session,
    change_in_flight,
    read_in_flight,
    read_sessions,
)
from likewise.broker.log.schema import SCHEMA
from likewise.broker.log.tokens import listed_tokens, make_token
from likewise.broker.queries.activity import activity
from likewise.broker.tenants.access import AccessControl
from likewise.errors import ArtefactDamaged
from likewise.model.announcements.announcement import AnnouncedAttribute, Announcement


def columns() -> list[tuple[str, str]]:
    """Every column of every table."""
    with sqlite3.connect(":memory:") as connection:
        connection.executescript(SCHEMA)
        tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        found = [
            (table, row[1])
            for (table,) in tables
            if not table.startswith("sqlite_")
            for row in connection.execute(f"PRAGMA table_info({table})")
        ]
    connection.close()
    return found


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with rows in every table."""
    data = tmp_path_factory.mktemp("rows") / "data"
    with Broker(data) as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann", "dead-letter", 2)
        broker.register(tenant, "bob", "drop-oldest", 2)
        for name in ("ann", "bob"):
            broker.subscribe(tenant, name, [lw.parse("{device~ = laptop}", id="s"), lw.parse("{x = 9}", id="gone")])
        broker.subscribe(tenant, "bob", [lw.parse("{x exists} top 1 within 9 events by value(x)", id="top")])
        broker.unsubscribe(tenant, "ann", "gone")
        for x in range(4):
            event = lw.event({"device": "laptop", "x": x}, id=f"e{x}", source="/roof", expires=2**60)
            broker.publish(tenant, [event])
        broker.wait_until_matched()
        broker.command(
            tenant, JudgeCommand("ann", "s", lw.event({"device": "phone"}, id="e9"), False), lambda result: None
        )
        broker.withdraw(tenant, "e0")
        broker.store.commit(lambda c: make_token(c, "root", "default", ["admin"], 7))
        hook = WebhookSettings("https://example.org/", "sixteen letters!")
        wait_for(lambda done: broker.targets.start_set(tenant, "bob", "s", "hook", hook, done))
        wait_for(lambda done: broker.command(tenant, SubscribeTopicCommand("bob", "home/#"), done))
        session = broker.store.commit(
            lambda c: add_session(c, tenant.number, "bob", SessionState(60, {"home/#": FilterOptions(1)}))
        )
        entry = event_entries(tenant.number, [lw.event({"x": 5}, id="m1", source="roof")], None)[0]
        entry.message = StoredMessage("home/roof", b"5", 2, True, expires=2**60, client="bob")
        entry.received = (session, 7)
        entry.hops = ("cellar",)
        broker.store.commit(lambda c: open_edge(c, tenant.number, "cellar", "epoch", 7))
        entry.progress = EdgePosition(tenant.number, "cellar", "epoch", 9)
        wait_for(lambda done: broker.store.append([entry], done))
        flying = InFlightRow(1, 1, 0, tenant.number, session, 9, 2)
        broker.store.commit(lambda c: change_in_flight(c, [flying], []))
        broker.store.commit(lambda c: put(c, tenant.number, [(3, 40, None), (4, 40, WithdrawnItem("/roof", "e0"))]))
        broker.store.commit(lambda c: advance_uplink(c, ReceivedPosition(tenant.number, "line", 7)))
        broker.announcements.announce(tenant, Announcement("/roof", (AnnouncedAttribute("x"),)))
        broker.wait_until_matched()
    with sqlite3.connect(data / DATABASE) as connection:
        for table in {table for table, _ in columns()}:
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0], f"{table} is empty"
    connection.close()
    return data


def read_everything(data: Path) -> None:
    """Open the store and answer from every table, as requests do."""
    with Broker(data) as broker:
        tenant = broker.tenant("default")
        broker.wait_until_matched()
        for queue in tenant.subscribers.values():
            broker.page(tenant, queue, after=0, limit=100)
        for _ in broker.store.entries(0, 2**40):
            pass
        with broker.store.reading() as tables:
            activity(tables, tenant, 0, 0, 100)
            dead_letters.listed(tables, tenant.number, 0, 100)
            listed_tokens(tables)
            AccessControl("default", lambda: 0).load(tables)
            for read in (read_sessions, read_in_flight, read_received):
                read(tables)
            messages_between(tables, 0, 2**62)
            hops_between(tables, 0, 2**62)
            read_edges(tables, tenant.number)
            waiting(tables, tenant.number, 0, 100)
            for row in tables.rows(f"SELECT {UPLINK} FROM uplink"):
                uplink_row(row)


def alter(data: Path, table: str, column: str) -> None:
    """Change a little of one column of one row."""
    connection = sqlite3.connect(data / DATABASE, isolation_level=None)
    order = f"ORDER BY {column} IS NULL, {column} DESC"
    (found,) = connection.execute(f"SELECT {column} FROM {table} {order} LIMIT 1").fetchone()
    match found:
        case None:
            changed: object = 0
        case bool() | int():
            changed = found ^ (1 << 20)
        case str():
            changed = chr(ord(found[0]) ^ 1) + found[1:] if found else "x"
        case _:
            changed = found[:-1] + bytes([found[-1] ^ 4]) if found else b"\4"
    altered = connection.execute(f"UPDATE {table} SET {column} = ? WHERE {column} IS ?", (changed, found))
    assert altered.rowcount
    connection.close()


def test_a_store_that_was_not_altered_is_read(store: Path, tmp_path: Path) -> None:
    """Every table has rows, and all of them are counted."""
    shutil.copytree(store, tmp_path / "data")
    read_everything(tmp_path / "data")
    assert all(verify_store(tmp_path / "data").values())


@pytest.mark.parametrize(("table", "column"), columns())
def test_an_altered_column_is_found_when_it_is_read_and_when_it_is_verified(
    store: Path, tmp_path: Path, table: str, column: str
) -> None:
    """Whatever it is: a name, an id, a number, a checksum."""
    shutil.copytree(store, tmp_path / "data")
    alter(tmp_path / "data", table, column)
    with pytest.raises(ArtefactDamaged):
        verify_store(tmp_path / "data")
    with pytest.raises(ArtefactDamaged):
        read_everything(tmp_path / "data")


def test_a_number_that_appears_where_there_was_none_is_found(store: Path, tmp_path: Path) -> None:
    """One flipped bit of a row's head turns nothing into zero, which would end an event or a subscription."""
    for table, column, where in (
        ("log", "ends", "ends IS NULL"),
        ("subscriptions", "ended", "ended IS NULL"),
    ):
        data = tmp_path / table
        shutil.copytree(store, data)
        connection = sqlite3.connect(data / DATABASE, isolation_level=None)
        assert connection.execute(f"UPDATE {table} SET {column} = 0 WHERE {where}").rowcount
        connection.close()
        with pytest.raises(ArtefactDamaged):
            verify_store(data)
        with pytest.raises(ArtefactDamaged):
            read_everything(data)


def test_an_older_store_is_refused_with_what_to_do(store: Path, tmp_path: Path) -> None:
    """Its rows do not carry what is checked here."""
    from likewise.errors import ArtefactVersion

    shutil.copytree(store, tmp_path / "data")
    connection = sqlite3.connect(tmp_path / "data" / DATABASE, isolation_level=None)
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    with pytest.raises(ArtefactVersion, match="version 1"):
        Broker(tmp_path / "data")
