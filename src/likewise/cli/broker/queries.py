"""Questions to a broker whose answers are read as values, and files that are sent to it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from likewise.errors import FormatError, UnknownId

if TYPE_CHECKING:
    from likewise.client import Publisher


class HasSubscriber(Protocol):
    """Something that belongs to a subscriber."""

    @property
    def subscriber(self) -> str:
        """Return the id of the subscriber."""


T = TypeVar("T")
Owned = TypeVar("Owned", bound=HasSubscriber)


def fetch(client: Publisher, kind: type[T], path: str, *, method: str = "GET", **query: object) -> T:
    """Send a request without a body and decode its response."""
    url = f"{path}?{urlencode(query)}" if query else path
    return msgspec.json.decode(client.request(method, url).content, type=kind)


def of_subscriber(every: list[Owned], owner: str | None) -> list[Owned]:
    """Return what belongs to a subscriber, all if none is named; raise `UnknownId` for a name that is almost one."""
    listed = [each for each in every if owner in (None, each.subscriber)]
    if owner is not None and not listed and (error := UnknownId(owner, known={each.subscriber for each in every})).near:
        raise error
    return listed


def read_text(path: Path) -> str:
    """Read a file that a person wrote. Raises `FormatError` if it is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise FormatError(f"{path} is not UTF-8 text") from None


def quote_segment(text: str) -> str:
    """Quote a name as a segment of a path.

    >>> quote_segment("ann/b")
    'ann%2Fb'
    """
    return quote(text, safe="")
