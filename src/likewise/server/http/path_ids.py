"""Ids in addresses, whatever they hold: `/v1/subscribers/a%2Fb` is the subscriber `a/b`.

Servers hand on an address with its escapes read, where `%2F` and a slash between two parts look alike. So the escapes
of slashes are left standing, and those of percent signs with them, until the parts are told apart.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from starlette.convertors import Convertor, register_url_convertor
from starlette.types import ASGIApp, Receive, Scope, Send

_LEFT: Final = re.compile(r"%(2[fF]|25)")


def decode_path(raw: str) -> str:
    """Decode a path except for escaped slashes and percent signs.

    >>> decode_path("/v1/subscribers/a%2Fb%20%25/stream")
    '/v1/subscribers/a%2Fb %25/stream'
    """
    return unquote(_LEFT.sub(r"%25\1", raw))


class PathIdMiddleware:
    """An application in front of another, which sees addresses by their parts."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or connection."""
        raw = scope.get("raw_path")
        if raw and b"%" in raw:
            scope = {**scope, "path": decode_path(raw.decode("latin-1"))}
        await self._app(scope, receive, send)


class _IdConvertor(Convertor[str]):
    """One part of an address: an id."""

    regex = "[^/]+"

    def convert(self, value: str) -> str:
        """Read what `decode_path` has left."""
        return unquote(value)

    def to_string(self, value: str) -> str:
        """Return an id as a part of a path."""
        return value.replace("%", "%25").replace("/", "%2F")


class _PathConvertor(_IdConvertor):
    """All that is left of an address: an id whose slashes may stand there as they are."""

    regex = ".*"


register_url_convertor("id", _IdConvertor())
register_url_convertor("rest", _PathConvertor())
