"""Access tokens: scopes, tenant and expiry of each. Only their hashes are stored.

A token is 256 random bits, so a plain SHA-256 is enough to keep it: there is nothing to guess.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from typing import Final, NamedTuple
from urllib.parse import quote, unquote

from likewise.broker.log.checksums import text_checksum
from likewise.broker.log.rows import TOKEN, TokenRow, token_row
from likewise.broker.log.tables import StoreTables
from likewise.defaults import MAX_TERM_LENGTH
from likewise.errors import InputError, LimitExceeded, UnknownId

SCOPES: Final = ("publish", "subscribe", "edge", "admin", "metrics")
# Scopes that may be for one name alone.
BOUND: Final = {
    "publish": "publish:SOURCE",
    "subscribe": "subscribe:NAME",
    "edge": "edge:ID",
}
PREFIX: Final = "lw_"
CLOSED: Final = "closed"  # what stands in the place of a digest once the last token is gone: no token has it
_SHUT: Final = TokenRow(CLOSED, "", "", "")


class AccessToken(NamedTuple):
    """A token as it is listed, without its secret."""

    name: str
    tenant: str
    scopes: tuple[str, ...]
    expires: int | None


def digest(token: str) -> str:
    """Return the hash of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def checked_scope(scope: str) -> str:
    """Check and return a scope, such as `admin`, or `publish:/roof` for one source.

    >>> checked_scope("subscribe:ann")
    'subscribe:ann'
    >>> checked_scope("admin:ann")
    Traceback (most recent call last):
    likewise.errors.InputError: there is no scope 'admin:ann'; there are publish, publish:SOURCE, subscribe, ...
    """
    kind, colon, name = scope.partition(":")
    if kind not in SCOPES or (colon and (kind not in BOUND or not name.strip())):
        known = ", ".join(f"{each}, {BOUND[each]}" if each in BOUND else each for each in SCOPES)
        raise InputError(f"there is no scope {scope[:60]!r}; there are {known}")
    if len(name) > MAX_TERM_LENGTH:
        raise LimitExceeded("characters of a scope", allowed=MAX_TERM_LENGTH, found=len(name))
    return scope


def make_token(
    tables: StoreTables, name: str, tenant: str, scopes: Iterable[str], now: int, expires: int | None = None
) -> str:
    """Make a token and return it; this is the only time it can be seen. It expires at `expires` (µs)."""
    checked = tuple(map(checked_scope, scopes))
    if not checked or not name.strip() or not tenant.strip():
        raise InputError("a token needs a name, a tenant and at least one scope")
    if expires is not None and not now < expires < 2**62:
        raise InputError("the token would be over before it is used; let it expire later than now")
    if tables.row("SELECT 1 FROM tokens WHERE name = ? AND tenant = ?", name, tenant):
        raise InputError(f"a token is named {name!r} already; remove it first or choose another name")
    token = PREFIX + secrets.token_urlsafe(32)
    tables.change("DELETE FROM tokens WHERE digest = ?", CLOSED)
    _insert(tables, TokenRow(digest(token), name, tenant, " ".join(quote(each) for each in checked), expires), now)
    return token


def _insert(tables: StoreTables, row: TokenRow, made: int) -> None:
    tables.change(
        f"INSERT INTO tokens ({TOKEN}) VALUES (?, ?, ?, ?, ?, ?, ?)", *row, made, text_checksum(tuple(row), made)
    )


def remove_token(tables: StoreTables, name: str, tenant: str) -> None:
    """Let a tenant's token, by its name, open nothing any more. After the last one the door stays shut."""
    if not tables.change("DELETE FROM tokens WHERE name = ? AND tenant = ?", name, tenant):
        raise UnknownId(name)
    if tables.row("SELECT 1 FROM tokens") is None:
        _insert(tables, _SHUT, 0)


def read_tokens(tables: StoreTables) -> dict[str, AccessToken]:
    """Return every token by its hash; after the last was removed, a row that keeps the broker closed."""
    rows = map(token_row, tables.rows(f"SELECT {TOKEN} FROM tokens ORDER BY made, name"))
    return {
        row.digest: AccessToken(row.name, row.tenant, tuple(map(unquote, row.scopes.split())), row.expires)
        for row in rows
    }


def listed_tokens(tables: StoreTables) -> list[AccessToken]:
    """Return every token."""
    return [token for key, token in read_tokens(tables).items() if key != CLOSED]
