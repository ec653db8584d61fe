"""Questions to a broker whose answers are read as values."""

from __future__ import annotations

from typing import TypeVar
from urllib.parse import quote, urlencode

import msgspec

from likewise.client import Publisher

T = TypeVar("T")


def fetch(client: Publisher, kind: type[T], path: str, **query: object) -> T:
    """Send a GET and decode its response."""
    url = f"{path}?{urlencode(query)}" if query else path
    return msgspec.json.decode(client.request("GET", url).content, type=kind)


def quote_segment(text: str) -> str:
    """Quote a name as a segment of a path.

    >>> quote_segment("ann/b")
    'ann%2Fb'
    """
    return quote(text, safe="")
