"""Crashes, power cuts and damage: nothing acknowledged is lost, and damage is said, never passed over."""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import likewise as lw
from likewise.broker.admin import backup, compact, verify_store
from likewise.broker.broker import Broker
from likewise.broker.log.files import DATABASE
from likewise.errors import ArtefactDamaged, LikewiseError, StateError, Unavailable
from tests.broker import chaos, clock_steps

WAL = DATABASE + "-wal"


def filled(data: Path, events: int = 60, *, copy_to: Path | None = None) -> None:
    """A store with some of everything; with `copy_to`, also as a crash leaves it, its log not yet folded in."""
    with Broker(data) as broker:
        tenant = broker.tenant("default")
        for name in ("ann", "bob"):
            broker.register(tenant, name)
            broker.subscribe(tenant, name, [lw.parse("{x > 10}", id="s")])
        for x in range(events):
            broker.publish(tenant, [lw.event({"x": x, "text": f"event number {x}"}, id=f"e{x}")])
        broker.wait_until_matched()
        broker.acknowledge(tenant, "bob", 5)
        broker.store.commit(lambda tables: None)
        if copy_to is not None:
            with broker.store._shared:
                shutil.copytree(data, copy_to)


def contents(data: Path, verified: bool = True) -> list[object]:
    """Everything a broker on this folder would go on from, checked as it opens and, if asked for, by `verify`."""
    if verified:
        verify_store(data)
    with Broker(data) as broker:
        tenant = broker.tenant("default")
        broker.wait_until_matched()
        queues = [(q.id, q.policy, q.limit, q.acknowledged, list(q.pending)) for q in tenant.subscribers.values()]
        held = [(h.id, h.subscription) for h in tenant.live()]
        pages = [broker.page(tenant, q, after=0, limit=1000) for q in tenant.subscribers.values()]
        entries = [(e.position, e.id, e.body) for e in broker.store.entries(0, broker.store.position) if e.kind == 0]
        return [queues, held, pages, entries]


@pytest.mark.timeout(600)
def test_killing_the_broker_under_load_loses_and_doubles_nothing() -> None:
    """Five kills here, mixed with stops, full disks, clock steps and copies; `make chaos` does a hundred."""
    found = chaos.run(kills=5, seed=random.randrange(2**32), seconds=0.5)
    assert found.acknowledged > 20


def test_verify_names_a_log_that_is_ahead_of_its_counter(tmp_path: Path) -> None:
    """A counter that went back would let new entries take positions that are taken."""
    filled(tmp_path)
    store = sqlite3.connect(tmp_path / DATABASE)
    with store:
        store.execute("UPDATE state SET value = value - 1, guard = ~(value - 1) WHERE name = 'position'")
    store.close()
    with pytest.raises(ArtefactDamaged, match="position"):
        verify_store(tmp_path)


SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static void note(int fd) {
    char link[64], path[4096]; struct stat st; ssize_t n;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if ((n = readlink(link, path, sizeof path - 1)) < 0 || fstat(fd, &st)) return;
    path[n] = 0;
    const char *log = getenv("SYNC_LOG");
    if (!log || !strstr(path, "-wal")) return;
    FILE *f = fopen(log, "a"); fprintf(f, "%lld\n", (long long)st.st_size); fclose(f);
}
int fsync(int fd) { int (*f)(int) = dlsym(RTLD_NEXT, "fsync"); int r = f(fd); note(fd); return r; }
int fdatasync(int fd) { int (*f)(int) = dlsym(RTLD_NEXT, "fdatasync"); int r = f(fd); note(fd); return r; }
"""
PUBLISH = """
import os, sys, likewise as lw
from pathlib import Path
from likewise.broker.broker import Broker
broker = Broker(Path(sys.argv[1]))
tenant = broker.tenant("default")
broker.register(tenant, "ann")
broker.subscribe(tenant, "ann", [lw.parse("{x >= 0}", id="s")])
for x in range(40):
    broker.publish(tenant, [lw.event({"x": x}, id=f"e{x}")])
    print(f"e{x}", flush=True)
os._exit(9)
"""


def test_a_power_cut_loses_nothing_acknowledged(tmp_path: Path) -> None:
    """The log is cut back to the length it had when it was last synced; killing alone would not show a missing sync."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("a C compiler is needed to watch the calls of fsync")
    (tmp_path / "shim.c").write_text(SHIM)
    shim = tmp_path / "shim.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", shim, tmp_path / "shim.c", "-ldl"], check=True)
    import os

    environment = {**os.environ, "LD_PRELOAD": str(shim), "SYNC_LOG": str(tmp_path / "syncs")}
    ran = subprocess.run(
        [sys.executable, "-c", PUBLISH, tmp_path / "data"], env=environment, stdout=subprocess.PIPE, check=False
    )
    acknowledged = ran.stdout.decode().split()
    assert (ran.returncode, len(acknowledged)) == (9, 40)
    synced = int((tmp_path / "syncs").read_text().split()[-1])
    with (tmp_path / "data" / WAL).open("r+b") as log:
        log.truncate(synced)
    with Broker(tmp_path / "data") as broker:
        tenant = broker.tenant("default")
        broker.wait_until_matched()
        assert all(broker.find_event(tenant, id) for id in acknowledged)
        assert len(tenant.subscriber("ann")) == 40


