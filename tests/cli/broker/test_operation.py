"""`status`, `alerts`, `tail`, `why`, `why-not`, `feedback`, `doctor`, completion: what an operator asks a broker."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.config import Config, ServerSettings, read_config
from likewise.cli import main
from likewise.cli.terminal import completion
from likewise.client import Publisher, Subscriber
from tests.server.conftest import serving

Output = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def own_contexts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's own settings count here."""
    monkeypatch.setenv("LIKEWISE_CONTEXTS", str(tmp_path / "contexts.json"))
    for name in ("LIKEWISE_ADDRESS", "LIKEWISE_TOKEN", "LIKEWISE_CONTEXT", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A broker with an alert that fires in the hall, a condition, and events of two sources."""
    broker = Broker(None, Config(server=ServerSettings(port=0)))
    with serving(broker=broker) as where:
        with Subscriber("ann", where) as inbox:
            inbox.subscribe(lw.parse("{door = open} per room once until false", id="door"))
            inbox.subscribe(lw.parse("{temperature~ > 25 degC}", id="warm"))
            inbox.subscribe(lw.parse("{door = open} per room for 1 h", id="long"))
        with Subscriber("bob", where) as inbox:
            inbox.subscribe(lw.parse("{x > 3}", id="door"))
        with Publisher(where, source="roof") as out:
            out.publish(lw.event({"air_temp_f": 81.2}, id="t1"))
            out.publish(lw.event({"air_temp_f": 68}, id="t2"))
        with Publisher(where, source="hall") as out:
            out.publish(lw.event({"door": "open", "room": "hall"}, id="d1"))
            out.publish(lw.event({"door": "shut", "room": "cellar"}, id="d2"))
        broker.wait_until_matched()
        yield where


def test_status_shows_rates_alerts_and_targets_on_one_screen(address: str, capsys: Output) -> None:
    assert main.run(["status", "--address", address]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{address}: ready"
    assert len(lines) < 12
    text = "\n".join(lines)
    assert "4 stored" in text
    assert "up to date" in text
    assert "1 firing: door (hall" in text
    assert "none failing" in text
    assert "exact bitmap" in text, "which engine serves each kind"
    assert main.run(["status", "--json", "--address", address]) == 0
    state = json.loads(capsys.readouterr().out)
    assert (state["ready"], state["events"], state["subscriptions"], state["behind"]) == (True, 4, 4, 0)
    assert state["engines"]["exact"] == "bitmap"


def test_a_target_that_fails_is_in_the_status_and_a_problem_for_the_doctor(capsys: Output) -> None:
    broker = Broker(None, read_config(environment={"LIKEWISE_TARGETS_ALLOW": "127.0.0.0/8"}))
    with serving(broker=broker) as where:
        with Subscriber("ann", where) as inbox:
            inbox.subscribe(lw.parse("{x > 1}", id="s"))
            inbox.targets.set("s", "http://127.0.0.1:9/none")
        with Publisher(where, source="a") as out:
            out.publish(lw.event({"x": 2}, id="e"))
        failing: list[str] = []
        while not failing:  # the first attempt is made in a moment
            assert main.run(["status", "--json", "--address", where]) == 0
            failing = json.loads(capsys.readouterr().out.splitlines()[-1])["failing_targets"]  # the log is before it
        assert failing[0].startswith("s to ")
        assert main.run(["doctor", "--address", where]) == 1
        assert "likewise targets retry" in capsys.readouterr().out


def test_alerts_list_what_fires_first(address: str, capsys: Output) -> None:
    assert main.run(["alerts", "--address", address]) == 0
    head, first, second = capsys.readouterr().out.splitlines()
    assert head.split()[:4] == ["state", "for", "alert", "key"]
    assert first.split()[:4] == ["firing", "ann", "door", "hall"]
    assert second.split()[:4] == ["lasting", "ann", "long", "hall"]
    assert main.run(["alerts", "--firing", "--json", "--address", address]) == 0
    (only,) = json.loads(capsys.readouterr().out)
    assert only["key"]["key"] == ["hall"]
    assert main.run(["alerts", "--firing", "--for", "bob", "--address", address]) == 1
    assert capsys.readouterr().out == "Nothing fires.\n"


def test_tail_prints_one_source_since_a_time(address: str, capsys: Output) -> None:
    assert main.run(["tail", "--no-follow", "--source", "roof", "--since", "1 h", "--address", address]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert "t1" in first
    assert "✓ warm" in first
    assert "t2" in second
    assert main.run(["tail", "--no-follow", "--last", "1", "--json", "--address", address]) == 0
    assert json.loads(capsys.readouterr().out)["id"] == "d2"
    assert main.run(["tail", "--no-follow", "--since", "2100-01-01T00:00:00Z", "--address", address]) == 0
    assert capsys.readouterr().out == ""
    assert main.run(["tail", "--no-follow", "--since", "soon", "--address", address]) == 2
    assert "no span of time" in capsys.readouterr().err


def test_tail_goes_on_with_what_comes(address: str) -> None:
    command = [sys.executable, "-m", "likewise", "tail", "--last", "0", "--source", "yard", "--json"]
    with subprocess.Popen([*command, "--address", address], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        with Publisher(address, source="yard") as out, Publisher(address, source="other") as other:
            line = ""
            from threading import Thread

            def publish() -> None:
                while not line:
                    other.publish(lw.event({"y": 1}))
                    out.publish(lw.event({"y": 2}))

            sending = Thread(target=publish, daemon=True)
            sending.start()
            line = running.stdout.readline()
            sending.join()
        running.terminate()
    assert json.loads(line)["source"] == "yard"


def test_why_and_why_not_answer_by_id_and_by_text(address: str, capsys: Output) -> None:
    at = ["--address", address]
    assert main.run(["why", "t1", "warm", *at]) == 0
    assert "81.2 °F = 27.33 °C" in capsys.readouterr().out
    assert main.run(["why-not", "t2", "warm", *at]) == 1
    told = capsys.readouterr().out
    assert "20 °C, not above 25 °C" in told
    assert "It would match if" in told
    assert re_times(told) >= 1  # what became of it then
    assert main.run(["why", "{air_temp_f: 90}", "{temperature~ > 25 degC}", *at]) == 0
    capsys.readouterr()
    assert main.run(["why-not", "t2", "warm", "--json", *at]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["trace"]["outcome"] == "not_met"
    assert answer["explanation"]["verdict"] != "match"
    assert main.run(["why", "t1", "warm", "--details", *at]) == 0
    assert "asked for" in capsys.readouterr().out


def re_times(text: str) -> int:
    import re

    return len(re.findall(r"^\d\d:\d\d:\d\d  ", text, re.MULTILINE))


def test_a_name_that_several_have_or_nobody_has_is_refused(address: str, capsys: Output) -> None:
    at = ["--address", address]
    assert main.run(["why", "d1", "door", *at]) == 2
    assert "ann, bob each have a subscription named 'door'; choose one with --for" in capsys.readouterr().err
    assert main.run(["why", "d1", "door", "--for", "bob", *at]) == 1
    assert "no reading answers" in capsys.readouterr().out
    assert main.run(["why", "t1", "wram", *at]) == 2
    assert "did you mean 'warm'?" in capsys.readouterr().err


def test_feedback_says_which_terms_it_changed(address: str, capsys: Output) -> None:
    assert main.run(["feedback", "t1", "warm", "--yes", "--address", address]) == 0
    assert capsys.readouterr().out == "Recorded. temperature and air temp f count as more similar from now on.\n"
    assert main.run(["feedback", "t1", "warm", "--address", address]) == 2  # it must be said which


def test_the_doctor_finds_nothing_wrong_with_a_broker_that_works(address: str, capsys: Output) -> None:
    assert main.run(["doctor", "--address", address]) == 0
    told = capsys.readouterr().out
    assert "problem" not in told
    assert f"{address} answers" in told


def test_the_doctor_says_how_to_mend_a_configuration_and_a_folder(tmp_path: Path, capsys: Output) -> None:
    config = tmp_path / "wrong.toml"
    config.write_text("[server]\nprot = 1\n")
    asked = ["doctor", "--config", str(config), "--data", str(tmp_path / "new"), "--address", "127.0.0.1:1", "--json"]
    assert main.run(asked) == 1
    findings = {each["check"]: each for each in json.loads(capsys.readouterr().out)}
    assert findings["configuration"]["level"] == "problem"
    assert "prot" in findings["configuration"]["text"]
    assert findings["folder"]["level"] == "note"
    assert findings["broker"]["level"] == "note"
    assert "likewise serve" in findings["broker"]["fix"]


def test_names_are_completed_from_a_running_broker(address: str) -> None:
    def context(**given: Any) -> typer.Context:
        made = typer.Context(typer.main.get_command(main.app))
        made.params = {"address": address, **given}
        return made

    assert completion.complete_subscribers(context()) == ["ann", "bob"]
    assert completion.complete_subscriptions(context()) == ["door", "long", "warm"]
    assert completion.complete_subscriptions(context(owner="bob")) == ["door"]
    assert completion.complete_targets(context()) == []
    assert {"roof", "hall"} <= set(completion.complete_sources(context()))
    assert completion.complete_subscribers(context(address="http://127.0.0.1:1")) == []


def test_the_shell_completes_a_subscription_s_name(address: str) -> None:
    """As bash asks for it."""
    environment = {"COMP_WORDS": f"likewise why --address {address} t1 w", "COMP_CWORD": "5"}
    done = subprocess.run(
        [sys.executable, "-m", "likewise"],
        env={**__import__("os").environ, **environment, "_LIKEWISE_COMPLETE": "complete_bash"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["warm"], done.stderr


def test_quiet_prints_no_notes(address: str, capsys: Output) -> None:
    asked = ["subscribe", "{x > 1}", "--address", address, "--count", "0"]
    asked = ["sources", "list", "--limit", "1", "--address", address]
    assert main.run(asked) == 0
    assert "go on with --after" in capsys.readouterr().err
    assert main.run(["-q", *asked]) == 0
    assert capsys.readouterr().err == ""
    assert main.run(asked) == 0
    assert "go on with --after" in capsys.readouterr().err


def test_dead_letters_still_answer_to_their_old_name(address: str, capsys: Output) -> None:
    told = []
    for name in ("dead-letters", "letters"):
        assert main.run([name, "--address", address]) == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1] == "None: everything could be read and delivered.\n"
    assert main.run(["--help"]) == 0
    assert " letters " not in capsys.readouterr().out


def test_init_writes_a_configuration_that_changes_nothing_and_is_complete(tmp_path: Path, capsys: Output) -> None:
    """As written it is the default, and so it is with every default uncommented; a file is not overwritten."""
    path = tmp_path / "likewise.toml"
    assert main.run(["init", str(path)]) == 0
    text = path.read_text()
    assert read_config(path, {}) == Config()
    uncommented = [
        line.removeprefix("# ") if " = " in line and line[2:3].isalpha() and line.split(" ")[2] == "=" else line
        for line in text.splitlines()
    ]
    other = tmp_path / "uncommented.toml"
    other.write_text("\n".join(uncommented))
    assert read_config(other, {}) == Config()
    for name in Config.__struct_fields__:
        assert f"[{name}]" in text
    capsys.readouterr()
    assert main.run(["init", str(path)]) == 2
    assert "--force" in capsys.readouterr().err
    assert main.run(["init", str(path), "--force"]) == 0


def test_the_help_of_measure_names_the_default(capsys: Output) -> None:
    assert main.run(["match", "--help"]) == 0
    assert "By default sameness" in " ".join(capsys.readouterr().out.replace("│", " ").split())
