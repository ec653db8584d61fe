"""`likewise match`: streams of events against subscriptions."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from likewise.cli import main
from likewise.defaults import MAX_EVENT_BYTES


@pytest.fixture
def wanted(tmp_path: Path) -> Path:
    """A file with two subscriptions, one as text and one as JSON."""
    path = tmp_path / "wanted.txt"
    path.write_text('# what we want\n\nair: {no2 > 40 ug/m3}\n{"v": 1, "id": "zagreb", "text": "{city = Zagreb}"}\n')
    return path


def match(monkeypatch: pytest.MonkeyPatch, wanted: Path, events: bytes, *options: str) -> int:
    """Run `likewise match` with events on standard input."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(events)))
    return main.run(["match", "--subscriptions", str(wanted), *options])


def test_each_match_is_a_line(
    wanted: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line names the event, the subscription, the score and what met it; events come as text and as JSON."""
    events = b'e1: {no2: 45 ug/m3, city: Zagreb}\n{"no2": {"value": 0.05, "unit": "mg/m3"}}\n{"no2": 3}\n'
    assert match(monkeypatch, wanted, events) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:3] for line in lines] == [["e1", "air", "1"], ["e1", "zagreb", "1"], ["2", "air", "1"]]
    assert "no2: 45" in lines[0]


def test_json_lines_carry_the_published_form(
    wanted: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With --json each match is one object with its version."""
    assert match(monkeypatch, wanted, b'{"city": "zagreb"}\n', "--json") == 0
    (line,) = capsys.readouterr().out.splitlines()
    told = json.loads(line)
    assert (told["v"], told["event_id"], told["subscription_id"], told["kind"]) == (1, "1", "zagreb", "exact")


def test_no_match_is_1(wanted: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Like grep, finding nothing ends with 1 and prints nothing."""
    assert match(monkeypatch, wanted, b"{no2: 1}\n") == 1
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "line",
    [
        b'{"no2": \n',
        b"{no2: 45\n",
        b"\xff\xfe\n",
        b'{"no2": NaN}\n',
        b"{no2 > 4}\n",
        b"[1, *]\n",
        b"[" * 100_000 + b"\n",
        b'{"a":' * 10_000 + b"1" + b"}" * 10_000 + b"\n",
        b'{"a": "' + b"x" * (MAX_EVENT_BYTES + 10) + b'"}\n',
    ],
)
def test_a_bad_event_is_named_by_its_line(
    line: bytes, wanted: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A bad event ends the run with 2 and says where it stood; with --keep-going the others are still matched."""
    events = b"{city: Zagreb}\n" + line + b"{city: Zagreb}\n"
    assert match(monkeypatch, wanted, events) == 2
    told = capsys.readouterr()
    assert told.err.startswith(("error: -, line 2: ", "error: -: line 2, column "))
    assert len(told.out.splitlines()) == 1
    assert match(monkeypatch, wanted, events, "--keep-going") == 2
    told = capsys.readouterr()
    assert told.err.count("error: ") == 1
    assert [event.split()[0] for event in told.out.splitlines()] == ["1", "3"]


def test_a_bad_subscription_is_named_by_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A mistake in the file of subscriptions says the line of the file, and shows the place."""
    path = tmp_path / "wanted.txt"
    path.write_text("{a = 1}\n{b >> 1}\n")
    assert main.run(["match", "-s", str(path), "-e", str(path)]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"error: {path}: line 2, column 5: ")
    assert "^" in told


def test_a_duplicate_id_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two subscriptions with one name are an error."""
    path = tmp_path / "wanted.txt"
    path.write_text("s: {a = 1}\ns: {b = 1}\n")
    assert main.run(["match", "-s", str(path), "-e", str(path), "--json"]) == 2
    assert json.loads(capsys.readouterr().err)["error"]["code"] == "duplicate_id"


def test_standard_input_serves_one_of_the_two(capsys: pytest.CaptureFixture[str]) -> None:
    """Subscriptions and events cannot both come from standard input."""
    assert main.run(["match", "-s", "-"]) == 2
    assert "cannot both come from standard input" in capsys.readouterr().err


def test_prefixes_hold_for_the_patterns_below(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """PREFIX lines in the file of subscriptions serve its graph patterns, named or not."""
    wanted = tmp_path / "wanted.txt"
    wanted.write_text("PREFIX ex: <http://example.org/>\nspain: ?e ex:team ex:Spain\n{a = 1}\n")
    events = tmp_path / "events.jsonl"
    team = ["<http://example.org/e>", "<http://example.org/team>", "<http://example.org/Spain>"]
    events.write_text(json.dumps({"v": 1, "id": "final", "graph": [team]}) + "\n")
    assert main.run(["match", "-s", str(wanted), "-e", str(events), "--json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["subscription_id"] == "spain"
    assert json.loads(line)["bindings"] == [[["?e", "<http://example.org/e>"]]]


def test_a_date_of_an_event_in_text_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An event written as text may say when, as JSON may."""
    asked = tmp_path / "asked.txt"
    asked.write_text("late: {when > 2024-05-01}\n", encoding="utf-8")
    assert match(monkeypatch, asked, b"e1: {when: 2024-05-02, t: 5}\ne2: {when: 2024-05-01T12:00:00Z}\n") == 0
    assert [line.split()[:2] for line in capsys.readouterr().out.splitlines()] == [["e1", "late"]]


def test_another_engine_may_match_a_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--engine interest=sgim` gives the same matches; a name that serves no such kind is refused."""
    (wanted := tmp_path / "wanted.txt").write_text("s: [1, 0, *]\n")
    events = b'{"v": 1, "id": "e1", "vector": "101"}\n{"v": 1, "id": "e2", "vector": "011"}\n'
    lines = []
    for engine in ("interest=bit-planes", "interest=sgim", "interest=rapid-modified"):
        assert match(monkeypatch, wanted, events, "--engine", engine, "--json") == 0
        lines.append(capsys.readouterr().out)
    assert lines[0].count("e1") == len(set(lines)) == 1
    for engine in ("interest=bitmap", "interest", "flavour=sgim"):
        assert match(monkeypatch, wanted, events, "--engine", engine) == 2
        assert "error: " in capsys.readouterr().err
