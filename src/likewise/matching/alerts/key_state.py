"""The state of one key of an alert, moved in place by events, timers and withdrawals.

It equals the story of `plain.alerts.story`, but keeps at hand what that one folds anew at every step: which sources
hold, since when, whether that was said, and where in the trail of remembered events the run began.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from likewise.defaults import MAX_DOUBTED_EVENTS, MAX_RETRACTABLE_EVENTS, MAX_SUPPRESSED_EVENTS, UPLOAD_SPAN
from likewise.matching.reference.alerts.renaming import SOURCE_FIELDS, folded, renamed
from likewise.matching.reference.alerts.state import (
    DOUBTED,
    SETTLING,
    TIMER,
    CompactedHistory,
    DueNotification,
    HoldingRun,
    Observation,
    Sources,
    advance_run,
    certain_at,
    merge_stale,
    outage_since,
    settles_at,
    update_late_sources,
)
from likewise.model.alerts.clauses import Alert
from likewise.model.alerts.notification import Key
from likewise.model.match import Cause

Due = tuple[int, int, int]  # the moment, an event or a timer, which event
Scheduled = tuple[int, int, int, int, Key]  # the same in the engine's queue, with the alert, and the key
NO_BASE = CompactedHistory()
IN_BASE = -1  # where the run began, if not in the trail
FRESH = -(2**63)


class KeyState:
    """One key: `waiting` events, the newest events (`trail`) and what came before them (`base`), what was sent.

    What the fields mean that `plain.alerts.story.Story` has, too, stands there.
    """

    __slots__ = (
        "absent",
        "active",
        "base",
        "begin",
        "deferred",
        "doubted",
        "earlier",
        "held_back",
        "holding",
        "last_arrival",
        "more_held_back",
        "paused",
        "quiet_until",
        "run_from",
        "scheduled",
        "settled",
        "spoken",
        "stale",
        "straggled",
        "told",
        "trail",
        "waiting",
    )

    def __init__(self) -> None:
        self.waiting: Sequence[Observation] = ()  # of what most keys never have, they hold no list of their own
        self.base = NO_BASE
        self.trail: list[Observation] = []
        self.settled = FRESH
        self.last_arrival = 0
        self.straggled: Sources = ()
        self.spoken = False
        self.quiet_until: int | None = None
        self.held_back: Sequence[str | None] = ()
        self.more_held_back = 0
        self.absent = False
        self.paused: int | None = None  # since when its silence is excused
        self.deferred: Sequence[Observation] = ()
        self.earlier = False
        self.active: Sources = ()
        self.doubted: Sequence[Observation] = ()
        self.holding: tuple[str, ...] = ()
        self.stale: tuple[str, ...] = ()
        self.begin: int | None = None
        self.told = False
        self.run_from = 0
        self.scheduled: Scheduled | None = None  # the very entry of the queue that counts

    # -- events ---------------------------------------------------------------------------------

    def observe(self, alert: Alert, observation: Observation, lateness: int) -> list[DueNotification]:
        """An event comes that moves the key and is not late."""
        if observation.arrival > self.last_arrival:
            self.last_arrival = observation.arrival
        if alert.absent_for is not None:
            return self._observe_return(alert, observation)
        if observation.stated is not None:
            return self._doubt(alert, observation, lateness)
        if not (self.doubted or lateness):
            return self._settle(alert, observation, observation.arrival)
        notifications: list[DueNotification] = []
        for each in tuple(self.doubted):
            if each.source == observation.source:
                notifications += self._trust(alert, each, observation.arrival, lateness)
        return notifications + self._enqueue(alert, observation, observation.arrival, lateness)

    def _observe_return(self, alert: Alert, observation: Observation) -> list[DueNotification]:
        """A key whose silence counts is heard again."""
        notifications: list[DueNotification] = []
        assert alert.absent_for is not None
        if self.absent:
            if not self.earlier:
                notifications = [DueNotification(observation.arrival, "returned", observation, self.last_observed_at())]
            self.absent = self.earlier = False
        elif self._is_muted(observation.arrival) and self._is_waited_for():
            last = self._last(holding=False)
            assert last is not None  # it is waited for
            if last.arrival + alert.absent_for <= observation.arrival:
                self._suppress(last)
        self._remember(alert, observation)
        return notifications

    def _enqueue(self, alert: Alert, observation: Observation, moment: int, lateness: int) -> list[DueNotification]:
        if lateness:
            self.straggled = update_late_sources(self.straggled, observation, lateness)
            self.waiting = [*self.waiting, observation]
            return []
        return self._settle(alert, observation, moment)

    def _doubt(self, alert: Alert, observation: Observation, lateness: int) -> list[DueNotification]:
        """An event states a time long before its source's newest, and is of no upload yet: it waits for a minute."""
        self.doubted = [*self.doubted, observation]
        if len(self.doubted) > MAX_DOUBTED_EVENTS:
            return self._trust(alert, self.doubted[0], observation.arrival, lateness)
        return []

    def drop_upload(self, source: str) -> bool:
        """Drop the doubted events of a source, which are of an upload; return whether there were any."""
        kept = [each for each in self.doubted if each.source != source]
        dropped = len(kept) < len(self.doubted)
        self.doubted = kept
        return dropped

    def _trust(self, alert: Alert, observation: Observation, moment: int, lateness: int) -> list[DueNotification]:
        """Take an event in at its arrival: it was of no upload, so its clock is wrong."""
        self.doubted = [each for each in self.doubted if each != observation]
        return self._enqueue(alert, observation._replace(stated=None), moment, lateness)

    def _settle(
        self, alert: Alert, observation: Observation, moment: int, *, waited: bool = False
    ) -> list[DueNotification]:
        time = max(observation.time, self.settled)
        if time != observation.time:
            observation = observation._replace(time=time)
        notifications: list[DueNotification] = []
        if self.begin is not None or self._deferred_events(alert):
            ready = self._ready_at(alert)
            if ready is not None and ready <= time:
                notifications += self._alarm(alert, moment, ready if waited else moment, quietly=observation.earlier)
        self.settled = time
        when = time if waited else moment
        if observation.clears and not observation.holds:
            notifications += self._clear(alert, observation, moment)
        if alert.follows_failing:
            if observation.fails:
                notifications += self._fail(alert, observation, moment)
            elif observation.holds:
                self._remember(alert, observation)
                if alert.held_for is None and not self.told and (observation.earlier or not self._is_muted(when)):
                    notifications += self._alarm(alert, moment, when, quietly=observation.earlier)
        elif observation.holds:
            notifications += self._hold(alert, observation, moment, when)
        return notifications

    def _clear(self, alert: Alert, observation: Observation, moment: int) -> list[DueNotification]:
        """Arm the alert again: an alarm that was sent is over, one that was not will not be."""
        notifications = [DueNotification(moment, "cleared", observation)] if self.spoken and not self.earlier else []
        if deferred := self._deferred_events(alert):
            self._suppress(deferred[-1])
            self.base = self.base if alert.follows_failing else NO_BASE
        if not self.spoken and alert.held_for is not None and self._is_pending(alert):
            last = self._last(holding=True)
            assert last is not None  # a run has at least one event
            self.mark_run_notified(alert)
            self._suppress(last)
        self.spoken = self.earlier = False
        self.deferred = self.active = ()
        return notifications

    def _fail(self, alert: Alert, observation: Observation, moment: int) -> list[DueNotification]:
        """An event fails; if what was sent is over by it, that is sent."""
        pending = self._last(holding=True) if self._is_pending(alert) else None
        self._remember(alert, observation)
        if self.holding:
            return []
        if pending is not None:
            self._suppress(pending)
        if self.stale or not self.spoken or alert.once_until != "false":
            return []
        notifications = [] if self.earlier else [DueNotification(moment, "cleared", observation)]
        self.spoken = self.earlier = False
        return notifications

    def _hold(self, alert: Alert, observation: Observation, moment: int, when: int) -> list[DueNotification]:
        """An event holds, and failing is not followed: it is an alarm, unless one was sent that is not over."""
        blocked = self.spoken
        if alert.stale is not None and alert.once_until is not None:
            others = tuple(each for each in self.active if each[0] != observation.source)
            if len(others) == len(self.active):
                blocked = blocked and not all(observation.arrival - last > alert.stale for _, last in others)
            self.active = (*others, (observation.source, observation.arrival))
        if blocked and not self._deferred_events(alert):
            return []
        self.deferred = [*self.deferred, observation]
        if len(self.deferred) > MAX_RETRACTABLE_EVENTS:  # it can be withdrawn no more, and stands if all others are
            if alert.once_until is None:
                self._suppress(self.deferred[0])
            self.base = CompactedHistory(last_holding=self.deferred.pop(0))
        if self._is_muted(when) and not observation.earlier:
            return []
        return self._alarm(alert, moment, when, quietly=observation.earlier)

    def _deferred_events(self, alert: Alert) -> Sequence[Observation]:
        """The events of a deferred alarm, where failing is not followed; see `deferred_of`."""
        if self.deferred or self.base is NO_BASE or alert.follows_failing or self.base.last_holding is None:
            return self.deferred
        return (self.base.last_holding,)

    def _remember(self, alert: Alert, observation: Observation) -> None:
        """Keep an event among the newest, and step the run."""
        trail = self.trail
        if observation.fails and not trail and self.base is NO_BASE:
            return
        if observation.holds and not self.holding and observation.source in self.stale:
            observation = observation._replace(told=True)  # it was active all the time, which was sent
        trail.append(observation)
        self._step(alert, observation, len(trail) - 1)
        if observation.holds and self.told and not observation.told:
            trail[-1] = observation._replace(told=True)
        if len(trail) > MAX_RETRACTABLE_EVENTS:
            first, base = trail.pop(0), self.base
            run = advance_run(base.run, first, alert.stale)
            self.base = CompactedHistory(run, first, first if first.holds else base.last_holding)
            self.run_from = max(IN_BASE, self.run_from - 1)

    def _step(self, alert: Alert, observation: Observation, place: int) -> None:
        source = observation.source
        if not observation.holds:
            if self.stale:
                self.stale = tuple(each for each in self.stale if each != source)
            if self.holding:
                self.holding = tuple(each for each in self.holding if each != source)
                if not self.holding:
                    self.begin, self.told = None, False
            return
        back = source in self.stale
        if back:
            self.stale = tuple(each for each in self.stale if each != source)
        if not self.holding:
            self.begin, self.told, self.run_from = observation.time, observation.told, place
            self.holding = (source,)
        elif source in self.holding:
            self.told = self.told or observation.told
        elif self.told and not (back or observation.told) and self._all_stale(alert, observation, place):
            self.stale += self.holding
            self.holding, self.begin, self.told, self.run_from = (source,), observation.time, False, place
        else:
            self.told = self.told or observation.told
            self.holding += (source,)
        if self.stale and self.told:
            self.holding, self.stale = self.stale + self.holding, ()

    def _all_stale(self, alert: Alert, observation: Observation, place: int) -> bool:
        """Return whether all that hold are silent for so long that another begins anew; never where a key has one."""
        if alert.stale is None:
            return False
        last = dict(self.base.run.holding + self.base.run.stale)
        last |= {each.source: each.arrival for each in self.trail[:place] if each.holds}
        return all(observation.arrival - last[source] > alert.stale for source in self.holding)

    def refold(self, alert: Alert) -> None:
        """Find again what holds, after the trail or the base was changed."""
        run = self.base.run
        self.holding, self.stale = _names(run.holding), _names(run.stale)
        self.begin, self.told, self.run_from = run.begin, run.told, IN_BASE
        for place, observation in enumerate(self.trail):
            self._step(alert, observation, place)

    def run(self, alert: Alert) -> HoldingRun:
        """Return what holds, with when each source came last."""
        run = self.base.run
        for observation in self.trail:
            run = advance_run(run, observation, alert.stale)
        return run

    # -- alarms ---------------------------------------------------------------------------------

    def _is_muted(self, when: int) -> bool:
        return self.quiet_until is not None and when < self.quiet_until

    def _is_waited_for(self) -> bool:
        """Return whether its silence counts, and was not sent yet."""
        return not self.absent and self.paused is None and self._last(holding=True) is not None

    def _ready_at(self, alert: Alert) -> int | None:
        """When an alarm is to be sent if nothing else comes: when it stands, but not before the cool-down ends."""
        if alert.absent_for is not None:
            if not self._is_waited_for():
                return None
            stands = self.last_observed_at() + alert.absent_for
        elif self._deferred_events(alert):
            return self.quiet_until
        elif self.begin is None or self.told:  # only where failing is followed is there a run
            return None
        else:
            stands = self.begin + (alert.held_for or 0)
            if self.spoken and self._is_blocked(alert):
                return stands
        return stands if self.quiet_until is None else max(stands, self.quiet_until)

    def _is_blocked(self, alert: Alert) -> bool:
        """Return whether a lasting run is no alarm: one was sent that is not over, and not by stale sources alone."""
        return alert.held_for is not None and self.spoken and not self.stale

    def _is_pending(self, alert: Alert) -> bool:
        """Return whether what holds is an alarm that was not sent, by the time of what was taken in last."""
        if self.begin is None or self.told or self._is_blocked(alert):
            return False
        return self.begin + (alert.held_for or 0) <= self.settled

    def _alarm(self, alert: Alert, moment: int, when: int, *, quietly: bool = False) -> list[DueNotification]:
        """Send an alarm that stands, and begin the cool-down; `quietly`, it was there before and is not sent."""
        since, rest, once = self.begin, 0, alert.once_until is not None
        if since is not None:  # only where failing is followed is there a run
            stale, last = self.stale, self._last(holding=True)
            assert last is not None  # a run has at least one event
            blocked = self.spoken and self._is_blocked(alert)
            self.mark_run_notified(alert)
            if blocked:
                return []
        else:
            last = self._deferred_events(alert)[-1]
            span, arrived_at = alert.stale, last.arrival
            stale = tuple(source for source, at in self.active if span is not None and arrived_at - at > span)
            if not once:
                rest = len(self.deferred) - 1  # -1: `last` is counted among the others
            self.deferred, self.base = (), NO_BASE
        self.spoken, self.earlier = once, once and quietly
        if quietly:
            return []
        suppressed = len(self.held_back) + self.more_held_back + rest
        self._begin_cool_down(alert, when)
        cause: Cause = "arrival" if alert.held_for is None else "held"
        return [DueNotification(moment, cause, last, since, suppressed, tuple(sorted(stale)) if stale else ())]

    def _begin_cool_down(self, alert: Alert, when: int) -> None:
        self.held_back, self.more_held_back = (), 0
        if alert.at_most_every is not None:
            self.quiet_until = when + alert.at_most_every

    def _suppress(self, observation: Observation) -> None:
        """Count an alarm that was over before it was sent."""
        suppressed_ids = [*self.held_back, observation.event_id]
        more = max(0, len(suppressed_ids) - MAX_SUPPRESSED_EVENTS)
        self.held_back, self.more_held_back = suppressed_ids[more:], self.more_held_back + more

    def mark_run_notified(self, alert: Alert, *, notified: bool = True) -> None:
        """Note of every event of the run that is on whether it was sent."""
        self.told, trail, first = notified, self.trail, self.run_from
        if first == IN_BASE:
            self.base, first = self.base._replace(run=merge_stale(self.base.run._replace(told=notified))), 0
        for place in range(first, len(trail)):
            if trail[place].holds and trail[place].told is not notified:
                trail[place] = trail[place]._replace(told=notified)
        if self.stale or not notified:
            self.refold(alert)

    def unsend(self, alert: Alert, event_id: str, now: int, source: str) -> None:
        """Let the last alarm, which named an event, be one that was never sent: it is deferred if it stands."""
        if alert.absent_for is not None:
            self.absent = False
        elif alert.follows_failing:
            self.spoken = False
            if self.begin is not None:  # else the run is over, and no alarm stands
                self.mark_run_notified(alert, notified=False)
        elif self.spoken if alert.once_until is not None else self._is_muted(now):
            arrival = self.last_arrival
            deferred = Observation(0, arrival, arrival, source, event_id, True, False, False, 1.0, 1.0)
            self.spoken, self.deferred = False, [deferred]
            self.quiet_until = now if self.quiet_until is None else self.quiet_until

    # -- time -----------------------------------------------------------------------------------

    def due(self, alert: Alert, lateness: int) -> Due | None:
        """When something happens to the key by itself."""
        next_due: Due | None = None
        ready = None if self.told and not self.deferred else self._ready_at(alert)  # most keys, most of the time
        if ready is not None:
            if self.straggled:
                ready = certain_at(ready, self._alarming(alert), self.straggled)
            next_due = (ready + (0 if alert.absent_for is not None else lateness), TIMER, 0)
        if self.waiting:
            first = self._first_to_settle(lateness)
            settling = (settles_at(first, lateness), SETTLING, first.sequence)
            next_due = settling if next_due is None else min(next_due, settling)
        if self.doubted:
            doubted = min(self.doubted, key=_arrived)
            waited = (doubted.arrival + UPLOAD_SPAN, DOUBTED, doubted.sequence)
            next_due = waited if next_due is None else min(next_due, waited)
        return next_due

    def _alarming(self, alert: Alert) -> Iterable[str]:
        """The sources whose alarm is to be sent."""
        deferred = self._deferred_events(alert)
        return [each.source for each in deferred] if deferred else self.holding

    def _first_to_settle(self, lateness: int) -> Observation:
        return min(self.waiting, key=lambda each: (settles_at(each, lateness), each.sequence))

    def tick(self, alert: Alert, moment: int, what: int, lateness: int) -> list[DueNotification]:
        """Let everything happen that is due."""
        if what == TIMER and alert.absent_for is None:
            return self._alarm(alert, moment, moment - lateness)  # `due` added the lateness to when it is due
        if what == DOUBTED:
            return self._trust(alert, min(self.doubted, key=_arrived), moment, lateness)
        if what == SETTLING:
            limit = _event_time(self._first_to_settle(lateness))
            ready = sorted((each for each in self.waiting if _event_time(each) <= limit), key=_event_time)
            self.waiting = [each for each in self.waiting if _event_time(each) > limit]
            return [
                notification
                for observation in ready
                for notification in self._settle(alert, observation, moment, waited=True)
            ]
        last = self._last(holding=False)
        assert last is not None  # a key that never held is not waited for
        notification = DueNotification(moment, "absent", last, last.arrival, len(self.held_back) + self.more_held_back)
        self.absent, self.earlier = True, False
        self._begin_cool_down(alert, moment)
        return [notification]

    def _last(self, *, holding: bool) -> Observation | None:
        for observation in reversed(self.trail):
            if observation.holds or not holding:
                return observation
        return self.base.last_holding if holding else self.base.last

    def may_name(self, event_id: str) -> bool:
        """Return whether the next notification may name an event: the newest, one that waits, or one of an alarm."""
        return any(
            last is not None and last.event_id == event_id
            for last in (
                self._last(holding=True),
                self._last(holding=False),
                *self.deferred,
                *self.doubted,
                *self.waiting,
            )
        )

    def last_observed_at(self) -> int:
        """When something about it came last."""
        last = self._last(holding=False)
        return self.last_arrival if last is None else last.arrival

    # -- whose silence it is --------------------------------------------------------------------

    def expect(self, alert: Alert, observation: Observation) -> bool:
        """Something is to come: it counts as heard now, unless it was before; whether it does."""
        if self._last(holding=True) is not None:
            return False
        self.last_arrival = max(self.last_arrival, observation.arrival)
        self._remember(alert, observation)
        return True

    def unexpect(self, alert: Alert, event_id: str) -> bool:
        """It is not to come any more; whether nothing is left that held."""
        self.trail = [each for each in self.trail if each.event_id != event_id]
        self.refold(alert)
        return self._last(holding=True) is None

    def rename(self, before: str, after: str) -> bool:
        """Let an event be named by another; whether it is there."""
        result = any(each.event_id == before for each in self.trail)
        self.trail = [each._replace(event_id=after) if each.event_id == before else each for each in self.trail]
        return result

    def rename_source(self, alert: Alert, before: str, after: str | None) -> bool:
        """Let a source have another name; without one, leave out what came from it. Whether anything changed."""
        changed = False
        if after is not None and {before, after} <= {*self.sources(), *self.stale}:
            self.base, self.trail = folded(alert, self.base, self.trail), []
            changed = True
        for name in KeyState.__slots__:
            value = getattr(self, name)
            other = renamed(value, before, after, sources=name in SOURCE_FIELDS)
            if other != value:
                setattr(self, name, other)
                changed = True
        if changed:
            self.scheduled = None
            self.refold(alert)
        return changed

    def is_over(self, alert: Alert) -> bool:
        """Return whether nobody is left of whom something holds, waits or was sent."""
        deferred = self._deferred_events(alert)
        left = (self.holding, self.stale, self.active, self.waiting, deferred, self.doubted)
        return not any(left)

    def precedence(self, alert: Alert) -> tuple[bool, bool, int]:
        """Which of two states of one key to keep: one whose alarm was sent, one whose alarm stands, the newer."""
        stands = self.begin is not None or bool(self._deferred_events(alert))
        return self.absent or self.spoken or self.told, stands, self.last_arrival

    def mark_earlier(self, alert: Alert, now: int) -> None:
        """All of it came before the alert was there: nothing of it is sent, nor that it ends, nor is there a cool-down.

        What lasts, or is silent, only after that is sent as ever.
        """
        self.waiting = [each._replace(earlier=True) for each in self.waiting]
        self.doubted = [each._replace(earlier=True) for each in self.doubted]
        self.quiet_until, self.held_back, self.more_held_back = None, (), 0
        stood = bool(self._deferred_events(alert))
        if not stood:
            ready = self._ready_at(alert)
            stood = ready is not None and ready <= now
        if alert.absent_for is not None:
            self.absent = self.absent or stood
        elif stood:
            self._alarm(alert, now, now, quietly=True)
        self.earlier = self.absent or self.spoken

    def rank(self) -> tuple[bool, bool, int]:
        """Return how much people want to know of it: something was said, it holds, something came lately."""
        return self.absent or self.spoken or self.told, self.begin is not None, self.last_arrival

    def sources(self) -> set[str]:
        """Whom something came from, as far as it is remembered."""
        names = {*_names(self.base.run.holding), *(each.source for each in self.trail)}
        if self.base.last is not None:
            names.add(self.base.last.source)
        return names

    def update_pause(self, alert: Alert, excused: bool, now: int) -> bool:
        """Let its silence count from now on, or not; what passed while it was excused does not. Whether it changed."""
        if excused == (self.paused is not None):
            return False
        if self.paused is None:
            self.paused = now
        else:
            part = outage_since(self.last_observed_at(), now - self.paused, now)
            self.paused = None
            self.shift(alert, part, only_arrival=True)
        return True

    # -- withdrawing, speaking, moving ----------------------------------------------------------

    def withdraw(self, alert: Alert, event_id: str, now: int) -> list[DueNotification]:
        """An event is withdrawn."""
        removed = [each for each in self.trail if each.event_id == event_id]
        self.waiting = _without(self.waiting, event_id)
        self.deferred = _without(self.deferred, event_id)
        self.doubted = _without(self.doubted, event_id)
        self.held_back = [id for id in self.held_back if id != event_id]
        if not alert.follows_failing and alert.once_until is None and not (self.held_back or self.more_held_back):
            self.base = NO_BASE  # none of those before stands
        if not (self.spoken or self._deferred_events(alert)):
            self.active = ()
        if not removed:
            return []
        self.trail = [each for each in self.trail if each.event_id != event_id]
        self.refold(alert)
        if alert.once_until != "false":
            return []
        if self.spoken and not (self.holding or self.stale):
            notifications = [] if self.earlier else [DueNotification(now, "cleared", removed[-1])]
            self.spoken = self.earlier = False
            return notifications
        if self.told and not self.spoken:  # what ended it is withdrawn, but that it ended was sent
            self.mark_run_notified(alert, notified=False)
            ready = self._ready_at(alert)
            if ready is not None and ready <= now:
                return self._alarm(alert, now, now)
        return []

    def copy(self) -> KeyState:
        """The same, to be moved on its own."""
        made = KeyState()
        for name in KeyState.__slots__:
            setattr(made, name, getattr(self, name))
        made.trail, made.scheduled = [*self.trail], None
        return made

    def is_blank(self) -> bool:
        """Return whether the key is as good as new."""
        return not (
            self.trail
            or self.spoken
            or self.waiting
            or self.absent
            or self.held_back
            or self.more_held_back
            or self.deferred
            or self.doubted
        ) and (self.quiet_until is None and self.base == NO_BASE)

    def shift(self, alert: Alert, by: int, *, only_arrival: bool = False) -> None:
        """Let everything, or only what was heard when, count as so much later."""
        event_shift = 0 if only_arrival else by

        def later(observation: Observation) -> Observation:
            stated = None if observation.stated is None else observation.stated + event_shift
            return observation._replace(
                arrival=observation.arrival + by, time=observation.time + event_shift, stated=stated
            )

        def heard_later(sources: Sources) -> Sources:
            return tuple((source, last + by) for source, last in sources)

        self.waiting, self.trail = [later(each) for each in self.waiting], [later(each) for each in self.trail]
        self.deferred, self.doubted = [later(each) for each in self.deferred], [later(each) for each in self.doubted]
        self.last_arrival += by
        self.active = heard_later(self.active)
        self.straggled = tuple((source, arrived_at + event_shift) for source, arrived_at in self.straggled)
        if self.base is not NO_BASE:
            run, last, base = self.base
            begin = None if run.begin is None else run.begin + event_shift
            run = HoldingRun(heard_later(run.holding), begin, run.told, heard_later(run.stale))
            self.base = CompactedHistory(run, last and later(last), base and later(base))
        self.settled = self.settled if self.settled == FRESH else self.settled + event_shift
        self.quiet_until = None if self.quiet_until is None else self.quiet_until + event_shift
        self.paused = None if self.paused is None else self.paused + event_shift
        self.refold(alert)
        self.scheduled = None


def _names(sources: Sources) -> tuple[str, ...]:
    return tuple(source for source, _ in sources)


def _without(events: Sequence[Observation], event_id: str) -> Sequence[Observation]:
    return [each for each in events if each.event_id != event_id]


def _event_time(observation: Observation) -> tuple[int, int]:
    return observation.time, observation.sequence


def _arrived(observation: Observation) -> tuple[int, int]:
    return observation.arrival, observation.sequence
