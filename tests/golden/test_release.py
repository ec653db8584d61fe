"""What release e564cb7 left behind is opened by the code of today, and holds what it held.

The archive was written by that release (`tests.golden.release`) and is never written anew.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from likewise.broker.admin import migrate
from tests.edge.brokers import connected, edge, hub, until
from tests.golden import edge_transcript, release
from tests.golden.test_outside import baseline
from tests.golden.write import FOLDER

ARCHIVE = FOLDER / "release-e564cb7.tar.xz"
PROSE = frozenset({"words", "detail", "notes", "understood", "reason"})  # sentences and readings of names may improve


@pytest.fixture
def left(tmp_path: Path) -> Path:
    """Unpack what the release left."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path


def compare(then: Any, now: Any, path: str = "") -> list[str]:
    """Return where an answer of today lacks something of the release's; fields that are new are no difference."""
    if isinstance(then, dict) and isinstance(now, dict):
        found = [f"{path}/{key} is missing" for key in then if key not in now and key not in PROSE]
        for key in (key for key in then if key in now and key not in PROSE):
            found += compare(then[key], now[key], f"{path}/{key}")
        return found
    if isinstance(then, list) and isinstance(now, list):
        if len(then) != len(now):
            return [f"{path} has {len(now)} items, not {len(then)}: {now}"]
        return [each for n, (a, b) in enumerate(zip(then, now, strict=True)) for each in compare(a, b, f"{path}[{n}]")]
    return [] if then == now else [f"{path} is {now!r}, not {then!r}"]


@pytest.mark.parametrize(
    ("what", "ask"),
    [("lake", release.ask_lake), ("store", release.ask_store), ("matcher", release.ask_matcher)],
    ids=["lake and change log", "store and states of alerts", "saved matcher"],
)
def test_what_a_release_left_holds_what_it_held(what: str, ask: Callable[[Path], Any], left: Path) -> None:
    """Opened, looked at through the public interface, and gone on with; nothing is lost or doubled."""
    then = json.loads((left / release.ANSWERS).read_text())[what]
    assert then
    assert compare(then, json.loads(json.dumps(ask(left)))) == []


@pytest.fixture
def frames(left: Path) -> list[edge_transcript.Entry]:
    """Return the session of an edge with its hub, as the release recorded it."""
    entries: list[edge_transcript.Entry] = json.loads((left / release.TRANSCRIPT).read_text())
    kinds = {(each["to"], each["frame"]["type"]) for each in entries if "to" in each}
    assert {("hub", "hello"), ("hub", "events"), ("hub", "withdraw"), ("hub", "bye"), ("edge", "deliver")} <= kinds
    return entries


def understood(side: str, frame: dict[str, Any]) -> bool:
    """Say whether the other side of the release knows this kind of frame, and has every field that it requires."""
    at = f"{side}/{frame['type']}"
    facts = {fact for document, fact in baseline() if document == "wire-edge-frames"}
    required = [fact.removesuffix(" is required") for fact in facts if fact.endswith(" is required")]
    names = [path.removeprefix(f"{at}/") for path in required if path.startswith(f"{at}/")]
    return f"{at}: object" in facts and all(name in frame for name in names if "/" not in name and "[" not in name)


def test_an_old_edge_works_with_a_hub_of_today(frames: list[edge_transcript.Entry]) -> None:
    """It is welcomed, its events are delivered and withdrawn, and it understands all that it is sent."""
    with hub(None, edge_transcript.CONFIG, clock=edge_transcript.clock()) as above:
        edge_transcript.prepare_hub(above)
        inbox = edge_transcript.replay_edge(frames, above)
        assert above.got("ann") == {("bad air", "e50")}
    assert inbox.last("events-ack", "sequence") == _last(frames, "edge", "events-ack")["sequence"]
    assert [frame for frame in inbox.frames if not understood("hub to edge", frame)] == []


def test_an_edge_of_today_works_with_an_old_hub(frames: list[edge_transcript.Entry]) -> None:
    """It sends what the old edge sent and nothing that an old hub does not know; its subscriber is served."""
    with edge_transcript.recorded_hub(frames) as (address, play):
        with edge(edge_transcript.EDGE, address, config=edge_transcript.CONFIG, clock=edge_transcript.clock()) as below:
            edge_transcript.prepare_edge(below)
            inbox = play(below)
            until(lambda: inbox.last("deliver-ack", "sequence") is not None, "deliveries are acknowledged")
            until(lambda: ("too much", "h50") not in below.got("bob"), "what was withdrawn is gone")
            assert ("too much", "e50") in below.got("bob")
        until(lambda: inbox.last("bye", "type"), "it takes its leave")
    assert inbox.last("deliver-ack", "sequence") == _last(frames, "hub", "deliver-ack")["sequence"]
    assert [frame for frame in inbox.frames if not understood("edge to hub", frame)] == []


def _last(entries: list[edge_transcript.Entry], to: str, kind: str) -> edge_transcript.Frame:
    found: list[edge_transcript.Frame]
    found = [each["frame"] for each in entries if each.get("to") == to and each["frame"]["type"] == kind]
    return found[-1]


def test_the_stores_of_an_old_edge_and_its_hub_go_on_together(left: Path) -> None:
    """The sequence numbers of both fit each other: what came over before does not come again."""
    config, clock = edge_transcript.CONFIG, edge_transcript.clock()
    for store in (release.HUB, release.EDGE):
        migrate(left / store)
    with hub(left / release.HUB, config, clock=clock) as above:
        assert above.got("ann") == {("bad air", "e50")}
        with edge(edge_transcript.EDGE, above.address, left / release.EDGE, config=config, clock=clock) as below:
            until(lambda: connected(below), "it connects")
            edge_transcript.publish(below, ("e60", 60), source="roof/1")
            until(lambda: ("bad air", "e60") in above.got("ann"), "it goes on")
            assert above.got("ann") == {("bad air", "e50"), ("bad air", "e60")}
