"""Tokens: who may do what for which tenant. Only their hashes are kept.

A token is 256 random bits, so a plain SHA-256 is enough to keep it: there is nothing to guess.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from typing import Final, NamedTuple

from likewise.broker.store.checksums import text_checksum
from likewise.broker.store.rows import TOKEN, token_row
from likewise.broker.store.tables import Tables
from likewise.errors import InputError, NotAllowed, NotAuthenticated, UnknownId

SCOPES: Final = ("publish", "subscribe", "admin")
PREFIX: Final = "lw_"
CLOSED: Final = "closed"  # what stands in the place of a digest once the last token is gone: no token has it


class Access(NamedTuple):
    """What a caller may do."""

    tenant: str
    scopes: frozenset[str]
    name: str = ""

    def require(self, scope: str) -> None:
        """Refuse a caller without the scope; `admin` covers the others.

        >>> Access("default", frozenset({"publish"})).require("subscribe")
        Traceback (most recent call last):
        likewise.errors.NotAllowed: this needs a token with the scope 'subscribe'; ask who runs the broker for one
        """
        if scope not in self.scopes and "admin" not in self.scopes:
            raise NotAllowed(scope)


def digest(token: str) -> str:
    """What is kept of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def make_token(tables: Tables, name: str, tenant: str, scopes: Iterable[str], now: int) -> str:
    """A new token; this is the only time it can be seen."""
    wanted = tuple(scopes)
    for scope in wanted:
        if scope not in SCOPES:
            raise InputError(f"there is no scope {scope!r}; there are {', '.join(SCOPES)}")
    if not wanted or not name.strip() or not tenant.strip():
        raise InputError("a token needs a name, a tenant and at least one scope")
    if tables.row("SELECT 1 FROM tokens WHERE name = ? AND tenant = ?", name, tenant):
        raise InputError(f"a token is named {name!r} already; remove it first or choose another name")
    token = PREFIX + secrets.token_urlsafe(32)
    said = (digest(token), name, tenant, " ".join(wanted))
    tables.change("DELETE FROM tokens WHERE digest = ?", CLOSED)
    tables.change("INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?)", *said, now, text_checksum(said, now))
    return token


def remove_token(tables: Tables, name: str, tenant: str) -> None:
    """Let a tenant's token, by its name, open nothing any more. After the last one the door stays shut."""
    if not tables.change("DELETE FROM tokens WHERE name = ? AND tenant = ?", name, tenant):
        raise UnknownId(name)
    if tables.row("SELECT 1 FROM tokens") is None:
        shut = (CLOSED, "", "", "")
        tables.change("INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?)", *shut, 0, text_checksum(shut, 0))


def listed_tokens(tables: Tables) -> list[tuple[str, str, str]]:
    """Each token's name, tenant and scopes."""
    rows = tables.rows(f"SELECT {TOKEN} FROM tokens ORDER BY made, name")
    return [token_row(row)[1:] for row in rows if row[0] != CLOSED]


class Doorkeeper:
    """Knows the tokens in force. Where there never was one, everyone may do everything for one tenant."""

    def __init__(self, everyone: str) -> None:
        self._everyone = Access(everyone, frozenset(SCOPES))
        self._known: dict[str, Access] = {}

    def load(self, tables: Tables) -> None:
        """Read the tokens anew."""
        rows = map(token_row, tables.rows(f"SELECT {TOKEN} FROM tokens"))
        self._known = {key: Access(tenant, frozenset(scopes.split()), name) for key, name, tenant, scopes in rows}

    @property
    def open(self) -> bool:
        """Whether there never was a token."""
        return not self._known

    def admit(self, token: str | None) -> Access:
        """What the bearer of a token may do."""
        if not self._known:
            return self._everyone
        # Looking a hash up leaks nothing about the token: who can make hashes collide has the token already.
        found = self._known.get(digest(token)) if token else None
        if found is None:
            raise NotAuthenticated(
                "a token is needed: send `Authorization: Bearer ...` with one that is known here; "
                "if none is left, make one on the command line: likewise admin token"
            )
        return found
