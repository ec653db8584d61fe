"""`likewise serve`, `publish`, `subscribe` and `admin` together, as processes."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from likewise.cli import main


def likewise(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "likewise", *arguments]
    return subprocess.run(command, input=given, capture_output=True, text=True, timeout=120, check=False)


def test_the_commands_carry_an_event_from_one_terminal_to_another(tmp_path: Path) -> None:
    """Serve, publish from standard input, print deliveries with why, look at figures, stop gracefully."""
    data = tmp_path / "data"
    with subprocess.Popen(
        [sys.executable, "-m", "likewise", "serve", "--data", str(data), "--port", "0", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as broker:
        assert broker.stdout is not None
        address = json.loads(broker.stdout.readline())["listening"]
        near = ("--address", address)
        published = likewise("publish", *near, "--source", "/roof", given="e1: {no2: 45, city: Zagreb}\n{no2: 3}\n")
        assert published.stdout == "Published 2 events.\n", published.stderr
        shown = likewise("subscribe", *near, "--count", "1", "bad: {no2 > 40}")
        assert shown.stdout == "earlier   /roof  no2: 45  1 bad  city: Zagreb\n", shown.stderr
        assert shown.stderr == "bad was temporary and has ended; nothing stays at the broker.\n"
        figures = json.loads(likewise("admin", "stats", *near, "--json").stdout)
        assert (figures["events"], figures["pending"]) == (2, 0)
        assert likewise("admin", "backup", str(data), str(tmp_path / "copy")).returncode == 0
        broker.send_signal(signal.SIGTERM)
        assert broker.wait(timeout=60) == 0
    assert not (data / "broker.db-wal").exists()  # folded in: it ended in good order
    assert json.loads(likewise("admin", "verify", str(tmp_path / "copy"), "--json").stdout)["deliveries"] == 1


def test_a_port_in_use_is_said_in_words(tmp_path: Path) -> None:
    """No traceback, and the store can be served at another port at once."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = likewise("serve", "--data", str(tmp_path / "data"), "--port", str(port), "--profile", "small")
    assert said.returncode == 2
    assert f"127.0.0.1:{port} cannot be listened on" in " ".join(said.stderr.split())
    assert "another --port" in " ".join(said.stderr.split())
    assert "Traceback" not in said.stderr


def test_listening_beyond_this_machine_needs_tokens(tmp_path: Path) -> None:
    """Refused with what to do; a token, kept hashed, opens the way."""
    data = str(tmp_path / "data")
    refused = likewise("serve", "--data", data, "--host", "0.0.0.0", "--port", "0")
    assert refused.returncode == 2
    assert "likewise admin token" in refused.stderr
    made = json.loads(likewise("admin", "token", data, "--name", "root", "--scope", "admin", "--json").stdout)
    assert made["token"].startswith("lw_")
    assert made["token"].encode() not in b"".join(path.read_bytes() for path in Path(data).iterdir())


def test_an_edge_takes_its_options_as_before_it_had_subcommands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`likewise edge --upstream URL --data DIR` runs one; without a folder, or with a bad address, it says so."""
    assert main.run(["edge", "--upstream", "http://hub:8787"]) == 2
    assert "--data" in capsys.readouterr().err
    assert main.run(["edge", "--upstream", "ftp://hub", "--data", str(tmp_path), "--id", "roof"]) == 2
    assert "ftp://hub" in capsys.readouterr().err
