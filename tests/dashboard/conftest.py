"""A broker and a dashboard as processes of their own, and a real browser that looks at them."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parents[2]
SHOTS = ROOT / "artifacts" / "dashboard"
CHROMIUM = os.environ.get("LIKEWISE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def free_port() -> int:
    with socket.socket() as trying:
        trying.bind(("127.0.0.1", 0))
        return int(trying.getsockname()[1])


NEEDS_CHROMIUM = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium; apt-get install chromium, or LIKEWISE_CHROMIUM"),
    pytest.mark.timeout(300),
]
SLOW = 60_000  # ms; the first approximate match compiles kernels


def expect(what: Any) -> Any:
    """Playwright's own: what a page or a part of it comes to show, with the patience a busy machine needs."""
    from playwright.sync_api import expect as shown

    shown.set_options(timeout=SLOW)
    return shown(what)


class Running:
    """A `likewise` command that answers at an address."""

    def __init__(self, arguments: list[str], port: int, ready: str) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self._arguments = [sys.executable, "-m", "likewise", *arguments, "--port", str(port)]
        self._ready = ready
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen(self._arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 120
        while True:
            assert self._process.poll() is None, f"{self._arguments} ended with {self._process.returncode}"
            try:
                if httpx.get(self.url + self._ready, timeout=5).is_success:
                    return
            except httpx.HTTPError:
                assert time.monotonic() < deadline, f"{self.url} does not answer"
            time.sleep(0.1)

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def with_token(self, name: str) -> str:
        """Restart a broker with a first token, which is made where its store is."""
        self.stop()
        data = self._arguments[self._arguments.index("--data") + 1]
        command = ["admin", "token", data, "--name", name, "--scope", "admin", "--json"]
        made = subprocess.run([sys.executable, "-m", "likewise", *command], capture_output=True, check=True)
        self.start()
        return str(json.loads(made.stdout)["token"])

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(timeout=30)
            self._process = None


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's chromium, driven by playwright."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    SHOTS.mkdir(parents=True, exist_ok=True)
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS, headless=True)
        yield started
        started.close()


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A broker that keeps its data, so that it can be restarted."""
    nowhere = f"mqtt://127.0.0.1:{free_port()}/roof/#"  # a bridge that cannot connect, so that one sees it
    data = str(tmp_path_factory.mktemp("broker"))
    running = Running(["serve", "--data", data, "--mqtt-bridge", nowhere], free_port(), "/readyz")
    running.start()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def dashboard(broker: Running) -> Iterator[Running]:
    """The dashboard of that broker."""
    pytest.importorskip("nicegui", reason="the extra `dashboard` is not installed")
    running = Running(["dashboard", "--address", broker.url], free_port(), "/")
    running.start()
    yield running
    running.stop()
