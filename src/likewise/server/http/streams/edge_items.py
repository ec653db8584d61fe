"""What an edge sends up, taken in: each item once, on disk before it is acknowledged, refused ones with words."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import structlog

from likewise.api import edge_frames as wire
from likewise.broker.edge_hub.connections import Connected
from likewise.broker.edge_hub.ingest import Taking, with_note
from likewise.broker.log.edges.connections import LineRow, come_to
from likewise.broker.log.entries import Entry, Withdraw, command_entry
from likewise.broker.tenants.access import Access
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import Conflict, FormatError, NotAllowed, RateExceeded, UnknownId
from likewise.server.gateway import Door

_log = structlog.get_logger("likewise.edges")


class EdgeItems:
    """Events and withdrawals of one connection, in the order of their sequences."""

    def __init__(self, door: Door, access: Access, tenant: Tenant, line: Connected, row: LineRow) -> None:
        self._door = door
        self._broker = broker = door.broker
        self._access = access
        self._tenant = tenant
        self._line = line
        self._taking = Taking(tenant.number, line.edge, row.epoch, access, broker.edges.here, tenant.known.identities)
        self._sequence = row.sequence  # up to where they are stored

    async def store(self, items: tuple[wire.Item, ...]) -> wire.EventsStored:
        """Store events; those that are stored already are skipped."""
        if any(one.sequence >= next.sequence for one, next in pairwise(items)):
            raise FormatError("items come in the order of their sequences")
        new = [item for item in items if item.sequence > self._sequence]
        refused: list[wire.RefusedItem] = []
        if new:
            upto = new[-1].sequence
            read = self._taking.read(new, self._broker.kept_until())
            refused = read.refused
            await self._held_up(len(read.entries))
            if read.entries:
                refused += await self._append(read.entries, upto)
            if not read.entries or refused:
                await self._note(upto)
            self._sequence = upto
        self._line.refused += len(refused)
        for each in refused:
            _log.warning("an event of an edge is refused", edge=self._line.edge, code=each.code, reason=each.words)
        return wire.EventsStored(sequence=self._sequence, refused=tuple(refused))

    async def _append(self, entries: list[tuple[int, Entry]], upto: int) -> list[wire.RefusedItem]:
        """Append entries together; each by itself if the id of one stands for something else already."""
        broker, tenant = self._broker, self._tenant
        try:
            made = with_note(entries, upto, self._taking.noted)
            await self._door.answer(lambda done: broker.store.append(made, done))
        except Conflict as conflict:
            if len(entries) == 1:
                return [wire.RefusedItem(entries[0][0], conflict.code, str(conflict)[:500])]
            refused = []
            for sequence, entry in entries:
                entry.noted = None
                refused += await self._append([(sequence, entry)], sequence)
            return refused
        broker.metrics.received(tenant.name, len(entries))
        return []

    async def _note(self, sequence: int) -> None:
        noted = self._taking.noted(sequence)
        await self._door.answer(lambda done: self._broker.store.write(lambda tables: come_to(tables, noted), done))

    async def _held_up(self, count: int) -> None:
        """Wait while the tenant's rate or a full queue holds publishers up: the edge keeps what it has."""
        while True:
            try:
                self._door.take(self._tenant, count)
                await self._door.unblocked(self._tenant)
                return
            except RateExceeded as wait:
                await asyncio.sleep(min(1.0, wait.retry_after))

    async def withdraw(self, said: wire.Withdrawn) -> wire.EventsStored:
        """Take an event back that was sent before."""
        if said.sequence > self._sequence:
            broker, tenant = self._broker, self._tenant
            try:
                self._access.require_source(said.source)
                position = await self._door.read(tenant, lambda: broker.find_event(tenant, said.event, said.source))
            except (UnknownId, NotAllowed):  # it is over here, or was refused before
                await self._note(said.sequence)
            else:
                entry = command_entry(tenant.number, Withdraw(position))
                entry.noted = self._taking.noted(said.sequence)
                await self._door.answer(lambda done: broker.store.append([entry], done))
            self._sequence = said.sequence
        return wire.EventsStored(sequence=self._sequence)
