"""States of alerts that a release before saved: what it marked as notified and never sent is sent."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

import likewise as lw
from likewise.broker.admin import migrate
from likewise.broker.broker import Broker
from likewise.matching.alerts.saved_state import FILE, read_alerts
from likewise.testing.clocks import ManualClock
from tests.broker.alerts.test_alerts import said, tick
from tests.broker.fixtures.make_alerts import SAVED_AT, SECOND, START

KEPT = Path(__file__).parent.parent / "fixtures" / "alerts-1"
pytestmark = pytest.mark.usefixtures("no_chores")


def sent(matcher: lw.Matcher, until: int) -> list[tuple[str, str | None, int, int]]:
    """What time alone sends: alert, event, when, how many were not sent before it."""
    return [
        (match.subscription_id, match.event_id, match.spoken.moment // SECOND, match.spoken.suppressed)
        for match in matcher.advance(until * SECOND)
        if match.spoken is not None
    ]


@pytest.mark.parametrize("name", ["matcher", "late"])
def test_alarms_that_were_marked_and_never_sent_are_deferred(name: str) -> None:
    matcher = lw.Matcher.load(KEPT / name)
    late = 20 if name == "late" else 0
    found = sent(matcher, SAVED_AT + 70_000)
    alarms = [(id, event) for id, event, _, _ in found]
    assert alarms == [
        ("smoke", "a120-13"),  # its cool-down is over long ago: at once
        ("smoke", "c605-17"),
        ("door", "d5000-67"),
        ("lasting", "g5000-68"),
        ("rooms", "r21050-59"),
        ("hot", "k7620-71"),  # when its cool-down ends
        ("motion", "m7950-74"),
        ("silent", "i7990-75"),
    ], found
    assert {when for _, _, when, _ in found[:5]} == {SAVED_AT + late}
    assert found[5][2] == 8_200 + late
    assert found[6][2:] == (8_400 + late, 1)
    assert [each[:2] for each in sent(matcher, 200_000)] == [
        ("digest", "x120-14"),
        ("silent", "f3700-61"),
    ]


def test_what_was_sent_is_not_sent_again_and_ends_as_ever() -> None:
    matcher = lw.Matcher.load(KEPT / "matcher")
    matcher.advance(SAVED_AT * SECOND)
    for source, fields in (("b", {"smoke": True}), ("e", {"door": "open"})):
        assert not matcher.match(lw.event(fields, source=source), at=SAVED_AT * SECOND)
    at = (SAVED_AT + 1) * SECOND
    assert [m.cause for m in matcher.match(lw.event({"smoke": False}, source="b"), at=at)] == ["cleared"]
    assert [m.cause for m in matcher.match(lw.event({"t": 1}, source="h"), at=at)] == ["returned"]


def test_upgraded_states_are_saved_in_the_new_version(tmp_path: Path) -> None:
    matcher = lw.Matcher.load(KEPT / "matcher")
    matcher.save(tmp_path / "saved")
    facts, _ = read_alerts(tmp_path / "saved" / "engines" / "alert")
    assert facts.version == 2
    again = lw.Matcher.load(tmp_path / "saved")
    assert sent(again, 200_000) == sent(lw.Matcher.load(KEPT / "matcher"), 200_000)


def test_a_store_that_was_killed_before_it_saved_states_sends_the_alarm_it_never_sent(tmp_path: Path) -> None:
    """Its states are made again from the log, where today's rules would have sent the alarm."""
    shutil.copytree(KEPT / "killed", tmp_path / "data")
    migrate(tmp_path / "data")
    clock = ManualClock(START)
    clock.advance(801 * SECOND)
    sent = [("a-0", "arrival", "smoke"), ("a-1", "cleared", "smoke")]
    with Broker(tmp_path / "data", clock=clock) as broker:
        assert said(broker) == sent
        clock.advance(700 * SECOND)
        tick(broker)
        sent.append(("a-2", "arrival", "smoke"))
        assert said(broker) == sent
    with Broker(tmp_path / "data", clock=clock) as broker:
        clock.advance(700 * SECOND)
        tick(broker)
        assert said(broker) == sent


def test_a_store_of_the_release_before_sends_the_alarms_it_never_sent(tmp_path: Path) -> None:
    shutil.copytree(KEPT / "store", tmp_path / "data")
    migrate(tmp_path / "data")
    clock = ManualClock(START)
    clock.advance(131 * SECOND)
    with Broker(tmp_path / "data", clock=clock) as broker:
        before = said(broker)
        assert ("a-2", "arrival", "smoke") not in before
        clock.advance(470 * SECOND)
        tick(broker)
        assert said(broker)[len(before) :] == [("a-2", "arrival", "smoke")]
        clock.advance(120 * SECOND)
        tick(broker)
        assert said(broker)[len(before) + 1 :] == [("m-5", "arrival", "motion")]
    with Broker(tmp_path / "data", clock=clock) as broker:
        tick(broker)
        assert len(said(broker)) == len(before) + 2


def test_a_version_from_the_future_is_refused_with_both_named(tmp_path: Path) -> None:
    import pyarrow as pa

    from likewise.errors import ArtefactVersion

    with pa.OSFile(str(KEPT / "matcher" / "engines" / "alert" / FILE), "rb") as source:
        table = pa.ipc.open_file(source).read_all()
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), b"likewise.alerts": b"9"})
    with pa.OSFile(str(tmp_path / FILE), "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(ArtefactVersion, match="version 9; this release reads 1 and 2"):
        read_alerts(tmp_path)
    assert msgspec.json.decode(table.schema.metadata[b"facts"])["now"] == SAVED_AT * SECOND


def test_an_alarm_that_was_never_sent_goes_along_when_its_source_is_renamed() -> None:
    matcher = lw.Matcher.load(KEPT / "matcher")
    matcher.state.rename_source("k", "oven")
    found = [match for match in matcher.advance((SAVED_AT + 300) * SECOND) if match.subscription_id == "hot"]
    assert [(match.event_id, match.spoken and match.spoken.key) for match in found] == [("k7620-71", ("oven",))]
