"""The annotation step: what is known about an event is laid over it before it is matched, in every engine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

import likewise as lw
from likewise.defaults import MAX_TUPLES
from likewise.errors import ArtefactDamaged, ArtefactMissing, InputError, UnsupportedSubscription
from likewise.formats.arrow.event_batch import EventBatch
from likewise.matching.enrichment.step import EnrichedEvent
from likewise.matching.registry import ENGINES
from likewise.model import Event, EventTuple, fold
from likewise.model.hierarchies.topic_filters import filter_matches
from likewise.model.text import attribute_names
from likewise.semantics.enrichment.annotation import Annotation
from likewise.semantics.enrichment.table import AnnotationTable
from likewise.testing import TableMeasure

WORDS = TableMeasure(
    {
        ("device", "gadget"): 0.9,
        ("laptop", "computer"): 0.8,
        ("coffee machine", "computer"): 0.3,
        ("tablet", "computer"): 0.7,
        ("temperature", "tmp"): 0.9,
        ("place", "room"): 0.9,
    }
)


def row(key: str, equals: str = "", **said: str) -> dict[str, object]:
    return {"key": key, "is": equals, **said}


def said(rows: Sequence[dict[str, object]], payload: dict[str, object], source: str | None = None) -> str:
    return str(lw.Matcher(annotations=rows, measure=WORDS).annotated(lw.event(payload, source=source)))


def test_rows_are_keyed_by_source_model_topic_or_any_attribute() -> None:
    """Each key adds what is known; text is compared folded, numbers as numbers, topics by MQTT's rules."""
    assert said([row("source", "s17", attribute="room", value="112")], {"t": 1}, "s17") == "t: 1 · room: 112"
    assert said([row("source", "s17", attribute="room", value="112")], {"t": 1}, "S17") == "t: 1"
    assert said([row("source", "s17", attribute="room", value="112")], {"source": "s17"}) == "source: s17 · room: 112"
    assert said([row("source", attribute="known", value="yes")], {"t": 1}, "any") == "t: 1 · known: yes"
    assert said([row("model", "sht31", attribute="maker", value="S")], {"Model": "SHT31"}) == "Model: SHT31 · maker: S"
    assert said([row("floor", "2.0", attribute="wing", value="B")], {"floor": 2}) == "floor: 2 · wing: B"
    topic = [row("topic", "a/+/roof/#", attribute="place", value="roof")]
    assert said(topic, {"topic": "a/b/roof/x"}) == "topic: a/b/roof/x · place: roof"
    assert said(topic, {"topic": "A/b/roof/x"}) == "topic: A/b/roof/x"


def test_an_attribute_gets_its_unit_and_its_meaning_from_a_row() -> None:
    """What an event states itself stays; a unit in the name that is replaced is kept."""
    assert said([row("temp1", unit="degC")], {"temp1": 21}) == "temp1: 21 degC"
    assert said([row("temp1", unit="degC")], {"temp1": {"value": 70, "unit": "degF"}}) == "temp1: 70 degF"
    assert said([row("temp1", unit="degC")], {"temp1": "off"}) == "temp1: off"
    means = [row("model", "X", attribute="ch1_f", means="supply air temperature")]
    assert said(means, {"model": "X", "ch1_f": 70}) == "model: X · supply air temperature: 70"
    renamed = [row("tempf", means="supply air temperature")]
    assert said(renamed, {"tempf": 70}) == "supply air temperature: 70 degF"
    listed = lw.Matcher(annotations=[row("r.t1", means="air temperature")]).annotated({"r": [{"t1": 1}, {"t1": 2}]})
    assert [(t.attribute, t.group) for t in listed.tuples] == [("r[].air temperature", 1), ("r[].air temperature", 2)]


def test_a_row_may_hold_because_of_one_before_it_and_not_of_one_after_it() -> None:
    """Rows hold in their order: a source has a model, a model has a unit; a replaced name is still found."""
    model, unit = row("source", "s", attribute="model", value="X"), row("model", "x", attribute="temp1", unit="degC")
    assert said([model, unit], {"temp1": 21}, "s") == "temp1: 21 degC · model: X"
    assert said([unit, model], {"temp1": 21}, "s") == "temp1: 21 · model: X"
    assert said([row("temp1", means="air"), row("temp1", unit="degC")], {"temp1": 21}) == "air: 21 degC"
    assert said([row("temp1", means="air"), row("air", unit="degC")], {"temp1": 21}) == "air: 21 degC"


