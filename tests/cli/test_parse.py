"""`likewise parse`: how subscriptions were understood."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from likewise.cli import main
from likewise.formats.json import subscription_from_json
from likewise.language import parse


def test_a_subscription_is_shown_with_its_parts(capsys: pytest.CaptureFixture[str]) -> None:
    """Canonical text, kind, id, themes, and what each value was taken for."""
    text = "({power}, {device~: laptop~, t > 25 celsius, (on = true or not x between 1 and 2)})"
    assert main.run(["parse", text]) == 0
    out = capsys.readouterr().out
    assert "{power} {device~ = laptop~, t > 25 degC, (on = true or not x between 1 and 2)}" in out
    assert "approximate" in out
    assert parse(text).id in out
    for part in ("themes power", "one of", "Boolean", "number in degC", "numbers [1, 2]", "text, by meaning"):
        assert part in out


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("?e a dbo:Event", "rdf:type"),
        ("[1, *]", "either"),
        ('event type "Race"', "Race"),
        ("{a = 1,\n b = 2}", "{a = 1, b = 2}"),
    ],
)
def test_every_form_is_shown(text: str, part: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Patterns, vectors, statements, and text of several lines."""
    assert main.run(["parse", text]) == 0
    assert part in capsys.readouterr().out


def test_json_carries_the_published_form(capsys: pytest.CaptureFixture[str]) -> None:
    """One object a subscription, from which the subscription can be read back."""
    assert main.run(["parse", "{t > 25 degC}", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    found = parse("{t > 25 degC}")
    assert (shown["text"], shown["kind"], shown["id"]) == ("{t > 25 degC}", "exact", found.id)
    assert subscription_from_json(json.dumps(shown["subscription"])) == found


def test_files_and_standard_input_hold_one_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Comments are skipped; JSON lines are read as well."""
    text = '# wanted\n{a = 1}\n{"v": 1, "text": "{b = 2}", "id": "b"}\n'
    path = tmp_path / "wanted.txt"
    path.write_text(text)
    assert main.run(["parse", str(path), "--json"]) == 0
    from_file = capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert main.run(["parse", "-", "--json"]) == 0
    assert capsys.readouterr().out == from_file
    assert [json.loads(line)["text"] for line in from_file.splitlines()] == ["{a = 1}", "{b = 2}"]


@pytest.mark.parametrize("text", ["{t >> 5}", "{t > 5 blorps}", "", "{", "no-such-file.txt", "x" * 5_000, "{a = \0}"])
def test_a_mistake_is_a_message_and_exit_code_2(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Never a traceback."""
    assert main.run(["parse", text]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")


def test_a_mistake_shows_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    """The caret for people, the facts for machines."""
    assert main.run(["parse", "{t >> 5}"]) == 2
    assert "\n  {t >> 5}\n      ^" in capsys.readouterr().err
    assert main.run(["parse", "{t >> 5}", "--json"]) == 2
    facts = json.loads(capsys.readouterr().err)["error"]
    assert (facts["code"], facts["line"], facts["column"]) == ("syntax", 1, 5)
