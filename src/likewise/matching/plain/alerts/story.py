"""The story of one key of an alert, told step by step: events, the passing of time, withdrawals. All values, no state.

With a lateness, an event waits so long after its own time, and events are taken in the order of these; one that came
later than that (a straggler: the newest of its source all the same) waits so long after its arrival. A run begins with
the first event that holds, when none of the key's sources held, and ends when the last of them fails. The newest events
of a key are remembered one by one, so that they can be withdrawn; older ones are in `base`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from likewise.defaults import MAX_HELD_BACK, MAX_TAKEN_BACK
from likewise.model.alerts.clauses import Alert
from likewise.model.match import Cause

SETTLING, TIMER = 1, 2  # of what is due at one moment, events come before what waited for them


class Heard(NamedTuple):
    """One event that moves a key: when it came, its own time, from where, and what it says.

    What is `earlier` came before its alert was there: it builds the state, and nothing is said of it.
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


class Run(NamedTuple):
    """Which sources hold, since when, and whether that was said."""

    holding: frozenset[str] = frozenset()
    begin: int | None = None
    told: bool = False


class Base(NamedTuple):
    """What is left of the events that are no longer remembered one by one."""

    run: Run = Run()
    last: Heard | None = None
    last_holding: Heard | None = None


Straggled = tuple[
    tuple[str, int], ...
]  # sources, and when the last of each came that was later than others are waited for


class Story(NamedTuple):
    """Everything there is about one key."""

    waiting: tuple[Heard, ...] = ()
    base: Base = Base()
    trail: tuple[Heard, ...] = ()
    settled: int | None = None
    last_arrival: int = 0
    straggled: Straggled = ()
    spoken: bool = False
    quiet_until: int | None = None
    held_back: tuple[str | None, ...] = ()
    more_held_back: int = 0
    absent: bool = False
    paused: int | None = None


class Say(NamedTuple):
    """Something to be said: when it was due, why, of which event, since when, and how much was held back.

    `own` is the time it has in the order of events, where they waited for others; else it is when it was due.
    """

    moment: int
    cause: Cause
    about: Heard
    since: int | None = None
    suppressed: int = 0
    own: int | None = None


Told = tuple[Story, list[Say]]


def stepped(run: Run, heard: Heard) -> Run:
    """A run after one more event.

    >>> stepped(Run(), Heard(0, 5, 5, "s", "e", True, False, False, 1.0, 1.0)).begin
    5
    """
    if heard.holds:
        if not run.holding:
            return Run(frozenset((heard.source,)), heard.time, heard.told)
        return Run(run.holding | {heard.source}, run.begin, run.told or heard.told)
    left = run.holding - {heard.source}
    return Run(left, run.begin, run.told) if left else Run()


def run_of(story: Story) -> Run:
    """What holds now."""
    run = story.base.run
    for heard in story.trail:
        run = stepped(run, heard)
    return run


def last_of(story: Story, *, holding: bool) -> Heard | None:
    """The newest event about the alert, or the newest that held."""
    found = next((each for each in reversed(story.trail) if each.holds or not holding), None)
    return found or (story.base.last_holding if holding else story.base.last)


def settles(heard: Heard, lateness: int) -> int:
    """When an event is taken in: no other from before it is waited for any more.

    >>> told = Heard(0, 12, 5, "s", "e", True, False, False, 1.0, 1.0)
    >>> settles(told, 10), settles(told, 3), settles(told, 0)
    (15, 15, 12)
    """
    return (heard.arrival if straggles(heard, lateness) else heard.time) + lateness


def straggles(heard: Heard, lateness: int) -> bool:
    """Whether an event came later after its own time than others are waited for."""
    return heard.time + lateness < heard.arrival


def hear(alert: Alert, story: Story, heard: Heard, lateness: int) -> Told:
    """An event comes that moves the key and is not late."""
    story = story._replace(last_arrival=max(story.last_arrival, heard.arrival))
    if alert.absent_for is not None:
        says = []
        if story.absent:
            says = [Say(heard.arrival, "returned", heard, heard_at(story))]
        story = remember(story._replace(absent=False), heard)
        return speak(alert, story, says)
    if lateness:
        story = story._replace(straggled=straggled_with(story.straggled, heard, lateness))
        return story._replace(waiting=(*story.waiting, heard)), []
    return settle(alert, story, heard, heard.arrival)