def test_what_the_event_says_itself_is_not_added_again() -> None:
    """The event's word stands against the row's; two rows may both add."""
    rooms = [row("source", "s", attribute="room", value="112"), row("source", "s", attribute="owner", value="a")]
    both = [*rooms, row("source", "s", attribute="owner", value="b"), row("source", "s", attribute="owner", value="a")]
    assert said(both, {"Room": 7}, "s") == "Room: 7 · owner: a · owner: b"


def test_an_event_that_is_full_is_matched_as_it_is() -> None:
    """Nothing that annotations add makes an event impossible."""
    full = lw.event({f"a{n}": n for n in range(MAX_TUPLES)}, source="s")
    matcher = lw.Matcher(annotations=[row("source", "s", attribute="room", value="112")])
    matcher.add(lw.parse("{a5 = 5}", id="five"))
    assert [m.subscription_id for m in matcher.match(full)] == ["five"]
    assert "at most 1,000 tuples" in matcher.explain(full, "five").annotations[0]


def test_a_relaxed_key_finds_the_row_that_is_meant_with_its_probability() -> None:
    """Of several rows of one key the best counts; below the threshold none does."""
    rows = [
        row("device~", "coffee machine", attribute="owner", value="kitchen"),
        row("device~", "tablet", attribute="owner", value="field"),
        row("device~", "laptop", attribute="owner", value="IT"),
        row("device~", "laptop", attribute="floor", value="2"),
        row("temperature~", unit="degC"),
    ]
    assert said(rows, {"gadget": "computer"}) == "gadget: computer · owner: IT · floor: 2"
    assert said(rows, {"gadget": "Coffee Machine"}) == "gadget: Coffee Machine · owner: kitchen"
    assert said(rows, {"gadget": "shoe", "tmp": 3}) == "gadget: shoe · tmp: 3 degC"
    matcher = lw.Matcher(annotations=rows, measure=WORDS)
    matcher.add(lw.parse("{owner = it}", id="it"))
    explained = matcher.explain({"gadget": "computer"}, "it")
    assert explained.verdict == "match"
    likely = (0.9 * 0.8) ** 0.5
    told = f"annotations, line 3, device is laptop: owner = IT (meant by gadget: computer, probability {likely:.2f})"
    assert explained.annotations[0] == told
    assert told in explained.predicates[0].notes
    assert told in str(explained)


def test_explanations_say_what_annotations_did_and_left() -> None:
    """Also where nothing matches, and where a row did nothing because the event says more."""
    rows = [row("temp1", unit="degC", means="supply air temperature"), row("source", "s", attribute="room", value="1")]
    matcher = lw.Matcher(annotations=rows)
    matcher.add(lw.parse("{temp1 > 5}", id="old"))
    event = lw.event({"temp1": "70 degF", "room": 2}, source="s")
    explained = matcher.explain(event, "old")
    assert explained.verdict == "missing_attribute"
    assert explained.annotations == (
        "annotations, line 1, temp1: temp1 is supply air temperature, in degC "
        "(the unit degF that the event states stays)",
        "annotations, line 2, source is s: room = 1 (not added: the event says it itself)",
    )
    assert lw.Matcher(annotations=rows).interpretation.annotations.current().version
    assert matcher.snapshot().explain(event, "old").annotations == explained.annotations


