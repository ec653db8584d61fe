"""Promises of the change log that a broker writes: what the store holds, whatever dies, for streams on Spark."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.config import AnnotationSettings, Config, LakeSettings, MatchingSettings
from likewise.broker.log.commits import wait_for
from likewise.broker.log.entries import JudgeCommand
from likewise.errors import InputError
from likewise.lake.change_log import ChangeLog
from likewise.spark.streaming.matchers import MeaningChoice, active_at, open_matcher, save_matcher, set_subscriptions

pytestmark = pytest.mark.timeout(600)


def broker_with(folder: Path, **rest: Any) -> Broker:
    return Broker(folder / "data", Config(lake=LakeSettings(stream_log=str(folder / "log")), **rest))


def copied(broker: Broker, folder: Path, tenant: str = "default") -> Any:
    assert broker.stream_log is not None
    broker.stream_log.bring_up_to_date()
    assert broker.troubles() == []
    return ChangeLog.opened(folder / "log" / tenant).snapshot()


def same(broker: Broker, held: Any, tenant: str = "default") -> None:
    """The log holds what the store holds, by the same numbers."""
    mine = broker.tenant(tenant)
    expected = {each.number: (f"{mine.by_number[each.subscriber].id}/{each.id}", each.added) for each in mine.live()}
    assert {number: (each.subscription.id, each.at) for number, each in held.subscriptions.items()} == expected


def test_the_log_follows_subscriptions_of_each_tenant(tmp_path: Path) -> None:
    """New ones, other ones in their place, and those that end; by the numbers they have in the store."""
    chance = random.Random(2)
    with broker_with(tmp_path) as broker:
        for name in ("default", "plant/1"):
            tenant = broker.tenant(name)
            for who in ("ann", "bob"):
                broker.register(tenant, who)
            for _ in range(30):
                who, id = chance.choice(["ann", "bob"]), chance.choice("abcdef")
                if id in tenant.subscriber(who).subscriptions and chance.random() < 0.4:
                    broker.unsubscribe(tenant, who, id)
                else:
                    broker.subscribe(tenant, who, [lw.parse(f"{{t > {chance.randint(0, 9)}}}", id=id)], replace=True)
                if chance.random() < 0.3:
                    same(broker, copied(broker, tmp_path, name.replace("/", "%2F")), name)
            broker.unregister(tenant, "bob")
            same(broker, copied(broker, tmp_path, name.replace("/", "%2F")), name)
    assert sorted(path.name for path in (tmp_path / "log").iterdir()) == ["default", "plant%2F1"]


def test_a_stream_finds_what_the_broker_finds(tmp_path: Path) -> None:
    """With its feedback, its annotations, its threshold, its measure: the same matches, by the same numbers."""
    known = tmp_path / "known.csv"
    known.write_text("key,is,attribute,value\nsource,s1,room,112\n")
    said = {"annotations": AnnotationSettings(str(known)), "matching": MatchingSettings(threshold=0.4)}
    with broker_with(tmp_path, **said) as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        texts = ["{battery voltage~ exists}", "{room = 112}", "{temperature~ > 20 degC}"]
        broker.subscribe(tenant, "ann", [lw.parse(text, id=text) for text in texts])
        seen = lw.event({"BatV": 3.1}, id="seen")
        for _ in range(4):
            wait_for(lambda done: broker.command(tenant, JudgeCommand("ann", texts[0], seen, False), done))
        held = copied(broker, tmp_path)
        assert len(held.known.feedback) == 4
        assert held.known.meaning.space_checksum
        events = [
            lw.event({"BatV": 3.2}, id="b"),
            lw.event({"t": 1}, id="r", source="s1"),
            lw.event({"TempC_SHT": 27.1}, id="t"),
            lw.event({"battery_voltage": 3}, id="v"),
        ]
        broker.publish(tenant, events)
        broker.wait_until_matched(400)
        queue = tenant.subscriber("ann")
        expected = {
            (each.event, int(number))
            for each in broker.deliveries(tenant, queue, after=0, limit=99)
            for number in each.matched
        }
        ids = {entry.position: entry.id for entry in broker.store.entries(0, broker.store.position) if entry.id}
    choice = MeaningChoice().as_logged(held.known)
    found = open_matcher(save_matcher(held, 0, choice, tmp_path / "log" / "default" / "matchers"))
    numbers = {id: number for number, id in found.state.numbers().items()}
    assert {(event.id, numbers[m.subscription_id]) for event in events for m in found.match(event)} == {
        (ids[position], number) for position, number in expected
    }
    unjudged = set_subscriptions(MeaningChoice(threshold=0.4).matcher(), active_at(held, 0))
    assert len(unjudged.match(seen)) > len(found.match(seen)), "feedback should have moved a score"


def test_other_concepts_or_another_space_are_refused_with_words(tmp_path: Path, monkeypatch: Any) -> None:
    """Unless one is named on purpose: matches would be others than the broker's."""
    with broker_with(tmp_path) as broker:
        broker.tenant("default")
        held = copied(broker, tmp_path)
    monkeypatch.setenv("LIKEWISE_CONCEPTS", str(tmp_path / "concepts"))
    MeaningChoice().as_logged(held.known)
    known = lw_replace(held.known, space_checksum="0" * 64)
    with pytest.raises(InputError, match="the space 000000000000"):
        MeaningChoice().as_logged(known)
    assert MeaningChoice(measure="esa").as_logged(known).measure == "esa"
    with pytest.raises(InputError, match="other concepts"):
        MeaningChoice().as_logged(lw_replace(held.known, inventory_checksum="1"))


