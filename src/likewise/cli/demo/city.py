"""`likewise demo --city`: a broker, a simulated city that publishes to it, some subscriptions, and the dashboard.

Broker and dashboard are processes of their own, reached over HTTP as anybody would; the city lives here.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from likewise import defaults
from likewise.cli.demo.processes import STARTING, DemoProcess, wait_until_ready
from likewise.cli.terminal import output
from likewise.errors import LikewiseError, StateError, Unavailable
from likewise.extras import require

if TYPE_CHECKING:
    import httpx
    from rich.console import Console

    from likewise.demo import DemoSubscription, Report
    from likewise.server.mqtt.messages import MqttPublication
    from likewise.server.mqtt.publisher import MqttPublisher

AWAY: Final = "works-desk"  # this desk does not read what it is sent, so that one sees deliveries wait
REQUEST_TIMEOUT_S: Final = 30.0  # seconds until a broker that does not answer is looked after
VALID: Final = 600  # seconds a report of the city is valid
SUGGESTED: Final = (
    "damp: {humidity~ > 50 %}"  # four vendors say it in four ways, and one of them reports every few seconds
)


def show_city(*, seconds: float | None, devices: int, seed: int, port: int | None, dashboard: bool) -> None:
    """Run the city until Ctrl-C, or for some seconds."""
    for extra in ("match", "broker"):
        require(extra, "the city")
    screen = output.console()
    with ExitStack() as stack, interrupted_by_termination():
        address = f"http://{defaults.HOST}:{port or free_port(defaults.PORT)}"
        screen.print("Starting the broker ...", style="dim")
        mosquitto = stack.enter_context(Mosquitto())
        bridge = ["--mqtt-bridge", f"{mosquitto.url}/city/#"] if mosquitto.url else []
        devices_port = str(free_port(defaults.MQTT_PORT))
        # A webhook on this machine can be tried; nobody else reaches the demo.
        network = [
            "--allow-target",
            "127.0.0.0/8",
        ]
        listening = ["--port", address.rpartition(":")[2], "--mqtt", devices_port]
        broker = stack.enter_context(DemoProcess(["serve", "--ephemeral", *listening, *network, *bridge]))
        view = "not served (--no-dashboard)"
        if dashboard and find_spec("nicegui") is None:
            view = "not installed: pip install 'likewise[dashboard]'"
        elif dashboard:
            view = f"http://{defaults.HOST}:{free_port(defaults.DASHBOARD_PORT)}"
            stack.enter_context(DemoProcess(["dashboard", "--address", address, "--port", view.rpartition(":")[2]]))
        try:
            import httpx

            client = stack.enter_context(httpx.Client(base_url=address, timeout=REQUEST_TIMEOUT_S))
            wait_until_ready(client, broker)
            line = stack.enter_context(MqttDevices(mosquitto))
            _CityDemo(screen, client, broker, address, view, line, devices_port).run(seconds, devices, seed)
        except KeyboardInterrupt:
            screen.print("\nStopping. Nothing of the demo stays behind.", style="dim")


def mosquitto_command(port: str) -> str:
    """Return the command with which Mosquitto's own client subscribes here by meaning.

    >>> mosquitto_command("1883")
    "mosquitto_sub -V 5 -p 1883 -t '$likewise/damp' -D subscribe user-property q '{humidity~ > 50 %}'"
    """
    name, _, text = SUGGESTED.partition(": ")
    return f"mosquitto_sub -V 5 -p {port} -t '$likewise/{name}' -D subscribe user-property q '{text}'"


class _CityDemo:
    """The broker, the simulated city, and their output on the terminal."""

    def __init__(
        self,
        screen: Console,
        client: httpx.Client,
        broker: DemoProcess,
        address: str,
        view: str,
        line: MqttDevices,
        devices_port: str,
    ) -> None:
        self._screen = screen
        self._client = client
        self._broker = broker
        self._address = address
        self._view = view
        self._line = line
        self._devices_port = devices_port
        self._position = self._sequence = 0
        self._events: dict[int, dict[str, str]] = {}

    def run(self, seconds: float | None, devices: int, seed: int) -> None:
        """Subscribe, say where to look, then publish and show what comes of it; go on when the broker was away."""
        import httpx

        from likewise.demo import City, due_reports

        self._subscribe()
        city = City(seed=seed, devices=devices, run=f"{time.time():.0f}")
        self._introduce(len(city.devices), len({device.dialect.vendor for device in city.devices}))
        due = due_reports(city, time.monotonic)
        began = time.monotonic()
        while seconds is None or time.monotonic() - began < seconds:
            try:
                if reports := due():
                    self._publish(reports)
                self._show_matches()
            except (httpx.TransportError, Unavailable) as error:
                self._await_broker(error)
            time.sleep(0.4)

    def _await_broker(self, error: Exception) -> None:
        """Wait until the broker answers, or start it again if it has ended; then subscribe again."""
        import httpx

        from likewise.client.endpoint import plain_reason

        self._screen.print(f"The broker does not answer ({plain_reason(error)}); waiting for it.", style="yellow")
        while True:
            if self._broker.ended is not None:
                notice = f"It was stopped (exit code {self._broker.ended}); starting it again. It begins empty."
                self._screen.print(notice, style="yellow")
                self._broker.start()
                self._position = self._sequence = 0
                self._events.clear()
                wait_until_ready(self._client, self._broker)
                break
            try:
                if self._client.get("/readyz").is_success:
                    break
            except httpx.TransportError:
                pass  # not yet
            time.sleep(0.3)
        self._subscribe()
        self._screen.print("The broker is back.", style="yellow")

    def _subscribe(self) -> None:
        from likewise.demo import DEMO_SUBSCRIPTIONS
        from likewise.language import parse

        for subscriber in sorted({each.subscriber for each in DEMO_SUBSCRIPTIONS}):
            self._send("PUT", f"/v1/subscribers/{subscriber}")
        rankings = [each for each in DEMO_SUBSCRIPTIONS if parse(each.text).top is not None]
        for subscription in DEMO_SUBSCRIPTIONS:
            if subscription not in rankings:
                self._put(subscription)
        # A broker that still compiles the kernels of rankings answers when it has: the city does not wait for that.
        threading.Thread(target=self._put_rankings, args=(rankings,), name="likewise-rankings", daemon=True).start()

    def _put(self, subscription: DemoSubscription) -> None:
        path = f"/v1/subscribers/{subscription.subscriber}/subscriptions/{subscription.id}"
        headers = {"Content-Type": "text/plain"}
        self._send("PUT", path, content=subscription.text, headers=headers, timeout=STARTING)

    def _put_rankings(self, rankings: Sequence[DemoSubscription]) -> None:
        import httpx

        with suppress(httpx.TransportError, LikewiseError):  # the broker was stopped: all are put again then
            for subscription in rankings:
                self._put(subscription)

    def _send(self, method: str, path: str, **options: object) -> httpx.Response:
        response = self._client.request(method, path, **options)  # type: ignore[arg-type]
        if response.status_code in (429, 503):
            raise Unavailable("it is stopping, or has too much to do")
        if response.is_error:
            raise StateError(f"the broker refused {method} {path}: {response.text[:300]}")
        return response

    def _introduce(self, devices: int, vendors: int) -> None:
        from rich.panel import Panel
        from rich.table import Table
        from rich.text import Text

        from likewise.demo import DEMO_SUBSCRIPTIONS

        subscriptions = Table.grid(padding=(0, 2, 0, 0))
        for subscription in DEMO_SUBSCRIPTIONS:
            subscriptions.add_row(Text(subscription.id, "bold cyan"), Text(subscription.text, "cyan"))
        where = Text.assemble(
            "Dashboard  ",
            (self._view, "bold green"),
            f"\nBroker     {self._address}  (its interface: /docs)\n"
            f"MQTT       {self._line.description}\n\n"
            "Ask for something of your own in the dashboard, or in another terminal, in this folder:\n",
            (f"  {command_name()} subscribe '{SUGGESTED}'{self._other_address()}", "bold"),
            "\n\nBelow: what devices report, and ✓ what it matches. Ctrl-C ends everything.",
        )
        title = f"A city of {devices} devices by {vendors} vendors"
        self._screen.print(Panel(where, title=title, border_style="green"))
        hint = Text.assemble(
            "Any program that speaks MQTT 5 may ask, too: ", (mosquitto_command(self._devices_port), "bold")
        )
        self._screen.print(hint, soft_wrap=True)  # one line, so that it can be copied
        self._screen.print(subscriptions)
        self._screen.print()

    def _other_address(self) -> str:
        """Return the option that reaches this broker; nothing if it has the default address."""
        usual = f"http://{defaults.HOST}:{defaults.PORT}"
        return "" if self._address == usual else f" --address {self._address}"

    def _publish(self, reports: Sequence[Report]) -> None:
        from rich.text import Text

        from likewise.model import event
        from likewise.model.rendering import event_text

        ends = int((time.time() + VALID) * 1_000_000)
        rest = self._line.publish(reports, VALID)
        if self._line.broken:
            self._screen.print(f"  {self._line.broken}; these devices use HTTP from now on.", style="yellow")
        if rest:
            self._send("POST", "/v1/events", json=[{**report.envelope(), "expires": ends} for report in rest])
        for report in reports:
            text = f"{report.device.id}  {event_text(event(report.payload))}"
            self._screen.print(Text(f"  {text}", "dim"), no_wrap=True, overflow="ellipsis")

    def _show_matches(self) -> None:
        from rich.text import Text

        from likewise.cli.terminal.rendering import explanation_line, score_style
        from likewise.formats.json.results import explanation_from_json
        from likewise.model.rendering import number

        query = {"position": self._position, "sequence": self._sequence, "limit": 1000}
        activity = self._send("GET", "/v1/activity", params=query).json()
        self._position, self._sequence = activity["position"], activity["sequence"]
        events = self._events
        events.update((each["position"], each["event"]) for each in activity["events"])
        for match in activity["matches"]:
            event = events.get(match["position"])
            if event is None or match["cause"] == "initial":
                continue
            for matched in match["met"]:
                body = {"event_id": event["id"], "source": event["source"], "subscriber": matched["subscriber"]}
                answer = self._client.post("/v1/explain", json={**body, "subscription": matched["subscription"]})
                reason = explanation_line(explanation_from_json(answer.content)) if answer.is_success else ""
                line = Text.assemble(
                    ("✓ ", "bold green"),
                    (matched["subscription"].ljust(10), "bold cyan"),
                    (f" {number(matched['score']).ljust(5)} ", score_style(matched["score"])),
                    (f"{event['source'].removeprefix('city/')}  ", "bold"),
                    reason,
                )
                self._screen.print(line, no_wrap=True, overflow="ellipsis")
        while len(events) > 2000:
            del events[next(iter(events))]
        self._acknowledge()

    def _acknowledge(self) -> None:
        """Acknowledge the deliveries of every desk but one."""
        from likewise.demo import DEMO_SUBSCRIPTIONS

        if self._sequence:
            for desk in sorted({subscription.subscriber for subscription in DEMO_SUBSCRIPTIONS} - {AWAY}):
                self._send("POST", f"/v1/subscribers/{desk}/acknowledgements", json={"sequence": self._sequence})


def command_name() -> str:
    """Return how `likewise` is called from this folder: by its name if that finds it, else by its path."""
    on_path = shutil.which("likewise")
    here = Path(sys.executable).with_name("likewise")
    if on_path is not None and Path(on_path).resolve() == here.resolve():
        return "likewise"
    if not here.exists():
        return "likewise" if on_path is not None else f"{sys.executable} -m likewise"
    return os.path.relpath(here) if here.is_relative_to(Path.cwd()) else str(here)


def free_port(preferred: int) -> int:
    """Return the preferred port if it is free, else another."""
    for port in (preferred, 0):
        with socket.socket() as trying:
            trying.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                trying.bind((defaults.HOST, port))
            except OSError:
                continue
            return int(trying.getsockname()[1])
    raise Unavailable("no port is free on this machine")


@contextmanager
def interrupted_by_termination() -> Iterator[None]:
    """End the demo at SIGTERM as at Ctrl-C."""
    before: Callable[..., object] | int | None = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


LISTENING: Final = 20.0  # seconds Mosquitto may take to listen


class MosquittoProgram(NamedTuple):
    """The path of Mosquitto, and of its libraries if it was only unpacked."""

    path: str
    libraries: str = ""


def find_program() -> MosquittoProgram | None:
    """Find Mosquitto: the one of `LIKEWISE_MOSQUITTO`, the system's, or one unpacked beside this Python."""
    named = os.environ.get("LIKEWISE_MOSQUITTO") or shutil.which("mosquitto")
    named = named or shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin:/opt/homebrew/sbin")
    if named:
        return MosquittoProgram(named)
    unpacked = Path(sys.prefix) / "mosquitto"
    libraries = [str(path) for path in (*unpacked.glob("usr/lib/*-linux-*"), *unpacked.glob("lib/*-linux-*"))]
    program = unpacked / "usr" / "sbin" / "mosquitto"
    return MosquittoProgram(str(program), ":".join(libraries)) if program.exists() else None


