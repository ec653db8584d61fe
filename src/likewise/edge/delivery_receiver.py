"""Receive deliveries from the hub and store them with the progress of the connection.

An event from above is published here with its hops, so that it goes no way twice, and what the broker above decided
about it follows in the log. What is sent again after a break is known by its sequence.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import structlog

from likewise.api.edge_frames import DeliverFrame, EdgeDelivery
from likewise.broker.broker import Broker
from likewise.broker.edge_hub.identities import read_name
from likewise.broker.log.commits import wait_for
from likewise.broker.log.edges.hops import ABOVE
from likewise.broker.log.edges.uplink import RECEIVED, ReceivedPosition, UplinkPosition, advance_uplink, read_uplink
from likewise.broker.log.entries import Entry, RemoteDecision, WithdrawCommand, batch_entries, command_entry
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import Conflict, LikewiseError, StateError, UnknownId
from likewise.formats.json.batches import decode_each

_log = structlog.get_logger("likewise.edge")


class DeliveryReceiver:
    """Stores what comes down a line."""

    def __init__(self, broker: Broker, tenant: Tenant, here: str) -> None:
        self._broker = broker
        self._tenant = tenant
        self._edge_id = here

    def progress(self) -> UplinkPosition:
        """Return how far the deliveries of a connection are stored."""
        with self._broker.store.reading() as tables:
            return read_uplink(tables, self._tenant.number, RECEIVED, UplinkPosition) or UplinkPosition("", 0)

    def store(self, line: str, frame: DeliverFrame) -> int | None:
        """Store deliveries of a line; up to which sequence it has them then, on disk, if there were any."""
        for source, id in frame.withdrawn:
            self._withdraw(source, id)
        known = self.progress()
        after = known.sequence if known.line == line else 0
        new = [each for each in frame.deliveries if each.sequence > after]
        if new:
            self._append(new, ReceivedPosition(self._tenant.number, line, new[-1].sequence))
        return frame.deliveries[-1].sequence if frame.deliveries else None

    def _append(self, new: Sequence[EdgeDelivery], noted: ReceivedPosition) -> None:
        store = self._broker.store
        try:
            entries = self._entries(new)
            if not entries:
                store.commit(lambda tables: advance_uplink(tables, noted))
                return
            entries[-1].progress = noted
            wait_for(lambda done: store.append(entries, done))
        except LikewiseError as error:
            if not isinstance(error, Conflict) and len(new) == 1:
                raise
            if len(new) == 1:
                _log.warning("edge_delivery_conflict", id=new[0].id, source=new[0].source)
                store.commit(lambda tables: advance_uplink(tables, noted))
                return
            for each in new:  # so that one cannot fail the others
                self._append([each], ReceivedPosition(noted.tenant, noted.line, each.sequence))

    def _entries(self, new: Sequence[EdgeDelivery]) -> list[Entry]:
        """Return the entries to append: events first, then the decisions about them."""
        with_body = [each for each in new if not isinstance(each.event, msgspec.UnsetType)]
        bodies = [bytes(each.event) for each in with_body if not isinstance(each.event, msgspec.UnsetType)]
        expires = self._broker.expires_at()
        events = batch_entries(self._tenant.number, decode_each(bodies), expires) if bodies else []
        for each, entry in zip(with_body, events, strict=True):
            entry.hops = (*each.hops, ABOVE)
        decided = [command_entry(self._tenant.number, made) for each in new if (made := self._decision_entry(each))]
        return [*events, *decided]

    def _decision_entry(self, each: EdgeDelivery) -> RemoteDecision | None:
        matched = []
        for id, score in each.subscriptions:
            name = read_name(id)
            if name is not None and name.path[-1] == self._edge_id and name.number in self._tenant.subscriptions:
                matched.append((name.number, score))
        if not matched:
            return None
        return RemoteDecision(each.source, each.id, each.cause, tuple(matched), each.alert)

    def _withdraw(self, source: str, id: str) -> None:
        """Take back an event that was withdrawn above; one that is over here, or was withdrawn, is left alone."""
        try:
            position = self._broker.find_event(self._tenant, id, source)
        except (UnknownId, StateError):
            return
        wait_for(lambda done: self._broker.command(self._tenant, WithdrawCommand(position), done))
