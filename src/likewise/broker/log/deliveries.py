"""Deliveries: one event for a set of recipients, one row of the store whatever their number.

Its number is the sequence number every recipient sees: numbers ascend in the order of the log for each
tenant, so a recipient's own sequence ascends, with gaps where others got something it did not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from likewise.api.deliveries import Cause
from likewise.broker.log.checksums import altered, check_entry, delivery_checksum, refuse
from likewise.broker.log.mqtt.messages import StoredMessage
from likewise.broker.log.packed_sets import Numbers, pack, unpack
from likewise.broker.log.tables import Row, StoreTables

# A cause is stored as its position here, so new ones come last.
CAUSES: Final[tuple[Cause, ...]] = (
    "arrival",
    "promoted",
    "initial",
    "replayed",
    "topic",
    "retained",
    "held",
    "cleared",
    "absent",
    "returned",
    "digest",
    "arrival",
)
# From NOTIFICATION on they are causes of alerts.
ARRIVAL, PROMOTED, INITIAL, REPLAYED, TOPIC, RETAINED, NOTIFICATION = range(7)
NOTIFICATION_CAUSES: Final = {cause: number for number, cause in enumerate(CAUSES) if number >= NOTIFICATION}
SCORE_BYTES: Final = 4  # of the one score of what an alert says; its facts stand behind it in the table
_ENCODE: Final = msgspec.json.Encoder().encode
COLUMNS: Final = "tenant, number, event, cause, checksum, recipients, matched, scores"
_WITH_EVENT: Final = (
    f"SELECT {', '.join('d.' + name for name in COLUMNS.split(', '))}, l.tenant, l.kind, l.arrival, l.ends, "
    "l.checksum - l.withdrawn, l.body, l.withdrawn FROM deliveries d LEFT JOIN log l ON l.position = d.event "
    "WHERE d.tenant = ? AND d.number = ?"
)


class OwnerIndex(msgspec.Struct, frozen=True, gc=False):
    """The owner of each of some subscriptions, as an index into the ascending owners."""

    owners: Numbers
    place: NDArray[np.int32]

    @classmethod
    def of(cls, owner: Sequence[int]) -> OwnerIndex:
        """Build the index from the owner of each subscription.

        >>> OwnerIndex.of([9, 4, 9])
        OwnerIndex(owners=array([4, 9]), place=array([1, 0, 1], dtype=int32))
        """
        owners, place = np.unique(np.array(owner, np.int64), return_inverse=True)
        return cls(owners, place.astype(np.int32))


class SortedOwners(NamedTuple):
    """The matched subscriptions sorted by owner, and the index of each."""

    owner: Numbers
    place: NDArray[np.intp]


class Delivery(msgspec.Struct):
    """An event for some recipients and some of their subscriptions (by number, ascending).

    `scores` are 32-bit floats beside `matched`, packed; empty if all are 1. What an alert says is for one subscription,
    and has its facts as JSON in `said`.
    """

    number: int
    event: int
    cause: int
    recipients: Numbers
    matched: Numbers
    scores: bytes = b""
    body: bytes = b""
    ends: int | None = None
    owner_index: OwnerIndex | None = None  # where it is known from matching
    owners: SortedOwners | None = None  # found once for all recipients, when the first of them is served
    message: StoredMessage | None = None  # as a device published it; read where it is asked for
    topics: dict[int, list[int]] | None = None  # subscriptions to topics by subscriber, found once for all of them
    notification: bytes = b""
    packed: tuple[bytes, bytes] | None = None  # recipients and matched as they are stored, where matching packed them

    @property
    def size(self) -> int:
        """Return roughly how many bytes it takes in memory."""
        payload = 0 if self.message is None else len(self.message.payload)
        return (
            800 + len(self.body) + payload + len(self.notification) + 8 * len(self.recipients) + 12 * len(self.matched)
        )

    def over(self, now: int) -> bool:
        """Return whether the event expired; promotions and notifications do not (sources.md C).

        A retained message outlives what else the log keeps; whether it says that it is over is seen to when it is sent.
        """
        return (
            self.cause not in (PROMOTED, RETAINED)
            and not self.notification
            and self.ends is not None
            and self.ends <= now
        )


def insert(tables: StoreTables, tenant: int, deliveries: Iterable[Delivery]) -> None:
    """Write the rows of a tenant's deliveries."""
    rows = []
    known: dict[bytes, bytes] = {}  # recipients as they are packed: those of neighbours are often the same
    for d in deliveries:
        if d.packed is not None:
            recipients, matched = d.packed
        else:
            key = d.recipients.tobytes()
            if (packed := known.get(key)) is None:
                packed = known[key] = pack(d.recipients)
            recipients, matched = packed, pack(d.matched)
        scores = d.scores + d.notification if d.notification else d.scores
        check = delivery_checksum(tenant, d.number, d.event, d.cause, recipients, matched, scores)
        rows.append((tenant, d.number, d.event, d.cause, check, recipients, matched, scores))
    tables.insert_all("deliveries", rows)


def read(tables: StoreTables, tenant: int, numbers: Sequence[int]) -> list[Delivery]:
    """Read deliveries with their events by number; withdrawn ones are left out."""
    deliveries = []
    for number in numbers:
        row = tables.row(_WITH_EVENT, tenant, number)
        if row is None:
            continue
        delivery = delivery_row(row[:8])
        owner, kind, arrival, ends, check, body, withdrawn = row[8:]
        if body is None:  # an event goes together with its deliveries
            raise refuse(f"the event of delivery {number}")
        check_entry(delivery.event, owner, kind, arrival, ends, check, body)
        if not withdrawn or delivery.notification:  # what an alert said stays said
            delivery.body, delivery.ends = body, ends
            deliveries.append(delivery)
    return deliveries


