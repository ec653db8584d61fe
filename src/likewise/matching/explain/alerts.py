"""Why an event that meets an alert's condition is said, is not said yet, or is not said again."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from likewise.model.alerts.clauses import Alert
from likewise.model.explanation import Explanation, PredicateReport, Verdict
from likewise.model.time import spoken as span_text


class AlertStanding(NamedTuple):
    """Where an event's key stands at a moment: whether it has one, since when it holds, what was said of it."""

    keyed: bool
    now: int
    begin: int | None = None
    told: bool = False
    spoken: bool = False
    quiet_until: int | None = None


def with_standing(explained: Explanation, alert: Alert, standing: AlertStanding) -> Explanation:
    """The explanation of a condition, with what the alert makes of it.

    >>> met = Explanation("s", "e", "match", (), score=1.0)
    >>> found = with_standing(met, Alert(held_for=300_000_000), AlertStanding(True, 180_000_000, begin=0))
    >>> found.verdict, found.change
    ('not_yet', 'It has held for 3 min of 5 min; it is said if it lasts for 2 min more.')
    """
    if explained.verdict != "match":
        return explained
    verdict, change = _judge(alert, standing)
    if verdict == "match":
        return explained
    report = PredicateReport(_clauses(alert), verdict, notes=(change,))
    return msgspec.structs.replace(
        explained, verdict=verdict, change=change, predicates=(*explained.predicates, report)
    )


def _judge(alert: Alert, standing: AlertStanding) -> tuple[Verdict, str]:
    now = standing.now
    if not standing.keyed:
        return "missing_attribute", f"It would count if the event said its {' and its '.join(alert.per)}."
    if alert.absent_for is not None:
        return "not_yet", f"It was heard; what is said is that nothing came for {span_text(alert.absent_for)}."
    if alert.held_for is not None:
        if standing.told:
            return "suppressed", "It was said that this lasts; it is said again when it ended and lasts once more."
        held = 0 if standing.begin is None else max(0, now - standing.begin)
        if held < alert.held_for:
            left = alert.held_for - held
            return "not_yet", (
                f"It has held for {span_text(held)} of {span_text(alert.held_for)}; "
                f"it is said if it lasts for {span_text(left)} more."
            )
    if standing.spoken:
        until = "it failed" if alert.once_until == "false" else "what ends it came"
        return "suppressed", f"It was said once; it is said again after {until}."
    if standing.quiet_until is not None and now < standing.quiet_until and alert.at_most_every is not None:
        return "not_yet", (
            f"It is sent at most every {span_text(alert.at_most_every)}: in "
            f"{span_text(standing.quiet_until - now)}, if it still stands then."
        )
    if alert.digest_every is not None:
        left = alert.digest_every - now % alert.digest_every
        return "not_yet", f"It is gathered for the digest that comes in {span_text(left)}."
    return "match", ""


def _clauses(alert: Alert) -> str:
    from likewise.language.printer import alert_text

    return alert_text(alert)