def test_every_door_of_a_matcher_sees_the_annotated_event() -> None:
    """match, match_batch of events and columns, would_match, snapshot, mappings and feedback agree."""
    rows = [row("source", "s", attribute="room", value="112"), row("model", "x", attribute="t", unit="degF")]
    matcher = lw.Matcher(annotations=rows, measure=WORDS)
    matcher.add(lw.parse("{room = 112, t < 0 degC}", id="cold"))
    matcher.add(lw.parse("{place~ = 112}", id="room"))
    matcher.add(lw.parse("{room = 112} top 1 within 5 events by value(t in degC)", id="top"))
    events = [
        lw.event({"model": "X", "t": 30}, source="s", id="e1"),
        lw.event({"t": 30}, id="e2"),
        lw.event({"model": "x", "t": 40}, source="s", id="e3"),
    ]
    assert [m.subscription_id for m in matcher.would_match(events[0], at=1)] == ["cold", "room", "top"]
    assert [m.subscription_id for m in matcher.snapshot().match(events[0])] == ["cold", "room"]
    assert matcher.mappings(events[0], "room", 1)[0].correspondences[0].tuple == 2
    assert [p.candidate for p in matcher.feedback(events[0], "room", True).pairs] == ["room"]
    expected = [["cold", "room", "top"], [], ["room"]]
    for given in (events, EventBatch.from_events(events)):
        found = matcher.alike()
        for subscription in matcher.subscriptions():
            found.add(subscription, at=0)
        batch = found.match_batch(given, at=[1, 2, 3])
        met: list[list[str]] = [[], [], []]
        for place, index in zip(batch.event_index.tolist(), batch.subscription_index.tolist(), strict=True):
            met[place].append(batch.subscription_ids[index])
        assert met == expected
    assert [[m.subscription_id for m in matcher.match(e, at=n)] for n, e in enumerate(events, 1)] == expected


@pytest.mark.parametrize("engine", ["bitmap", "forest", "sgim", "naive"])
def test_every_engine_sees_the_same(engine: str) -> None:
    """Engines know nothing of annotations, the oracle as little as the others."""
    assert engine in ENGINES
    chance = Random(7)
    rows = [row("source", f"s{n}", attribute="room", value=str(n % 5)) for n in range(40)]
    rows += [row("room", str(n), attribute="x", unit="m") for n in range(3)]
    matcher = lw.Matcher(annotations=rows, engines={"exact": engine})
    plain = lw.Matcher(engines={"exact": "naive"})
    for n in range(30):
        text = f"{{room = {n % 5}, x > {n * 10} {chance.choice(('cm', 'm', 'ft'))}}}"
        matcher.add(lw.parse(text, id=f"q{n}"))
        plain.add(lw.parse(text, id=f"q{n}"))
    for _ in range(60):
        event = lw.event({"x": chance.randint(0, 300)}, source=f"s{chance.randint(0, 45)}")
        assert matcher.match(event, at=0) == plain.match(matcher.annotated(event), at=0)


def plainly(rows: Sequence[Annotation], event: Event) -> tuple[EventTuple, ...]:
    """The oracle: every row in its order, asked one by one whether it holds."""
    over = EnrichedEvent(event.tuples)
    for one in rows:
        if _holds(one, over, event.source):
            over.apply(one)
    return tuple(over.tuples)


def _holds(one: Annotation, over: EnrichedEvent, source: str | None) -> bool:
    key = fold(one.key)
    if key == "source":
        return source is not None and one.equals in ("", source)
    for names, item in zip(over.names, over.tuples, strict=True):
        if key not in {*names, *attribute_names(item.attribute)}:
            continue
        if not one.equals or (key == "topic" and filter_matches(one.equals, str(item.value))):
            return True
        if key != "topic" and fold(str(item.value)) == fold(one.equals):
            return True
    return False


def test_look_ups_find_what_asking_every_row_finds() -> None:
    """Random rows and events, chains among them, against rows asked one by one."""
    chance = Random(17)
    names, values = ("a", "b", "c", "model", "topic"), ("x", "y", "p/q", "7")
    for _ in range(300):
        rows = []
        for line in range(chance.randint(1, 12)):
            key = chance.choice((*names, "source"))
            equals = chance.choice((*values, "", "p/+", "#")) if key == "topic" else chance.choice((*values, ""))
            about = chance.choice(names)
            if chance.random() < 0.6:
                rows.append(Annotation(key, equals, about, chance.choice(values), line=line))
            elif chance.random() < 0.5:
                rows.append(Annotation(key, equals, about, unit="degC", line=line))
            else:
                rows.append(Annotation(key, equals, about, means=f"{about}2", line=line))
        matcher = lw.Matcher(annotations=AnnotationTable(rows))
        for _ in range(5):
            said = [EventTuple(chance.choice(names), chance.choice((*values, 7))) for _ in range(chance.randint(1, 4))]
            event = Event(tuple(said), source=chance.choice((None, "x", "y")))
            assert matcher.annotated(event).tuples == plainly(rows, event), [str(r) for r in rows]


