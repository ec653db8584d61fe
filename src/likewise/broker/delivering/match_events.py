"""Matching a stretch of events: who gets which of them, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import numpy as np
import structlog

from likewise.broker.delivering.outcome import Outcome
from likewise.broker.store import dead_letters
from likewise.broker.store.deliveries import ARRIVAL, PROMOTED
from likewise.broker.store.entries import Entry
from likewise.broker.store.packed_sets import pack_scores
from likewise.broker.tenants.numbered_matcher import Found, NumberedMatcher, NumbersAndScores
from likewise.broker.tenants.tenant import Tenant
from likewise.model import Event

_log = structlog.get_logger("likewise.matching")
SetAside = Callable[[Entry, Exception], None]
FindEntry = Callable[[int], Entry | None]  # an earlier event by its position; None if it is gone


def moment(entry: Entry) -> int:
    """When an event counts: by its own time, else by its arrival in the log."""
    time = entry.value.time if isinstance(entry.value, Event) else None
    return entry.arrival if time is None else time


def match_events(tenant: Tenant, entries: Sequence[Entry], outcome: Outcome, find: FindEntry) -> None:
    """Match events of one tenant, in order, and send what comes of it.

    Each subscriber gets an event that matches on arrival once, whatever number of its subscriptions match;
    a promotion is a further delivery, after the arrival that caused it.
    """
    moments = [moment(entry) for entry in entries]
    plain = _plain(tenant, moments, entries, outcome)
    windowed = len(tenant.windows) > 0
    for index, entry in enumerate(entries):
        met = plain.get(index)
        promoted: list[Found] = []
        if windowed:
            met, promoted = _windows(tenant, entry, outcome, met)
        if met is not None and (entry.ends is None or entry.ends > entry.arrival):
            scores = met[1]
            packed = b"" if scores.count(1) == len(scores) else pack_scores(np.array(scores, np.float32))
            outcome.deliver(tenant, entry.position, ARRIVAL, met[0], packed, entry)
        if promoted:
            promote(tenant, promoted, outcome, find)
    tenant.last_arrival = entries[-1].arrival
    tenant.follows_arrival = entries[-1].value.time is None  # type: ignore[union-attr]
    tenant.events += len(entries)


def _plain(
    tenant: Tenant, moments: list[int], entries: Sequence[Entry], outcome: Outcome
) -> dict[int, NumbersAndScores]:
    """What each event met among the subscriptions without windows."""
    if not len(tenant.stateless):
        return {}
    return match_guarded(
        tenant.stateless, entries, lambda entry, error: set_aside(tenant, entry, error, outcome), moments
    )


def match_guarded(
    matcher: NumberedMatcher, entries: Sequence[Entry], aside: SetAside, moments: list[int] | None = None
) -> dict[int, NumbersAndScores]:
    """What each event, by its index, meets; `aside` is told of an event that cannot be matched, and its error."""
    events = [entry.value for entry in entries if isinstance(entry.value, Event)]
    moments = [moment(entry) for entry in entries] if moments is None else moments
    try:
        return matcher.match_batch(events, moments)
    except Exception:  # of some event: one by one, so that it cannot fail the others
        met: dict[int, NumbersAndScores] = {}
    for index, (event, at) in enumerate(zip(events, moments, strict=True)):
        try:
            matches = matcher.match(entries[index].position, event, at)
        except Exception as error:
            aside(entries[index], error)
            continue
        if matches:
            met[index] = ([each.number for each in matches], [each.score for each in matches])
    return met


def _windows(
    tenant: Tenant, entry: Entry, outcome: Outcome, met: NumbersAndScores | None
) -> tuple[NumbersAndScores | None, list[Found]]:
    """What an event met on arrival with the windows' share added, and what it promoted."""
    try:
        found = match_windows(tenant, entry)
    except Exception as error:
        set_aside(tenant, entry, error, outcome)
        return met, []
    arrived = [each for each in found if not each.promoted]
    promoted = [each for each in found if each.promoted]
    if arrived:
        pairs = [(each.number, each.score) for each in arrived]
        pairs += zip(*met, strict=True) if met is not None else ()
        pairs.sort()
        met = ([number for number, _ in pairs], [score for _, score in pairs])
    return met, promoted


def match_windows(tenant: Tenant, entry: Entry) -> list[Found]:
    """What an event meets in a tenant's windows, and what it promotes there."""
    event = entry.value
    assert isinstance(event, Event)
    if event.time is not None:
        return tenant.windows.match(entry.position, event, event.time)
    at = tenant.window_time(entry.arrival)
    if event.expires is not None and entry.arrival < event.expires <= at:  # it is valid: it is the windows that wait
        event = msgspec.structs.replace(event, expires=None)
    return tenant.windows.match(entry.position, event, at)


def set_aside(tenant: Tenant, entry: Entry, error: Exception, outcome: Outcome) -> None:
    """Keep an event that cannot be matched as a dead letter, and say so."""
    _log.error(
        "event could not be matched", event_id=entry.id, position=entry.position, tenant=tenant.name, exc_info=error
    )
    outcome.letters.append(
        dead_letters.NewLetter(
            tenant.number, entry.arrival, "unmatched", f"{type(error).__name__}: {error}", None, entry.position
        )
    )


def promote(tenant: Tenant, promoted: list[Found], outcome: Outcome, find: FindEntry) -> None:
    """Send promotions: those of one event together, in the order in which they came."""
    grouped: dict[int, dict[int, float]] = {}
    for each in promoted:
        assert each.event is not None
        grouped.setdefault(each.event, {})[each.number] = each.score
    for position, found in grouped.items():
        entry = find(position)
        if entry is not None:
            numbers = sorted(found)
            scores = pack_scores(np.array([found[n] for n in numbers], np.float32))
            outcome.deliver(tenant, position, PROMOTED, numbers, scores, entry)  # whatever its validity (sources.md C)
