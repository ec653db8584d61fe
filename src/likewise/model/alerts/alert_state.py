"""State of one key of an alert, as a word and as a sentence."""

from __future__ import annotations

from typing import Literal, NamedTuple

from likewise.model.alerts.clauses import Alert
from likewise.model.alerts.notification import Key
from likewise.model.time import duration_text as span_text

State = Literal["on", "lasting", "absent", "excused", "watched", "off"]


class AlertKeyState(NamedTuple):
    """State of one key of an alert.

    `paused` is since when its silence is excused.
    """

    key: Key
    last_observed: int
    since: int | None
    notified: bool
    fired: bool
    absent: bool
    muted_until: int | None
    suppressed: int
    excused_since: int | None = None


class AlertKeySummary(NamedTuple):
    """Summary of a key's state: on, lasting but not long enough, absent, excused, watched, or off."""

    state: State
    description: str


def summarize_key(alert: Alert, key: AlertKeyState, now: int) -> AlertKeySummary:
    """Summarise the state of a key at a time.

    >>> door = AlertKeyState(("hall",), 0, 0, False, False, False, None, 0)
    >>> summarize_key(Alert(held_for=300_000_000), door, 180_000_000)
    AlertKeySummary(state='lasting', description='has held for 3 min of 5 min')
    """
    state, words = _silence(alert, key, now) if alert.absent_for is not None else _lasting(alert, key, now)
    if key.muted_until is not None and now < key.muted_until:
        words += f"; quiet for {span_text(_whole(key.muted_until - now))} more"
    if key.suppressed:
        words += f"; {key.suppressed:,} held back"
    return AlertKeySummary(state, words)


def _silence(alert: Alert, key: AlertKeyState, now: int) -> tuple[State, str]:
    silent = span_text(_whole(now - key.last_observed))
    if key.absent:
        return "absent", f"silent for {silent}"
    if key.excused_since is not None:
        return (
            "excused",
            f"cannot be heard since {span_text(_whole(now - key.excused_since))}, so its silence does not count",
        )
    return "watched", f"heard {silent} ago; absent after {span_text(alert.absent_for or 0)} of silence"


def _lasting(alert: Alert, key: AlertKeyState, now: int) -> tuple[State, str]:
    if not alert.follows_failing and not key.fired:
        return "watched", f"heard {span_text(_whole(now - key.last_observed))} ago"
    if key.since is None:
        if key.fired:
            return "on", "was said, and is not over"
        return "off", f"does not hold; heard {span_text(_whole(now - key.last_observed))} ago"
    elapsed = _whole(now - key.since)
    if alert.held_for is not None and not key.notified and not key.fired:
        if elapsed < alert.held_for:
            return "lasting", f"has held for {span_text(elapsed)} of {span_text(alert.held_for)}"
        if key.muted_until is not None and now < key.muted_until:
            return "lasting", f"has held for {span_text(elapsed)}; it is sent when the cool-down ends"
        return "lasting", f"has held for {span_text(elapsed)}; late events are waited for"
    if alert.held_for is None and alert.once_until is None:
        return "on", f"has held for {span_text(elapsed)}"
    if key.fired or key.notified:
        return "on", f"has held for {span_text(elapsed)}, and that was said"
    if key.muted_until is not None and now < key.muted_until:
        return "on", f"has held for {span_text(elapsed)}; it is sent when the cool-down ends"
    return "on", f"has held for {span_text(elapsed)}"


def _whole(span: int) -> int:
    """Round a span for display: to seconds, from an hour on to minutes, from two days on to hours."""
    second, hour = 1_000_000, 3_600_000_000
    step = second if span < hour else 60 * second if span < 48 * hour else hour
    return max(0, span) // step * step
