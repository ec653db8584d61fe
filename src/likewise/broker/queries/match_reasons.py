"""Why a delivery came, in short: for each part of a subscription the reading that met it.

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
    log: EventLog, tenant: Tenant, position: int, met: Iterable[tuple[int, str, float]], now: int
) -> tuple[MatchReason, ...]:
    """Why an event of the log met some subscriptions, each by its number, id and stored score; at most `MAX_BECAUSE`.

    What cannot be said any more (the event or the subscription is gone) is left out.
    """
    entry = next(log.entries(position - 1, position), None)
    if entry is None or not isinstance(entry.value, Event):
        return ()
    event = tenant.stateless.matcher.annotated(entry.value)
    found = []
    for number, id, score in list(met)[:MAX_BECAUSE]:
        held = tenant.subscriptions.get(number)
        if held is None or held.ended is not None:
            continue
        try:
            explanation = explain_live(tenant, held, entry, now)
        except LikewiseError as error:
            _log.warning("why an event came cannot be said", tenant=tenant.name, subscription=id, error=str(error))
            continue
        except Exception as error:  # an explanation is no reason to keep a delivery back
            _log.error("why an event came cannot be said", tenant=tenant.name, subscription=id, exc_info=error)
            continue
        parts = tuple(_part(report, event) for report in explanation.predicates if report.verdict == "match")
        found.append(MatchReason(id, score, parts))
    return tuple(found)


def with_reasons(
    log: EventLog, tenant: Tenant, queue: SubscriberQueue, page: Sequence[tuple[int, bytes]], now: int
) -> list[tuple[int, bytes]]:
    """Deliveries as they are sent to a subscriber, and why each came."""
    return [(number, _with_reasons(log, tenant, queue, frame, now)) for number, frame in page]


def _with_reasons(log: EventLog, tenant: Tenant, queue: SubscriberQueue, frame: bytes, now: int) -> bytes:
    said = msgspec.json.decode(frame, type=_Frame)
    position = position_of(log, tenant, said.sequence)
    if position is None:
        return frame
    met = [(queue.subscriptions.get(each.id, 0), each.id, each.score) for each in said.subscriptions]
    return append_reasons(frame, because(log, tenant, position, met, now))


def append_reasons(frame: bytes, reasons: tuple[MatchReason, ...]) -> bytes:
    """The JSON of a delivery with `match_reasons` at its end.

    >>> append_reasons(b'{"v":1}', (Because("warm", 0.9, ()),))
    b'{"v":1,"because":[{"id":"warm","score":0.9,"parts":[]}]}'
    """
    return frame[:-1] + b',"because":' + msgspec.json.encode(reasons) + b"}"


def position_of(log: EventLog, tenant: Tenant, sequence: int) -> int | None:
    """Where the event of a delivery stands in the log; None if it is gone."""
    delivery = tenant.recent.get(sequence)
    if delivery is not None:
        return delivery.event
    with log.reading() as tables:
        found = read(tables, tenant.number, [sequence])
    return found[0].event if found else None


class _Frame(msgspec.Struct):
    """What is needed of the JSON of a delivery."""

    sequence: int
    subscriptions: tuple[SubscriptionScore, ...]


def _part(report: PredicateReport, event: Event) -> MatchedPart:
    """One part of a subscription, and the reading that met it as stated and in the unit asked for."""
    score = round(report.similarity, 6)
    if report.tuple is None or report.tuple >= len(event.tuples):
        return MatchedPart(report.text, score, report.attribute, report.value)
    item = event.tuples[report.tuple]
    stated = f"{item.value} {item.unit}".strip()
    return MatchedPart(report.text, score, item.attribute, stated, _in_unit(item, _requested_unit(report.text)))


def _in_unit(item: EventTuple, symbol: str) -> str:
    """A reading in the unit asked for, '' if none was or nothing says what it is in."""
    reading = item.reading()
    if not symbol or symbol == MOMENT or reading is None:
        return ""
    asked = unit(symbol)
    found = reading_unit(item.attribute, reading[1], asked)
    if found is None or found.dimension != asked.dimension:
        return ""
    return f"{found.to(asked, reading[0]):.6g} {asked.symbol}"


@lru_cache(maxsize=4_096)
def _requested_unit(text: str) -> str:
    """The unit that a part, as printed, asks for; '' if none.

    >>> _requested_unit("temperature~ > 25 degC"), _requested_unit("city = Galway")
    ('degC', '')
    """
    try:
        body = parse(f"{{{text}}}").body
    except LikewiseError:  # a part of another kind: a statement, a pattern
        return ""
    if not isinstance(body, Condition):
        return ""
    found = [i.unit for p in body.predicates() if p.operator not in ("!=", "in") and (i := p.interval()) is not None]
    return found[0] if found else ""
