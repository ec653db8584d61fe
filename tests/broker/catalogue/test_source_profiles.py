"""What is learnt of sources, as columns: the same as a plain look at every event gives, within its limits, and kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.broker.catalogue import source_profiles as learning
from likewise.broker.catalogue.source_profiles import SourceProfiles, load_profiles, save_profiles
from likewise.formats.arrow.columns import columns_of
from likewise.model import Event

NAMES = st.sampled_from(["t", "h", "mode", "on", "t2"])
VALUES = st.one_of(st.integers(-50, 50), st.floats(-9, 9), st.booleans(), st.sampled_from(["eco", "off"]))
SENT = st.lists(st.tuples(st.sampled_from("abc"), st.dictionaries(NAMES, VALUES, min_size=1)), max_size=30)


def events_of(sent: list[tuple[str, dict[str, Any]]]) -> tuple[list[Event], list[str], list[int]]:
    return [lw.event(payload) for _, payload in sent], [source for source, _ in sent], list(range(1, len(sent) + 1))


@settings(max_examples=60, deadline=None)
@given(SENT, st.integers(1, 7))
def test_columns_say_what_a_plain_look_at_every_event_says(sent: list[tuple[str, dict[str, Any]]], size: int) -> None:
    """How often, which range, which last value of every attribute of every source, however they are batched."""
    made = SourceProfiles()
    events, sources, at = events_of(sent)
    for start in range(0, len(sent), size):
        part = slice(start, start + size)
        made.add(columns_of(events[part]), sources[part], at[part])
    assert made.sources() == list(dict.fromkeys(sources))
    for source in set(sources):
        own = [payload for by, payload in sent if by == source]
        found = made.source(source)
        assert found is not None
        assert found.events == len(own)
        when = [moment for moment, by in zip(at, sources, strict=True) if by == source]
        assert (found.first, found.last_seen) == (when[0], when[-1])
        readings = {each.attribute: each for each in found.readings}
        assert set(readings) == {name for payload in own for name in payload}
        for name, reading in readings.items():
            values = [payload[name] for payload in own if name in payload]
            numbers = [float(v) for v in values if not isinstance(v, str)]
            assert reading.times == len(values)
            assert (reading.low, reading.high) == (min(numbers, default=np.inf), max(numbers, default=-np.inf))
            texts = [v for v in values if isinstance(v, str)]
            assert reading.text == (texts[-1] if texts else "")
            if numbers:
                assert reading.number == numbers[-1]
    words = {word.attribute: word for word in made.words()}
    assert {name: word.times for name, word in words.items()} == {
        name: sum(name in payload for _, payload in sent) for name in words
    }
    assert {name: word.sources for name, word in words.items()} == {
        name: len({source for source, payload in sent if name in payload}) for name in words
    }


def test_what_is_beyond_a_limit_is_counted_and_never_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sources, readings of all of them, names, and texts of a name."""
    monkeypatch.setattr(learning, "CATALOGUE_NAMES", 3)
    monkeypatch.setattr(learning, "CATALOGUE_TEXTS", 2)
    made = SourceProfiles(sources=2, readings=3)
    sent: list[tuple[str, dict[str, Any]]] = [
        ("a", {"x": "1st"}),
        ("b", {"x": "2nd", "y": 1}),
        ("c", {"x": "3rd"}),
        ("a", {"x": "3rd", "w": 2, "z": 3}),
    ]
    events, sources, at = events_of(sent)
    made.add(columns_of(events), sources, at)
    assert made.sources() == ["a", "b"]
    assert made.left_out == {"sources": 1, "readings": 1, "names": 1, "texts": 1}
    found = made.source("a")
    assert found is not None
    assert [(each.attribute, each.text) for each in found.readings] == [("x", "3rd")]
    assert made.texts("x") == {"1st": 1, "2nd": 1}


def test_a_number_beyond_single_precision_leaves_the_line_finite() -> None:
    made = SourceProfiles()
    made.add(columns_of([lw.event({"t": 1e308}), lw.event({"u": -1e308})]), ["a", "a"], [1, 2])
    found = made.source("a")
    assert found is not None
    assert all(np.isfinite(each.line).all() for each in found.readings)


def test_the_usual_time_between_events_is_learnt() -> None:
    """And follows slowly when it changes."""
    made = SourceProfiles()
    for n in range(50):
        made.add(columns_of([lw.event({"t": n})]), ["a"], [n * 10_000_000])
    found = made.source("a")
    assert found is not None
    assert found.interval == pytest.approx(10)
    assert found.readings[0].line == tuple(range(38, 50))


def test_what_was_saved_comes_back_and_what_is_damaged_does_not(tmp_path: Path) -> None:
    """Whole, with its position; one wrong byte anywhere and it is left aside."""
    made = SourceProfiles()
    events, sources, at = events_of([("a", {"t": 1, "mode": "eco"}), ("b", {"t": 2.5}), ("a", {"h": True})])
    made.add(columns_of(events), sources, at)
    path = tmp_path / "catalogue" / "1.learnt"
    size = save_profiles(path, made, 17)
    assert size == path.stat().st_size
    found = load_profiles(path)
    assert found is not None
    again, position = found
    assert position == 17
    assert repr([again.source(each) for each in again.sources()]) == repr(
        [made.source(each) for each in made.sources()]
    )
    assert list(again.words()) == list(made.words())
    more, by, when = events_of([("b", {"new": 3}), ("c", {"t": 9})])
    for each in (again, made):
        each.add(columns_of(more), by, when)
    assert repr([again.source(each) for each in again.sources()]) == repr(
        [made.source(each) for each in made.sources()]
    )
    whole = path.read_bytes()
    assert load_profiles(tmp_path / "nothing") is None
    for place in range(0, len(whole), 37):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert load_profiles(path) is None
    path.write_bytes(whole[:-3])
    assert load_profiles(path) is None


def test_the_interval_is_of_a_reading_and_not_of_a_burst_of_topics() -> None:
    """Twenty topics within milliseconds, once a minute: every minute, and not every 0.001 s."""
    learnt = SourceProfiles()
    for minute in range(5):
        at = [minute * 60_000_000 + 1_000 * n for n in range(20)]
        events = [lw.event({f"reading {n}": minute, "topic": f"evcc/site/{n}"}) for n in range(20)]
        learnt.add(columns_of(events), ["evcc/site"] * 20, at)
    learnt.add(columns_of([lw.event({"reading 0": 1, "topic": "evcc/site/0"})]), ["evcc/site"], [10 * 60_000_000])
    source = learnt.source("evcc/site")
    assert source is not None
    assert source.interval == 60.0
    every = {each.attribute: each.every for each in source.readings}
    assert every["reading 1"] == 60.0
    assert every["reading 0"] > 60.0


def test_profiles_of_an_earlier_release_have_no_intervals_of_readings(tmp_path: Path) -> None:
    learnt = SourceProfiles()
    learnt.add(columns_of([lw.event({"t": 1}), lw.event({"t": 2})]), ["a", "a"], [1_000_000, 3_000_000])
    state, columns = learnt.state()
    del columns["every"]
    source = SourceProfiles.restored(state, columns).source("a")
    assert source is not None
    assert source.interval == 2.0
