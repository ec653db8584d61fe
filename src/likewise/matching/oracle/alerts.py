"""Alerts of the plain engine: every key of every subscription is looked at, at every step."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from likewise.defaults import ALERT_FORGET, ALERT_STALE, CLOCK_BEHIND
from likewise.errors import ArtefactDamaged, UnknownId
from likewise.matching.reference.alerts.clocks import (
    NewestTimes,
    SuspiciousEvents,
    WrongClocks,
    first_arrival,
    first_doubted,
    is_doubted,
    note_clock,
    note_newest,
    note_suspicious,
    rename_clock,
    shifted,
)
from likewise.matching.reference.alerts.digest import end_of_period, gathered, item_of, with_items
from likewise.matching.reference.alerts.outages import WHYS, AbsenceSuspensions
from likewise.matching.reference.alerts.pending_digest import (
    PendingDigest,
    may_name,
    needs_replay,
    observe_pending,
    replay_without,
)
from likewise.matching.reference.alerts.renaming import folded, renamed
from likewise.matching.reference.alerts.state import (
    DOUBTED,
    AlertState,
    DueNotification,
    HoldingRun,
    Observation,
    Sources,
    deferred_of,
    drop_upload,
    due,
    is_blank,
    last_observed_at,
    last_of,
    observe,
    outage_since,
    remember,
    run_of,
    take_back,
    tick,
    unsent,
)
from likewise.matching.reference.alerts.transitions import AlertEvaluator, key_of
from likewise.matching.reference.event_view import EventView
from likewise.matching.reference.lateness import is_late
from likewise.model.alerts.clauses import Alert
from likewise.model.alerts.notification import AlertNotification, DigestItem, Key, Why
from likewise.model.event import Event
from likewise.model.match import Match
from likewise.model.probability import AS_SCORED, ProbabilityCurve
from likewise.model.subscription import Subscription

FILE: Final = "alerts.json"
Hits = list[tuple[int, Match]]
Marks = dict[Key, dict[str, int]]  # how far each source of a key has come, by its own time


class _SavedOracleAlerts(msgspec.Struct, frozen=True):
    """Alerts on disk: stories and digests by ordinal, how far sources are by an ordinal of their family."""

    now: int | None
    sequence: int
    refused_late: int
    keyless: int
    alerts: list[tuple[int, list[tuple[Key, AlertState]], list[DigestItem], list[tuple[Key, PendingDigest]]]]
    marks: list[tuple[int, list[tuple[Key, dict[str, int]]]]]
    excused: dict[Why, list[str]]
    clocks: WrongClocks = {}
    newest: NewestTimes = {}
    suspicious: SuspiciousEvents = {}


class OracleAlert:
    """One subscription: its conditions, its keys' stories, and what its digest has gathered."""

    def __init__(self, subscription: Subscription, watch: AlertEvaluator, stale: int) -> None:
        assert subscription.alert is not None
        self.subscription = subscription
        self.alert: Alert = subscription.alert.with_stale(stale)
        self.watch = watch
        self.stories: dict[Key, AlertState] = {}
        self.items: list[DigestItem] = []
        self.unsaid: dict[Key, PendingDigest] = {}


