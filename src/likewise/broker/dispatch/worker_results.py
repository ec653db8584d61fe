"""What a stretch of events came back with from the workers, made into deliveries as if it had been matched here."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np

from likewise.broker.dispatch.commit_batch import Outcome
from likewise.broker.dispatch.match_events import FindEntry, promote, set_aside, speak
from likewise.broker.dispatch.topics import deliver_topics
from likewise.broker.log.deliveries import ARRIVAL, Delivery
from likewise.broker.log.entries import Entry
from likewise.broker.log.packed_sets import pack_scores
from likewise.broker.pool.batch_job import Stretch
from likewise.broker.pool.messages import Matched
from likewise.broker.tenants.match_guarded import own_time
from likewise.broker.tenants.matched_events import MetEvents
from likewise.broker.tenants.numbered_matcher import Found
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import StateError


def deliver_found(stretch: Stretch, outcome: Outcome, find: FindEntry) -> None:
    """Send what a stretch led to, in the order of the log; whoever calls this holds the tenant's matchers."""
    tenant, entries = stretch.tenant, stretch.entries
    alone = None if len(tenant.windows) else stretch.alone
    if alone is not None:
        stretch.failed.update(alone.failed)
        tenant.met(len(entries), len(alone.numbers) // 8)
        _deliver_packed(tenant, entries, alone, outcome)
        plain = None
    elif (plain := stretch.met()) is not None:
        tenant.met(len(entries), len(plain.index))
    windows, alerts = stretch.moved()
    for place, why in sorted({**stretch.failed_moves, **stretch.failed}.items()):
        set_aside(tenant, entries[place], StateError(why), outcome)
    if not len(tenant.windows):
        if plain is not None:
            outcome.deliver_all(tenant, entries, plain)
        for said in alerts:
            if said:
                speak(tenant, said, outcome, find)
    else:
        for place, entry in enumerate(entries):
            _deliver_one(tenant, entry, place, plain, windows[place], outcome, find)
            if alerts[place]:
                speak(tenant, alerts[place], outcome, find)
    if tenant.topics:
        deliver_topics(tenant, entries, outcome)
    tenant.last_arrival = entries[-1].arrival
    tenant.follows_arrival = own_time(entries[-1]) is None
    tenant.events += len(entries)


def _deliver_one(
    tenant: Tenant,
    entry: Entry,
    place: int,
    plain: MetEvents | None,
    found: list[Found],
    outcome: Outcome,
    find: FindEntry,
) -> None:
    """One event for those whose windows it enters, and those it met otherwise; then what it promotes."""
    arrived = [(each.number, each.score) for each in found if not each.promoted]
    if plain is not None and place in plain:
        arrived += zip(*plain.listed(place), strict=True)
    if arrived and (entry.ends is None or entry.ends > entry.arrival):
        arrived.sort()
        numbers = np.array([number for number, _ in arrived], np.int64)
        scores = pack_scores(np.array([score for _, score in arrived], np.float32))
        outcome.deliver(tenant, entry.position, ARRIVAL, numbers, scores, entry)
    if promoted := [each for each in found if each.promoted]:
        promote(tenant, promoted, outcome, find)


def _deliver_packed(tenant: Tenant, entries: Sequence[Entry], met: Matched, outcome: Outcome) -> None:
    """Send what one worker found, as it packed it: nothing here grows with the matches."""
    given = np.frombuffer(met.given, "<i4").tolist()
    if not given:
        return
    starts = np.concatenate([[0], np.cumsum(np.frombuffer(met.counts, "<i4"))]).tolist()
    reach = np.concatenate([[0], np.cumsum(np.frombuffer(met.reach, "<i4"))]).tolist()
    numbers, recipients = np.frombuffer(met.numbers, "<i8"), np.frombuffer(met.recipients, "<i8")
    scores = np.frombuffer(met.scores, "<f4") if met.scores else None
    sent = np.zeros(len(entries), np.uint64)
    made = []
    for place, packed in zip(given, met.packed, strict=True):
        entry, a, b = entries[place], starts[place], starts[place + 1]
        sent[place] = tenant.next_number
        made.append(
            Delivery(
                tenant.next_number,
                entry.position,
                ARRIVAL,
                recipients[reach[place] : reach[place + 1]],
                numbers[a:b],
                b"" if scores is None else pack_scores(scores[a:b]),
                entry.body,
                entry.ends,
                message=entry.message,
                packed=packed,
            )
        )
        tenant.next_number += 1
    events = np.frombuffer(met.events, "<i4")
    offers: dict[int, array[int]] = {}
    for owner, a, b in zip(met.owners, met.cuts, met.cuts[1:], strict=False):
        offers[owner] = array("Q", sent[events[a:b]].tobytes())
    outcome.take(tenant, made, offers)