def settle(alert: Alert, story: Story, heard: Heard, moment: int, *, waited: bool = False) -> Told:
    """Take an event in at its own time, or just after what was taken in before it."""
    time = heard.time if story.settled is None else max(heard.time, story.settled)
    heard = heard._replace(time=time)
    own = time if waited else None
    says: list[Say] = []
    run = run_of(story)
    if alert.held_for is not None and _is_over(alert, run, time):
        over = run.begin + alert.held_for if waited and run.begin is not None else None
        story, said = _hold(alert, story, moment, over)
        says += said
    story = story._replace(settled=time)
    cleared = False
    if story.spoken and heard.clears:
        story, cleared = story._replace(spoken=False), True
        says.append(Say(moment, "cleared", heard, own=own))
    if alert.follows_failing and (heard.holds or heard.fails):
        story = remember(story, heard._replace(told=heard.holds and run_of(story).told))
        if heard.fails and story.spoken and alert.once_until == "false" and not run_of(story).holding:
            story = story._replace(spoken=False)
            says.append(Say(moment, "cleared", heard, own=own))
    if heard.holds and alert.held_for is None and not cleared and not story.spoken:
        story = story._replace(spoken=alert.once_until is not None)
        says.append(Say(moment, "arrival", heard, run_of(story).begin, own=own))  # None where nobody follows what fails
    return speak(alert, story, says)


def remember(story: Story, heard: Heard) -> Story:
    """Keep an event among the newest; the oldest of them goes into the base. What fails before all else is let go."""
    if heard.fails and not story.trail and story.base == Base():
        return story
    trail, base = (*story.trail, heard), story.base
    if len(trail) > MAX_TAKEN_BACK:
        first, trail = trail[0], trail[1:]
        base = Base(stepped(base.run, first), first, first if first.holds else base.last_holding)
    return story._replace(trail=trail, base=base)


def is_blank(story: Story) -> bool:
    """Whether nothing in it could matter any more: a key that is as good as new."""
    return not (
        story.waiting or story.trail or story.spoken or story.absent or story.held_back or story.more_held_back
    ) and (story.quiet_until is None and story.base == Base())


def due(alert: Alert, story: Story, lateness: int) -> tuple[int, int, int] | None:
    """When something happens to the key by itself: the moment, whether it is an event or a timer, which event."""
    found: list[tuple[int, int, int]] = []
    if story.waiting:
        first = _first_to_settle(story, lateness)
        found.append((settles(first, lateness), SETTLING, first.sequence))
    if alert.held_for is not None:
        run = run_of(story)
        if run.begin is not None and not run.told:
            found.append((over_at(run.begin, run.holding, alert, story.straggled) + lateness, TIMER, 0))
    waits = not story.absent and story.paused is None and last_of(story, holding=True) is not None
    if alert.absent_for is not None and waits:
        found.append((heard_at(story) + alert.absent_for, TIMER, 0))
    return min(found, default=None)


def straggled_with(straggled: Straggled, heard: Heard, lateness: int) -> Straggled:
    """Who straggled, after one more event; what came longer ago than others are waited for is nothing to wait for."""
    if straggled:
        straggled = tuple(each for each in straggled if each[1] + lateness >= heard.arrival)
    if not straggles(heard, lateness):
        return straggled
    return (*(each for each in straggled if each[0] != heard.source), (heard.source, heard.arrival))


def over_at(begin: int, holding: Iterable[str], alert: Alert, straggled: Straggled) -> int:
    """When a run has lasted: not before one of those who hold is certain of it.

    A source that straggled may have sent the first of several, so nothing is certain of it until others had their
    time after that. One whose clock is behind holds nobody else up.
    """
    end = begin + (alert.held_for or 0)
    if not straggled:
        return end
    last = dict(straggled)
    return max(end, min(last.get(source, end) for source in holding))


def _first_to_settle(story: Story, lateness: int) -> Heard:
    return min(story.waiting, key=lambda each: (settles(each, lateness), each.sequence))


