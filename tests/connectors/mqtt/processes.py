"""A broker that listens for MQTT, in a process of its own, and what it says on its standard error."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from likewise.connectors.mqtt.codec import Connect, encode

STARTING = 180.0  # seconds a broker may take to listen, on a slow machine


class Running(NamedTuple):
    """Where it listens, and its log."""

    port: int
    pid: int
    log: Path

    def tracebacks(self) -> str:
        """Everything it has said, if it has said a traceback; else ''."""
        said = self.log.read_text(encoding="utf-8", errors="replace")
        return said if "Traceback" in said or "[error" in said else ""


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as trying:
        trying.bind(("127.0.0.1", 0))
        return int(trying.getsockname()[1])


def _answers(port: int) -> bool:
    """Whether a broker lets a client in; its port may be open long before."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=STARTING) as line:
            line.sendall(encode(Connect("are you there")))
            return bool(line.recv(100))
    except OSError:
        return False


@contextmanager
def listening_broker(*options: str) -> Iterator[Running]:
    """A broker with data of its own; at the end it still runs, and has said no traceback."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="likewise-mqtt-") as folder:
        log = Path(folder) / "log"
        command = [sys.executable, "-m", "likewise", "serve", "--port", "0", "--data", f"{folder}/data"]
        with log.open("wb") as out:
            process = subprocess.Popen([*command, "--mqtt", str(port), *options], stdout=out, stderr=out)
        running = Running(port, process.pid, log)
        try:
            deadline = time.monotonic() + STARTING
            while True:
                assert process.poll() is None, log.read_text(encoding="utf-8")
                assert time.monotonic() < deadline, log.read_text(encoding="utf-8")
                if _answers(port):
                    break
                time.sleep(0.1)
            yield running
            assert process.poll() is None, log.read_text(encoding="utf-8")
            assert not running.tracebacks(), running.tracebacks()
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(60)
