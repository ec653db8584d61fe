"""Questions to a broker whose answers are read as values, and files that are sent to it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from likewise.errors import FormatError

if TYPE_CHECKING:
    from likewise.client import Publisher

T = TypeVar("T")


def fetch(client: Publisher, kind: type[T], path: str, *, method: str = "GET", **query: object) -> T:
    """Send a request without a body and decode its response."""
    url = f"{path}?{urlencode(query)}" if query else path
    return msgspec.json.decode(client.request(method, url).content, type=kind)


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
