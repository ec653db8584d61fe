"""Cold start: what the first events of a stream get from a matcher that knows nothing yet.

Hasan and Curry leave it for later (2014, section 7). A matcher is started empty on a space opened anew, and events
come one by one: F1 of the ranking of the first ones and of as many after them, and the CPU time each of them took.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from likewise.matching.thematic.engine import ThematicEngine
from likewise.model import Event, EventTuple
from likewise.semantics.library import load_space
from likewise.semantics.space import Space
from likewise_experiments.thematic.grid import MeasureChoice
from likewise_experiments.thematic.letter import LETTER, OURS
from likewise_experiments.thematic.load import EVENTS, SUBSCRIPTIONS, ThematicLoad, thematic_load
from likewise_experiments.thematic.sub_experiment import averaged_f1
from likewise_experiments.thematic.themes import theme_pairs
from likewise_experiments.thematic.thesauri import open_thesaurus

FIRST: Final = 1_000
TAGS: Final = (4, 7)  # of events and of subscriptions: within the sizes that the paper recommends
FILE: Final = "cold-start.json"


class Stretch(msgspec.Struct, frozen=True):
    """Some events of a stream, one after another: quality by lineage, and CPU time in milliseconds an event."""

    events: int
    f1: float
    cpu_s: float
    median_ms: float
    p99_ms: float
    slowest_ms: float


class ColdStart(msgspec.Struct, frozen=True):
    """One measure under one pair of themes: the first events, and as many after them."""

    name: str
    measure: str
    event_tags: int
    subscription_tags: int
    first: Stretch
    following: Stretch


def cold_start(
    space: Space,
    measure: MeasureChoice,
    load: ThematicLoad,
    *,
    asked: Sequence[str] = (),
    seen: Sequence[str] = (),
    first: int = FIRST,
    seed: int = 0,
) -> ColdStart:
    """Two runs over the same events in random order: one timed at the default threshold, one ranked without any."""
    places = random.Random(seed).sample(range(len(load.events)), min(2 * first, len(load.events)))
    events = [Event(load.events[place].tuples, themes=tuple(seen)) for place in places]
    ThematicEngine(None).find(Event((EventTuple("a", "b"),)), 0)  # loads compiled code
    Space(space.files).measure(measure[0], **measure[1]).matrix([], [])
    engine = _started(space, measure, load, asked)
    times = np.empty(len(events))
    for number, event in enumerate(events):
        before = time.process_time_ns()
        engine.find(event, 0)
        times[number] = (time.process_time_ns() - before) / 1e6
    ranking = _started(space, measure, load, asked, threshold=0.0)
    scores = np.zeros((len(load.subscriptions), len(events)))
    for number, event in enumerate(events):
        found = ranking.find(event, 0)
        scores[found.ordinals, number] = 1.0 if found.scores is None else found.scores
    relevant = load.relevant[:, places]
    name, options = measure
    said = ":".join([name or "default", *(f"{k}={v}" for k, v in options.items())])
    return ColdStart(
        LETTER.name if measure == LETTER.measure else said,
        said,
        len(seen),
        len(asked),
        _stretch(times[:first], scores[:, :first], relevant[:, :first]),
        _stretch(times[first:], scores[:, first:], relevant[:, first:]),
    )


def cold_starts(
    thesaurus: str,
    folder: Path,
    *,
    space: str | None = None,
    measure: MeasureChoice | None = None,
    letter: bool = False,
    seed: int = 0,
    events: int = EVENTS,
    subscriptions: int = SUBSCRIPTIONS,
    first: int = FIRST,
) -> tuple[ColdStart, ...]:
    """The usual measures (the default one, ours and the letter), or one that is named, without themes and with them."""
    words, opened = open_thesaurus(thesaurus), load_space(space)
    load = thematic_load(words, events=events, subscriptions=subscriptions, seed=seed)
    (pair,) = theme_pairs(words.top_terms(), [TAGS[0]], [TAGS[1]], 1, seed)
    usual: list[MeasureChoice] = [("combine", {}), OURS.measure, LETTER.measure]
    chosen = [LETTER.measure] if letter else usual if measure is None else [measure]
    found = tuple(
        cold_start(opened, each, load, asked=asked, seen=seen, first=first, seed=seed)
        for each in chosen
        for asked, seen in (((), ()), (pair.subscription, pair.event))
    )
    (folder / FILE).write_bytes(msgspec.json.format(msgspec.json.encode(found)))
    return found


def _started(
    space: Space,
    measure: MeasureChoice,
    load: ThematicLoad,
    asked: Sequence[str],
    threshold: float | None = None,
) -> ThematicEngine:
    """A matcher with the load's subscriptions and nothing kept."""
    fresh = Space(space.files).measure(measure[0], **measure[1])
    engine = ThematicEngine(fresh) if threshold is None else ThematicEngine(fresh, threshold)
    for ordinal, subscription in enumerate(load.subscriptions):
        engine.add(ordinal, msgspec.structs.replace(subscription, themes=tuple(asked)), 0)
    return engine


def _stretch(times: NDArray[np.float64], scores: NDArray[np.float64], relevant: NDArray[np.bool_]) -> Stretch:
    if not len(times):
        return Stretch(0, 0.0, 0.0, 0.0, 0.0, 0.0)
    median, p99, slowest = np.percentile(times, [50, 99, 100]).tolist()
    f1 = averaged_f1(scores, relevant)[0] if relevant.any() else 0.0
    return Stretch(len(times), f1, float(times.sum() / 1e3), median, p99, slowest)
