"""The registry of alerts in the engine: members by ordinal, the conditions they share, and one queue of timers.

Whose silence counts for `absent for`, and from when on: outages of ours, sources that rest or were announced.

What cannot be heard is not silent. While what brings a source is down, or the source was told to rest, its keys are
paused, and what passed meanwhile does not count. A source that announced what an alert asks for is waited for from
then on, as if it had held once.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from likewise.defaults import ALERT_FORGET, ALERT_STALE, CACHE_BYTES, LATENESS, THRESHOLD
from likewise.matching.alerts.alert_groups import ActiveAlert, AlertCondition, AlertGroup
from likewise.matching.alerts.key_state import KeyState, Scheduled
from likewise.matching.condition_index import ConditionIndex
from likewise.matching.engine import BaseEngine
from likewise.matching.reference.alerts.clocks import NewestTimes, SuspiciousEvents, WrongClocks, rename_clock
from likewise.matching.reference.alerts.digest import item_of
from likewise.matching.reference.alerts.outages import AbsenceSuspensions
from likewise.matching.reference.alerts.state import DueNotification, Observation, outage_since
from likewise.matching.reference.alerts.transitions import alert_conditions
from likewise.matching.reference.match_threshold import MatchThreshold
from likewise.model import Match, Subscription
from likewise.model.alerts.notification import AlertNotification, Key, Why
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.model.probability import AS_SCORED, ProbabilityCurve

if TYPE_CHECKING:
    from likewise.semantics.measure import Measure


Hits = list[tuple[int, Match]]
DIGEST = 0  # comes before what happens at the same moment
ROOM = 10_000  # keys and marks before those of which nothing came for long are looked for


class AlertRegistry(BaseEngine):
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
        self._members: dict[int, ActiveAlert] = {}
        self._shared: dict[Subscription, AlertCondition] = {}
        self._by_number: dict[int, AlertCondition] = {}
        self._conditions = 0
        self._sequence = 0
        self._due: list[Scheduled] = []
        self._heard: dict[str, list[tuple[int, Key]]] = {}  # event id -> where it may still be withdrawn
        self._room = ROOM
        self._excuses = AbsenceSuspensions()
        self.clocks: WrongClocks = {}
        self.newest: NewestTimes = {}
        self.suspicious: SuspiciousEvents = {}
        self._doubting: dict[str, set[tuple[int, Key]]] = {}  # by source: keys where events of it wait, or did

    # -- members --------------------------------------------------------------------------------

    def add(self, ordinal: int, subscription: Subscription, at: int) -> None:
        """Hold an alert; its keys have no state yet."""
        self.register(ordinal, subscription)
        assert subscription.alert is not None  # `serves` lets nothing else in
        conditions = alert_conditions(subscription)
        about, per = conditions.about or conditions.condition, subscription.alert.per
        exact = self._share(conditions.condition)
        near = self._share(about)
        # Of one condition, alerts that are about it and those that hold by it alone are two groups.
        kind = (per, conditions.until, conditions.about is not None)
        family = near.families.get(kind)
        if family is None:
            family = near.families[kind] = AlertGroup(per, whole=conditions.about is not None)
        needed = MatchThreshold.of(subscription, self.threshold, self.curve).score
        member = ActiveAlert(ordinal, subscription, conditions, needed, family, self.stale)
        exact.holding[ordinal] = family.members[ordinal] = self._members[ordinal] = member
        family.timed += not member.uses_arrival_time
        if conditions.until is not None:
            self._share(conditions.until).clearing[ordinal] = member

    def _share(self, condition: Subscription) -> AlertCondition:
        shared = self._shared.get(condition)
        if shared is None:
            shared = self._shared[condition] = self._by_number[self._conditions] = AlertCondition(self._conditions)
            self._index.add(self._conditions, condition)
            self._conditions += 1
        return shared

    def remove(self, ordinal: int) -> None:
        """Forget an alert with its keys; what nobody shares any more goes with it."""
        self.unregister(ordinal)
        member = self._members.pop(ordinal)
        family, conditions = member.family, member.watched
        for key in list(member.states):
            member.forget(key)
        member.clear_pending_digest()
        del family.members[ordinal]
        family.timed -= not member.uses_arrival_time
        for condition in dict.fromkeys(
            (conditions.condition, conditions.about or conditions.condition, conditions.until)
        ):
            if condition is None:
                continue
            shared = self._shared[condition]
            shared.holding.pop(ordinal, None)
            shared.clearing.pop(ordinal, None)
            kind = (family.per, conditions.until, family.whole)
            if shared.families.get(kind) is family and not family.members:
                del shared.families[kind]
            if shared.is_unused():
                self._index.remove(shared.number)
                del self._shared[condition], self._by_number[shared.number]
        if not self._members:  # how far sources are counts from the first alert on
            self.newest, self.suspicious = {}, {}

    # -- after a step ---------------------------------------------------------------------------

    def _retention(self, member: ActiveAlert) -> int:
        return max(self.forget, 2 * member.longest)

    def _reschedule(self, member: ActiveAlert, key: Key, state: KeyState) -> None:
        """After a step: keep the state if it says anything, and note when it next moves by itself."""
        member.store(key, state)
        due, known = state.due(member.alert, 0 if member.uses_arrival_time else self.lateness), state.scheduled
        if due is None:
            state.scheduled = None
        elif known is None or (known[0], known[2], known[3]) != due or known[4] != key:
            state.scheduled = (due[0], member.ordinal, due[1], due[2], key)
            heapq.heappush(self._due, state.scheduled)

    def _notify(self, member: ActiveAlert, key: Key, notifications: list[DueNotification]) -> Hits:
        if not notifications:
            return []
        if member.alert.digest_every is None:
            return [(member.ordinal, self._match(member, key, notification)) for notification in notifications]
        for notification in notifications:
            member.items.append(item_of(notification, key))
            if notification.about.event_id is not None:
                self._heard.setdefault(notification.about.event_id, []).append((member.ordinal, key))
        self._schedule_digest(member)
        return []

    def _schedule_digest(self, member: ActiveAlert) -> None:
        end = member.digest_end()
        if end is not None and end != member.scheduled:
            heapq.heappush(self._due, (end, member.ordinal, DIGEST, 0, ()))
        member.scheduled = end

    def _match(self, member: ActiveAlert, key: Key, notification: DueNotification) -> Match:
        about = notification.about
        return Match(
            about.event_id,
            member.subscription.id,
            "alert",
            about.score,
            about.product,
            None,
            (),
            None,
            notification.cause,
            self.curve,
            AlertNotification(
                key, notification.moment, notification.since, notification.suppressed, stale=notification.stale
            ),
        )

    def _index_events(self, member: ActiveAlert) -> None:
        """Note which events can be withdrawn from an alert, and which of its keys doubt an event's clock."""
        for key, id in _withdrawable(member):
            if id is not None:
                self._heard.setdefault(id, []).append((member.ordinal, key))
        for key, state in member.states.items():
            for each in state.doubted:
                self._doubting.setdefault(each.source, set()).add((member.ordinal, key))


