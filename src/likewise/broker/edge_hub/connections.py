"""The connections of edges: which edges are known and connected, and what each reported last."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, Protocol

import msgspec

from likewise.api.edge_frames import EdgeStatus, HealthFrame, UplinkStatus
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
    """Return the name of an edge as a route of sources.

    >>> edge_route("barn")
    'edge barn'
    """
    return f"edge {edge}"


MOST_READINGS: Final = 10_000  # sources whose last reading is remembered of an edge


class UplinkControl(Protocol):
    """The uplink of a broker at the edge, as requests see it."""

    def status(self) -> UplinkStatus:
        """Return where it connects, and how its connection stands."""
        ...

    async def switch(self, upstream: str | None, token: str | None = None) -> UplinkStatus:
        """Connect to another broker, or (None) to none."""
        ...


class EdgeConnection:
    """A connected edge: what it reported, and the traffic. `close` ends it for a newer connection."""

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

    def report(self, health: HealthFrame) -> None:
        """Take a sign of life; of the sources whose readings it named so far, those read last are remembered."""
        self.health = health
        self.readings |= health.sources
        if len(self.readings) > MOST_READINGS:
            newest = sorted(self.readings.items(), key=lambda each: each[1])[-MOST_READINGS:]
            self.readings = dict(newest)


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
        self.uplink: UplinkControl | None = None  # of a broker at the edge
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
        """Return the demand of a tenant's edges."""
        demands = self._demands.get(tenant.number)
        if demands is None:
            made = EdgeDemands(tenant, self._profile, self._texts, tenant.decides)
            demands = self._demands.setdefault(tenant.number, made)
        return demands

    def take(self, entries: list[Entry]) -> None:
        """Take in new entries that are on disk."""
        brought: dict[tuple[int, str], set[str]] = {}
        for entry in entries:
            if entry.hops and entry.kind == EVENT and entry.source:
                brought.setdefault((entry.tenant, entry.hops[-1]), set()).add(entry.source)
        for (number, edge), sources in brought.items():
            self._reach.note(number, edge_route(edge), sources)
        for demands in list(self._demands.values()):
            demands.take(entries)
        if self.connected:
            withdrawn = [
                (e.tenant, e.value.event) for e in entries if e.kind == COMMAND and isinstance(e.value, WithdrawCommand)
            ]
            if withdrawn:
                for (tenant, _), line in list(self.connected.items()):
                    line.withdrawn += [event for owner, event in withdrawn if owner == tenant]
                    line.wake()

    # -- lines ------------------------------------------------------------------------------------

    def start_open(self, tenant: Tenant, edge: str, epoch: str, done: Done) -> None:
        """Open the connection record of an edge; call `done` with its row."""
        now = self._clock()
        self._log.write(lambda tables: open_edge(tables, tenant.number, edge, epoch, now), done)

    def connect(self, tenant: Tenant, line: EdgeConnection) -> None:
        """Register a connected edge; fencing closes an older connection of the same name."""
        older = self.connected.get((tenant.number, line.edge))
        self.connected[tenant.number, line.edge] = line
        self._last.pop((tenant.number, line.edge), None)
        self._reach.up(tenant, edge_route(line.edge))
        if older is not None:
            older.close()

    def disconnect(self, tenant: Tenant, line: EdgeConnection) -> None:
        """Unregister a connection."""
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
        """Return the subscriber that stands for an edge."""
        return subscriber_of(edge)

    def below(self, tenant: Tenant) -> tuple[str, ...]:
        """Return the connected edges, and those below them."""
        edges: dict[str, None] = {}
        for (number, edge), line in list(self.connected.items()):
            if number == tenant.number:
                edges.update(dict.fromkeys((edge, *line.health.below)))
        return tuple(edges)

    def shown(self, tenant: Tenant) -> list[EdgeStatus]:
        """Return the status of every edge of a tenant."""
        with self._log.reading() as tables:
            rows = read_edges(tables, tenant.number)
        return [self._shown(tenant, row) for row in rows]

    def one_shown(self, tenant: Tenant, edge: str) -> EdgeStatus:
        """Return the status of one edge."""
        matching = [each for each in self.shown(tenant) if each.id == edge]
        if not matching:
            raise UnknownId(edge, remedy="no edge of this name has ever connected")
        return matching[0]

    def _shown(self, tenant: Tenant, row: EdgeRow) -> EdgeStatus:
        """Return an edge's status; of a disconnected one as it last reported since this broker's start."""
        queue = tenant.subscribers.get(subscriber_of(row.id))
        subscriptions, queued = (0, 0) if queue is None else (len(queue.subscriptions), len(queue))
        shown = EdgeStatus(
            row.id, "away", row.epoch, row.sequence, row.known.added, subscriptions=subscriptions, queued=queued
        )
        line = self.connected.get((tenant.number, row.id))
        latest = line or self._last.get((tenant.number, row.id))
        if latest is None:
            return shown
        health = latest.health
        shown = msgspec.structs.replace(
            shown,
            seen=latest.last_seen,
            waiting=health.waiting,
            waiting_bytes=health.bytes,
            oldest=health.oldest,
            dropped=health.dropped,
            policy=health.policy,
            forwarded=health.forwarded,
            passed_over=health.passed_over,
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
            below=health.below,
        )