class OracleAlerts:
    """Alerts by ordinal. `refused_late` counts events that came too late for one, `keyless` those without its key."""

    def __init__(
        self,
        lateness: int,
        curve: ProbabilityCurve = AS_SCORED,
        forget: int = ALERT_FORGET,
        stale: int = ALERT_STALE,
    ) -> None:
        self.lateness, self.curve, self.forget, self.stale = lateness, curve, forget, stale
        self.now: int | None = None
        self.refused_late = self.keyless = 0
        self._sequence = 0
        self._alerts: dict[int, OracleAlert] = {}
        self._marks: dict[object, Marks] = {}  # shared by alerts about the same
        self._excuses = AbsenceSuspensions()
        self.clocks: WrongClocks = {}
        self._newest: NewestTimes = {}
        self._suspicious: SuspiciousEvents = {}

    def __len__(self) -> int:
        return len(self._alerts)

    def open(self, ordinal: int, subscription: Subscription, threshold: float) -> None:
        """Hold an alert; its keys have no story yet."""
        self._alerts[ordinal] = OracleAlert(
            subscription, AlertEvaluator(subscription, threshold, self.curve), self.stale
        )

    def close(self, ordinal: int) -> None:
        """Forget an alert, if it is one, and how far sources are once nobody asks for it."""
        if self._alerts.pop(ordinal, None) is not None:
            families = {_family(alert_entry) for alert_entry in self._alerts.values()}
            self._marks = {family: marks for family, marks in self._marks.items() if family in families}
            if not self._alerts:
                self._newest, self._suspicious = {}, {}

    def enter(self, event: Event, at: int, view: EventView) -> Hits:
        """An event arrives, time having moved; what is said of it at once."""
        assert self.now is not None
        if not self._alerts:
            self._sequence += 1
            return []
        now, hits = self.now, []
        sequence, self._sequence = self._sequence, self._sequence + 1
        time = min(now, at if event.time is None else event.time)
        source = event.source or ""
        marked: list[tuple[object, Key]] = []
        late = keyless = False
        suspicious = is_doubted(self._newest, source, time, now, self.lateness, self.forget)
        upload = suspicious and note_suspicious(self._suspicious, source, first_arrival(event, now), time)
        if upload:
            self._drop_upload(source)
        for ordinal, alert_entry in sorted(self._alerts.items()):
            move = alert_entry.watch.transition(view)
            if move is None:
                continue
            key = key_of(event, alert_entry.alert.per)
            if key is None:
                keyless = True
                continue
            family, timeless = _family(alert_entry), alert_entry.alert.absent_for is not None
            doubted = suspicious and not timeless
            if doubted and upload:
                continue
            newest = self._marks.get(family, {}).get(key, {}).get(source, time)
            late_again = time < newest and is_late(time, now, self.lateness)
            behind = late_again and not timeless and now - self.forget < newest
            if behind and not doubted:
                late = True
                continue
            if move.marks and not (timeless or doubted):
                marked.append((family, key))
            state = self._state(alert_entry, key, now)
            if not (move.holds or move.fails or move.clears):
                continue
            if (timeless or doubted) and state == AlertState() and not move.holds:
                continue
            if timeless and not (move.holds or move.fails):
                continue
            observation = Observation(
                sequence, now, time, source, event.id, move.holds, move.fails, move.clears, move.score, move.product
            )
            if doubted:
                observation = observation._replace(time=first_arrival(event, now), stated=time)
            if key in alert_entry.unsaid:
                alert_entry.unsaid[key] = observe_pending(
                    alert_entry.alert, alert_entry.unsaid[key], observation, self.lateness
                )
            advanced = observe(alert_entry.alert, state, observation, self.lateness)
            if advanced[1] and needs_replay(alert_entry.alert) and key not in alert_entry.unsaid:
                alert_entry.unsaid[key] = PendingDigest(state, (observation,))
            if timeless:
                advanced = (self._paused_or_not(alert_entry, key, advanced[0], now), advanced[1])
            hits += self._store(ordinal, alert_entry, key, *advanced)
        for family, key in marked:
            marks = self._marks.setdefault(family, {}).setdefault(key, {})
            marks[source] = max(time, marks.get(source, time))
        if note_newest(self._newest, source, time) and now - time <= CLOCK_BEHIND:
            self.clocks.pop(source, None)
        self.refused_late += late
        self.keyless += keyless
        return hits

    def _drop_upload(self, source: str) -> None:
        """Drop the doubted events of a source, which turn out to be of an upload."""
        for ordinal, alert_entry in self._alerts.items():
            for key, state in list(alert_entry.stories.items()):
                if any(each.source == source for each in state.doubted):
                    alert_entry.unsaid.pop(key, None)
                    self._store(ordinal, alert_entry, key, drop_upload(state, source), [])

    def _state(self, alert_entry: OracleAlert, key: Key, now: int) -> AlertState:
        """A key's story; one of which nothing was heard for long is as good as new."""
        state = alert_entry.stories.get(key, AlertState())
        return AlertState() if now - state.last_arrival >= forgotten_after(alert_entry.alert, self.forget) else state

    def _store(
        self, ordinal: int, alert_entry: OracleAlert, key: Key, state: AlertState, notifications: list[DueNotification]
    ) -> Hits:
        if is_blank(state):
            alert_entry.stories.pop(key, None)
        else:
            alert_entry.stories[key] = state
        if alert_entry.alert.digest_every is not None:
            alert_entry.items += [item_of(notification, key) for notification in notifications]
            return []
        return [
            (ordinal, match_of(alert_entry.subscription, key, notification, self.curve))
            for notification in notifications
        ]

    def advance(self, now: int) -> Hits:
        """Let time pass; what is due is said in the order of moments, then of ordinals, then of keys."""
        hits: Hits = []
        while (first := min(self._due(now), default=None)) is not None:
            moment, ordinal, what, _, key = first
            alert_entry = self._alerts[ordinal]
            if what == 0:
                spoken = gathered(alert_entry.items, moment)
                hits.append((ordinal, digest_of(alert_entry.subscription, spoken, self.curve)))
                alert_entry.items, alert_entry.unsaid = [], {}
                continue
            state = alert_entry.stories[key]
            if what == DOUBTED:
                note_clock(self.clocks, first_doubted(state.doubted))
            advanced = tick(alert_entry.alert, state, moment, what, self.lateness)
            if advanced[1] and needs_replay(alert_entry.alert) and key not in alert_entry.unsaid:
                alert_entry.unsaid[key] = PendingDigest(state)
            hits += self._store(ordinal, alert_entry, key, *advanced)
        self.now = now if self.now is None else max(self.now, now)
        return hits

    def _due(self, now: int) -> list[tuple[int, int, int, int, Key]]:
        due_steps: list[tuple[int, int, int, int, Key]] = []
        for ordinal, alert_entry in self._alerts.items():
            if alert_entry.items and alert_entry.alert.digest_every is not None:
                end = end_of_period(alert_entry.items[0].moment, alert_entry.alert.digest_every)
                due_steps.append((end, ordinal, 0, 0, ()))
            for key, state in alert_entry.stories.items():
                next_one = due(alert_entry.alert, state, self.lateness)
                if next_one is not None:
                    due_steps.append((next_one[0], ordinal, *next_one[1:], key))
        return [each for each in due_steps if each[0] <= now]

    def withdraw(self, event_id: str) -> Hits:
        """Take an event back: it no longer counts for what has not been said."""
        hits: Hits = []
        for ordinal, alert_entry in sorted(self._alerts.items()):
            again = [
                key for key in sorted(alert_entry.unsaid) if self._replay_without(ordinal, alert_entry, key, event_id)
            ]
            alert_entry.items = [item for item in alert_entry.items if item.event_id != event_id]
            for key, state in sorted(alert_entry.stories.items()):
                if key not in again:
                    state, notifications = take_back(alert_entry.alert, state, event_id, self.now or 0)
                    if alert_entry.alert.absent_for is not None:
                        state = self._paused_or_not(alert_entry, key, state, self.now or 0)
                    hits += self._store(ordinal, alert_entry, key, state, notifications)
        return hits

    def _replay_without(self, ordinal: int, alert_entry: OracleAlert, key: Key, event_id: str) -> bool:
        """Let a key be as if an event had not been, if it only moved what waits in a digest; whether that was done."""
        pending = alert_entry.unsaid[key]
        gathered_it = any(item.key == key and item.event_id == event_id for item in alert_entry.items)
        if not (gathered_it or may_name(pending.state, pending.observations, event_id)):
            return False
        replayed = replay_without(alert_entry.alert, pending, event_id, self.now or 0, self.lateness)
        if replayed is None:
            del alert_entry.unsaid[key]
            return False
        alert_entry.items, settled = with_items(alert_entry.items, key, pending.settled, event_id, replayed[2])
        alert_entry.unsaid[key] = replayed[0]._replace(settled=settled)
        if not any(item.key == key for item in alert_entry.items):
            del alert_entry.unsaid[key]
        state = replayed[1]
        if alert_entry.alert.absent_for is not None:
            state = self._paused_or_not(alert_entry, key, state, self.now or 0)
        self._store(ordinal, alert_entry, key, state, [])
        return True

    def outage(self, by: int, until: int | None = None) -> None:
        """Nothing could be heard for so long, until a moment: silence counts on from there."""
        for alert_entry in self._alerts.values():
            if alert_entry.alert.absent_for is not None:
                alert_entry.unsaid = {}
                for key, state in list(alert_entry.stories.items()):
                    if state.paused is not None:  # all of its silence is excused
                        continue
                    part = by if until is None else outage_since(last_observed_at(state), by, until)
                    moved = _shifted(state, part, only_arrival=True)
                    if until is not None:
                        moved = moved._replace(last_arrival=min(moved.last_arrival, until))
                    alert_entry.stories[key] = moved

    def unsend(self, ordinal: int, key: Key, event_id: str) -> None:
        """Let the last alarm of a key, naming an event, be one that was never sent: it is deferred if it stands."""
        alert_entry = self._alerts[ordinal]
        state = alert_entry.stories.get(key)
        if alert_entry.alert.digest_every is None and state is not None and self.now is not None:
            alert_entry.stories[key] = unsent(
                alert_entry.alert, state, event_id, self.now, "" if alert_entry.alert.per else key[0]
            )

    def postpone_expiry(self, by: int) -> None:
        """Let a time (µs) in which nothing came at all bring no key nearer to being forgotten."""
        for alert_entry in self._alerts.values():
            for key, state in list(alert_entry.stories.items()):
                alert_entry.stories[key] = state._replace(last_arrival=state.last_arrival + by)

    def suspend_absence(self, sources: Iterable[str], why: Why, at: int) -> None:
        """From now on the silence of some sources means nothing."""
        self._excuses.add(sources, why)
        self._look_at_pauses(at)

    def resume_absence(self, sources: Iterable[str], why: Why, at: int) -> None:
        """It counts again; what passed meanwhile does not."""
        self._excuses.end(sources, why)
        self._look_at_pauses(at)

    def suspended_sources(self, why: Why) -> set[str]:
        """The sources whose silence means nothing."""
        return set(self._excuses.sources[why])

    def is_expected(self, ordinal: int, key: Key) -> bool:
        """Return whether a key of an alert is waited for."""
        return ordinal in self._alerts and key in self._alerts[ordinal].stories

    def _look_at_pauses(self, at: int) -> None:
        now = at if self.now is None else max(self.now, at)
        for alert_entry in self._alerts.values():
            if alert_entry.alert.absent_for is not None:
                for key, state in list(alert_entry.stories.items()):
                    alert_entry.stories[key] = self._paused_or_not(alert_entry, key, state, now)

    def _paused_if_excused(self, alert_entry: OracleAlert, key: Key, state: AlertState) -> AlertState:
        return (
            self._paused_or_not(alert_entry, key, state, self.now or 0)
            if alert_entry.alert.absent_for is not None
            else state
        )

    def _paused_or_not(self, alert_entry: OracleAlert, key: Key, state: AlertState, now: int) -> AlertState:
        excused = self._excuses.cover(_sources_of(state) if alert_entry.alert.per else {key[0]})
        if excused == (state.paused is not None):
            return state
        alert_entry.unsaid.pop(key, None)
        if excused:
            return state._replace(paused=now)
        assert state.paused is not None
        part = outage_since(last_observed_at(state), now - state.paused, now)
        return _shifted(state, part, only_arrival=True)._replace(paused=None)

    def expect(self, ordinal: int, key: Key, source: str, event_id: str | None, at: int) -> None:
        """Something is to come from a key, though nothing held yet: its silence counts from now on."""
        alert_entry, now = self._alerts[ordinal], at if self.now is None else max(self.now, at)
        state = self._state(alert_entry, key, now)
        if alert_entry.alert.absent_for is None or last_of(state, holding=True) is not None:
            return
        sequence, self._sequence = self._sequence, self._sequence + 1
        observation = Observation(sequence, now, now, source, event_id, True, False, False, 1.0, 1.0)
        state = remember(alert_entry.alert, state._replace(last_arrival=max(state.last_arrival, now)), observation)
        alert_entry.unsaid.pop(key, None)
        alert_entry.stories[key] = self._paused_or_not(alert_entry, key, state, now)

    def unexpect(self, ordinal: int, key: Key, event_id: str) -> None:
        """It is not to come any more; a key that has held otherwise is watched on."""
        alert_entry = self._alerts[ordinal]
        state = alert_entry.stories.get(key)
        if alert_entry.alert.absent_for is not None and state is not None:
            state = state._replace(trail=tuple(each for each in state.trail if each.event_id != event_id))
            alert_entry.unsaid.pop(key, None)
            alert_entry.stories[key] = state
            if last_of(state, holding=True) is None:
                del alert_entry.stories[key]

    def rename(self, before: str, after: str) -> None:
        """Return what is expected was said anew: by another event, in place of an earlier one."""
        for alert_entry in self._alerts.values():
            if alert_entry.alert.absent_for is not None:
                for key, state in alert_entry.stories.items():
                    trail = tuple(e._replace(event_id=after) if e.event_id == before else e for e in state.trail)
                    if trail != state.trail:
                        alert_entry.unsaid.pop(key, None)
                    alert_entry.stories[key] = state._replace(trail=trail)

    def rename_source(self, before: str, after: str | None) -> None:
        """Let what is known of a source count for another from now on, or (None) for nobody; nothing is said of it."""
        for marks in self._marks.values():
            for key, of in list(marks.items()):
                if before not in of:
                    continue
                time = of.pop(before)
                if after is not None:
                    there = marks.setdefault((after,), {}) if key == (before,) else of
                    there[after] = max(time, there.get(after, time))
                if not of:
                    del marks[key]
        rename_clock(self.clocks, self._newest, self._suspicious, before, after)
        for alert_entry in self._alerts.values():
            alert_entry.unsaid = {}
            if alert_entry.alert.per:
                for key, state in list(alert_entry.stories.items()):
                    changed, stale = state, dict(run_of(alert_entry.alert, state).stale)
                    if after is not None and {before, after} <= {*_sources_of(state), *stale}:
                        changed = state._replace(base=folded(alert_entry.alert, state.base, state.trail), trail=())
                    changed = renamed(changed, before, after)
                    if after is None and changed != state and _is_over(alert_entry.alert, changed):
                        del alert_entry.stories[key]
                    elif changed != state:
                        alert_entry.stories[key] = self._paused_if_excused(alert_entry, key, changed)
                continue
            moved = alert_entry.stories.pop((before,), None)
            if after is None:
                continue
            alert_entry.items = [
                msgspec.structs.replace(i, key=(after,)) if i.key == (before,) else i for i in alert_entry.items
            ]
            if moved is not None:
                moved, other = renamed(moved, before, after), alert_entry.stories.get((after,))
                merged = (
                    moved
                    if other is None or _rank(alert_entry.alert, moved) > _rank(alert_entry.alert, other)
                    else other
                )
                newest = max(moved.last_arrival, 0 if other is None else other.last_arrival)
                merged = merged._replace(last_arrival=newest)
                alert_entry.stories[(after,)] = self._paused_if_excused(alert_entry, (after,), merged)

    def shift(self, by: int) -> None:
        """Let everything count as so many µs later: a clock was set."""
        if self.now is None:
            return
        self.now += by
        for alert_entry in self._alerts.values():
            alert_entry.unsaid = {}
            alert_entry.stories = {key: _shifted(state, by) for key, state in alert_entry.stories.items()}
            alert_entry.items = [msgspec.structs.replace(item, moment=item.moment + by) for item in alert_entry.items]
        self._marks = {
            family: {key: {s: t + by for s, t in of.items()} for key, of in marks.items()}
            for family, marks in self._marks.items()
        }
        self._newest = {source: time + by for source, time in self._newest.items()}
        self._suspicious = shifted(self._suspicious, by)

    def state_of(self, ordinal: int, event: Event) -> tuple[Key | None, AlertState]:
        """The key of an event, and its story so far."""
        alert_entry = self._alerts[ordinal]
        key = key_of(event, alert_entry.alert.per)
        return key, AlertState() if key is None else self._state(alert_entry, key, self.now or 0)

    def clauses(self, ordinal: int) -> Alert:
        """The clauses of an alert, with the `stale` that counts."""
        return self._alerts[ordinal].alert

    def save(self, folder: Path) -> None:
        """Write every story, as JSON."""
        remaining = [
            (o, list(alert_entry.stories.items()), alert_entry.items, list(alert_entry.unsaid.items()))
            for o, alert_entry in self._alerts.items()
        ]
        marks = [
            (next(o for o, alert_entry in self._alerts.items() if _family(alert_entry) == family), list(of.items()))
            for family, of in self._marks.items()
        ]
        excused = {why: sorted(self._excuses.sources[why]) for why in WHYS}
        saved = _SavedOracleAlerts(
            self.now,
            self._sequence,
            self.refused_late,
            self.keyless,
            remaining,
            marks,
            excused,
            self.clocks,
            self._newest,
            self._suspicious,
        )
        (folder / FILE).write_bytes(msgspec.json.encode(saved))

    def load(self, folder: Path) -> None:
        """Take up what `save` wrote."""
        try:
            saved = msgspec.json.decode((folder / FILE).read_bytes(), type=_SavedOracleAlerts)
        except (OSError, UnicodeDecodeError, msgspec.MsgspecError) as error:
            raise ArtefactDamaged(f"{folder / FILE} cannot be read ({error}); restore a copy of the folder") from None
        self.now, self._sequence = saved.now, saved.sequence
        self.refused_late, self.keyless = saved.refused_late, saved.keyless
        self.clocks, self._newest = saved.clocks, saved.newest
        self._suspicious = saved.suspicious
        for why, sources in saved.excused.items():
            self._excuses.add(sources, why)
        for ordinal, stories, items, pending in saved.alerts:
            if ordinal not in self._alerts:
                raise UnknownId(str(ordinal))
            alert_entry = self._alerts[ordinal]
            alert_entry.stories, alert_entry.items, alert_entry.unsaid = dict(stories), items, dict(pending)
        self._marks = {_family(self._alerts[ordinal]): dict(of) for ordinal, of in saved.marks}


