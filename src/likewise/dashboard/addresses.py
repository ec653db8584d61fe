"""Addresses: each tab, event and explanation has one, so that it can be kept, and sent to somebody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode

import msgspec

TABS: Final = ("live", "subscriptions", "sources", "words", "rankings", "health")
EVENT, WHY = "/event", "/why"
PATHS: Final = ("/", *(f"/{tab}" for tab in TABS), EVENT, WHY)


class Address(msgspec.Struct, frozen=True):
    """What is looked at: a tab, an event over it, or an event against a subscription (a held one, or a text).

    >>> Address("words").path, Address(event="e 1", source="/roof").path
    ('/words', '/event?id=e+1&source=%2Froof')
    """

    tab: str = "live"
    event: str = ""
    source: str = ""
    subscriber: str = ""
    subscription: str = ""
    text: str = ""

    @property
    def path(self) -> str:
        """The address as a browser has it."""
        if not self.event:
            return f"/{self.tab}"
        said = {
            "id": self.event, "source": self.source, "subscriber": self.subscriber, "subscription": self.subscription,
            "text": self.text, "tab": "" if self.tab == "live" else self.tab,
        }  # fmt: skip
        kept = {name: value for name, value in said.items() if value}
        return f"{WHY if self.subscription or self.text else EVENT}?{urlencode(kept)}"

    @property
    def below(self) -> Address:
        """What is there when the event is closed."""
        return Address(self.tab)


def read_address(path: str, query: Mapping[str, str]) -> Address:
    """What an address leads to; what it does not say, or says wrongly, is left out.

    >>> read_address("/why", {"id": "e1", "subscriber": "me", "subscription": "loud"}).subscription
    'loud'
    >>> read_address("/elsewhere", {}).tab
    'live'
    """
    if path in (EVENT, WHY):
        tab = query.get("tab", "")
        said = {name: query.get(name, "") for name in ("source", "subscriber", "subscription", "text")}
        return Address(tab if tab in TABS else "live", query.get("id", ""), **said)
    name = path.strip("/")
    return Address(name if name in TABS else "live")
