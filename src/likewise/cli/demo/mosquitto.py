"""A broker of MQTT for the demo, where this machine has Mosquitto: some of the city's devices speak to it.

The devices of the city that speak MQTT: their reports go to Mosquitto, and a bridge brings them to the broker.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from likewise.errors import LikewiseError

if TYPE_CHECKING:
    from likewise.demo import Report
    from likewise.server.mqtt.messages import MqttPublication
    from likewise.server.mqtt.publisher import MqttPublisher

STARTING: Final = 20.0  # seconds it may take to listen


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
        deadline = time.monotonic() + STARTING
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
