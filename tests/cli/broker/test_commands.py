"""The commands that speak with a broker, against one that is served."""

from __future__ import annotations

import json
import re
from pathlib import Path

import httpx
import pytest

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.config import Config, ServerSettings, StoreSettings
from likewise.cli import main
from likewise.testing.clocks import ManualClock
from tests.cli.rdf_documents import BROKEN, DOCUMENTS
from tests.server.conftest import address, serving

__all__ = ["address"]
Output = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def own_contexts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nobody's own settings count here."""
    path = tmp_path / "contexts.json"
    monkeypatch.setenv("LIKEWISE_CONTEXTS", str(path))
    for name in ("LIKEWISE_ADDRESS", "LIKEWISE_TOKEN", "LIKEWISE_CONTEXT", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    return path


def events_file(tmp_path: Path, *lines: str) -> str:
    path = tmp_path / "events.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    "command",
    ["publish", "subscriptions list", "subscriptions add {a=1}", "events", "letters", "admin stats"],
)
@pytest.mark.parametrize("where", ["127.0.0.1:1", "no-such-host.invalid"])
def test_a_broker_that_is_not_there_is_one_line_and_a_code_of_its_own(command: str, where: str, capsys: Output) -> None:
    """At once, with the address and what to do."""
    assert main.run([*command.split(), "--address", where]) == 4
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert f"the broker at http://{where.partition(':')[0]}" in said
    assert "does not answer" in said
    assert "likewise serve" in said


def test_what_cannot_be_an_address_is_bad_input(capsys: Output) -> None:
    """It is said how one is written."""
    assert main.run(["events", "--address", "ftp://roof"]) == 2
    assert "write it like http://127.0.0.1:8787" in capsys.readouterr().err


def test_a_bad_line_does_not_end_publishing(address: str, tmp_path: Path, capsys: Output) -> None:
    """With --keep-going what cannot be read, or is refused, is reported with its line and counted."""
    path = events_file(tmp_path, "k1: {n: 1, town: K}", "{broken", "k1: {n: 2, town: K}", "k3: {n: 3, town: K}")
    assert main.run(["publish", path, "--address", address, "--source", "k", "--keep-going"]) == 2
    told = capsys.readouterr()
    assert told.out == "Published 2 events; 2 bad lines left out.\n"
    assert "line 2" in told.err
    assert "events.txt, line 3: " in told.err
    kept = httpx.get(f"{address}/v1/activity", params={"limit": 1000}).json()["events"]
    assert [e["event"]["id"] for e in kept if e["event"].get("source") == "k"] == ["k1", "k3"]
    assert main.run(["publish", path, "--address", address, "--source", "k2"]) == 2
    assert "line 2" in capsys.readouterr().err


def test_a_delivery_says_when_who_what_and_how_well(address: str, tmp_path: Path, capsys: Output) -> None:
    """Time, device, the reading that met it, score, subscription; then the rest."""
    path = events_file(
        tmp_path,
        '{"v": 1, "id": "d1", "source": "roof/7", "time": 1700000000000000, '
        '"payload": {"fw": "4.1", "no2": {"value": 45, "unit": "ug/m3"}, "town": "D"}}',
    )
    assert main.run(["publish", path, "--address", address]) == 0
    capsys.readouterr()
    assert main.run(["subscribe", "bad: {no2 > 40 ug/m3, town = D}", "--address", address, "--count", "1"]) == 0
    told = capsys.readouterr()
    assert re.fullmatch(r"\d\d:\d\d:20  roof/7  no2: 45 ug/m3 · town: D  1 bad  fw: 4\.1\n", told.out)


