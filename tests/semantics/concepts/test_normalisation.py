"""Names read in plain words: languages, compounds, codes, symbols, short forms, and what must stay as it is."""

from __future__ import annotations

import pytest

import likewise as lw
from likewise.semantics.concepts.encyclopaedia.entries import DomainEntry
from likewise.semantics.concepts.encyclopaedia.lexicon import Lexicon
from likewise.semantics.concepts.library import load_inventory, shipped_entries
from likewise.semantics.concepts.normalisation.normaliser import Normaliser
from likewise.semantics.library import load_space
from likewise.semantics.measure import Term
from likewise.semantics.measures.sameness import SamenessMeasure


def sameness() -> SamenessMeasure:
    found = load_space().measure("sameness")
    assert isinstance(found, SamenessMeasure)
    return found


def readings(name: str, unit: str = "") -> list[str]:
    return [reading.text for reading in sameness().readings(Term(name, unit=unit))]


def score(asked: str, seen: str) -> float:
    return float(sameness().matrix([Term(asked)], [Term(seen)])[0, 0])


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("Zulufttemperatur", "supply_air_temperature"),
        ("Kesselvorlauftemperatur", "boiler_supply_water_temperature"),
        ("temperatura exterior", "outdoor temperature"),
        ("temperatura_impulsion", "supply_water_temperature"),
        ("débit_eau", "water_flow"),
        ("Luefter_Drehzahl", "fan_rotational_speed"),
        ("buitentemperatuur", "outdoor_temperature"),
        ("1-0:1.8.0", "imported energy"),
        ("1-0:52.7.0*255", "L2 line to neutral voltage"),
        ("6-0:10.0.0", "supply water temperature"),
        ("CHWST", "chilled_supply_water_temperature"),
        ("current_heating_setpoint", "room_temperature_setpoint"),
        ("energy_delivered_tariff1", "imported_off_peak_tariff_energy"),
        ("U_L1", "L1_voltage"),
        ("U_L1L2", "L1L2_line_to_line_voltage"),
        ("T_aussen", "outdoor_temperature"),
        ("Ibat", "battery_current"),
        ("Hz", "frequency"),
    ],
)
def test_a_name_is_read_in_plain_words(name: str, plain: str) -> None:
    assert readings(name)[0] == plain


@pytest.mark.parametrize("name", ["temperature", "TempC_SHT", "battery voltage", "P1", "spanning", "in", "co2"])
def test_what_needs_no_other_words_stays_as_it_is_written(name: str) -> None:
    assert readings(name) == [name]


def test_a_unit_that_does_not_fit_rules_a_short_form_out() -> None:
    assert readings("CWST", unit="degC") == ["condenser_supply_water_temperature"]
    assert readings("CWST", unit="Pa") == ["CWST"]


def test_an_unknown_word_is_read_as_initials_of_what_is_asked_for() -> None:
    assert score("engine coolant temperature", "ECT") >= 0.5 > score("engine oil pressure", "ECT")
    assert score("engine oil pressure", "EOP_bar") >= 0.5 > score("engine coolant temperature", "EOP_bar")


def test_an_unknown_word_is_read_as_a_cut_word_of_what_is_asked_for() -> None:
    assert score("outdoor temperature", "Outdr_Tmpr") >= 0.5 > score("outdoor humidity", "Outdr_Tmpr")
    assert score("setpoint temperature", "avgSpo2") < 0.5


@pytest.mark.parametrize(
    ("asked", "seen"),
    [
        ("supply air temperature", "Ablufttemperatur"),
        ("return water temperature", "HK1_VL_Temp"),
        ("exported energy", "1-0:1.8.0"),
        ("evaporating temperature", "Tcond"),
        ("phase 2 voltage", "U_L1"),
        ("DC voltage", "Uac"),
        ("battery voltage", "Ibat"),
        ("voltage harmonic distortion", "thd_i_l1"),
        ("firmware version", "hardware_version"),
        ("battery cell voltage", "battery_pack_voltage"),
        ("phase 1 voltage", "1-0:52.7.0"),
    ],
)
def test_siblings_are_kept_apart_in_every_spelling(asked: str, seen: str) -> None:
    assert score(asked, seen) < 0.5


