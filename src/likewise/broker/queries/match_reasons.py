"""Give the reasons of a delivery: for each part of a subscription the reading that matched it.

It is made when a delivery is sent, where it was asked for, and says what holds now; the score is the stored one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec
import structlog

from likewise.api.deliveries import MatchedPart, MatchReason, SubscriptionScore
from likewise.broker.log.deliveries import read
from likewise.broker.log.event_log import EventLog
from likewise.broker.queries.dry_run import explain_live
from likewise.broker.tenants.queues import SubscriberQueue
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import MAX_BECAUSE
from likewise.errors import LikewiseError
from likewise.language import parse
from likewise.model import Event, PredicateReport
from likewise.model.event import EventTuple
from likewise.model.subscription import Condition
from likewise.model.timestamps import MOMENT
from likewise.units import reading_unit, unit

_log = structlog.get_logger("likewise.questions")


def because(
    log: EventLog, tenant: Tenant, position: int, subscriptions: Iterable[tuple[int, str, float]], now: int
) -> tuple[MatchReason, ...]:
    """Explain an event's matches, given as number, id and stored score; at most `MAX_BECAUSE`.

    What cannot be said any more (the event or the subscription is gone) is left out.
    """
    entry = next(log.entries(position - 1, position), None)
    if entry is None or not isinstance(entry.value, Event):
        return ()
    event = tenant.stateless.matcher.annotated(entry.value)
    reasons = []
    for number, id, score in list(subscriptions)[:MAX_BECAUSE]:
        stored = tenant.subscriptions.get(number)
        if stored is None or stored.ended is not None:
            continue
        try:
            explanation = explain_live(tenant, stored, entry, now)
        except LikewiseError as error:
            _log.warning("match_reasons_failed", tenant=tenant.name, subscription=id, error=str(error))
            continue
        except Exception as error:  # an explanation is no reason to keep a delivery back
            _log.error("match_reasons_failed", tenant=tenant.name, subscription=id, exc_info=error)
            continue
        parts = tuple(_part(report, event) for report in explanation.predicates if report.verdict == "match")
        reasons.append(MatchReason(id, score, parts))
    return tuple(reasons)


def with_reasons(
    log: EventLog, tenant: Tenant, queue: SubscriberQueue, page: Sequence[tuple[int, bytes]], now: int
) -> list[tuple[int, bytes]]:
    """Return deliveries with the reasons of their matches."""
    return [(number, _with_reasons(log, tenant, queue, frame, now)) for number, frame in page]


def _with_reasons(log: EventLog, tenant: Tenant, queue: SubscriberQueue, frame: bytes, now: int) -> bytes:
    decoded = msgspec.json.decode(frame, type=_Frame)
    position = position_of(log, tenant, decoded.sequence)
    if position is None:
        return frame
    subscriptions = [(queue.subscriptions.get(each.id, 0), each.id, each.score) for each in decoded.subscriptions]
    return append_reasons(frame, because(log, tenant, position, subscriptions, now))


def append_reasons(frame: bytes, reasons: tuple[MatchReason, ...]) -> bytes:
    """Return the JSON of a delivery with its reasons appended.

    >>> append_reasons(b'{"v":1}', (MatchReason("warm", 0.9, ()),))
    b'{"v":1,"because":[{"id":"warm","score":0.9,"parts":[]}]}'
    """
    return frame[:-1] + b',"because":' + msgspec.json.encode(reasons) + b"}"


def position_of(log: EventLog, tenant: Tenant, sequence: int) -> int | None:
    """Return the log position of a delivery's event; None if it is gone."""
    delivery = tenant.recent.get(sequence)
    if delivery is not None:
        return delivery.event
    with log.reading() as tables:
        deliveries = read(tables, tenant.number, [sequence])
    return deliveries[0].event if deliveries else None


class _Frame(msgspec.Struct):
    """The needed fields of a delivery's JSON."""

    sequence: int
    subscriptions: tuple[SubscriptionScore, ...]


def _part(report: PredicateReport, event: Event) -> MatchedPart:
    """Describe one part of a subscription by its reading, as stated and in the unit of the part."""
    score = round(report.similarity, 6)
    if report.tuple is None or report.tuple >= len(event.tuples):
        return MatchedPart(report.text, score, report.attribute, report.value)
    item = event.tuples[report.tuple]
    stated = f"{item.value} {item.unit}".strip()
    return MatchedPart(report.text, score, item.attribute, stated, _in_unit(item, _requested_unit(report.text)))


def _in_unit(item: EventTuple, symbol: str) -> str:
    """Return a reading in another unit; '' if that is not possible."""
    reading = item.reading()
    if not symbol or symbol == MOMENT or reading is None:
        return ""
    target = unit(symbol)
    stated_unit = reading_unit(item.attribute, reading[1], target)
    if stated_unit is None or stated_unit.dimension != target.dimension:
        return ""
    return f"{stated_unit.to(target, reading[0]):.6g} {target.symbol}"


@lru_cache(maxsize=4_096)
def _requested_unit(text: str) -> str:
    """Return the unit that a printed part asks for; '' if it asks for none.

    >>> _requested_unit("temperature~ > 25 degC"), _requested_unit("city = Galway")
    ('degC', '')
    """
    try:
        body = parse(f"{{{text}}}").body
    except LikewiseError:  # a part of another kind: a statement, a pattern
        return ""
    if not isinstance(body, Condition):
        return ""
    units = [i.unit for p in body.predicates() if p.operator not in ("!=", "in") and (i := p.interval()) is not None]
    return units[0] if units else ""
