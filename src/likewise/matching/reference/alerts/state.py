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

from likewise.defaults import MAX_RETRACTABLE_EVENTS, MAX_SUPPRESSED_EVENTS, UPLOAD_SLACK, UPLOAD_SPAN
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
    """What is left of the events that are no longer remembered one by one."""

    run: HoldingRun = HoldingRun()
    last: Observation | None = None
    last_holding: Observation | None = None


class AlertState(NamedTuple):
    """Everything there is about one key.

    `spoken`: an alarm was sent and is not over; with `earlier` it was there before the alert, so that neither it nor
    its end is sent. `active` are the sources that met the condition since, where failing is not followed. `doubted`
    are events whose clock may be wrong; those that say nothing are what is remembered of an upload.
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


def advance_run(run: HoldingRun, heard: Observation, stale: int | None = None) -> HoldingRun:
    """A run after one more event. `stale` is the silence after which a source keeps no other from beginning anew.

    >>> first = advance_run(HoldingRun(), Observation(0, 5, 5, "s", "e", True, False, False, 1.0, 1.0, told=True))
    >>> first.begin, advance_run(first, Observation(1, 99, 99, "t", "f", True, False, False, 1.0, 1.0), stale=60).begin
    (5, 99)
    """
    source = heard.source
    others = tuple(each for each in run.holding if each[0] != source)
    aside = tuple(each for each in run.stale if each[0] != source)
    if not heard.holds:
        return HoldingRun(others, run.begin, run.told, aside) if others else HoldingRun(stale=aside)
    now, back = ((source, heard.arrival),), len(aside) < len(run.stale)
    if not run.holding:
        return merge_stale(HoldingRun(now, heard.time, heard.told, aside))
    new = len(others) == len(run.holding) and not back
    if new and run.told and not heard.told and _all_stale(others, heard, stale):
        return HoldingRun(now, heard.time, False, aside + others)
    return merge_stale(HoldingRun(others + now, run.begin, run.told or heard.told, aside))


def merge_stale(run: HoldingRun) -> HoldingRun:
    """Once what a source began beside stale ones was sent, it is one run with theirs."""
    return HoldingRun(run.stale + run.holding, run.begin, True) if run.told and run.stale else run


def _all_stale(sources: Sources, heard: Observation, stale: int | None) -> bool:
    return stale is not None and all(heard.arrival - last > stale for _, last in sources)


def run_of(alert: Alert, story: AlertState) -> HoldingRun:
    """What holds now."""
    run = story.base.run
    for heard in story.trail:
        run = advance_run(run, heard, alert.stale)
    return run


def last_of(story: AlertState, *, holding: bool) -> Observation | None:
    """The newest event about the alert, or the newest that held."""
    found = next((each for each in reversed(story.trail) if each.holds or not holding), None)
    return found or (story.base.last_holding if holding else story.base.last)


def settles_at(heard: Observation, lateness: int) -> int:
    """When an event is taken in: no other from before it is waited for any more.

    >>> told = Observation(0, 12, 5, "s", "e", True, False, False, 1.0, 1.0)
    >>> settles_at(told, 10), settles_at(told, 3), settles_at(told, 0)
    (15, 15, 12)
    """
    return (heard.arrival if is_late(heard, lateness) else heard.time) + lateness


def is_late(heard: Observation, lateness: int) -> bool:
    """Whether an event came later after its own time than others are waited for."""
    return heard.time + lateness < heard.arrival


# -- events -------------------------------------------------------------------------------------


def observe(alert: Alert, story: AlertState, heard: Observation, lateness: int) -> Told:
    """An event comes that moves the key and is not late."""
    story = story._replace(last_arrival=max(story.last_arrival, heard.arrival))
    if alert.absent_for is not None:
        return _observe_return(alert, story, heard)
    if heard.stated is not None:
        return doubt(alert, story, heard, lateness)
    says: list[DueNotification] = []
    for each in story.doubted:  # the clock is right again, so those before it were no upload
        if each.source == heard.source and has_effect(each):
            story, said = _trust(alert, story, each, heard.arrival, lateness)
            says += said
    story, said = _enqueue(alert, story, heard, heard.arrival, lateness)
    return story, says + said


def _observe_return(alert: Alert, story: AlertState, heard: Observation) -> Told:
    """A key whose silence counts is heard again."""
    says: list[DueNotification] = []
    last = last_of(story, holding=False)
    if story.absent:
        if not story.earlier:
            says = [DueNotification(heard.arrival, "returned", heard, last_observed_at(story))]
        story = story._replace(absent=False, earlier=False)
    elif last is not None and (ready := ready_at(alert, story)) is not None:
        stood = last.arrival + (alert.absent_for or 0)
        story = suppress(story, last) if stood <= heard.arrival < ready else story
    return remember(alert, story, heard), says


def _enqueue(alert: Alert, story: AlertState, heard: Observation, moment: int, lateness: int) -> Told:
    if lateness:
        story = story._replace(straggled=update_late_sources(story.straggled, heard, lateness))
        return story._replace(waiting=(*story.waiting, heard)), []
    return settle(alert, story, heard, moment)


def doubt(alert: Alert, story: AlertState, heard: Observation, lateness: int) -> Told:
    """An event states a time long before its source's newest: its clock is wrong, or it is one of an upload."""
    own = [each for each in story.doubted if each.source == heard.source]
    if any(is_upload(each, heard) for each in own):
        others = tuple(each for each in story.doubted if each.source != heard.source)
        return story._replace(doubted=(*others, without_moves(heard))), []
    story = story._replace(doubted=(*story.doubted, heard))
    waiting = [each for each in story.doubted if has_effect(each)]
    if len(waiting) > MAX_RETRACTABLE_EVENTS:
        return _trust(alert, story, waiting[0], heard.arrival, lateness)
    return story, []


