"""Events: tuples, readings, interest vectors, contexts, and how nested objects flatten."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.defaults import MAX_DEPTH, MAX_TERM_LENGTH, MAX_THEMES, MAX_TRIPLES, MAX_TUPLES, MAX_VECTOR
from likewise.errors import InputError, InvalidEvent, LikewiseError, LimitExceeded
from likewise.model import Event, EventTuple, Triple, contexts, event
from likewise.model.time import DURATIONS, microseconds


def flat(obj: dict[str, Any]) -> list[tuple[str, object, str, int]]:
    return [(t.attribute, t.value, t.unit, t.group) for t in event(obj).tuples]


def test_nested_objects_flatten_to_paths() -> None:
    """Objects with dots, lists with brackets, null left out, in order."""
    assert flat({"a": {"b": {"c": 1}}, "x": None, "tags": ["u", None, "v"], "m": [[1, 2], [3]]}) == [
        ("a.b.c", 1, "", 0),
        ("tags[]", "u", "", 0),
        ("tags[]", "v", "", 0),
        ("m[][]", 1, "", 0),
        ("m[][]", 2, "", 0),
        ("m[][]", 3, "", 0),
    ]


def test_fields_of_one_list_item_share_a_group() -> None:
    """Each item has its own; what stands outside of lists has none."""
    found = flat({"r": [{"name": "temp", "v": {"raw": 1}}, {"name": "hum", "inner": [{"x": 2}]}], "z": 3})
    assert found == [
        ("r[].name", "temp", "", 1),
        ("r[].v.raw", 1, "", 1),
        ("r[].name", "hum", "", 2),
        ("r[].inner[].x", 2, "", 3),
        ("z", 3, "", 0),
    ]


def test_a_value_with_its_unit_is_one_quantity() -> None:
    """Alone it takes the object's place; with other fields, or at the top, the unit stands beside the value."""
    assert flat({"t": {"value": 21, "unit": "C"}}) == [("t", 21, "C", 0)]
    assert flat({"t": {"value": 21, "unit": "C", "at": "x"}}) == [
        ("t.value", 21, "C", 0),
        ("t.unit", "C", "", 0),
        ("t.at", "x", "", 0),
    ]
    assert flat({"value": 21, "unit": "C"}) == [("value", 21, "C", 0), ("unit", "C", "", 0)]
    assert flat({"t": {"value": "warm", "unit": "C"}}) == [("t.value", "warm", "", 0), ("t.unit", "C", "", 0)]
    assert flat({"t": {"value": True, "unit": "C"}}) == [("t.value", True, "", 0), ("t.unit", "C", "", 0)]
    assert flat({"t": {"value": 1, "unit": 5}}) == [("t.value", 1, "", 0), ("t.unit", 5, "", 0)]
    assert flat({"r": [{"value": 1, "unit": "V"}]}) == [("r[]", 1, "V", 1)]


def test_scalars_of_python_are_kept_or_said_as_text() -> None:
    """Decimals are numbers, moments are ISO text; anything else is refused by name."""
    at = datetime(2024, 5, 1, 12, tzinfo=UTC)
    assert flat({"a": Decimal("1.5"), "b": date(2024, 5, 1), "c": at}) == [
        ("a", 1.5, "", 0),
        ("b", "2024-05-01", "", 0),
        ("c", "2024-05-01T12:00:00+00:00", "", 0),
    ]
    with pytest.raises(InvalidEvent, match="no time zone"):
        event({"c": datetime(2024, 5, 1, 12)})
    with pytest.raises(InvalidEvent, match="'x' holds a set"):
        event({"x": {1}})
    with pytest.raises(InvalidEvent, match="must be text"):
        event({1: "x"})  # type: ignore[dict-item]
    with pytest.raises(InvalidEvent, match="not list"):
        event([1])  # type: ignore[arg-type]


@pytest.mark.parametrize("obj", [{}, {"a": None}, {"a": {}}, {"a": []}, {"a": [None, {}]}])
def test_an_event_that_says_nothing_is_refused(obj: dict[str, Any]) -> None:
    """However it is empty."""
    with pytest.raises(InvalidEvent, match="empty"):
        event(obj)


@pytest.mark.parametrize("number", [math.inf, -math.inf, 10**2000, Decimal("1e999")])
def test_numbers_that_cannot_be_compared_are_refused(number: Any) -> None:
    """Infinity is not a reading."""
    with pytest.raises(InputError):
        event({"a": number})


@pytest.mark.parametrize("number", [2**63, -(2**64), 10**400])
def test_a_whole_number_beyond_64_bits_stays_as_it_is_written(number: int) -> None:
    """It compares by equality only, as text; 64 bits themselves are numbers."""
    assert event({"a": number}).tuples[0].value == str(number)
    assert event({"a": 2**63 - 1}).tuples[0].reading() == (2**63 - 1, "")