def tick(alert: Alert, story: Story, moment: int, what: int, lateness: int) -> Told:
    """What is due happens: an event has waited long enough, a run has lasted, a silence is too long."""
    if what == SETTLING:
        first = _first_to_settle(story, lateness)
        ready = sorted((each for each in story.waiting if _order(each) <= _order(first)), key=_order)
        story = story._replace(waiting=tuple(each for each in story.waiting if _order(each) > _order(first)))
        says: list[Say] = []
        for heard in ready:
            story, said = settle(alert, story, heard, moment, waited=True)
            says += [] if heard.earlier else said
        return story, says
    if alert.absent_for is not None:
        last = last_of(story, holding=False)
        assert last is not None  # a key that never held is not waited for
        return speak(alert, story._replace(absent=True), [Say(moment, "absent", last, heard_at(story))])
    run = run_of(story)
    over = None if run.begin is None else over_at(run.begin, run.holding, alert, story.straggled)
    story, says = _hold(alert, story, moment, over)
    return speak(alert, story, says)


def take_back(alert: Alert, story: Story, event_id: str, now: int) -> Told:
    """An event is withdrawn: it no longer counts for what has not been said."""
    gone = [each for each in story.trail if each.event_id == event_id]
    kept = tuple(id for id in story.held_back if id != event_id)
    story = story._replace(
        waiting=tuple(each for each in story.waiting if each.event_id != event_id),
        trail=tuple(each for each in story.trail if each.event_id != event_id),
        held_back=kept,
    )
    if gone and story.spoken and alert.once_until == "false" and not run_of(story).holding:
        return speak(alert, story._replace(spoken=False), [Say(now, "cleared", gone[-1])])
    return story, []


def speak(alert: Alert, story: Story, says: Iterable[Say]) -> Told:
    """Let through what `at most every` does; the rest is counted in the next."""
    if alert.at_most_every is None:
        return story, list(says)
    passed: list[Say] = []
    for say in says:
        when = say.moment if say.own is None else say.own
        if story.quiet_until is not None and when < story.quiet_until:
            held = (*story.held_back, say.about.event_id)
            more = max(0, len(held) - MAX_HELD_BACK)
            story = story._replace(held_back=held[more:], more_held_back=story.more_held_back + more)
        else:
            passed.append(say._replace(suppressed=len(story.held_back) + story.more_held_back))
            story = story._replace(quiet_until=when + alert.at_most_every, held_back=(), more_held_back=0)
    return story, passed


def _hold(alert: Alert, story: Story, moment: int, own: int | None) -> Told:
    """A run has lasted: that is said, unless it was said once already and not armed since."""
    run = run_of(story)
    told = [each._replace(told=True) if _in_run(story, place) else each for place, each in enumerate(story.trail)]
    base = story.base
    if base.run.holding and _never_ends(base.run, story.trail):
        base = base._replace(run=base.run._replace(told=True))
    story = story._replace(trail=tuple(told), base=base)
    if story.spoken:
        return story, []
    last = last_of(story, holding=True)
    assert last is not None  # a run has at least one event
    return story._replace(spoken=alert.once_until is not None), [Say(moment, "held", last, run.begin, own=own)]


def _in_run(story: Story, place: int) -> bool:
    """Whether an event of the trail belongs to the run that is on: nothing after it ended one."""
    run = story.base.run
    for each in story.trail[: place + 1]:
        run = stepped(run, each)
    return story.trail[place].holds and _never_ends(run, story.trail[place + 1 :])


def _never_ends(run: Run, following: Iterable[Heard]) -> bool:
    for each in following:
        run = stepped(run, each)
        if not run.holding:
            return False
    return True


def _is_over(alert: Alert, run: Run, time: int) -> bool:
    return alert.held_for is not None and run.begin is not None and not run.told and run.begin + alert.held_for <= time


def outage_since(heard_at: int, by: int, until: int) -> int:
    """How much of an outage lies after something was heard.

    >>> outage_since(95, by=10, until=100), outage_since(50, by=10, until=100)
    (5, 10)
    """
    return max(0, min(by, until - heard_at))


def heard_at(story: Story) -> int:
    """When something about the key came last."""

    last = last_of(story, holding=False)
    return story.last_arrival if last is None else last.arrival


def _order(heard: Heard) -> tuple[int, int]:
    return heard.time, heard.sequence
