"""The broker's door in memory: publish any media type and read what comes of it, without a protocol, a port or a disk.

For tests of formats and connectors of one's own. What goes in passes the same `ingress` as over HTTP: it is read by its
media type, counted, appended, matched; what cannot be read becomes a dead letter.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self

from likewise.api.events import Receipt
from likewise.broker.broker import Broker
from likewise.broker.config import Config, MatchingSettings
from likewise.formats.json.events import event_from_document
from likewise.formats.strict_json import decode_object
from likewise.language import parse
from likewise.model import Event
from likewise.server.gateway import Gateway
from likewise.server.ingest import publish
from likewise.server.media_types import JSON, MediaType


class MemoryGateway:
    """A `Gateway` to a broker that keeps nothing, in profile `small` unless it is told otherwise.

    >>> with MemoryGateway() as door:
    ...     door.subscribe("ann", "{no2 > 40}")
    ...     receipt = door.publish(b'{"v": 1, "id": "e1", "payload": {"no2": 45}}')
    ...     [event.id for event in door.delivered("ann")]
    ['e1']
    """

    def __init__(self, config: Config | None = None) -> None:
        self._runner = asyncio.Runner()  # one loop for all calls, as a door has
        self.broker = Broker(None, config or Config(matching=MatchingSettings(profile="small")))
        self._door = Gateway(self.broker)

    def publish(self, body: bytes, media_type: str = JSON, token: str | None = None) -> list[Receipt]:
        """Publish a body as its media type says; errors as a publisher gets them."""
        access, _ = self._door.admit(token, "publish")
        return self._runner.run(publish(self._door, access, body, MediaType.parse(media_type)))

    def subscribe(self, subscriber: str, text: str, id: str | None = None) -> None:
        """Register a subscriber, if it is new, and hold a subscription for it."""
        _, tenant = self._door.admit(None, "subscribe")
        self.broker.register(tenant, subscriber)
        self.broker.subscribe(tenant, subscriber, [parse(text, id=id)])

    def delivered(self, subscriber: str) -> list[Event]:
        """Return the queued events of a subscriber, once everything published is matched."""
        _, tenant = self._door.admit(None, "subscribe")
        self.broker.wait_until_matched()
        frames = self.broker.page(tenant, tenant.subscriber(subscriber), after=0, limit=10_000)
        documents = (decode_object(frame, "delivery")["event"] for _, frame in frames)
        return [event_from_document(document) for document in documents if isinstance(document, dict)]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.broker.close()
        self._runner.close()
