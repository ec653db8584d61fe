"""A broker that devices connect to, in a thread of the test; and a client that says exactly what it is told to."""

from __future__ import annotations

import asyncio
import queue
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TypeVar

import httpx
import msgspec
import pytest

from likewise.broker.broker import Broker
from likewise.broker.config import Config, MqttSettings, ServerSettings, TenantLimits
from likewise.server.http.server import HttpServer
from likewise.server.mqtt.broker.listener import listener_connectors, open_sockets
from likewise.server.mqtt.codec import (
    MQTT_5,
    Connack,
    Connect,
    Decoder,
    Disconnect,
    FilterRequest,
    Packet,
    Pingreq,
    Pingresp,
    Properties,
    Puback,
    Pubcomp,
    Publish,
    Pubrec,
    Pubrel,
    Suback,
    Subscribe,
    Unsuback,
    Unsubscribe,
    Will,
    encode,
)

PATIENCE = 150.0  # seconds that anything may take on a slow machine
P = TypeVar("P", bound=Packet)


class Client:
    """Speaks packets over a socket. What comes is kept in order until it is asked for."""

    def __init__(self, port: int, client_id: str = "", version: int = MQTT_5, window: int | None = None) -> None:
        self.client_id = client_id
        self._window = window  # bytes that the kernel takes for it; with a few, not reading is felt at once
        self.version = version
        self.port = port
        self._packet = 0
        self._open()

    def _open(self) -> None:
        self._socket = socket.socket()
        if self._window is not None:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self._window)
        self._socket.settimeout(PATIENCE)
        self._socket.connect(("127.0.0.1", self.port))
        self._decoder = Decoder(self.version, of_server=True)
        self.came: list[Packet] = []
        self.over = False

    def __del__(self) -> None:
        self.cut()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.cut()

    def cut(self) -> None:
        """End the line without a word."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def raw(self, data: bytes) -> None:
        self._socket.sendall(data)

    def send(self, *packets: Packet) -> None:
        self.raw(b"".join(encode(packet, self.version) for packet in packets))

    def connect(
        self,
        *,
        clean: bool = True,
        will: Will | None = None,
        user: str | None = None,
        token: str | None = None,
        keep_alive: int = 0,
        **properties: object,
    ) -> Connack:
        said = Properties(**properties) if properties else Properties()  # type: ignore[arg-type]
        password = None if token is None else token.encode()
        if token is not None and user is None and self.version != MQTT_5:
            user = ""
        self.send(Connect(self.client_id, self.version, clean, keep_alive, user, password, will, said))
        return self.next(Connack)

    def again(self, **said: object) -> Connack:
        """Connect anew, going on with the session."""
        self.cut()
        self._open()
        return self.connect(clean=False, **said)  # type: ignore[arg-type]

    def more(self, patience: float = PATIENCE) -> bool:
        """Wait for something to come; whether anything did."""
        if self.over:
            return False
        self._socket.settimeout(patience)
        try:
            data = self._socket.recv(65_536)
        except (TimeoutError, ConnectionResetError) as error:
            self.over = isinstance(error, ConnectionResetError)
            return False
        self.over = not data
        self.came += self._decoder.feed(data)
        return bool(data)

    def next(self, kind: type[P]) -> P:
        """The next packet of a kind; others that come meanwhile are kept."""
        while True:
            for place, packet in enumerate(self.came):
                if isinstance(packet, kind):
                    del self.came[place]
                    return packet
            assert self.more(), f"no {kind.__name__} came; there is {self.came}"

    def messages(self, count: int, *, acknowledge: bool = True) -> list[Publish]:
        """The next messages, acknowledged as they want to be."""
        found = []
        for _ in range(count):
            packet = self.next(Publish)
            if acknowledge and packet.qos == 1:
                self.send(Puback(packet.packet_id))
            elif acknowledge and packet.qos == 2:
                self.send(Pubrec(packet.packet_id))
                assert self.next(Pubrel).packet_id == packet.packet_id
                self.send(Pubcomp(packet.packet_id))
            found.append(packet)
        return found

    def settled(self) -> list[Publish]:
        """What came so far: everything sent before an answer to a ping is here when the answer is."""
        self.send(Pingreq())
        self.next(Pingresp)
        found = [packet for packet in self.came if isinstance(packet, Publish)]
        self.came = [packet for packet in self.came if not isinstance(packet, Publish)]
        return found

    def packet_id(self) -> int:
        self._packet += 1
        return self._packet

    def subscribe(
        self,
        *wishes: FilterRequest | str,
        qos: int = 0,
        user: tuple[tuple[str, str], ...] = (),
        identifiers: tuple[int, ...] = (),
    ) -> Suback:
        made = tuple(FilterRequest(wish, qos) if isinstance(wish, str) else wish for wish in wishes)
        said = Properties(user=user, subscription_identifiers=identifiers)
        self.send(Subscribe(self.packet_id(), made, said))
        return self.next(Suback)

    def unsubscribe(self, *filters: str) -> Unsuback:
        self.send(Unsubscribe(self.packet_id(), filters))
        return self.next(Unsuback)

    def publish(
        self, topic: str, payload: bytes | str = b"1", qos: int = 1, *, retain: bool = False, **properties: object
    ) -> Puback | Pubrec | None:
        """Publish, and wait for all that acknowledges it."""
        body = payload if isinstance(payload, bytes) else payload.encode()
        packet = self.packet_id() if qos else 0
        said = Properties(**properties) if properties else Properties()  # type: ignore[arg-type]
        self.send(Publish(topic, body, qos, retain, False, packet, said))
        if qos == 0:
            self.send(Pingreq())
            self.next(Pingresp)
            return None
        if qos == 1:
            return self.next(Puback)
        answer = self.next(Pubrec)
        if answer.reason < 0x80:
            self.send(Pubrel(packet))
            assert self.next(Pubcomp).packet_id == packet
        return answer

    def ended(self) -> Disconnect | None:
        """Wait until the other side ends it; what it said."""
        while self.more():
            pass
        assert self.over
        return next((packet for packet in self.came if isinstance(packet, Disconnect)), None)


class Devices:
    """A broker that is served, and those who connect to it."""

    def __init__(self, broker: Broker, url: str, port: int, tls_port: int) -> None:
        self.broker = broker
        self.url = url
        self.port = port
        self.tls_port = tls_port
        self.tenant = broker.tenant("default")

    def client(
        self, client_id: str = "", version: int = MQTT_5, *, window: int | None = None, **said: object
    ) -> Client:
        """A client that is connected."""
        made = Client(self.port, client_id, version, window)
        assert made.connect(**said).reason == 0  # type: ignore[arg-type]
        return made

    def metric(self, name: str) -> float:
        """The sum of a figure over all tenants."""
        lines = httpx.get(f"{self.url}/metrics", timeout=PATIENCE).text.splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith((f"{name} ", f"{name}{{")))

    def until(self, holds: Callable[[], object]) -> None:
        """Wait until something holds."""
        deadline = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < deadline
            time.sleep(0.01)


@contextmanager
def devices(
    data: Path | None = None,
    *,
    mqtt: MqttSettings | None = None,
    server: ServerSettings | None = None,
    limits: TenantLimits | None = None,
    broker: Broker | None = None,
) -> Iterator[Devices]:
    """Serve devices."""
    mqtt = mqtt or MqttSettings()
    server = server or ServerSettings(port=0)
    tls = 0 if server.tls_certificate else None
    config = Config(
        server=server, mqtt=msgspec.structs.replace(mqtt, port=0, tls_port=tls), limits=limits or TenantLimits()
    )
    made = broker or Broker(data, config)
    sockets = open_sockets(config)
    ports: queue.Queue[int] = queue.Queue()
    served = HttpServer(made, on_ready=ports.put, connectors=listener_connectors(sockets))
    thread = threading.Thread(target=lambda: asyncio.run(served.run()), daemon=True)
    thread.start()
    try:
        found = [each.socket.getsockname()[1] for each in sockets]
        yield Devices(made, f"http://127.0.0.1:{ports.get(timeout=PATIENCE)}", found[0], found[-1])
    finally:
        served.stop()
        thread.join(timeout=PATIENCE)
        made.close()


@pytest.fixture(scope="module")
def home() -> Iterator[Devices]:
    """A broker that the tests of a module share, each with topics of its own."""
    with devices() as found:
        yield found


__all__ = ["Client", "Devices", "devices"]