def read_between(tables: StoreTables, tenant: int, after: int, until: int, limit: int) -> list[Delivery]:
    """Read the deliveries of a tenant between two numbers, in order, without their events."""
    sql = f"SELECT {COLUMNS} FROM deliveries WHERE tenant = ? AND number > ? AND number <= ? ORDER BY number LIMIT ?"
    rows = tables.rows(sql, tenant, after, until, limit)
    return [delivery_row(row) for row in rows]


def read_newest(tables: StoreTables, tenant: int, after: int, limit: int) -> list[Delivery]:
    """Read the newest deliveries of a tenant after a number, in order, without their events."""
    sql = f"SELECT {COLUMNS} FROM deliveries WHERE tenant = ? AND number > ? ORDER BY number DESC LIMIT ?"
    rows = tables.rows(sql, tenant, after, limit)
    return [delivery_row(row) for row in reversed(rows)]


def alarm_was_sent(tables: StoreTables, tenant: int, event: int, subscription: int, cause: Cause) -> bool:
    """Return whether there is a delivery of what an alert said of an event."""
    rows = tables.rows(
        f"SELECT {COLUMNS} FROM deliveries WHERE event = ? AND tenant = ? AND cause = ?",
        event,
        tenant,
        NOTIFICATION_CAUSES[cause],
    )
    return any(subscription in delivery_row(row).matched.tolist() for row in rows)


def first_deliveries(tables: StoreTables, tenant: int, events: Sequence[int]) -> dict[int, int]:
    """Return the number of each event's first delivery that is not for its topic."""
    numbers: dict[int, int] = {}
    for first in range(0, len(events), 1_000):
        some = events[first : first + 1_000]
        marks = ", ".join("?" * len(some))
        numbers |= dict(
            tables.rows(
                f"SELECT event, min(number) FROM deliveries WHERE tenant = ? AND cause NOT IN (?, ?) "
                f"AND event IN ({marks}) GROUP BY event",
                tenant,
                TOPIC,
                RETAINED,
                *some,
            )
        )
    return numbers


def first_event_after(tables: StoreTables, tenant: int, number: int) -> int | None:
    """Return the first position among the events of a tenant's deliveries after a number; None if there are none."""
    (position,) = tables.one("SELECT min(event) FROM deliveries WHERE tenant = ? AND number > ?", tenant, number)
    return None if position is None else int(position)


def recipients_of(tables: StoreTables, tenant: int, event: int) -> set[int]:
    """Return the subscribers that got an event itself, notifications of alerts not counted."""
    rows = tables.rows(f"SELECT {COLUMNS} FROM deliveries WHERE event = ? AND tenant = ?", event, tenant)
    return {n for row in rows if not (delivery := delivery_row(row)).notification for n in delivery.recipients.tolist()}


def matched_subscriptions(tables: StoreTables, tenant: int, event: int) -> set[int]:
    """Return the subscriptions an event was delivered for, notifications of alerts not counted."""
    rows = tables.rows(f"SELECT {COLUMNS} FROM deliveries WHERE event = ? AND tenant = ?", event, tenant)
    return {n for row in rows if not (delivery := delivery_row(row)).notification for n in delivery.matched.tolist()}


def recipients_after(tables: StoreTables, tenant: int, after: int) -> Iterator[tuple[int, list[int]]]:
    """Return the number and the recipients of each delivery of a tenant after a number, in order."""
    for row in tables.each(
        f"SELECT {COLUMNS} FROM deliveries WHERE tenant = ? AND number > ? ORDER BY number", tenant, after
    ):
        verify(*row)
        yield row[1], unpack(row[5]).tolist()


def verify(
    tenant: int, number: int, event: int, cause: int, check: int, recipients: bytes, matched: bytes, scores: bytes
) -> None:
    """Refuse a row that was altered on disk."""
    if altered(check, (recipients, matched, scores), tenant, number, event, cause):
        raise refuse(f"delivery {number}")


def delivery_row(row: Row) -> Delivery:
    """Decode and verify a row of `COLUMNS`, without its event."""
    verify(*row)
    _, number, event, cause, _, recipients, matched, scores = row
    notification = b""
    if cause >= NOTIFICATION:
        scores, notification = scores[:SCORE_BYTES], scores[SCORE_BYTES:]
    return Delivery(number, event, cause, unpack(recipients), unpack(matched), scores, notification=notification)


def render(delivery: Delivery, subscriptions: Iterable[tuple[int, str]]) -> bytes:
    """Return the delivery for one recipient as JSON; `own` are index and id of its subscriptions.

    >>> d = Delivery(7, 1, ARRIVAL, np.array([1]), np.array([3, 4]), b"", b'{"v":1}')
    >>> render(d, [(0, "warm")])
    b'{"v":1,"sequence":7,"cause":"arrival","subscriptions":[{"id":"warm","score":1.0}],"event":{"v":1}}'
    """
    scores = np.frombuffer(delivery.scores, "<f4") if delivery.scores else None
    named = [
        {"id": id, "score": 1.0 if scores is None else round(float(scores[place]), 6)} for place, id in subscriptions
    ]
    frame = b'{"v":1,"sequence":%d,"cause":"%s","subscriptions":%s,"event":%s}' % (
        delivery.number,
        CAUSES[delivery.cause].encode(),
        _ENCODE(named),
        delivery.body,
    )
    return frame[:-1] + b',"alert":' + delivery.notification + b"}" if delivery.notification else frame
