"""A newcomer's path, timed: clone, `make run`, a subscription of one's own, its match and why, a thumb; the same from
a terminal; then a device of one's own over MQTT, an alert about it put together in the form, and that at a webhook.

    python -m tests.dashboard.newcomer --shots artifacts/newcomer
    python -m tests.dashboard.newcomer --kernels dist/likewise_kernels-0.1.0-cp311-cp311-manylinux_2_17_x86_64.whl

Everything is new: the clone, the home folder, the virtual environment and every cache in them; only the package index
the machine is set to is used. The commands typed are those that the README and the demo's own text give, read from
what they print. The time a person takes to read is not in the figures. The set-up has its CPU beside it, because other
work on the machine stretches the seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import msgspec

from tests.dashboard.conftest import ARGUMENTS, CHROMIUM, ROOT

PATIENCE = 1800.0  # seconds a stage may take before it is given up
WANTED = "{humidity~ > 45 %}"
TYPING = 60  # ms between two keys


class Journey(msgspec.Struct):
    """The stages so far, each with the seconds since the start."""

    began: float
    stages: list[tuple[str, float]] = []

    def done(self, name: str) -> None:
        """Note that a stage is over."""
        self.stages.append((name, time.monotonic() - self.began))
        print(f"{self.stages[-1][1]:7.1f} s  {name}", flush=True)


def session_cpu(session: int) -> float:
    """The seconds of CPU that a session's processes and those they waited for have taken."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(") ")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended
        if int(fields[3]) == session:
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


class Typed:
    """A command in a terminal: its lines as they come."""

    def __init__(self, command: str, folder: Path, environment: dict[str, str]) -> None:
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            ["sh", "-c", f"exec {command}"],
            cwd=folder,
            env=environment,
            text=True,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        threading.Thread(target=lambda: self.lines.extend(self.process.stdout or ()), daemon=True).start()

    def until(self, what: str) -> str:
        """The first line that a pattern is found in."""
        deadline = time.monotonic() + PATIENCE
        while True:
            over = self.process.poll() is not None
            found = next((line for line in list(self.lines) if re.search(what, line)), None)
            if found is not None:
                return found
            if over or time.monotonic() > deadline:
                raise SystemExit(f"`{what}` was never printed:\n{''.join(self.lines[-40:])}")
            time.sleep(0.05)

    def interrupt(self) -> int:
        """Ctrl-C; the exit code."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(timeout=60)


def newcomers_environment(home: Path) -> dict[str, str]:
    """What a new user's shell has: no cache, no setting of this project, nothing of a virtual environment."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("LIKEWISE_", "NUMBA_", "PYTHON", "VIRTUAL_ENV", "XDG_", "UV_CACHE", "MAKE", "MFLAGS"))
    }
    folders = [folder for folder in kept.get("PATH", "").split(os.pathsep) if "venv" not in folder]
    return {**kept, "HOME": str(home), "PATH": os.pathsep.join(folders), "COLUMNS": "110"}


def walk(folder: Path, shots: Path | None, source: str, kernels: Path | None = None) -> list[tuple[str, float]]:
    """Go the whole path in a new folder; the stages with their seconds."""
    home, clone = folder / "home", folder / "likewise"
    home.mkdir()
    environment = newcomers_environment(home)
    path = Journey(time.monotonic())
    subprocess.run(["git", "clone", "--quiet", source, str(clone)], check=True, env=environment)
    path.done("cloned")
    if kernels is not None:
        (clone / "dist").mkdir()
        shutil.copy(kernels, clone / "dist")
    assert "make run" in (clone / "README.md").read_text(encoding="utf-8")
    city = Typed("make run", clone, environment)
    try:
        city.until("Starting the broker")
        path.done(f"installed, with {session_cpu(city.process.pid):.0f} s of CPU at a load of {os.getloadavg()[0]:.0f}")
        print("".join(line for line in list(city.lines) if line.startswith("setup:")), end="", flush=True)
        address = re.search(r"http://\S+", city.until("Dashboard"))
        assert address is not None
        path.done("broker ready, address of the dashboard shown")
        city.until(r"^  \S+  \S+: ")
        path.done("first event seen in the terminal")
        city.until("^✓")
        path.done("first match with its reason in the terminal")
        _look(address[0], path, shots)
        _subscribe(city, clone, environment, path)
        _own_device(city, address[0], clone, environment, path, shots)
    finally:
        code = city.interrupt()
    path.done("ended by Ctrl-C")
    if code not in (0, 2, 130, -signal.SIGINT):  # make itself dies of the interrupt once the demo has ended
        raise SystemExit(f"`make run` ended with {code}:\n{''.join(city.lines[-20:])}")
    if shots is not None:
        (shots / "terminal.txt").write_text("".join(city.lines), encoding="utf-8")
    return path.stages


