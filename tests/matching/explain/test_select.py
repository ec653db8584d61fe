"""`select` gives people's own words and units, whatever the vendor said; never a number that is not one."""

from __future__ import annotations

import likewise as lw
from likewise.testing import TableMeasure

TEXT = "{temperature~ > 25 degC} select (temperature~ in degC as t, @source as device, @score, @subscription, @id)"


def select(text: str, event: lw.Event, **matcher: object) -> tuple[dict[str, object], dict[str, str]]:
    found = lw.Matcher(**matcher)  # type: ignore[arg-type]
    found.add(lw.parse(text, id="s"))
    chosen = found.selected(event, "s")
    return chosen.values, chosen.notes


def test_a_reading_has_the_asked_name_and_unit_whatever_the_vendor_called_it() -> None:
    for said in ({"TempC_SHT": 27.5}, {"air_temp_f": 81.5}, {"temperature": {"value": 300.65, "unit": "K"}}):
        values, notes = select(TEXT, lw.event(said, source="s1", id="e1"))
        assert values["t"] == 27.5
        assert (values["device"], values["subscription"], values["id"]) == ("s1", "s", "e1")
        assert not notes


def test_of_several_readings_it_is_the_one_that_met_the_predicate() -> None:
    text = "{t[] > 25} select (t[])"
    assert select(text, lw.event({"t": [20, 26, 30]}))[0] == {"t[]": 26}


def test_what_no_predicate_names_is_the_best_related_at_the_threshold_or_null() -> None:
    measure = TableMeasure({("place", "location"): 0.8, ("place", "colour"): 0.3})
    values, _ = select(
        "{t > 1} select (place~)", lw.event({"t": 2, "location": "hall", "colour": "red"}), measure=measure
    )
    assert values == {"place": "hall"}
    values, notes = select("{t > 1} select (place~, place as p)", lw.event({"t": 2, "colour": "red"}), measure=measure)
    assert values == {"place": None, "p": None}
    assert notes["place"] == "the event has no `place`"


def test_what_is_less_probable_than_the_confidence_is_null_with_its_probability() -> None:
    measure = TableMeasure({("place", "location"): 0.8})
    event = lw.event({"t": 2, "location": "hall"})
    assert select("{t > 1} select (place~) confidence 0.7", event, measure=measure)[0] == {"place": "hall"}
    values, notes = select("{t > 1} select (place~) confidence 0.9", event, measure=measure)
    assert values == {"place": None}
    assert notes["place"] == "`location` is `place` with a probability of 0.80, below the confidence of 0.9"


def test_what_cannot_be_brought_to_the_unit_is_null_with_a_reason() -> None:
    event = lw.event(
        {"t": 30, "mass": {"value": 5, "unit": "kg"}, "state": "on", "odd": {"value": 3, "unit": "blorps"}}
    )
    values, notes = select("{t > 1} select (mass in degC, state in degC, odd in degC, t in degC)", event)
    assert values == {"mass": None, "state": None, "odd": None, "t": 30}
    assert notes["mass"] == "`mass` is in kg, which cannot be brought to degC"
    assert notes["state"] == "`state` is no number: on"
    assert "blorps" in notes["odd"]
    assert notes["t"] == "`t` states no unit; taken in degC"


def test_an_alert_selects_of_the_event_that_it_names() -> None:
    text = "{door = open} for 5 s select (door, room)"
    assert select(text, lw.event({"door": "open", "room": "hall"}))[0] == {"door": "open", "room": "hall"}
