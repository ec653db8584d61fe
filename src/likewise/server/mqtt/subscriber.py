"""Messages of a broker of MQTT 5, one after the other: for `likewise subscribe --address mqtt://...`.

Subscriptions by meaning go to a broker of Likewise: the filter `$likewise/NAME` with the text as the user property `q`.
"""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from typing import Final, Self, TypeVar

from likewise.broker.config import BridgeSettings
from likewise.errors import InputError, NotAuthenticated, PacketError, Unavailable
from likewise.server.mqtt.broker_urls import bridge_address, parse_mqtt_url, shown
from likewise.server.mqtt.codec import (
    FAILED,
    MQTT_5,
    Connack,
    Connect,
    Decoder,
    Disconnect,
    FilterRequest,
    Packet,
    Pingreq,
    Properties,
    Puback,
    Pubcomp,
    Publish,
    Pubrec,
    Pubrel,
    Reason,
    Suback,
    Subscribe,
    encode,
)

SEMANTIC_FILTER: Final = "$likewise/"
TIMEOUT_S: Final = 30.0  # seconds an answer may take
CLOSE_TIMEOUT_S: Final = 5.0  # seconds that a broker may take to end a connection
KEEP_ALIVE: Final = 60  # seconds; after half of them without a word the broker is asked whether it is there
_Answer = TypeVar("_Answer", Connack, Suback)
_LOGIN_REASONS: Final = (Reason.BAD_USER_NAME_OR_PASSWORD, Reason.NOT_AUTHORIZED, Reason.BANNED)


class MqttSubscriber:
    """A connection that subscribes. A message of QoS 1 or 2 comes again in its session until it is acknowledged.

    With a `client_id` the broker keeps the session for `session` seconds and what comes meanwhile with it.
    """

    def __init__(
        self, url: str, *, password: str | None = None, ca: str | None = None, client_id: str = "", session: int = 0
    ) -> None:
        self.topic = parse_mqtt_url(url).topic
        self.shown = shown(url)
        self._address = bridge_address(BridgeSettings(url, password=password, tls_authority=ca))
        said = Properties(session_expiry=session) if session else Properties()
        secret = self._address.password
        self._hello = Connect(
            client_id,
            MQTT_5,
            clean_start=not session,
            keep_alive=KEEP_ALIVE,
            username=self._address.username,
            password=None if secret is None else secret.encode(),
            properties=said,
        )
        self._decoder = Decoder(MQTT_5, of_server=True)
        self._socket: socket.socket | None = None
        self._received: deque[Packet] = deque()
        self._last_id = 0

    def __enter__(self) -> Self:
        self._decoder = Decoder(MQTT_5, of_server=True)
        self._received.clear()
        try:
            self._socket = socket.create_connection((self._address.host, self._address.port), TIMEOUT_S)
            if self._address.tls is not None:
                self._socket = self._address.tls.wrap_socket(self._socket, server_hostname=self._address.host)
        except OSError as error:
            raise Unavailable(f"{self.shown} cannot be reached: {error}; is a broker of MQTT running there?") from None
        try:
            self._send(self._hello)
            answer = self._wait_for(Connack)
        except BaseException:
            self.close()
            raise
        if answer.reason >= FAILED:
            self.close()
            said = _reason_text(answer.reason, answer.properties)
            kind = NotAuthenticated if answer.reason in _LOGIN_REASONS else Unavailable
            raise kind(f"{self.shown} refuses the connection: {said}")
        return self

    def __exit__(self, *_: object) -> None:
        if self._socket is not None:
            with suppress(OSError):  # it may have ended already
                self._socket.sendall(encode(Disconnect()))
                self._socket.settimeout(CLOSE_TIMEOUT_S)
                while self._socket.recv(65_536):  # closed with bytes unread, our last acknowledgements might be lost
                    pass
        self.close()

    def close(self) -> None:
        """Let go of the connection without a word."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def subscribe(self, asked: str, qos: int = 0, *, meaning: str = "", explain: bool = False) -> None:
        """Subscribe with a filter; `meaning` is the text of a subscription, whose filter is `$likewise/NAME`."""
        self._last_id += 1
        user = (("q", meaning),) if meaning else ()
        said = Properties(user=(*user, ("explain", "true")) if explain else user)
        self._send(Subscribe(self._last_id, (FilterRequest(asked, qos),), said))
        answer = self._wait_for(Suback)
        if answer.reasons[0] >= FAILED:
            why = _reason_text(answer.reasons[0], answer.properties)
            raise InputError(f"{self.shown} refuses the subscription {asked[:80]!r}: {why}")

    def __iter__(self) -> Iterator[Publish]:
        """Yield the messages as they come, for ever; `Unavailable` when the connection ends."""
        while True:
            match self._next():
                case Publish() as message:
                    yield message
                case Pubrel() as released:
                    self._send(Pubcomp(released.packet_id))
                case Disconnect() as ended:
                    raise Unavailable(
                        f"{self.shown} ended the connection: {_reason_text(ended.reason, ended.properties)}"
                    )
                case _:
                    pass  # an answer to a ping

    def acknowledge(self, message: Publish) -> None:
        """Say that a message is dealt with; one of QoS 0 needs no word."""
        if message.qos == 1:
            self._send(Puback(message.packet_id))
        elif message.qos == 2:
            self._send(Pubrec(message.packet_id))

    def _send(self, packet: Packet) -> None:
        assert self._socket is not None, "use it as a context manager"
        try:
            self._socket.sendall(encode(packet))
        except OSError as error:
            raise Unavailable(f"{self.shown} ended the connection: {error}") from None

    def _wait_for(self, wanted: type[_Answer]) -> _Answer:
        """Return the next answer of a kind; messages that come before it are kept."""
        before: list[Packet] = []
        while True:
            found = self._next()
            if isinstance(found, wanted):
                self._received.extendleft(reversed(before))
                return found
            if isinstance(found, Disconnect):
                self.close()
                raise InputError(f"{self.shown} ended the connection: {_reason_text(found.reason, found.properties)}")
            before.append(found)

    def _next(self) -> Packet:
        """Return the next packet; while nothing comes, the broker is asked whether it is there."""
        asked = False
        while not self._received:
            assert self._socket is not None, "use it as a context manager"
            self._socket.settimeout(KEEP_ALIVE / 2)
            try:
                data = self._socket.recv(65_536)
            except TimeoutError:
                if asked:
                    raise Unavailable(f"{self.shown} does not answer") from None
                asked = True
                self._send(Pingreq())
                continue
            except OSError as error:
                raise Unavailable(f"{self.shown} ended the connection: {error}") from None
            if not data:
                raise Unavailable(f"{self.shown} ended the connection")
            try:
                self._received.extend(self._decoder.feed(data))
            except PacketError as error:
                raise Unavailable(f"{self.shown} says what is no MQTT: {error}") from None
        return self._received.popleft()


def _reason_text(reason: int, said: Properties) -> str:
    """Return the reason of a broker as text."""
    return said.reason_string or Reason(reason).name.replace("_", " ").lower()
