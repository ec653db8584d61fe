"""Where one key of an alert stands, as a word and as a sentence for people."""

from __future__ import annotations

from typing import Literal, NamedTuple

from likewise.model.alerts.clauses import Alert
from likewise.model.alerts.notification import Key
from likewise.model.time import spoken as span_text

State = Literal["on", "lasting", "absent", "excused", "watched", "off"]


class KeyStanding(NamedTuple):
    """One key of an alert, for people: since when it holds, when something came last, and what was said.

    `paused` is since when its silence is excused.
    """

    key: Key
    heard: int
    begin: int | None
    told: bool
    spoken: bool
    absent: bool
    quiet_until: int | None
    suppressed: int
    paused: int | None = None


class KeyTold(NamedTuple):
    """A key's state: it is on, it lasts but not long enough yet, absent, its silence is excused, or nothing is."""

    state: State
    words: str


def told_key(alert: Alert, key: KeyStanding, now: int) -> KeyTold:
    """What there is to say about a key at a moment.

    >>> door = KeyStanding(("hall",), 0, 0, False, False, False, None, 0)
    >>> told_key(Alert(held_for=300_000_000), door, 180_000_000)
    KeyTold(state='lasting', words='has held for 3 min of 5 min')
    """
    state, words = _silence(alert, key, now) if alert.absent_for is not None else _lasting(alert, key, now)
    if key.quiet_until is not None and now < key.quiet_until:
        words += f"; quiet for {span_text(_whole(key.quiet_until - now))} more"
    if key.suppressed:
        words += f"; {key.suppressed:,} held back"
    return KeyTold(state, words)


def _silence(alert: Alert, key: KeyStanding, now: int) -> tuple[State, str]:
    silent = span_text(_whole(now - key.heard))
    if key.absent:
        return "absent", f"silent for {silent}"
    if key.paused is not None:
        return "excused", f"cannot be heard since {span_text(_whole(now - key.paused))}, so its silence does not count"
    return "watched", f"heard {silent} ago; absent after {span_text(alert.absent_for or 0)} of silence"


def _lasting(alert: Alert, key: KeyStanding, now: int) -> tuple[State, str]:
    if not alert.follows_failing and not key.spoken:
        return "watched", f"heard {span_text(_whole(now - key.heard))} ago"
    if key.begin is None:
        if key.spoken:
            return "on", "was said, and is not over"
        return "off", f"does not hold; heard {span_text(_whole(now - key.heard))} ago"
    held = _whole(now - key.begin)
    if alert.held_for is not None and not key.told and not key.spoken:
        if held < alert.held_for:
            return "lasting", f"has held for {span_text(held)} of {span_text(alert.held_for)}"
        if key.quiet_until is not None and now < key.quiet_until:
            return "lasting", f"has held for {span_text(held)}; it is sent when the cool-down ends"
        return "lasting", f"has held for {span_text(held)}; late events are waited for"
    if alert.held_for is None and alert.once_until is None:
        return "on", f"has held for {span_text(held)}"
    if key.spoken or key.told:
        return "on", f"has held for {span_text(held)}, and that was said"
    if key.quiet_until is not None and now < key.quiet_until:
        return "on", f"has held for {span_text(held)}; it is sent when the cool-down ends"
    return "on", f"has held for {span_text(held)}"


def _whole(span: int) -> int:
    """A span as people say it: whole seconds, of an hour and more whole minutes, of two days and more whole hours."""
    second, hour = 1_000_000, 3_600_000_000
    step = second if span < hour else 60 * second if span < 48 * hour else hour
    return max(0, span) // step * step
