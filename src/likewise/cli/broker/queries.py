"""Questions to a broker whose answers are read as values."""

from __future__ import annotations

from typing import TypeVar
from urllib.parse import quote, urlencode

import msgspec

from likewise.client import Publisher

T = TypeVar("T")


def fetch(client: Publisher, kind: type[T], path: str, **query: object) -> T:
    """The answer to a GET, as a value."""
    asked = f"{path}?{urlencode(query)}" if query else path
    return msgspec.json.decode(client.request("GET", asked).content, type=kind)


def quote_segment(text: str) -> str:
    """A name as a part of an address.

    >>> part("ann/b")
    'ann%2Fb'
    """
    return quote(text, safe="")
