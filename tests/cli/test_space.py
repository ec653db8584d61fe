"""Promises of `likewise space`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from likewise.cli.main import run
from likewise.semantics.spaces.writer import write_space
from likewise.semantics.text.tokenizer import TokenizerSettings


@pytest.fixture
def space(tmp_path: Path) -> Path:
    """A small space in a folder of its own."""
    folder = tmp_path / "spaces" / "tiny"
    write_space(
        folder,
        name="tiny",
        kind="text",
        corpus="two lines",
        tokenizer=TokenizerSettings(),
        terms=["cat", "dog"],
        titles=["on cats", "on both"],
        posting_ends=[2, 3],
        documents=[0, 1, 1],
        frequencies=[3, 1, 2],
        document_maxima=[3, 2],
        document_frequencies=[2, 1],
    )
    return folder


def test_info_says_what_a_space_holds(space: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As a table and as JSON."""
    assert run(["space", "info", str(space), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["name"], facts["counts"]["terms"], facts["tokenizer"]["stemmer"]) == ("tiny", 2, "english")
    assert run(["space", "info", str(space)]) == 0
    assert "two lines" in capsys.readouterr().out


def test_list_finds_the_spaces_of_a_folder(space: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A damaged one is passed over with a word on standard error."""
    broken = space.parent / "broken"
    broken.mkdir()
    (broken / "manifest.json").write_text("{}")
    assert run(["space", "list", str(space.parent), "--json"]) == 0
    said = capsys.readouterr()
    assert [found["name"] for found in json.loads(said.out)] == ["tiny"]
    assert "broken" in said.err.replace("\n", "")  # a long path is folded


def test_verify_tells_sound_from_damaged(space: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code is 0 or 3."""
    assert run(["space", "verify", str(space)]) == 0
    assert "sound" in capsys.readouterr().out
    data = bytearray((space / "documents.npy").read_bytes())
    data[-1] ^= 1
    (space / "documents.npy").write_bytes(data)
    assert run(["space", "verify", str(space)]) == 3
    assert "documents.npy was altered" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["nowhere"], "nowhere; name a file or folder"),
        ([".", "--kind", "novel"], "no source is of the kind"),
        ([".", "--stemmer", "klingon"], "no stemmer is named"),
    ],
)
def test_a_wrong_build_is_refused_before_spark_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], word: str
) -> None:
    """The message says what is wrong; nothing is written."""
    assert run(["space", "build", *arguments, "--out", str(tmp_path / "out")]) == 2
    assert word in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_an_existing_space_is_not_overwritten(space: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Unless that is said."""
    assert run(["space", "build", ".", "--out", str(space)]) == 2
    assert "--overwrite" in capsys.readouterr().err