def test_a_line_is_cut_to_the_width(
    address: str, tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came first stays, the rest ends in an ellipsis."""
    path = events_file(tmp_path, "w1: {no2: 45, town: W, remark: " + "word " * 60 + "}")
    assert main.run(["publish", path, "--address", address, "--source", "roof"]) == 0
    capsys.readouterr()
    monkeypatch.setenv("COLUMNS", "70")
    assert main.run(["subscribe", "{no2 > 40, town = W}", "--address", address, "--count", "1"]) == 0
    line = capsys.readouterr().out.rstrip("\n")
    assert len(line) == 70
    assert "no2: 45" in line
    assert line.endswith("…")


def test_a_backtest_lists_cause_key_and_time(address: str, tmp_path: Path, capsys: Output) -> None:
    """As a table or as JSON; nothing is subscribed."""
    path = events_file(tmp_path, "c1: {lid: open, town: C}")
    assert main.run(["publish", path, "--address", address, "--source", "box"]) == 0
    capsys.readouterr()
    asked = ["subscriptions", "backtest", "{lid = open, town = C} for 1 us", "--address", address]
    assert main.run(asked) == 0
    told = capsys.readouterr().out
    assert re.match(r"1 matches in \d+ events \(1 held\)\.\n", told)
    assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +held +box +box +c1", told)
    assert main.run([*asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["causes"], found["matches"][0]["key"]) == ({"held": 1}, ["box"])


def test_a_clock_is_shown_and_accepted(capsys: Output) -> None:
    """Once; again, it says that there is nothing to accept."""
    clock = ManualClock("2026-05-01T12:00:00Z")
    broker = Broker(None, Config(server=ServerSettings(port=0), store=StoreSettings("1 day")), clock=clock)
    with serving(broker=broker) as address:
        broker.publish(broker.tenant("default"), [lw.event({"n": 1}, id="k1")])
        broker.wait_until_matched()
        assert main.run(["admin", "clock", "show", "--address", address]) == 0
        assert capsys.readouterr().out == "The clock is trusted; nothing is held back.\n"
        clock.step(30 * 86_400_000_000)
        broker.sweep()
        assert "likewise admin clock accept" in httpx.get(f"{address}/readyz").json()["troubles"][0]
        assert main.run(["admin", "clock", "show", "--json", "--address", address]) == 0
        status = json.loads(capsys.readouterr().out.splitlines()[-1])  # the broker logs to the same output here
        assert (status["held_back"], status["behind_s"], status["holds_everything"]) == (1, 30 * 86_400, True)
        assert main.run(["admin", "clock", "accept", "--address", address]) == 0
        assert (
            capsys.readouterr().out.splitlines()[-1]
            == "The clock is accepted; what is over by it is removed from now on."
        )
        assert main.run(["admin", "clock", "accept", "--address", address]) == 0
        assert capsys.readouterr().out == "There is nothing to accept: the clock is trusted already.\n"
        assert httpx.get(f"{address}/readyz").json()["troubles"] == []


def test_subscribing_is_temporary_unless_it_is_named(address: str, tmp_path: Path, capsys: Output) -> None:
    """Without --id nothing stays; with it the command says what does, and how to end it."""

    def subscribers() -> list[str]:
        return [each["id"] for each in httpx.get(f"{address}/v1/subscribers").json()]

    path = events_file(tmp_path, "{no2: 45, town: T}")
    assert main.run(["publish", path, "--address", address]) == 0
    assert main.run(["subscribe", "t: {town = T}", "--address", address, "--count", "1"]) == 0
    assert "t was temporary and has ended; nothing stays" in capsys.readouterr().err
    assert not [name for name in subscribers() if name.startswith("terminal")]
    assert main.run(["subscribe", "t: {town = T}", "--address", address, "--count", "1", "--id", "ann"]) == 0
    assert "likewise subscriptions remove t --for ann" in capsys.readouterr().err
    assert "ann" in subscribers()
    assert main.run(["subscribe", "--address", address]) == 2


def test_subscriptions_are_listed_added_and_removed(address: str, tmp_path: Path, capsys: Output) -> None:
    """By name and owner, from arguments and files, for people and machines."""
    near = ["--address", address, "--for", "ben"]
    (tmp_path / "wanted.txt").write_text("two: {b = 2}\nthree: {c~ = d}\n", encoding="utf-8")
    assert main.run(["subscriptions", "add", "one: {a = 1}", "--file", str(tmp_path / "wanted.txt"), *near]) == 0
    assert capsys.readouterr().out == "Added for ben: one, two, three.\n"
    assert main.run(["subscriptions", "list", *near]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "for  name   kind        subscription",
        "ben  one    exact       {a = 1}",
        "ben  two    exact       {b = 2}",
        "ben  three  by meaning  {c~ = d}",
    ]
    assert main.run(["subscriptions", "remove", "two", *near, "--json"]) == 0
    capsys.readouterr()
    assert main.run(["subscriptions", "list", *near, "--json"]) == 0
    assert [each["id"] for each in json.loads(capsys.readouterr().out)] == ["one", "three"]
    assert main.run(["subscriptions", "remove", "two", *near]) == 2
    assert main.run(["subscriptions", "remove", *near]) == 2
    assert main.run(["subscriptions", "remove", "--all", *near]) == 0
    assert main.run(["subscriptions", "list", *near]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "No subscription for ben."


def test_events_show_what_came_and_what_it_met(address: str, tmp_path: Path, capsys: Output) -> None:
    """The newest last, with their device; one can be taken back."""
    near = ["--address", address]
    path = events_file(tmp_path, "v1: {no2: 45, town: V}", "v2: {no2: 3, town: V}")
    assert main.run(["subscriptions", "add", "vs: {no2 > 40, town = V}", "--for", "cat", *near]) == 0
    assert main.run(["publish", path, "--source", "roof", *near]) == 0
    capsys.readouterr()
    assert main.run(["events", "--last", "2", *near]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"\d\d:\d\d:\d\d  roof  v1  (✓ vs  )?no2: 45\.0 · town: V", first)
    assert second.endswith("  roof  v2  no2: 3.0 · town: V")
    assert main.run(["events", "withdraw", "v1", "--source", "roof", *near]) == 0
    capsys.readouterr()
    assert main.run(["events", "--last", "1", "--json", *near]) == 0
    assert json.loads(capsys.readouterr().out)["id"] == "v2"
    assert main.run(["events", "withdraw", "v1", *near]) == 2


def test_letters_are_shown_tried_again_and_forgotten(capsys: Output) -> None:
    """What could not be read, with why."""
    with serving() as address:
        near = ["--address", address]
        assert main.run(["letters", *near]) == 0
        assert capsys.readouterr().out == "None: everything could be read and delivered.\n"
        httpx.post(f"{address}/v1/events", content=b'{"broken', headers={"Content-Type": "application/json"})
        assert main.run(["letters", *near]) == 0
        heads, letter = capsys.readouterr().out.splitlines()
        assert heads.split() == ["number", "time", "reason", "detail"]
        assert "unreadable" in letter
        assert '{"broken' in letter
        assert main.run(["letters", "retry", "1", *near]) == 2
        assert main.run(["letters", "remove", "1", *near]) == 0
        assert main.run(["letters", "--json", *near]) == 0
        assert capsys.readouterr().out.splitlines()[-1] == "[]"


def test_letters_in_json_have_their_age_in_seconds(capsys: Output) -> None:
    """By the broker's clock, not by that of the terminal; never negative, also where the clock was set back."""
    clock = ManualClock("2026-03-01T12:00:00Z")
    at = clock()
    with Broker(None, Config(server=ServerSettings(port=0)), clock=clock) as broker, serving(broker=broker) as address:
        httpx.post(f"{address}/v1/events", content=b'{"broken', headers={"Content-Type": "application/json"})
        for duration, age in ((1_500_000, 1.5), (30_000_000, 31.5), (-40_000_000, 0.0)):
            clock.advance(duration)
            assert main.run(["letters", "--json", "--address", address]) == 0
            [letter] = json.loads(capsys.readouterr().out)
            assert (letter["at"], letter["age_s"]) == (at, age)


@pytest.mark.parametrize("name", ["", " ", "a\nb"])
def test_a_context_has_a_name_that_can_be_typed(name: str, own_contexts: Path, capsys: Output) -> None:
    """Otherwise nothing is kept."""
    assert main.run(["context", "add", name, "--address", "http://127.0.0.1:1"]) == 2
    assert "printable" in capsys.readouterr().err
    assert not own_contexts.exists()


def test_a_context_stands_for_an_address_and_its_token(address: str, own_contexts: Path, capsys: Output) -> None:
    """Commands use the chosen one; a token is kept for this user alone, and sent to its own address only."""
    from likewise.cli.terminal.contexts import resolve_context

    assert main.run(["context", "add", "here", "--address", address, "--token", "lw_secret"]) == 0
    assert own_contexts.stat().st_mode & 0o777 == 0o600
    assert main.run(["events", "--last", "1"]) == 0
    assert (
        resolve_context(None, None).token,
        resolve_context(None, address).token,
        resolve_context(None, "roof").token,
    ) == ("lw_secret",) * 2 + ("",)
    assert main.run(["context", "add", "gone", "--address", "127.0.0.1:1", "--no-use"]) == 0
    assert main.run(["events", "--context", "gone"]) == 4
    assert main.run(["events", "--context", "nowhere"]) == 2
    assert main.run(["events", "--context", "gone", "--address", address]) == 2
    capsys.readouterr()
    assert main.run(["context", "list"]) == 0
    listed = capsys.readouterr().out
    assert "lw_secret" not in listed
    assert re.search(rf"^\*\s+here\s+{address}\s+with a token$", listed, re.MULTILINE)
    assert main.run(["context", "use", "gone"]) == 0
    assert main.run(["events"]) == 4
    assert main.run(["context", "remove", "gone"]) == 0
    assert main.run(["context", "use", "gone"]) == 2
    own_contexts.write_text("{", encoding="utf-8")
    assert main.run(["events"]) == 3


@pytest.mark.parametrize("ending", DOCUMENTS)
def test_every_rdf_format_is_published(ending: str, address: str, tmp_path: Path, capsys: Output) -> None:
    """By its ending, one event for each subject, readings and statements; `events` shows each reading once."""
    source = f"rdf-{ending}"
    (tmp_path / f"readings.{ending}").write_text(DOCUMENTS[ending], encoding="utf-8")
    sent = ["publish", str(tmp_path / f"readings.{ending}"), "--address", address, "--source", source]
    assert main.run(sent) == 0
    assert capsys.readouterr().out == "Published 2 events.\n"
    kept = httpx.get(f"{address}/v1/activity", params={"limit": 1000}).json()["events"]
    mine = [e["event"] for e in kept if e["event"].get("source") == source]
    assert [e["id"] for e in mine] == ["http://e.org/reading", "http://e.org/roof"]
    assert len(mine[0]["graph"]) == 4
    assert main.run(["events", "--last", "2", "--address", address]) == 0
    assert capsys.readouterr().out.count("air_temp: 27.1") == 1


@pytest.mark.parametrize("ending", BROKEN)
def test_bad_rdf_publishes_nothing(ending: str, address: str, tmp_path: Path, capsys: Output) -> None:
    """One line with the place; with --keep-going it is counted."""
    text, place = BROKEN[ending]
    path = tmp_path / f"broken.{ending}"
    path.write_text(text, encoding="utf-8")
    assert main.run(["publish", str(path), "--address", address]) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert place in told.err
    assert main.run(["publish", str(path), "--address", address, "--keep-going"]) == 2
    assert capsys.readouterr().out == "Published 0 events; 1 bad part left out.\n"


def test_what_is_typed_counts_for_more_than_the_environment(
    address: str, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A context beside LIKEWISE_ADDRESS, an address beside LIKEWISE_CONTEXT; two that are typed are a mistake."""
    assert main.run(["context", "add", "here", "--address", address]) == 0
    monkeypatch.setenv("LIKEWISE_ADDRESS", "http://127.0.0.1:1")
    assert main.run(["events"]) == 4
    assert main.run(["events", "--context", "here"]) == 0
    monkeypatch.delenv("LIKEWISE_ADDRESS")
    monkeypatch.setenv("LIKEWISE_CONTEXT", "nowhere")
    assert main.run(["events", "--address", address]) == 0
    monkeypatch.delenv("LIKEWISE_CONTEXT")
    capsys.readouterr()
    assert main.run(["events", "--address", address, "--context", "here"]) == 2
    assert "not both" in capsys.readouterr().err


def test_a_name_that_is_almost_one_at_the_broker_is_corrected(address: str, capsys: Output) -> None:
    """A subscription, a target or a subscriber: the exit code is that of bad input, and the message has the name."""
    at = ["--address", address]
    assert main.run(["subscriptions", "add", "warm: {t > 25}", "--for", "ann", *at]) == 0
    for command, meant in (
        ("subscriptions remove wram --for ann", "'warm'"),
        ("targets remove wram webhook --for ann", "'warm'"),
        ("subscriptions list --for anne", "'ann'"),
    ):
        capsys.readouterr()
        assert main.run([*command.split(), *at]) == 2
        assert f"did you mean {meant}?" in capsys.readouterr().err, command
    assert main.run(["subscriptions", "list", "--for", "somebody else", *at]) == 0
