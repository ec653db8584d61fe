"""The state that the parts of one viewer's page share: the feed, the address, and how errors are shown."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from nicegui import ui

from likewise.api.live_views import Arrival
from likewise.dashboard.addresses import PageAddress
from likewise.dashboard.broker_api import BrokerApi
from likewise.dashboard.feed import LiveFeed
from likewise.errors import LikewiseError

T = TypeVar("T")
# A plain click opens the event here; with Ctrl and the like the browser opens the address in a tab of its own.
FOLLOW = "(e) => { if (e.ctrlKey || e.metaKey || e.shiftKey || e.button) return; e.preventDefault(); emit(); }"


class PageState:
    """One open page. `explain` opens the explanation of an event and a subscription, as an address says."""

    def __init__(self, feed: LiveFeed, address: PageAddress) -> None:
        self.feed = feed
        self.address = address
        self.explain: Callable[[PageAddress, Arrival | None], Awaitable[None]] | None = None

    @property
    def api(self) -> BrokerApi:
        """The broker, with the viewer's token."""
        return self.feed.api

    def move(self, address: PageAddress) -> None:
        """Say in the browser's address what is looked at now."""
        if address != self.address:
            self.address = address
            ui.navigate.history.push(address.path)

    def row(
        self, arrival: Arrival, subscriber: str = "", subscription: str = "", text: str = "", tab: str = "live"
    ) -> ui.item:
        """Draw a row that links to an event, or to its explanation against a subscription."""
        query = self.address.query if tab == self.address.tab else ()
        return self.link(PageAddress(tab, arrival.id, arrival.source, subscriber, subscription, text, query), arrival)

    def link(self, address: PageAddress, arrival: Arrival | None = None) -> ui.item:
        """Draw a row that links to an explanation."""

        async def follow() -> None:
            assert self.explain is not None
            await self.explain(address, arrival)

        row = ui.item().classes("lw-row")
        row._props["href"] = address.path
        return row.on("click", follow, js_handler=FOLLOW)

    async def ask(self, question: Awaitable[T]) -> T | None:
        """Await a result; return None after its error was shown."""
        try:
            return await question
        except LikewiseError as error:
            ui.notify(str(error), type="negative", multi_line=True, close_button="Close")
            return None


def clock(microseconds: int) -> str:
    """Return the local time of day.

    >>> len(clock(0))
    8
    """
    return time.strftime("%H:%M:%S", time.localtime(microseconds / 1e6))
