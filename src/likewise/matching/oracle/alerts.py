"""Alerts of the plain engine: every key of every subscription is looked at, at every step."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from likewise.defaults import ALERT_FORGET, ALERT_STALE, CLOCK_BEHIND
from likewise.errors import ArtefactDamaged, UnknownId
from likewise.matching.reference.alerts.clocks import (
    WrongClocks,
    first_arrival,
    note_clock,
    rename_clock,
    wrong_clock,
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
            kept = {_family(held) for held in self._alerts.values()}
            self._marks = {family: marks for family, marks in self._marks.items() if family in kept}

    def enter(self, event: Event, at: int, seen: EventView) -> Hits:
        """An event arrives, time having moved; what is said of it at once."""
        assert self.now is not None
        now, said = self.now, []
        sequence, self._sequence = self._sequence, self._sequence + 1
        time = min(now, at if event.time is None else event.time)
        source = event.source or ""
        marked: list[tuple[object, Key]] = []
        late = keyless = False
        for ordinal, held in sorted(self._alerts.items()):
            move = held.watch.transition(seen)
            if move is None:
                continue
            key = key_of(event, held.alert.per)
            if key is None:
                keyless = True
                continue
            family, timeless = _family(held), held.alert.absent_for is not None
            newest = self._marks.get(family, {}).get(key, {}).get(source, time)
            behind = not timeless and now - self.forget < newest and time < min(newest, now - self.lateness)
            doubted = behind and newest - time > CLOCK_BEHIND
            if behind and not doubted:
                late = True
                continue
            if move.marks and not (timeless or doubted):
                marked.append((family, key))
            story = self._state(held, key, now)
            if not (move.holds or move.fails or move.clears):
                continue
            if (timeless or doubted) and story == AlertState() and not move.holds:
                continue
            if timeless and not (move.holds or move.fails):
                continue
            heard = Observation(
                sequence, now, time, source, event.id, move.holds, move.fails, move.clears, move.score, move.product
            )
            if doubted:
                heard = heard._replace(time=first_arrival(event, now), stated=time)
            if key in held.unsaid:
                held.unsaid[key] = observe_pending(held.alert, held.unsaid[key], heard, self.lateness)
            told = observe(held.alert, story, heard, self.lateness)
            if told[1] and needs_replay(held.alert) and key not in held.unsaid:
                held.unsaid[key] = PendingDigest(story, (heard,))
            if timeless:
                told = (self._paused_or_not(held, key, told[0], now), told[1])
            said += self._store(ordinal, held, key, *told)
        for family, key in marked:
            if self._mark(family, key, source, time) and now - time <= CLOCK_BEHIND:
                self.clocks.pop(source, None)
        self.refused_late += late
        self.keyless += keyless
        return said

    def _mark(self, family: object, key: Key, source: str, time: int) -> bool:
        """Note how far a source is; whether it is the newest of it."""
        marks = self._marks.setdefault(family, {}).setdefault(key, {})
        marks[source] = max(time, marks.get(source, time))
        return marks[source] == time

    def _state(self, held: OracleAlert, key: Key, now: int) -> AlertState:
        """A key's story; one of which nothing was heard for long is as good as new."""
        story = held.stories.get(key, AlertState())
        return AlertState() if now - story.last_arrival >= forgotten_after(held.alert, self.forget) else story

    def _store(self, ordinal: int, held: OracleAlert, key: Key, story: AlertState, says: list[DueNotification]) -> Hits:
        if is_blank(story):
            held.stories.pop(key, None)
        else:
            held.stories[key] = story
        if held.alert.digest_every is not None:
            held.items += [item_of(say, key) for say in says]
            return []
        return [(ordinal, match_of(held.subscription, key, say, self.curve)) for say in says]

    def advance(self, now: int) -> Hits:
        """Let time pass; what is due is said in the order of moments, then of ordinals, then of keys."""
        said: Hits = []
        while (first := min(self._due(now), default=None)) is not None:
            moment, ordinal, what, _, key = first
            held = self._alerts[ordinal]
            if what == 0:
                spoken = gathered(held.items, moment)
                said.append((ordinal, digest_of(held.subscription, spoken, self.curve)))
                held.items, held.unsaid = [], {}
                continue
            story = held.stories[key]
            if what == DOUBTED and (wrong := wrong_clock(story.doubted)) is not None:
                note_clock(self.clocks, wrong)
            told = tick(held.alert, story, moment, what, self.lateness)
            if told[1] and needs_replay(held.alert) and key not in held.unsaid:
                held.unsaid[key] = PendingDigest(story)
            said += self._store(ordinal, held, key, *told)
        self.now = now if self.now is None else max(self.now, now)
        return said

    def _due(self, now: int) -> list[tuple[int, int, int, int, Key]]:
        found: list[tuple[int, int, int, int, Key]] = []
        for ordinal, held in self._alerts.items():
            if held.items and held.alert.digest_every is not None:
                end = end_of_period(held.items[0].moment, held.alert.digest_every)
                found.append((end, ordinal, 0, 0, ()))
            for key, story in held.stories.items():
                next_one = due(held.alert, story, self.lateness)
                if next_one is not None:
                    found.append((next_one[0], ordinal, *next_one[1:], key))
        return [each for each in found if each[0] <= now]

    def withdraw(self, event_id: str) -> Hits:
        """Take an event back: it no longer counts for what has not been said."""
        said: Hits = []
        for ordinal, held in sorted(self._alerts.items()):
            again = [key for key in sorted(held.unsaid) if self._replay_without(ordinal, held, key, event_id)]
            held.items = [item for item in held.items if item.event_id != event_id]
            for key, story in sorted(held.stories.items()):
                if key not in again:
                    story, says = take_back(held.alert, story, event_id, self.now or 0)
                    if held.alert.absent_for is not None:
                        story = self._paused_or_not(held, key, story, self.now or 0)
                    said += self._store(ordinal, held, key, story, says)
        return said

    def _replay_without(self, ordinal: int, held: OracleAlert, key: Key, event_id: str) -> bool:
        """Let a key be as if an event had not been, if it only moved what waits in a digest; whether that was done."""
        unsaid = held.unsaid[key]
        gathered_it = any(item.key == key and item.event_id == event_id for item in held.items)
        if not (gathered_it or may_name(unsaid.state, unsaid.observations, event_id)):
            return False
        found = replay_without(held.alert, unsaid, event_id, self.now or 0, self.lateness)
        if found is None:
            del held.unsaid[key]
            return False
        held.items, settled = with_items(held.items, key, unsaid.settled, event_id, found[2])
        held.unsaid[key] = found[0]._replace(settled=settled)
        if not any(item.key == key for item in held.items):
            del held.unsaid[key]
        story = found[1]
        if held.alert.absent_for is not None:
            story = self._paused_or_not(held, key, story, self.now or 0)
        self._store(ordinal, held, key, story, [])
        return True

    def outage(self, by: int, until: int | None = None) -> None:
        """Nothing could be heard for so long, until a moment: silence counts on from there."""
        for held in self._alerts.values():
            if held.alert.absent_for is not None:
                held.unsaid = {}
                for key, story in list(held.stories.items()):
                    if story.paused is not None:  # all of its silence is excused
                        continue
                    part = by if until is None else outage_since(last_observed_at(story), by, until)
                    moved = _shifted(story, part, only_arrival=True)
                    if until is not None:
                        moved = moved._replace(last_arrival=min(moved.last_arrival, until))
                    held.stories[key] = moved

    def unsend(self, ordinal: int, key: Key, event_id: str) -> None:
        """Let the last alarm of a key, naming an event, be one that was never sent: it is deferred if it stands."""
        held = self._alerts[ordinal]
        story = held.stories.get(key)
        if held.alert.digest_every is None and story is not None and self.now is not None:
            held.stories[key] = unsent(held.alert, story, event_id, self.now, "" if held.alert.per else key[0])

    def postpone_expiry(self, by: int) -> None:
        """Let a time (µs) in which nothing came at all bring no key nearer to being forgotten."""
        for held in self._alerts.values():
            for key, story in list(held.stories.items()):
                held.stories[key] = story._replace(last_arrival=story.last_arrival + by)

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
        """Whether a key of an alert is waited for."""
        return ordinal in self._alerts and key in self._alerts[ordinal].stories

    def _look_at_pauses(self, at: int) -> None:
        now = at if self.now is None else max(self.now, at)
        for held in self._alerts.values():
            if held.alert.absent_for is not None:
                for key, story in list(held.stories.items()):
                    held.stories[key] = self._paused_or_not(held, key, story, now)

    def _paused_if_excused(self, held: OracleAlert, key: Key, story: AlertState) -> AlertState:
        return self._paused_or_not(held, key, story, self.now or 0) if held.alert.absent_for is not None else story

    def _paused_or_not(self, held: OracleAlert, key: Key, story: AlertState, now: int) -> AlertState:
        excused = self._excuses.cover(_sources_of(story) if held.alert.per else {key[0]})
        if excused == (story.paused is not None):
            return story
        held.unsaid.pop(key, None)
        if excused:
            return story._replace(paused=now)
        assert story.paused is not None
        part = outage_since(last_observed_at(story), now - story.paused, now)
        return _shifted(story, part, only_arrival=True)._replace(paused=None)

    def expect(self, ordinal: int, key: Key, source: str, event_id: str | None, at: int) -> None:
        """Something is to come from a key, though nothing held yet: its silence counts from now on."""
        held, now = self._alerts[ordinal], at if self.now is None else max(self.now, at)
        story = self._state(held, key, now)
        if held.alert.absent_for is None or last_of(story, holding=True) is not None:
            return
        sequence, self._sequence = self._sequence, self._sequence + 1
        heard = Observation(sequence, now, now, source, event_id, True, False, False, 1.0, 1.0)
        story = remember(held.alert, story._replace(last_arrival=max(story.last_arrival, now)), heard)
        held.unsaid.pop(key, None)
        held.stories[key] = self._paused_or_not(held, key, story, now)

    def unexpect(self, ordinal: int, key: Key, event_id: str) -> None:
        """It is not to come any more; a key that has held otherwise is watched on."""
        held = self._alerts[ordinal]
        story = held.stories.get(key)
        if held.alert.absent_for is not None and story is not None:
            story = story._replace(trail=tuple(each for each in story.trail if each.event_id != event_id))
            held.unsaid.pop(key, None)
            held.stories[key] = story
            if last_of(story, holding=True) is None:
                del held.stories[key]

    def rename(self, before: str, after: str) -> None:
        """What is expected was said anew: by another event, in place of an earlier one."""
        for held in self._alerts.values():
            if held.alert.absent_for is not None:
                for key, story in held.stories.items():
                    trail = tuple(e._replace(event_id=after) if e.event_id == before else e for e in story.trail)
                    if trail != story.trail:
                        held.unsaid.pop(key, None)
                    held.stories[key] = story._replace(trail=trail)

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
        rename_clock(self.clocks, before, after)
        for held in self._alerts.values():
            held.unsaid = {}
            if held.alert.per:
                for key, story in list(held.stories.items()):
                    changed, aside = story, dict(run_of(held.alert, story).stale)
                    if after is not None and {before, after} <= {*_sources_of(story), *aside}:
                        changed = story._replace(base=folded(held.alert, story.base, story.trail), trail=())
                    changed = renamed(changed, before, after)
                    if after is None and changed != story and _is_over(held.alert, changed):
                        del held.stories[key]
                    elif changed != story:
                        held.stories[key] = self._paused_if_excused(held, key, changed)
                continue
            moved = held.stories.pop((before,), None)
            if after is None:
                continue
            held.items = [msgspec.structs.replace(i, key=(after,)) if i.key == (before,) else i for i in held.items]
            if moved is not None:
                moved, other = renamed(moved, before, after), held.stories.get((after,))
                kept = moved if other is None or _rank(held.alert, moved) > _rank(held.alert, other) else other
                newest = max(moved.last_arrival, 0 if other is None else other.last_arrival)
                kept = kept._replace(last_arrival=newest)
                held.stories[(after,)] = self._paused_if_excused(held, (after,), kept)

    def shift(self, by: int) -> None:
        """Let everything count as so many µs later: a clock was set."""
        if self.now is None:
            return
        self.now += by
        for held in self._alerts.values():
            held.unsaid = {}
            held.stories = {key: _shifted(story, by) for key, story in held.stories.items()}
            held.items = [msgspec.structs.replace(item, moment=item.moment + by) for item in held.items]
        self._marks = {
            family: {key: {s: t + by for s, t in of.items()} for key, of in marks.items()}
            for family, marks in self._marks.items()
        }

    def state_of(self, ordinal: int, event: Event) -> tuple[Key | None, AlertState]:
        """The key of an event, and its story so far."""
        held = self._alerts[ordinal]
        key = key_of(event, held.alert.per)
        return key, AlertState() if key is None else self._state(held, key, self.now or 0)

    def clauses(self, ordinal: int) -> Alert:
        """The clauses of an alert, with the `stale` that counts."""
        return self._alerts[ordinal].alert

    def save(self, folder: Path) -> None:
        """Write every story, as JSON."""
        kept = [
            (o, list(held.stories.items()), held.items, list(held.unsaid.items())) for o, held in self._alerts.items()
        ]
        marks = [
            (next(o for o, held in self._alerts.items() if _family(held) == family), list(of.items()))
            for family, of in self._marks.items()
        ]
        excused = {why: sorted(self._excuses.sources[why]) for why in WHYS}
        saved = _SavedOracleAlerts(
            self.now, self._sequence, self.refused_late, self.keyless, kept, marks, excused, self.clocks
        )
        (folder / FILE).write_bytes(msgspec.json.encode(saved))

    def load(self, folder: Path) -> None:
        """Take up what `save` wrote."""
        try:
            saved = msgspec.json.decode((folder / FILE).read_bytes(), type=_SavedOracleAlerts)
        except (OSError, UnicodeDecodeError, msgspec.MsgspecError) as error:
            raise ArtefactDamaged(f"{folder / FILE} cannot be read ({error}); restore a copy of the folder") from None
        self.now, self._sequence = saved.now, saved.sequence
        self.refused_late, self.keyless, self.clocks = saved.refused_late, saved.keyless, saved.clocks
        for why, sources in saved.excused.items():
            self._excuses.add(sources, why)
        for ordinal, stories, items, unsaid in saved.alerts:
            if ordinal not in self._alerts:
                raise UnknownId(str(ordinal))
            held = self._alerts[ordinal]
            held.stories, held.items, held.unsaid = dict(stories), items, dict(unsaid)
        self._marks = {_family(self._alerts[ordinal]): dict(of) for ordinal, of in saved.marks}


