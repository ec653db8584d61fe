"""Addresses: each tab, event and explanation has one, so that it can be kept, and sent to somebody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode

import msgspec

TABS: Final = ("live", "subscriptions", "history", "map", "sources", "words", "rankings", "edges", "health")
EVENT, WHY = "/event", "/why"
QUERY_NAMES: Final = ("span", "words", "source", "attribute", "subscriber", "subscription")  # what a tab may be asked
PATHS: Final = ("/", *(f"/{tab}" for tab in TABS), EVENT, WHY)


class PageAddress(msgspec.Struct, frozen=True):
    """The address of a page: a tab, an event over it, or an event against a subscription (a stored one, or a text).

    `query` is what a tab was asked, such as the filter of stored events.

    >>> PageAddress("words").path, PageAddress(event="e 1", source="/roof").path
    ('/words', '/event?id=e+1&source=%2Froof')
    >>> PageAddress("history", query=(("words", "no2"),)).path
    '/history?words=no2'
    """

    tab: str = "live"
    event: str = ""
    source: str = ""
    subscriber: str = ""
    subscription: str = ""
    text: str = ""
    query: tuple[tuple[str, str], ...] = ()

    @property
    def path(self) -> str:
        """The address as a browser has it."""
        if not self.event:
            return f"/{self.tab}" + (f"?{urlencode(self.query)}" if self.query else "")
        query = {
            "id": self.event,
            "source": self.source,
            "subscriber": self.subscriber,
            "subscription": self.subscription,
            "text": self.text,
            "tab": "" if self.tab == "live" else self.tab,
        }
        filled = {name: value for name, value in query.items() if value}
        return f"{WHY if self.subscription or self.text else EVENT}?{urlencode(filled)}"

    @property
    def without_event(self) -> PageAddress:
        """The address after the event is closed."""
        return PageAddress(self.tab, query=self.query)


def parse_page_address(path: str, query: Mapping[str, str]) -> PageAddress:
    """Parse the path and query of a page; parts that are absent or invalid get their default.

    >>> parse_page_address("/why", {"id": "e1", "subscriber": "me", "subscription": "loud"}).subscription
    'loud'
    >>> parse_page_address("/elsewhere", {}).tab
    'live'
    """
    if path in (EVENT, WHY):
        tab = query.get("tab", "")
        source, subscriber, subscription, text = (
            query.get(name, "") for name in ("source", "subscriber", "subscription", "text")
        )
        shown = tab if tab in TABS else "live"
        return PageAddress(shown, query.get("id", ""), source, subscriber, subscription, text)
    name = path.strip("/")
    if name not in TABS:
        return PageAddress()
    return PageAddress(name, query=tuple((key, query[key]) for key in QUERY_NAMES if query.get(key)))
