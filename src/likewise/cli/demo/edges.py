"""`likewise demo --edge`: the city with three brokers at its edge, one of which loses its line for a while.

Hub and edges are processes of their own, on folders that go with the demo. The city's devices publish to the edge of
their district. `FlakyProxy` is the connection that can be lost: an edge behind it waits until it is back.
"""

from __future__ import annotations

import socket
import tempfile
import threading
import time
import zlib
from contextlib import ExitStack, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from likewise import defaults
from likewise.cli.demo.city import REQUEST_TIMEOUT_S, VALID, free_port, interrupted_by_termination
from likewise.cli.demo.processes import DemoProcess, wait_until_ready
from likewise.cli.terminal import output
from likewise.defaults import HOST

if TYPE_CHECKING:
    import httpx
    from rich.console import Console


PART = 65_536  # bytes passed on at once


class FlakyProxy:
    """Passes connections on to a port of this machine; `cut` cuts them and takes none until `restore`."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._lost = False
        self._open: set[socket.socket] = set()
        self._listening = socket.create_server((HOST, 0))
        self.address = f"http://{HOST}:{self._listening.getsockname()[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()
        self._listening.close()

    def cut(self) -> None:
        """Cut what is connected, and take nothing."""
        self._lost = True
        for each in list(self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def restore(self) -> None:
        """Take connections again."""
        self._lost = False

    def _accept(self) -> None:
        while True:
            try:
                accepted, _ = self._listening.accept()
            except OSError:
                return  # the demo ends
            if self._lost:
                accepted.close()
                continue
            try:
                above = socket.create_connection((HOST, self._to), timeout=5)
            except OSError:
                accepted.close()
                continue
            above.settimeout(None)
            self._open |= {accepted, above}
            for one, other in ((accepted, above), (above, accepted)):
                threading.Thread(target=self._forward, args=(one, other), daemon=True).start()

    def _forward(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while part := one.recv(PART):
                other.sendall(part)
        for each in (one, other):
            self._open.discard(each)
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


DISTRICTS: Final = ("harbour", "centre", "hills")
LOSES: Final = "harbour"  # the edge whose line is lost for a while
LOST_AFTER, LOST_FOR = 12.0, 15.0  # seconds


def show_edges(*, seconds: float | None, devices: int, seed: int, port: int | None, dashboard: bool) -> None:
    """Run hub, edges and city until Ctrl-C, or for some seconds."""
    import httpx

    screen = output.console()
    with ExitStack() as stack, interrupted_by_termination():
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="likewise-demo-")))
        hub_port = port or free_port(defaults.PORT)
        address = f"http://{defaults.HOST}:{hub_port}"
        screen.print("Starting the hub and three edges ...", style="dim")
        hub = stack.enter_context(DemoProcess(["serve", "--data", str(folder / "hub"), "--port", str(hub_port)]))
        if dashboard and find_spec("nicegui") is not None:
            view = f"http://{defaults.HOST}:{free_port(defaults.DASHBOARD_PORT)}"
            stack.enter_context(DemoProcess(["dashboard", "--address", address, "--port", view.rpartition(":")[2]]))
            screen.print(f"Dashboard  {view}/edges", style="green")
        try:
            client = stack.enter_context(httpx.Client(base_url=address, timeout=REQUEST_TIMEOUT_S))
            wait_until_ready(client, hub)
            line = stack.enter_context(FlakyProxy(hub_port))
            edges = {}
            for name in DISTRICTS:
                at = free_port(0)
                upstream = line.address if name == LOSES else address
                command = [
                    "edge",
                    "--upstream",
                    upstream,
                    "--id",
                    name,
                    "--data",
                    str(folder / name),
                    "--port",
                    str(at),
                ]
                running = stack.enter_context(DemoProcess(command))
                edges[name] = stack.enter_context(httpx.Client(base_url=f"http://{defaults.HOST}:{at}", timeout=60))
                wait_until_ready(edges[name], running)
            _EdgeDemo(screen, client, edges, line).run(seconds, devices, seed)
        except KeyboardInterrupt:
            screen.print("\nStopping. Nothing of the demo stays behind.", style="dim")


def district_of(source: str) -> str:
    """Return the district whose edge a device publishes to.

    >>> district_of("city/lamp-1") in DISTRICTS
    True
    """
    return DISTRICTS[zlib.crc32(source.encode()) % len(DISTRICTS)]


class _EdgeDemo:
    """The simulated city with its edges, and their output on the terminal."""

    def __init__(self, screen: Console, hub: httpx.Client, edges: dict[str, httpx.Client], line: FlakyProxy) -> None:
        self._screen = screen
        self._hub = hub
        self._edges = edges
        self._line = line
        self._published = dict.fromkeys(edges, 0)

    def run(self, seconds: float | None, devices: int, seed: int) -> None:
        """Publish, lose a line, and say how it goes."""
        from likewise.demo import DEMO_SUBSCRIPTIONS, City, due_reports

        for subscription in DEMO_SUBSCRIPTIONS:
            self._hub.put(f"/v1/subscribers/{subscription.subscriber}").raise_for_status()
            path = f"/v1/subscribers/{subscription.subscriber}/subscriptions/{subscription.id}"
            self._hub.put(path, content=subscription.text, headers={"Content-Type": "text/plain"}).raise_for_status()
        city = City(seed=seed, devices=devices, run=f"{time.time():.0f}")
        due, began, printed_at, lost = due_reports(city, time.monotonic), time.monotonic(), 0.0, False
        while seconds is None or time.monotonic() - began < seconds:
            passed = time.monotonic() - began
            away = LOST_AFTER <= passed < LOST_AFTER + LOST_FOR
            if away != lost:
                lost = away
                (self._line.cut if lost else self._line.restore)()
                self._screen.print(f"  {LOSES} {'loses its line' if lost else 'has its line again'}", style="yellow")
            by_district: dict[str, list[dict[str, object]]] = {}
            ends = int((time.time() + VALID) * 1_000_000)
            for report in due():
                made = {**report.envelope(), "expires": ends}
                by_district.setdefault(district_of(str(made.get("source", ""))), []).append(made)
            for name, events in by_district.items():
                self._edges[name].post("/v1/events", json=events).raise_for_status()
                self._published[name] += len(events)
            if passed - printed_at >= 3.0:
                printed_at = passed
                self._print_status()
            time.sleep(0.4)

    def _print_status(self) -> None:
        shown = {each["id"]: each for each in self._hub.get("/v1/edges").raise_for_status().json()}
        parts = []
        for name, count in self._published.items():
            edge = shown.get(name, {})
            state = edge.get("state", "away")
            parts.append(f"{name}: {state}, {count} published, {edge.get('sequence', 0)} sent up")
        self._screen.print("  " + "; ".join(parts), style="dim")
