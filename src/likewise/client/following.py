"""What a subscriber knows of its stream, whatever the kind of client: how far it was given, and how far settled."""

from __future__ import annotations

from collections.abc import Iterator

from likewise.client.endpoint import FINAL_CLOSE_CODES
from likewise.client.messages import BrokerRefused, ClientDelivery, read_deliveries


class StreamCursor:
    """The stream of a subscriber; `cursor` is the last delivery it was given, across broken connections.

    >>> stream = Following("ann", cursor=7)
    >>> said = '{"v":1,"sequence":%d,"cause":"arrival","subscriptions":[],"event":{"v":1,"payload":{"no2":45}}}'
    >>> [d.sequence for d in stream.take(said % 7)], [d.sequence for d in stream.take(said % 8)], stream.cursor
    ([], [8], 8)
    """

    def __init__(self, id: str, cursor: int) -> None:
        self.id = id
        self.cursor = cursor
        self.acknowledged = cursor

    def take(self, said: str | bytes) -> Iterator[ClientDelivery]:
        """The deliveries of a message that were not given before, each noted as it is given."""
        for delivery in read_deliveries(said):
            if delivery.sequence > self.cursor:
                self.cursor = delivery.sequence
                yield delivery

    def settle(self, delivery: ClientDelivery | int) -> int:
        """Note that everything up to a delivery is dealt with; its sequence number."""
        number = delivery if isinstance(delivery, int) else delivery.sequence
        self.acknowledged = max(self.acknowledged, number)
        return number

    def ended(self, code: int | None, reason: str | None) -> None:
        """Raise what a broker said when it ended the stream for good; after anything else it is opened again."""
        if code in FINAL_CLOSE_CODES:
            raise BrokerRefused(code, {"detail": reason})
