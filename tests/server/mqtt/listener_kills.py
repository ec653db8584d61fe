"""A broker that devices connect to, killed again and again: nothing acknowledged is lost, and QoS 2 comes exactly once.

    python -m tests.server.mqtt.listener_kills --kills 100 [--qos 1] [--seed 1] [--rounds FILE] [--json]

Publishers and subscribers keep their sessions. The broker is killed (SIGKILL) at random moments while they work, and
started again on the same port; they connect again, go on with their sessions and repeat what was not acknowledged, as
the standard says. At the end every acknowledged message stands in the log and has reached every subscriber; with QoS 2
once, with QoS 1 at least once. Kills are done in rounds of ten; with `--rounds` each is written down, and what a file
has already is not done again.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from likewise.broker.log.entries import EVENT
from likewise.broker.log.writer import Store
from likewise.server.mqtt.codec import (
    Connack,
    Connect,
    Decoder,
    FilterRequest,
    Packet,
    Properties,
    Puback,
    Pubcomp,
    Publish,
    Pubrec,
    Pubrel,
    Suback,
    Subscribe,
    encode,
)

PATIENCE = 300.0  # seconds that anything may take
ROUND = 10  # kills
WINDOW = 20  # messages of a publisher on their way
LASTING = Properties(session_expiry=100_000)


class Ended(NamedTuple):
    """How it went; `lost` are acknowledged messages that are missing in the log or at a subscriber."""

    qos: int
    seed: int
    kills: int
    acknowledged: int
    stored: int
    received: int
    lost: int
    doubled: int  # with QoS 2: stood in the log, or came, more than once
    repeated: int  # with QoS 1: the same, which is allowed
    forgotten: int  # sessions that were not there any more
    seconds: float


class Served:
    """`likewise serve` on one port, across kills."""

    def __init__(self, data: Path) -> None:
        with socket.socket() as trying:
            trying.bind(("127.0.0.1", 0))
            self.port = int(trying.getsockname()[1])
        self._command = [
            sys.executable,
            "-m",
            "likewise",
            "serve",
            "--data",
            str(data),
            "--port",
            "0",
            "--json",
            "--mqtt",
            str(self.port),
            "--keep",
            "forever",
            "--profile",
            "small",
        ]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert self._process.stdout is not None
        if not self._process.stdout.readline():
            raise RuntimeError(f"the broker did not start; it ended with {self._process.wait()}")

    def end(self, how: signal.Signals) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        self._process.send_signal(how)
        self._process.wait(120)
        self._process.stdout.close()


class Device:
    """A client that connects again and again and goes on with its session; `stop` is set when all is done."""

    def __init__(self, port: int, name: str) -> None:
        self.port, self.name = port, name
        self.stop = threading.Event()
        self.forgotten = 0
        self._known = False
        self._line: socket.socket | None = None
        self.thread = threading.Thread(target=self._run, daemon=True)

    def send(self, *packets: Packet) -> None:
        assert self._line is not None
        self._line.sendall(b"".join(encode(packet) for packet in packets))

    def _run(self) -> None:
        while not self.stop.is_set():
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=5) as self._line:
                    self._line.settimeout(0.2)
                    self.send(Connect(self.name, clean_start=False, properties=LASTING))
                    for packet in self._packets():
                        self.take(packet)
            except OSError:
                time.sleep(0.05)

    def _packets(self) -> Iterator[Packet]:
        assert self._line is not None
        decoder = Decoder(5, of_server=True)
        while not self.stop.is_set():
            self.idle()
            with suppress(TimeoutError):
                data = self._line.recv(65_536)
                if not data:
                    raise ConnectionResetError
                yield from decoder.feed(data)

    def take(self, packet: Packet) -> None:
        if isinstance(packet, Connack):
            assert packet.reason == 0, packet
            self.forgotten += self._known and not packet.session_present
            self._known = True
            self.begin(packet.session_present)

    def begin(self, present: bool) -> None:
        """It is let in."""

    def idle(self) -> None:
        """Nothing came for a moment."""


class Publisher(Device):
    """Publishes numbers; repeats what was not acknowledged under the same packet ids."""

    def __init__(self, port: int, name: str, qos: int, numbers: Iterator[int]) -> None:
        super().__init__(port, name)
        self.qos, self.numbers = qos, numbers
        self.acknowledged: set[int] = set()
        self.finishing = threading.Event()
        self.under_way: dict[int, tuple[int, bool]] = {}  # by packet id: the number, and whether it was received
        self._ready = False

    def begin(self, present: bool) -> None:
        self._ready = True
        for packet, (number, received) in self.under_way.items():
            self.send(Pubrel(packet) if received else self._message(packet, number, dup=True))

    def _message(self, packet: int, number: int, *, dup: bool = False) -> Publish:
        return Publish(f"kills/{self.name}", json.dumps({"n": number}).encode(), self.qos, dup=dup, packet_id=packet)

    def _run(self) -> None:
        try:
            super()._run()
        finally:
            self._ready = False

    def idle(self) -> None:
        if self._line is None or not self._ready or self.finishing.is_set():
            if self.finishing.is_set() and not self.under_way:
                self.stop.set()
            return
        free = (packet for packet in range(1, WINDOW + 1) if packet not in self.under_way)
        made = []
        for packet in list(free):
            number = next(self.numbers)
            self.under_way[packet] = number, False
            made.append(self._message(packet, number))
        if made:
            self.send(*made)

    def take(self, packet: Packet) -> None:
        match packet:
            case Puback() | Pubcomp():
                if packet.packet_id in self.under_way:
                    number, _ = self.under_way.pop(packet.packet_id)
                    self.acknowledged.add(number)
            case Pubrec():
                if packet.packet_id in self.under_way:
                    assert packet.reason < 0x80, packet
                    number, _ = self.under_way[packet.packet_id]
                    self.under_way[packet.packet_id] = number, True
                self.send(Pubrel(packet.packet_id))
            case Connack():
                self._ready = False
                super().take(packet)
            case _:
                pass


class Subscriber(Device):
    """Takes every number; with QoS 2 it remembers packet ids until they are released, as the standard says."""

    def __init__(self, port: int, name: str, qos: int) -> None:
        super().__init__(port, name)
        self.qos = qos
        self.got: Counter[int] = Counter()
        self.subscribed = threading.Event()
        self._held: set[int] = set()

    def begin(self, present: bool) -> None:
        if not self.subscribed.is_set():
            self.send(Subscribe(1, (FilterRequest("kills/#", self.qos),)))

    def take(self, packet: Packet) -> None:
        match packet:
            case Publish(qos=1):
                self.got[int(json.loads(packet.payload)["n"])] += 1
                self.send(Puback(packet.packet_id))
            case Publish(qos=2):
                if packet.packet_id not in self._held:
                    self._held.add(packet.packet_id)
                    self.got[int(json.loads(packet.payload)["n"])] += 1
                self.send(Pubrec(packet.packet_id))
            case Pubrel():
                self._held.discard(packet.packet_id)
                self.send(Pubcomp(packet.packet_id))
            case Suback():
                self.subscribed.set()
            case _:
                super().take(packet)


def stored_numbers(data: Path) -> Counter[int]:
    """How often each number stands in the log."""
    store = Store(data, clock=lambda: 0)
    try:
        every = store.entries(0, store.position)
        return Counter(
            int(json.loads(each.message.payload)["n"])
            for each in every
            if each.kind == EVENT and each.message is not None
        )
    finally:
        store.close()


def run(kills: int, qos: int, seed: int, folder: Path, publishers: int = 2, subscribers: int = 2) -> Ended:
    """Kill so often, and compare."""
    chance, begun = random.Random(seed), time.monotonic()
    served = Served(folder / "data")
    served.start()
    readers = [Subscriber(served.port, f"reader-{n}", qos) for n in range(subscribers)]
    writers = [Publisher(served.port, f"writer-{n}", qos, iter(range(n, 10**9, publishers))) for n in range(publishers)]
    for reader in readers:
        reader.thread.start()
    for reader in readers:
        assert reader.subscribed.wait(PATIENCE)
    for writer in writers:
        writer.thread.start()
    for number in range(kills):
        before = _acknowledged(writers)
        _until(lambda before=before: _acknowledged(writers) > before + 20)  # type: ignore[misc]
        time.sleep(chance.uniform(0, 0.3))
        served.end(signal.SIGKILL)
        served.start()
        if (number + 1) % 10 == 0:
            print(f"{number + 1} kills", file=sys.stderr, flush=True)
    for writer in writers:
        writer.finishing.set()
    for writer in writers:
        writer.thread.join(PATIENCE)
    acknowledged = {number for writer in writers for number in writer.acknowledged}
    _until(lambda: all(acknowledged <= set(reader.got) for reader in readers), patience=60, enough=True)
    for reader in readers:
        reader.stop.set()
        reader.thread.join(PATIENCE)
    served.end(signal.SIGTERM)
    found = stored_numbers(folder / "data")
    lost = len(acknowledged - set(found)) + sum(len(acknowledged - set(reader.got)) for reader in readers)
    again = sum(times > 1 for each in (found, *(reader.got for reader in readers)) for times in each.values())
    return Ended(
        qos,
        seed,
        kills,
        len(acknowledged),
        found.total(),
        sum(reader.got.total() for reader in readers),
        lost,
        again if qos == 2 else 0,
        again if qos == 1 else 0,
        sum(each.forgotten for each in (*readers, *writers)),
        round(time.monotonic() - begun, 1),
    )


def _acknowledged(writers: list[Publisher]) -> int:
    return sum(len(writer.acknowledged) for writer in writers)


def _until(holds: Callable[[], bool], patience: float = PATIENCE, *, enough: bool = False) -> None:
    deadline = time.monotonic() + patience
    while not holds():
        if time.monotonic() > deadline:
            if enough:
                return
            raise RuntimeError("nothing is acknowledged any more")
        time.sleep(0.02)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--kills", type=int, default=100)
    arguments.add_argument("--qos", type=int, default=1, choices=(1, 2))
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--rounds", type=Path, help="where rounds are written down, and found again")
    arguments.add_argument("--json", action="store_true")
    said = arguments.parse_args()
    done: list[Ended] = []
    if said.rounds is not None and said.rounds.is_file():
        every = [Ended(**json.loads(line)) for line in said.rounds.read_text(encoding="utf-8").splitlines()]
        done = [each for each in every if each.qos == said.qos]
    while (left := said.kills - sum(each.kills for each in done)) > 0:
        with tempfile.TemporaryDirectory(prefix="likewise-listener-kills-") as name:
            done.append(run(min(ROUND, left), said.qos, said.seed + len(done), Path(name)))
        if said.rounds is not None:
            with said.rounds.open("a", encoding="utf-8") as file:
                file.write(json.dumps(done[-1]._asdict()) + "\n")
    ended = {name: sum(getattr(each, name) for each in done) for name in Ended._fields if name not in ("qos", "seed")}
    if said.json:
        print(json.dumps(ended))
    else:
        for name, value in ended.items():
            print(f"{name:14} {value:>12,}")
    sys.exit(1 if ended["lost"] or ended["doubled"] or ended["forgotten"] else 0)


if __name__ == "__main__":
    main()
