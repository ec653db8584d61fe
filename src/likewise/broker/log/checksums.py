"""Checksums: every row carries one, and numbers that often change carry a guard.

SQLite keeps no checksums of its pages, so every row carries its own, over every column. What often changes is
guarded by its bits turned over, so that changing it needs no reading of the rest (`likewise.broker.log.schema`).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import Final

from likewise.errors import ArtefactDamaged


def refuse(what: str) -> ArtefactDamaged:
    """Return the error for a row that was altered on disk.

    >>> str(refuse("delivery 7"))
    'delivery 7 was altered on disk; restore a copy'
    """
    return ArtefactDamaged(f"{what} was altered on disk; restore a copy")


def checksum(body: bytes, *numbers: int) -> int:
    """Return a row's checksum: CRC-32 over its numbers and its body.

    >>> checksum(b"a", 1) == checksum(b"a", 2)
    False
    """
    return zlib.crc32(body, zlib.crc32(repr(numbers).encode()))


def altered(stored: object, body: Iterable[object], *numbers: object) -> bool:
    """Return whether a row does not fit its checksum; a value of another type than the written one counts as altered.

    >>> altered(checksum(b"ab", 7), [b"a", b"b"], 7), altered(checksum(b"ab", 7), [b"a", "b"], 7)
    (False, True)
    """
    try:
        return stored != checksum(b"".join(body), *numbers)  # type: ignore[arg-type]
    except TypeError:  # text where bytes were; a number that is none is written otherwise, so its checksum differs
        return True


def text_checksum(texts: tuple[object, ...], *numbers: int) -> int:
    """Return the checksum of a row of texts and numbers.

    >>> text_checksum(("a", "bc"), 1) == text_checksum(("ab", "c"), 1)
    False
    """
    return checksum(repr(texts).encode(errors="surrogatepass"), *numbers)


def number_or_none(number: int | None) -> int:
    """Return a number that stands for None in a checksum.

    >>> number_or_none(None), number_or_none(0)
    (-1, 0)
    """
    return -1 if number is None else number


def guarded(number: object, guard: object) -> bool:
    """Return whether a value is a number whose guard is its bitwise complement.

    >>> guarded(7, -8), guarded(7, -9), guarded("7", -8)
    (True, False, False)
    """
    return type(number) is int and guard == ~number


def tenant_checksum(number: int, name: str, windows_from: int | None) -> int:
    """Return the checksum of what seldom changes of a tenant's row."""
    return text_checksum((name, windows_from), number)


def entry_checksum(position: int, tenant: int, kind: int, arrival: int, ends: int | None, body: bytes) -> int:
    """Return the checksum of an entry of the log; its id and source are in its body."""
    return checksum(body, position, tenant, kind, arrival, number_or_none(ends))


def entry_checksums(rows: Iterable[tuple[int, int, int, int, int | None, bytes]]) -> Iterator[int]:
    """Return the checksums of many entries; the work for neighbours with equal fields is done once.

    >>> list(entry_checksums([(7, 1, 0, 9, None, b"a")])) == [entry_checksum(7, 1, 0, 9, None, b"a")]
    True
    """
    shared: tuple[int, int, int, int | None] | None = None
    rest = b""
    for position, tenant, kind, arrival, ends, body in rows:
        if shared != (fields := (tenant, kind, arrival, ends)):
            shared = fields
            rest = b", %d, %d, %d, %d)" % (tenant, kind, arrival, number_or_none(ends))
        yield zlib.crc32(body, zlib.crc32(rest, zlib.crc32(b"(%d" % position)))


def check_entry(position: int, tenant: int, kind: int, arrival: int, ends: int | None, check: int, body: bytes) -> None:
    """Refuse an entry that was altered."""
    if altered(check, (body,), position, tenant, kind, arrival, number_or_none(ends)):
        raise refuse(f"entry {position} of the log")


def delivery_checksum(
    tenant: int, number: int, event: int, cause: int, recipients: bytes, matched: bytes, scores: bytes
) -> int:
    """Return the checksum of a delivery, equal to `checksum` over all its bytes.

    >>> delivery_checksum(1, 2, 3, 0, b"a", b"b", b"c") == checksum(b"abc", 1, 2, 3, 0)
    True
    """
    check = zlib.crc32(
        matched, zlib.crc32(recipients, zlib.crc32(b"(%d, %d, %d, %d)" % (tenant, number, event, cause)))
    )
    return zlib.crc32(scores, check) if scores else check


def subscriber_checksum(number: int, tenant: int, id: str, policy: str, limit: int) -> int:
    """Return the checksum of what seldom changes of a subscriber's row."""
    return checksum(f"{id} {policy}".encode(), number, tenant, limit)


def subscriber_guard(acknowledged: int, dropped: int) -> int:
    """Return the guard of a subscriber's cursors; `GUARD` is the same in SQL.

    >>> subscriber_guard(7, 0), subscriber_guard(7, 1)
    (-8, -1000011)
    """
    return ~(acknowledged + 1_000_003 * dropped)


GUARD: Final = "~(max(acknowledged, ?1) + 1000003 * (dropped + ?2))"  # acknowledged up to ?1, ?2 more dropped