def is_upload(before: Observation, heard: Observation) -> bool:
    """Whether two doubted events of one source, the first of which still waits, are of one upload.

    >>> first = Observation(0, 1_000_000, 1_000_000, "s", "e", True, False, False, 1.0, 1.0, stated=-86_400_000_000)
    >>> is_upload(first, first._replace(stated=-86_300_000_000)), is_upload(first, first._replace(time=61_000_001))
    (True, False)
    """
    passed = heard.time - before.time
    assert before.stated is not None
    assert heard.stated is not None
    apart = abs(heard.stated - before.stated)
    return passed <= UPLOAD_SPAN and (not has_effect(before) or apart > abs(passed) + UPLOAD_SLACK)


def without_moves(heard: Observation) -> Observation:
    """What is remembered of an event of an upload: when it came, and from where."""
    return heard._replace(holds=False, fails=False, clears=False)


def has_effect(heard: Observation) -> bool:
    """Whether an event that is doubted says anything to the key."""
    return heard.holds or heard.fails or heard.clears


def _trust(alert: Alert, story: AlertState, heard: Observation, moment: int, lateness: int) -> Told:
    """Take an event in at its arrival: it was of no upload, so its clock is wrong."""
    story = story._replace(doubted=tuple(each for each in story.doubted if each != heard))
    return _enqueue(alert, story, heard._replace(stated=None), moment, lateness)


def settle(alert: Alert, story: AlertState, heard: Observation, moment: int, *, waited: bool = False) -> Told:
    """Take an event in at its own time, or just after what was taken in before it."""
    time = heard.time if story.settled is None else max(heard.time, story.settled)
    heard = heard._replace(time=time)
    when = time if waited else moment
    says: list[DueNotification] = []
    ready = ready_at(alert, story)
    if ready is not None and ready <= time:
        story, says = alarm(alert, story, moment, ready if waited else moment, quietly=heard.earlier)
    story = story._replace(settled=time)
    if heard.clears and not heard.holds:
        story, said = _clear(alert, story, heard, moment)
        says += said
    if alert.follows_failing and (heard.holds or heard.fails):
        story, said = _follow(alert, story, heard, moment)
        says += said
        anew = heard.holds and alert.held_for is None and not run_of(alert, story).told
        if anew and (heard.earlier or not is_muted(story, when)):
            story, said = alarm(alert, story, moment, when, quietly=heard.earlier)
            says += said
    elif heard.holds:
        story, said = _hold(alert, story, heard, moment, when)
        says += said
    return story, says


def _clear(alert: Alert, story: AlertState, heard: Observation, moment: int) -> Told:
    """What arms the alert again comes: an alarm that was sent is over, one that was not will not be."""
    says: list[DueNotification] = []
    if story.spoken and not story.earlier:
        says = [DueNotification(moment, "cleared", heard)]
    if story.deferred:
        story = suppress(story, story.deferred[-1])
    if not story.spoken and alert.held_for is not None and is_pending(alert, story):
        last = last_of(story, holding=True)
        assert last is not None  # a run has at least one event
        story = suppress(mark_run_notified(alert, story), last)
    return story._replace(spoken=False, earlier=False, deferred=(), active=()), says


