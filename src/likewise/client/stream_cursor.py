"""The position of a subscriber in its stream of deliveries, for both kinds of client."""

from __future__ import annotations

from collections.abc import Iterator

from likewise.client.endpoint import FINAL_CLOSE_CODES
from likewise.client.messages import BrokerRefused, ClientDelivery, read_deliveries


class StreamCursor:
    """The last delivery that a subscriber was given, and the last that it acknowledged, across broken connections.

    >>> stream = StreamCursor("ann", cursor=7)
    >>> message = '{"v":1,"sequence":%d,"cause":"arrival","subscriptions":[],"event":{"v":1,"payload":{"no2":45}}}'
    >>> [d.sequence for d in stream.take(message % 7)], [d.sequence for d in stream.take(message % 8)], stream.cursor
    ([], [8], 8)
    """

    def __init__(self, id: str, cursor: int) -> None:
        self.id = id
        self.cursor = cursor
        self.acknowledged = cursor

    def take(self, message: str | bytes) -> Iterator[ClientDelivery]:
        """Yield the deliveries of a message that were not given before; the cursor moves with each."""
        for delivery in read_deliveries(message):
            if delivery.sequence > self.cursor:
                self.cursor = delivery.sequence
                yield delivery

    def acknowledge(self, delivery: ClientDelivery | int) -> int:
        """Record that everything up to a delivery is dealt with; return its sequence number."""
        number = delivery if isinstance(delivery, int) else delivery.sequence
        self.acknowledged = max(self.acknowledged, number)
        return number

    def raise_if_refused(self, code: int | None, reason: str | None) -> None:
        """Raise the broker's reason if it ended the stream for good; after any other end it is opened again."""
        if code in FINAL_CLOSE_CODES:
            raise BrokerRefused(code, {"detail": reason})
