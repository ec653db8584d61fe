"""JSON into columns: the same events, the same columns and the same refusals as reading them one by one."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np
import pytest

import likewise as lw
from likewise.errors import LikewiseError
from likewise.formats.arrow.columns import EventColumns, columns_of
from likewise.formats.arrow.event_batch import EventBatch
from likewise.formats.json.batches import MANY, JsonBatch, decode_array, decode_each, decode_one
from likewise.formats.json.events import event_from_document, event_from_json, is_envelope
from likewise.formats.strict_json import decode_items
from likewise.model import Event, event

NAMES = [
    "no2",
    "lat",
    "city",
    "unit",
    "temperature",
    "temperature_unit",
    "u",
    "v",
    "n",
    "value",
    "topic",
    "a.b",
    "vector",
]


def value(chance: random.Random) -> Any:
    return chance.choice(
        [
            chance.randrange(-5, 100),
            chance.uniform(-3, 3),
            "warm",
            "degC",
            "21",
            "",
            chance.random() < 0.5,
            "12:00:00",
            "2024-05-01",
            1.0,
            -0.0,
        ]
    )


def odd(chance: random.Random) -> Any:
    return chance.choice(
        [
            None,
            [],
            {},
            [1, 2],
            {"value": 3, "unit": "degC"},
            {"a": {"b": [1, {"c": None}]}},
            2**63 - 1,
            2**63,
            -(2**63),
            10**40,
            "x" * 1025,
            "é\u2028:\\",
            [0, 1, 1],
            1e308,
            "\ud83d\ude00",
            {"": 1},
            [[[[]]]],
        ]
    )


def payload(chance: random.Random) -> dict[str, Any]:
    names = chance.choice([NAMES[:3], ["no2", "lat"], chance.sample(NAMES, chance.randrange(1, 6))])
    made = {name: value(chance) for name in names}
    if chance.random() < 0.15:
        made[chance.choice([*NAMES, " ", "", "k" * 1025])] = odd(chance)
    return made


def document(chance: random.Random) -> dict[str, Any]:
    made = payload(chance)
    if chance.random() < 0.4:
        made = {"v": 1, "payload": made, "id": f"e{chance.randrange(9)}"}
        for name, said in (("source", "/roof"), ("time", 7), ("expires", 9), ("themes", ["air"]), ("priority", "high")):
            if chance.random() < 0.2:
                made[name] = said
        if chance.random() < 0.2:
            odds: list[Any] = [None, 3, "", "y" * 1025, -1, "2024-05-01T12:00:00Z", 1.5, [], {}, 2**70, ["a", "a"]]
            odds += [[3], [" "], ["y" * 1025], ["x"] * 500]
            fields = ["id", "source", "time", "expires", "v", "payload", "tuples", "graph", "themes"]
            made[chance.choice(fields)] = chance.choice(odds)
    return made


def written(chance: random.Random, made: Any) -> bytes:
    """As JSON, sometimes with other blanks, and sometimes broken."""
    text = json.dumps(made, ensure_ascii=chance.random() < 0.5, indent=chance.choice([None, None, 1]))
    data = text.encode(errors="surrogatepass").replace(b"\n", b" ")
    if chance.random() < 0.1:
        place = chance.randrange(len(data))
        data = chance.choice(
            [
                data[:place] + data[place + 1 :],
                data[:place] + bytes([chance.randrange(256)]) + data[place:],
                data[:place],
                data.replace(b'"lat"', b'"no2"'),
                data.replace(b"1", b"1e999", 1),
                data.replace(b"1", b"NaN", 1),
                data.replace(b"warm", b"\\ud800"),
                b"[]",
                b"7",
                b"",
                data + data,
            ]
        )
    return data


def outcome(read: Callable[[], Sequence[Event]]) -> Any:
    try:
        return [repr(each) for each in read()]
    except LikewiseError as error:
        return type(error), str(error)


def plain_array(data: bytes) -> list[Event]:
    return [
        event_from_document(item) if is_envelope(item) else event(item)
        for item in decode_items(data, "array of events")
    ]


def same_columns(one: EventColumns, other: EventColumns) -> bool:
    def said(columns: EventColumns) -> list[Any]:
        words: list[Any] = [
            [None if code < 0 else names[code] for code in codes.tolist()]
            for codes, names in (
                (columns.attribute, columns.attributes),
                (columns.text, columns.texts),
                (columns.unit, columns.units),
            )
        ]
        arrays: list[Any] = [
            columns.offsets,
            columns.kind,
            columns.whole,
            columns.moment,
            columns.group,
            columns.time,
            columns.expires,
        ]
        return [*words, *(array.tolist() for array in arrays), columns.number.view(np.int64).tolist()]

    return said(one) == said(other)


def check(read: Callable[[], JsonBatch], plainly: Callable[[], Sequence[Event]]) -> None:
    wanted = outcome(plainly)
    assert outcome(read) == wanted
    if isinstance(wanted, list) and wanted:
        batch, events = read(), plainly()
        assert same_columns(batch.columns(), columns_of(events))
        assert batch.themes() == [each.themes for each in events]
        assert [tuple(tags or ()) for tags in batch.to_arrow().column("themes").to_pylist()] == batch.themes()
        half = len(batch) // 2
        assert batch[half:].to_events() == tuple(events[half:])
        for place, each in enumerate(events):
            envelope = batch.envelope(place, "given")
            if envelope is not None:
                again = event_from_json(envelope)
                assert repr(again) == repr(_with_id(each))


def _with_id(each: Event) -> Event:
    return each if each.id is not None else msgspec.structs.replace(each, id="given")


@pytest.mark.parametrize("seed", range(300))
def test_an_array_is_read_as_one_by_one(seed: int) -> None:
    chance = random.Random(seed)
    count = chance.choice([1, MANY - 1, MANY, 40])
    bad = chance.random() < 0.5
    parts = [written(chance, document(chance)) if bad else json.dumps(_good(chance)).encode() for _ in range(count)]
    data = b"[" + b", ".join(parts) + b"]"
    check(lambda: decode_array(data), lambda: plain_array(data))


@pytest.mark.parametrize("seed", range(300))
def test_lines_are_read_as_one_by_one(seed: int) -> None:
    chance = random.Random(seed)
    count = chance.choice([1, MANY - 1, MANY, 40])
    bad = chance.random() < 0.5
    parts = [written(chance, document(chance)) if bad else json.dumps(_good(chance)).encode() for _ in range(count)]
    check(lambda: decode_each(parts), lambda: [event_from_json(part) for part in parts])


@pytest.mark.parametrize("seed", range(300))
def test_one_event_is_read_as_ever(seed: int) -> None:
    chance = random.Random(seed)
    data = written(chance, document(chance))
    check(lambda: decode_one(data), lambda: [event_from_json(data)])


@pytest.mark.parametrize(
    "blank", [b" ", b"\t", b"\r", b"\n", b"\x0b", b"\x0c", b"\x1c", b"\x85", b"\xa0", b"\xef\xbb\xbf"]
)
@pytest.mark.parametrize("after", [False, True])
def test_only_the_blanks_of_json_may_stand_around_an_event(blank: bytes, after: bool) -> None:
    """Python takes more characters for blanks than RFC 8259 does."""
    data = b'{"no2": 45}' + blank if after else blank + b'{"no2": 45}'
    check(lambda: decode_each([data] * MANY), lambda: [event_from_json(data)] * MANY)
    check(lambda: decode_one(data), lambda: [event_from_json(data)])


def _good(chance: random.Random) -> dict[str, Any]:
    """Something that is surely read."""
    while True:
        made = document(chance)
        try:
            event_from_json(json.dumps(made))
        except LikewiseError:
            continue
        return made


def test_most_events_are_no_objects_of_their_own() -> None:
    batch = decode_each([b'{"no2": 45, "city": "Galway"}'] * MANY)
    assert batch.columnar
    assert not batch._decoded
    matcher = lw.Matcher()
    matcher.add("{no2 > 40, city = galway}")
    assert len(matcher.match_batch(batch).event_index) == MANY
    assert not batch._decoded


@pytest.mark.parametrize("looked_at", [False, True])
def test_some_of_a_batch_are_the_same_whether_columns_were_made_before_or_not(looked_at: bool) -> None:
    chance = random.Random(3)
    drawn = (json.dumps(_good(chance)) for _ in range(200))
    lines = [each for each in drawn if len(each) < 900][:80]  # longer texts do not fit into Arrow
    events = [event_from_json(each) for each in lines]
    batch, places = decode_each(lines), chance.sample(range(80), 30)
    if looked_at:
        batch.columns()
        assert batch[7] == events[7]
    for some, expected in (
        (batch.take(np.array(places)), [events[place] for place in places]),
        (batch[20:60], events[20:60]),
        (batch, events),
    ):
        assert EventBatch.from_arrow(some.to_arrow()).to_events() == tuple(expected)


def test_events_with_themes_are_no_objects_of_their_own_either() -> None:
    """Also where words are compared by their meaning."""
    batch = decode_each([b'{"v": 1, "payload": {"city": "Galway", "no2": 45}, "themes": ["air", "town"]}'] * MANY)
    matcher = lw.Matcher()
    matcher.add("({air}, {city~ = Galway~, no2 > 40})")
    assert len(matcher.match_batch(batch).event_index) == MANY
    assert not batch._decoded
    assert batch[0].themes == ("air", "town")


def test_a_field_that_states_no_unit_of_another_makes_no_object() -> None:
    """Only where a unit stands beside its number is an event read by itself."""
    lines = [b'{"power": "high", "measurement unit": "kilowatt", "floor": %d}' % n for n in range(MANY)]
    batch = decode_each([*lines, b'{"temperature": 81.2, "unit": "degF"}'])
    assert list(batch._decoded) == [MANY]
    assert batch[MANY].tuples[0].unit == "degF"
    assert batch[0] == event_from_json(lines[0])


def test_a_matcher_takes_json_for_events() -> None:
    chance = random.Random(1)
    lines = [json.dumps(_good(chance)) for _ in range(60)]
    matcher = lw.Matcher()
    for text in ("{no2 > 20}", "{city = warm}", "{lat exists, not no2 = 3}"):
        matcher.add(text)
    one, other = (
        matcher.match_batch(lines, [0] * 60),
        matcher.match_batch([event_from_json(each) for each in lines], [0] * 60),
    )
    assert list(one.pairs()) == list(other.pairs())


def test_few_events_get_no_columns_by_being_looked_at() -> None:
    """Else each request of a publisher would be matched by itself, at the price of many."""
    from likewise.formats.json.batches import decode_one, first_end

    one = decode_one(b'{"v": 1, "payload": {"a": 1}, "expires": 7}')
    assert first_end(one) == 7
    assert not one.columnar
