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
from likewise.model import Condition, Event, EventTuple, Predicate, Subscription, fold
from likewise_experiments.thematic.expansion import expand
from likewise_experiments.thematic.seed_events import seed_events
from likewise_experiments.thematic.thesaurus import Thesaurus

SEEDS, EVENTS, SUBSCRIPTIONS = 166, 14_743, 94  # the paper's numbers
PATIENCE = 10_000  # draws without a new subscription before there are held to be no more
FEWEST, MOST = 2, 5  # predicates of a subscription; the paper says "a number of tuples" and shows three


DEGREES = (0, 50, 100)


class ThematicLoad(msgspec.Struct, frozen=True, eq=False):
    """Seed events, the events expanded from them, relaxed subscriptions, and relevance.

    `lineage` is the seed of each event. `relevant` has a row for each subscription and a column for each
    event: the event's seed meets the exact subscription, and the parts that are not relaxed are still as the seed
    has them. `wider` is the other reading of section 5.2.3: the event meets a version of the subscription that has
    thesaurus terms in place of its own, where it is relaxed. `degree` is the part of each subscription that is
    relaxed, in percent.
    """

    thesaurus: str
    seed: int
    seeds: tuple[Event, ...]
    events: tuple[Event, ...]
    lineage: NDArray[np.int64]
    subscriptions: tuple[Subscription, ...]
    relevant: NDArray[np.bool_]
    wider: NDArray[np.bool_]
    degree: int = 100


def thematic_load(
    thesaurus: Thesaurus,
    *,
    seeds: int = SEEDS,
    events: int = EVENTS,
    subscriptions: int = SUBSCRIPTIONS,
    seed: int = 0,
    degree: int = 100,
) -> ThematicLoad:
    """The load of one seed of randomness; the same seed gives the same load, whatever the degree of approximation.

    >>> from likewise_experiments.thematic.thesaurus import ThesaurusEntry
    >>> town, europe = ThesaurusEntry(("city", "town"), ("urban area",)), ThesaurusEntry(("Europe", "Old World"), ())
    >>> small = Thesaurus("small", [town, europe], ())
    >>> load = thematic_load(small, seeds=6, events=20, subscriptions=4)
    >>> load.relevant.shape, bool((load.relevant & ~load.wider).any())
    ((4, 20), False)
    """
    sources = seed_events(seeds, seed)
    expanded = expand(sources, thesaurus, events, seed + 1)
    asked = relaxed_subscriptions(sources, subscriptions, seed + 2, degree)
    lineage = np.array([number for _, number in expanded], np.int64)
    made = tuple(event for event, _ in expanded)
    return ThematicLoad(
        thesaurus=thesaurus.name,
        seed=seed,
        seeds=tuple(sources),
        events=made,
        lineage=lineage,
        subscriptions=tuple(asked),
        relevant=exact_relevance(asked, sources)[:, lineage] & kept_parts(asked, sources, made, lineage),
        wider=wider_relevance(asked, made, thesaurus),
        degree=degree,
    )


def relaxed_subscriptions(seeds: Sequence[Event], count: int, seed: int = 0, degree: int = 100) -> list[Subscription]:
    """Distinct subscriptions of some tuples of a seed event each, every part relaxed (section 5.2.3).

    At a lower degree of approximation so many percent of each subscription's attributes and values are, drawn at
    random.

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
    return [_subscription(tuples, f"q{number}", degree, seed) for number, tuples in enumerate(found)]


def _subscription(tuples: tuple[EventTuple, ...], id: str, degree: int, seed: int) -> Subscription:
    parts = 2 * len(tuples)
    relaxed = set(random.Random(f"{seed} {id} degree").sample(range(parts), round(parts * degree / 100)))
    return Subscription(
        Condition(
            tuple(
                Predicate(t.attribute, "=", t.value, 2 * place in relaxed, 2 * place + 1 in relaxed)
                for place, t in enumerate(tuples)
            )
        ),
        id,
    )


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


def kept_parts(
    subscriptions: Sequence[Subscription], seeds: Sequence[Event], events: Sequence[Event], lineage: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Which events still say, in their seed's words, the parts that a subscription does not relax.

    Only those of a seed that meets the exact subscription are looked at; the others are counted as if they did.
    """
    out = np.ones((len(subscriptions), len(events)), bool)
    for place, subscription in enumerate(subscriptions):
        strict = [p for p in predicates_of(subscription) if not (p.attribute_relaxed and p.value_relaxed)]
        where = [[_position(p, seed) for p in strict] for seed in seeds] if strict else []
        for column, (event, source) in enumerate(zip(events, lineage.tolist(), strict=True)):
            if strict and None not in where[source]:
                out[place, column] = all(
                    _as_asked(p, event.tuples[at])
                    for p, at in zip(strict, where[source], strict=True)
                    if at is not None
                )
    return out


def _position(predicate: Predicate, seed: Event) -> int | None:
    """Which tuple of a seed a predicate was made from."""
    wanted = fold(predicate.attribute), fold(str(predicate.value))
    pairs = [(fold(t.attribute), fold(str(t.value))) for t in seed.tuples]
    return pairs.index(wanted) if wanted in pairs else None


def _as_asked(predicate: Predicate, item: EventTuple) -> bool:
    return (predicate.attribute_relaxed or fold(item.attribute) == fold(predicate.attribute)) and (
        predicate.value_relaxed or fold(str(item.value)) == fold(str(predicate.value))
    )


def wider_relevance(
    subscriptions: Sequence[Subscription], events: Sequence[Event], thesaurus: Thesaurus
) -> NDArray[np.bool_]:
    """Which events meet some version of a subscription: its terms, or thesaurus terms for those it relaxes."""
    number: dict[tuple[str, str], int] = {}
    rows = [[number.setdefault((fold(t.attribute), fold(str(t.value))), len(number)) for t in e.tuples] for e in events]
    offsets = np.cumsum([0, *(len(row) for row in rows)])[:-1]
    flat = np.array([n for row in rows for n in row], np.int64)
    known: dict[Predicate, NDArray[np.bool_]] = {}
    out = np.ones((len(subscriptions), len(events)), bool)
    for place, subscription in enumerate(subscriptions):
        for predicate in predicates_of(subscription):
            if predicate not in known:
                attributes = _versions(predicate.attribute, predicate.attribute_relaxed, thesaurus)
                values = _versions(str(predicate.value), predicate.value_relaxed, thesaurus)
                met = np.array([a in attributes and v in values for a, v in number], bool)
                known[predicate] = np.logical_or.reduceat(met[flat], offsets)
            out[place] &= known[predicate]
    return out


def _versions(term: str, relaxed: bool, thesaurus: Thesaurus) -> set[str]:
    return {fold(term), *(fold(a.text) for a in thesaurus.alternatives(term) if relaxed)}


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
