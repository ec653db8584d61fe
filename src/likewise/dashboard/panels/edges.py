"""Edges: the brokers near the sensors, whether each is connected, what waits there, and what was dropped."""

from __future__ import annotations

import time
from html import escape

from nicegui import ui

from likewise.api.edge_frames import EdgeStatus
from likewise.dashboard.history.subscription_table import elapsed_text
from likewise.dashboard.view_state import PageState
from likewise.errors import LikewiseError


class EdgesPanel:
    """One table; `show` brings it up to date."""

    def __init__(self, viewing: PageState) -> None:
        self._viewing = viewing
        self._table = ui.html("", sanitize=False).classes("w-full").mark("edges")
        self._drawn = ""

    async def show(self) -> None:
        """Ask for every edge and draw it."""
        try:
            edges = await self._viewing.api.get(list[EdgeStatus], "/v1/edges")
        except LikewiseError:
            return  # the banner says that the broker is away; without the scope there is nothing to see
        whole = drawn(edges, time.time())
        if whole != self._drawn:
            self._drawn = whole
            self._table.set_content(whole)


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
        state = f"<span class='lw-state lw-state-{look}'>{escape(each.state)}</span>"
        dropped = f"<span class='lw-bad'>{each.dropped:,} ({escape(each.policy)})</span>" if each.dropped else "0"
        last_contact = f"{elapsed_text(now - each.seen / 1e6)} ago" if each.seen else "–"
        below = f"<br><span class='lw-soft'>below: {escape(', '.join(each.below))}</span>" if each.below else ""
        rows.append(
            f"<tr><td><b>{escape(each.id)}</b>{below}</td><td class='lw-n'>{state}</td>"
            f"<td class='lw-n'>{last_contact}</td>"
            f"<td class='lw-n lw-right'>{each.waiting:,}</td><td class='lw-n lw-right'>{dropped}</td>"
            f"<td class='lw-n lw-right lw-wide'>{each.sequence:,}</td>"
            f"<td class='lw-n lw-right lw-wide'>{each.filters:,}</td>"
            f"<td class='lw-n lw-right lw-wide'>{each.sources:,}</td>"
            f"<td class='lw-n lw-right lw-wide'>{each.subscriptions:,}</td></tr>"
        )
    return (
        "<div class='lw-panel'><div class='lw-scroll'><table class='lw-table'><tr><th>edge</th><th>line</th>"
        "<th>heard</th><th class='lw-right'>wait there</th><th class='lw-right'>dropped</th>"
        "<th class='lw-right lw-wide'>stored here</th><th class='lw-right lw-wide'>filters</th>"
        "<th class='lw-right lw-wide'>sources</th><th class='lw-right lw-wide'>subscriptions</th></tr>"
        f"{''.join(rows)}</table></div></div>"
    )