def _subscribe(city: Typed, clone: Path, environment: dict[str, str], path: Journey) -> None:
    """The command that the demo's text gives, in a second terminal."""
    line = re.search(r"(\S*likewise subscribe '.*?'( --address \S+)?)", city.until("likewise subscribe"))
    assert line is not None
    second = Typed(line[1], clone, environment)
    try:
        print(f"           {second.until('damp  ').strip()}")
        path.done(f"matched and explained in a second terminal: {line[1]}")
    finally:
        second.interrupt()


def _look(address: str, path: Journey, shots: Path | None) -> None:
    """The dashboard in chromium: subscribe, see it matched, open why, give feedback."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS, headless=True)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(PATIENCE * 1000)
        shot = _camera(page, shots)
        _open(page, address)
        page.locator(".lw-rows").first.locator(".lw-score").first.wait_for()
        path.done("dashboard open, matches in it")
        shot("1-live")
        page.get_by_role("tab", name="Subscriptions").click()
        shot("2-editor")
        page.get_by_label("Subscription", exact=True).press_sequentially(WANTED, delay=TYPING)
        page.get_by_text("humidity, in any words").wait_for()
        path.done("own subscription typed and understood")
        page.get_by_role("button", name="Try on the last events").click()
        page.get_by_text("would have matched").wait_for()
        path.done("tried on the last events")
        shot("3-tried")
        page.get_by_label("Name").fill("damp")
        page.get_by_role("button", name="Save").click()
        page.get_by_role("button", name="End damp").wait_for()
        path.done("saved")
        shot("4-saved")
        page.get_by_role("tab", name="Live").click()
        row = page.locator(".lw-rows").first.locator(".lw-row").filter(has_text="damp").first
        row.wait_for()
        path.done("matched")
        shot("5-matched")
        row.click()
        page.locator("svg.lw-map").wait_for()
        path.done("explained")
        shot("6-explained")
        page.get_by_role("button", name="Yes, it is meant").click()
        page.get_by_text("You said yes").wait_for()
        path.done("feedback taken")
        shot("7-feedback")
        browser.close()


class Hook:
    """A webhook of one's own on this machine: what it was sent."""

    def __init__(self) -> None:
        self.got: list[dict[str, Any]] = []
        got = self.got

        class Taking(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                got.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                self.send_response(204)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Taking)
        self.url = f"http://127.0.0.1:{self._server.server_port}/alerts"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def first(self) -> dict[str, Any]:
        """The first thing it was sent."""
        deadline = time.monotonic() + PATIENCE
        while not self.got:
            if time.monotonic() > deadline:
                raise SystemExit("the webhook was sent nothing")
            time.sleep(0.05)
        return self.got[0]

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()


