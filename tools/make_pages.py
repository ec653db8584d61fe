"""Write what the README and the tutorial show below their commands: what the program prints now.

    python tools/make_pages.py            writes the pages anew
    python tools/make_pages.py --check    says which of them no longer show what is printed

A block that begins with ```console holds a command after `$` and what it prints. Blocks marked `city` come from a
running demo city: what it says of a subscription, and what a second terminal prints.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PAGES = (ROOT / "README.md", ROOT / "docs" / "tutorial.md")
WIDTH = "100"  # characters of a line in the pages
PATIENCE = 600.0  # seconds a command, or a city, may take to show what is wanted
FOLLOWED = "loud"  # the subscription whose matches the tutorial shows
BLOCK = re.compile(r"^```console ?([^\n]*)\n\$ ([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A command and what stands below it; `beside` is what stands beside ```console."""

    beside: str
    command: str
    shown: str


def blocks(page: Path) -> list[Block]:
    """The commands of a page."""
    return [Block(*found) for found in BLOCK.findall(page.read_text(encoding="utf-8"))]


def files() -> dict[str, str]:
    """The files that the README shows, by name."""
    text = PAGES[0].read_text(encoding="utf-8")
    return dict(re.findall(r"^```text (\S+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))


def environment() -> dict[str, str]:
    """What the commands see: a line of the pages' width, and no colours."""
    kept = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "LIKEWISE_ADDRESS")}
    return {**kept, "COLUMNS": WIDTH, "NO_COLOR": "1", "PYTHONUNBUFFERED": "1"}


def run(command: str, folder: Path) -> str:
    """What a `likewise` command prints in a folder."""
    arguments = shlex.split(command.removeprefix("likewise "))
    done = subprocess.run(
        [sys.executable, "-m", "likewise", *arguments],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise SystemExit(f"{command} ended with {done.returncode}:\n{done.stderr}")
    return tidy(done.stdout)


def tidy(text: str) -> str:
    """Lines without blanks at their ends."""
    return "\n".join(line.rstrip() for line in text.rstrip("\n").split("\n")) + "\n"


@contextmanager
def city(folder: Path) -> Iterator[tuple[list[str], str]]:
    """A city that runs; the lines it printed so far, and its broker's address."""
    from likewise.cli.demo.city import free_port

    port = free_port(0)
    command = [sys.executable, "-m", "likewise", "demo", "--city", "--no-dashboard", "--port", str(port)]
    told: list[str] = []
    running = subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment(),
        start_new_session=True,
    )
    reader = threading.Thread(target=lambda: told.extend(running.stdout or ()))
    reader.start()
    try:
        yield told, f"http://127.0.0.1:{port}"
    finally:
        running.send_signal(signal.SIGINT)
        running.wait(timeout=60)
        reader.join(timeout=10)


def wait_for(found: Callable[[], list[str] | None]) -> list[str]:
    """Wait until something was printed."""
    deadline = time.monotonic() + PATIENCE
    while (lines := found()) is None:
        if time.monotonic() > deadline:
            raise SystemExit("the city did not show what is wanted in time")
        time.sleep(0.3)
    return lines


def followed(told: list[str]) -> list[str] | None:
    """The first two matches of different vendors, below the reports they come from; None while they are not there."""
    lines = [line.rstrip() for line in list(told)]
    met: dict[str, tuple[str, str]] = {}  # by vendor: the device and its match
    for line in lines:
        found = re.match(rf"✓ {FOLLOWED}\s+\S+\s+(([a-z]+)\S*)", line)
        if found:
            met.setdefault(found[2], (found[1], line))
    if len(met) < 2:
        return None
    two = dict(list(met.values())[:2])
    reports = []
    for device, match in two.items():
        reading = re.sub(r" \([\d.]+\)$", "", match.split("  ")[-1])
        reports += [line for line in lines if line.startswith(f"  {device}  ") and reading in line][:1]
    return [*reports, *two.values()]


def made() -> dict[Block, str]:
    """What every block ought to show."""
    answers: dict[Block, str] = {}
    every = [block for page in PAGES for block in blocks(page)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in files().items():
            (folder / file).write_text(text, encoding="utf-8")
        for block in every:
            if not block.beside:
                answers[block] = run(block.command, folder)
        if any(block.beside == "city" for block in every):
            answers |= _of_the_city([block for block in every if block.beside == "city"], folder)
    return answers


def _of_the_city(wanted: list[Block], folder: Path) -> dict[Block, str]:
    answers: dict[Block, str] = {}
    with city(folder) as (told, address):
        shown = wait_for(lambda: followed(told))
        for block in wanted:
            if block.command.startswith("likewise subscribe"):
                answers[block] = run(f"{block.command} --count 3 --address {address}", folder)
            else:
                answers[block] = "...\n" + tidy("\n".join(shown))
    return answers


def rewritten(page: Path, answers: dict[Block, str]) -> str:
    """A page with what its blocks ought to show."""

    def block(found: re.Match[str]) -> str:
        beside, command, shown = found.groups()
        answer = answers.get(Block(beside, command, shown), shown)
        return f"```console{f' {beside}' if beside else ''}\n$ {command}\n{answer}```"

    return BLOCK.sub(block, page.read_text(encoding="utf-8"))


def main() -> None:
    """Write the pages, or say which are out of date."""
    answers = made()
    old = []
    for page in PAGES:
        text = rewritten(page, answers)
        if text != page.read_text(encoding="utf-8"):
            old.append(str(page.relative_to(ROOT)))
            if "--check" not in sys.argv:
                page.write_text(text, encoding="utf-8")
    if "--check" in sys.argv and old:
        sys.exit(f"no longer what is printed: {', '.join(old)}; run: make pages")
    print(f"written: {', '.join(old) or 'none'}")


if __name__ == "__main__":
    main()
