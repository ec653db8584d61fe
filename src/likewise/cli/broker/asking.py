"""Questions to a broker whose answers are read as they are shown."""

from __future__ import annotations

from typing import TypeVar
from urllib.parse import quote, urlencode

import msgspec

from likewise.client import Publisher
from likewise.formats.shown import SeenMatch

T = TypeVar("T")


class ShownSubscription(msgspec.Struct, frozen=True):
    """A subscription that the broker holds."""

    subscriber: str
    id: str
    text: str
    kind: str
    ends: int | None = None


class ShownEvent(msgspec.Struct, frozen=True):
    """An event in the broker's log, and when it arrived."""

    position: int
    arrival: int
    event: dict[str, object]

    @property
    def id(self) -> str:
        """The event's id."""
        return str(self.event.get("id") or "")

    @property
    def source(self) -> str:
        """Who published it."""
        return str(self.event.get("source") or "")


class Activity(msgspec.Struct, frozen=True):
    """Events and matches after those seen before."""

    events: tuple[ShownEvent, ...]
    matches: tuple[SeenMatch, ...]
    position: int
    sequence: int


class Letter(msgspec.Struct, frozen=True):
    """Something that could not be read, matched or delivered."""

    number: int
    at: int
    reason: str
    detail: str
    subscriber: str = ""
    event: str = ""
    body: str = ""


def get(client: Publisher, kind: type[T], path: str, **query: object) -> T:
    """The answer to a GET, as a value."""
    asked = f"{path}?{urlencode(query)}" if query else path
    return msgspec.json.decode(client.request("GET", asked).content, type=kind)


def part(text: str) -> str:
    """A name as a part of an address.

    >>> part("ann/b")
    'ann%2Fb'
    """
    return quote(text, safe="")