def test_a_matcher_follows_its_file(tmp_path: Path) -> None:
    """A change holds from the next event on; a bad one changes nothing and is said in explanations."""
    path = tmp_path / "rooms.csv"

    def write(text: str, stamp: int) -> None:
        path.write_text("key,is,attribute,value\n" + text, encoding="utf-8")
        os.utime(path, ns=(stamp, stamp))

    write("source,s,room,1\n", 1_000)
    matcher = lw.Matcher(annotations=path)
    matcher.add(lw.parse("{room = 1}", id="one"))
    matcher.add(lw.parse("{room = 2}", id="two"))
    event = lw.event({"t": 1}, source="s")
    assert [m.subscription_id for m in matcher.match(event)] == ["one"]
    write("source,s,room,2\n", 2_000)
    assert [m.subscription_id for m in matcher.match(event)] == ["two"]
    write("source,s,room,1\nsource,s,room,\n", 3_000)
    assert [m.subscription_id for m in matcher.match(event)] == ["two"]
    assert "rooms.csv, line 3" in matcher.explain(event, "two").annotations[-1]
    assert "rows of before hold" in matcher.explain(event, "two").annotations[-1]


def test_a_profile_without_relaxed_parts_refuses_relaxed_keys(tmp_path: Path) -> None:
    """At once where they are given; later the rows of before hold, and matching goes on."""
    with pytest.raises(UnsupportedSubscription):
        lw.Matcher(profile="small", annotations=[row("device~", "laptop", attribute="owner", value="IT")])
    path = tmp_path / "a.csv"
    path.write_text("key,is,attribute,value\nsource,s,room,1\n", encoding="utf-8")
    os.utime(path, ns=(1_000, 1_000))
    matcher = lw.Matcher(profile="small", annotations=path)
    matcher.add(lw.parse("{room = 1}", id="one"))
    event = lw.event({"t": 1}, source="s")
    assert len(matcher.match(event)) == 1
    path.write_text("key,is,attribute,value\ndevice~,laptop,owner,IT\n", encoding="utf-8")
    os.utime(path, ns=(2_000, 2_000))
    assert len(matcher.match(event)) == 1
    assert "profile 'small'" in matcher.explain(event, "one").annotations[-1]


def test_annotations_are_saved_with_the_matcher(tmp_path: Path) -> None:
    """They come back as rows; others may be given in their place; a damaged file is refused."""
    matcher = lw.Matcher(annotations=[row("source", "s", attribute="room", value="a, b")])
    matcher.add(lw.parse('{room = "a, b"}', id="ab"))
    matcher.save(tmp_path / "m")
    event = lw.event({"t": 1}, source="s")
    assert len(lw.Matcher.load(tmp_path / "m").match(event)) == 1
    assert not lw.Matcher.load(tmp_path / "m", annotations=[]).match(event)
    with pytest.raises(InputError):
        lw.Matcher.load(tmp_path / "m", annotations=[], interpretation=matcher.interpretation)
    (tmp_path / "m" / "annotations.csv").write_text("key,is,attribute,value\n", encoding="utf-8")
    with pytest.raises(ArtefactDamaged):
        lw.Matcher.load(tmp_path / "m")


def test_what_is_no_annotation_is_refused_at_once(tmp_path: Path) -> None:
    """Before anything is matched."""
    with pytest.raises(ArtefactMissing):
        lw.Matcher(annotations=tmp_path / "none.csv")
    for wrong in (5, {"key": "source"}, b"key", [1]):
        with pytest.raises(InputError):
            lw.Matcher(annotations=wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError):
        lw.Matcher(annotations=[], interpretation=lw.Matcher().interpretation)
