"""Retention limits: the events and commands of the log that nobody needs any more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from likewise.broker.log.event_log import EventLog
from likewise.broker.log.log_entries import RemovalLimits, expired_between, newly_expired
from likewise.broker.retention_clock import RetentionTimes
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import DEDUPLICATION_SPAN

PAGE: Final = 2_000  # ends read at once
PAGES: Final = 20  # of a tenant in one turn; what is left has its turn next


def unneeded(tenant: Tenant, now: int, *, replayed: bool = True) -> RemovalLimits:
    """Return what neither matching, nor windows of time, nor their replay need.

    Windows of the last n events, and those without an end, retain events that time alone never evicts: `WindowExpiry`
    withdraws them first.

    An event stays known for `DEDUPLICATION_SPAN` after its arrival, so that publishing it again is noticed.
    """
    matched = tenant.matched
    before = matched + 1
    if replayed and tenant.windows_from is not None:  # what is in memory alone is never replayed
        before = min(before, tenant.windows_from)
    arrived = now - DEDUPLICATION_SPAN
    arrived = min(arrived, now - tenant.window_length)
    return RemovalLimits(tenant.number, before, arrived)


class _ExpiryCursor(NamedTuple):
    """The end and position up to which events were checked, and the position matched by then."""

    ends: int = -1
    position: int = 0
    matched: int = 0


class WindowExpiry:
    """Withdraw expired events from windows that time alone never evicts them from; calls `withdraw` once for each.

    A window of the last n events, or one without an end, would retain an event for good. So ends are read in their
    order, each event once, and its withdrawal is written to the log: a replay does the same at the same position.
    """

    def __init__(self, log: EventLog, withdraw: Callable[[Tenant, int], None]) -> None:
        self._log = log
        self._withdraw = withdraw
        self._cursors: dict[int, _ExpiryCursor] = {}
        self._again: set[int] = set()  # tenants of whom something could not be written
        self._deferred: dict[int, dict[int, int]] = {}  # by tenant: positions and ends of what is not over yet

    def look_again(self, tenant: Tenant) -> None:
        """Look at everything of a tenant that is over once more: withdrawing something failed. From any thread."""
        self._again.add(tenant.number)

    def look(self, tenant: Tenant, times: RetentionTimes) -> None:
        """Withdraw what has come to its end since the last look; what was stored before a step of the clock, later."""
        now = times.now
        if tenant.number in self._again:
            self._again.discard(tenant.number)
            self._cursors.pop(tenant.number, None)
            self._deferred.pop(tenant.number, None)
        if not len(tenant.windows):
            return
        cursor, matched = self._cursors.get(tenant.number, _ExpiryCursor()), tenant.matched
        if cursor.ends > now:  # the clock went back
            cursor = cursor._replace(ends=now, position=0)
        deferred = self._deferred.pop(tenant.number, {})
        expired: list[int] = [position for position, ends in deferred.items() if ends <= times(position)]
        later = {position: ends for position, ends in deferred.items() if ends > times(position)}
        with self._log.reading() as tables:
            if cursor.ends >= 0:  # what was matched since may have been over before
                page = expired_between(tables, tenant.number, cursor.matched, matched, cursor.ends)
                expired += _sort_out(page, times, later)
            for _ in range(PAGES):
                page = newly_expired(tables, tenant.number, (cursor.ends, cursor.position), now, matched, PAGE)
                expired += _sort_out(page, times, later)
                if len(page) < PAGE:
                    cursor = _ExpiryCursor(now, matched, matched)
                    break
                cursor = _ExpiryCursor(*page[-1], matched)
        with tenant.matchers:
            in_windows = [position for position in expired if tenant.windows.holds_for_long(position)]
            later = {position: ends for position, ends in later.items() if tenant.windows.holds_for_long(position)}
        if later:
            self._deferred[tenant.number] = later
        for position in in_windows:
            self._withdraw(tenant, position)
        self._cursors[tenant.number] = cursor


def _sort_out(page: list[tuple[int, int]], times: RetentionTimes, later: dict[int, int]) -> list[int]:
    """Return the positions that expired; those delayed by a step of the clock go to `later`."""
    expired = []
    for ends, position in page:
        if ends <= times(position):
            expired.append(position)
        else:
            later[position] = ends
    return expired
