"""Every match that the engines find must be sent on by the demand; and what is asked for should mostly match."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import msgspec

from likewise.matching.demand.index import DemandIndex
from likewise.matching.matcher import Matcher
from likewise.semantics.enrichment.corrections import CorrectedAnnotations, correction_rows
from likewise.semantics.enrichment.table import NO_ANNOTATIONS
from likewise_experiments.demand.generating import Drawn, draw

BESIDE = 40  # subscriptions beside each announcement
OUTSIDE = 0.1


class DemandResult(msgspec.Struct, frozen=True):
    """What came of it: `missed` matches of `matches`; subscriptions `sent`, and those that `matched` any event.

    `inside_missed` counts matches of events that hold to their announcement whose own filter was not met; `forwarded`
    are events that nothing asked for, but that had something new.
    """

    pairs: int
    events: int
    outside: int
    matches: int
    missed: int
    inside_missed: int
    sent: int
    matched: int
    ratio: float
    wanted: int
    forwarded: int
    seed: int
    examples: tuple[str, ...] = ()
    beside: int = BESIDE
    versions: dict[str, str] = {}
    machine: dict[str, object] = {}


def evaluate_demand(
    pairs: int, events: int, seed: int, progress: Callable[[int], None] = lambda done: None, beside: int = BESIDE
) -> DemandResult:
    """Draw announcements with subscriptions `beside` each until there are so many pairs; look at events of each."""
    chance = Random(seed)
    total = dict.fromkeys(("events", "outside", "matches", "missed", "inside", "sent", "matched", "wanted", "new"), 0)
    examples: list[str] = []
    done = 0
    while done < pairs:
        drawn = draw(chance, min(beside, pairs - done), events, OUTSIDE)
        _look(drawn, chance, total, examples)
        done += len(drawn.subscriptions)
        progress(done)
    return DemandResult(
        done,
        total["events"],
        total["outside"],
        total["matches"],
        total["missed"],
        total["inside"],
        total["sent"],
        total["matched"],
        round(total["sent"] / max(1, total["matched"]), 3),
        total["wanted"],
        total["new"],
        seed,
        tuple(examples[:10]),
        beside=beside,
    )


def _look(drawn: Drawn, chance: Random, total: dict[str, int], examples: list[str]) -> None:
    annotations = CorrectedAnnotations(NO_ANNOTATIONS)
    annotations.set_corrections(correction_rows(dict(enumerate(drawn.corrections, 1)), {}))
    matcher = Matcher(annotations=annotations)
    matcher.add_many(drawn.subscriptions, at=0)
    relaxed = [each for each in drawn.subscriptions if each.kind == "approximate"]
    for _ in range(chance.randint(0, 3)):
        if relaxed:
            matcher.feedback(chance.choice(drawn.events), chance.choice(relaxed).id, chance.random() < 0.5)
    index = DemandIndex(matcher.interpretation)
    for number, subscription in enumerate(drawn.subscriptions):
        index.add(number, subscription)
    index.announce(drawn.announcement)
    demand = index.demand(drawn.announcement.source)
    found = matcher.match_batch(drawn.events, [0] * len(drawn.events))
    met: list[set[str]] = [set() for _ in drawn.events]
    for event, subscription in zip(found.event_index.tolist(), found.subscription_index.tolist(), strict=True):
        met[event].add(found.subscription_ids[subscription])
    matched: set[str] = set()
    for event, ids in zip(drawn.events, met, strict=True):
        looked = demand.evaluate(event)
        strange = bool(looked.new or looked.outside)
        total["matches"] += len(ids)
        total["wanted"] += looked.is_demanded
        total["new"] += strange and not looked.subscriptions
        lost = ids - set(looked.subscriptions)
        if lost and not strange:
            total["inside"] += len(lost)
            total["missed"] += len(lost)
            examples.append(f"{sorted(lost)[0]} {event}")
        if not strange:
            matched |= ids
    total["events"] += len(drawn.events)
    total["outside"] += drawn.outside
    total["sent"] += len(demand.filters)
    total["matched"] += len(matched)
