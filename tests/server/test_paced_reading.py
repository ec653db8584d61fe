"""Turns for what comes in one read: in order, whole, paused as the protocol says, and nobody waits for all of it."""

from __future__ import annotations

import asyncio
import random
import socket
from time import perf_counter
from typing import cast

import pytest

from likewise.server.mqtt.codec import Connect, encode
from likewise.server.paced_reading import LARGE_READ, MOST_BYTES, TURN_SECONDS, PacedConnection, ReadingTurns
from tests.server.mqtt.broker.conftest import PATIENCE, devices


class Line(asyncio.Transport):
    """A transport that notes whether it is read."""

    def __init__(self) -> None:
        super().__init__()
        self.reading = True
        self.closing = False
        self.abort = self.set_write_buffer_limits = self.write = self.writelines = lambda *_: None  # type: ignore[assignment,method-assign]
        self.get_write_buffer_size = lambda: 0  # type: ignore[method-assign]

    def close(self) -> None:
        self.closing = True

    def is_closing(self) -> bool:
        return self.closing

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True


class Receiver(asyncio.Protocol):
    """Notes what came; each part may take longer than a turn, and pause reading."""

    def __init__(self, *, slow: bool = False, pauses: random.Random | None = None) -> None:
        self.received = b""
        self.parts = 0
        self._slow, self._pauses = slow, pauses

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self.received += data
        self.parts += 1
        until = perf_counter() + (2 * TURN_SECONDS if self._slow else 0)
        while perf_counter() < until:
            pass
        if self._pauses is not None and self._pauses.random() < 0.3:
            self.transport.pause_reading()
            asyncio.get_running_loop().call_soon(self.transport.resume_reading)


def begin(receiver: asyncio.Protocol, turns: ReadingTurns) -> tuple[PacedConnection, Line]:
    paced, line = PacedConnection(lambda: receiver, turns), Line()
    paced.connection_made(line)
    return paced, line


@pytest.mark.parametrize("seed", range(10))
def test_everything_comes_once_and_in_order(seed: int) -> None:
    """However it is cut, and whenever the protocol pauses."""
    chance = random.Random(seed)
    sent = b""

    async def run() -> None:
        nonlocal sent
        for _ in range(30):
            while not line.reading:
                await asyncio.sleep(0)
            data = chance.randbytes(chance.choice((1, 100, MOST_BYTES, MOST_BYTES + 1, LARGE_READ)))
            sent += data
            paced.data_received(data)
            if chance.random() < 0.5:
                await asyncio.sleep(0)
        while len(receiver.received) < len(sent) or not line.reading:
            await asyncio.sleep(0)

    receiver = Receiver(pauses=chance if seed % 2 else None)
    paced, line = begin(receiver, ReadingTurns())
    asyncio.run(asyncio.wait_for(run(), PATIENCE))
    assert receiver.received == sent


def test_what_takes_long_waits_for_its_turn() -> None:
    """A short read of another is dealt with at once, and nothing more is read meanwhile; later it is read on."""

    async def run() -> None:
        turns = ReadingTurns()
        busy, quick = Receiver(slow=True), Receiver()
        (crowded, line), (other, _) = begin(busy, turns), begin(quick, turns)
        crowded.data_received(bytes(50 * MOST_BYTES))
        assert busy.parts == 1
        assert not line.reading
        other.data_received(b"ping")
        assert quick.received == b"ping"
        await asyncio.sleep(0)
        assert busy.parts < 10
        while not line.reading:
            await asyncio.sleep(0)
        assert len(busy.received) == 50 * MOST_BYTES

    asyncio.run(asyncio.wait_for(run(), PATIENCE))


def test_nothing_is_dealt_with_while_a_protocol_pauses_or_after_its_end() -> None:
    """Requests that come before an answer stay where they are; of a connection that is closed nothing is read."""

    async def run() -> None:
        receiver = Receiver(slow=True)
        paced, line = begin(receiver, ReadingTurns())
        paced.data_received(bytes(10 * MOST_BYTES))
        paced.pause_reading()
        for _ in range(20):
            await asyncio.sleep(0)
        assert receiver.parts == 1
        paced.resume_reading()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert receiver.parts > 1
        line.close()
        before = receiver.parts
        for _ in range(20):
            await asyncio.sleep(0)
        assert receiver.parts <= before + 1

    asyncio.run(asyncio.wait_for(run(), PATIENCE))


def test_many_packets_in_one_read_are_all_answered() -> None:
    """Twenty thousand pings over MQTT, while somebody else publishes."""
    with devices() as home, socket.create_connection(("127.0.0.1", home.port), timeout=PATIENCE) as line:
        line.sendall(encode(Connect("pinging")) + b"\xc0\0" * 20_000)
        answers = b""
        while answers.count(b"\xd0\0") < 20_000:
            part = line.recv(65_536)
            assert part
            answers += part
        assert home.client("other").publish("a/b") is not None
