"""Match before the commit: events and their deliveries reach the disk with one sync instead of three.

The writer asks here, inside its transaction, what its new events lead to. That is done only where it is quick and
where nothing has to be taken back if the commit fails: everything of the tenant before these events is matched and
stored, and it holds exact subscriptions without windows and without an end of their own. Whatever else comes is
matched by the worker after the commit, as ever. Either way a delivery is stored before it is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import structlog

from likewise.broker.dispatch.commit_batch import CommitBatch
from likewise.broker.dispatch.commit_writer import BatchCommit
from likewise.broker.dispatch.match_events import match_events
from likewise.broker.log.commits import Commit
from likewise.broker.log.entries import EVENT, Entry, by_tenant
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import MATCH_ENTRIES

_log = structlog.get_logger("likewise.matching")
FORESEEN: Final = 2 * MATCH_ENTRIES  # entries that are matched before their commit, at most
FEW: Final = 16  # matches of an event, up to which more than `MATCH_ENTRIES` are
MakeCommit = Callable[[CommitBatch, dict[Tenant, int]], BatchCommit]


class MatchBeforeCommit:
    """Matches events inside the writer's transaction; `make` wraps a batch as a commit, `ready` says if it may."""

    def __init__(
        self, tenants: Mapping[int, Tenant], clock: Callable[[], int], make: MakeCommit, ready: Callable[[], bool]
    ) -> None:
        self._tenants = tenants
        self._clock = clock
        self._make = make
        self._ready = ready

    def gains_from(self, entries: Iterable[Entry], other: Commit) -> bool:
        """Return whether committing `other` first would let more of these entries be matched before their commit."""
        if not isinstance(other, BatchCommit):
            return False
        return any(not tenant.caught_up and other.catches_up(tenant) for tenant in self._served(list(entries)))

    def match(self, entries: list[Entry]) -> BatchCommit | None:
        """Match new events of the tenants for which that is possible before the commit."""
        if len(entries) > FORESEEN or not self._ready():
            return None
        served = self._served(entries)
        if len(entries) > MATCH_ENTRIES and sum(
            len(tenant_entries) * t.matches for t, tenant_entries in served.items()
        ) > FEW * len(entries):
            return None
        ready = {
            t: tenant_entries
            for t, tenant_entries in served.items()
            if t.caught_up and t.matchers.acquire(blocking=False)
        }
        if not ready:
            return None
        outcome, dealt = CommitBatch(), {tenant: tenant.next_number for tenant in ready}
        commit = self._make(outcome, dealt)
        try:
            for tenant, tenant_entries in ready.items():
                match_events(tenant, tenant_entries, outcome, lambda position: None)
                outcome.positions[tenant] = tenant_entries[-1].position
            outcome.arrival = entries[0].arrival
            outcome.apply_policies(self._clock())
        except Exception:
            _log.exception("match_before_commit_failed")
            commit.undo(None)
            return None
        return commit

    def _served(self, entries: Sequence[Entry]) -> dict[Tenant, Sequence[Entry]]:
        """Return the tenants, with their entries, whose events can be matched before the commit once caught up."""
        candidates = (
            (self._tenants.get(number), tenant_entries) for number, tenant_entries in by_tenant(entries).items()
        )
        return {
            tenant: tenant_entries
            for tenant, tenant_entries in candidates
            if tenant is not None and _simple(tenant) and all(entry.kind == EVENT for entry in tenant_entries)
        }


def _simple(tenant: Tenant) -> bool:
    """Return whether matching an event changes no state that would have to be rolled back, and is fast."""
    if tenant.initial_passes or tenant.stateless.interpretation.annotations.current().relaxed:
        return False
    return not tenant.stateful and not tenant.ending and tenant.stateless.kinds <= {"exact"}
