"""RDF from files, from standard input and as an argument: what `match` and `explain` make of it."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from likewise import defaults
from likewise.cli import main
from tests.cli.rdf_documents import BROKEN, DOCUMENTS

Output = pytest.CaptureFixture[str]


def given(tmp_path: Path, name: str, text: str) -> str:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return str(tmp_path / name)


@pytest.fixture
def wanted(tmp_path: Path) -> str:
    return given(tmp_path, "wanted.txt", "warm: {air_temp > 25, city = Galway}\nplaced: ?r <http://e.org/at> ?p\n")


@pytest.mark.parametrize("ending", DOCUMENTS)
def test_every_format_is_matched_by_the_ending_of_its_file(
    ending: str, tmp_path: Path, wanted: str, capsys: Output
) -> None:
    """One event for each subject, called by its IRI, with its readings and its statements."""
    path = given(tmp_path, f"readings.{ending}", DOCUMENTS[ending])
    assert main.run(["match", "--subscriptions", wanted, "--events", path, "--json"]) == 0
    met = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(m["event_id"], m["subscription_id"]) for m in met] == [
        ("http://e.org/reading", "warm"),
        ("http://e.org/reading", "placed"),
    ]


@pytest.mark.parametrize("ending", DOCUMENTS)
def test_every_format_is_explained(ending: str, tmp_path: Path, capsys: Output) -> None:
    """From a file by its ending, and as an argument by --format."""
    path = given(tmp_path, f"readings.{ending}", DOCUMENTS[ending])
    assert main.run(["explain", "--event", f"@{path}", "--subscription", "{air_temp > 25}"]) == 0
    assert "`air_temp` says 27.1" in capsys.readouterr().out
    asked = ["--event", DOCUMENTS[ending], "--format", ending, "--subscription", "{air_temp > 30}", "--json"]
    assert main.run(["explain", *asked]) == 1
    assert json.loads(capsys.readouterr().out)["verdict"] == "exact_part_false"


@pytest.mark.parametrize("name", ["ttl", "turtle", "text/turtle", "text/turtle; graph=whole"])
def test_standard_input_is_read_as_the_format_says(
    name: str, wanted: str, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a short name or a media type; a whole document is one event, called by its number."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(DOCUMENTS["ttl"].encode())))
    assert main.run(["match", "--subscriptions", wanted, "--format", name]) == 0
    called = "1" if "whole" in name else "http://e.org/reading"
    assert capsys.readouterr().out.startswith(f"{called}  warm")


def test_a_whole_document_is_one_event(tmp_path: Path, capsys: Output) -> None:
    """What stands about several subjects is matched together."""
    path = given(tmp_path, "readings.ttl", DOCUMENTS["ttl"])
    asked = ["explain", "--event", f"@{path}", "--subscription", "{air_temp > 25, floor = 3}"]
    assert main.run(asked) == 1
    assert main.run([*asked, "--whole"]) == 0
    capsys.readouterr()
    assert main.run(["explain", "--event", "{a: 1}", "--subscription", "{a = 1}", "--whole"]) == 2
    assert "only an RDF document can be taken as a whole" in capsys.readouterr().err


@pytest.mark.parametrize("ending", BROKEN)
def test_bad_rdf_is_one_line_with_its_place(ending: str, tmp_path: Path, wanted: str, capsys: Output) -> None:
    """The file, the format, the line and the column (of JSON-LD the byte), and what is wrong."""
    text, place = BROKEN[ending]
    path = given(tmp_path, f"broken.{ending}", text)
    assert main.run(["match", "--subscriptions", wanted, "--events", path]) == 2
    told = capsys.readouterr()
    assert told.err.count("\n") == 1
    assert told.err.startswith(f"error: {path}: ")
    assert place in told.err
    assert main.run(["explain", "--event", text, "--format", ending, "--subscription", "{a = 1}", "--json"]) == 2
    assert place in json.loads(capsys.readouterr().err)["error"]["message"]


def test_a_context_elsewhere_is_never_fetched(tmp_path: Path, wanted: str, capsys: Output) -> None:
    """It is refused with what to do, whatever answers there."""
    path = given(tmp_path, "far.jsonld", '{"@context": "http://127.0.0.1:1/context", "@id": "http://e.org/a", "b": 1}')
    assert main.run(["match", "--subscriptions", wanted, "--events", path]) == 2
    assert "none is ever fetched; write it into the document" in capsys.readouterr().err


def test_a_document_has_the_limits_of_json(
    tmp_path: Path, wanted: str, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Depth, and bytes, of which no more than allowed are read."""
    deep = '{"http://e.org/a": ' * 200 + "1" + "}" * 200
    assert main.run(["match", "-s", wanted, "-e", given(tmp_path, "deep.jsonld", deep)]) == 2
    assert "nesting" in capsys.readouterr().err
    monkeypatch.setattr(defaults, "MAX_DOCUMENT_BYTES", 100)
    assert main.run(["match", "-s", wanted, "-e", given(tmp_path, "large.nt", DOCUMENTS["nt"])]) == 2
    assert "at most 100 are allowed" in capsys.readouterr().err


def test_a_document_without_a_statement_and_an_unknown_format_are_refused(
    tmp_path: Path, wanted: str, capsys: Output
) -> None:
    """Each with what could be given instead."""
    assert main.run(["match", "-s", wanted, "-e", given(tmp_path, "empty.ttl", "# nothing\n")]) == 2
    assert "holds no triple" in capsys.readouterr().err
    assert main.run(["match", "-s", wanted, "-e", given(tmp_path, "a.ttl", "{air_temp: 26}"), "--format", "wav"]) == 2
    assert "write one of lines, " in capsys.readouterr().err
    assert main.run(["match", "-s", wanted, "-e", str(tmp_path / "a.ttl"), "--format", "lines"]) == 1


@pytest.mark.parametrize("line", ["{broken", "temperature 25", "e1: world", "?s ?p ?o", "{a > 3}", "[1, 0]"])
def test_a_bad_event_is_not_explained_as_a_subscription(line: str, tmp_path: Path, wanted: str, capsys: Output) -> None:
    """What an event looks like is said, and nothing of operators and patterns."""
    assert main.run(["match", "-s", wanted, "-e", given(tmp_path, "events.txt", line)]) == 2
    told = capsys.readouterr().err
    assert "line 1" in told
    assert "event" in told
    assert "subscription" not in told
    assert "operator" not in told