def _follow(alert: Alert, story: AlertState, heard: Observation, moment: int) -> Told:
    """An event holds or fails, and both matter; if what was sent is over by it, that is sent."""
    pending, last = is_pending(alert, story), last_of(story, holding=True)
    before = run_of(alert, story)
    back = not before.holding and heard.source in dict(before.stale)  # it was active all the time, which was sent
    told = heard.holds and (back or advance_run(before, heard, alert.stale).told)
    story = remember(alert, story, heard._replace(told=told))
    run = run_of(alert, story)
    if run.holding or heard.holds:
        return story, []
    if pending and last is not None:
        story = suppress(story, last)
    if run.stale or not story.spoken or alert.once_until != "false":
        return story, []
    says = [] if story.earlier else [DueNotification(moment, "cleared", heard)]
    return story._replace(spoken=False, earlier=False), says


def _hold(alert: Alert, story: AlertState, heard: Observation, moment: int, when: int) -> Told:
    """An event holds, and failing is not followed: it is an alarm, unless one was sent that is not over."""
    blocked = story.spoken and not (
        heard.source not in dict(story.active) and _all_stale(story.active, heard, alert.stale)
    )
    if alert.stale is not None and alert.once_until is not None:
        others = tuple(each for each in story.active if each[0] != heard.source)
        story = story._replace(active=(*others, (heard.source, heard.arrival)))
    if blocked and not story.deferred:
        return story, []
    deferred = (*story.deferred, heard)
    if len(deferred) > MAX_RETRACTABLE_EVENTS:
        if alert.once_until is None:
            story = suppress(story, deferred[0])
        deferred = deferred[1:]
    story = story._replace(deferred=deferred)
    if is_muted(story, when) and not heard.earlier:
        return story, []
    return alarm(alert, story, moment, when, quietly=heard.earlier)


def remember(alert: Alert, story: AlertState, heard: Observation) -> AlertState:
    """Keep an event among the newest; the oldest of them goes into the base. What fails before all else is let go."""
    if heard.fails and not story.trail and story.base == CompactedHistory():
        return story
    trail, base = (*story.trail, heard), story.base
    if len(trail) > MAX_RETRACTABLE_EVENTS:
        first, trail = trail[0], trail[1:]
        base = CompactedHistory(
            advance_run(base.run, first, alert.stale), first, first if first.holds else base.last_holding
        )
    return story._replace(trail=trail, base=base)


def is_blank(story: AlertState) -> bool:
    """Whether nothing in it could matter any more: a key that is as good as new."""
    return not (
        story.waiting
        or story.trail
        or story.spoken
        or story.absent
        or story.held_back
        or story.more_held_back
        or story.deferred
        or story.doubted
    ) and (story.quiet_until is None and story.base == CompactedHistory())


# -- alarms -------------------------------------------------------------------------------------


def is_muted(story: AlertState, when: int) -> bool:
    """Whether a moment lies in the cool-down that `at most every` gives after an alarm that was sent."""
    return story.quiet_until is not None and when < story.quiet_until


def ready_at(alert: Alert, story: AlertState) -> int | None:
    """When an alarm is to be sent if nothing else comes: when it stands, but not before the end of the cool-down."""
    if alert.absent_for is not None:
        if story.absent or story.paused is not None or last_of(story, holding=True) is None:
            return None
        return _after_quiet(story, last_observed_at(story) + alert.absent_for)
    if story.deferred:
        return story.quiet_until
    if not alert.follows_failing:
        return None
    run = run_of(alert, story)
    if run.begin is None or run.told:
        return None
    stands = run.begin + (alert.held_for or 0)
    return stands if _is_blocked(alert, story, run) else _after_quiet(story, stands)


def _after_quiet(story: AlertState, moment: int) -> int:
    return moment if story.quiet_until is None else max(moment, story.quiet_until)


def _is_blocked(alert: Alert, story: AlertState, run: HoldingRun) -> bool:
    """Whether a run that lasts is no alarm: one was sent that is not over, and not by stale sources alone."""
    return alert.held_for is not None and story.spoken and not run.stale


def is_pending(alert: Alert, story: AlertState) -> bool:
    """Whether what holds is an alarm that was not sent, by the time of what was taken in last."""
    run = run_of(alert, story)
    if run.begin is None or run.told or story.settled is None or _is_blocked(alert, story, run):
        return False
    return run.begin + (alert.held_for or 0) <= story.settled


