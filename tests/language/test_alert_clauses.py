"""What a subscription says about when it speaks and what it says: clauses that are read, printed and refused."""

from __future__ import annotations

import msgspec
import pytest

from likewise import parse
from likewise.errors import InputError, ParseError
from likewise.formats.json.subscriptions import subscription_from_json, subscription_to_json
from likewise.model import Alert, Predicate, SelectColumn, Subscription

MINUTE = 60_000_000


def test_every_clause_is_read_in_any_order_and_printed_in_one() -> None:
    text = (
        "{door = open} digest every 1 d at most every 1 h once until {door = closed} for 5 min "
        'from one source per room, "floor 1" select (door, temperature~ in degF as t, @source as device, @score)'
    )
    found = parse(text)
    assert found.alert == Alert(
        ("room", "floor 1"), 5 * MINUTE, (Predicate("door", "=", "closed"),), 60 * MINUTE, None, 1_440 * MINUTE
    )
    assert found.select == (
        SelectColumn("door"),
        SelectColumn("temperature", True, "degF", "t"),
        SelectColumn(name="device", fact="source"),
        SelectColumn(fact="score"),
    )
    assert found.from_one_source
    assert found.kind == "alert"
    assert str(found) == (
        "{door = open} select (door, temperature~ in degF as t, @source as device, @score) "
        'per room, "floor 1" from one source for 5 min once until {door = closed} at most every 1 h digest every 1 d'
    )
    assert parse(str(found)) == found


@pytest.mark.parametrize(
    "text",
    [
        "{t~ exists, city = Galway} absent for 10 min",
        "{t > 25} once until false",
        "{t > 25} from one source",
        "[1, 0, *] select (@id, @payload)",
        'event type "Race" select (@source)',
        "{t > 25} top 3 by value(t) select (t in degC)",
        "{a exists, not b = 1} for 1 min",
        '{t > 1} select ("as" as "in", "wind speed" in m/s, "@type")',
    ],
)
def test_json_and_text_carry_the_clauses(text: str) -> None:
    found = parse(text, id="s")
    assert parse(str(found), id="s") == found
    assert subscription_from_json(subscription_to_json(found)) == found
    assert msgspec.json.decode(msgspec.json.encode(found), type=Subscription) == found


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("{t exists} for 5 min", 12, "no event can fail"),
        ("{t exists, (u exists or w exists)} once until false", 36, "no event can fail"),
        ("{not t = 1} for 5 min", 13, "about every one"),
        ("{(t = 1 or not u = 1)} once until false", 24, "about every one"),
        ("{not t = 1} absent for 5 min", 13, "about every one"),
        ("{t > 1} top 3 by value(t) for 5 min", 27, "`top` cannot stand beside `for`"),
        ("{t > 1} top 3 by value(t) once until false", 27, "`top` cannot stand beside `once until`"),
        ("{t > 1} top 3 by value(t) at most every 1 h", 27, "`top` cannot stand beside `at most every`"),
        ("{t > 1} top 3 by value(t) absent for 1 h", 27, "`top` cannot stand beside `absent for`"),
        ("{t > 1} top 3 by value(t) digest every 1 h", 27, "`top` cannot stand beside `digest every`"),
        ("{t > 1} absent for 3 min for 2 min", 9, "`absent for` cannot stand beside `for`"),
        ("{t > 1} once until false absent for 3 min", 26, "`absent for` cannot stand beside `once until`"),
        ("{t > 1} per room", 9, "`per` tells the keys of an alert apart"),
        ("{t > 1} per room, ROOM for 1 min", 9, "twice"),
        ("{t > 1} for 3 events", 13, "`3 events` is no time"),
        ("{t > 1} for 0 s", 9, "longer than nothing"),
        ("{t > 1} for 1 min for 2 min", 19, "`for` is given a second time"),
        ("{t > 1} select (@source, @foo)", 26, "`@foo` is no fact"),
        ('{t > 1} select (t as "")', 22, "the name after `as` is empty"),
        ("{t > 1} per room, @source for 1 min", 19, "each source has a state of its own"),
        ("{t > 1} select (t, T as t)", 9, "two columns"),
        ("{t > 1} select ()", 17, "`)` cannot stand here"),
        ("[1, 0] select (t)", 8, "condition in braces only"),
        ("[1, 0] for 2 min", 8, "condition in braces only"),
    ],
)
def test_what_cannot_stand_together_is_refused_with_its_place(text: str, column: int, words: str) -> None:
    with pytest.raises(ParseError) as refused:
        parse(text)
    assert words in str(refused.value)
    assert refused.value.column == column


def test_a_structure_is_refused_for_the_same_reasons() -> None:
    body = {"kind": "condition", "items": [{"kind": "predicate", "attribute": "t", "operator": "exists"}]}
    with pytest.raises(InputError, match="no event can fail"):
        parse({"body": body, "alert": {"held_for": 5}})
    with pytest.raises(InputError, match="two columns"):
        parse({"body": body, "select": [{"attribute": "t"}, {"attribute": "t", "relaxed": True}]})
    with pytest.raises(InputError, match="takes no `~`"):
        parse({"body": body, "select": [{"fact": "id", "unit": "degC"}]})


def test_words_of_the_clauses_stay_ordinary_text_inside_a_condition() -> None:
    found = parse("{wait for = absent for now, per = once until, select = at most every day}")
    assert found.kind == "exact"
    assert parse(str(found)) == found


def test_stale_is_said_for_keys_of_several_sources_and_read_back() -> None:
    text = "{smoke = true} per room once until false stale 12 h"
    found = parse(text)
    assert found.alert is not None
    assert found.alert.stale == 12 * 3_600_000_000
    assert str(found) == text
    assert parse(str(found)) == found


@pytest.mark.parametrize(
    "text",
    [
        "{smoke = true} once until false stale 12 h",
        "{smoke = true} per room at most every 1 h stale 12 h",
        "{t exists} per room absent for 1 h stale 12 h",
        "{smoke = true} per room once until false stale 0 s",
        "{smoke = true} stale 12 h",
    ],
)
def test_stale_is_refused_where_it_would_say_nothing(text: str) -> None:
    with pytest.raises(InputError, match="stale"):
        parse(text)
