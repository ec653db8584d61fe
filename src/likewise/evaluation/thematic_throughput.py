"""Throughput of the thematic matcher by the sizes of themes (Hasan and Curry 2014, section 5.3.2).

Cold, in CPU time, outside parallel tasks: every run opens the space anew and starts an empty matcher, because kept
scores would erase the effect under study (SPEC.md T).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from likewise.evaluation.thematic_load import ThematicLoad
from likewise.evaluation.themes import ThemePair
from likewise.matching.thematic import ThematicEngine
from likewise.model import Event, EventTuple
from likewise.semantics.space import Space


class Throughput(msgspec.Struct, frozen=True):
    """Events a second of CPU, in one sub-experiment."""

    event_size: int
    subscription_size: int
    sample: int
    events_per_s: float


def cold_throughput(
    space: Space,
    measure: tuple[str | None, Mapping[str, str]],
    load: ThematicLoad,
    asked: Sequence[str] = (),
    seen: Sequence[str] = (),
) -> float:
    """Events matched in a second of CPU by a matcher that knows nothing yet, the sides under theme tags."""
    fresh = Space(space.files).measure(measure[0], **measure[1])
    engine = ThematicEngine(fresh)
    for ordinal, subscription in enumerate(load.subscriptions):
        engine.add(ordinal, msgspec.structs.replace(subscription, themes=tuple(asked)), 0)
    events = [Event(e.tuples, themes=tuple(seen)) for e in load.events]
    before = time.process_time()
    engine.match_batch(events, [0] * len(events))
    return len(events) / (time.process_time() - before)


def throughputs(
    space: Space, measure: tuple[str | None, Mapping[str, str]], load: ThematicLoad, pairs: Sequence[ThemePair]
) -> Iterator[Throughput]:
    """One measurement for each pair, in turn."""
    ThematicEngine(None).find(Event((EventTuple("a", "b"),)), 0)  # loads compiled code
    for pair in pairs:
        speed = cold_throughput(space, measure, load, pair.subscription, pair.event)
        yield Throughput(pair.event_size, pair.subscription_size, pair.sample, speed)
