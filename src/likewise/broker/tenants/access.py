"""Access control: tokens, and what their scopes allow."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from likewise.broker.log.tables import StoreTables
from likewise.broker.log.tokens import SCOPES, digest, read_tokens
from likewise.errors import NotAllowed, NotAuthenticated, UnknownId


class Access(NamedTuple):
    """The permissions of a caller: a tenant, and scopes, some of them bound to a source or a subscriber.

    >>> roof = Access("default", frozenset({"publish:/roof/"}))
    >>> roof.require("publish"), roof.require_source("/roof/3")
    (None, None)
    >>> roof.require_source("/cellar")
    Traceback (most recent call last):
    likewise.errors.NotAllowed: this needs a token with the scope 'publish:/cellar'; ask who runs the broker for one
    """

    tenant: str
    scopes: frozenset[str]
    name: str = ""
    expires: int | None = None

    def require(self, scope: str) -> None:
        """Refuse a caller without the scope, bound or not; `admin` covers the others.

        >>> Access("default", frozenset({"publish"})).require("subscribe")
        Traceback (most recent call last):
        likewise.errors.NotAllowed: this needs a token with the scope 'subscribe'; ask who runs the broker for one
        """
        if not self.free(scope) and not self.bound(scope):
            raise NotAllowed(scope)

    def free(self, scope: str) -> bool:
        """Return whether it has a scope that is not bound to a name."""
        return scope in self.scopes or ("admin" in self.scopes and scope != "metrics")

    def bound(self, scope: str) -> tuple[str, ...]:
        """Return the names a scope is bound to, in order."""
        return tuple(sorted(s.partition(":")[2] for s in self.scopes if s.startswith(f"{scope}:")))

    def require_free(self, scope: str) -> None:
        """Refuse who has the scope for a name alone: what is asked for shows others, too."""
        if not self.free(scope):
            raise NotAllowed(scope)

    def covers(self, source: str) -> bool:
        """Return whether a source begins like one that the caller is bound to."""
        return any(source.startswith(prefix) for prefix in self.bound("publish"))

    def require_source(self, source: str) -> None:
        """Refuse events of a source that is not the caller's."""
        if not self.free("publish") and not self.covers(source):
            raise NotAllowed(f"publish:{source}")

    def require_edge(self, id: str) -> None:
        """Refuse to be a broker at the edge of this name."""
        if not self.free("edge") and id not in self.bound("edge"):
            raise NotAllowed(f"edge:{id}")

    def owns(self, subscriber: str) -> bool:
        """Return whether a caller may see a subscriber."""
        return self.free("subscribe") or subscriber in self.bound("subscribe")

    def require_subscriber(self, id: str) -> None:
        """Refuse what belongs to a subscriber that is not the caller's."""
        if not self.owns(id):
            raise NotAllowed(f"subscribe:{id}")

    def require_withdrawing(self, id: str, source: str) -> None:
        """Refuse to take back an event of a source that the caller is not bound to: only `admin` takes back any.

        Who is bound to another source is not told that the event is there.
        """
        if "admin" in self.scopes or self.covers(source):
            return
        if self.free("publish"):
            raise NotAllowed(f"publish:{source}" if source else "admin")
        raise UnknownId(id)


class AccessControl:
    """Authenticates tokens. While there never was one, everyone may do everything for one tenant."""

    def __init__(self, everyone: str, clock: Callable[[], int]) -> None:
        self._anonymous = Access(everyone, frozenset(SCOPES))
        self._clock = clock
        self._known: dict[str, Access] = {}

    def load(self, tables: StoreTables) -> None:
        """Read the tokens anew."""
        self._known = {
            key: Access(token.tenant, frozenset(token.scopes), token.name, token.expires)
            for key, token in read_tokens(tables).items()
        }

    @property
    def open(self) -> bool:
        """Return whether there never was a token."""
        return not self._known

    def admit(self, token: str | None) -> Access:
        """Authenticate a token and return its permissions."""
        if not self._known:
            return self._anonymous
        # Looking a hash up leaks nothing about the token: who can make hashes collide has the token already.
        access = self._known.get(digest(token)) if token else None
        if access is None:
            raise NotAuthenticated(
                "a token is needed: send `Authorization: Bearer ...` with one that is known here; "
                "if none is left, make one on the command line: likewise admin token"
            )
        if access.expires is not None and access.expires <= self._clock():
            raise NotAuthenticated(f"the token {access.name!r} is over; ask who runs the broker for another")
        return access
