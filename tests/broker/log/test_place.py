"""The folder of a running broker is removed or replaced: it is noticed at the next commit, and nobody is told a lie."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.log.files import DATABASE
from likewise.errors import Unavailable


def change(data: Path, how: str) -> None:
    aside = data.with_name("aside")
    match how:
        case "removed":
            shutil.move(data, aside)
        case "replaced":
            shutil.move(data, aside)
            shutil.copytree(aside, data)
        case "the database is gone":
            aside.mkdir()
            shutil.move(data / DATABASE, aside / DATABASE)
        case "its log is gone":
            aside.mkdir()
            shutil.move(data / f"{DATABASE}-wal", aside / f"{DATABASE}-wal")


def put_back(data: Path, how: str) -> None:
    aside = data.with_name("aside")
    if how in ("removed", "replaced"):
        shutil.rmtree(data, ignore_errors=True)
        shutil.move(aside, data)
    else:
        for path in aside.iterdir():
            shutil.move(path, data / path.name)


@pytest.mark.parametrize("how", ["removed", "replaced", "the database is gone", "its log is gone"])
def test_a_folder_that_is_removed_while_the_broker_runs_is_noticed(tmp_path: Path, how: str) -> None:
    """Publishers are refused instead of being told that something is kept; put back in place, it goes on."""
    data = tmp_path / "data"
    with Broker(data) as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        broker.subscribe(tenant, "ann", [lw.parse("{x exists}", id="s")])
        broker.publish(tenant, [lw.event({"x": 1}, id="e1")])
        change(data, how)
        with pytest.raises(Unavailable, match="removed or replaced"):
            broker.publish(tenant, [lw.event({"x": 2}, id="e2")])
        assert "removed or replaced" in " ".join(broker.troubles())
        put_back(data, how)
        broker.publish(tenant, [lw.event({"x": 3}, id="e3")])
        assert broker.troubles() == []
    with Broker(data) as broker:
        broker.wait_until_matched(300)
        assert len(broker.tenant("default").subscriber("ann")) == 2


def test_a_stop_leaves_no_new_folder_in_place_of_one_that_was_removed(tmp_path: Path) -> None:
    """Windows are not saved where there is no store."""
    data = tmp_path / "data"
    with Broker(data) as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        broker.subscribe(tenant, "ann", [lw.parse("{x exists} top 1 within 9 events by value(x)", id="w")])
        broker.publish(tenant, [lw.event({"x": 1}, id="e1")])
        broker.wait_until_matched(300)
        shutil.rmtree(data)
    assert not data.exists()
