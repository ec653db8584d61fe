"""The story of one key of an alert, told step by step: events, the passing of time, withdrawals. All values, no state.

With a lateness, an event waits so long after its own time, and events are taken in the order of these; one that came
later than that (a straggler: the newest of its source all the same) waits so long after its arrival. A run begins with
the first event that holds, when none of the key's sources held, and ends when the last of them fails. The newest events
of a key are remembered one by one, so that they can be withdrawn; older ones are in `base`.

`told` and `spoken` mean that a notification was sent. An alarm that falls into a cool-down is not: it stays due until
the cool-down ends, and is sent then if it still stands. Where failing is not followed, its events wait in `deferred`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from likewise.defaults import MAX_DOUBTED_EVENTS, MAX_RETRACTABLE_EVENTS, MAX_SUPPRESSED_EVENTS, UPLOAD_SPAN
from likewise.matching.reference.lateness import is_late
from likewise.model.alerts.clauses import Alert
from likewise.model.match import Cause

DOUBTED, SETTLING, TIMER = 1, 2, 3  # of what is due at one moment, events come before what waited for them


class Observation(NamedTuple):
    """One event that moves a key: when it came, its own time, from where, and what it says.

    What is `earlier` came before its alert was there: it builds the state, and nothing is said of it. `stated` is the
    time that an event states whose clock is doubted; its `time` is its arrival at the first broker then.
    """

    sequence: int
    arrival: int
    time: int
    source: str
    event_id: str | None
    holds: bool
    fails: bool
    clears: bool
    score: float
    product: float
    told: bool = False
    earlier: bool = False
    stated: int | None = None


Sources = tuple[tuple[str, int], ...]  # sources, and when something of each came last


class HoldingRun(NamedTuple):
    """Which sources hold, since when, and whether that was sent.

    Sources in `stale` hold, too, and that was sent, but they have been silent for so long that another began anew.
    """

    holding: Sources = ()
    begin: int | None = None
    told: bool = False
    stale: Sources = ()


class CompactedHistory(NamedTuple):
    """Compacted history: the effect of the events that are no longer stored one by one."""

    run: HoldingRun = HoldingRun()
    last: Observation | None = None
    last_holding: Observation | None = None


class AlertState(NamedTuple):
    """Everything there is about one key.

    `spoken`: an alarm was sent and is not over; with `earlier` it was there before the alert, so that neither it nor
    its end is sent. `active` are the sources that met the condition since, where failing is not followed. `doubted`
    are events whose clock may be wrong.
    """

    waiting: tuple[Observation, ...] = ()
    base: CompactedHistory = CompactedHistory()
    trail: tuple[Observation, ...] = ()
    settled: int | None = None
    last_arrival: int = 0
    straggled: Sources = ()  # when the last of each source came that was later than others are waited for
    spoken: bool = False
    quiet_until: int | None = None
    held_back: tuple[str | None, ...] = ()
    more_held_back: int = 0
    absent: bool = False
    paused: int | None = None
    deferred: tuple[Observation, ...] = ()
    earlier: bool = False
    active: Sources = ()
    doubted: tuple[Observation, ...] = ()


class DueNotification(NamedTuple):
    """Something to be sent: when it was due, why, of which event, since when, how many alarms before it were not sent.

    `stale` names the sources of its key that hold and have been silent for long.
    """

    moment: int
    cause: Cause
    about: Observation
    since: int | None = None
    suppressed: int = 0
    stale: tuple[str, ...] = ()


Told = tuple[AlertState, list[DueNotification]]


def advance_run(run: HoldingRun, observation: Observation, stale: int | None = None) -> HoldingRun:
    """A run after one more event. `stale` is the silence after which a source keeps no other from beginning anew.

    >>> first = advance_run(HoldingRun(), Observation(0, 5, 5, "s", "e", True, False, False, 1.0, 1.0, told=True))
    >>> first.begin, advance_run(first, Observation(1, 99, 99, "t", "f", True, False, False, 1.0, 1.0), stale=60).begin
    (5, 99)
    """
    source = observation.source
    others = tuple(each for each in run.holding if each[0] != source)
    still_stale = tuple(each for each in run.stale if each[0] != source)
    if not observation.holds:
        return HoldingRun(others, run.begin, run.told, still_stale) if others else HoldingRun(stale=still_stale)
    now, back = ((source, observation.arrival),), len(still_stale) < len(run.stale)
    if not run.holding:
        return merge_stale(HoldingRun(now, observation.time, observation.told, still_stale))
    new = len(others) == len(run.holding) and not back
    if new and run.told and not observation.told and _all_stale(others, observation, stale):
        return HoldingRun(now, observation.time, False, still_stale + others)
    return merge_stale(HoldingRun(others + now, run.begin, run.told or observation.told, still_stale))


def merge_stale(run: HoldingRun) -> HoldingRun:
    """Once what a source began beside stale ones was sent, it is one run with theirs."""
    return HoldingRun(run.stale + run.holding, run.begin, True) if run.told and run.stale else run


def _all_stale(sources: Sources, observation: Observation, stale: int | None) -> bool:
    return stale is not None and all(observation.arrival - last > stale for _, last in sources)


def run_of(alert: Alert, state: AlertState) -> HoldingRun:
    """Return what holds now."""
    run = state.base.run
    for observation in state.trail:
        run = advance_run(run, observation, alert.stale)
    return run


def last_of(state: AlertState, *, holding: bool) -> Observation | None:
    """The newest event about the alert, or the newest that held."""
    newest = next((each for each in reversed(state.trail) if each.holds or not holding), None)
    return newest or (state.base.last_holding if holding else state.base.last)


def settles_at(observation: Observation, lateness: int) -> int:
    """Return when an event is taken in: no other from before it is waited for any more.

    >>> told = Observation(0, 12, 5, "s", "e", True, False, False, 1.0, 1.0)
    >>> settles_at(told, 10), settles_at(told, 3), settles_at(told, 0)
    (15, 15, 12)
    """
    late = is_late(observation.time, observation.arrival, lateness)
    return (observation.arrival if late else observation.time) + lateness


# -- events -------------------------------------------------------------------------------------


def observe(alert: Alert, state: AlertState, observation: Observation, lateness: int) -> Told:
    """An event comes that moves the key and is not late."""
    state = state._replace(last_arrival=max(state.last_arrival, observation.arrival))
    if alert.absent_for is not None:
        return _observe_return(alert, state, observation)
    if observation.stated is not None:
        return doubt(alert, state, observation, lateness)
    notifications: list[DueNotification] = []
    for each in state.doubted:  # the clock is right again, so those before it were no upload
        if each.source == observation.source:
            state, sent = _trust(alert, state, each, observation.arrival, lateness)
            notifications += sent
    state, sent = _enqueue(alert, state, observation, observation.arrival, lateness)
    return state, notifications + sent


def _observe_return(alert: Alert, state: AlertState, observation: Observation) -> Told:
    """A key whose silence counts is heard again."""
    notifications: list[DueNotification] = []
    last = last_of(state, holding=False)
    if state.absent:
        if not state.earlier:
            notifications = [DueNotification(observation.arrival, "returned", observation, last_observed_at(state))]
        state = state._replace(absent=False, earlier=False)
    elif last is not None and (ready := ready_at(alert, state)) is not None:
        stood = last.arrival + (alert.absent_for or 0)
        state = suppress(state, last) if stood <= observation.arrival < ready else state
    return remember(alert, state, observation), notifications


def _enqueue(alert: Alert, state: AlertState, observation: Observation, moment: int, lateness: int) -> Told:
    if lateness:
        state = state._replace(straggled=update_late_sources(state.straggled, observation, lateness))
        return state._replace(waiting=(*state.waiting, observation)), []
    return settle(alert, state, observation, moment)


def doubt(alert: Alert, state: AlertState, observation: Observation, lateness: int) -> Told:
    """An event states a time long before its source's newest, and is of no upload yet: it waits for a minute."""
    state = state._replace(doubted=(*state.doubted, observation))
    if len(state.doubted) > MAX_DOUBTED_EVENTS:
        return _trust(alert, state, state.doubted[0], observation.arrival, lateness)
    return state, []


