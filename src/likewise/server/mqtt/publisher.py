"""Blocking MQTT publisher, for `likewise publish --address mqtt://...` and the demo; each message is acknowledged."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, Final, Self

from likewise.broker.config import BridgeSettings
from likewise.errors import InputError, Unavailable
from likewise.formats.json.events import event_to_json
from likewise.model import Event
from likewise.model.time import SECOND
from likewise.server.mqtt.broker_urls import bridge_address, parse_mqtt_url, shown
from likewise.server.mqtt.client import BrokerAddress, LoopThread, MessageTooLarge, MqttClient, MqttRefused
from likewise.server.mqtt.codec import FAILED
from likewise.server.mqtt.messages import MqttPublication

# Reason codes of PUBACK after which another attempt may succeed: unspecified, own, packet id in use, quota.
TRANSIENT: Final = frozenset({0x80, 0x83, 0x91, 0x97})
IN_FLIGHT: Final = 100  # messages sent before an acknowledgement is waited for
TIMEOUT_S: Final = 30.0  # that an acknowledgement may take


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
    """A connection that publishes with QoS 1. It is made once; a lost one is an error.

    Args:
        url: the broker's, such as `mqtt://host/topic`.
        password: for the user name in the URL, or a token.
        ca: a file with the certificates to trust.
        client_id: "" lets the broker choose one.
    """

    def __init__(self, url: str, *, password: str | None = None, ca: str | None = None, client_id: str = "") -> None:
        self.topic = parse_mqtt_url(url).topic
        self._shown = shown(url)
        self._address = bridge_address(BridgeSettings(url, password=password, tls_authority=ca))
        self._client_id = client_id
        self._loop: LoopThread | None = None
        self._client: MqttClient | None = None

    def __enter__(self) -> Self:
        self._loop = loop = LoopThread("likewise-mqtt")
        try:
            self._client = loop.run(connect_to(self._address, self._client_id, self._shown))
        except BaseException:
            loop.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._loop is not None and self._client is not None:
            self._loop.run(self._client.close())
            self._loop.stop()

    def publish(self, messages: Iterable[MqttPublication]) -> None:
        """Publish messages in their order, and return when the broker has acknowledged all of them.

        Raises:
            Unavailable: the connection ended, or the broker refused one; it says how many were acknowledged.
        """
        assert self._loop is not None, "use it as a context manager"
        assert self._client is not None
        self._loop.run(publish_all(self._client, list(messages), self._shown))


async def connect_to(address: BrokerAddress, client_id: str, shown: str) -> MqttClient:
    """Return a connection that only publishes; `shown` is the broker's URL for errors.

    Raises:
        Unavailable: the broker does not answer, or refuses the connection.
    """
    client = MqttClient(client_id)
    try:
        async with asyncio.timeout(TIMEOUT_S):
            await client.connect(address)
    except TimeoutError:
        raise Unavailable(f"{shown} does not answer; is a broker of MQTT running there?") from None
    except MqttRefused as error:
        raise Unavailable(f"{shown} refuses the connection: {error}") from None
    except OSError as error:
        raise Unavailable(f"{shown} cannot be reached: {error}; is a broker of MQTT running there?") from None
    return client


async def publish_all(
    client: MqttClient, messages: Sequence[MqttPublication], shown: str, *, passes_refused: bool = False
) -> int:
    """Publish messages in their order, as many at once as the broker allows, and wait for every acknowledgement.

    Args:
        client: The connection.
        messages: The messages.
        shown: The broker's URL for errors.
        passes_refused: Whether a message that the broker refuses for good is passed over.

    Returns:
        How many messages the broker refused.

    Raises:
        Unavailable: The connection ended, or the broker refused a message that is not passed over.
    """
    waiting: deque[tuple[MqttPublication, asyncio.Future[int]]] = deque()
    done = refused = 0

    async def wait_for_first() -> None:
        nonlocal done, refused
        message, acknowledgement = waiting.popleft()
        either: set[asyncio.Future[Any]] = {acknowledgement, client.closed}
        await asyncio.wait(either, timeout=TIMEOUT_S, return_when=asyncio.FIRST_COMPLETED)
        progress = f"{done:,} of {len(messages):,} messages are acknowledged"
        if not acknowledgement.done():
            fault = "ended the connection" if client.closed.done() else "does not answer"
            raise Unavailable(f"{shown} {fault}; {progress}: send the others again")
        if (code := acknowledgement.result()) >= FAILED and passes_refused and code not in TRANSIENT:
            refused += 1
        elif code >= FAILED:
            raise Unavailable(f"{shown} did not take {message.topic[:80]!r} (reason code {code:#04x}); {progress}")
        done += 1

    for message in messages:
        while len(waiting) >= min(IN_FLIGHT, client.receive_maximum):
            await wait_for_first()
        try:
            waiting.append((message, client.publish(message)))
        except MessageTooLarge as error:
            if not passes_refused:
                raise Unavailable(f"{shown} does not take {message.topic[:80]!r}: {error}") from None
            refused += 1
    while waiting:
        await wait_for_first()
    return refused
