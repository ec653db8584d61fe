"""`likewise explain`: why, and why not."""

from __future__ import annotations

import json
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
