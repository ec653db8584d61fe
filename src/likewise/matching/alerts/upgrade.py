"""States of alerts that an earlier version saved, as this one keeps them.

Version 1 marked a key as notified when its alarm stood, even if `at most every` kept the alarm from being sent; it was
counted in the next one then, which an alarm that stood on never led to. Whatever is counted since the last alarm that
was sent tells the two apart: sending one sets the count to nothing. An alarm that was marked and never sent is deferred
here: it is sent when the cool-down ends, or at once if it is over.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from likewise.matching.alerts.key_state import FRESH, NO_BASE, KeyState
from likewise.matching.reference.alerts.state import Base, Heard, Run, Sources
from likewise.model.alerts.clauses import Alert
from likewise.model.alerts.notification import Key


class RunV1(NamedTuple):
    """A run that did not say when each source was heard."""

    holding: frozenset[str] = frozenset()
    begin: int | None = None
    told: bool = False


class BaseV1(NamedTuple):
    """The events that were no longer remembered one by one."""

    run: RunV1 = RunV1()
    last: Heard | None = None
    last_holding: Heard | None = None


class SavedStateV1(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A key and its state, as version 1 wrote it."""

    key: Key
    last_arrival: int
    trail: list[Heard] = []
    waiting: Sequence[Heard] = ()
    base: BaseV1 | None = None
    settled: int = FRESH
    spoken: bool = False
    quiet_until: int | None = None
    held_back: Sequence[str | None] = ()
    more_held_back: int = 0
    absent: bool = False
    straggled: Sources = ()
    paused: int | None = None


def upgrade_state(saved: SavedStateV1, alert: Alert, now: int | None) -> KeyState:
    """Return the state of a key that version 1 saved; an alarm that it marked and never sent is deferred.

    Args:
        saved: what version 1 wrote.
        alert: the clauses of its alert.
        now: the moment the engine had come to.
    """
    state = KeyState()
    state.last_arrival, state.settled, state.spoken = saved.last_arrival, saved.settled, saved.spoken
    state.trail, state.waiting, state.base = saved.trail, saved.waiting, _base(saved)
    state.quiet_until, state.held_back = saved.quiet_until, saved.held_back
    state.more_held_back, state.absent, state.straggled = saved.more_held_back, saved.absent, saved.straggled
    state.paused = saved.paused
    state.refold(alert)
    never_sent = bool(saved.held_back or saved.more_held_back)
    if alert.once_until == "false" and state.spoken and not never_sent:
        state.tell_run(alert)  # version 1 noted it of the key alone
    if never_sent:
        _defer(state, alert, now, "" if alert.per else saved.key[0])
    return state


def _defer(state: KeyState, alert: Alert, now: int | None, source: str) -> None:
    """Let an alarm that stands be sent when the cool-down ends; of an alarm that does not, the count remains."""
    if alert.absent_for is not None:
        stands = state.absent
        state.absent = False
    elif alert.follows_failing:
        stands = bool(state.holding) and (state.spoken if alert.once_until is not None else state.told)
        state.spoken = False
        if stands:
            state.tell_run(alert, told=False)
    elif alert.once_until is not None:
        stands, state.spoken = state.spoken, False
    else:  # every event is an alarm: the newest is sent if its cool-down is not over
        stands = now is None or (state.quiet_until is not None and now < state.quiet_until)
    if stands and state.quiet_until is not None and now is not None:
        state.quiet_until = max(state.quiet_until, now)  # what was due long ago is sent for now
    if stands and state.held_back:
        *rest, newest = state.held_back
        state.held_back = rest
        if not alert.follows_failing:
            came = state.last_arrival
            state.deferred = [Heard(0, came, came, source, newest, True, False, False, 1.0, 1.0)]


def _base(saved: SavedStateV1) -> Base:
    if saved.base is None:
        return NO_BASE
    run, last, last_holding = saved.base
    heard = saved.last_arrival if last is None else last.arrival
    holding = tuple((source, heard) for source in sorted(run.holding))
    return Base(Run(holding, run.begin, run.told), last, last_holding)