def _sources_of(story: AlertState) -> set[str]:
    """Return whom something came from, as far as it is remembered."""
    last = story.base.last
    return {*dict(story.base.run.holding), *(each.source for each in story.trail), *([last.source] if last else [])}


def _is_over(alert: Alert, story: AlertState) -> bool:
    """Return whether nobody is left of whom something holds, waits or was sent."""
    run = run_of(alert, story)
    return not any((run.holding, run.stale, story.active, story.waiting, story.deferred, story.doubted))


def _rank(alert: Alert, story: AlertState) -> tuple[bool, bool, int]:
    """Return which of two states of a key to keep: one whose alarm was sent, one whose alarm stands, the newer."""
    run = run_of(alert, story)
    stands = run.begin is not None or bool(story.deferred)
    return story.absent or story.spoken or run.told, stands, story.last_arrival


def forgotten_after(alert: Alert, forget: int) -> int:
    """After how long a key is forgotten: never before what it waits for."""
    return max(forget, 2 * max(alert.spans(), default=0))


def match_of(subscription: Subscription, key: Key, say: DueNotification, curve: ProbabilityCurve) -> Match:
    """A saying as a match."""
    spoken = AlertNotification(key, say.moment, say.since, say.suppressed, stale=say.stale)
    about = say.about
    return Match(
        about.event_id, subscription.id, "alert", about.score, about.product, None, (), None, say.cause, curve, spoken
    )


