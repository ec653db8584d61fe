"""HTML of events, subscriptions, matches and explanations for notebooks.

Colours are the notebook's own but for the score's bar, so that it reads in light and in dark. Everything an event or a
subscription says is escaped.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from html import escape
from typing import Final

from likewise.model.display import html_of
from likewise.model.event import Event
from likewise.model.explanation import Explanation
from likewise.model.match import Match
from likewise.model.rendering import (
    evidence_text,
    explanation_verdict,
    number,
    report_verdict,
    requirement_text,
    subscription_line,
    unread_statements,
)
from likewise.model.subscription import Subscription

SHOWN: Final = 50  # readings of an event, so that a large one does not fill the notebook
_LEFT: Final = ' style="text-align:left"'


@html_of.register
def event_html(event: Event) -> str:
    """Render a table of the event's readings below its name, source, time and themes.

    >>> from likewise.model import event
    >>> event_html(event({"city": "<Zagreb>"}, id="e1")).count("&lt;Zagreb&gt;")
    1
    """
    rows = [(item.attribute, f"{item.value} {item.unit}".rstrip()) for item in event.tuples]
    rows += unread_statements(event)
    if event.vector:
        rows.append(("vector", f"[{', '.join(event.vector)}]"))
    about = [f"<b>{escape(event.id or 'event')}</b>"]
    about += [escape(event.source)] if event.source else []
    about += [_moment(event.time)] if event.time is not None else []
    about += [escape("{" + ", ".join(event.themes) + "}")] if event.themes else []
    body = "".join(
        f"<tr><td{_LEFT}>{escape(name)}</td><td{_LEFT}>{escape(text)}</td></tr>" for name, text in rows[:SHOWN]
    )
    more = f"<div>and {len(rows) - SHOWN} more</div>" if len(rows) > SHOWN else ""
    return f"<div>{' · '.join(about)}</div><table>{body}</table>{more}"


@html_of.register
def subscription_html(subscription: Subscription) -> str:
    """Render a subscription's name, text and kind."""
    name = f"<b>{escape(subscription.id)}</b> " if subscription.id else ""
    return f"<div>{name}<code>{escape(subscription_line(subscription))}</code> <small>{subscription.kind}</small></div>"


@html_of.register
def match_html(match: Match) -> str:
    """Render one line with a bar for the score.

    >>> from likewise.model import Match
    >>> "width:70%" in match_html(Match("e1", "warm", "approximate", 0.7))
    True
    """
    sentence = f"<b>{escape(str(match.event_id or 'the event'))}</b> meets <b>{escape(match.subscription_id)}</b>"
    ranked = f" ranked by {match.rank_value:.4g}" if match.rank_value is not None else ""
    cause = f" <small>{escape(match.cause)}</small>" if match.cause != "arrival" else ""
    return f"<div>{sentence} {_bar(match.score)}{ranked}{cause}</div>"


@html_of.register
def explanation_html(explanation: Explanation) -> str:
    """Render the verdict, a row per part with its evidence, and what would change the verdict."""
    rows = []
    for report in explanation.predicates:
        verdict = "yes" if report.verdict == "match" else report_verdict(report)
        answer = escape(evidence_text(report))
        if report.comparison:
            answer += f"<br><small>{escape(report.comparison)}</small>"
        cells = (f"<code>{escape(requirement_text(report))}</code>", answer, escape(verdict))
        rows.append("<tr>" + "".join(f"<td{_LEFT}>{cell}</td>" for cell in cells) + "</tr>")
    needed = f" of {number(explanation.threshold)} needed" if explanation.threshold is not None else ""
    score = f" {_bar(explanation.score)}{needed}" if explanation.score else ""
    names = (
        f"<b>{escape(str(explanation.event_id or 'the event'))}</b> and <b>{escape(explanation.subscription_id)}</b>"
    )
    heads = "".join(f"<th{_LEFT}>{head}</th>" for head in ("asked for", "answered by", "verdict"))
    annotations = "".join(f"<div>{escape(annotation)}</div>" for annotation in explanation.annotations)
    change = f"<div>{escape(explanation.change)}</div>" if explanation.change else ""
    return (
        f"<div>{names}: {escape(explanation_verdict(explanation))}{score}</div>"
        f"<table><tr>{heads}</tr>{''.join(rows)}</table>{annotations}{change}"
    )


def _moment(microseconds: int) -> str:
    """Format a time; return the number itself outside the calendar's range."""
    try:
        return f"{datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds):%Y-%m-%d %H:%M:%S} UTC"
    except OverflowError:
        return f"{microseconds} µs"


def _bar(score: float) -> str:
    width = round(100 * max(0.0, min(1.0, score)))
    return (
        '<span style="display:inline-block;width:5em;height:.6em;border:1px solid #8886;border-radius:3px">'
        f'<span style="display:block;width:{width}%;height:100%;background:#2a8f5b"></span></span> {number(score)}'
    )
