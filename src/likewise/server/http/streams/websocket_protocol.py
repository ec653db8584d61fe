"""uvicorn's WebSocket protocol with bounds: messages before a login, incomplete messages, clients that do not read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from starlette.types import Scope
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame
from websockets.http11 import Request

from likewise.defaults import FRAGMENT_BYTES
from likewise.server.receive_buffers import PartialPackets, Receiver

MQTT_PATH: Final = "/mqtt"
_KEY: Final = "likewise.websocket"


class BoundedWebSocketProtocol(WebSocketsSansIOProtocol):
    """One WebSocket. Over `/mqtt` a client logs in by its first packet, so its messages are small until then."""

    stalled: tuple[int, float] | None = None  # unread bytes, and since when they do not shrink
    _fragments = 0  # bytes of the fragments of a message that is not complete
    _partial = False  # something of a message is buffered
    _note_login: Callable[[int], None] | None = None  # takes the bytes of an incomplete message before a login

    def data_received(self, data: bytes) -> None:
        """Take some bytes."""
        super().data_received(data)
        size = self._fragments + len(self.conn.reader.buffer)
        if size or self._partial:
            self._partial = size > 0
            if self._note_login is None:
                self._packets.note(self, size)
            else:
                self._note_login(size)
            if self._fragments > 2 * self.config.ws_max_size:  # the library bounds their content, not their number
                self.evict()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection that is over, and leave no cycle: the garbage collector would come late."""
        self._packets.note(self, 0)
        super().connection_lost(exc)
        self.frames, self._note_login = [], None
        self.conn.parser.close()
        self.conn.reader.buffer.clear()
        getattr(self, "scope", {}).pop(_KEY, None)

    def handle_text(self, event: Frame) -> None:
        """Take a message in text, or its first fragment."""
        super().handle_text(event)
        self._count_fragment(event)

    def handle_bytes(self, event: Frame) -> None:
        """Take a message of bytes, or its first fragment."""
        super().handle_bytes(event)
        self._count_fragment(event)

    def handle_cont(self, event: Frame) -> None:
        """Take a further fragment."""
        super().handle_cont(event)
        self._count_fragment(event)

    def _count_fragment(self, event: Frame) -> None:
        self._fragments = self._fragments + len(event.data) + FRAGMENT_BYTES if self.frames else 0

    @property
    def tenant_name(self) -> str | None:
        """Return by whose token it was let in; None before a login."""
        tenant: str | None = getattr(self, "scope", {}).get("likewise_tenant")  # there is none before the handshake
        return tenant

    def evict(self) -> None:
        """Cut it, because others need the bytes that its incomplete message takes."""
        self.transport.abort()

    @property
    def _packets(self) -> PartialPackets[Receiver]:
        packets: PartialPackets[Receiver] = self.app_state["gateway"].packets
        return packets

    def handle_connect(self, event: Request) -> None:
        """Take a handshake; all other paths have checked a token before a message is read."""
        super().handle_connect(event)
        if event.path.partition("?")[0] == MQTT_PATH:
            self.conn.max_message_size = self.app_state["gateway"].broker.config.mqtt.connect_bytes
        if self.response.status_code == 101:
            self.scope[_KEY] = self  # type: ignore[typeddict-unknown-key]

    @property
    def write_paused(self) -> bool:
        """Return whether the buffer is full because the client does not read."""
        return not self.writable.is_set()

    def await_login(self, note: Callable[[int], None]) -> None:
        """Let somebody count the bytes of an incomplete message, until `allow_large_messages`."""
        self._note_login = note
        note(self._fragments + len(self.conn.reader.buffer))
        self._packets.note(self, 0)

    def allow_large_messages(self, tenant: str | None) -> None:
        """Take messages of every allowed size from now on, for a tenant."""
        self.scope["likewise_tenant"] = tenant  # type: ignore[typeddict-unknown-key]
        self.conn.max_message_size = self.config.ws_max_size
        self._note_login = None


def websocket_protocol(scope: Scope) -> BoundedWebSocketProtocol | None:
    """Return what carries a WebSocket; None for another server's, as in tests."""
    protocol = scope.get(_KEY)
    return protocol if isinstance(protocol, BoundedWebSocketProtocol) else None
