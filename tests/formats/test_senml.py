"""SenML: the examples of RFC 8428, base fields, and what must be refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import FormatError, LikewiseError, LimitExceeded
from likewise.formats.senml import events_from_senml
from likewise.model import EventTuple, reading_unit, unit

SECOND = 1_000_000


def read(
    *records: dict[str, Any], now: int | None = None
) -> list[tuple[str | None, int | None, list[tuple[str, object, str]]]]:
    events = events_from_senml(json.dumps(records), now=now)
    return [(e.source, e.time, [(t.attribute, t.value, t.unit) for t in e.tuples]) for e in events]


def test_a_single_measurement_has_a_name_of_its_own() -> None:
    """RFC 8428, section 5.1.1: the whole name is the device's."""
    assert read({"n": "urn:dev:ow:10e2073a01080063", "u": "Cel", "v": 23.1}) == [
        ("urn:dev:ow:10e2073a01080063", None, [("value", 23.1, "degC")])
    ]


def test_measurements_taken_together_are_one_event() -> None:
    """RFC 8428, section 5.1.2: voltage and current under one base name."""
    assert read(
        {"bn": "urn:dev:ow:10e2073a01080063:", "n": "voltage", "u": "V", "v": 120.1},
        {"n": "current", "u": "A", "v": 1.2},
    ) == [("urn:dev:ow:10e2073a01080063:", None, [("voltage", 120.1, "V"), ("current", 1.2, "A")])]


def test_base_time_and_base_unit_hold_for_the_records_below() -> None:
    """RFC 8428, section 5.1.3: one event for each time."""
    found = read(
        {
            "bn": "urn:dev:ow:10e2073a0108006:",
            "bt": 1.276020076001e09,
            "bu": "A",
            "bver": 5,
            "n": "voltage",
            "u": "V",
            "v": 120.1,
        },
        {"n": "current", "t": -5, "v": 1.2},
        {"n": "current", "t": -4, "v": 1.3},
        {"n": "current", "v": 1.7},
    )
    base = 1_276_020_076_001_000
    assert found == [
        ("urn:dev:ow:10e2073a0108006:", base, [("voltage", 120.1, "V"), ("current", 1.7, "A")]),
        ("urn:dev:ow:10e2073a0108006:", base - 5 * SECOND, [("current", 1.2, "A")]),
        ("urn:dev:ow:10e2073a0108006:", base - 4 * SECOND, [("current", 1.3, "A")]),
    ]


def test_values_may_be_text_booleans_data_and_sums() -> None:
    """RFC 8428, section 5.1.5, and base value and base sum added."""
    (found,) = events_from_senml(
        json.dumps(
            [
                {"bn": "d/", "n": "temp", "u": "Cel", "v": 20, "bv": 3},
                {"n": "label", "vs": "Machine Room"},
                {"n": "open", "vb": False},
                {"n": "nfc", "vd": "aGkgCg"},
                {"n": "energy", "bs": 100, "s": 5, "ut": 60},
            ]
        )
    )
    assert found.tuples == (
        EventTuple("temp", 23, "degC"),
        EventTuple("label", "Machine Room"),
        EventTuple("open", False),
        EventTuple("nfc", "aGkgCg"),
        EventTuple("energy.sum", 105),
        EventTuple("energy.ut", 60, "s"),
    )


def test_a_name_in_one_piece_is_cut_at_its_last_slash() -> None:
    """Device and what it measures."""
    assert read({"n": "lab/room1/temp", "v": 1}) == [("lab/room1/", None, [("temp", 1, "")])]
    assert read({"bn": "lab/room1/temp", "v": 1}) == [("lab/room1/", None, [("temp", 1, "")])]


def test_relative_times_count_from_now() -> None:
    """Without a now they stay open; without any time it is now."""
    assert [time for _, time, _ in read({"n": "a/x", "t": -60, "v": 1}, now=100 * SECOND)] == [40 * SECOND]
    assert [time for _, time, _ in read({"n": "a/x", "t": -60, "v": 1})] == [None]
    assert [time for _, time, _ in read({"n": "a/x", "v": 1}, now=5)] == [5]
    assert [time for _, time, _ in read({"n": "a/x", "t": 2**28, "v": 1}, now=5)] == [2**28 * SECOND]


def test_units_of_senml_compare_with_those_of_the_table() -> None:
    """Cel is degC, %RH a ratio, lat an angle."""
    for senml, asked in (("Cel", "degF"), ("%RH", "%"), ("lat", "deg"), ("Ohm", "kohm"), ("m/s", "km/h"), ("lx", "lx")):
        (event,) = events_from_senml(json.dumps([{"n": "d/x", "u": senml, "v": 1}]))
        found = reading_unit("x", event.tuples[0].unit, unit(asked))
        assert found is not None
        assert found.dimension == unit(asked).dimension


def test_a_record_of_base_fields_alone_says_nothing() -> None:
    """It sets the ground for what follows; unknown fields that need not be understood are passed over."""
    assert read({"bn": "d/", "bt": 2**30}, {"n": "x", "v": 1, "note": "hi"}) == [("d/", 2**30 * SECOND, [("x", 1, "")])]
    assert events_from_senml("[]") == ()


@pytest.mark.parametrize(
    "record",
    [
        {"n": "x", "v": "1"},
        {"n": "x", "v": True},
        {"n": 5, "v": 1},
        {"n": "x", "vb": 1},
        {"n": "x", "vs": 1},
        {"n": "x", "v": 1, "vs": "a"},
        {"n": "x", "v": 1, "must_": 1},
        {"v": 1},
        {"n": "ä", "v": 1},
        {"n": "-x", "v": 1},
        {"n": "x", "v": 1, "bver": 11},
        {"n": "x", "v": 1, "bver": "1"},
        {"n": "x", "t": 1e300, "v": 1},
        {"n": "x", "t": -1e300, "v": 1},
        {"n": "x", "bt": 10**400, "v": 1},
        {"n": "x", "v": 10**400},
        {"n": "x", "vs": "y" * 2_000},
    ],
)
def test_what_is_no_senml_is_refused(record: dict[str, Any]) -> None:
    """And a field that must be understood is not passed over."""
    with pytest.raises(LikewiseError):
        read(record)


def test_size_nesting_and_repetition_are_refused() -> None:
    """As everywhere."""
    for data, error in (
        ("[" * 10_000, LikewiseError),
        ('[{"n":"x","v":1,"v":2}]', FormatError),
        ("[5]", FormatError),
        ("{", FormatError),
    ):
        with pytest.raises(error):
            events_from_senml(data)
    with pytest.raises(LimitExceeded):
        events_from_senml(b" " * (64 * 2**20 + 1))


FIELDS = st.sampled_from(
    ["bn", "bt", "bu", "bv", "bs", "bver", "n", "u", "v", "vs", "vb", "vd", "s", "t", "ut", "x", "x_"]
)
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4)
)


@given(st.lists(st.dictionaries(FIELDS, SCALARS, max_size=5), max_size=4), st.none() | st.integers(0, 2**50))
def test_any_pack_is_events_or_an_error_of_the_tree(pack: list[dict[str, Any]], now: int | None) -> None:
    """Never anything else."""
    try:
        events = events_from_senml(json.dumps(pack), now=now)
    except LikewiseError:
        return
    assert all(e.tuples for e in events)
