"""Edges: the brokers near the sensors, whether each is connected, what waits there, and what was dropped."""

from __future__ import annotations

from html import escape

from nicegui import ui

from likewise.dashboard.viewing import Viewing, clock
from likewise.errors import LikewiseError
from likewise.formats.wire.uplink import EdgeShown


class EdgesPanel:
    """One table; `show` brings it up to date."""

    def __init__(self, viewing: Viewing) -> None:
        self._viewing = viewing
        ui.label("Brokers near the sensors, which dial this one; brought up to date every two seconds.").classes(
            "lw-soft"
        )
        self._place = ui.column().classes("w-full gap-3").mark("edges")

    async def show(self) -> None:
        """Ask for every edge and draw it."""
        try:
            found = await self._viewing.api.get(list[EdgeShown], "/v1/edges")
        except LikewiseError:
            return  # the banner says that the broker is away; without the scope there is nothing to see
        self._place.clear()
        with self._place:
            ui.html(drawn(found), sanitize=False).classes("w-full")


def drawn(edges: list[EdgeShown]) -> str:
    """The edges as a table.

    >>> "likewise edge" in drawn([]), "roof" in drawn([EdgeShown("roof", "away", "e1", 40, 0)])
    (True, True)
    """
    if not edges:
        return (
            "<p class='lw-soft'>No edge has connected yet. One is run by "
            "<code>likewise edge --upstream URL --data DIR</code>.</p>"
        )
    rows = []
    for each in edges:
        state = f"<b>{each.state}</b>" if each.state == "connected" else f"<span class='lw-bad'>{each.state}</span>"
        dropped = f"<span class='lw-bad'>{each.dropped:,} ({escape(each.policy)})</span>" if each.dropped else "0"
        below = f"<br><span class='lw-soft'>below: {escape(', '.join(each.below))}</span>" if each.below else ""
        rows.append(
            f"<tr><td>{escape(each.id)}{below}</td><td>{state}</td><td class='lw-n'>{each.sequence:,}</td>"
            f"<td class='lw-n'>{each.waiting:,}</td><td class='lw-n'>{dropped}</td>"
            f"<td class='lw-n lw-wide'>{each.filters:,}</td><td class='lw-n lw-wide'>{each.sources:,}</td>"
            f"<td class='lw-n lw-wide'>{each.subscriptions:,}</td>"
            f"<td class='lw-wide'>{clock(each.seen) if each.seen else 'never'}</td></tr>"
        )
    return (
        "<div class='lw-panel'><div class='lw-scroll'><table class='lw-table'><tr><th>edge</th><th>line</th>"
        "<th>stored here</th><th>waiting there</th><th>dropped</th><th class='lw-wide'>filters</th>"
        "<th class='lw-wide'>sources</th><th class='lw-wide'>subscriptions</th><th class='lw-wide'>heard</th></tr>"
        f"{''.join(rows)}</table></div></div>"
    )
