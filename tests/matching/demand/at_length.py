"""What the demand sends on, compared with what the engines say of everything; `python -m ...at_length` does many.

make demand CASES=1000
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from random import Random
from typing import NamedTuple

import likewise as lw
from likewise.errors import LikewiseError
from likewise.matching.demand.demand_filter import Demand
from likewise.matching.demand.index import DemandIndex
from likewise.semantics.enrichment.corrections import CorrectedAnnotations, Correction, correction_rows
from likewise.semantics.enrichment.table import NO_ANNOTATIONS
from tests.matching.demand.strangers import Case, draw_case

ALERTS = (
    " for 5 min",
    " for 30 s",
    " once until false",
    " for 1 min once until false",
    ' once until {"status" exists}',
    " at most every 2 min",
    " absent for 3 min",
    " digest every 10 min",
    " for 2 min digest every 5 min",
    " once until {temperature~ < 5} confidence 0.4",
    " for 1 min confidence 0.5",
)
MINUTE = 60_000_000


def matcher_of(case: Case, chance: Random) -> lw.Matcher:
    """A matcher with what was corrected and judged."""
    annotations = CorrectedAnnotations(NO_ANNOTATIONS)
    corrections = {n: Correction(a, means=means, unit=unit) for n, (a, means, unit) in enumerate(case.corrections, 1)}
    annotations.set_corrections(correction_rows(corrections, {}))
    matcher = lw.Matcher(annotations=annotations)
    matcher.add_many(case.subscriptions, at=0)
    relaxed = [each for each in case.subscriptions if each.kind == "approximate"]
    for _ in range(chance.randint(0, 3) if relaxed else 0):
        try:
            matcher.feedback(chance.choice(case.events), chance.choice(relaxed).id, chance.random() < 0.5)
        except LikewiseError:
            continue  # nothing of the event was compared by meaning
    return matcher


def demand_of(case: Case, matcher: lw.Matcher) -> Demand:
    index = DemandIndex(matcher.interpretation)
    for number, subscription in enumerate(case.subscriptions):
        index.add(number, subscription)
    index.announce(case.announcement)
    return index.demand("s1")


class Compared(NamedTuple):
    """What came of one case: what the engines found, how much of it was judged, and what was missed."""

    found: int
    judged: int
    missed: list[str]


def compare_matches(seed: int, subscriptions: int = 40, events: int = 25) -> Compared:
    """Every match of an event that holds to its announcement must meet the filter of its subscription."""
    chance = Random(seed)
    case = draw_case(chance, subscriptions, events)
    matcher = matcher_of(case, chance)
    demand = demand_of(case, matcher)
    found = matcher.match_batch(case.events, [0] * len(case.events))
    met: list[set[str]] = [set() for _ in case.events]
    for event, place in zip(found.event_index.tolist(), found.subscription_index.tolist(), strict=True):
        met[event].add(found.subscription_ids[place])
    judged, missed = 0, []
    for each, ids in zip(case.events, met, strict=True):
        looked = demand.evaluate(each)
        if not (looked.new or looked.outside):
            judged += len(ids)
            missed += [f"case {seed}: {id} {each}" for id in sorted(ids - set(looked.subscriptions))]
    return Compared(sum(map(len, met)), judged, missed)


def compare_alerts(seed: int, lateness: int, alerts: int = 10, events: int = 25) -> Compared:
    """Alerts must say the same of the events that are wanted as of all; `judged` are those that were kept back."""
    chance = Random(1_000_000 + seed)
    case = draw_case(chance, alerts, events, ALERTS)
    every, some = (lw.Matcher(lateness=lateness) for _ in range(2))
    for matcher in (every, some):
        matcher.add_many(case.subscriptions, at=0)
    demand = demand_of(case, every)
    heard: list[list[str]] = [[], []]
    now = kept_back = 0
    for event in case.events:
        now += chance.randint(1, 90) * 1_000_000
        wanted = demand.evaluate(event).is_demanded
        kept_back += not wanted
        heard[0] += map(repr, every.match(event, at=now))
        heard[1] += map(repr, some.match(event, at=now) if wanted else some.advance(now))
    for step in range(1, 30):
        for place, matcher in enumerate((every, some)):
            heard[place] += map(repr, matcher.advance(now + step * MINUTE))
    differing = sorted(set(heard[0]) ^ set(heard[1]))
    return Compared(len(heard[0]), kept_back, [f"case {seed}, lateness {lateness}: {each}" for each in differing])


def main() -> int:
    """Compare many cases; where a folder says how far it came, go on from there."""
    arguments = argparse.ArgumentParser(description=main.__doc__)
    arguments.add_argument("--cases", type=int, default=1_000)
    arguments.add_argument("--folder", type=Path, default=Path("build/demand"))
    said = arguments.parse_args()
    said.folder.mkdir(parents=True, exist_ok=True)
    kept = said.folder / "cases.json"
    total = {"done": 0, "matches": 0, "judged": 0, "said": 0, "kept_back": 0, "cpu_seconds": 0.0, "missed": []}
    if kept.exists():
        total = json.loads(kept.read_text())
    for seed in range(total["done"], said.cases):  # type: ignore[call-overload]
        begun = time.process_time()
        plain, alerts = compare_matches(seed), compare_alerts(seed, 20_000_000 * (seed % 2))
        for name, more in (
            ("matches", plain.found),
            ("judged", plain.judged),
            ("said", alerts.found),
            ("kept_back", alerts.judged),
            ("missed", plain.missed + alerts.missed),
            ("done", 1),
            ("cpu_seconds", time.process_time() - begun),
        ):
            total[name] += more  # type: ignore[operator]
        kept.write_text(json.dumps(total))
    print(json.dumps(total))
    return 1 if total["missed"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
