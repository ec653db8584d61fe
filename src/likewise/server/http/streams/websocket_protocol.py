"""uvicorn's WebSocket protocol with two bounds: messages before a login, and clients that do not read."""

from __future__ import annotations

from typing import Final

from starlette.types import Scope
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request

MQTT_PATH: Final = "/mqtt"
_KEY: Final = "likewise.websocket"


class BoundedWebSocketProtocol(WebSocketsSansIOProtocol):
    """One WebSocket. Over `/mqtt` a client logs in by its first packet, so its messages are small until then."""

    stalled: tuple[int, float] | None = None  # unread bytes, and since when they do not shrink

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

    def allow_large_messages(self) -> None:
        """Take messages of every allowed size from now on."""
        self.conn.max_message_size = self.config.ws_max_size


def websocket_protocol(scope: Scope) -> BoundedWebSocketProtocol | None:
    """Return what carries a WebSocket; None for another server's, as in tests."""
    protocol = scope.get(_KEY)
    return protocol if isinstance(protocol, BoundedWebSocketProtocol) else None
