"""A real Mosquitto on a free port, which can be killed and started again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from likewise.cli.demo.city import find_program


def find_mosquitto() -> tuple[str | None, dict[str, str]]:
    """The program, and the environment it needs: the system's, or the one that set-up unpacked."""
    found = find_program()
    if found is None:
        return None, dict(os.environ)
    return found.path, {**os.environ, **({"LD_LIBRARY_PATH": found.libraries} if found.libraries else {})}


class Mosquitto:
    """A broker of the user's: it keeps sessions and messages in a folder."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as trying:
            trying.bind(("127.0.0.1", 0))
            self.port = int(trying.getsockname()[1])
        self.url = f"mqtt://127.0.0.1:{self.port}"
        self._program, self._environment = find_mosquitto()
        self._config = folder / "mosquitto.conf"
        self._config.write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous true\npersistence true\nautosave_interval 1\n"
            f"autosave_on_changes true\npersistence_location {folder}/\nuser root\nmax_queued_messages 0\n"
            "max_inflight_messages 100\n",
            encoding="utf-8",
        )
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        assert self._program is not None
        self._process = subprocess.Popen(
            [self._program, "-c", str(self._config)],
            env=self._environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 60
        while True:
            assert self._process.poll() is None, "mosquitto ended"
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                assert time.monotonic() < deadline
                time.sleep(0.05)

    def admit(self, everybody: bool) -> None:
        """From the next start on: let everybody in, or nobody."""
        said = self._config.read_text(encoding="utf-8")
        before, now = ("false", "true") if everybody else ("true", "false")
        self._config.write_text(said.replace(f"allow_anonymous {before}", f"allow_anonymous {now}"), encoding="utf-8")

    def say(self, line: str) -> None:
        """From the next start on: a setting of its own."""
        self._config.write_text(f"{self._config.read_text(encoding='utf-8')}{line}\n", encoding="utf-8")

    def stop(self, number: int = signal.SIGTERM) -> None:
        """End it; with SIGTERM it saves what it holds, with SIGKILL it does not."""
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(60)
            self._process = None


@pytest.fixture
def mosquitto(tmp_path: Path) -> Iterator[Mosquitto]:
    if find_mosquitto()[0] is None:
        pytest.skip("there is no mosquitto; `make test` as root unpacks it, or name it in LIKEWISE_MOSQUITTO")
    pytest.importorskip("gmqtt", reason="the extra `mqtt` is not installed")
    folder = tmp_path / "mosquitto"
    folder.mkdir()
    running = Mosquitto(folder)
    running.start()
    yield running
    running.stop()
