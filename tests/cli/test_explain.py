"""`likewise explain`: why, and why not."""

from __future__ import annotations

import json
from itertools import permutations
from math import prod
from pathlib import Path

import pytest

from likewise.cli import main


def test_a_match_is_explained_part_by_part(capsys: pytest.CaptureFixture[str]) -> None:
    """A match ends with 0 and shows each predicate with the tuple that met it."""
    asked = ["explain", "-e", "{temp: 81.2 degF, city: Galway}", "-s", "{temp > 25 degC, city = Galway}"]
    assert main.run(asked) == 0
    assert capsys.readouterr().out.splitlines()[0].startswith("It matches: `temp` says 81.2 °F = 27.33 °C, above 25")
    assert main.run([*asked, "--details"]) == 0
    told = capsys.readouterr().out
    assert "temp: 81.2" in told
    assert "81.2 °F = 27.33 °C, above 25 °C" in told
    assert "matches" in told


def test_a_miss_says_what_would_make_it_match(capsys: pytest.CaptureFixture[str]) -> None:
    """A miss ends with 1 and says what to change."""
    assert main.run(["explain", "-e", "{temp: 20 degC}", "-s", "{temp > 25 degC}"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "It does not match: `temp` says 20 °C, not above 25 °C.",
        "It would match if `temp` said `28 degC` instead of `20 degC`.",
    ]


def test_json_is_the_published_form(capsys: pytest.CaptureFixture[str]) -> None:
    """With --json the explanation is one object with its verdict."""
    assert main.run(["explain", "-e", '{"temp": {"value": 3, "unit": "kg"}}', "-s", "{temp > 25 degC}", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["verdict"] == "unit_mismatch"
    assert told["change"]


def test_both_may_come_from_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`@FILE` takes the first line that holds something."""
    (tmp_path / "event").write_text("# one event\n{a: 1}\n")
    (tmp_path / "wanted").write_text("{a = 1}\n")
    assert main.run(["explain", "-e", f"@{tmp_path / 'event'}", "-s", f"@{tmp_path / 'wanted'}"]) == 0
    (tmp_path / "event").write_text("")
    assert main.run(["explain", "-e", f"@{tmp_path / 'event'}", "-s", "{a = 1}"]) == 2
    assert "holds nothing" in capsys.readouterr().err


def test_the_measure_may_be_chosen_with_options(capsys: pytest.CaptureFixture[str]) -> None:
    """A measure and its options decide how far apart two words are; an unknown one is an error, not a traceback."""
    asked = ["explain", "-e", "{room: 1, appliance: computer}", "-s", "{appliance = laptop~}", "--json"]
    scores = []
    for measure in ("esa:metric=cosine", "esa:metric=raw"):
        main.run([*asked, "--measure", measure])
        scores.append(json.loads(capsys.readouterr().out)["score"])
    assert scores[0] != scores[1]
    for measure in ("astrology", "esa:metric", "esa:metric=crow"):
        assert main.run([*asked, "--measure", measure]) == 2
        assert json.loads(capsys.readouterr().err)["error"]["message"]


def test_the_k_best_mappings_are_those_of_the_enumeration(capsys: pytest.CaptureFixture[str]) -> None:
    """--mappings K lists K of all ways to give each predicate a reading of its own, the best first."""
    event = "{device: laptop, kit: computer, thing: phone}"
    asked = ["explain", "-e", event, "-s", "{device~ = notebook~, kit~ = machine~}", "--json"]
    main.run([*asked, "--mappings", "100"])
    every = json.loads(capsys.readouterr().out)["mappings"]
    chosen = {tuple(pair["tuple"] for pair in mapping["correspondences"]) for mapping in every}
    assert chosen == set(permutations(range(3), 2))
    assert sum(mapping["probability"] for mapping in every) == pytest.approx(1)
    products = [
        prod(pair["attribute_relatedness"] * pair["value_relatedness"] for pair in mapping["correspondences"])
        for mapping in every
    ]
    assert products == sorted(products, reverse=True)
    assert [mapping["product"] for mapping in every] == pytest.approx(products)
    for k in (1, 4):
        main.run([*asked, "--mappings", str(k)])
        assert json.loads(capsys.readouterr().out)["mappings"] == every[:k]
    main.run([*asked[:-1], "--mappings", "2"])
    shown = capsys.readouterr().out
    assert "1. device: laptop · kit: computer" in shown
    assert "probability" in shown
    assert main.run(["explain", "-e", event, "-s", "[1, 0]", "--mappings", "2"]) == 2
    assert "no condition in braces" in capsys.readouterr().err