def test_limits_hold_at_their_edge() -> None:
    """Tuples, characters, depth, themes, triples, properties."""
    longest = "x" * MAX_TERM_LENGTH
    assert len(event({"a": ["x"] * MAX_TUPLES}).tuples) == MAX_TUPLES
    assert event({longest: longest}).tuples[0].attribute == longest
    triple = Triple("<x:a>", "<x:b>", "<x:c>")
    assert Event(graph=(triple,) * MAX_TRIPLES).graph
    assert Event(vector="1" * MAX_VECTOR).vector
    makers: list[Callable[[], Event]] = [
        lambda: event({"a": ["x"] * (MAX_TUPLES + 1)}),
        lambda: event({longest + "x": 1}),
        lambda: event({"a": longest + "x"}),
        lambda: event({"a": "x" * 10_000_000}),
        lambda: event({"a": 1}, themes=["t"] * (MAX_THEMES + 1)),
        lambda: Event(graph=(triple,) * (MAX_TRIPLES + 1)),
        lambda: Event(vector="1" * (MAX_VECTOR + 1)),
        lambda: event({"a": {"value": 1, "unit": longest + "x"}}),
        lambda: event({"a": 1}, id=longest + "x"),
        lambda: event({"a": 1}, source=longest + "x"),
        lambda: Event((EventTuple("a", 1),) * (MAX_TUPLES + 1)),
    ]
    for make in makers:
        with pytest.raises(LimitExceeded) as caught:
            make()
        assert len(str(caught.value)) < 2_000


@pytest.mark.parametrize("wrap", [lambda inner: {"a": inner}, lambda inner: [inner], lambda inner: {"a": [inner]}])
def test_nesting_has_a_limit(wrap: Any) -> None:
    """64 levels are fine; 900 are refused without deep recursion."""

    def nested(levels: int) -> Any:
        inner: Any = 1
        for _ in range(levels):
            inner = wrap(inner)
        return {"top": inner}

    step = 2 if isinstance(wrap(1), dict) and isinstance(wrap(1)["a"], list) else 1
    assert event(nested((MAX_DEPTH - 1) // step)).tuples
    with pytest.raises(LimitExceeded, match="nesting"):
        event(nested(900))
    with pytest.raises(LimitExceeded, match="nesting"):
        event(nested(MAX_DEPTH))


def test_a_vector_of_zeros_and_ones_is_the_interest_vector() -> None:
    """Else the Boolean properties p1, p2, ... are; a vector of something else is an attribute."""
    assert event({"vector": [1, 0, True]}).interest() == "101"
    assert event({"vector": [1, 2]}).tuples[0].attribute == "vector[]"
    assert event({"p2": True, "p1": False, "p4": True}).interest() == "01"
    assert event({"p2": True}).interest() == ""
    with pytest.raises(InvalidEvent):
        Event(vector="012")


def test_the_text_of_a_list_item_is_context_for_its_values() -> None:
    """Not of itself, not of other items."""
    made = event({"r": [{"name": "temp", "unit": "C", "value": 3}, {"name": "hum", "value": 4}], "note": "x"})
    by_value = {t.value: c for t, c in zip(made.tuples, contexts(made), strict=True)}
    assert by_value[3] == ("temp", "C")
    assert by_value[4] == ("hum",)
    assert by_value["temp"] == ("C",)
    assert by_value["x"] == ()


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (EventTuple("t", 3, "degC"), (3.0, "degC")),
        (EventTuple("t", "81.2 °F"), (81.2, "degF")),
        (EventTuple("t", "81.2 °F", "degC"), (81.2, "degF")),
        (EventTuple("t", "27.5", "C"), (27.5, "C")),
        (EventTuple("t", "5 pm"), None),
        (EventTuple("t", True), None),
        (EventTuple("t", ""), None),
    ],
)
def test_a_tuple_says_a_number_or_none(item: EventTuple, expected: tuple[float, str] | None) -> None:
    """A unit within the text goes before the one beside it; a Boolean is no number."""
    assert item.reading() == expected


@pytest.mark.parametrize("attribute", ["", " ", "\n"])
def test_an_attribute_has_a_name(attribute: str) -> None:
    """Blank ones are refused."""
    with pytest.raises(InvalidEvent, match="empty"):
        EventTuple(attribute, 1)


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        (0, 0),
        (-5, -5),
        ("1970-01-01T00:00:01Z", 1_000_000),
        ("1970-01-01T01:00:00.000001+01:00", 1),
        (datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), -1),
        (datetime(1970, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))), 0),
    ],
)
def test_a_moment_is_whole_microseconds_in_utc(when: Any, expected: int) -> None:
    """From numbers, text and datetimes, exactly."""
    assert microseconds(when) == expected
    assert event({"a": 1}, time=when, expires=when).time == expected


