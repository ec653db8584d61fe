"""Edges: the brokers near the sensors, whether each is connected, what waits there, and what was dropped."""

from __future__ import annotations

import time
from html import escape
from typing import Final

from likewise.api.edge_frames import EdgeStatus
from likewise.dashboard.history.subscription_table import elapsed_text
from likewise.dashboard.view_state import PageState
from likewise.dashboard.widgets import data_table, html
from likewise.errors import LikewiseError

_COLUMNS: Final = (
    ("edge", ""),
    ("line", "lw-n"),
    ("heard", "lw-n"),
    *((head, "lw-n lw-right") for head in ("wait there", "dropped")),
    *((head, "lw-n lw-right lw-wide") for head in ("stored here", "filters", "sources", "subscriptions")),
)


class EdgesPanel:
    """One table; `show` brings it up to date."""

    def __init__(self, viewing: PageState) -> None:
        self._viewing = viewing
        self._table = html().classes("w-full").mark("edges")

    async def show(self) -> None:
        """Ask for every edge and draw it."""
        try:
            edges = await self._viewing.api.edges()
        except LikewiseError:
            return  # the banner says that the broker is away; without the scope there is nothing to see
        self._table.set_content(drawn(edges, time.time()))


def drawn(edges: list[EdgeStatus], now: float) -> str:
    """Return the edges as a table.

    >>> "likewise edge" in drawn([], 0.0), "roof" in drawn([EdgeStatus("roof", "away", "e1", 40, 0)], 0.0)
    (True, True)
    """
    if not edges:
        return (
            "<div class='lw-panel lw-nothing'><b>No edge has connected yet.</b> An edge is a small broker near the "
            "sensors, which sends up what is wanted and goes on when the line is down. Run one with "
            "<code>likewise edge --upstream URL --data DIR --id NAME</code></div>"
        )
    rows = []
    for each in edges:
        look = "watched" if each.state == "connected" else "on"
        below = f"<br><span class='lw-soft'>below: {escape(', '.join(each.below))}</span>" if each.below else ""
        dropped = f"<span class='lw-bad'>{each.dropped:,} ({escape(each.policy)})</span>" if each.dropped else "0"
        rows.append(
            (
                f"<b>{escape(each.id)}</b>{below}",
                f"<span class='lw-state lw-state-{look}'>{escape(each.state)}</span>",
                f"{elapsed_text(now - each.seen / 1e6)} ago" if each.seen else "–",
                f"{each.waiting:,}",
                dropped,
                *(f"{count:,}" for count in (each.sequence, each.filters, each.sources, each.subscriptions)),
            )
        )
    return f"<div class='lw-panel'>{data_table(_COLUMNS, rows)}</div>"
