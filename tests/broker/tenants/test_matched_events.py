"""Who gets which events: by arrays as by looking at each match, for few owners and for many."""

from __future__ import annotations

import random
from array import array

import numpy as np
import pytest
from pyroaring import BitMap64

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.dispatch import commit_batch as outcome
from likewise.broker.log.deliveries import OwnerIndex, read_between
from likewise.broker.tenants.matched_events import BatchMatchIndex, EventRecipients
from likewise.broker.tenants.queues import SubscriberQueue


@pytest.mark.parametrize("owners", [1, 7, 40_000])
@pytest.mark.parametrize("seed", range(5))
def test_shares_are_those_of_each_match(owners: int, seed: int) -> None:
    chance = random.Random(seed)
    events, named = chance.randrange(1, 60), sorted(chance.sample(range(1, 10**6), 300))
    whose = [chance.randrange(1, owners + 1) for _ in named]
    found = {event: sorted(chance.sample(named, chance.randrange(200))) for event in range(events)}
    chosen = [chance.random() < 0.8 for _ in range(events)]
    met = BatchMatchIndex.of({event: (numbers, [1.0] * len(numbers)) for event, numbers in found.items()}, events)
    owner_of = dict(zip(named, whose, strict=True))
    shares = EventRecipients.of(met, OwnerIndex.of([owner_of[n] for n in met.named.tolist()]), np.array(chosen))
    wanted = {e: sorted({owner_of[n] for n in found[e]}) if chosen[e] else [] for e in found}
    cuts = shares.starts.tolist()
    assert {e: shares.recipients[cuts[e] : cuts[e + 1]].tolist() for e in found} == wanted
    got = {
        owner: shares.events[a:b].tolist()
        for owner, a, b in zip(shares.owners, shares.cuts, shares.cuts[1:], strict=False)
    }
    everybody = {owner for owners in wanted.values() for owner in owners}
    assert got == {owner: [e for e in found if owner in wanted[e]] for owner in everybody}


@pytest.mark.parametrize("numbers", [[], [5], [5, 6, 7], [5, 7, 8], list(range(0, 4000, 3))])
def test_what_waits_is_what_was_put(numbers: list[int]) -> None:
    queue = SubscriberQueue(1, "ann", "drop-oldest", limit=10)
    queue.pending.update([3, 5])
    queue.put(array("Q", numbers))
    assert queue.pending == BitMap64([3, 5, *numbers])


def test_deliveries_found_by_arrays_are_those_found_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows and queues alike, with relaxed scores, owners of several subscriptions and events that are over at once."""
    chance = random.Random(4)
    asked = [f"{{x > {chance.randrange(80)}}}" for _ in range(60)] + ["{temperature~ = warm~} threshold 0.1"]
    events = [
        lw.event({"x": chance.randrange(100), "temp": "hot"}, id=str(n), expires=1 if n % 7 == 0 else None)
        for n in range(60)
    ]

    def delivered(few: int) -> tuple[list[object], dict[str, list[int]]]:
        monkeypatch.setattr(outcome, "FEW", few)
        with Broker(None) as broker:
            tenant = broker.tenant("default")
            for n, text in enumerate(asked):
                broker.register(tenant, f"s{n % 9}", policy=("drop-oldest", "dead-letter")[n % 2], limit=40)
                broker.subscribe(tenant, f"s{n % 9}", [lw.parse(text, id=str(n))])
            broker.publish(tenant, events)
            broker.wait_until_matched(300)
            with broker.store.reading() as tables:
                rows = read_between(tables, 1, 0, 2**60, 10**6)
                letters = tables.rows("SELECT subscriber, matched FROM dead_letters ORDER BY subscriber, event")
            found: list[object] = [
                (d.number, d.recipients.tolist(), d.matched.tolist(), np.frombuffer(d.scores, "<f4").tolist())
                for d in rows
            ]
            return [*found, letters], {id: list(queue.pending) for id, queue in tenant.subscribers.items()}

    assert delivered(0) == delivered(10**9)
