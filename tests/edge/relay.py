"""A relay between an edge and the broker above: it reads along, counts, and can be cut at any message."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

KIND = re.compile(rb'"type":"([a-z-]+)"')
Trigger = Callable[[str, str], bool]  # told the direction and the kind of a message; whether the line is cut there


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Relay:
    """Passes messages on to a port, whole ones; `before` and `after` are asked around each."""

    def __init__(self, port: int) -> None:
        self._to = port
        self.bytes: Counter[str] = Counter()  # by kind and direction, as "up events"
        self.messages: Counter[str] = Counter()
        self.before: Trigger = lambda direction, kind: False
        self.after: Trigger = lambda direction, kind: False
        self.open = True
        self.silent = False
        self._writers: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self.port = 0
        threading.Thread(target=self._run, daemon=True).start()
        self._ready.wait(30)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._pass, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def cut(self) -> None:
        """Cut every line; new ones are taken as long as it is open."""
        self._loop.call_soon_threadsafe(self._cut)

    def hold(self) -> None:
        """Pass nothing on any more, and leave the lines open: as a line that has fallen silent."""
        self.silent = True

    def _cut(self) -> None:
        for writer in list(self._writers):
            writer.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self.open:
            writer.transport.abort()
            return
        try:
            above_reader, above_writer = await asyncio.open_connection("127.0.0.1", self._to, limit=2**24)
        except OSError:
            writer.transport.abort()
            return
        pair = {writer, above_writer}
        self._writers |= pair
        ways = [
            asyncio.ensure_future(self._one_way("up", reader, above_writer, pair)),
            asyncio.ensure_future(self._one_way("down", above_reader, writer, pair)),
        ]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for each in pair:
            with suppress(Exception):
                each.transport.abort()
        await asyncio.gather(*ways, return_exceptions=True)
        self._writers -= pair

    async def _one_way(
        self, way: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, pair: set[asyncio.StreamWriter]
    ) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError, OSError):
            writer.write(await reader.readuntil(b"\r\n\r\n"))
            while True:
                frame, payload = await _frame(reader)
                found = KIND.search(payload[:200])
                kind = found[1].decode() if found else ""
                self.bytes[f"{way} {kind}"] += len(payload)
                self.messages[f"{way} {kind}"] += 1
                if kind and self.before(way, kind):
                    break
                while self.silent:
                    await asyncio.sleep(0.05)
                writer.write(frame)
                await writer.drain()
                if kind and self.after(way, kind):
                    await asyncio.sleep(0.01)  # it arrives
                    break
        for each in pair:
            with suppress(Exception):
                each.transport.abort()


async def _frame(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """One frame of a WebSocket as it stands, and what it says."""
    head = await reader.readexactly(2)
    size = head[1] & 127
    more = b""
    if size == 126:
        more = await reader.readexactly(2)
        size = int.from_bytes(more)
    elif size == 127:
        more = await reader.readexactly(8)
        size = int.from_bytes(more)
    mask = await reader.readexactly(4) if head[1] & 128 else b""
    body = await reader.readexactly(size)
    said = bytes(byte ^ mask[place % 4] for place, byte in enumerate(body[:200])) + body[200:] if mask else body
    return head + more + mask + body, said
