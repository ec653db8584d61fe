"""`likewise demo --city`: a newcomer's first minute."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest

from likewise import Matcher, event, extras
from likewise.cli import main
from likewise.cli.demo.city import SUGGESTED, command_name, free_port
from likewise.cli.terminal.text_input import parse_named_subscription
from likewise.demo import DEMO_SUBSCRIPTIONS, City, due_reports

pytestmark = pytest.mark.timeout(300)  # on a fresh machine the first match waits for compiled kernels


def excerpt(command: str) -> list[str]:
    """The lines that the tutorial shows below a command."""
    page = (Path(__file__).resolve().parents[3] / "docs" / "tutorial.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```console city\n\$ ([^\n]*)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    shown = next(text for asked, text in blocks if asked.startswith(command))
    return [line.rstrip() for line in shown.splitlines() if line.strip() and line.strip() != "..."]


def untimed(lines: list[str]) -> list[str]:
    """Deliveries without their first column: whether one is earlier depends on how fast the machine is."""
    return [re.sub(r"^(earlier|\d\d:\d\d:\d\d) +", "", line) for line in lines]


def test_a_port_that_is_taken_is_left_alone() -> None:
    """Another one is found."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        wanted = taken.getsockname()[1]
        assert free_port(wanted) != wanted


def test_the_command_shown_can_be_typed_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its name where the shell finds it; else by the path to it, short where that is below this folder."""
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name in ("likewise", "python"):
        (programs / name).write_text("#!/bin/sh\n", encoding="utf-8")
        (programs / name).chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(programs / "python"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/nowhere")
    assert command_name() == ".venv/bin/likewise"
    monkeypatch.setenv("PATH", str(programs))
    assert command_name() == "likewise"
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setenv("PATH", "/nowhere")
    assert command_name() == str(programs / "likewise")


def test_what_the_demo_suggests_is_answered_by_humidities_alone() -> None:
    """The first subscription a newcomer tries finds several vendors' words for it, and nothing else."""
    seconds = [0.0]
    due, asked, found = due_reports(City(seed=1, devices=60, run="1"), lambda: seconds[0]), Matcher(), set()
    asked.add(parse_named_subscription(SUGGESTED)[1])
    for _ in range(60):
        seconds[0] += 1
        for report in due():
            said = event(report.payload, themes=report.themes)
            found |= {asked.explain(said, "damp").predicates[0].attribute for _ in asked.match(said)}
    assert len(found) >= 3
    assert all("hum" in name.casefold() for name in found), found


def stop_the_broker_of(demo: int) -> None:
    """Stop the process that the demo started."""
    children = Path(f"/proc/{demo}/task/{demo}/children").read_text(encoding="utf-8").split()
    [broker] = [each for each in children if b"serve" in Path(f"/proc/{each}/cmdline").read_bytes()]
    os.kill(int(broker), signal.SIGTERM)


def test_the_city_runs_matches_explains_and_ends_cleanly(tmp_path: Path) -> None:
    """What the tutorial shows is what is printed; a broker that is stopped comes back; Ctrl-C ends everything."""
    port = free_port(0)
    command = [sys.executable, "-m", "likewise", "demo", "--city", "--no-dashboard", "--port", str(port)]
    told: list[str] = []
    running = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "COLUMNS": "100"},
        start_new_session=True,
    )
    assert running.stdout is not None
    reader = threading.Thread(target=lambda: told.extend(running.stdout or ()))
    reader.start()
    try:
        deadline = time.monotonic() + 240
        wanted = excerpt("make run")
        while not all(any(line.rstrip() == shown for line in told) for shown in wanted):
            assert running.poll() is None, "".join(told)
            assert time.monotonic() < deadline, "".join(told[-20:])
            time.sleep(0.2)
        assert httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=10).is_success
        devices = [line.split()[1].rpartition("/")[2] for line in excerpt("likewise subscribe")]
        while not all(device in "".join(told) for device in devices):  # what is shown as earlier must have come
            assert time.monotonic() < deadline, "".join(told[-20:])
            time.sleep(0.2)
        second = [sys.executable, "-m", "likewise", "subscribe", SUGGESTED, "--count", "3"]
        deliveries = subprocess.run(
            [*second, "--address", f"http://127.0.0.1:{port}"],
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ, "COLUMNS": "100"},
        )
        assert untimed(deliveries.stdout.splitlines()) == untimed(excerpt("likewise subscribe"))
        assert deliveries.stderr == "damp was temporary and has ended; nothing stays at the broker.\n"
        stop_the_broker_of(running.pid)
        while "The broker is back." not in "".join(told):
            assert running.poll() is None, "".join(told[-20:])
            assert time.monotonic() < deadline, "".join(told[-20:])
            time.sleep(0.2)
        before = len(told)
        while not any(line.startswith("✓") for line in told[before:]):
            assert time.monotonic() < deadline, "".join(told[-20:])
            time.sleep(0.2)
    finally:
        running.send_signal(signal.SIGINT)
        code = running.wait(timeout=60)
        reader.join(timeout=10)
        running.stdout.close()
    shown = "".join(told)
    assert code == 0
    assert "Traceback" not in shown
    assert all(wanted.text in shown for wanted in DEMO_SUBSCRIPTIONS)
    with contextlib.chdir(tmp_path):  # where the demo ran: how a command is called depends on it
        typed = f"{command_name()} subscribe '{SUGGESTED}' --address http://127.0.0.1:{port}"
    assert typed in " ".join(shown.replace("│", " ").split())  # it may be broken into lines inside its frame
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=10)
    assert list(tmp_path.iterdir()) == []


def test_without_the_packages_of_a_broker_the_city_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one line, before anything is started."""
    monkeypatch.setattr(extras, "missing", lambda extra: ("fastapi",) if extra == "broker" else ())
    assert main.run(["demo", "--city"]) == 3
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.splitlines() == [
        'error: what the city needs (fastapi) is missing; install it with: pip install "likewise[broker]"'
    ]