@pytest.mark.parametrize(
    ("asked", "seen", "same"),
    [
        ("off", "apagado", True),
        ("running", "in Betrieb", True),
        ("closed", "geschlossen", True),
        ("running", "Störung", False),
        ("on", "apagado", False),
    ],
)
def test_words_for_states_are_known_in_other_languages(asked: str, seen: str, same: bool) -> None:
    terms = [Term(text, role="value") for text in (asked, seen)]
    assert bool(sameness().matrix(terms[:1], terms[1:])[0, 0] >= 0.5) is same


def test_the_explanation_says_how_a_name_was_read() -> None:
    said = sameness().explanation(Term("kiln draught pressure"), Term("KDP"))
    assert "initials or a cut word" in said
    assert "word in de" in sameness().explanation(Term("outdoor temperature"), Term("Aussentemperatur"))


def test_without_an_encyclopaedia_every_name_is_read_as_written() -> None:
    plain = Normaliser(Lexicon(()), load_inventory(), load_space().relations.has_word)
    names = [e.id for e in shipped_entries()] + ["Zulufttemperatur", "U_L1", "CHWST"]
    assert all(plain.readings(Term(name))[0].text == name for name in names)


def meets(subscription: str, payload: dict[str, object]) -> bool:
    matcher = lw.Matcher()
    matcher.add(lw.parse(subscription, id="asked"))
    return bool(matcher.match(lw.event(payload)))


@pytest.mark.parametrize(
    ("subscription", "payload"),
    [
        ("{electric current~ > 5 A}", {"current_heating_setpoint": 21}),
        ("{operating hours~ > 10 h}", {"uptime": 86400}),
        ("{uptime~ > 1 h}", {"operating_hours": 86400}),
        ("{how long the device has been running~ > 1}", {"longitude": 13.4}),
        ("{particulate matter~ > 1}", {"tpms_1": 2.2}),
        ("{price~ > 0.1}", {"energy_delivered_tariff1": 1234.5}),
        ("{electric power~ > 2.5 kW}", {"LoadAvg": 19}),
        ("{electric power~ > 2.5 kW}", {"power_outage_count": 3}),
        ("{mass~ > 5}", {"dissolved_oxygen_mg_l": 8.1}),
    ],
)
def test_what_was_taken_for_another_thing_is_no_more(subscription: str, payload: dict[str, object]) -> None:
    assert not meets(subscription, payload)


@pytest.mark.parametrize(
    ("subscription", "payload"),
    [
        ("{temperature setpoint~ > 20 degC}", {"current_heating_setpoint": 21}),
        ("{energy imported at low tariff~ > 1000 kWh}", {"energy_delivered_tariff1": 1234.5}),
        ('{firmware version~ = "1.2"}', {"fw_version": "1.2"}),
        ("{dissolved oxygen~ > 5}", {"dissolved_oxygen_mg_l": 8.1}),
    ],
)
def test_what_was_missed_there_is_found(subscription: str, payload: dict[str, object]) -> None:
    assert meets(subscription, payload)


def test_english_words_keep_their_own_kind_beside_a_more_specific_one() -> None:
    """The state of a pump is that it runs; a pump's event, which says so too, is related to its state in general."""
    assert readings("pump state") == ["pump running state", "pump state"]
    assert score("pump state", "pump event") > score("pump running state", "pump event")


def test_usual_short_forms_of_plain_words_are_plain_words() -> None:
    assert readings("supply_air_temp") == ["supply_air_temp"]


@pytest.mark.parametrize(
    ("query", "candidate"),
    [
        ("leaf temperature", "Blatttemperatur"),
        ("fuel level", "niveau_carburant"),
        ("soil moisture", "humedad_del_suelo"),
        ("tyre pressure", "bandenspanning"),
    ],
)
def test_domains_are_read_in_four_languages(query: str, candidate: str) -> None:
    assert score(query, candidate) >= 0.5


