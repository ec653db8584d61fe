"""Promises of likewise.semantics.text.identifiers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.semantics.text.identifiers import segment_word, split_identifier


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("TempC_SHT", ["Temp", "C", "SHT"]),
        ("air_temp_f", ["air", "temp", "f"]),
        ("batteryLevel", ["battery", "Level"]),
        ("wind_avg_km_h", ["wind", "avg", "km", "h"]),
        ("HTTPServerError", ["HTTP", "Server", "Error"]),
        ("no2", ["no2"]),
        ("pm10Value", ["pm10", "Value"]),
        ("temperature2", ["temperature", "2"]),
        ("2ndFloor", ["2", "nd", "Floor"]),
        ("señalÁrea", ["señal", "Área"]),
        ("температураВоздуха", ["температура", "Воздуха"]),
        ("温度", ["温度"]),
        ("", []),
        ("__--__", []),
    ],
)
def test_identifiers_are_cut_where_people_cut_them(text: str, words: list[str]) -> None:
    assert list(split_identifier(text)) == words


@given(st.text(max_size=60))
def test_cutting_keeps_every_letter_and_digit_in_order(text: str) -> None:
    assert "".join(split_identifier(text)) == "".join(c for c in text if c.isalnum())


@given(st.lists(st.sampled_from(["air", "temp", "wind", "speed"]), min_size=2, max_size=4))
def test_joined_words_come_apart_again(words: list[str]) -> None:
    """Any word joined from known pieces is cut into known pieces that join to it."""
    known = {"air": 1.0, "temp": 1.0, "wind": 1.0, "speed": 1.0}
    assert "".join(segment_word("".join(words), known.get)) == "".join(words)