def alarm(alert: Alert, story: AlertState, moment: int, when: int, *, quietly: bool = False) -> Told:
    """Send an alarm that stands, and begin the cool-down; `quietly`, it was there before the alert and is not sent."""
    if alert.follows_failing:
        run, about = run_of(alert, story), last_of(story, holding=True)
        assert about is not None  # a run has at least one event
        since, stale = run.begin, run.stale
        story = mark_run_notified(alert, story)
        if _is_blocked(alert, story, run):
            return story, []
    else:
        since, about = None, story.deferred[-1]
        stale = tuple(each for each in story.active if _all_stale((each,), about, alert.stale))
    once = alert.once_until is not None
    rest = 0 if once or not story.deferred else len(story.deferred) - 1
    count = len(story.held_back) + story.more_held_back + rest
    story = story._replace(spoken=once, earlier=once and quietly, deferred=())
    if quietly:
        return story, []
    story = begin_cool_down(alert, story, when)
    cause: Cause = "arrival" if alert.held_for is None else "held"
    return story, [DueNotification(moment, cause, about, since, count, tuple(sorted(source for source, _ in stale)))]


def begin_cool_down(alert: Alert, story: AlertState, when: int) -> AlertState:
    """An alarm was sent: the cool-down begins, and what is counted from now on is new."""
    if alert.at_most_every is None:
        return story
    return story._replace(quiet_until=when + alert.at_most_every, held_back=(), more_held_back=0)


def suppress(story: AlertState, heard: Observation) -> AlertState:
    """Count an alarm that was over before it was sent."""
    held = (*story.held_back, heard.event_id)
    more = max(0, len(held) - MAX_SUPPRESSED_EVENTS)
    return story._replace(held_back=held[more:], more_held_back=story.more_held_back + more)


def mark_run_notified(alert: Alert, story: AlertState, *, told: bool = True) -> AlertState:
    """Note of every event of the run that is on whether it was sent."""
    trail = tuple(
        each._replace(told=told) if _in_run(alert, story, place) else each for place, each in enumerate(story.trail)
    )
    base = story.base
    if base.run.holding and _never_ends(alert, base.run, story.trail):
        base = base._replace(run=merge_stale(base.run._replace(told=told)))
    return story._replace(trail=trail, base=base)


def _in_run(alert: Alert, story: AlertState, place: int) -> bool:
    """Whether an event of the trail belongs to the run that is on: nothing after it ended one."""
    run = story.base.run
    for each in story.trail[: place + 1]:
        run = advance_run(run, each, alert.stale)
    return story.trail[place].holds and _never_ends(alert, run, story.trail[place + 1 :])


def _never_ends(alert: Alert, run: HoldingRun, following: Iterable[Observation]) -> bool:
    for each in following:
        run = advance_run(run, each, alert.stale)
        if not run.holding:
            return False
    return True


# -- time ---------------------------------------------------------------------------------------


def due(alert: Alert, story: AlertState, lateness: int) -> tuple[int, int, int] | None:
    """When something happens to the key by itself: the moment, whether it is an event or a timer, which event."""
    found: list[tuple[int, int, int]] = []
    if story.doubted:
        doubted = min(story.doubted, key=_arrived)
        found.append((doubted.arrival + UPLOAD_SPAN, DOUBTED, doubted.sequence))
    if story.waiting:
        first = _first_to_settle(story, lateness)
        found.append((settles_at(first, lateness), SETTLING, first.sequence))
    ready = ready_at(alert, story)
    if ready is not None and alert.absent_for is not None:
        found.append((ready, TIMER, 0))
    elif ready is not None:
        found.append((certain_at(ready, _alarming(alert, story), story.straggled) + lateness, TIMER, 0))
    return min(found, default=None)


def _alarming(alert: Alert, story: AlertState) -> list[str]:
    """The sources whose alarm is to be sent."""
    if story.deferred:
        return [each.source for each in story.deferred]
    return [source for source, _ in run_of(alert, story).holding]


def update_late_sources(straggled: Sources, heard: Observation, lateness: int) -> Sources:
    """Who straggled, after one more event; what came longer ago than others are waited for is nothing to wait for."""
    if straggled:
        straggled = tuple(each for each in straggled if each[1] + lateness >= heard.arrival)
    if not is_late(heard, lateness):
        return straggled
    return (*(each for each in straggled if each[0] != heard.source), (heard.source, heard.arrival))


def certain_at(end: int, holding: Iterable[str], straggled: Sources) -> int:
    """When an alarm that stands is certain: not before one of those who hold is certain of it.

    A source that straggled may have sent the first of several, so nothing is certain of it until others had their
    time after that. One whose clock is behind holds nobody else up.
    """
    if not straggled:
        return end
    last = dict(straggled)
    return max(end, min(last.get(source, end) for source in holding))