def _own_device(
    city: Typed, address: str, clone: Path, environment: dict[str, str], path: Journey, shots: Path | None
) -> None:
    """Put an alert together in the form, sent to a webhook; connect a device over MQTT; see it said and explained."""
    from playwright.sync_api import sync_playwright

    port = re.search(r"mosquitto_sub -V 5 -p (\d+)", city.until("mosquitto_sub"))
    assert port is not None
    hook = Hook()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS, headless=True)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(PATIENCE * 1000)
        shot = _camera(page, shots)
        page.goto(f"{address}/subscriptions")
        page.get_by_label("Reading", exact=True).press_sequentially("oven temperature", delay=TYPING)
        page.get_by_label("Value", exact=True).press_sequentially("200", delay=TYPING)
        page.get_by_label("Unit", exact=True).press_sequentially("degC", delay=TYPING)
        page.get_by_label("Repeat it", exact=True).click()
        page.get_by_role("option", name="once, until it is over").click()
        page.get_by_text("oven temperature, in any words").wait_for()
        page.get_by_label("Name", exact=True).fill("oven")
        page.get_by_label("Send matches to").fill(hook.url)
        page.get_by_role("button", name="Save", exact=True).click()
        page.get_by_role("button", name="End oven").wait_for()
        page.get_by_role("button", name="I have kept it").click()
        path.done("an alert put together in the form and saved, with a webhook")
        shot("8-form")
        (clone / "oven.txt").write_text("{oven_temp_f: 480}\n", encoding="utf-8")
        to = f"mqtt://127.0.0.1:{port[1]}/kitchen/{{source}}"
        sending = f".venv/bin/likewise publish --address '{to}' --source oven-1 oven.txt"
        done = subprocess.run(
            sending, shell=True, cwd=clone, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(f"`{sending}` failed: {done.stderr}")
        path.done("a device of one's own connected over MQTT and published")
        said = hook.first()
        path.done(f"the alert at the webhook: {said['cause']}, {said['event']['source']}")
        page.get_by_role("tab", name="Live").click()
        page.locator(".lw-rows").first.locator(".lw-row").filter(has_text="oven").first.click()
        page.locator("svg.lw-map").wait_for()
        path.done("the alert explained")
        shot("9-alert")
        browser.close()
    hook.close()


def _open(page: Any, address: str) -> None:
    """Open the address as soon as it answers: the dashboard starts beside the broker."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            httpx.get(address, timeout=10)
            break
        except httpx.HTTPError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
    page.goto(address)


def _camera(page: Any, shots: Path | None) -> Callable[[str], None]:
    """Pictures of each stage, in light and dark, wide and narrow; their time counts as the newcomer's."""

    def shot(name: str) -> None:
        if shots is None:
            return
        for mode in ("light", "dark"):
            page.emulate_media(color_scheme=mode)
            for width, height in ((1280, 800), (390, 844)):
                page.set_viewport_size({"width": width, "height": height})
                page.wait_for_timeout(300)
                page.screenshot(path=shots / f"{name}-{mode}-{width}.png")
        page.emulate_media(color_scheme="light")
        page.set_viewport_size({"width": 1280, "height": 800})

    return shot


def main() -> None:
    """Go the path and print the table of its stages."""
    asking = argparse.ArgumentParser(description="A newcomer's path, timed.")
    asking.add_argument("--source", default=str(ROOT), help="the repository to clone (this one)")
    asking.add_argument("--shots", type=Path, help="a folder for pictures of each stage; slower")
    asking.add_argument("--kernels", type=Path, help="a wheel that `make kernels` built; without it they are compiled")
    asked = asking.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # not ignored, as in a background job
    if CHROMIUM is None:
        sys.exit("there is no chromium; apt-get install chromium, or name it in LIKEWISE_CHROMIUM")
    if asked.shots is not None:
        asked.shots = asked.shots.resolve()
        asked.shots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="newcomer-") as folder:
        stages = walk(Path(folder), asked.shots, asked.source, asked.kernels)
    print("\n| stage | seconds since the start | of it |\n|---|---|---|")
    before = 0.0
    for name, at in stages:
        print(f"| {name.partition(':')[0]} | {at:.1f} | {at - before:.1f} |")
        before = at


if __name__ == "__main__":
    main()