def _sources_of(state: AlertState) -> set[str]:
    """Return whom something came from, as far as it is remembered."""
    last = state.base.last
    return {*dict(state.base.run.holding), *(each.source for each in state.trail), *([last.source] if last else [])}


def _is_over(alert: Alert, state: AlertState) -> bool:
    """Return whether nobody is left of whom something holds, waits or was sent."""
    run = run_of(alert, state)
    return not any((run.holding, run.stale, state.active, state.waiting, deferred_of(alert, state), state.doubted))


def _rank(alert: Alert, state: AlertState) -> tuple[bool, bool, int]:
    """Return which of two states of a key to keep: one whose alarm was sent, one whose alarm stands, the newer."""
    run = run_of(alert, state)
    stands = run.begin is not None or bool(deferred_of(alert, state))
    return state.absent or state.spoken or run.told, stands, state.last_arrival


def forgotten_after(alert: Alert, forget: int) -> int:
    """After how long a key is forgotten: never before what it waits for."""
    return max(forget, 2 * max(alert.spans(), default=0))


def match_of(subscription: Subscription, key: Key, notification: DueNotification, curve: ProbabilityCurve) -> Match:
    """A saying as a match."""
    spoken = AlertNotification(
        key, notification.moment, notification.since, notification.suppressed, stale=notification.stale
    )
    about = notification.about
    return Match(
        about.event_id,
        subscription.id,
        "alert",
        about.score,
        about.product,
        None,
        (),
        None,
        notification.cause,
        curve,
        spoken,
    )


