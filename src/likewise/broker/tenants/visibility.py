"""Track which sources are visible: their bridge or edge is up, and they are not switched off.

An outage of ours is no absence, and a bridge or an edge is one of us. Whoever brings events says which sources it
brings, and when it is up and down. Before time moves, what alerts excuse is compared with that, and what differs is
written to the log, so that a replay does the same.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from likewise.broker.log.entries import Command, RouteCommand, SuspendAbsenceCommand
from likewise.broker.tenants.tenant import Tenant
from likewise.model.alerts.notification import Why

TOGETHER: Final = 1_000  # sources that one command names
Append = Callable[[Tenant, Command], None]


class SourceVisibility:
    """Which routes of sources are up. Any thread reports; the matching thread calls `look`."""

    def __init__(self, append: Append, resting: Callable[[Tenant], set[str]] = lambda tenant: set()) -> None:
        self._append = append
        self._resting = resting
        self._up: dict[tuple[int, str], bool] = {}
        self._pending: dict[tuple[int, str], set[str]] = {}  # what was written and is not applied yet
        self._noted: list[tuple[int, str, set[str]]] = []  # brought, and not looked at yet
        self._lock = threading.Lock()

    def up(self, tenant: Tenant, bringer: str) -> None:
        """Record that a route is up: silence of its sources counts."""
        self._up[tenant.number, bringer] = True

    def down(self, tenant: Tenant, bringer: str) -> None:
        """Record that a route is down, or was not up since the start: silence of its sources does not count."""
        self._up[tenant.number, bringer] = False

    def removed(self, tenant: Tenant, bringer: str) -> None:
        """Remove a route for good: silence of its sources counts."""
        self._up.pop((tenant.number, bringer), None)

    def record_route(self, tenant: Tenant, bringer: str, sources: Iterable[str | None]) -> None:
        """Record the sources of a route; new ones are written to the log."""
        known = tenant.sources.routes
        new = {source for source in sources if source and known.get(source) != bringer}
        if not new:
            return
        with self._lock:
            pending = self._pending.setdefault((tenant.number, bringer), set())
            pending -= {source for source in pending if known.get(source) == bringer}
            new -= pending
            pending |= new
        for part in _parts(new):
            self._append(tenant, RouteCommand(bringer, part))

    def note(self, tenant: int, bringer: str, sources: set[str]) -> None:
        """Record the sources like `brings`, on a thread that must not write; the next `look` writes them."""
        with self._lock:
            self._noted.append((tenant, bringer, sources))

    def _apply_notes(self, tenant: Tenant) -> None:
        with self._lock:
            notes = [each for each in self._noted if each[0] == tenant.number]
            self._noted = [each for each in self._noted if each[0] != tenant.number]
        for _, bringer, sources in notes:
            self.record_route(tenant, bringer, sources)

    def update_absence(self, tenant: Tenant) -> None:
        """Let alerts excuse who cannot be heard, and nobody else."""
        self._apply_notes(tenant)
        if not len(tenant.alerts):
            return
        down = {bringer for (number, bringer), up in list(self._up.items()) if number == tenant.number and not up}
        unreachable = {s for s, bringer in list(tenant.sources.routes.items()) if bringer in down} if down else set()
        self._compare(tenant, "unreachable", unreachable)
        self._compare(tenant, "resting", self._resting(tenant))

    def _compare(self, tenant: Tenant, why: Why, sources: set[str]) -> None:
        excused = tenant.alerts.absence_suspended(why)
        for part in _parts(sources - excused):
            self._append(tenant, SuspendAbsenceCommand(part, why))
        for part in _parts(excused - sources):
            self._append(tenant, SuspendAbsenceCommand(part, why, ends=True))


def _parts(sources: set[str]) -> Iterator[tuple[str, ...]]:
    listed = sorted(sources)
    for start in range(0, len(listed), TOGETHER):
        yield tuple(listed[start : start + TOGETHER])
