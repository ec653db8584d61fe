"""Rankings: the best of each ranking subscription's window, now."""

from __future__ import annotations

from html import escape
from typing import Final

from likewise.dashboard.addresses import PageAddress
from likewise.dashboard.labels import event_line
from likewise.dashboard.view_state import PageState, clock
from likewise.dashboard.widgets import data_table, html
from likewise.errors import LikewiseError

_COLUMNS: Final = (("place", ""), ("value", "lw-n"), ("time", "lw-n lw-wide"), ("event", ""))


class RankingsPanel:
    """One table for each ranking; `show` brings them up to date."""

    def __init__(self, viewing: PageState) -> None:
        self._viewing = viewing
        self._boards = html().classes("w-full lw-stack").mark("boards")

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
                link = f"<a class='lw-to' href='{escape(why)}'>{escape(place.source or place.event)}</a>"
                label = f"<b>{escape(place.label)}</b>"
                rows.append((str(place.rank), label, clock(place.time), f"{link}<br>{text}"))
            drawn.append(
                f"<div class='lw-panel'><h2 class='lw-title'>{escape(ranking.id)} <span class='lw-soft'>"
                f"for {escape(ranking.subscriber)}</span></h2><code class='lw-soft'>{escape(ranking.text)}</code>"
                f"{data_table(_COLUMNS, rows, '' if rows else 'Nothing came in time.')}</div>"
            )
        if not rankings:
            drawn.append(
                "<div class='lw-panel lw-nothing'><b>No subscription asks for a ranking yet.</b> It keeps the best few "
                "of a window, and shows them here. Under Subscriptions, try "
                "<code>{NO2 exists} top 3 within 2 min by value(NO2) highest</code></div>"
            )
        self._boards.set_content("".join(drawn))
