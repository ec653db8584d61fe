"""A broker that listens for MQTT, in a process of its own, and what it says on its standard error."""

from __future__ import annotations

import resource
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

from likewise.server.mqtt.codec import Connect, encode

STARTING = 180.0  # seconds a broker may take to listen, on a slow machine


class Running(NamedTuple):
    """Where it listens, and its log."""

    port: int
    pid: int
    log: Path
    http: str = ""

    def memory(self) -> float:
        """Megabytes that it has in memory."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))) / 1024

    def tracebacks(self) -> str:
        """Everything it has said, if it has said a traceback; else ''."""
        said = self.log.read_text(encoding="utf-8", errors="replace")
        return said if "Traceback" in said or "[error" in said else ""


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as trying:
        trying.bind(("127.0.0.1", 0))
        return int(trying.getsockname()[1])


def free_ports() -> tuple[int, int]:
    """Two ports that nobody listens on."""
    first = free_port()
    while (second := free_port()) == first:
        pass
    return first, second


def _answers(port: int) -> bool:
    """Whether a broker lets a client in; its port may be open long before."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=STARTING) as line:
            line.sendall(encode(Connect("are you there")))
            return bool(line.recv(100))
    except OSError:
        return False


@contextmanager
def listening_broker(*options: str, files: int | None = None) -> Iterator[Running]:
    """A broker with data of its own, which may open so many files; at the end it runs, and has said no traceback."""
    port, http = free_ports()

    def limit() -> None:
        if files is not None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    with tempfile.TemporaryDirectory(prefix="likewise-mqtt-") as folder:
        log = Path(folder) / "log"
        command = [sys.executable, "-m", "likewise", "serve", "--port", str(http), "--data", f"{folder}/data"]
        with log.open("wb") as out:
            process = subprocess.Popen(
                [*command, "--mqtt", str(port), *options], stdout=out, stderr=out, preexec_fn=limit
            )
        running = Running(port, process.pid, log, f"http://127.0.0.1:{http}")
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
