"""The trace of an event and a subscription: what became of it when it came, beside what would now."""

from __future__ import annotations

import time
from html import escape
from typing import Final

from nicegui import ui

from likewise.api.history import Trace
from likewise.dashboard.view_state import PageState
from likewise.dashboard.widgets import html
from likewise.errors import LikewiseError

HEADS: Final = {
    "delivered": ("lw-good", "It was delivered."),
    "not_met": ("lw-nearly", "It was not delivered."),
    "not_matched_yet": ("lw-soft", "It is not matched yet."),
    "before_it": ("lw-soft", "It was not delivered: the subscription came later."),
    "after_it": ("lw-soft", "It was not delivered: the subscription had ended."),
    "unmatched": ("lw-bad", "It was not delivered: it could not be matched."),
    "withdrawn": ("lw-soft", "It was not delivered: it was taken back."),
    "unknown_then": ("lw-soft", "It is not known any more what was asked for then."),
}


async def draw_trace(
    viewing: PageState, place: ui.column, event: str, source: str, subscriber: str, id: str
) -> Trace | None:
    """Say what became of an event; None where it cannot be known."""
    try:
        result = await viewing.api.trace(event, source, subscriber, id)
    except LikewiseError:
        return None  # the event is over, or was never stored; the explanation above stands by itself
    if place.is_deleted:
        return None
    with place, ui.expansion(HEADS[result.outcome][1]).classes("w-full lw-trace").props("dense").mark("trace"):
        html(trace_html(result)).classes("w-full")
    return result


def trace_html(result: Trace) -> str:
    """Return the steps as a list.

    >>> from likewise.api.history import TraceStep
    >>> trace_html(Trace("e", "roof", 0, "not_met", (TraceStep("came", "It came."),), "{a = 1}", True))
    "<ol class='lw-steps'><li>It came.</li></ol><p class='lw-soft'>It was asked for <code>{a = 1}</code>...</p>"
    """
    steps = "".join(
        f"<li>{f'<span class=lw-n>{_when(step.at)}</span> ' if step.at else ''}{escape(step.said)}</li>"
        for step in result.steps
    )
    then = ""
    if result.changed_since and result.text:
        then = (
            f"<p class='lw-soft'>It was asked for <code>{escape(result.text)}</code> then, which is not what is asked "
            "for now.</p>"
        )
    return f"<ol class='lw-steps'>{steps}</ol>{then}"


def _when(microseconds: int) -> str:
    return time.strftime("%d %b %H:%M:%S", time.localtime(microseconds / 1e6))