def drop_upload(state: AlertState, source: str) -> AlertState:
    """The doubted events of a source turn out to be of an upload: they move nothing."""
    return state._replace(doubted=tuple(each for each in state.doubted if each.source != source))


def _trust(alert: Alert, state: AlertState, observation: Observation, moment: int, lateness: int) -> Told:
    """Take an event in at its arrival: it was of no upload, so its clock is wrong."""
    state = state._replace(doubted=tuple(each for each in state.doubted if each != observation))
    return _enqueue(alert, state, observation._replace(stated=None), moment, lateness)


def settle(alert: Alert, state: AlertState, observation: Observation, moment: int, *, waited: bool = False) -> Told:
    """Take an event in at its own time, or just after what was taken in before it."""
    time = observation.time if state.settled is None else max(observation.time, state.settled)
    observation = observation._replace(time=time)
    when = time if waited else moment
    notifications: list[DueNotification] = []
    ready = ready_at(alert, state)
    if ready is not None and ready <= time:
        state, notifications = alarm(alert, state, moment, ready if waited else moment, quietly=observation.earlier)
    state = state._replace(settled=time)
    if observation.clears and not observation.holds:
        state, sent = _clear(alert, state, observation, moment)
        notifications += sent
    if alert.follows_failing and (observation.holds or observation.fails):
        state, sent = _follow(alert, state, observation, moment)
        notifications += sent
        anew = observation.holds and alert.held_for is None and not run_of(alert, state).told
        if anew and (observation.earlier or not is_muted(state, when)):
            state, sent = alarm(alert, state, moment, when, quietly=observation.earlier)
            notifications += sent
    elif observation.holds:
        state, sent = _hold(alert, state, observation, moment, when)
        notifications += sent
    return state, notifications


