"""The alerts an engine holds: members by ordinal, families of those about the same, conditions that several share.

An event that is about ten thousand alerts and moves none of them must cost next to nothing. So a family knows for each
key which of its members have a state there at all (`live`), and how far each source is (`marks`) once for all of them.
"""

from __future__ import annotations

import msgspec

from likewise.matching.alerts.key_state import KeyState
from likewise.matching.alerts.pending_digest import DigestCheckpoint
from likewise.matching.reference.alerts.digest import end_of_period
from likewise.matching.reference.alerts.pending_digest import needs_replay
from likewise.matching.reference.alerts.transitions import AlertConditions
from likewise.model.alerts.clauses import Alert
from likewise.model.alerts.notification import DigestItem, Key
from likewise.model.subscription import Subscription

Mark = str | tuple[Key, str]  # a source, with its key where `per` makes keys


GroupKind = tuple[tuple[str, ...], Subscription | None, bool]  # what makes keys, what arms again, and `whole`


class AlertGroup:
    """Alerts about the same events, armed again by the same, with the same kind of key."""

    __slots__ = ("live", "marks", "members", "per", "timed", "whole")

    def __init__(self, per: tuple[str, ...], *, whole: bool) -> None:
        self.per = per
        self.whole = whole  # whether its condition says what is about it, and not what holds
        self.members: dict[int, ActiveAlert] = {}
        self.timed = 0  # members that go by events' own times
        self.marks: dict[Mark, int] = {}
        self.live: dict[Key, dict[int, None]] = {}

    def clock_key(self, key: Key, source: str) -> Mark:
        """Under what it is kept how far a source is."""
        return (key, source) if self.per else source


class ActiveAlert:
    """One alert: what it needs, where it belongs, its keys, and what its digest has gathered."""

    __slots__ = (
        "alert",
        "family",
        "items",
        "longest",
        "needed",
        "ordinal",
        "retells",
        "scheduled",
        "states",
        "subscription",
        "unsaid",
        "watched",
    )

    def __init__(
        self,
        ordinal: int,
        subscription: Subscription,
        watched: AlertConditions,
        needed: float,
        family: AlertGroup,
        stale: int,
    ) -> None:
        assert subscription.alert is not None
        self.ordinal = ordinal
        self.subscription = subscription
        self.alert: Alert = subscription.alert.with_stale(stale)
        self.longest = max(self.alert.spans(), default=0)
        self.watched = watched
        self.needed = needed
        self.family = family
        self.states: dict[Key, KeyState] = {}
        self.items: list[DigestItem] = []
        self.retells = needs_replay(subscription.alert)
        self.unsaid: dict[Key, DigestCheckpoint] = {}
        self.scheduled: int | None = None  # the end of the digest's period

    @property
    def uses_arrival_time(self) -> bool:
        """Return whether it goes by when events come, whatever their own time."""
        return self.alert.absent_for is not None

    def digest_end(self) -> int | None:
        """When its digest is due."""
        if not self.items or self.alert.digest_every is None:
            return None
        return end_of_period(self.items[0].moment, self.alert.digest_every)

    def store(self, key: Key, state: KeyState) -> None:
        """Hold a key's state, or let go of one that is as good as new."""
        if state.is_blank():
            if self.states.pop(key, None) is not None:
                self._follow(key)
        elif key not in self.states:
            self.states[key] = state
            self._follow(key)

    def set_pending_digest(self, key: Key, pending: DigestCheckpoint) -> None:
        """Note what a key was before what waits in a digest: its events count for that, too."""
        self.unsaid[key] = pending
        self._follow(key)

    def clear_pending_digest(self, key: Key | None = None) -> None:
        """Clear the pending digest of one key or of all: it was sent, or can no longer be replayed."""
        keys = list(self.unsaid) if key is None else [key]
        for each in keys:
            if self.unsaid.pop(each, None) is not None:
                self._follow(each)

    def _follow(self, key: Key) -> None:
        """Be among those that the events of a key are shown to, or no longer."""
        live = self.family.live
        if key in self.states or key in self.unsaid:
            if self.family.whole:
                live.setdefault(key, {})[self.ordinal] = None
        elif key in live:
            live[key].pop(self.ordinal, None)
            if not live[key]:
                del live[key]

    def replace(self, key: Key, state: KeyState) -> None:
        """Put another state in the place of a key's; `keep` does the rest."""
        if key in self.states:
            self.states[key] = state

    def forget(self, key: Key) -> None:
        """Let go of a key's state, whatever it is."""
        if self.states.pop(key, None) is not None:
            self._follow(key)


class AlertCondition(msgspec.Struct):
    """A condition of the index: whose own it is, which families' about, and whom it arms again."""

    number: int
    holding: dict[int, ActiveAlert] = msgspec.field(default_factory=dict)
    families: dict[GroupKind, AlertGroup] = msgspec.field(default_factory=dict)
    clearing: dict[int, ActiveAlert] = msgspec.field(default_factory=dict)

    def is_unused(self) -> bool:
        """Return whether nobody asks it any more."""
        return not (self.holding or self.families or self.clearing)
