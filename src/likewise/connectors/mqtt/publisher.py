"""Messages to a broker of MQTT, each acknowledged by it: for `likewise publish --address mqtt://...` and the demo."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future
from typing import Any, Final, Self

from likewise.broker.config import Bridge
from likewise.connectors.mqtt.addresses import address_of, parted, shown
from likewise.connectors.mqtt.client import Address
from likewise.connectors.mqtt.messages import Message
from likewise.errors import InputError, Unavailable
from likewise.extras import require
from likewise.formats.json.events import event_to_json
from likewise.model import Event
from likewise.model.time import SECOND

IN_FLIGHT: Final = 100  # messages sent before an acknowledgement is waited for
PATIENCE: Final = 30.0  # seconds an acknowledgement may take
_FAILED: Final = 0x80  # reason codes from here on say that a message was not taken

logging.getLogger("gmqtt").addHandler(logging.NullHandler())  # what it would print is said by the errors here


def event_message(event: Event, topic: str, now: int) -> Message:
    """An event as a message: our envelope. `{source}` in the topic is the event's source.

    >>> from likewise.model import event
    >>> made = event_message(event({"no2": 45}, id="e1", source="roof"), "city/{source}", now=0)
    >>> made.topic, made.payload, made.properties
    ('city/roof', b'{"v":1,"tuples":[{"attribute":"no2","value":45}],"id":"e1","source":"roof"}', (('id', 'e1'),))
    """
    if "{source}" in topic:
        if not event.source:
            raise InputError("the topic names {source}, and the event has none; give one with --source")
        topic = topic.replace("{source}", event.source)
    if not topic or any(sign in topic for sign in "+#{}\0"):
        raise InputError(f"{topic[:80]!r} is no topic to publish to: name one without + and #, like home/attic")
    expiry = None if event.expires is None else max(1, (event.expires - now) // SECOND)
    named = (("id", event.id),) if event.id else ()
    return Message(topic, event_to_json(event), "application/json", named, expiry, qos=1)


class MqttPublisher:
    """A connection of its own thread that publishes with QoS 1. It is made once; a lost one is an error.

    `publish` returns when the broker has acknowledged every message.
    """

    def __init__(self, url: str, *, password: str | None = None, ca: str | None = None, client_id: str = "") -> None:
        require("mqtt", "publishing to a broker of MQTT")
        self.topic = parted(url).topic
        self._shown = shown(url)
        self._address = address_of(Bridge(url, password=password, tls_authority=ca))
        self._client_id = client_id
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="likewise-mqtt", daemon=True)
        self._line: _Line | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self._line = self._wait(_connected(self._address, self._client_id, self._shown))
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._line is not None:
            self._wait(self._line.close())
        self._end()

    def publish(self, messages: Iterable[Message]) -> None:
        """Publish messages in their order; an error says how many of them were acknowledged."""
        assert self._line is not None, "use it as a context manager"
        self._wait(self._line.publish(list(messages)))

    def _wait(self, doing: Any) -> Any:
        future: Future[Any] = asyncio.run_coroutine_threadsafe(doing, self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    def _end(self) -> None:
        self._wait(_end_tasks())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class _Line:
    """One connection of gmqtt, with what waits for an acknowledgement."""

    def __init__(self, shown: str, client_id: str) -> None:
        import gmqtt
        from gmqtt.storage import PersistentStorage

        line = self

        class Noting(PersistentStorage):  # type: ignore[misc]
            """Tells the packet id of what was sent; gmqtt says it nowhere else."""

            def push_message(self, mid: int, package: bytes) -> None:
                line.sent = mid
                super().push_message(mid, package)

        self.sent = 0  # the packet id of what was sent last
        self.shown = shown
        self.lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting: dict[int, asyncio.Future[int]] = {}
        self.client = gmqtt.Client(client_id or None, clean_session=True, persistent_storage=Noting())
        self.client.set_config({"reconnect_delay": 0, "reconnect_retries": 0})
        self.client.on_disconnect = self._on_disconnect
        handler = self.client._package_handler
        known = handler._handle_puback_packet

        def acknowledged(command: int, packet: bytes) -> None:
            known(command, packet)
            if (told := self.waiting.pop(int.from_bytes(packet[:2]), None)) is not None and not told.done():
                told.set_result(packet[2] if len(packet) > 2 else 0)

        handler._handle_puback_packet = acknowledged

    def _on_disconnect(self, *_: object) -> None:
        if not self.lost.done():
            self.lost.set_result(None)

    async def publish(self, messages: list[Message]) -> None:
        """Send everything, as much of it in flight as that broker allows."""
        waiting: deque[tuple[Message, asyncio.Future[int]]] = deque()
        for number, message in enumerate(messages):
            while (answer := self._send(message)) is None:
                await self._settle(*waiting.popleft(), number - len(waiting) - 1, len(messages))
            waiting.append((message, answer))
            if len(waiting) == IN_FLIGHT:
                await self._settle(*waiting.popleft(), number - len(waiting), len(messages))
        while waiting:
            await self._settle(*waiting.popleft(), len(messages) - len(waiting) - 1, len(messages))

    async def _settle(self, message: Message, answer: asyncio.Future[int], done: int, of: int) -> None:
        either: set[asyncio.Future[Any]] = {answer, self.lost}
        await asyncio.wait(either, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
        taken = f"{done:,} of {of:,} messages are acknowledged"
        if not answer.done():
            fault = "ended the connection" if self.lost.done() else "does not answer"
            raise Unavailable(f"{self.shown} {fault}; {taken}: send the others again")
        if (code := answer.result()) >= _FAILED:
            raise Unavailable(f"{self.shown} did not take {message.topic[:80]!r} (reason code {code:#04x}); {taken}")

    def _send(self, message: Message) -> asyncio.Future[int] | None:
        """Send a message; None while that broker takes no more before it has acknowledged some."""
        answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        if self.lost.done():
            return answer  # nothing goes out any more
        said = {
            "content_type": message.content_type, "user_property": list(message.properties),
            "message_expiry_interval": message.expiry,
        }  # fmt: skip
        said = {name: value for name, value in said.items() if value}
        try:
            self.client.publish(message.topic, message.payload, qos=1, retain=message.retain, **said)
        except OverflowError:  # of packet ids that may be in use at once
            return None
        self.waiting[self.sent] = answer
        return answer

    async def close(self) -> None:
        """End the connection."""
        await self.client.disconnect()


async def _connected(address: Address, client_id: str, shown: str) -> _Line:
    line = _Line(shown, client_id)
    if address.username is not None:
        line.client.set_auth_credentials(address.username, address.password)
    try:
        async with asyncio.timeout(PATIENCE):
            await line.client.connect(address.host, address.port, ssl=address.tls or False, keepalive=30)
    except TimeoutError:
        raise Unavailable(f"{shown} does not answer; is a broker of MQTT running there?") from None
    except OSError as error:
        raise Unavailable(f"{shown} cannot be reached: {error}; is a broker of MQTT running there?") from None
    except Exception as refused:  # gmqtt raises what it likes: refused credentials, a broken answer
        raise Unavailable(f"{shown} refuses the connection: {refused}") from None
    return line


async def _end_tasks() -> None:
    """End what gmqtt leaves running."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