def digest_of(subscription: Subscription, spoken: AlertNotification, curve: ProbabilityCurve) -> Match:
    """A digest as a match; it names the newest event that it gathered."""
    last = spoken.items[-1]
    return Match(
        last.event_id, subscription.id, "alert", last.score, last.score, None, (), None, "digest", curve, spoken
    )


def _family(alert_entry: OracleAlert) -> object:
    """Return what alerts have in common that follow the same events of the same keys."""
    conditions = alert_entry.watch.watched
    return conditions.about or conditions.condition, conditions.until, alert_entry.alert.per


def _shifted(state: AlertState, by: int, *, only_arrival: bool = False) -> AlertState:
    event_shift = 0 if only_arrival else by

    def later(observation: Observation) -> Observation:
        stated = None if observation.stated is None else observation.stated + event_shift
        return observation._replace(
            arrival=observation.arrival + by, time=observation.time + event_shift, stated=stated
        )

    def all_later(events: Iterable[Observation]) -> tuple[Observation, ...]:
        return tuple(map(later, events))

    def heard_later(sources: Sources) -> Sources:
        return tuple((source, last + by) for source, last in sources)

    base, run = state.base, state.base.run
    return state._replace(
        waiting=all_later(state.waiting),
        trail=all_later(state.trail),
        deferred=all_later(state.deferred),
        doubted=all_later(state.doubted),
        active=heard_later(state.active),
        base=base._replace(
            run=HoldingRun(heard_later(run.holding), _plus(run.begin, event_shift), run.told, heard_later(run.stale)),
            last=None if base.last is None else later(base.last),
            last_holding=None if base.last_holding is None else later(base.last_holding),
        ),
        settled=_plus(state.settled, event_shift),
        last_arrival=state.last_arrival + by,
        straggled=tuple((source, arrived_at + event_shift) for source, arrived_at in state.straggled),
        paused=_plus(state.paused, event_shift),
        quiet_until=_plus(state.quiet_until, event_shift),
    )


def _plus(moment: int | None, by: int) -> int | None:
    return None if moment is None else moment + by
