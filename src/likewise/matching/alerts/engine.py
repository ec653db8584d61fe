"""Alerts over many keys: what an event moves is found through the index, what time moves through one queue.

For each event the index says which conditions it meets: an alert's own (it holds), a family's `about` (who follows this
key and does not hold fails), and what arms an alert again. Nothing looks at all alerts, nor at all keys.

Taking an event back from alerts: it no longer counts for what has not been said; what was said stays said.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import msgspec
import numpy as np

from likewise.defaults import CLOCK_BEHIND
from likewise.errors import ArtefactDamaged, UnknownId
from likewise.matching.alerts.alert_groups import ActiveAlert, AlertGroup
from likewise.matching.alerts.alert_registry import DIGEST, ROOM, AbsenceTracking, Hits
from likewise.matching.alerts.key_state import KeyState
from likewise.matching.alerts.pending_digest import DigestCheckpoint
from likewise.matching.alerts.saved_state import (
    Row,
    SavedAlertHeader,
    SavedMarks,
    checkpoint_of,
    checkpoint_row,
    digest_row,
    items_of,
    read_alerts,
    state_of,
    state_row,
    write_alerts,
)
from likewise.matching.cache_use import CacheUse
from likewise.matching.engine import EngineBatchResult, EngineResult, batch_result
from likewise.matching.explain.alerts import AlertKeyStatus, standing_of, with_alert_status
from likewise.matching.explain.explain import explain
from likewise.matching.reference.alerts.clocks import (
    first_arrival,
    first_doubted,
    is_doubted,
    merge_suspicious,
    note_clock,
    note_newest,
    note_suspicious,
    shifted,
)
from likewise.matching.reference.alerts.digest import gathered, with_items
from likewise.matching.reference.alerts.outages import WHYS
from likewise.matching.reference.alerts.state import DOUBTED, Observation
from likewise.matching.reference.alerts.transitions import key_of
from likewise.matching.reference.conditions import ConditionMatch
from likewise.matching.reference.lateness import is_late
from likewise.model import Event, Explanation, Kind, Match, Promotion
from likewise.model.alerts.alert_state import AlertKeyState
from likewise.model.alerts.notification import Key


class AlertWithdrawal(AbsenceTracking):
    """Alerts from which events can be withdrawn."""

    def withdraw(self, event_id: str) -> Hits:
        """Take an event back: it no longer counts for what has not been said."""
        hits: Hits = []
        places: dict[int, list[Key]] = {}
        for ordinal, key in sorted(set(self._heard.pop(event_id, ()))):
            places.setdefault(ordinal, []).append(key)
        for ordinal, keys in places.items():
            member = self._members.get(ordinal)
            if member is None:
                continue
            left = [key for key in keys if not (key in member.unsaid and self._replay_without(member, key, event_id))]
            if member.items:
                member.items = [item for item in member.items if item.event_id != event_id]
                self._schedule_digest(member)
            for key in left:  # last: what they say may name the event
                hits += self._withdraw_from_key(member, key, event_id)
        return hits

    def _withdraw_from_key(self, member: ActiveAlert, key: Key, event_id: str) -> Hits:
        state = member.states.get(key)
        if state is None:
            return []
        notifications = state.withdraw(member.alert, event_id, self.now or 0)
        if member.uses_arrival_time:
            self._update_pause(member, key, state, self.now or 0)
        self._reschedule(member, key, state)
        return self._notify(member, key, notifications)

    def _replay_without(self, member: ActiveAlert, key: Key, event_id: str) -> bool:
        """Let a key be as if an event had not been, if it only moved what waits in a digest; whether that was done."""
        pending, lateness = member.unsaid[key], 0 if member.uses_arrival_time else self.lateness
        gathered_it = any(item.key == key and item.event_id == event_id for item in member.items)
        if not (gathered_it or pending.may_name(event_id)):
            return False
        replayed = pending.replay_without(member.alert, event_id, self.now or 0, lateness)
        if replayed is None:
            member.clear_pending_digest(key)
            return False
        state, notifications = replayed
        member.items, pending.settled = with_items(member.items, key, pending.settled, event_id, notifications)
        if not any(item.key == key for item in member.items):
            member.clear_pending_digest(key)
        if member.uses_arrival_time:
            self._update_pause(member, key, state, self.now or 0)
        member.replace(key, state)
        self._reschedule(member, key, state)
        self._schedule_digest(member)
        return True


class _Transition:
    """The effect of an event on one alert."""

    __slots__ = ("clears", "fails", "holds", "member", "met")

    def __init__(self, member: ActiveAlert) -> None:
        self.member = member
        self.holds = self.fails = self.clears = False
        self.met: ConditionMatch | None = None


class AlertEngine(AlertWithdrawal):
    """Subscriptions that speak of what lasts. `refused_late` counts events that came too late, `keyless` those that
    lack what tells keys apart; a key of which nothing came for `forget` (µs) is forgotten.

    >>> from likewise.language import parse
    >>> from likewise.model import event
    >>> engine = AlertEngine()
    >>> engine.add(0, parse("{x > 1} for 5 s", id="high"), at=0)
    >>> engine.match(event({"x": 2}, id="a"), at=0), [match.cause for _, match in engine.advance(5_000_000)]
    ([], ['held'])
    """

    kinds: ClassVar[frozenset[Kind]] = frozenset({"alert"})

    # -- events ---------------------------------------------------------------------------------

    def find(self, event: Event, at: int) -> EngineResult:
        """Nothing is met on arrival alone: what alerts say is told by `match` and `match_batch`."""
        self._arrive(event, at)
        return EngineResult(np.empty(0, np.int64), np.empty(0, np.float32))

    def match(self, event: Event, at: int) -> Hits:
        """Return what is said by the time of an event, and because of it, ordered by ordinal."""
        return sorted(self._arrive(event, at), key=lambda hit: hit[0])

    def match_batch(self, events: Sequence[Event], at: Sequence[int]) -> EngineBatchResult:
        """`match` for each event in turn; everything said stands among the promotions."""
        founds, promotions = [], []
        for index, (event, when) in enumerate(zip(events, at, strict=True)):
            promotions += [Promotion(index, match, ordinal) for ordinal, match in self.match(event, when)]
            founds.append(EngineResult(np.empty(0, np.int64), np.empty(0, np.float32)))
        return batch_result(founds, promotions)

    def _arrive(self, event: Event, at: int) -> Hits:
        hits = self.advance(at)
        assert self.now is not None
        now, source = self.now, event.source or ""
        time = min(now, at if event.time is None else event.time)
        suspicious = upload = False
        if self._members:
            if self.newest.get(source, time) <= time:  # most events: one look, and neither function is called
                self.newest[source] = time
                if self.clocks and now - time <= CLOCK_BEHIND:
                    self.clocks.pop(source, None)
            elif is_doubted(self.newest, source, time, now, self.lateness, self.forget):
                suspicious = True
                upload = note_suspicious(self.suspicious, source, first_arrival(event, now), time)
                if upload:
                    self._drop_upload(source)
        met_conditions = self._index.match(event, at)
        if met_conditions:
            hits += self._observe(event, now, source, time, met_conditions, suspicious=suspicious, upload=upload)
        if len(self._heard) + len(self.newest) > self._room:
            self._forget_old(now)
        return hits

    def _drop_upload(self, source: str) -> None:
        """Drop the doubted events of a source, which turn out to be of an upload."""
        for ordinal, key in self._doubting.pop(source, ()):
            member = self._members.get(ordinal)
            state = None if member is None else member.states.get(key)
            if member is not None and state is not None and state.drop_upload(source):
                member.clear_pending_digest(key)
                self._reschedule(member, key, state)

    def _observe(
        self,
        event: Event,
        now: int,
        source: str,
        time: int,
        met_conditions: list[tuple[int, ConditionMatch]],
        *,
        suspicious: bool,
        upload: bool,
    ) -> Hits:
        """Let an event that meets some conditions move the keys of their alerts."""
        hits: Hits = []
        keys: dict[tuple[str, ...], Key | None] = {}
        moves = self._transitions(event, met_conditions, keys)
        late = False
        marked: dict[AlertGroup, None] = {}
        lately: dict[AlertGroup, int] = {}
        for number, _ in met_conditions:
            for family in self._by_number[number].families.values():
                if family.whole and family.timed and _key(event, family.per, keys) is not None:
                    marked[family] = None
        self._sequence += 1
        for ordinal in sorted(moves):
            move = moves[ordinal]
            member, family = move.member, move.member.family
            key = keys[family.per]
            assert key is not None  # others move nothing
            doubted = suspicious and not member.uses_arrival_time
            if doubted and upload:
                continue
            if not (member.uses_arrival_time or doubted):
                behind = lately.get(family)
                if behind is None:
                    behind = lately[family] = self._is_late(family, key, source, time)
                if behind:
                    late = True
                    continue
                if move.holds or move.clears:
                    marked[family] = None
            state = member.states.get(key)
            if state is not None and now - state.last_arrival >= self._retention(member):
                member.forget(key)
                state = None
            if state is None:
                if doubted and not move.holds:
                    continue
                if not (move.holds or (self.lateness and not member.uses_arrival_time) or key in member.unsaid):
                    continue
                state = KeyState()
            score, product = (1.0, 1.0) if move.met is None else move.met[:2]
            observation = Observation(
                self._sequence, now, time, source, event.id, move.holds, move.fails, move.clears, score, product
            )
            if member.uses_arrival_time and not (move.holds or move.fails):
                continue
            if doubted:
                observation = observation._replace(time=first_arrival(event, now), stated=time)
                self._doubting.setdefault(source, set()).add((ordinal, key))
            lateness = 0 if member.uses_arrival_time else self.lateness
            before = state.copy() if member.retells and key not in member.unsaid else None
            notifications = state.observe(member.alert, observation, lateness)
            if before is None:
                if member.unsaid and key in member.unsaid:
                    member.unsaid[key].observe(member.alert, observation, lateness)
            elif notifications:
                member.set_pending_digest(key, DigestCheckpoint(before, [observation]))
            if member.uses_arrival_time and (self._excuses or state.paused is not None):
                self._update_pause(member, key, state, now)
            self._reschedule(member, key, state)
            if event.id is not None and (key in member.states or key in member.unsaid or notifications):
                self._heard.setdefault(event.id, []).append((ordinal, key))
            hits += self._notify(member, key, notifications)
        self.refused_late += late
        self.keyless += None in keys.values()
        for family in marked:
            key = keys[family.per]
            if key is not None and not (suspicious or lately.get(family)):
                mark = family.clock_key(key, source)
                family.marks[mark] = max(time, family.marks.get(mark, time))
        return hits

    def _transitions(
        self, event: Event, met_conditions: list[tuple[int, ConditionMatch]], keys: dict[tuple[str, ...], Key | None]
    ) -> dict[int, _Transition]:
        """Return what an event does to the alerts it can move, by ordinal."""
        moves: dict[int, _Transition] = {}
        unsure: set[int] = set()
        for number, how in met_conditions:
            for ordinal, member in self._by_number[number].holding.items():
                if how.score < member.needed:
                    unsure.add(ordinal)
                elif _key(event, member.family.per, keys) is not None:
                    move = moves.get(ordinal)
                    if move is None:
                        move = moves[ordinal] = _Transition(member)
                    move.holds, move.met = True, how
        for number, _ in met_conditions:
            shared = self._by_number[number]
            for family in shared.families.values():
                key = _key(event, family.per, keys)
                if key is None or not family.whole:
                    continue
                for ordinal in family.members if self.lateness else family.live.get(key, ()):
                    if ordinal not in unsure and (ordinal not in moves or not moves[ordinal].holds):
                        moves.setdefault(ordinal, _Transition(family.members[ordinal])).fails = True
            for ordinal, member in shared.clearing.items():
                if _key(event, member.family.per, keys) is not None:
                    moves.setdefault(ordinal, _Transition(member)).clears = True
        return moves

    def _is_late(self, family: AlertGroup, key: Key, source: str, time: int) -> bool:
        """Return whether an event is older than another of its source on its key, and came too late to count."""
        assert self.now is not None
        newest = family.marks.get(family.clock_key(key, source), time)
        return time < newest and is_late(time, self.now, self.lateness) and self.now - self.forget < newest

    # -- time -----------------------------------------------------------------------------------

    def advance(self, now: int) -> Hits:
        """Let time pass; what is due is said in the order of moments, then of ordinals, then of keys."""
        hits: Hits = []
        while self._due and self._due[0][0] <= now:
            entry = heapq.heappop(self._due)
            moment, ordinal, what, _, key = entry
            member = self._members.get(ordinal)
            if member is None:
                continue
            if what == DIGEST:
                if member.scheduled == moment:
                    hits.append((ordinal, self._digest(member, moment)))
                continue
            state = member.states.get(key)
            if state is None or state.scheduled is not entry:
                continue
            state.scheduled = None
            if what == DOUBTED:
                note_clock(self.clocks, first_doubted(state.doubted))
            before = state.copy() if member.retells and key not in member.unsaid else None
            notifications = state.tick(member.alert, moment, what, 0 if member.uses_arrival_time else self.lateness)
            if before is not None and notifications:
                member.set_pending_digest(key, DigestCheckpoint(before))
            self._reschedule(member, key, state)
            hits += self._notify(member, key, notifications)
        self.now = now if self.now is None else max(self.now, now)
        return hits

    def _digest(self, member: ActiveAlert, moment: int) -> Match:
        spoken, last = gathered(member.items, moment), member.items[-1]
        member.items, member.scheduled = [], None
        member.clear_pending_digest()
        return Match(
            last.event_id,
            member.subscription.id,
            "alert",
            last.score,
            last.score,
            None,
            (),
            None,
            "digest",
            self.curve,
            spoken,
        )

    def shift(self, by: int) -> None:
        """Let time, and everything that is known, count as so many µs later: a clock was set."""
        if self.now is None:
            return
        self.now += by
        self._due = []
        for family in {member.family: None for member in self._members.values()}:
            family.marks = {mark: time + by for mark, time in family.marks.items()}
        self.newest = {source: time + by for source, time in self.newest.items()}
        self.suspicious = shifted(self.suspicious, by)
        for member in self._members.values():
            member.items = [msgspec.structs.replace(item, moment=item.moment + by) for item in member.items]
            member.scheduled = None
            member.clear_pending_digest()
            self._schedule_digest(member)
            for key, state in list(member.states.items()):
                state.shift(member.alert, by)
                self._reschedule(member, key, state)

    def _forget_old(self, now: int) -> None:
        """Now and then, let go of keys of which nothing came for long, and of what can no longer be withdrawn."""
        for member in self._members.values():
            retention = self._retention(member)
            for key in [key for key, state in member.states.items() if now - state.last_arrival >= retention]:
                member.forget(key)
        for family in {member.family: None for member in self._members.values()}:
            family.marks = {mark: time for mark, time in family.marks.items() if now - self.forget < time}
        self.newest = {source: time for source, time in self.newest.items() if now - self.forget < time}
        self._heard, self._doubting = {}, {}
        for member in self._members.values():
            self._index_events(member)
        self._room = max(ROOM, 2 * (len(self._heard) + len(self.newest)))

    # -- telling --------------------------------------------------------------------------------

    def explain(self, event: Event, ordinal: int, at: int) -> Explanation:
        """Why the event does or does not meet the alert, and where its key stands."""
        member = self._members.get(ordinal)
        if member is None:
            raise UnknownId(str(ordinal))
        explanation = explain(
            event,
            member.subscription,
            measure=self.measure,
            threshold=self.threshold,
            curve=self.curve,
            at=at,
            types=self.types,
        )
        now = at if self.now is None else max(self.now, at)
        key = key_of(event, member.alert.per)
        state = None if key is None else member.states.get(key)
        if state is None or (self.now or 0) - state.last_arrival >= self._retention(member):
            return with_alert_status(explanation, member.alert, AlertKeyStatus(key is not None, now))
        position = standing_of(
            member.alert,
            state.run(member.alert),
            state.active,
            spoken=state.spoken,
            quiet_until=state.quiet_until,
            now=now,
            source=event.source or "",
        )
        return with_alert_status(explanation, member.alert, position)

    def standings(self, ordinal: int, limit: int) -> list[AlertKeyState]:
        """The keys of an alert: first those of which something was said, then those that hold, the newest first."""
        states = self._members[ordinal].states
        first = heapq.nlargest(limit, states.items(), key=lambda item: item[1].rank())
        return [
            AlertKeyState(
                key,
                state.last_observed_at(),
                state.begin,
                state.told,
                state.spoken,
                state.absent,
                state.quiet_until,
                len(state.held_back) + state.more_held_back,
                state.paused,
            )
            for key, state in first
        ]

    def count_keys(self, ordinal: int) -> int:
        """Return how many keys of an alert have a state."""
        return len(self._members[ordinal].states)

    def keys(self) -> int:
        """Return how many keys have a state, over all alerts."""
        return sum(len(member.states) for member in self._members.values())

    def next_due(self) -> int | None:
        """When time next moves something by itself, or an earlier moment: what was put off leaves its place behind."""
        return self._due[0][0] if self._due else None

    def may_name(self, event_id: str) -> bool:
        """Return whether what is said next may name an event: the newest about a key, or one that a digest gathered."""
        for ordinal, key in self._heard.get(event_id, ()):
            member = self._members.get(ordinal)
            state = None if member is None else member.states.get(key)
            if state is not None and state.may_name(event_id):
                return True
            if member is not None and member.items and member.items[-1].event_id == event_id:
                return True
        return False

    def adopt(self, other: AlertEngine, ordinals: Mapping[int, int]) -> None:
        """Take over what another engine knows of some alerts, from its ordinals to those here; it is done with then.

        What its digests hold stays behind, and of what waits nothing is said: it came before.
        """
        self.now = other.now if self.now is None else max(self.now, other.now or self.now)
        for source, time in other.newest.items():
            note_newest(self.newest, source, time)
        merge_suspicious(self.suspicious, other.suspicious)
        for theirs, ours in ordinals.items():
            source_member, member = other._members.get(theirs), self._members.get(ours)
            if source_member is None or member is None:
                continue
            for mark, time in source_member.family.marks.items():
                member.family.marks[mark] = max(time, member.family.marks.get(mark, time))
            for key, state in source_member.states.items():
                state.scheduled = None
                state.mark_earlier(member.alert, self.now or 0)
                if member.uses_arrival_time:
                    self._update_pause(member, key, state, self.now or 0)
                self._reschedule(member, key, state)
            self._index_events(member)

    def caches(self) -> dict[str, CacheUse]:
        """Return what the index of conditions looks up."""
        return self._index.caches()

    def forget_relatedness(self, of: Callable[[str], bool]) -> None:
        """Let the index of conditions forget what it knows about some seen texts."""
        self._index.forget_relatedness(of)

    # -- keeping --------------------------------------------------------------------------------

    def save(self, folder: Path) -> None:
        """Write every key's state, how far sources are, and what digests hold."""
        excused = {why: sorted(self.suspended_sources(why)) for why in WHYS}
        facts = SavedAlertHeader(
            self.now,
            self._sequence,
            self.refused_late,
            self.keyless,
            "",
            excused,
            clocks=self.clocks,
            newest=self.newest,
            suspicious=self.suspicious,
        )
        write_alerts(folder, self._rows(), facts)

    def _rows(self) -> Iterator[Row]:
        for family in {member.family: None for member in self._members.values()}:
            if family.marks:
                marks = [
                    ((), mark, time) if isinstance(mark, str) else (*mark, time) for mark, time in family.marks.items()
                ]
                yield "marks", min(family.members), msgspec.json.encode(SavedMarks(marks))
        for ordinal, member in self._members.items():
            if member.items:
                yield digest_row(ordinal, member.items)
            for key, pending in member.unsaid.items():
                yield checkpoint_row(ordinal, key, pending)
            for key, state in member.states.items():
                yield state_row(ordinal, key, state)

    def load(self, folder: Path) -> None:
        """Fill the keys with what `save` wrote."""
        facts, rows = read_alerts(folder)
        for what, ordinal, value in rows:
            member = self._members.get(ordinal)
            if member is None:
                raise UnknownId(str(ordinal))
            try:
                self._restore_row(member, what, value, facts)
            except msgspec.MsgspecError as error:
                raise ArtefactDamaged(f"{folder}: a state of alert {ordinal} cannot be read ({error})") from None
        for why, sources in facts.excused.items():
            self._excuses.add(sources, why)
        self.now, self._sequence = facts.now, facts.sequence
        self.refused_late, self.keyless = facts.refused_late, facts.keyless
        self.clocks, self.newest, self.suspicious = facts.clocks, facts.newest, facts.suspicious
        for member in self._members.values():
            self._index_events(member)

    def _restore_row(self, member: ActiveAlert, what: str, value: bytes, facts: SavedAlertHeader) -> None:
        if what == "marks":
            family = member.family
            saved = msgspec.json.decode(value, type=SavedMarks).marks
            family.marks = {family.clock_key(key, source): time for key, source, time in saved}
        elif what == "digest":
            member.items = items_of(value)
            self._schedule_digest(member)
        elif what == "unsaid":
            key, pending = checkpoint_of(value, member.alert, facts)
            member.set_pending_digest(key, pending)
        else:
            key, state = state_of(value, member.alert, facts)
            self._reschedule(member, key, state)


def _key(event: Event, per: tuple[str, ...], keys: dict[tuple[str, ...], Key | None]) -> Key | None:
    if per not in keys:
        keys[per] = key_of(event, per)
    return keys[per]
