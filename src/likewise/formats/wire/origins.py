"""Which web pages may speak to a server that knows no tokens: those it serves itself, and those it was told of.

A browser lets any page send requests to this machine, with the page's own address as `Origin`. It also takes a name
that points here for another site's (DNS rebinding), and then says that name as `Host`. So a server that asks nobody
for a token looks at both, and takes no body of a kind that a form could send unasked. A body of no kind is taken: a
form always names one, and whatever else lets a page send a body (fetch, beacons) says its `Origin`.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

_ASKED: Final = frozenset((b"host", b"origin", b"content-type"))
_HERE: Final = frozenset(("localhost", "127.0.0.1", "::1"))
UNASKED: Final = frozenset(("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"))


class Refusal(NamedTuple):
    """Why a request is refused: the HTTP status, a stable code, and what to do."""

    status: int
    code: str
    detail: str


class Origins(NamedTuple):
    """The names this server goes by (`*` for any), and the pages beside its own that may speak to it.

    >>> mine = Origins(hosts=frozenset({"likewise.local"}))
    >>> mine.refusal("GET", host="127.0.0.1:8787", origin=None, kind=None)
    >>> mine.refusal("GET", host="LIKEWISE.local", origin="http://likewise.local", kind=None)
    >>> mine.refusal("GET", host="attacker.example", origin=None, kind=None).code
    'foreign_host'
    >>> mine.refusal("POST", host="localhost:8787", origin="https://attacker.example", kind=None).code
    'foreign_origin'
    >>> mine.refusal("POST", host="localhost:8787", origin=None, kind="text/plain; charset=utf-8").code
    'unsafe_media_type'
    """

    hosts: Collection[str] = frozenset()
    origins: Collection[str] = frozenset()

    def refusal_of(self, method: str, headers: Iterable[tuple[bytes, bytes]]) -> Refusal | None:
        """The same from a request's headers as a server hands them on.

        >>> Origins().refusal_of("GET", [(b"host", b"attacker.example")]).code
        'foreign_host'
        """
        said = {name: value.decode("latin-1") for name, value in headers if name in _ASKED}
        return self.refusal(
            method, host=said.get(b"host", ""), origin=said.get(b"origin"), kind=said.get(b"content-type")
        )

    def refusal(self, method: str, *, host: str, origin: str | None, kind: str | None) -> Refusal | None:
        """Why a request is refused; None if it is not."""
        if not self._known(host):
            return Refusal(
                403,
                "foreign_host",
                f"{host[:100]!r} is no name of this server; ask for localhost, or list the name in `[server] hosts`",
            )
        if origin is not None and origin not in self.origins and origin.partition("://")[2].lower() != host.lower():
            return Refusal(
                403,
                "foreign_origin",
                f"the page {origin[:90]!r} may not speak here; list it in `[server] origins` or make a token",
            )
        if method == "POST" and kind is not None and kind.partition(";")[0].strip().lower() in UNASKED:
            return Refusal(
                415,
                "unsafe_media_type",
                f"without tokens no body of the type {kind[:60]!r} is taken: any web page could send one; send JSON",
            )
        return None

    def _known(self, host: str) -> bool:
        name = host_name(host)
        return name in _HERE or name in self.hosts or "*" in self.hosts or _is_loopback(name)


def _is_loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def host_name(host: str) -> str:
    """A `Host` without its port.

    >>> host_name("[::1]:8787"), host_name("localhost:80"), host_name("127.0.0.1")
    ('::1', 'localhost', '127.0.0.1')
    """
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.rpartition(":")[0].lower() if host.count(":") == 1 else host.lower()
