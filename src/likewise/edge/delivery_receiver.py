"""What comes down: events for subscribers here, and what was decided above; stored with how far that has come.

An event from above is published here with its hops, so that it goes no way twice, and what the broker above decided
about it follows in the log. What is sent again after a break is known by its sequence.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import structlog

from likewise.api.edge_frames import Delivered, Deliveries
from likewise.broker.broker import Broker
from likewise.broker.edge_hub.identities import read_name
from likewise.broker.log.commits import wait_for
from likewise.broker.log.edges.hops import ABOVE
from likewise.broker.log.edges.uplink import RECEIVED, Come, Received, come_down_to, remembered
from likewise.broker.log.entries import Decided, Entry, Withdraw, batch_entries, command_entry
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import Conflict, LikewiseError, StateError, UnknownId
from likewise.formats.json.batches import read_each

_log = structlog.get_logger("likewise.edge")


class Receiving:
    """Stores what comes down a line."""

    def __init__(self, broker: Broker, tenant: Tenant, here: str) -> None:
        self._broker = broker
        self._tenant = tenant
        self._here = here

    def come(self) -> Come:
        """How far the deliveries of which line have come."""
        with self._broker.store.reading() as tables:
            return remembered(tables, self._tenant.number, RECEIVED, Come) or Come("", 0)

    def store(self, line: str, said: Deliveries) -> int | None:
        """Store deliveries of a line; up to which sequence it has them then, on disk, if there were any."""
        for source, id in said.withdrawn:
            self._withdraw(source, id)
        known = self.come()
        after = known.sequence if known.line == line else 0
        new = [each for each in said.deliveries if each.sequence > after]
        if new:
            self._append(new, Received(self._tenant.number, line, new[-1].sequence))
        return said.deliveries[-1].sequence if said.deliveries else None

    def _append(self, new: Sequence[Delivered], noted: Received) -> None:
        store = self._broker.store
        try:
            entries = self._entries(new)
            if not entries:
                store.commit(lambda tables: come_down_to(tables, noted))
                return
            entries[-1].noted = noted
            wait_for(lambda done: store.append(entries, done))
        except LikewiseError as error:
            if not isinstance(error, Conflict) and len(new) == 1:
                raise
            if len(new) == 1:
                _log.warning("an event from above is another one here", id=new[0].id, source=new[0].source)
                store.commit(lambda tables: come_down_to(tables, noted))
                return
            for each in new:  # so that one cannot fail the others
                self._append([each], Received(noted.tenant, noted.line, each.sequence))

    def _entries(self, new: Sequence[Delivered]) -> list[Entry]:
        """Events first, then what was decided about them."""
        with_body = [each for each in new if not isinstance(each.event, msgspec.UnsetType)]
        bodies = [bytes(each.event) for each in with_body if not isinstance(each.event, msgspec.UnsetType)]
        kept = self._broker.kept_until()
        events = batch_entries(self._tenant.number, read_each(bodies), kept) if bodies else []
        for each, entry in zip(with_body, events, strict=True):
            entry.hops = (*each.hops, ABOVE)
        decided = [command_entry(self._tenant.number, made) for each in new if (made := self._decided(each))]
        return [*events, *decided]

    def _decided(self, each: Delivered) -> Decided | None:
        met = []
        for id, score in each.subscriptions:
            name = read_name(id)
            if name is not None and name.path[-1] == self._here and name.number in self._tenant.held:
                met.append((name.number, score))
        if not met:
            return None
        return Decided(each.source, each.id, each.cause, tuple(met), each.alert)

    def _withdraw(self, source: str, id: str) -> None:
        """Take back an event that was withdrawn above; one that is over here, or was withdrawn, is left alone."""
        try:
            position = self._broker.find_event(self._tenant, id, source)
        except (UnknownId, StateError):
            return
        wait_for(lambda done: self._broker.command(self._tenant, Withdraw(position), done))
