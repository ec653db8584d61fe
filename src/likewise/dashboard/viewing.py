"""What the parts of one viewer's page share: the feed, and how errors are shown."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from nicegui import ui

from likewise.dashboard.broker_api import BrokerApi
from likewise.dashboard.feed import Feed
from likewise.errors import LikewiseError
from likewise.formats.wire.watching import Arrival

T = TypeVar("T")
Explain = Callable[[Arrival, str, str], Awaitable[None]]


class Viewing:
    """One open page. `explain` opens the explanation of an event and a subscription ('' for any)."""

    def __init__(self, feed: Feed) -> None:
        self.feed = feed
        self.explain: Explain | None = None
        self.tab = "live"

    @property
    def api(self) -> BrokerApi:
        """The broker, with the viewer's token."""
        return self.feed.api

    async def ask(self, question: Awaitable[T]) -> T | None:
        """The answer, or None after the error was shown."""
        try:
            return await question
        except LikewiseError as error:
            ui.notify(str(error), type="negative", multi_line=True, close_button="Close")
            return None


def clock(microseconds: int) -> str:
    """The time of day, local.

    >>> len(clock(0))
    8
    """
    return time.strftime("%H:%M:%S", time.localtime(microseconds / 1e6))