def test_every_commit_is_synced(tmp_path: Path) -> None:
    """WAL and FULL, as the promise needs."""
    with Broker(tmp_path / "data") as broker:
        assert broker.store.commit(lambda tables: tables.row("PRAGMA synchronous")) == (2,)
        assert broker.store.commit(lambda tables: tables.row("PRAGMA journal_mode")) == ("wal",)


def test_flipped_bits_of_the_store_are_found_or_do_not_matter(tmp_path: Path) -> None:
    """Wherever a bit flips, opening or reading says so, verified or not, or everything is as it was."""
    filled(tmp_path / "data")
    whole = contents(tmp_path / "data")
    size = (tmp_path / "data" / DATABASE).stat().st_size
    chance = random.Random(7)
    found = 0
    for number in range(40):
        damaged = tmp_path / f"d{number}"
        shutil.copytree(tmp_path / "data", damaged)
        with (damaged / DATABASE).open("r+b") as file:
            file.seek(at := chance.randrange(size))
            byte = file.read(1)[0]
            file.seek(at)
            file.write(bytes([byte ^ 1 << chance.randrange(8)]))
        for verified in (False, True):
            try:
                assert contents(damaged, verified) == whole, f"the bit at {at} changed something silently"
            except LikewiseError:
                found += 1
        shutil.rmtree(damaged)
    assert found > 0


def test_a_damaged_or_shortened_write_ahead_log_is_found(tmp_path: Path) -> None:
    """SQLite takes it for one that ends there; the second record of commits shows that more was on disk."""
    filled(tmp_path / "data", copy_to=tmp_path / "crashed")
    size = (tmp_path / "crashed" / WAL).stat().st_size
    assert size > 100_000
    for number, change in enumerate(("cut", "flip", "cut", "flip", "gone")):
        damaged = tmp_path / f"d{number}"
        shutil.copytree(tmp_path / "crashed", damaged)
        at = size * (number + 2) // 8
        with (damaged / WAL).open("r+b") as file:
            if change == "cut":
                file.truncate(at)
            elif change == "flip":
                file.seek(at)
                byte = file.read(1)[0]
                file.seek(at)
                file.write(bytes([byte ^ 4]))
        if change == "gone":
            (damaged / WAL).unlink()
        with pytest.raises(ArtefactDamaged):
            Broker(damaged)
    with Broker(tmp_path / "crashed") as broker:  # as the crash left it, it is whole
        assert len(broker.tenant("default").subscriber("ann")) == 49


def test_a_shortened_store_is_found(tmp_path: Path) -> None:
    """At whatever page it ends."""
    filled(tmp_path / "data")
    size = (tmp_path / "data" / DATABASE).stat().st_size
    for part in (1, 3, 5, 7):
        damaged = tmp_path / f"d{part}"
        shutil.copytree(tmp_path / "data", damaged)
        with (damaged / DATABASE).open("r+b") as file:
            file.truncate(size * part // 8)
        with pytest.raises(ArtefactDamaged):
            Broker(damaged)


def test_a_full_disk_refuses_and_goes_on_when_there_is_room(tmp_path: Path) -> None:
    """What was refused is not there, what was acknowledged is, and matching catches up."""
    with Broker(tmp_path / "data") as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        broker.subscribe(tenant, "ann", [lw.parse("{x >= 0}", id="s")])
        connection: sqlite3.Connection = broker.store._connection
        pages = broker.store.commit(lambda tables: tables.one("PRAGMA page_count")[0])
        broker.store.commit(lambda tables: tables.row(f"PRAGMA max_page_count = {pages + 30}"))
        acknowledged = []

        def publish_many() -> None:
            for x in range(1000):
                broker.publish(tenant, [lw.event({"x": x, "filler": "f" * 1000}, id=f"e{x}")])
                acknowledged.append(f"e{x}")

        with pytest.raises(Unavailable, match="full"):
            publish_many()
        assert acknowledged
        with broker.store._shared:
            connection.execute("PRAGMA max_page_count = 1073741823")
        broker.publish(tenant, [lw.event({"x": 5000}, id="after")])
        broker.wait_until_matched()
        assert len(tenant.subscriber("ann")) == len(acknowledged) + 1


def test_a_copy_made_while_the_broker_runs_is_whole(tmp_path: Path) -> None:
    """And can be served itself."""
    with Broker(tmp_path / "data") as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        broker.subscribe(tenant, "ann", [lw.parse("{x >= 0}", id="s")])
        broker.publish(tenant, [lw.event({"x": x}) for x in range(50)])
        broker.wait_until_matched()
        backup(tmp_path / "data", tmp_path / "copy")
        with pytest.raises(StateError):
            compact(tmp_path / "data")
        with pytest.raises(StateError):
            backup(tmp_path / "data", tmp_path / "copy")
    before, after = compact(tmp_path / "copy")
    assert after <= before
    assert verify_store(tmp_path / "copy")["deliveries"] == 50
    with Broker(tmp_path / "copy") as broker:
        assert len(broker.tenant("default").subscriber("ann")) == 50


@pytest.mark.timeout(600)
def test_a_clock_that_steps_under_load_removes_nothing_unread() -> None:
    """Three steps here, with kills; `make clock-steps` does twenty."""
    found = clock_steps.run(steps=3, seed=random.randrange(2**32))
    assert found.acknowledged > 0
