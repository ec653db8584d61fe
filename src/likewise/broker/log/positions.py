"""The position of each follower of the log, for each tenant.

A follower writes its position in the commit that writes what it did with the entries up to there, so that after a
crash it repeats what was not stored, and nothing else. Matching is the first follower.
"""

from __future__ import annotations

from collections.abc import Mapping

from likewise.broker.log.checksums import text_checksum
from likewise.broker.log.rows import FOLLOWER, follower_row
from likewise.broker.log.tables import StoreTables


def start_at(tables: StoreTables, follower: str, tenant: int, position: int = 0) -> None:
    """Let a follower begin after a position of a tenant's entries."""
    sql = "INSERT INTO followers VALUES (?1, ?2, ?3, ~?3, ?4)"
    tables.change(sql, follower, tenant, position, text_checksum((follower,), tenant))


def advance(tables: StoreTables, follower: str, positions: Mapping[int, int]) -> None:
    """Write down the position a follower has come to for some tenants; it never goes back."""
    tables.change_all(
        "UPDATE followers SET position = max(position, ?1), guard = ~max(position, ?1) "
        "WHERE follower = ?2 AND tenant = ?3",
        [(position, follower, tenant) for tenant, position in positions.items()],
    )


def read_positions(tables: StoreTables, follower: str) -> dict[int, int]:
    """Return a follower's position, by tenant."""
    rows = tables.rows(f"SELECT {FOLLOWER} FROM followers")  # all of them: a name that was altered is found
    return {tenant: position for name, tenant, position in map(follower_row, rows) if name == follower}


def put_positions(tables: StoreTables, tenant: int, positions: Mapping[str, int]) -> None:
    """Write down the positions of several followers for a tenant, new ones or known ones; none goes back."""
    tables.change_all(
        "INSERT INTO followers VALUES (?1, ?2, ?3, ~?3, ?4) ON CONFLICT (follower, tenant) DO UPDATE SET "
        "position = max(position, ?3), guard = ~max(position, ?3)",
        [(name, tenant, position, text_checksum((name,), tenant)) for name, position in positions.items()],
    )


def remove_follower(tables: StoreTables, follower: str, tenant: int) -> None:
    """Forget a follower that has come to its end."""
    tables.change("DELETE FROM followers WHERE follower = ? AND tenant = ?", follower, tenant)


def read_every_position(tables: StoreTables) -> list[tuple[str, int, int]]:
    """Return every follower's name, tenant and position."""
    return [follower_row(row) for row in tables.rows(f"SELECT {FOLLOWER} FROM followers")]
