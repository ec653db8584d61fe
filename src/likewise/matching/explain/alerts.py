"""Why an event that meets an alert's condition is said, is not said yet, or is not said again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from likewise.matching.reference.alerts.state import HoldingRun, Sources
from likewise.model.alerts.clauses import Alert
from likewise.model.explanation import Explanation, PredicateReport, Verdict
from likewise.model.time import duration_text as span_text

MOST_NAMED: Final = 5  # stale sources that an explanation names


class AlertKeyStatus(NamedTuple):
    """Where an event's key stands at a moment: whether it has one, since when it holds, what was said of it.

    `stale` names the sources that are active and have been silent for longer than `stale_after`, and for how long.
    """

    keyed: bool
    now: int
    begin: int | None = None
    notified: bool = False
    spoken: bool = False
    quiet_until: int | None = None
    stale: Sequence[tuple[str, int]] = ()
    stale_after: int = 0


def standing_of(
    alert: Alert, run: HoldingRun, active: Sources, *, spoken: bool, quiet_until: int | None, now: int, source: str
) -> AlertKeyStatus:
    """Where a key stands for an event of a source, which stale sources do not keep from raising an alarm.

    `active` are the sources of an alert that does not follow what fails; `run` has those of the others.

    >>> alert, run = Alert(once_until="false", per=("room",), stale=60), HoldingRun((("dead", 0),), 0, True)
    >>> found = standing_of(alert, run, (), spoken=True, quiet_until=None, now=61, source="new")
    >>> found.spoken, found.stale
    (False, (('dead', 61),))
    """
    sources = run.holding + run.stale if alert.follows_failing else active
    others = [each for each in sources if each[0] != source]
    after = alert.stale
    stale = () if after is None else tuple((each, now - last) for each, last in others if now - last > after)
    begin, told, spoken = run.begin, run.told, spoken and not run.stale
    if stale and len(stale) == len(sources):  # the source is none of them, and begins anew
        begin, told, spoken = None, False, False
    return AlertKeyStatus(True, now, begin, told, spoken, quiet_until, stale, after or 0)


def with_alert_status(explained: Explanation, alert: Alert, status: AlertKeyStatus) -> Explanation:
    """The explanation of a condition, with what the alert makes of it.

    >>> met = Explanation("s", "e", "match", (), score=1.0)
    >>> found = with_alert_status(met, Alert(held_for=300_000_000), AlertKeyStatus(True, 180_000_000, begin=0))
    >>> found.verdict, found.change
    ('not_yet', 'It has held for 3 min of 5 min; it is said if it lasts for 2 min more.')
    """
    if explained.verdict != "match":
        return explained
    verdict, change = _judge(alert, status)
    notes = tuple(filter(None, (change, _stale_note(status))))
    if not notes:
        return explained
    report = PredicateReport(_clauses(alert), verdict, notes=notes)
    if verdict == "match":
        return msgspec.structs.replace(explained, predicates=(*explained.predicates, report))
    return msgspec.structs.replace(
        explained, verdict=verdict, change=change, predicates=(*explained.predicates, report)
    )


def _judge(alert: Alert, status: AlertKeyStatus) -> tuple[Verdict, str]:
    now = status.now
    if not status.keyed:
        return "missing_attribute", f"It would count if the event said its {' and its '.join(alert.per)}."
    if alert.absent_for is not None:
        return "not_yet", f"It was heard; what is said is that nothing came for {span_text(alert.absent_for)}."
    if alert.held_for is not None:
        if status.notified:
            return "suppressed", "It was said that this lasts; it is said again when it ended and lasts once more."
        duration = 0 if status.begin is None else max(0, now - status.begin)
        if duration < alert.held_for:
            left = alert.held_for - duration
            return "not_yet", (
                f"It has held for {span_text(duration)} of {span_text(alert.held_for)}; "
                f"it is said if it lasts for {span_text(left)} more."
            )
    if status.spoken:
        until = "it failed" if alert.once_until == "false" else "what ends it came"
        return "suppressed", f"It was said once; it is said again after {until}."
    if status.quiet_until is not None and now < status.quiet_until and alert.at_most_every is not None:
        return "not_yet", (
            f"It is sent at most every {span_text(alert.at_most_every)}: in "
            f"{span_text(status.quiet_until - now)}, if it still stands then."
        )
    if alert.digest_every is not None:
        left = alert.digest_every - now % alert.digest_every
        return "not_yet", f"It is gathered for the digest that comes in {span_text(left)}."
    return "match", ""


def _stale_note(status: AlertKeyStatus) -> str:
    """Name the stale sources, those that have been silent for longest first."""
    if not status.stale:
        return ""
    longest = sorted(status.stale, key=lambda each: (-each[1], each[0]))
    names = ", ".join(f"{source or 'no source'} ({span_text(silent)})" for source, silent in longest[:MOST_NAMED])
    more = len(longest) - MOST_NAMED
    names += f" and {more} more" if more > 0 else ""
    return (
        f"Active and silent for longer than {span_text(status.stale_after)}: {names}. "
        "What is stale does not count: it keeps no other source from raising an alarm."
    )


def _clauses(alert: Alert) -> str:
    from likewise.language.printer import alert_text

    return alert_text(alert)