def _clear(alert: Alert, state: AlertState, observation: Observation, moment: int) -> Told:
    """Return what arms the alert again comes: an alarm that was sent is over, one that was not will not be."""
    notifications: list[DueNotification] = []
    if state.spoken and not state.earlier:
        notifications = [DueNotification(moment, "cleared", observation)]
    if deferred := deferred_of(alert, state):
        state = suppress(state, deferred[-1])
        state = state if alert.follows_failing else state._replace(base=CompactedHistory())
    if not state.spoken and alert.held_for is not None and is_pending(alert, state):
        last = last_of(state, holding=True)
        assert last is not None  # a run has at least one event
        state = suppress(mark_run_notified(alert, state), last)
    return state._replace(spoken=False, earlier=False, deferred=(), active=()), notifications


def _follow(alert: Alert, state: AlertState, observation: Observation, moment: int) -> Told:
    """An event holds or fails, and both matter; if what was sent is over by it, that is sent."""
    pending, last = is_pending(alert, state), last_of(state, holding=True)
    before = run_of(alert, state)
    back = not before.holding and observation.source in dict(before.stale)  # it was active all the time, which was sent
    notified = observation.holds and (back or advance_run(before, observation, alert.stale).told)
    state = remember(alert, state, observation._replace(told=notified))
    run = run_of(alert, state)
    if run.holding or observation.holds:
        return state, []
    if pending and last is not None:
        state = suppress(state, last)
    if run.stale or not state.spoken or alert.once_until != "false":
        return state, []
    notifications = [] if state.earlier else [DueNotification(moment, "cleared", observation)]
    return state._replace(spoken=False, earlier=False), notifications


def _hold(alert: Alert, state: AlertState, observation: Observation, moment: int, when: int) -> Told:
    """An event holds, and failing is not followed: it is an alarm, unless one was sent that is not over."""
    blocked = state.spoken and not (
        observation.source not in dict(state.active) and _all_stale(state.active, observation, alert.stale)
    )
    if alert.stale is not None and alert.once_until is not None:
        others = tuple(each for each in state.active if each[0] != observation.source)
        state = state._replace(active=(*others, (observation.source, observation.arrival)))
    if blocked and not deferred_of(alert, state):
        return state, []
    deferred = (*state.deferred, observation)
    if len(deferred) > MAX_RETRACTABLE_EVENTS:  # it can be withdrawn no more, and stands if all others are
        if alert.once_until is None:
            state = suppress(state, deferred[0])
        state, deferred = state._replace(base=CompactedHistory(last_holding=deferred[0])), deferred[1:]
    state = state._replace(deferred=deferred)
    if is_muted(state, when) and not observation.earlier:
        return state, []
    return alarm(alert, state, moment, when, quietly=observation.earlier)


