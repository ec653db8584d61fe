"""Deliveries to subscribers, and their acknowledgements."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from likewise.model.alerts.notification import AlertNotification

Settled = Annotated[int, msgspec.Meta(ge=0, lt=2**62)]  # sequence numbers count from 1; 0 settles nothing
Cause = Literal[  # why an event was delivered
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
]


def resolve_sequence(new: int | msgspec.UnsetType, old: int | msgspec.UnsetType) -> int:
    """Return a sequence number that is given either under its name or under its old one."""
    if isinstance(new, int) and old is msgspec.UNSET:
        return new
    if isinstance(old, int) and new is msgspec.UNSET:
        return old
    raise ValueError('expected one sequence number, as in {"sequence": 7}')


class SubscriptionScore(msgspec.Struct, frozen=True):
    """A subscription of the recipient that the event met."""

    id: str
    score: float


class MatchedPart(msgspec.Struct, frozen=True, omit_defaults=True):
    """A part of a subscription, and the reading that met it: its `value` as stated, and `asked` in the unit asked for.

    `score` is how well it meets the part: 1 for what is asked exactly.
    """

    part: str
    score: float
    attribute: str = ""
    value: str = ""
    asked: str = ""


class MatchReason(msgspec.Struct, frozen=True):
    """The reasons of a match; `score` is that of the delivery."""

    id: str
    score: float
    parts: tuple[MatchedPart, ...]


class SelectedValues(msgspec.Struct, frozen=True, omit_defaults=True):
    """The values that a subscription's `select` names, by name; a note explains a null.

    `units` has the unit of each value that was selected in one.
    """

    id: str
    values: dict[str, Any]
    notes: dict[str, str] = {}
    units: dict[str, str] = {}


class DeliveryDocument(msgspec.Struct, frozen=True, omit_defaults=True):
    """A delivery as a subscriber reads it; `event` is the published JSON envelope, `because` stands where asked for.

    What an alert says has its facts in `alert`: the key, since when, what was held back, what a digest gathered.
    """

    v: int
    sequence: int
    cause: Cause
    subscriptions: tuple[SubscriptionScore, ...]
    event: dict[str, Any]
    because: tuple[MatchReason, ...] = ()
    alert: AlertNotification | None = None
    selected: tuple[SelectedValues, ...] = ()


class DeliverySummary(msgspec.Struct, frozen=True):
    """The fields of a delivery that its text for people is made of."""

    event: dict[str, Any]
    alert: AlertNotification | None = None
    selected: tuple[SelectedValues, ...] = ()


class DeliveryPage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Deliveries in order; ask for those after `sequence` next. A replay is over when it stays the same.

    `next` is what brokers said before in place of `sequence`; it is still read.

    >>> msgspec.json.decode('{"deliveries": [], "next": 7}', type=DeliveryPage).number
    7
    """

    deliveries: tuple[DeliveryDocument, ...]
    sequence: int | msgspec.UnsetType = msgspec.UNSET
    next: int | msgspec.UnsetType = msgspec.UNSET

    def __post_init__(self) -> None:
        resolve_sequence(self.sequence, self.next)

    @property
    def number(self) -> int:
        """Return the sequence number to request the next page with, under either name."""
        return resolve_sequence(self.sequence, self.next)


class DeliveryAck(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything up to this sequence number is settled: what a request says, and what a stream is told.

    `acknowledge` is what streams were told before; it is still read.

    >>> msgspec.json.decode('{"acknowledge": 7}', type=DeliveryAck).number
    7
    >>> msgspec.json.encode(DeliveryAck(7))
    b'{"sequence":7}'
    """

    sequence: Settled | msgspec.UnsetType = msgspec.UNSET
    acknowledge: Settled | msgspec.UnsetType = msgspec.UNSET

    def __post_init__(self) -> None:
        resolve_sequence(self.sequence, self.acknowledge)

    @property
    def number(self) -> int:
        """Return the acknowledged sequence number, under either name."""
        return resolve_sequence(self.sequence, self.acknowledge)
