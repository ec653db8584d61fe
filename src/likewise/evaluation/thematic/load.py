"""The load of the thematic evaluation: events, subscriptions and who is relevant to whom (section 5.2).

Every step is a file one can read: `seeds.jsonl`, `events.jsonl`, `subscriptions.jsonl`, `relevance.jsonl`.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError
from likewise.evaluation.thematic.expansion import expand
from likewise.evaluation.thematic.seed_events import seed_events
from likewise.evaluation.thematic.thesaurus import Thesaurus
from likewise.model import Condition, Event, EventTuple, Predicate, Subscription, fold

SEEDS, EVENTS, SUBSCRIPTIONS = 166, 14_743, 94  # the paper's numbers
PATIENCE = 10_000  # draws without a new subscription before there are held to be no more
FEWEST, MOST = 2, 5  # predicates of a subscription; the paper says "a number of tuples" and shows three


class ThematicLoad(msgspec.Struct, frozen=True, eq=False):
    """Seed events, the events expanded from them, fully relaxed subscriptions, and relevance.

    `lineage` is the seed of each event. `relevant` has a row for each subscription and a column for each
    event: the event's seed meets the exact subscription. `wider` is the other reading of section 5.2.3:
    the event meets a version of the subscription that has thesaurus terms in place of its own.
    """

    thesaurus: str
    seed: int
    seeds: tuple[Event, ...]
    events: tuple[Event, ...]
    lineage: NDArray[np.int64]
    subscriptions: tuple[Subscription, ...]
    relevant: NDArray[np.bool_]
    wider: NDArray[np.bool_]


def thematic_load(
    thesaurus: Thesaurus,
    *,
    seeds: int = SEEDS,
    events: int = EVENTS,
    subscriptions: int = SUBSCRIPTIONS,
    seed: int = 0,
) -> ThematicLoad:
    """The load of one seed of randomness; the same seed gives the same load.

    >>> from likewise.evaluation.thematic.thesaurus import ThesaurusEntry
    >>> town, europe = ThesaurusEntry(("city", "town"), ("urban area",)), ThesaurusEntry(("Europe", "Old World"), ())
    >>> small = Thesaurus("small", [town, europe], ())
    >>> load = thematic_load(small, seeds=6, events=20, subscriptions=4)
    >>> load.relevant.shape, bool((load.relevant & ~load.wider).any())
    ((4, 20), False)
    """
    sources = seed_events(seeds, seed)
    expanded = expand(sources, thesaurus, events, seed + 1)
    asked = relaxed_subscriptions(sources, subscriptions, seed + 2)
    lineage = np.array([number for _, number in expanded], np.int64)
    made = tuple(event for event, _ in expanded)
    return ThematicLoad(
        thesaurus=thesaurus.name,
        seed=seed,
        seeds=tuple(sources),
        events=made,
        lineage=lineage,
        subscriptions=tuple(asked),
        relevant=exact_relevance(asked, sources)[:, lineage],
        wider=wider_relevance(asked, made, thesaurus),
    )


def relaxed_subscriptions(seeds: Sequence[Event], count: int, seed: int = 0) -> list[Subscription]:
    """Distinct subscriptions of some tuples of a seed event each, every part relaxed (section 5.2.3).

    >>> [len(s.body.conjunctions()[0].positive) for s in relaxed_subscriptions(seed_events(9), 4)]
    [5, 5, 2, 2]
    """
    chosen = random.Random(seed)
    found: dict[tuple[EventTuple, ...], None] = {}
    in_vain = 0
    while len(found) < count and in_vain < PATIENCE:
        before = len(found)
        tuples = chosen.choice(seeds).tuples
        size = min(len(tuples), chosen.randint(FEWEST, MOST))
        found[tuple(tuples[i] for i in sorted(chosen.sample(range(len(tuples)), size)))] = None
        in_vain = 0 if len(found) > before else in_vain + 1
    if len(found) < count:
        raise InputError(f"{len(seeds)} seed events yield {len(found):,} subscriptions, {count:,} were asked for")
    return [
        Subscription(Condition(tuple(Predicate(t.attribute, "=", t.value, True, True) for t in tuples)), f"q{number}")
        for number, tuples in enumerate(found)
    ]


def predicates_of(subscription: Subscription) -> tuple[Predicate, ...]:
    """The predicates of a subscription that is one conjunction."""
    assert isinstance(subscription.body, Condition)
    (conjunction,) = subscription.body.conjunctions()
    return conjunction.positive


def exact_relevance(subscriptions: Sequence[Subscription], events: Iterable[Event]) -> NDArray[np.bool_]:
    """Which events have every pair of attribute and value a subscription names, exactly."""
    held = [{(fold(t.attribute), fold(str(t.value))) for t in event.tuples} for event in events]
    wanted = [{(fold(p.attribute), fold(str(p.value))) for p in predicates_of(s)} for s in subscriptions]
    return np.array([[pairs <= have for have in held] for pairs in wanted], bool)


def wider_relevance(
    subscriptions: Sequence[Subscription], events: Sequence[Event], thesaurus: Thesaurus
) -> NDArray[np.bool_]:
    """Which events meet some version of a subscription, its terms or thesaurus terms for them."""
    number: dict[tuple[str, str], int] = {}
    rows = [[number.setdefault((fold(t.attribute), fold(str(t.value))), len(number)) for t in e.tuples] for e in events]
    offsets = np.cumsum([0, *(len(row) for row in rows)])[:-1]
    flat = np.array([n for row in rows for n in row], np.int64)
    known: dict[tuple[str, str], NDArray[np.bool_]] = {}
    out = np.ones((len(subscriptions), len(events)), bool)
    for place, subscription in enumerate(subscriptions):
        for predicate in predicates_of(subscription):
            key = (predicate.attribute, str(predicate.value))
            if key not in known:
                attributes, values = (_versions(term, thesaurus) for term in key)
                met = np.array([a in attributes and v in values for a, v in number], bool)
                known[key] = np.logical_or.reduceat(met[flat], offsets)
            out[place] &= known[key]
    return out


def _versions(term: str, thesaurus: Thesaurus) -> set[str]:
    return {fold(term), *(fold(a.text) for a in thesaurus.alternatives(term))}


def write_load(load: ThematicLoad, folder: str | Path) -> None:
    """The load as JSON lines, one file a step."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    seeds = [str(e.id) for e in load.seeds]
    _write(folder / "seeds.jsonl", [{"id": e.id, "tuples": _plain(e)} for e in load.seeds])
    _write(
        folder / "events.jsonl",
        [{"id": e.id, "seed": seeds[n], "tuples": _plain(e)} for e, n in zip(load.events, load.lineage, strict=True)],
    )
    from likewise.language import subscription_text

    _write(
        folder / "subscriptions.jsonl",
        [{"id": s.id, "text": subscription_text(s)} for s in load.subscriptions],
    )
    ids = np.array([e.id for e in load.events])
    _write(
        folder / "relevance.jsonl",
        [
            {"subscription": s.id, "by_lineage": ids[a].tolist(), "wider_only": ids[b & ~a].tolist()}
            for s, a, b in zip(load.subscriptions, load.relevant, load.wider, strict=True)
        ],
    )


def _plain(event: Event) -> list[list[str]]:
    return [[t.attribute, str(t.value)] for t in event.tuples]


def _write(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
