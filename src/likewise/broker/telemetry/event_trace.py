"""Trace events in the structured log: every line names the tenant, the event's id and its source.

What concerns one event is said at the level debug, so that info stays readable; what somebody should know of
(a conflict, a withdrawal, dead letters) at info, for a stretch of events in one line. Without
`likewise.broker.telemetry.logging` nothing is said: a program that uses the broker as a library is left alone.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import msgspec
import structlog

from likewise.broker.log.deliveries import CAUSES
from likewise.broker.log.entries import Entry, RemovedEvent
from likewise.errors import LikewiseError
from likewise.model import Event

if TYPE_CHECKING:
    from likewise.broker.dispatch.commit_batch import CommitBatch
    from likewise.broker.log.event_log import Done
    from likewise.broker.tenants.tenant import Tenant

NEVER: Final = 100
_log = structlog.get_logger("likewise.events")


class _Identity(msgspec.Struct):
    id: str = ""
    source: str = ""


class _Sent(msgspec.Struct):
    sequence: int
    event: _Identity


_IDENTITY: Final = msgspec.json.Decoder(_Identity)
_SENT: Final = msgspec.json.Decoder(_Sent)


class EventTrace:
    """Logs what happens to events, from a level on; at `NEVER`, the default, it costs nothing.

    >>> EventTrace().each, EventTrace(logging.INFO).each, EventTrace(logging.DEBUG).each
    (False, False, True)
    """

    def __init__(self, level: int = NEVER) -> None:
        self.each = level <= logging.DEBUG  # whether single events are spoken of
        self.some = level <= logging.INFO

    def received(self, tenant: str, entries: Sequence[Entry], done: Done) -> Done:
        """Wrap `done`, to log first what became of published events."""
        if not self.some:
            return done

        def told(result: object) -> None:
            if isinstance(result, LikewiseError):
                self.refused(tenant, result, [entry.value for entry in entries if isinstance(entry.value, Event)])
            elif self.each and isinstance(result, list):
                for entry, receipt in zip(entries, result, strict=True):
                    _log.debug(
                        "event_duplicate" if receipt.duplicate else "event_received",
                        tenant=tenant,
                        event_id=entry.id,
                        source=entry.source,
                        position=receipt.position,
                    )
            done(result)

        return told

    def refused(self, tenant: str, error: LikewiseError, events: Sequence[Event] = ()) -> None:
        """Log that events of a request were refused, in one line with the one at fault where it is known."""
        if self.some:
            facts = error.to_dict()
            first = events[0] if events else None
            _log.info(
                "events_refused",
                tenant=tenant,
                code=error.code,
                detail=str(error)[:500],
                events=len(events),
                event_id=facts.get("id") or (first.id if first else None),
                source=facts.get("source") or (first.source if first else None),
            )

    def stored(self, outcome: CommitBatch) -> None:
        """Log matched events and their dead letters."""
        if self.each:
            for tenant, deliveries in outcome.deliveries.items():
                for d in deliveries:
                    known = _IDENTITY.decode(d.body) if d.body else _Identity()
                    _log.debug(
                        "event_matched",
                        tenant=tenant.name,
                        event_id=known.id,
                        source=known.source,
                        position=d.event,
                        sequence=d.number,
                        cause=CAUSES[d.cause],
                        recipients=len(d.recipients),
                        subscriptions=len(d.matched),
                    )
        if self.some and outcome.dead_letters:
            self._dead_letters(outcome)

    def _dead_letters(self, outcome: CommitBatch) -> None:
        names = {tenant.number: tenant.name for tenant in outcome.deliveries}
        bodies = {d.event: d.body for deliveries in outcome.deliveries.values() for d in deliveries if d.body}
        counted: dict[tuple[int, str], list[_Identity]] = {}
        for letter in outcome.dead_letters:
            known = _IDENTITY.decode(bodies[letter.event]) if letter.event in bodies else _Identity()
            counted.setdefault((letter.tenant, letter.reason), []).append(known)
            if self.each:
                _log.debug(
                    "event_dead_lettered",
                    tenant=names.get(letter.tenant),
                    event_id=known.id,
                    source=known.source,
                    position=letter.event,
                    reason=letter.reason,
                    detail=letter.detail,
                )
        for (number, reason), events in counted.items():
            _log.info(
                "dead_letters_added",
                tenant=names.get(number),
                reason=reason,
                count=len(events),
                event_id=events[0].id,
                source=events[0].source,
            )

    def sent(self, tenant: str, subscriber: str, page: Iterable[tuple[int, bytes]]) -> None:
        """Record that deliveries went out to a stream."""
        if self.each:
            for _, frame in page:
                decoded = _SENT.decode(frame)
                _log.debug(
                    "event_delivered",
                    tenant=tenant,
                    event_id=decoded.event.id,
                    source=decoded.event.source,
                    subscriber=subscriber,
                    sequence=decoded.sequence,
                )

    def acknowledged(self, tenant: str, subscriber: str, number: int) -> None:
        """Log an acknowledgement."""
        if self.each:
            _log.debug("deliveries_acknowledged", tenant=tenant, subscriber=subscriber, sequence=number)

    def withdrawn(self, tenant: str, id: str, source: str | None, done: Done) -> Done:
        """Wrap `done`, to log first that an event was withdrawn."""
        if not self.some:
            return done

        def told(result: object) -> None:
            if not isinstance(result, BaseException):
                _log.info("event_withdrawn", tenant=tenant, event_id=id, source=source)
            done(result)

        return told

    def expired(self, tenants: Mapping[int, Tenant], events: Iterable[RemovedEvent]) -> None:
        """Log events that were removed because they expired or were withdrawn."""
        if self.each:
            for event in events:
                _log.debug(
                    "event_expired",
                    tenant=tenants[event.tenant].name,
                    event_id=event.id,
                    source=event.source,
                    position=event.position,
                )
