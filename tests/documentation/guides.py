"""The commands of a page, run in a shell as a reader would type them, in a folder of their own.

A block that begins with ```console holds commands; where a line starts with `$`, what stands below is what it prints.
```console not run: REASON says why a reader's machine is needed. A block such as ```toml likewise.toml is a file. What
runs until it is stopped (`serve`, `dashboard`) runs beside the rest of the page; another `serve` ends it.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import NamedTuple

import httpx

from tests.dashboard.conftest import free_port

PATIENCE = 400.0  # seconds a command may take, or a server to listen
FENCE = re.compile(r"^( *)```([^\n]*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
LASTING = re.compile(r"\blikewise (serve|dashboard)\b")
LISTENING = re.compile(r"Listening on (https?)://[\d.]+:(\d+)")
NOT_RUN = "console not run: "
PORT = "8787"  # as the pages say


class Typed(NamedTuple):
    """A command, and what the page shows below it; None if it shows nothing."""

    command: str
    shown: str | None = None


class Block(NamedTuple):
    """The text of a fence, and what stands beside it."""

    beside: str
    text: str

    def commands(self) -> list[Typed]:
        """What is typed; lines that go on are joined."""
        lines = re.sub(r"\\\n\s*", " ", self.text).splitlines()
        if not any(line.startswith("$ ") for line in lines):
            return [Typed(line) for line in lines if line.strip()]
        found: list[tuple[str, list[str]]] = []
        for line in lines:
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
        return [Typed(command, "\n".join(shown) if shown else None) for command, shown in found]


def blocks(page: Path) -> list[Block]:
    """The fences of a page."""
    found = FENCE.findall(page.read_text(encoding="utf-8"))
    return [Block(beside.strip(), textwrap.dedent(text)) for _, beside, text in found]


class Reader:
    """Who types a page's commands in a folder; `address` is the broker that is there from the start."""

    def __init__(self, folder: Path, address: str) -> None:
        self._folder = folder
        self._port = address.rpartition(":")[2]
        self._lasting: dict[str, subprocess.Popen[str]] = {}
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("LIKEWISE_")},
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "LIKEWISE_CONTEXTS": str(folder / "contexts.json"),
            "LIKEWISE_CONCEPTS": str(folder / "concepts"),
            "NO_COLOR": "1",
            "COLUMNS": "100",
            "PYTHONUNBUFFERED": "1",
        }
        self._mean(address)

    def read(self, page: Path) -> int:
        """Write the files of the page, then run its blocks in turn; how many commands that were."""
        count = 0
        for block in blocks(page):
            named = re.fullmatch(r"\w+ ([\w-]+\.\w+)", block.beside)
            if named is not None:
                (self._folder / named[1]).write_text(block.text, encoding="utf-8")
        for block in blocks(page):
            if block.beside == "console":
                self._type(block.commands())
                count += len(block.commands())
        return count

    def leave(self) -> None:
        """End what still runs."""
        for name in list(self._lasting):
            self._stop(name)

    def _type(self, commands: list[Typed]) -> None:
        if any("likewise serve" in typed.command for typed in commands):
            self._stop("serve")  # whoever starts another has stopped this one
        together: list[str] = []
        for typed in commands:
            lasting = LASTING.search(typed.command)
            if lasting is None and typed.shown is None:
                together.append(typed.command)
                continue
            self._run(together)
            together = []
            if lasting is None:
                printed = self._run([typed.command])
                assert printed.strip() == (typed.shown or "").strip(), f"`{typed.command}` printed {printed}"
            else:
                self._start(lasting[1], typed.command)
        self._run(together)

    def _run(self, commands: list[str]) -> str:
        """What commands print, one after the other in one shell; each must end well."""
        if not commands:
            return ""
        script = "set -e\n" + "\n".join(self._here(command) for command in commands)
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self._folder,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE * len(commands),
            check=False,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, f"{script}\nended with {done.returncode}:\n{done.stdout}{done.stderr}"
        return done.stdout

    def _start(self, name: str, command: str) -> None:
        """Start what runs until it is stopped, on a free port of this machine alone, and wait until it answers."""
        self._stop(name)
        port = "0" if name == "serve" else str(free_port())
        typed = self._here(command).replace("--host 0.0.0.0", "--host 127.0.0.1")
        typed = re.sub(rf"(likewise {name})\b", rf"\1 --port {port}", typed)
        running = subprocess.Popen(
            ["bash", "-c", typed],
            cwd=self._folder,
            env=self._environment,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self._lasting[name] = running
        guard = threading.Timer(PATIENCE, lambda: _signal(running, signal.SIGKILL))
        guard.start()
        assert running.stdout is not None
        first = running.stdout.readline()
        guard.cancel()
        assert first, f"`{command}` ended with {running.wait()}"
        if name == "serve":
            said = LISTENING.search(first)
            assert said is not None, first
            self._port = said[2]
            self._mean(f"{said[1]}://127.0.0.1:{said[2]}")
        else:
            retrying = httpx.HTTPTransport(retries=10)  # with pauses that grow to some seconds
            with httpx.Client(transport=retrying, timeout=PATIENCE) as client:
                assert client.get(f"http://127.0.0.1:{port}").is_success

    def _stop(self, name: str) -> None:
        running = self._lasting.pop(name, None)
        if running is None:
            return
        _signal(running, signal.SIGINT)
        code = running.wait(timeout=PATIENCE)
        assert running.stdout is not None
        running.stdout.close()
        assert code in (0, 130, -signal.SIGINT), f"{name} ended with {code}"

    def _here(self, command: str) -> str:
        return command.replace(f":{PORT}", f":{self._port}")

    def _mean(self, address: str) -> None:
        """Let commands that name no address mean this broker."""
        kept = {"contexts": {"page": {"address": address}}, "current": "page"}
        (self._folder / "contexts.json").write_text(json.dumps(kept), encoding="utf-8")


def _signal(running: subprocess.Popen[str], number: int) -> None:
    if running.poll() is None:
        os.killpg(running.pid, number)
