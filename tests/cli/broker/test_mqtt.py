"""Subscribing over MQTT from a terminal: with our command, and with Mosquitto's, as the demo shows it."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from likewise.cli import main
from likewise.cli.demo.city import mosquitto_command
from tests.server.mqtt.broker.conftest import PATIENCE, Devices, devices
from tests.server.mqtt.conftest import find_mosquitto

Output = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def home() -> Iterator[Devices]:
    with devices() as found:
        yield found


@pytest.fixture(autouse=True)
def own_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's own settings count here."""
    for name in ("LIKEWISE_ADDRESS", "LIKEWISE_TOKEN", "LIKEWISE_CONTEXT", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


def documents(capsys: Output) -> list[dict[str, Any]]:
    """What was printed as JSON; the broker of this process logs beside it."""
    return [json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith("{")]


class Repeated:
    """Publishes again and again until it is told to stop: who subscribes is there at some time."""

    def __init__(self, publish: Callable[[], object]) -> None:
        self._publish, self._over = publish, threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        while not self._over.wait(0.2):
            self._publish()

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(PATIENCE)


def test_matches_by_meaning_are_printed_with_score_and_topic(home: Devices, capsys: Output) -> None:
    """For machines and for people."""
    address = f"mqtt://127.0.0.1:{home.port}"
    with home.client() as writer, Repeated(lambda: writer.publish("home/roof", b'{"no2": 45}')):
        asked = ["subscribe", "bad: {no2 > 40}", "--address", address, "--count", "2"]
        assert main.run([*asked, "--json"]) == 0
        [first, second] = documents(capsys)
        assert first["topic"] == second["topic"] == "home/roof"
        assert first["payload"] == {"no2": 45}
        assert first["subscriptions"] == [{"id": "bad", "score": 1.0}]
        assert first["because"][0]["parts"][0]["attribute"] == "no2"
        assert main.run(asked) == 0
        shown = [line for line in capsys.readouterr().out.splitlines() if "home/roof" in line]
        assert len(shown) == 2
        assert all("no2: 45" in line and "1 bad" in line for line in shown), shown


def test_topics_alone_are_printed_too(home: Devices, capsys: Output) -> None:
    """Text, JSON and bytes; a session of a name gets what it missed."""
    address = f"mqtt://127.0.0.1:{home.port}/plain/#"
    with home.client() as writer:
        with Repeated(lambda: writer.publish("plain/a", b"21.5 degC")):
            assert main.run(["subscribe", "--address", address, "--count", "1", "--json", "--id", "terminal"]) == 0
        assert documents(capsys) == [{"topic": "plain/a", "payload": "21.5 degC"}]
        writer.publish("plain/b", b"\xff\x00")
    found: list[dict[str, Any]] = []
    while not any(each["topic"] == "plain/b" for each in found):  # those before it may still wait, too
        assert main.run(["subscribe", "--address", address, "--count", "1", "--json", "--id", "terminal"]) == 0
        found += documents(capsys)
    assert found[-1] == {"topic": "plain/b", "base64": "/wA="}


def test_what_is_refused_is_said(home: Devices, capsys: Output) -> None:
    """A text that cannot be parsed never leaves; nothing to ask for is said, too."""
    address = f"mqtt://127.0.0.1:{home.port}"
    assert main.run(["subscribe", "--address", address]) == 2
    assert "give a subscription, or a topic" in capsys.readouterr().err
    assert main.run(["subscribe", "{no2 >", "--address", address]) == 2
    assert "expected" in capsys.readouterr().err


def test_a_broker_that_is_not_there_is_waited_for(tmp_path: Path) -> None:
    """It is said once, and Ctrl-C ends it cleanly."""
    command = [sys.executable, "-m", "likewise", "subscribe", "{a = 1}", "--address", "mqtt://127.0.0.1:1"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert running.stderr is not None
    assert "cannot be reached" in running.stderr.readline()
    time.sleep(1.5)  # so that it tries again
    running.terminate()
    _, said = running.communicate(timeout=PATIENCE)
    assert "cannot be reached" not in said
    assert "Traceback" not in said


def test_the_line_that_the_demo_prints_receives_matches_by_meaning(home: Devices) -> None:
    """Mosquitto's own program, as it stands there."""
    program, environment = find_mosquitto()
    if program is None or not (tool := Path(program).parents[1] / "bin" / "mosquitto_sub").exists():
        pytest.skip(
            "there is no mosquitto_sub; `make test` as root unpacks it, or name Mosquitto in LIKEWISE_MOSQUITTO"
        )
    asked = shlex.split(mosquitto_command(str(home.port)))
    assert asked[0] == "mosquitto_sub"
    with home.client() as writer, Repeated(lambda: writer.publish("home/cellar", b'{"relative_humidity": "61 %"}')):
        came = subprocess.run(
            [str(tool), *asked[1:], "-C", "1"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=True,
        )
    assert came.stdout == '{"relative_humidity": "61 %"}\n'