def deferred_of(alert: Alert, state: AlertState) -> tuple[Observation, ...]:
    """Return the events of a deferred alarm, where failing is not followed.

    If all that are stored one by one were withdrawn, the newest of those before them stands.
    """
    last = None if alert.follows_failing else state.base.last_holding
    return state.deferred or (() if last is None else (last,))


def remember(alert: Alert, state: AlertState, observation: Observation) -> AlertState:
    """Keep an event among the newest; the oldest of them goes into the base. What fails before all else is let go."""
    if observation.fails and not state.trail and state.base == CompactedHistory():
        return state
    trail, base = (*state.trail, observation), state.base
    if len(trail) > MAX_RETRACTABLE_EVENTS:
        first, trail = trail[0], trail[1:]
        base = CompactedHistory(
            advance_run(base.run, first, alert.stale), first, first if first.holds else base.last_holding
        )
    return state._replace(trail=trail, base=base)


def is_blank(state: AlertState) -> bool:
    """Return whether nothing in it could matter any more: a key that is as good as new."""
    return not (
        state.waiting
        or state.trail
        or state.spoken
        or state.absent
        or state.held_back
        or state.more_held_back
        or state.deferred
        or state.doubted
    ) and (state.quiet_until is None and state.base == CompactedHistory())


# -- alarms -------------------------------------------------------------------------------------


def is_muted(state: AlertState, when: int) -> bool:
    """Return whether a moment lies in the cool-down that `at most every` gives after an alarm that was sent."""
    return state.quiet_until is not None and when < state.quiet_until


def ready_at(alert: Alert, state: AlertState) -> int | None:
    """Return when an alarm is due without further events: when it holds, but not before the end of the cool-down."""
    if alert.absent_for is not None:
        if state.absent or state.paused is not None or last_of(state, holding=True) is None:
            return None
        return _after_quiet(state, last_observed_at(state) + alert.absent_for)
    if deferred_of(alert, state):
        return state.quiet_until
    if not alert.follows_failing:
        return None
    run = run_of(alert, state)
    if run.begin is None or run.told:
        return None
    stands = run.begin + (alert.held_for or 0)
    return stands if _is_blocked(alert, state, run) else _after_quiet(state, stands)


def _after_quiet(state: AlertState, moment: int) -> int:
    return moment if state.quiet_until is None else max(moment, state.quiet_until)


def _is_blocked(alert: Alert, state: AlertState, run: HoldingRun) -> bool:
    """Return whether a run that lasts is no alarm: one was sent that is not over, and not by stale sources alone."""
    return alert.held_for is not None and state.spoken and not run.stale


def is_pending(alert: Alert, state: AlertState) -> bool:
    """Return whether what holds is an alarm that was not sent, by the time of what was taken in last."""
    run = run_of(alert, state)
    if run.begin is None or run.told or state.settled is None or _is_blocked(alert, state, run):
        return False
    return run.begin + (alert.held_for or 0) <= state.settled


def alarm(alert: Alert, state: AlertState, moment: int, when: int, *, quietly: bool = False) -> Told:
    """Send an alarm that stands, and begin the cool-down; `quietly`, it was there before the alert and is not sent."""
    if alert.follows_failing:
        run, about = run_of(alert, state), last_of(state, holding=True)
        assert about is not None  # a run has at least one event
        since, stale = run.begin, run.stale
        state = mark_run_notified(alert, state)
        if _is_blocked(alert, state, run):
            return state, []
    else:
        since, about = None, deferred_of(alert, state)[-1]
        stale = tuple(each for each in state.active if _all_stale((each,), about, alert.stale))
    once = alert.once_until is not None
    rest = 0 if once or alert.follows_failing else len(state.deferred) - 1  # -1: `about` is counted among the others
    count = len(state.held_back) + state.more_held_back + rest
    state = state._replace(spoken=once, earlier=once and quietly, deferred=())
    if not alert.follows_failing:
        state = state._replace(base=CompactedHistory())
    if quietly:
        return state, []
    state = begin_cool_down(alert, state, when)
    cause: Cause = "arrival" if alert.held_for is None else "held"
    return state, [DueNotification(moment, cause, about, since, count, tuple(sorted(source for source, _ in stale)))]


