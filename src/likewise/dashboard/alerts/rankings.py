"""Rankings: the best of each ranking subscription's window, now."""

from __future__ import annotations

from html import escape

from nicegui import ui

from likewise.dashboard.addresses import PageAddress
from likewise.dashboard.labels import event_line
from likewise.dashboard.view_state import PageState, clock
from likewise.errors import LikewiseError


class RankingsPanel:
    """One table for each ranking; `show` brings them up to date."""

    def __init__(self, viewing: PageState) -> None:
        self._viewing = viewing
        self._boards = ui.html("", sanitize=False).classes("w-full lw-stack").mark("boards")
        self._drawn = ""

    async def show(self) -> None:
        """Ask for every board and draw it."""
        rankings = [ranking for ranking in self._viewing.feed.subscriptions if ranking.kind == "top"]
        drawn = []
        for ranking in rankings:
            try:
                places = await self._viewing.api.board(ranking.subscriber, ranking.id)
            except LikewiseError as error:
                drawn.append(f"<p class='lw-soft'>{escape(ranking.id)}: {escape(str(error))}</p>")
                continue
            rows = []
            for place in places:
                why = PageAddress("rankings", place.event, place.source, ranking.subscriber, ranking.id).path
                arrival = self._viewing.feed.find(place.event, place.source)
                text = escape(event_line(arrival.event, 160) if arrival is not None else place.event)
                rows.append(
                    f"<tr><td>{place.rank}</td><td class='lw-n'><b>{escape(place.label)}</b></td>"
                    f"<td class='lw-n lw-wide'>{clock(place.time)}</td>"
                    f"<td><a class='lw-to' href='{escape(why)}'>{escape(place.source or place.event)}</a>"
                    f"<br>{text}</td></tr>"
                )
            body = "".join(rows) or "<tr><td colspan=4 class='lw-soft'>Nothing came in time.</td></tr>"
            drawn.append(
                f"<div class='lw-panel'><h2 class='lw-title'>{escape(ranking.id)} <span class='lw-soft'>"
                f"for {escape(ranking.subscriber)}</span></h2><code class='lw-soft'>{escape(ranking.text)}</code>"
                "<div class='lw-scroll'><table class='lw-table'><tr><th>place</th><th>value</th>"
                f"<th class='lw-wide'>time</th><th>event</th></tr>{body}</table></div></div>"
            )
        if not rankings:
            drawn.append(
                "<div class='lw-panel lw-nothing'><b>No subscription asks for a ranking yet.</b> It keeps the best few "
                "of a window, and shows them here. Under Subscriptions, try "
                "<code>{NO2 exists} top 3 within 2 min by value(NO2) highest</code></div>"
            )
        whole = "".join(drawn)
        if whole != self._drawn:
            self._drawn = whole
            self._boards.set_content(whole)
