"""Origin policy of a server without tokens: its own web pages and the configured ones are allowed.

A browser lets any page send requests to this machine, with the page's own address as `Origin`. It also takes a name
that points here for another site's (DNS rebinding), and then says that name as `Host`. So a server that asks
nobody for a token looks at both, and takes no body of a kind that a form could send unasked. A body of no kind is
taken: a form always names one, and whatever else lets a page send a body (fetch, beacons) says its `Origin`. What a
page only points at (an image, a script, a frame, a link) comes without `Origin`; of that a browser says
`Sec-Fetch-Site`, and only the visit of a document is let through.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Final, NamedTuple

_CHECKED_HEADERS: Final = frozenset(
    (b"host", b"origin", b"content-type", b"sec-fetch-site", b"sec-fetch-mode", b"sec-fetch-dest")
)
_ONCE: Final = frozenset((b"host", b"origin"))  # said twice, nobody knows which one others have looked at
_NEVER_A_PAGE: Final = "/v1/"  # addresses below it are no documents, so nobody visits them from elsewhere
_HOST: Final = re.compile(r"(?:\[([^\[\]]+)\]|([^:\[\]]*))(?::[0-9]*)?")
_HERE: Final = frozenset(("localhost", "127.0.0.1", "::1"))
_PAGES: Final = {"ws": "http", "wss": "https"}  # what the page of a WebSocket is reached by
SIMPLE_TYPES: Final = frozenset(("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"))


class OriginRefusal(NamedTuple):
    """Reason of a refused request: the HTTP status, a stable code, and what to do."""

    status: int
    code: str
    detail: str


class OriginPolicy(NamedTuple):
    """The names this server goes by (`*` for any), and the pages beside its own that may speak to it.

    >>> mine = OriginPolicy(hosts=frozenset({"likewise.local"}))
    >>> mine.refusal("GET", host="127.0.0.1:8787", origin=None, kind=None)
    >>> mine.refusal("GET", host="LIKEWISE.local", origin="http://likewise.local", kind=None)
    >>> mine.refusal("GET", host="attacker.example", origin=None, kind=None).code
    'foreign_host'
    >>> mine.refusal("POST", host="localhost:8787", origin="https://attacker.example", kind=None).code
    'foreign_origin'
    >>> mine.refusal("POST", host="localhost:8787", origin=None, kind="text/plain; charset=utf-8").code
    'unsafe_media_type'
    >>> mine.refusal("GET", host="localhost:8787", origin=None, kind=None, site="cross-site").code
    'foreign_site'
    >>> mine.refusal("GET", host="localhost", origin="https://localhost", kind=None, scheme="http").code
    'foreign_origin'
    """

    hosts: Collection[str] = frozenset()
    origins: Collection[str] = frozenset()

    def refusal_of(
        self, method: str, headers: Iterable[tuple[bytes, bytes]], *, path: str = "/", scheme: str | None = None
    ) -> OriginRefusal | None:
        """Return why a request is refused by its headers, as ASGI has them; None if it is allowed.

        >>> OriginPolicy().refusal_of("GET", [(b"host", b"attacker.example")]).code
        'foreign_host'
        >>> OriginPolicy().refusal_of("GET", [(b"host", b"localhost"), (b"host", b"attacker.example")]).status
        400
        """
        values: dict[bytes, str] = {}
        for name, value in headers:
            if name in _CHECKED_HEADERS:
                if name in _ONCE and name in values:
                    return OriginRefusal(
                        400, "foreign_host", f"`{name.decode()}` stands in this request twice; say it once"
                    )
                values[name] = value.decode("latin-1")
        visit = values.get(b"sec-fetch-mode") == "navigate" and values.get(b"sec-fetch-dest") == "document"
        return self.refusal(
            method,
            host=values.get(b"host", ""),
            origin=values.get(b"origin"),
            kind=values.get(b"content-type"),
            site=values.get(b"sec-fetch-site"),
            visit=visit and method == "GET" and not path.startswith(_NEVER_A_PAGE),
            scheme=scheme,
        )

    def refusal(
        self,
        method: str,
        *,
        host: str,
        origin: str | None,
        kind: str | None,
        site: str | None = None,
        visit: bool = False,
        scheme: str | None = None,
    ) -> OriginRefusal | None:
        """Return why a request is refused; None if it is allowed.

        `site` is whose page a browser says it comes from, `visit` whether a person goes to a page of ours by it,
        `scheme` what the server is reached by, where that is known.
        """
        if not self._known(host):
            return OriginRefusal(
                403,
                "foreign_host",
                f"{host[:100]!r} is no name of this server; ask for localhost, or list the name in `[server] hosts`",
            )
        if origin is not None and origin not in self.origins and not _is_same_origin(origin, host, scheme):
            return OriginRefusal(
                403,
                "foreign_origin",
                f"the page {origin[:90]!r} may not speak here; list it in `[server] origins` or make a token",
            )
        if site in ("cross-site", "same-site") and not visit and origin not in self.origins:
            return OriginRefusal(
                403,
                "foreign_site",
                "a page of another site may not ask for this; open the address itself, or make a token",
            )
        if method == "POST" and kind is not None and kind.partition(";")[0].strip().lower() in SIMPLE_TYPES:
            return OriginRefusal(
                415,
                "unsafe_media_type",
                f"without tokens no body of the type {kind[:60]!r} is taken: any web page could send one; send JSON",
            )
        return None

    def _known(self, host: str) -> bool:
        name = host_name(host)
        return name in _HERE or name in self.hosts or "*" in self.hosts or _is_loopback(name)


def _is_same_origin(origin: str, host: str, scheme: str | None) -> bool:
    by, _, name = origin.partition("://")
    return name.lower() == host.lower() and (scheme is None or by.lower() == _PAGES.get(scheme, scheme))


def _is_loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


@lru_cache(maxsize=256)
def host_name(host: str) -> str:
    """Return a `Host` without its port; anything that is not a host and a port stays as it is.

    >>> host_name("[::1]:8787"), host_name("localhost:80"), host_name("127.0.0.1")
    ('::1', 'localhost', '127.0.0.1')
    >>> host_name("[::1].attacker.example")
    '[::1].attacker.example'
    """
    match = _HOST.fullmatch(host)
    return (host if match is None else match[1] or match[2]).lower()
