"""A snapshot of the change log at one version: subscriptions, feedback, annotations and term meaning."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import msgspec

from likewise.errors import ArtefactDamaged
from likewise.model import Subscription
from likewise.semantics.feedback import Judgement


class LoggedSubscription(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """A subscription with its number, which is never reused, and the time (µs) it was added."""

    number: int
    subscription: Subscription
    at: int

    @property
    def end(self) -> int | None:
        """Return when it expires; None if it does not."""
        lasts = self.subscription.valid_for
        return None if lasts is None else self.at + lasts


class SubscriptionAdded(
    LoggedSubscription, frozen=True, gc=False, forbid_unknown_fields=True, tag="add", tag_field="change"
):
    """A subscription was added."""


class SubscriptionRemoved(
    msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, tag="remove", tag_field="change"
):
    """The subscription with this number and id was removed."""

    number: int
    id: str


class TermMeaning(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Settings by which the writer compares terms: space, measure and threshold, with their checksums."""

    space: str | None = None
    measure: str | None = None
    threshold: float | None = None
    space_checksum: str = ""
    inventory_checksum: str = ""


class SnapshotKnowledge(
    msgspec.Struct,
    frozen=True,
    gc=False,
    forbid_unknown_fields=True,
    omit_defaults=True,
    tag="know",
    tag_field="change",
):
    """Feedback, annotations (as CSV) and term meaning from here on; None is no change."""

    feedback: tuple[Judgement, ...] | None = None
    annotations: str | None = None
    meaning: TermMeaning | None = None


Change = SubscriptionAdded | SubscriptionRemoved | SnapshotKnowledge
NOTHING_KNOWN: Final = SnapshotKnowledge((), "")
_REMEMBERED: Final = 100  # versions before whose digests a held set knows
_ENCODER: Final = msgspec.json.Encoder(order="deterministic")


class SubscriptionSnapshot:
    """The subscriptions at a version, by number, in the order they came. Immutable.

    Its `digest` is that of the subscriptions, by whatever way they came, and `digests` are those of versions before, as
    far as they were passed: a log that was made anew has the same versions and numbers, but other digests.

    >>> from likewise.language import parse
    >>> held = SubscriptionSnapshot().after([SubscriptionAdded(0, parse("{t > 25}", id="warm"), 5)])
    >>> emptied = held.after([SubscriptionRemoved(0, "warm")])
    >>> held.version, held.next_number, held.number("warm"), len(emptied.subscriptions)
    (1, 1, 0, 0)
    >>> same = SubscriptionSnapshot(7, 1, list(held.subscriptions.values()))
    >>> held.digest == same.digest, held.digest == SubscriptionSnapshot().digest
    (True, False)
    """

    __slots__ = ("_numbers", "_sum", "digests", "known", "next_number", "subscriptions", "version")

    def __init__(
        self,
        version: int = 0,
        next_number: int = 0,
        subscriptions: Sequence[LoggedSubscription] = (),
        known: SnapshotKnowledge = NOTHING_KNOWN,
        *,
        digests: Mapping[int, str] = MappingProxyType({}),
        total: int | None = None,
    ) -> None:
        self.version = version
        self.next_number = next_number
        self.known = known
        self.subscriptions = MappingProxyType({each.number: each for each in subscriptions})
        self._numbers = {each.subscription.id: each.number for each in subscriptions}
        self.digests = digests
        # A sum, so that a change costs what it is large, and all ways to the same set lead to the same.
        self._sum = sum(map(_digest, subscriptions)) if total is None else total

    @property
    def digest(self) -> str:
        """Return a hash of the subscriptions with their numbers and times."""
        return f"{self._sum % 2**64:016x}"

    def number(self, id: str) -> int | None:
        """Return the number of the subscription with this id; None if there is none."""
        return self._numbers.get(id)

    def after(self, changes: Sequence[Change]) -> SubscriptionSnapshot:
        """Return the snapshot after the changes of the next version."""
        subscriptions, upcoming, known, total = dict(self.subscriptions), self.next_number, self.known, self._sum
        for change in changes:
            if isinstance(change, SnapshotKnowledge):
                changed = {
                    name: value
                    for name in SnapshotKnowledge.__struct_fields__
                    if (value := getattr(change, name)) is not None
                }
                known = msgspec.structs.replace(known, **changed)
            elif isinstance(change, SubscriptionRemoved):
                removed = subscriptions.pop(change.number, None)
                if removed is None:
                    raise ArtefactDamaged(
                        f"version {self.version + 1} of the subscriptions removes {change.id!r} ({change.number}), "
                        "which is not held; restore a copy"
                    )
                total -= _digest(removed)
            elif change.number < upcoming:
                raise ArtefactDamaged(
                    f"version {self.version + 1} of the subscriptions uses the number {change.number} again; restore a "
                    "copy"
                )
            else:
                added = subscriptions[change.number] = LoggedSubscription(change.number, change.subscription, change.at)
                total += _digest(added)
                upcoming = change.number + 1
        last = dict([*self.digests.items(), (self.version, self.digest)][-_REMEMBERED:])
        return SubscriptionSnapshot(
            self.version + 1, upcoming, list(subscriptions.values()), known, digests=last, total=total
        )


def _digest(subscription: LoggedSubscription) -> int:
    return int.from_bytes(hashlib.blake2b(_ENCODER.encode(subscription), digest_size=16).digest())