def begin_cool_down(alert: Alert, state: AlertState, when: int) -> AlertState:
    """An alarm was sent: the cool-down begins, and what is counted from now on is new."""
    state = state._replace(held_back=(), more_held_back=0)
    return state if alert.at_most_every is None else state._replace(quiet_until=when + alert.at_most_every)


def suppress(state: AlertState, observation: Observation) -> AlertState:
    """Count an alarm that was over before it was sent."""
    ids = (*state.held_back, observation.event_id)
    more = max(0, len(ids) - MAX_SUPPRESSED_EVENTS)
    return state._replace(held_back=ids[more:], more_held_back=state.more_held_back + more)


def mark_run_notified(alert: Alert, state: AlertState, *, notified: bool = True) -> AlertState:
    """Note of every event of the run that is on whether it was sent."""
    trail = tuple(
        each._replace(told=notified) if _in_run(alert, state, place) else each for place, each in enumerate(state.trail)
    )
    base = state.base
    if base.run.holding and _never_ends(alert, base.run, state.trail):
        base = base._replace(run=merge_stale(base.run._replace(told=notified)))
    return state._replace(trail=trail, base=base)


def _in_run(alert: Alert, state: AlertState, place: int) -> bool:
    """Return whether an event of the trail belongs to the run that is on: nothing after it ended one."""
    run = state.base.run
    for each in state.trail[: place + 1]:
        run = advance_run(run, each, alert.stale)
    return state.trail[place].holds and _never_ends(alert, run, state.trail[place + 1 :])


def _never_ends(alert: Alert, run: HoldingRun, following: Iterable[Observation]) -> bool:
    for each in following:
        run = advance_run(run, each, alert.stale)
        if not run.holding:
            return False
    return True


# -- time ---------------------------------------------------------------------------------------


def due(alert: Alert, state: AlertState, lateness: int) -> tuple[int, int, int] | None:
    """Return the next step of the key by itself: its time, whether it is an event or a timer, and which event."""
    due_steps: list[tuple[int, int, int]] = []
    if state.doubted:
        doubted = min(state.doubted, key=_arrived)
        due_steps.append((doubted.arrival + UPLOAD_SPAN, DOUBTED, doubted.sequence))
    if state.waiting:
        first = _first_to_settle(state, lateness)
        due_steps.append((settles_at(first, lateness), SETTLING, first.sequence))
    ready = ready_at(alert, state)
    if ready is not None and alert.absent_for is not None:
        due_steps.append((ready, TIMER, 0))
    elif ready is not None:
        due_steps.append((certain_at(ready, _alarming(alert, state), state.straggled) + lateness, TIMER, 0))
    return min(due_steps, default=None)


def _alarming(alert: Alert, state: AlertState) -> list[str]:
    """The sources whose alarm is to be sent."""
    if deferred := deferred_of(alert, state):
        return [each.source for each in deferred]
    return [source for source, _ in run_of(alert, state).holding]


def update_late_sources(straggled: Sources, observation: Observation, lateness: int) -> Sources:
    """Return the late sources after one more event; a source that was late longer ago than the lateness is dropped."""
    if straggled:
        straggled = tuple(each for each in straggled if each[1] + lateness >= observation.arrival)
    if not is_late(observation.time, observation.arrival, lateness):
        return straggled
    return (*(each for each in straggled if each[0] != observation.source), (observation.source, observation.arrival))


def certain_at(end: int, holding: Iterable[str], straggled: Sources) -> int:
    """Return when an alarm that stands is certain: not before one of those who hold is certain of it.

    A source that straggled may have sent the first of several, so nothing is certain of it until others had their
    time after that. One whose clock is behind holds nobody else up.
    """
    if not straggled:
        return end
    last = dict(straggled)
    return max(end, min(last.get(source, end) for source in holding))


def _first_to_settle(state: AlertState, lateness: int) -> Observation:
    return min(state.waiting, key=lambda each: (settles_at(each, lateness), each.sequence))


