"""A relay between a bridge and its broker that reads along: which messages the bridge was given, and acknowledged.

It knows the wire format by itself (MQTT 5, sections 2.1, 3.3 and 3.4), and nothing of the code it watches.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from contextlib import suppress


class Wiretap:
    """Listens on a port of its own and passes everything on; `sent` and `acknowledged` count payloads."""

    def __init__(self, broker_port: int) -> None:
        self._broker_port = broker_port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.sent: Counter[bytes] = Counter()
        self.acknowledged: Counter[bytes] = Counter()
        self.port = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(60)

    async def _listen(self) -> int:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return int(self._server.sockets[0].getsockname()[1])

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        waiting: dict[int, bytes] = {}
        try:
            up_reader, up_writer = await asyncio.open_connection("127.0.0.1", self._broker_port)
        except OSError:
            writer.close()
            return
        ways = [
            asyncio.create_task(self._pass(up_reader, writer, waiting, downward=True)),
            asyncio.create_task(self._pass(reader, up_writer, waiting, downward=False)),
        ]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        for each in (writer, up_writer):
            each.close()
            with suppress(OSError):
                await each.wait_closed()

    async def _pass(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, waiting: dict[int, bytes], *, downward: bool
    ) -> None:
        """Pass packets on; what came down is noted before it is passed on, an acknowledgement as soon as it came."""
        with suppress(asyncio.IncompleteReadError, OSError):
            while True:
                head = await reader.readexactly(1)
                length, size = 0, b""
                while True:
                    digit = await reader.readexactly(1)
                    length |= (digit[0] & 127) << (7 * len(size))
                    size += digit
                    if digit[0] < 128:
                        break
                body = await reader.readexactly(length)
                kind = head[0] >> 4
                if downward and kind == 3 and head[0] & 0b110:
                    number, payload = _published(body)
                    waiting[number] = payload
                    self.sent[payload] += 1
                elif not downward and kind == 4:
                    number = int.from_bytes(body[:2])
                    if number in waiting:
                        self.acknowledged[waiting.pop(number)] += 1
                writer.write(head + size + body)
                await writer.drain()

    def close(self) -> None:
        """Stop listening, and let go of everything."""
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(60)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(60)
        self._loop.close()

    async def _end(self) -> None:
        self._server.close()
        serving = asyncio.all_tasks() - {asyncio.current_task()}
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
        await asyncio.sleep(0.1)  # what was closed is let go of by the loop, a moment later


def _published(body: bytes) -> tuple[int, bytes]:
    """The packet id and the payload of a PUBLISH with a packet id."""
    at = 2 + int.from_bytes(body[:2])
    number = int.from_bytes(body[at : at + 2])
    at += 2
    length = shift = 0
    while True:
        digit = body[at]
        at += 1
        length |= (digit & 127) << shift
        shift += 7
        if digit < 128:
            return number, body[at + length :]
