"""States in other words: a word may say several, and English ones win over foreign ones that are spelled alike."""

import pytest

import likewise as lw


@pytest.mark.parametrize(
    ("seen", "asked"),
    [
        ({"alarm": "aktiv"}, "{alarm~ = active~}"),
        ({"Pumpe": "ein"}, "{pump~ = running~}"),
        ({"état moteur": "en marche"}, "{engine~ = running~}"),
        ({"Emergency Stop": "betätigt"}, '{"emergency stop"~ = pressed~}'),
        ({"Leckage": "ja"}, "{leak~ = detected~}"),
    ],
)
def test_a_state_is_understood_in_each_of_its_words(seen: dict[str, str], asked: str) -> None:
    assert lw.match(seen, asked) is not None


@pytest.mark.parametrize(
    ("seen", "asked"),
    [
        ({"alarm": "inaktiv"}, "{alarm~ = active~}"),
        ({"Pumpe": "aus"}, "{pump~ = running~}"),
        ({"Emergency Stop": "nicht betätigt"}, '{"emergency stop"~ = pressed~}'),
        ({"Leckage": "nein"}, "{leak~ = detected~}"),
    ],
)
def test_the_other_state_is_told_apart_in_each_of_its_words(seen: dict[str, str], asked: str) -> None:
    assert lw.match(seen, asked) is None


def test_a_tracker_has_a_temperature_of_its_own() -> None:
    tracker = {"latitude": 44.8, "longitude": -0.6, "satellites": 4, "temperature": 3.1}
    assert lw.match(tracker, "{temperature~ < 5 degC}") is not None
    assert lw.match(tracker, '{"room temperature"~ < 5 degC}') is None


def test_min_behind_a_time_is_its_unit() -> None:
    assert lw.match({"Schlafdauer_min": 402}, '{"sleep duration"~ exists}') is not None