class AbsenceTracking(AlertRegistry):
    """Alerts that know whose silence means nothing."""

    def outage(self, by: int, until: int | None = None) -> None:
        """Nothing could be heard for so long (µs), until a moment: silence counts on from there."""
        for member in self._members.values():
            if member.uses_arrival_time:
                member.clear_pending_digest()
                for key, state in list(member.states.items()):
                    if state.paused is not None:  # all of its silence is excused
                        continue
                    part = by if until is None else outage_since(state.last_observed_at(), by, until)
                    state.shift(member.alert, part, only_arrival=True)
                    if until is not None:
                        state.last_arrival = min(state.last_arrival, until)
                    self._reschedule(member, key, state)

    def unsend(self, ordinal: int, key: Key, event_id: str) -> None:
        """Let the last alarm of a key, naming an event, be one that was never sent: it is deferred if it stands."""
        member = self._members[ordinal]
        if member.alert.digest_every is None and (state := member.states.get(key)) is not None and self.now is not None:
            state.unsend(member.alert, event_id, self.now, "" if member.alert.per else key[0])
            self._reschedule(member, key, state)

    def postpone_expiry(self, by: int) -> None:
        """Let a time (µs) in which nothing came at all bring no key nearer to being forgotten."""
        for member in self._members.values():
            for state in member.states.values():
                state.last_arrival += by

    def suspend_absence(self, sources: Iterable[str], why: Why, at: int) -> None:
        """From now on the silence of some sources means nothing."""
        self._update_pauses(self._excuses.add(sources, why), at)

    def resume_absence(self, sources: Iterable[str], why: Why, at: int) -> None:
        """It counts again; what passed meanwhile does not."""
        self._update_pauses(self._excuses.end(sources, why), at)

    def suspended_sources(self, why: Why) -> set[str]:
        """The sources whose silence means nothing."""
        return set(self._excuses.sources[why])

    def _update_pauses(self, sources: Iterable[str], at: int) -> None:
        now, changed = at if self.now is None else max(self.now, at), list(sources)
        for member in self._members.values() if changed else ():
            if member.uses_arrival_time:
                for key, state in list(self._of(member, changed)):
                    if self._update_pause(member, key, state, now):
                        self._reschedule(member, key, state)

    def _of(self, member: ActiveAlert, sources: Iterable[str]) -> Iterator[tuple[Key, KeyState]]:
        """The keys of an alert that some sources may belong to."""
        if member.alert.per:
            yield from member.states.items()
            return
        for source in sources:
            if (state := member.states.get((source,))) is not None:
                yield (source,), state

    def _update_pause(self, member: ActiveAlert, key: Key, state: KeyState, now: int) -> bool:
        sources = state.sources() if member.alert.per else {key[0]}
        changed = state.update_pause(member.alert, self._excuses.cover(sources), now)
        if changed:
            member.clear_pending_digest(key)
        return changed

    # -- announced sources ----------------------------------------------------------------------

    def expect(self, ordinal: int, key: Key, source: str, event_id: str | None, at: int) -> None:
        """Something is to come from a key, though nothing held yet: its silence counts from now on."""
        member, now = self._members[ordinal], at if self.now is None else max(self.now, at)
        if not member.uses_arrival_time:
            return
        state = member.states.get(key)
        if state is not None and now - state.last_arrival >= self._retention(member):
            member.forget(key)
            state = None
        state = state or KeyState()
        observation = Observation(self._sequence + 1, now, now, source, event_id, True, False, False, 1.0, 1.0)
        if not state.expect(member.alert, observation):
            return
        self._sequence += 1
        member.clear_pending_digest(key)
        self._update_pause(member, key, state, now)
        self._reschedule(member, key, state)
        if event_id is not None:
            self._heard.setdefault(event_id, []).append((ordinal, key))

    def unexpect(self, ordinal: int, key: Key, event_id: str) -> None:
        """It is not to come any more; a key that has held otherwise is watched on."""
        member = self._members[ordinal]
        state = member.states.get(key)
        if member.uses_arrival_time and state is not None:
            member.clear_pending_digest(key)
            if state.unexpect(member.alert, event_id):
                member.forget(key)
            else:
                self._reschedule(member, key, state)

    def rename(self, before: str, after: str) -> None:
        """Note that an expected event was sent anew: by another event, in place of an earlier one."""
        known = self._heard.get(before, [])
        for ordinal, key in set(known):
            member = self._members.get(ordinal)
            if member is None or not member.uses_arrival_time:
                continue
            state = member.states.get(key)
            if state is not None and state.rename(before, after):
                member.clear_pending_digest(key)
                self._heard.setdefault(after, []).append((ordinal, key))

    def rename_source(self, before: str, after: str | None) -> None:
        """Let what is known of a source count for another from now on, or (None) for nobody; nothing is said of it."""
        for family in {id(member.family): member.family for member in self._members.values()}.values():
            for mark in [mark for mark in family.marks if (mark if isinstance(mark, str) else mark[1]) == before]:
                time = family.marks.pop(mark)
                if after is not None:
                    known = family.clock_key(() if isinstance(mark, str) else mark[0], after)
                    family.marks[known] = max(time, family.marks.get(known, time))
        rename_clock(self.clocks, self.newest, self.suspicious, before, after)
        for member in self._members.values():
            member.clear_pending_digest()
            if member.alert.per:
                self._rename_within(member, before, after)
            elif (state := member.states.get((before,))) is not None:
                self._rename_key(member, state, before, after)
            if after is not None and not member.alert.per:
                member.items = [replace(item, key=(after,)) if item.key == (before,) else item for item in member.items]
            self._index_events(member)

    def _rename_within(self, member: ActiveAlert, before: str, after: str | None) -> None:
        """Rename a source in keys that several may have; a key that nothing is left of is let go."""
        for key, state in list(member.states.items()):
            if state.rename_source(member.alert, before, after):
                if after is None and state.is_over(member.alert):
                    member.forget(key)
                else:
                    self._settle_renamed(member, key, state)

    def _rename_key(self, member: ActiveAlert, state: KeyState, before: str, after: str | None) -> None:
        """Move the key of a source; where the other has one, the one that is active is kept, else the newer."""
        member.forget((before,))
        if after is None:
            return
        state.rename_source(member.alert, before, after)
        other = member.states.get((after,))
        if other is not None:
            newest = max(state.last_arrival, other.last_arrival)
            state = state if state.precedence(member.alert) > other.precedence(member.alert) else other
            state.last_arrival, state.scheduled = newest, None
            member.forget((after,))
        self._settle_renamed(member, (after,), state)

    def _settle_renamed(self, member: ActiveAlert, key: Key, state: KeyState) -> None:
        """Keep a key under its new name, whose silence may be excused, or not."""
        if member.uses_arrival_time:
            self._update_pause(member, key, state, self.now or 0)
        self._reschedule(member, key, state)

    def is_expected(self, ordinal: int, key: Key) -> bool:
        """Return whether a key of an alert is waited for."""
        member = self._members.get(ordinal)
        return member is not None and key in member.states


def _withdrawable(member: ActiveAlert) -> Iterator[tuple[Key, str | None]]:
    for item in member.items:
        yield item.key, item.event_id
    before = [(key, pending.state) for key, pending in member.unsaid.items()]
    for key, state in (*member.states.items(), *before):
        for observation in (*state.trail, *state.waiting, *state.deferred, *state.doubted):
            yield key, observation.event_id
        for id in state.held_back:
            yield key, id
    for key, pending in member.unsaid.items():
        for observation in pending.observations:
            yield key, observation.event_id