def tick(alert: Alert, state: AlertState, moment: int, what: int, lateness: int) -> Told:
    """Return what is due happens: an event has waited long enough, an alarm is to be sent, a silence is too long."""
    if what == DOUBTED:
        return _trust(alert, state, min(state.doubted, key=_arrived), moment, lateness)
    if what == SETTLING:
        first = _first_to_settle(state, lateness)
        ready = sorted((each for each in state.waiting if _order(each) <= _order(first)), key=_order)
        state = state._replace(waiting=tuple(each for each in state.waiting if _order(each) > _order(first)))
        notifications: list[DueNotification] = []
        for observation in ready:
            state, sent = settle(alert, state, observation, moment, waited=True)
            notifications += sent
        return state, notifications
    if alert.absent_for is not None:
        last = last_of(state, holding=False)
        assert last is not None  # a key that never held is not waited for
        count = len(state.held_back) + state.more_held_back
        notification = DueNotification(moment, "absent", last, last_observed_at(state), count)
        return begin_cool_down(alert, state._replace(absent=True, earlier=False), moment), [notification]
    when = ready_at(alert, state)
    assert when is not None  # it is due
    return alarm(alert, state, moment, certain_at(when, _alarming(alert, state), state.straggled))


def take_back(alert: Alert, state: AlertState, event_id: str, now: int) -> Told:
    """An event is withdrawn: it no longer counts for what has not been sent."""
    removed = [each for each in state.trail if each.event_id == event_id]
    state = state._replace(
        waiting=_without(state.waiting, event_id),
        trail=_without(state.trail, event_id),
        deferred=_without(state.deferred, event_id),
        doubted=_without(state.doubted, event_id),
        held_back=tuple(id for id in state.held_back if id != event_id),
    )
    if not alert.follows_failing and alert.once_until is None and not (state.held_back or state.more_held_back):
        state = state._replace(base=CompactedHistory())  # none of those before stands
    if not (state.spoken or deferred_of(alert, state)):
        state = state._replace(active=())
    if not removed or alert.once_until != "false":
        return state, []
    run = run_of(alert, state)
    if state.spoken and not (run.holding or run.stale):
        notifications = [] if state.earlier else [DueNotification(now, "cleared", removed[-1])]
        return state._replace(spoken=False, earlier=False), notifications
    if run.told and not state.spoken:  # what ended it is withdrawn, but that it ended was sent
        state = mark_run_notified(alert, state, notified=False)
        ready = ready_at(alert, state)
        if ready is not None and ready <= now:
            return alarm(alert, state, now, now)
    return state, []


def _without(events: tuple[Observation, ...], event_id: str) -> tuple[Observation, ...]:
    return tuple(each for each in events if each.event_id != event_id)


def unsent(alert: Alert, state: AlertState, event_id: str, now: int, source: str) -> AlertState:
    """Return a state whose last alarm, which named an event, was never sent: it is deferred if it stands.

    >>> sent = AlertState(spoken=True, quiet_until=9, last_arrival=5)
    >>> put_off = unsent(Alert(once_until="false", at_most_every=9), sent, "e", 7, "s")
    >>> put_off.spoken, put_off.quiet_until
    (False, 9)
    """
    if alert.absent_for is not None:
        return state._replace(absent=False)
    if alert.follows_failing:
        return mark_run_notified(alert, state._replace(spoken=False), notified=False)
    if not (state.spoken if alert.once_until is not None else is_muted(state, now)):
        return state
    arrival = state.last_arrival
    observation = Observation(0, arrival, arrival, source, event_id, True, False, False, 1.0, 1.0)
    quiet = now if state.quiet_until is None else state.quiet_until
    return state._replace(spoken=False, deferred=(observation,), quiet_until=quiet)


def outage_since(observed_at: int, by: int, until: int) -> int:
    """Return how much of an outage lies after something was heard.

    >>> outage_since(95, by=10, until=100), outage_since(50, by=10, until=100)
    (5, 10)
    """
    return max(0, min(by, until - observed_at))


def last_observed_at(state: AlertState) -> int:
    """Return when something about the key came last."""

    last = last_of(state, holding=False)
    return state.last_arrival if last is None else last.arrival


def _order(observation: Observation) -> tuple[int, int]:
    return observation.time, observation.sequence


def _arrived(observation: Observation) -> tuple[int, int]:
    return observation.arrival, observation.sequence