def _first_to_settle(story: AlertState, lateness: int) -> Observation:
    return min(story.waiting, key=lambda each: (settles_at(each, lateness), each.sequence))


def tick(alert: Alert, story: AlertState, moment: int, what: int, lateness: int) -> Told:
    """What is due happens: an event has waited long enough, an alarm is to be sent, a silence is too long."""
    if what == DOUBTED:
        doubted = min(story.doubted, key=_arrived)
        if has_effect(doubted):
            return _trust(alert, story, doubted, moment, lateness)
        return story._replace(doubted=tuple(each for each in story.doubted if each != doubted)), []
    if what == SETTLING:
        first = _first_to_settle(story, lateness)
        ready = sorted((each for each in story.waiting if _order(each) <= _order(first)), key=_order)
        story = story._replace(waiting=tuple(each for each in story.waiting if _order(each) > _order(first)))
        says: list[DueNotification] = []
        for heard in ready:
            story, said = settle(alert, story, heard, moment, waited=True)
            says += said
        return story, says
    if alert.absent_for is not None:
        last = last_of(story, holding=False)
        assert last is not None  # a key that never held is not waited for
        count = len(story.held_back) + story.more_held_back
        say = DueNotification(moment, "absent", last, last_observed_at(story), count)
        return begin_cool_down(alert, story._replace(absent=True, earlier=False), moment), [say]
    when = ready_at(alert, story)
    assert when is not None  # it is due
    return alarm(alert, story, moment, certain_at(when, _alarming(alert, story), story.straggled))


def take_back(alert: Alert, story: AlertState, event_id: str, now: int) -> Told:
    """An event is withdrawn: it no longer counts for what has not been sent."""
    gone = [each for each in story.trail if each.event_id == event_id]
    story = story._replace(
        waiting=_without(story.waiting, event_id),
        trail=_without(story.trail, event_id),
        deferred=_without(story.deferred, event_id),
        doubted=_without(story.doubted, event_id),
        held_back=tuple(id for id in story.held_back if id != event_id),
    )
    if not (story.spoken or story.deferred):
        story = story._replace(active=())
    if not gone or alert.once_until != "false":
        return story, []
    run = run_of(alert, story)
    if story.spoken and not (run.holding or run.stale):
        says = [] if story.earlier else [DueNotification(now, "cleared", gone[-1])]
        return story._replace(spoken=False, earlier=False), says
    if run.told and not story.spoken:  # what ended it is withdrawn, but that it ended was sent
        story = mark_run_notified(alert, story, told=False)
        ready = ready_at(alert, story)
        if ready is not None and ready <= now:
            return alarm(alert, story, now, now)
    return story, []


def _without(events: tuple[Observation, ...], event_id: str) -> tuple[Observation, ...]:
    return tuple(each for each in events if each.event_id != event_id)


def unsent(alert: Alert, story: AlertState, event_id: str, now: int, source: str) -> AlertState:
    """A story whose last alarm, which named an event, was never sent: it is deferred if it stands.

    >>> sent = AlertState(spoken=True, quiet_until=9, last_arrival=5)
    >>> put_off = unsent(Alert(once_until="false", at_most_every=9), sent, "e", 7, "s")
    >>> put_off.spoken, put_off.quiet_until
    (False, 9)
    """
    if alert.absent_for is not None:
        return story._replace(absent=False)
    if alert.follows_failing:
        return mark_run_notified(alert, story._replace(spoken=False), told=False)
    if not (story.spoken if alert.once_until is not None else is_muted(story, now)):
        return story
    came = story.last_arrival
    heard = Observation(0, came, came, source, event_id, True, False, False, 1.0, 1.0)
    quiet = now if story.quiet_until is None else story.quiet_until
    return story._replace(spoken=False, deferred=(heard,), quiet_until=quiet)


def outage_since(heard_at: int, by: int, until: int) -> int:
    """How much of an outage lies after something was heard.

    >>> outage_since(95, by=10, until=100), outage_since(50, by=10, until=100)
    (5, 10)
    """
    return max(0, min(by, until - heard_at))


def last_observed_at(story: AlertState) -> int:
    """When something about the key came last."""

    last = last_of(story, holding=False)
    return story.last_arrival if last is None else last.arrival


def _order(heard: Observation) -> tuple[int, int]:
    return heard.time, heard.sequence


def _arrived(heard: Observation) -> tuple[int, int]:
    return heard.arrival, heard.sequence
