"""Matching before the commit: events and their deliveries reach the disk together, with one sync instead of three.

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
    """What the writer asks before it commits; `make` makes the commit of an outcome, `ready` says if it may ask."""

    def __init__(
        self, tenants: Mapping[int, Tenant], clock: Callable[[], int], make: MakeCommit, ready: Callable[[], bool]
    ) -> None:
        self._tenants = tenants
        self._clock = clock
        self._make = make
        self._ready = ready

    def gains_from(self, entries: Iterable[Entry], other: Commit) -> bool:
        """Whether more of these could be matched before their commit if another commit went first."""
        if not isinstance(other, BatchCommit):
            return False
        return any(not tenant.caught_up and other.catches_up(tenant) for tenant in self._served(list(entries)))

    def match(self, entries: list[Entry]) -> BatchCommit | None:
        """What new events lead to, for the tenants where that is known before they are committed."""
        if len(entries) > FORESEEN or not self._ready():
            return None
        served = self._served(entries)
        if len(entries) > MATCH_ENTRIES and sum(len(own) * t.matches for t, own in served.items()) > FEW * len(entries):
            return None
        ready = {t: own for t, own in served.items() if t.caught_up and t.matchers.acquire(blocking=False)}
        if not ready:
            return None
        outcome, dealt = CommitBatch(), {tenant: tenant.next_number for tenant in ready}
        commit = self._make(outcome, dealt)
        try:
            for tenant, own in ready.items():
                match_events(tenant, own, outcome, lambda position: None)
                outcome.positions[tenant] = own[-1].position
            outcome.arrival = entries[0].arrival
            outcome.apply_policies(self._clock())
        except Exception:
            _log.exception("events could not be matched before their commit; they are after it")
            commit.undo(None)
            return None
        return commit

    def _served(self, entries: Sequence[Entry]) -> dict[Tenant, Sequence[Entry]]:
        """The tenants, with their entries, for which that would do if they were caught up."""
        found = ((self._tenants.get(number), own) for number, own in by_tenant(entries).items())
        return {
            tenant: own
            for tenant, own in found
            if tenant is not None and _simple(tenant) and all(entry.kind == EVENT for entry in own)
        }


def _simple(tenant: Tenant) -> bool:
    """Whether matching an event changes nothing that would have to be changed back, and takes no time to speak of."""
    if tenant.stateless.interpretation.annotations.current().relaxed:
        return False
    return not tenant.stateful and not tenant.ending and tenant.stateless.kinds <= {"exact"}