@pytest.mark.parametrize(
    ("asked", "seen"),
    [
        ("number of visitors", "visitor_cnt"),
        ("pressure in the pipe", "pipe_press_bar"),
        ("solar radiation", "solarRad"),
        ("water temperature", "pool_temp"),
        ("revision", "hardware_version"),
    ],
)
def test_a_label_is_found_in_its_short_forms_and_by_a_broader_word(asked: str, seen: str) -> None:
    assert score(asked, seen) >= 0.5


@pytest.mark.parametrize(
    ("asked", "seen", "same"),
    [
        ("door closed", "porte fermée", True),
        ("valve open", "Ventil geöffnet", True),
        ("pump running", "pump is in operation", True),
        ("under maintenance", "being serviced", True),
        ("signal lost", "no signal", True),
        ("battery charging", "battery draining", False),
        ("container sealed", "container seal broken", False),
        ("pump stopped", "Pumpe läuft", False),
        ("closed", "door is open", False),
        ("fault cleared", "fault active", False),
    ],
)
def test_a_state_is_known_beside_what_is_in_it(asked: str, seen: str, same: bool) -> None:
    terms = [Term(text, role="value", kind="text") for text in (asked, seen)]
    assert bool(sameness().matrix(terms[:1], terms[1:])[0, 0] >= 0.5) is same


def test_a_short_foreign_word_that_english_cuts_too_is_english() -> None:
    assert readings("queueLen_cm") == ["queueLen_cm"]
    assert readings("lengte") == ["length"]


def test_a_unit_in_a_name_is_no_name_of_a_reading() -> None:
    assert readings("fan2_rpm") == ["fan2_rpm"]
    assert readings("rpm")[0] == "engine_rotational_speed"
    assert score("people in the queue", "queueCount") >= 0.5 > score("people entering", "queueCount")


@pytest.mark.parametrize(("asked", "seen"), [("daily rainfall", "rain_24h"), ("eggs laid today", "eggs_day")])
def test_how_long_a_total_runs_says_which_one_it_is(asked: str, seen: str) -> None:
    assert score(asked, seen) >= 0.5


def test_a_symbol_stands_first_in_its_part_of_a_path() -> None:
    assert readings("UV_EG.U_L1") == ["UV_EG._L1_voltage"]
    assert meets("{voltage~ > 230 V}", {"sub": {"U_L1": 231.4}})


def test_litres_in_a_name_are_no_cubic_metres() -> None:
    assert not meets("{water consumption~ > 100 m3}", {"water_consumption_l": 3811})
    assert meets("{water consumption~ > 3 m3}", {"water_consumption_l": 3811})


@pytest.mark.parametrize(
    ("subscription", "payload"),
    [
        ("{torque~ > 50 N.m}", {"motor_torque_Nm": 61}),
        ("{wind speed~ > 10 m/s}", {"wind_kt": 22}),
        ("{pressure~ > 1 bar}", {"manifold_pressure_kPa": 211}),
        ("{fuel consumption~ > 1000 kg/h}", {"fuel_consumption_kgh": 1820}),
    ],
)
def test_units_of_a_trade_are_read_in_names(subscription: str, payload: dict[str, object]) -> None:
    assert meets(subscription, payload)


def test_a_letter_of_a_word_with_an_umlaut_is_no_unit() -> None:
    assert not meets("{temperature~ < 5 degC}", {"Kühlkörpertemperatur": 44})


def test_a_place_with_a_unit_is_no_unit_of_the_reading() -> None:
    assert score("soil temperature at 30 cm", "soil_temp_30cm") >= 0.5


def test_a_phrase_is_known_without_its_articles() -> None:
    entry = DomainEntry("hub speed", "quantity", "speed", ("hub",), labels=("speed of the hub",), names=("revsHub",))
    lexicon = Lexicon([entry])
    assert lexicon.phrases[("speed", "hub")][0].target == "hub speed"