def digest_of(subscription: Subscription, spoken: AlertNotification, curve: ProbabilityCurve) -> Match:
    """A digest as a match; it names the newest event that it gathered."""
    last = spoken.items[-1]
    return Match(
        last.event_id, subscription.id, "alert", last.score, last.score, None, (), None, "digest", curve, spoken
    )


def _family(held: OracleAlert) -> object:
    """What alerts have in common that follow the same events of the same keys."""
    asked = held.watch.watched
    return asked.about or asked.condition, asked.until, held.alert.per


def _shifted(story: AlertState, by: int, *, only_arrival: bool = False) -> AlertState:
    own = 0 if only_arrival else by

    def later(heard: Observation) -> Observation:
        stated = None if heard.stated is None else heard.stated + own
        return heard._replace(arrival=heard.arrival + by, time=heard.time + own, stated=stated)

    def all_later(events: Iterable[Observation]) -> tuple[Observation, ...]:
        return tuple(map(later, events))

    def heard_later(sources: Sources) -> Sources:
        return tuple((source, last + by) for source, last in sources)

    base, run = story.base, story.base.run
    return story._replace(
        waiting=all_later(story.waiting),
        trail=all_later(story.trail),
        deferred=all_later(story.deferred),
        doubted=all_later(story.doubted),
        active=heard_later(story.active),
        base=base._replace(
            run=HoldingRun(heard_later(run.holding), _plus(run.begin, own), run.told, heard_later(run.stale)),
            last=None if base.last is None else later(base.last),
            last_holding=None if base.last_holding is None else later(base.last_holding),
        ),
        settled=_plus(story.settled, own),
        last_arrival=story.last_arrival + by,
        straggled=tuple((source, came + own) for source, came in story.straggled),
        paused=_plus(story.paused, own),
        quiet_until=_plus(story.quiet_until, own),
    )


def _plus(moment: int | None, by: int) -> int | None:
    return None if moment is None else moment + by
