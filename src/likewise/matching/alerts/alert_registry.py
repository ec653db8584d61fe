"""What the engine of alerts holds: members by ordinal, the conditions they share, and one queue of what time moves."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import TYPE_CHECKING

from likewise.defaults import ALERT_FORGET, ALERT_STALE, CACHE_BYTES, LATENESS, THRESHOLD
from likewise.matching.alerts.alert_groups import Family, Member, SharedCondition
from likewise.matching.alerts.key_state import KeyState, Scheduled
from likewise.matching.condition_index import ConditionIndex
from likewise.matching.engine import BaseEngine
from likewise.matching.reference.alerts.clocks import WrongClocks
from likewise.matching.reference.alerts.digest import item_of
from likewise.matching.reference.alerts.outages import Excuses
from likewise.matching.reference.alerts.state import Say
from likewise.matching.reference.alerts.transitions import watched
from likewise.matching.reference.needed import Needed
from likewise.model import Match, Subscription
from likewise.model.alerts.notification import Key, Spoken
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.model.probability import AS_SCORED, ProbabilityCurve

if TYPE_CHECKING:
    from likewise.semantics.measure import Measure

Hits = list[tuple[int, Match]]
DIGEST = 0  # comes before what happens at the same moment
ROOM = 10_000  # keys and marks before those of which nothing came for long are looked for


class HeldAlerts(BaseEngine):
    """Alerts with their keys, and what is common to everything that moves them."""

    def __init__(
        self,
        measure: Measure | None = None,
        threshold: float = THRESHOLD,
        *,
        lateness: int = LATENESS,
        cache_bytes: int = CACHE_BYTES,
        curve: ProbabilityCurve = AS_SCORED,
        types: Hierarchy = NO_TYPES,
        forget: int = ALERT_FORGET,
        stale: int = ALERT_STALE,
    ) -> None:
        super().__init__()
        self.types, self.curve, self.measure = types, curve, measure
        self.threshold, self.lateness, self.forget, self.stale = threshold, lateness, forget, stale
        self.now: int | None = None
        self.refused_late = self.keyless = 0
        self._index = ConditionIndex(measure, threshold, cache_bytes, curve, types)
        self._members: dict[int, Member] = {}
        self._shared: dict[Subscription, SharedCondition] = {}
        self._by_number: dict[int, SharedCondition] = {}
        self._conditions = 0
        self._sequence = 0
        self._due: list[Scheduled] = []
        self._heard: dict[str, list[tuple[int, Key]]] = {}  # event id -> where it may still be withdrawn
        self._room = ROOM
        self._excuses = Excuses()
        self.clocks: WrongClocks = {}

    # -- members --------------------------------------------------------------------------------

    def add(self, ordinal: int, subscription: Subscription, at: int) -> None:
        """Hold an alert; its keys have no state yet."""
        self.admit(ordinal, subscription)
        assert subscription.alert is not None  # `serves` lets nothing else in
        asked = watched(subscription)
        about, per = asked.about or asked.condition, subscription.alert.per
        own = self._share(asked.condition)
        near = self._share(about)
        family = near.families.get((per, asked.until))
        if family is None:
            family = near.families[per, asked.until] = Family(per, whole=asked.about is not None)
        needed = Needed.of(subscription, self.threshold, self.curve).score
        member = Member(ordinal, subscription, asked, needed, family, self.stale)
        own.holding[ordinal] = family.members[ordinal] = self._members[ordinal] = member
        family.timed += not member.timeless
        if asked.until is not None:
            self._share(asked.until).clearing[ordinal] = member

    def _share(self, condition: Subscription) -> SharedCondition:
        shared = self._shared.get(condition)
        if shared is None:
            shared = self._shared[condition] = self._by_number[self._conditions] = SharedCondition(self._conditions)
            self._index.add(self._conditions, condition)
            self._conditions += 1
        return shared

    def remove(self, ordinal: int) -> None:
        """Forget an alert with its keys; what nobody shares any more goes with it."""
        self.dismiss(ordinal)
        member = self._members.pop(ordinal)
        family, asked = member.family, member.watched
        for key in list(member.states):
            member.forget(key)
        member.drop_unsaid()
        del family.members[ordinal]
        family.timed -= not member.timeless
        for condition in dict.fromkeys((asked.condition, asked.about or asked.condition, asked.until)):
            if condition is None:
                continue
            shared = self._shared[condition]
            shared.holding.pop(ordinal, None)
            shared.clearing.pop(ordinal, None)
            if shared.families.get((family.per, asked.until)) is family and not family.members:
                del shared.families[family.per, asked.until]
            if shared.unused():
                self._index.remove(shared.number)
                del self._shared[condition], self._by_number[shared.number]

    # -- after a step ---------------------------------------------------------------------------

    def _kept(self, member: Member) -> int:
        return max(self.forget, 2 * member.longest)

    def _settle_down(self, member: Member, key: Key, state: KeyState) -> None:
        """After a step: keep the state if it says anything, and note when it next moves by itself."""
        member.keep(key, state)
        due, known = state.due(member.alert, 0 if member.timeless else self.lateness), state.scheduled
        if due is None:
            state.scheduled = None
        elif known is None or (known[0], known[2], known[3]) != due or known[4] != key:
            state.scheduled = (due[0], member.ordinal, due[1], due[2], key)
            heapq.heappush(self._due, state.scheduled)

    def _tell(self, member: Member, key: Key, says: list[Say]) -> Hits:
        if not says:
            return []
        if member.alert.digest_every is None:
            return [(member.ordinal, self._match(member, key, say)) for say in says]
        for say in says:
            member.items.append(item_of(say, key))
            if say.about.event_id is not None:
                self._heard.setdefault(say.about.event_id, []).append((member.ordinal, key))
        self._schedule_digest(member)
        return []

    def _schedule_digest(self, member: Member) -> None:
        end = member.digest_end()
        if end is not None and end != member.scheduled:
            heapq.heappush(self._due, (end, member.ordinal, DIGEST, 0, ()))
        member.scheduled = end

    def _match(self, member: Member, key: Key, say: Say) -> Match:
        about = say.about
        return Match(
            about.event_id,
            member.subscription.id,
            "alert",
            about.score,
            about.product,
            None,
            (),
            None,
            say.cause,
            self.curve,
            Spoken(key, say.moment, say.since, say.suppressed, stale=say.stale),
        )

    def _note(self, member: Member) -> None:
        """Note which events can be withdrawn from an alert."""
        for key, id in _withdrawable(member):
            if id is not None:
                self._heard.setdefault(id, []).append((member.ordinal, key))


def _withdrawable(member: Member) -> Iterator[tuple[Key, str | None]]:
    for item in member.items:
        yield item.key, item.event_id
    before = [(key, unsaid.state) for key, unsaid in member.unsaid.items()]
    for key, state in (*member.states.items(), *before):
        for heard in (*state.trail, *state.waiting, *state.deferred, *state.doubted):
            yield key, heard.event_id
        for id in state.held_back:
            yield key, id
    for key, unsaid in member.unsaid.items():
        for heard in unsaid.heard:
            yield key, heard.event_id
