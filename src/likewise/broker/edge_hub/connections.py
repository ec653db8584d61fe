"""Who stands at the edge: which edges are known, who is connected, and what each last said."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from likewise.api.edge_frames import EdgeStatus, HealthFrame
from likewise.broker.edge_hub.demands import EdgeDemands, UpstreamDemand
from likewise.broker.edge_hub.identities import subscriber_of
from likewise.broker.log.edges.connections import EdgeRow, open_edge, read_edges, remove_edge
from likewise.broker.log.entries import COMMAND, EVENT, Entry, WithdrawCommand
from likewise.broker.log.event_log import Done, EventLog, StoreTables
from likewise.broker.tenants.tenant import Tenant
from likewise.broker.tenants.visibility import SourceVisibility
from likewise.errors import UnknownId
from likewise.matching.registry import Profile


def edge_route(edge: str) -> str:
    """What an edge is called among those who bring sources.

    >>> edge_route("barn")
    'edge barn'
    """
    return f"edge {edge}"


class EdgeConnection:
    """An edge that is connected: what it said, and what passed the line. `close` ends it for a newer one."""

    def __init__(self, edge: str, address: str, since: int, close: Callable[[], None]) -> None:
        self.edge = edge
        self.address = address
        self.since = since
        self.close = close
        self.health = HealthFrame()
        self.readings: dict[str, int] = {}
        self.sources: set[str] = set()  # that it announced
        self.last_seen = since
        self.demand = ""  # the version that it goes by
        self.filters = 0
        self.received = 0
        self.sent = 0
        self.refused = 0
        self.withdrawn: list[int] = []  # events that were taken back since it was last told
        self.wake: Callable[[], None] = lambda: None


class EdgeConnections:
    """The edges of every tenant.

    `here` is what this broker is called if it is an edge itself, `above` what it is asked for then.
    Changed on the loop that serves connections; `take` is called on the writer's thread.
    """

    def __init__(
        self,
        log: EventLog,
        clock: Callable[[], int],
        profile: Profile,
        texts: Callable[[Tenant, str], Iterable[str]],
        reach: SourceVisibility,
        tenants: Iterable[Tenant] = (),
    ) -> None:
        self.here = ""
        self.above: UpstreamDemand | None = None
        self.connected: dict[tuple[int, str], EdgeConnection] = {}
        self._last: dict[tuple[int, str], EdgeConnection] = {}  # what those said last who are away
        self._log = log
        self._clock = clock
        self._profile: Profile = profile
        self._texts = texts
        self._demands: dict[int, EdgeDemands] = {}
        self._reach = reach
        for tenant in tenants:  # whoever is known has not come back yet
            with log.reading() as tables:
                for row in read_edges(tables, tenant.number):
                    reach.down(tenant, edge_route(row.id))

    def demands(self, tenant: Tenant) -> EdgeDemands:
        """What the edges of a tenant are asked for."""
        found = self._demands.get(tenant.number)
        if found is None:
            made = EdgeDemands(tenant, self._profile, self._texts, tenant.decides)
            found = self._demands.setdefault(tenant.number, made)
        return found

    def take(self, entries: list[Entry]) -> None:
        """New entries are on disk."""
        brought: dict[tuple[int, str], set[str]] = {}
        for entry in entries:
            if entry.hops and entry.kind == EVENT and entry.source:
                brought.setdefault((entry.tenant, entry.hops[-1]), set()).add(entry.source)
        for (number, edge), sources in brought.items():
            self._reach.note(number, edge_route(edge), sources)
        for demands in list(self._demands.values()):
            demands.take(entries)
        if self.connected:
            gone = [
                (e.tenant, e.value.event) for e in entries if e.kind == COMMAND and isinstance(e.value, WithdrawCommand)
            ]
            if gone:
                for (tenant, _), line in list(self.connected.items()):
                    line.withdrawn += [event for owner, event in gone if owner == tenant]
                    line.wake()

    # -- lines ------------------------------------------------------------------------------------

    def start_open(self, tenant: Tenant, edge: str, epoch: str, done: Done) -> None:
        """The line of an edge, kept from now on; `done` is told its row."""
        now = self._clock()
        self._log.write(lambda tables: open_edge(tables, tenant.number, edge, epoch, now), done)

    def connect(self, tenant: Tenant, line: EdgeConnection) -> None:
        """An edge is connected; an older connection of the same name ends."""
        older = self.connected.get((tenant.number, line.edge))
        self.connected[tenant.number, line.edge] = line
        self._last.pop((tenant.number, line.edge), None)
        self._reach.up(tenant, edge_route(line.edge))
        if older is not None:
            older.close()

    def disconnect(self, tenant: Tenant, line: EdgeConnection) -> None:
        """A connection is over."""
        if self.connected.get((tenant.number, line.edge)) is line:
            del self.connected[tenant.number, line.edge]
            self._last[tenant.number, line.edge] = line
            self._reach.down(tenant, edge_route(line.edge))

    def start_remove(self, tenant: Tenant, edge: str, done: Done) -> None:
        """Forget an edge that is not connected, or let go of it; its numbers begin anew if it comes again."""
        connected = self.connected.get((tenant.number, edge))
        if connected is not None:
            connected.close()
        self._last.pop((tenant.number, edge), None)
        self.demands(tenant).forget(edge)
        self._reach.removed(tenant, edge_route(edge))

        def work(tables: StoreTables) -> None:
            if not remove_edge(tables, tenant.number, edge):
                raise UnknownId(edge)

        self._log.write(work, done)

    def subscriber(self, edge: str) -> str:
        """What an edge is called as a subscriber."""
        return subscriber_of(edge)

    def below(self, tenant: Tenant) -> tuple[str, ...]:
        """The edges that are connected, and those below them."""
        found: dict[str, None] = {}
        for (number, edge), line in list(self.connected.items()):
            if number == tenant.number:
                found.update(dict.fromkeys((edge, *line.health.below)))
        return tuple(found)

    def shown(self, tenant: Tenant) -> list[EdgeStatus]:
        """Every edge of a tenant as it is shown."""
        with self._log.reading() as tables:
            rows = read_edges(tables, tenant.number)
        return [self._shown(tenant, row) for row in rows]

    def one_shown(self, tenant: Tenant, edge: str) -> EdgeStatus:
        """One edge as it is shown."""
        found = [each for each in self.shown(tenant) if each.id == edge]
        if not found:
            raise UnknownId(edge, remedy="no edge of this name has ever connected")
        return found[0]

    def _shown(self, tenant: Tenant, row: EdgeRow) -> EdgeStatus:
        """Of one that is away: when it was heard last, and what it said then, if that was since this broker runs."""
        queue = tenant.subscribers.get(subscriber_of(row.id))
        held, queued = (0, 0) if queue is None else (len(queue.subscriptions), len(queue))
        shown = EdgeStatus(row.id, "away", row.epoch, row.sequence, row.known.added, subscriptions=held, queued=queued)
        line = self.connected.get((tenant.number, row.id))
        heard = line or self._last.get((tenant.number, row.id))
        if heard is None:
            return shown
        said = heard.health
        shown = msgspec.structs.replace(
            shown,
            seen=heard.last_seen,
            waiting=said.waiting,
            waiting_bytes=said.bytes,
            oldest=said.oldest,
            dropped=said.dropped,
            policy=said.policy,
            forwarded=said.forwarded,
            passed_over=said.passed_over,
        )
        if line is None:
            return shown
        return msgspec.structs.replace(
            shown,
            state="connected",
            since=line.since,
            address=line.address,
            demand=line.demand,
            filters=line.filters,
            sources=len(line.sources),
            bytes_received=line.received,
            bytes_sent=line.sent,
            refused=line.refused,
            readings=dict(line.readings),
            below=said.below,
        )
