"""History: charts of an hour and a day, a reading over time, and what came."""

from __future__ import annotations

import time
from typing import Final

from likewise.dashboard.history.charts import ReadingChart, TrafficChart
from likewise.dashboard.history.search import SearchPanel
from likewise.dashboard.view_state import PageState

PAUSE: Final = 10.0  # seconds between two drawings of the charts: what was changes slowly


class HistoryPanel:
    """The parts of the page; `show` brings them up to date."""

    def __init__(self, viewing: PageState) -> None:
        self._traffic = TrafficChart(viewing)
        self._reading = ReadingChart(viewing)
        self._search = SearchPanel(viewing)
        self._due = 0.0

    async def show(self) -> None:
        """Draw what is new, now and then."""
        await self._search.show()
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + PAUSE
            await self._traffic.show()
            await self._reading.show()
