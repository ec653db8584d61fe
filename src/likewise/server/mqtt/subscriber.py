"""Blocking MQTT subscriber, for `likewise subscribe --address mqtt://...`.

Semantic subscriptions go to a broker of Likewise: the filter `$likewise/NAME` with the text as the user property `q`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from queue import SimpleQueue
from typing import Final, Self

from likewise.broker.config import BridgeSettings
from likewise.errors import InputError, NotAuthenticated, Unavailable
from likewise.server.mqtt.broker_urls import bridge_address, parse_mqtt_url, shown
from likewise.server.mqtt.client import LoopThread, MqttClient, MqttRefused, reason_name
from likewise.server.mqtt.codec import FAILED, FilterRequest, Properties, Publish, Reason

SEMANTIC_FILTER: Final = "$likewise/"
TIMEOUT_S: Final = 30.0  # that the broker has to answer CONNECT or SUBSCRIBE
MAX_QUEUED: Final = 1_000  # messages that are not consumed; beyond it the socket is not read
_LOGIN_REASONS: Final = (Reason.BAD_USER_NAME_OR_PASSWORD, Reason.NOT_AUTHORIZED, Reason.BANNED)


class MqttSubscriber:
    """A connection that subscribes; iterate over it for the messages.

    A message of QoS 1 or 2 comes again in its session until it is acknowledged. It can be entered again.

    Args:
        url: the broker's, such as `mqtt://host/topic`.
        password: for the user name in the URL, or a token.
        ca: a file with the certificates to trust.
        client_id: the session's name.
        session: seconds that the broker keeps the session, and what comes meanwhile, after the connection.
    """

    def __init__(
        self, url: str, *, password: str | None = None, ca: str | None = None, client_id: str = "", session: int = 0
    ) -> None:
        self.topic = parse_mqtt_url(url).topic
        self.shown = shown(url)
        self._address = bridge_address(BridgeSettings(url, password=password, tls_authority=ca))
        self._client_id = client_id
        self._session = session
        self._loop: LoopThread | None = None
        self._client: MqttClient | None = None
        self._received: SimpleQueue[Publish | None] = SimpleQueue()  # None: the connection has ended
        self._unacknowledged: dict[int, asyncio.Future[None]] = {}  # by packet id

    def __enter__(self) -> Self:
        self._received, self._unacknowledged = SimpleQueue(), {}
        self._loop = LoopThread("likewise-mqtt-subscriber")
        try:
            self._loop.run(self._connect())
        except MqttRefused as error:
            self._stop()
            kind = NotAuthenticated if error.reason in _LOGIN_REASONS else Unavailable
            text = error.reason_string or reason_name(error.reason)
            raise kind(f"{self.shown} refuses the connection: {text}") from None
        except OSError as error:
            self._stop()
            raise Unavailable(f"{self.shown} cannot be reached: {error}; is a broker of MQTT running there?") from None
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._loop is not None and self._client is not None:
            self._loop.run(self._client.close())
        self._stop()

    def subscribe(self, topic_filter: str, qos: int = 0, *, meaning: str = "", explain: bool = False) -> None:
        """Subscribe with a filter.

        Args:
            topic_filter: a topic filter, or `$likewise/NAME` for a semantic subscription.
            qos: the highest QoS of its messages.
            meaning: the text of a semantic subscription; "" for one that the broker has.
            explain: whether its matches come with their reasons.

        Raises:
            InputError: the broker refuses it.
        """
        assert self._loop is not None, "use it as a context manager"
        user = (("q", meaning),) if meaning else ()
        properties = Properties(user=(*user, ("explain", "true")) if explain else user)
        self._loop.run(self._subscribe(FilterRequest(topic_filter, qos), properties))

    def __iter__(self) -> Iterator[Publish]:
        """Yield the messages as they come, forever; raise `Unavailable` when the connection ends."""
        while (message := self._received.get()) is not None:
            self._resume_reading()
            yield message
        raise Unavailable(f"{self.shown} ended the connection{self._end_reason()}")

    def acknowledge(self, message: Publish) -> None:
        """Acknowledge a message that was processed; one of QoS 0 needs nothing."""
        assert self._loop is not None, "use it as a context manager"
        if message.qos:
            self._loop.call(self._acknowledge, message.packet_id)

    # -- on the loop's thread -------------------------------------------------------------------

    async def _connect(self) -> None:
        self._client = client = MqttClient(self._client_id, session_expiry=self._session, on_message=self._on_message)
        async with asyncio.timeout(TIMEOUT_S):
            await client.connect(self._address)
        client.closed.add_done_callback(lambda _: self._received.put(None))

    async def _subscribe(self, request: FilterRequest, properties: Properties) -> None:
        assert self._client is not None
        try:
            async with asyncio.timeout(TIMEOUT_S):
                suback = await self._client.subscribe([request], properties)
        except TimeoutError:
            raise Unavailable(f"{self.shown} does not answer") from None
        except ConnectionError:
            raise InputError(f"{self.shown} ended the connection{self._end_reason()}") from None
        if (reason := suback.reasons[0]) >= FAILED:
            text = suback.properties.reason_string or reason_name(reason)
            raise InputError(f"{self.shown} refuses the subscription {request.filter[:80]!r}: {text}")

    def _on_message(self, message: Publish) -> asyncio.Future[None]:
        processed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if message.qos:
            self._unacknowledged[message.packet_id] = processed
        self._received.put(message)
        if self._received.qsize() >= MAX_QUEUED and self._client is not None:
            self._client.set_reading_paused(True)
        return processed

    def _acknowledge(self, packet_id: int) -> None:
        processed = self._unacknowledged.pop(packet_id, None)
        if processed is not None and not processed.done():
            processed.set_result(None)

    # -------------------------------------------------------------------------------------------

    def _resume_reading(self) -> None:
        client = self._client
        if client is not None and client.reading_paused and self._received.qsize() < MAX_QUEUED // 2:
            assert self._loop is not None
            self._loop.call(client.set_reading_paused, False)

    def _end_reason(self) -> str:
        """Return the reason of the broker's DISCONNECT as text; "" without one."""
        packet = self._client.disconnect_packet if self._client is not None else None
        if packet is None:
            return ""
        return f": {packet.properties.reason_string or reason_name(packet.reason)}"

    def _stop(self) -> None:
        if self._loop is not None:
            self._loop.stop()
        self._loop = self._client = None