class Mosquitto:
    """Mosquitto on a port of its own, for this machine alone; it keeps nothing.

    `absent` says why there is none, and then `url` is ''.
    """

    def __init__(self) -> None:
        self.url = self.absent = ""
        self._program = find_program()
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        if self._program is None:
            self.absent = "no Mosquitto on this machine; with one, some devices would speak MQTT"

    @property
    def pid(self) -> int:
        """Its process id; 0 if it does not run."""
        return self._process.pid if self._process is not None else 0

    def __enter__(self) -> Self:
        if not self.absent:
            self._start()
        return self

    def _start(self) -> None:
        assert self._program is not None
        with socket.socket() as trying:
            trying.bind(("127.0.0.1", 0))
            port = int(trying.getsockname()[1])
        self._folder = tempfile.TemporaryDirectory(prefix="likewise-demo-")
        config = Path(self._folder.name) / "mosquitto.conf"
        config.write_text(
            f"listener {port} 127.0.0.1\nallow_anonymous true\npersistence false\nlog_dest none\n", encoding="utf-8"
        )
        environment = dict(os.environ)
        if self._program.libraries:
            environment["LD_LIBRARY_PATH"] = self._program.libraries
        try:
            self._process = subprocess.Popen(
                [self._program.path, "-c", str(config)],
                env=environment,
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            self.absent = f"Mosquitto cannot be started: {error}"
            return
        deadline = time.monotonic() + LISTENING
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
            except OSError:
                time.sleep(0.05)
            else:
                self.url = f"mqtt://127.0.0.1:{port}"
                return
        self.absent = "Mosquitto did not start"
        self._stop()

    def _stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    def __exit__(self, *_: object) -> None:
        self._stop()
        if self._folder is not None:
            self._folder.cleanup()


VENDORS: Final = frozenset(("Wastely", "Velodock", "Portico", "Railboard", "Pumpwright", "Kilowise"))


class MqttDevices:
    """A connection to Mosquitto, or none: then every device uses HTTP. `broken` says once that it was lost."""

    def __init__(self, mosquitto: Mosquitto) -> None:
        self.broken = ""
        self._mosquitto = mosquitto
        self._publisher: MqttPublisher | None = None
        self._open = ExitStack()

    @property
    def description(self) -> str:
        """The address that devices publish to, or why there is none."""
        if self._publisher is None:
            return self._mosquitto.absent or self.broken
        return f"{self._mosquitto.url}/city/#  (six vendors' devices speak it; the broker has a bridge there)"

    def publish(self, reports: Sequence[Report], seconds: int) -> list[Report]:
        """Publish what comes from devices that speak MQTT, valid for some seconds; the others are returned."""
        self.broken = ""
        by_mqtt = [each for each in reports if each.device.dialect.vendor in VENDORS]
        if self._publisher is None or not by_mqtt:
            return list(reports)
        try:
            self._publisher.publish(report_message(each, seconds) for each in by_mqtt)
        except LikewiseError as error:
            self._open.close()
            self._publisher = None
            self.broken = f"Mosquitto is gone ({error})"
            return list(reports)
        return [each for each in reports if each.device.dialect.vendor not in VENDORS]

    def __enter__(self) -> Self:
        if self._mosquitto.url:
            from likewise.server.mqtt.publisher import MqttPublisher

            self._publisher = self._open.enter_context(MqttPublisher(self._mosquitto.url))
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()


def report_message(report: Report, seconds: int) -> MqttPublication:
    """Return a report as its device sends it: the vendor's payload to the device's topic, with the id beside it.

    >>> from likewise.demo import City
    >>> made = report_message(City(seed=3).between(0, 1)[0], 600)
    >>> made.topic.startswith("city/"), made.payload[:1], made.qos, made.expiry
    (True, b'{', 1, 600)
    """
    import msgspec

    from likewise.server.mqtt.messages import MqttPublication

    body = msgspec.json.encode(report.payload)
    return MqttPublication(report.source, body, "application/json", (("id", report.id),), seconds, qos=1)
