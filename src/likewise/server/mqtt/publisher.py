"""Messages to a broker of MQTT, each acknowledged by it: for `likewise publish --address mqtt://...` and the demo."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future
from typing import Any, Final, Self

from likewise.broker.config import BridgeSettings
from likewise.errors import InputError, Unavailable
from likewise.extras import require
from likewise.formats.json.events import event_to_json
from likewise.model import Event
from likewise.model.time import SECOND
from likewise.server.mqtt.broker_urls import bridge_address, parse_mqtt_url, shown
from likewise.server.mqtt.client import BrokerAddress
from likewise.server.mqtt.messages import MqttPublication
from likewise.server.mqtt.outgoing import FAILED, PublishConnection

IN_FLIGHT: Final = 100  # messages sent before an acknowledgement is waited for
TIMEOUT_S: Final = 30.0  # seconds an acknowledgement may take

logging.getLogger("gmqtt").addHandler(logging.NullHandler())  # what it would print is said by the errors here


def event_message(event: Event, topic: str, now: int) -> MqttPublication:
    """Return an event as a message: our envelope. `{source}` in the topic is the event's source.

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
    return MqttPublication(topic, event_to_json(event), "application/json", named, expiry, qos=1)


class MqttPublisher:
    """A connection of its own thread that publishes with QoS 1. It is made once; a lost one is an error.

    `publish` returns when the broker has acknowledged every message.
    """

    def __init__(self, url: str, *, password: str | None = None, ca: str | None = None, client_id: str = "") -> None:
        require("mqtt", "publishing to a broker of MQTT")
        self.topic = parse_mqtt_url(url).topic
        self._shown = shown(url)
        self._address = bridge_address(BridgeSettings(url, password=password, tls_authority=ca))
        self._client_id = client_id
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="likewise-mqtt", daemon=True)
        self._line: PublishConnection | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self._line = self._run(connect_to(self._address, self._client_id, self._shown))
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._line is not None:
            self._run(self._line.close())
        self._end()

    def publish(self, messages: Iterable[MqttPublication]) -> None:
        """Publish messages in their order; an error says how many of them were acknowledged."""
        assert self._line is not None, "use it as a context manager"
        self._run(publish_all(self._line, list(messages), self._shown))

    def _run(self, doing: Any) -> Any:
        future: Future[Any] = asyncio.run_coroutine_threadsafe(doing, self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    def _end(self) -> None:
        self._run(_end_tasks())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def connect_to(address: BrokerAddress, client_id: str, shown: str) -> PublishConnection:
    """Return a connection to a broker of MQTT; `Unavailable` if there is none."""
    line = PublishConnection(client_id)
    try:
        async with asyncio.timeout(TIMEOUT_S):
            await line.connect(address)
    except TimeoutError:
        raise Unavailable(f"{shown} does not answer; is a broker of MQTT running there?") from None
    except OSError as error:
        raise Unavailable(f"{shown} cannot be reached: {error}; is a broker of MQTT running there?") from None
    except Exception as refused:  # refused credentials, a broken answer
        raise Unavailable(f"{shown} refuses the connection: {refused}") from None
    return line


async def publish_all(line: PublishConnection, messages: list[MqttPublication], shown: str) -> None:
    """Send everything, as much of it in flight as that broker allows."""
    waiting: deque[tuple[MqttPublication, asyncio.Future[int]]] = deque()
    done = 0

    async def settle() -> None:
        nonlocal done
        message, answer = waiting.popleft()
        either: set[asyncio.Future[Any]] = {answer, line.lost}
        await asyncio.wait(either, timeout=TIMEOUT_S, return_when=asyncio.FIRST_COMPLETED)
        progress = f"{done:,} of {len(messages):,} messages are acknowledged"
        if not answer.done():
            fault = "ended the connection" if line.lost.done() else "does not answer"
            raise Unavailable(f"{shown} {fault}; {progress}: send the others again")
        if (code := answer.result()) >= FAILED:
            raise Unavailable(f"{shown} did not take {message.topic[:80]!r} (reason code {code:#04x}); {progress}")
        done += 1

    for message in messages:
        while (answer := _try_publish(line, message)) is None:
            await settle()
        waiting.append((message, answer))
        if len(waiting) == IN_FLIGHT:
            await settle()
    while waiting:
        await settle()


def _try_publish(line: PublishConnection, message: MqttPublication) -> asyncio.Future[int] | None:
    """Publish a message; None while the broker takes no more before it has acknowledged some."""
    import gmqtt

    if line.lost.done():
        return asyncio.get_running_loop().create_future()  # nothing goes out any more
    said = {
        "content_type": message.content_type,
        "user_property": list(message.properties),
        "message_expiry_interval": message.expiry,
    }
    said = {name: value for name, value in said.items() if value}
    try:
        return line.publish(gmqtt.Message(message.topic, message.payload, qos=1, retain=message.retain, **said))
    except OverflowError:  # of packet ids that may be in use at once
        return None


async def _end_tasks() -> None:
    """End what gmqtt leaves running."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