def lw_replace(known: Any, **changed: Any) -> Any:
    import msgspec

    return msgspec.structs.replace(known, meaning=msgspec.structs.replace(known.meaning, **changed))


def test_an_older_copy_of_the_store_is_refused_with_words(tmp_path: Path) -> None:
    """Its numbers would stand for other subscriptions; the broker itself goes on."""
    with broker_with(tmp_path) as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        broker.subscribe(tenant, "ann", [lw.parse("{t > 1}", id="a")])
        copied(broker, tmp_path)
    shutil.copytree(tmp_path / "data", tmp_path / "older")
    with broker_with(tmp_path) as broker:
        tenant = broker.tenant("default")
        broker.publish(tenant, [lw.event({"t": number}) for number in range(5)])
        broker.subscribe(tenant, "ann", [lw.parse("{t > 2}", id="b")])
        copied(broker, tmp_path)
    shutil.rmtree(tmp_path / "data")
    (tmp_path / "older").rename(tmp_path / "data")
    with broker_with(tmp_path) as broker:
        assert broker.stream_log is not None
        broker.subscribe(broker.tenant("default"), "ann", [lw.parse("{t > 3}", id="c")])
        broker.stream_log.bring_up_to_date()
        (said,) = broker.troubles()
        assert "older copy" in said
        broker.publish(broker.tenant("default"), [lw.event({"t": 5})])
        broker.wait_until_matched()


CHILD = """
import sys, random
from pathlib import Path
import likewise as lw
from tests.broker.lake_writer.test_stream_log import broker_with
folder, seed = Path(sys.argv[1]), int(sys.argv[2])
chance = random.Random(seed)
with broker_with(folder) as broker:
    tenant = broker.tenant("default")
    broker.register(tenant, "ann")
    print("ready", flush=True)
    for number in range(100000):
        id = f"s{chance.randint(0, 20)}"
        if id in tenant.subscriber("ann").subscriptions and chance.random() < 0.5:
            broker.unsubscribe(tenant, "ann", id)
        else:
            broker.subscribe(tenant, "ann", [lw.parse("{t > %d}" % number, id=id)], replace=True)
        broker.stream_log.bring_up_to_date()
        if number == 3: print("going", flush=True)
"""


def test_kills_leave_the_log_whole(tmp_path: Path) -> None:
    """Every version that is there can be read, and the next start makes it equal to the store again."""
    for seed in range(2):
        process = subprocess.Popen([sys.executable, "-c", CHILD, str(tmp_path), str(seed)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        assert process.stdout.readline() == b"going\n"
        os.kill(process.pid, signal.SIGKILL)
        process.wait(60)
        process.stdout.close()
        log = ChangeLog.opened(tmp_path / "log" / "default")
        assert [log.snapshot(version).version for version in range(1, log.newest() + 1)]
        with broker_with(tmp_path) as broker:
            same(broker, copied(broker, tmp_path))