@pytest.mark.parametrize("when", ["soon", "2024-05-01T12:00:00", datetime(2024, 5, 1), True, 1.5, 2**63, -(2**63), ""])
def test_what_is_no_moment_is_refused(when: Any) -> None:
    """Naive times mean no moment."""
    with pytest.raises(InvalidEvent):
        microseconds(when)
    with pytest.raises(InvalidEvent):
        Event((EventTuple("a", 1),), time=when)
    with pytest.raises(InvalidEvent):
        Event((EventTuple("a", 1),), expires=when)


def test_an_event_itself_holds_microseconds() -> None:
    """Only `event` reads texts and datetimes."""
    with pytest.raises(InvalidEvent, match="whole microseconds"):
        Event((EventTuple("a", 1),), time="2024-05-01T12:00:00Z")  # type: ignore[arg-type]


@pytest.mark.parametrize("group", [-1, 2**31])
def test_groups_are_counted_from_one(group: int) -> None:
    """In 32 bits."""
    with pytest.raises(InvalidEvent, match="group"):
        EventTuple("a", 1, group=group)


def test_durations_are_in_microseconds() -> None:
    """As the language names them."""
    assert DURATIONS["d"] == timedelta(days=1) // timedelta(microseconds=1)
    assert DURATIONS["wk"] == 7 * DURATIONS["d"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text(max_size=4), JSON, max_size=5))
def test_any_object_is_an_event_or_an_error_of_the_tree(obj: dict[str, Any]) -> None:
    """Never anything else; what comes out is a value that hashes."""
    try:
        made = event(obj)
    except LikewiseError:
        return
    assert hash(made) == hash(event(obj))
    assert made == event(obj)
    assert len(contexts(made)) == len(made.tuples)


def test_an_event_cannot_be_changed() -> None:
    """Nor can its tuples."""
    made = event({"a": 1})
    with pytest.raises(AttributeError):
        made.id = "x"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        made.tuples[0].value = 2  # type: ignore[misc]


@pytest.mark.parametrize("said", ["", " ", None, "none", "n/a"])
@pytest.mark.parametrize("field", ["unit", "units", "unitCode"])
def test_a_unit_that_says_nothing_leaves_the_reading_where_it_is(field: str, said: str | None) -> None:
    """`{value: 6, unit: ""}` is the reading 6, as `{value: 6, unit: "mm"}` is one in millimetres."""
    made = event({"depth": {"value": 6, field: said}})
    assert [(t.attribute, t.value, t.unit) for t in made.tuples] == [("depth", 6, "")]


def test_triples_may_be_given_as_three_terms() -> None:
    """What is no triple is refused, and not met later."""
    terms = ("<http://e.org/a>", "<http://e.org/knows>", '"b"')
    assert event({"x": 1}, graph=[terms]) == event({"x": 1}, graph=[Triple(*terms)])
    for wrong in (("a", "b"), 5, ("a", "b", 3)):
        with pytest.raises(InvalidEvent, match="three N-Triples terms"):
            event({"x": 1}, graph=[wrong])  # type: ignore[list-item]


MISSING = (None, math.nan, Decimal("NaN"), np.float32("nan"), np.datetime64("NaT"), pd.NaT, pd.NA)


@pytest.mark.parametrize("value", MISSING)
def test_what_tables_hold_for_a_missing_value_is_left_out(value: Any) -> None:
    """Also inside lists."""
    assert [t.attribute for t in event({"a": 1, "b": value, "c": [value], "d": {"e": value}}).tuples] == ["a"]
    with pytest.raises(InvalidEvent, match="empty"):
        event({"a": value})


def test_scalars_and_arrays_of_numpy_are_numbers() -> None:
    """As tables give them."""
    values = {"i": np.int64(3), "f": np.float32(0.5), "b": np.bool_(True), "s": np.str_("x"), "a": np.array([1, 2])}
    assert event(values) == event({"i": 3, "f": 0.5, "b": True, "s": "x", "a": [1, 2]})
    assert all(type(t.value) in (int, float, bool, str) for t in event(values).tuples)


def test_a_time_without_a_zone_is_refused_unless_its_zone_is_named() -> None:
    """As a value and as the event's own time."""
    naive = datetime(2026, 7, 1, 12)
    dublin = ZoneInfo("Europe/Dublin")
    times: list[Any] = [naive, pd.Timestamp(naive), np.datetime64(naive, "ns"), naive.isoformat()]
    for time in times:
        assert event({"a": 1}, time=time, tz=dublin).time == microseconds("2026-07-01T11:00:00Z")
        with pytest.raises(InvalidEvent):
            event({"a": 1}, time=time)
    assert event({"a": naive}, tz=dublin).tuples[0].value == "2026-07-01T12:00:00+01:00"
    with pytest.raises(InvalidEvent, match="time zone"):
        event({"a": naive})
