"""What is known of one key of an alert, moved in place by events, timers and withdrawals.

It equals the story of `plain.alerts.story`, but keeps at hand what that one folds anew at every step: which sources
hold, since when, whether that was said, and where in the trail of remembered events the run began.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from likewise.defaults import MAX_HELD_BACK, MAX_TAKEN_BACK
from likewise.matching.plain.alerts.story import (
    SETTLING,
    TIMER,
    Base,
    Heard,
    Run,
    Say,
    Straggled,
    outage_since,
    over_at,
    settles,
    stepped,
    straggled_with,
)
from likewise.model.alerts.clauses import Alert

Due = tuple[int, int, int]  # the moment, an event or a timer, which event
NO_BASE = Base()
IN_BASE = -1  # where the run began, if not in the trail
FRESH = -(2**63)


class KeyState:
    """One key: `waiting` events, the newest events (`trail`) and what came before them (`base`), what was said."""

    __slots__ = (
        "absent", "base", "begin", "held_back", "holding", "last_arrival", "more_held_back", "paused", "quiet_until",
        "run_from", "scheduled", "settled", "spoken", "straggled", "told", "trail", "waiting",
    )  # fmt: skip

    def __init__(self) -> None:
        self.waiting: Sequence[Heard] = ()  # of what most keys never have, they hold no list of their own
        self.base = NO_BASE
        self.trail: list[Heard] = []
        self.settled = FRESH
        self.last_arrival = 0
        self.straggled: Straggled = ()
        self.spoken = False
        self.quiet_until: int | None = None
        self.held_back: Sequence[str | None] = ()
        self.more_held_back = 0
        self.absent = False
        self.paused: int | None = None  # since when its silence is excused
        self.holding: tuple[str, ...] = ()
        self.begin: int | None = None
        self.told = False
        self.run_from = 0
        self.scheduled: Due | None = None

    # -- events ---------------------------------------------------------------------------------

    def hear(self, alert: Alert, heard: Heard, lateness: int) -> list[Say]:
        """An event comes that moves the key and is not late."""
        if heard.arrival > self.last_arrival:
            self.last_arrival = heard.arrival
        if alert.absent_for is not None:
            says = [Say(heard.arrival, "returned", heard, self.heard_at())] if self.absent else []
            self.absent = False
            self._remember(heard)
            return self._speak(alert, says)
        if lateness:
            self.straggled = straggled_with(self.straggled, heard, lateness)
            self.waiting = [*self.waiting, heard]
            return []
        return self._settle(alert, heard, heard.arrival)

    def _settle(self, alert: Alert, heard: Heard, moment: int, *, waited: bool = False) -> list[Say]:
        time = max(heard.time, self.settled)
        if time != heard.time:
            heard = heard._replace(time=time)
        own = time if waited else None
        says: list[Say] = []
        if (
            alert.held_for is not None
            and not self.told
            and self.begin is not None
            and self.begin + alert.held_for <= time
        ):
            says += self._hold(alert, moment, self.begin + alert.held_for if waited else None)
        self.settled = time
        cleared = False
        if heard.clears and self.spoken:
            self.spoken, cleared = False, True
            says.append(Say(moment, "cleared", heard, own=own))
        if alert.follows_failing and (heard.holds or heard.fails):
            if heard.holds and self.told:
                heard = heard._replace(told=True)
            self._remember(heard)
            if heard.fails and self.spoken and not self.holding and alert.once_until == "false":
                self.spoken = False
                says.append(Say(moment, "cleared", heard, own=own))
        if heard.holds and not self.spoken and not cleared and alert.held_for is None:
            self.spoken = alert.once_until is not None
            says.append(Say(moment, "arrival", heard, self.begin, own=own))
        return self._speak(alert, says) if says else says

    def _remember(self, heard: Heard) -> None:
        """Keep an event among the newest, and step the run."""
        trail = self.trail
        if heard.fails and not trail and self.base is NO_BASE:
            return
        trail.append(heard)
        self._step(heard, len(trail) - 1)
        if len(trail) > MAX_TAKEN_BACK:
            first, base = trail.pop(0), self.base
            self.base = Base(stepped(base.run, first), first, first if first.holds else base.last_holding)
            self.run_from = max(IN_BASE, self.run_from - 1)

    def _step(self, heard: Heard, place: int) -> None:
        if heard.holds:
            if not self.holding:
                self.begin, self.told, self.run_from = heard.time, heard.told, place
            elif heard.told:
                self.told = True
            if heard.source not in self.holding:
                self.holding += (heard.source,)
        elif self.holding:
            self.holding = tuple(source for source in self.holding if source != heard.source)
            if not self.holding:
                self.begin, self.told = None, False

    def refold(self) -> None:
        """Find again what holds, after the trail or the base was changed."""
        run = self.base.run
        self.holding, self.begin, self.told, self.run_from = tuple(run.holding), run.begin, run.told, IN_BASE
        for place, heard in enumerate(self.trail):
            self._step(heard, place)

    # -- time -----------------------------------------------------------------------------------

    def due(self, alert: Alert, lateness: int) -> Due | None:
        """When something happens to the key by itself."""
        found: Due | None = None
        if alert.held_for is not None and self.begin is not None and not self.told:
            found = (over_at(self.begin, self.holding, alert, self.straggled) + lateness, TIMER, 0)
        elif (
            alert.absent_for is not None
            and not self.absent
            and self.paused is None
            and self._last(holding=True) is not None
        ):
            found = (self.heard_at() + alert.absent_for, TIMER, 0)
        if self.waiting:
            first = self._first_to_settle(lateness)
            settling = (settles(first, lateness), SETTLING, first.sequence)
            found = settling if found is None else min(found, settling)
        return found

    def _first_to_settle(self, lateness: int) -> Heard:
        return min(self.waiting, key=lambda each: (settles(each, lateness), each.sequence))

    def tick(self, alert: Alert, moment: int, what: int, lateness: int) -> list[Say]:
        """What is due happens."""
        if what == SETTLING:
            limit = _own_time(self._first_to_settle(lateness))
            ready = sorted((each for each in self.waiting if _own_time(each) <= limit), key=_own_time)
            self.waiting = [each for each in self.waiting if _own_time(each) > limit]
            told = [(heard, self._settle(alert, heard, moment, waited=True)) for heard in ready]
            return [say for heard, says in told if not heard.earlier for say in says]
        if alert.absent_for is not None:
            last = self._last(holding=False)
            assert last is not None  # a key that never held is not waited for
            self.absent = True
            return self._speak(alert, [Say(moment, "absent", last, last.arrival)])
        over = None if self.begin is None else over_at(self.begin, self.holding, alert, self.straggled)
        return self._speak(alert, self._hold(alert, moment, over))

    def _hold(self, alert: Alert, moment: int, own: int | None) -> list[Say]:
        """A run has lasted."""
        self.told = True
        if self.run_from == IN_BASE:
            self.base = self.base._replace(run=self.base.run._replace(told=True))
        for place in range(max(0, self.run_from), len(self.trail)):
            if self.trail[place].holds:
                self.trail[place] = self.trail[place]._replace(told=True)
        if self.spoken:
            return []
        self.spoken = alert.once_until is not None
        last = self._last(holding=True)
        assert last is not None  # a run has at least one event
        return [Say(moment, "held", last, self.begin, own=own)]

    def _last(self, *, holding: bool) -> Heard | None:
        for heard in reversed(self.trail):
            if heard.holds or not holding:
                return heard
        return self.base.last_holding if holding else self.base.last

    def last_is(self, event_id: str) -> bool:
        """Whether an event is the newest about the key, or the newest that held."""
        return any(
            last is not None and last.event_id == event_id
            for last in (self._last(holding=True), self._last(holding=False))
        )

    def heard_at(self) -> int:
        """When something about it came last."""
        last = self._last(holding=False)
        return self.last_arrival if last is None else last.arrival

    # -- whose silence it is --------------------------------------------------------------------

    def expect(self, heard: Heard) -> bool:
        """Something is to come: it counts as heard now, unless it was before; whether it does."""
        if self._last(holding=True) is not None:
            return False
        self.last_arrival = max(self.last_arrival, heard.arrival)
        self._remember(heard)
        return True

    def unexpect(self, event_id: str) -> bool:
        """It is not to come any more; whether nothing is left that held."""
        self.trail = [each for each in self.trail if each.event_id != event_id]
        self.refold()
        return self._last(holding=True) is None

    def rename(self, before: str, after: str) -> bool:
        """Let an event be named by another; whether it is there."""
        found = any(each.event_id == before for each in self.trail)
        self.trail = [each._replace(event_id=after) if each.event_id == before else each for each in self.trail]
        return found

    def mark_earlier(self) -> None:
        """What waits came before the alert was there: nothing is said of it."""
        self.waiting = [each._replace(earlier=True) for each in self.waiting]

    def rank(self) -> tuple[bool, bool, int]:
        """How much people want to know of it: something was said, it holds, something came lately."""
        return self.absent or self.spoken or self.told, self.begin is not None, self.last_arrival

    def sources(self) -> set[str]:
        """Whom something came from, as far as it is remembered."""
        found = {*self.base.run.holding, *(each.source for each in self.trail)}
        if self.base.last is not None:
            found.add(self.base.last.source)
        return found

    def pause_or_not(self, excused: bool, now: int) -> bool:
        """Let its silence count from now on, or not; what passed while it was excused does not. Whether it changed."""
        if excused == (self.paused is not None):
            return False
        if self.paused is None:
            self.paused = now
        else:
            part = outage_since(self.heard_at(), now - self.paused, now)
            self.paused = None
            self.move(part, only_arrival=True)
        return True

    # -- withdrawing, speaking, moving ----------------------------------------------------------

    def take_back(self, alert: Alert, event_id: str, now: int) -> list[Say]:
        """An event is withdrawn."""
        gone = [each for each in self.trail if each.event_id == event_id]
        self.waiting = [each for each in self.waiting if each.event_id != event_id]
        self.held_back = [id for id in self.held_back if id != event_id]
        if gone:
            self.trail = [each for each in self.trail if each.event_id != event_id]
            self.refold()
            if self.spoken and alert.once_until == "false" and not self.holding:
                self.spoken = False
                return self._speak(alert, [Say(now, "cleared", gone[-1])])
        return []

    def _speak(self, alert: Alert, says: Iterable[Say]) -> list[Say]:
        if alert.at_most_every is None:
            return list(says)
        passed: list[Say] = []
        for say in says:
            when = say.moment if say.own is None else say.own
            if self.quiet_until is not None and when < self.quiet_until:
                kept = [*self.held_back, say.about.event_id]
                more = max(0, len(kept) - MAX_HELD_BACK)
                self.held_back, self.more_held_back = kept[more:], self.more_held_back + more
            else:
                passed.append(say._replace(suppressed=len(self.held_back) + self.more_held_back))
                self.quiet_until = when + alert.at_most_every
                self.held_back, self.more_held_back = (), 0
        return passed

    def copy(self) -> KeyState:
        """The same, to be moved on its own."""
        made = KeyState()
        for name in KeyState.__slots__:
            setattr(made, name, getattr(self, name))
        made.trail, made.scheduled = [*self.trail], None
        return made

    def is_blank(self) -> bool:
        """Whether the key is as good as new."""
        return not (
            self.trail or self.spoken or self.waiting or self.absent or self.held_back or self.more_held_back
        ) and (self.quiet_until is None and self.base is NO_BASE)

    def move(self, by: int, *, only_arrival: bool = False) -> None:
        """Let everything, or only what was heard when, count as so much later."""
        own = 0 if only_arrival else by

        def later(heard: Heard) -> Heard:
            return heard._replace(arrival=heard.arrival + by, time=heard.time + own)

        self.waiting, self.trail = [later(each) for each in self.waiting], [later(each) for each in self.trail]
        self.last_arrival += by
        self.straggled = tuple((source, came + own) for source, came in self.straggled)
        if self.base is not NO_BASE:
            run, last, held = self.base
            begin = None if run.begin is None else run.begin + own
            self.base = Base(Run(run.holding, begin, run.told), last and later(last), held and later(held))
        self.settled = self.settled if self.settled == FRESH else self.settled + own
        self.quiet_until = None if self.quiet_until is None else self.quiet_until + own
        self.paused = None if self.paused is None else self.paused + own
        self.refold()
        self.scheduled = None


def _own_time(heard: Heard) -> tuple[int, int]:
    return heard.time, heard.sequence
