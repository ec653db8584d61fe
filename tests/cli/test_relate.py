"""Promises of `likewise relate` and `likewise eval relatedness`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from likewise.cli.main import run


def test_relate_shows_every_measure_and_the_documents(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["relate", "bank", "deposit", "--theme", "money", "--other-theme", "money"]) == 0
    shown = capsys.readouterr().out
    for name in (
        "esa",
        "thematic",
        "latent",
        "jcn",
        "names",
        "combine",
        "shared document",
        "without them combine gives",
    ):
        assert name in shown
    assert "depositor" in shown


def test_relate_as_json_carries_the_evidence(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["relate", "temperature", "TempC_SHT", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["measure"] == "combine"
    assert found["score"] >= 0.5
    assert found["without_themes"] is None


def test_relate_takes_the_options_of_a_measure(capsys: pytest.CaptureFixture[str]) -> None:
    """`esa:metric=raw` is what the help shows; it stands in the row of `esa` and is the score."""
    scores = {}
    for metric in ("unit", "raw"):
        assert run(["relate", "laptop", "computer", "--measure", f"esa:metric={metric}", "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert dict(found["scores"])["esa"] == pytest.approx(found["score"])
        scores[metric] = found["score"]
    assert scores["unit"] != scores["raw"]


def test_relate_says_what_is_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["relate", "temperature", "дом", "--theme", "qzxw"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "knows no word of 'дом'" in shown
    assert "unknown to the space" in shown


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--measure", "guess"], 2),
        (["--measure", "esa:metric"], 2),
        (["--space", "no-such-space"], 3),
        (["--measure", "embeddings"], 2),
    ],
)
def test_relate_refuses_what_is_not_there(arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["relate", "a", "b", *arguments]) == code
    assert "error: " in capsys.readouterr().err


def test_eval_relatedness_gives_a_row_a_file_and_measure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pairs.txt"
    path.write_text("car\tautomobile\t9\ncar\tqzxw\t1\ncar\tbanana\t2\nhot dog\tsausage\t7\n")
    assert run(["eval", "relatedness", str(path), "--measure", "combine", "--measure", "esa:metric=raw", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(row["measure"], row["pairs"], row["unknown"]) for row in found] == [
        ("combine", 4, 1),
        ("esa:metric=raw", 4, 1),
    ]
    assert found[0]["spearman"] > 0.7
    assert run(["eval", "relatedness", str(path)]) == 0
    assert "Spearman" in capsys.readouterr().out
    assert run(["eval", "relatedness", str(path), "--measure", "esa:metric"]) == 2
