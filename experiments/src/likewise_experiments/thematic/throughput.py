"""Throughput of the thematic matcher by the sizes of themes (Hasan and Curry 2014, section 5.3.2).

Cold, in CPU time, outside parallel tasks: every run opens the space anew and starts an empty matcher, because kept
scores would erase the effect under study (sources.md T).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from likewise.matching.thematic.engine import ThematicEngine
from likewise.model import Event, EventTuple, fold
from likewise.semantics.measure import Measure
from likewise.semantics.space import Space
from likewise_experiments.progress import counting
from likewise_experiments.thematic.load import ThematicLoad, predicates_of
from likewise_experiments.thematic.rewriting import Rewriting
from likewise_experiments.thematic.themes import ThemePair

if TYPE_CHECKING:
    from rich.console import Console


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


def warm_throughput(measure: Measure, load: ThematicLoad) -> float:
    """Return the events matched in a second of CPU once every pair of terms has its score (precomputed scores)."""
    engine = ThematicEngine(measure)
    for ordinal, subscription in enumerate(load.subscriptions):
        engine.add(ordinal, subscription, 0)
    events = list(load.events)
    engine.match_batch(events, [0] * len(events))
    before = time.process_time()
    engine.match_batch(events, [0] * len(events))
    return len(events) / (time.process_time() - before)


def rewriting_throughput(rewriting: Rewriting, load: ThematicLoad) -> float:
    """Return the events matched in a second of CPU by rewritten subscriptions, with every pair's answer precomputed.

    A tuple's attribute and value are looked up once in a dictionary of what they satisfy; a subscription matches when
    all its predicates are satisfied. Nobody could store the exact subscriptions that the rewriting stands for.
    """
    predicates = [
        (ordinal, predicate)
        for ordinal, subscription in enumerate(load.subscriptions)
        for predicate in predicates_of(subscription)
    ]
    needed = Counter(ordinal for ordinal, _ in predicates)

    def satisfies(relaxed: bool, wanted: str, actual: str) -> bool:
        if not relaxed:
            return fold(wanted) == fold(actual)
        return fold(actual) in rewriting.versions(wanted) or fold(wanted) in rewriting.versions(actual)

    satisfied: dict[tuple[str, object], tuple[tuple[int, int], ...]] = {
        (attribute, value): tuple(
            (number, ordinal)
            for number, (ordinal, predicate) in enumerate(predicates)
            if satisfies(predicate.attribute_relaxed, predicate.attribute, attribute)
            and satisfies(predicate.value_relaxed, str(predicate.value), str(value))
        )
        for attribute, value in {(each.attribute, each.value) for event in load.events for each in event.tuples}
    }
    before = time.process_time()
    for event in load.events:
        numbers = {pair for each in event.tuples for pair in satisfied[each.attribute, each.value]}
        counts = Counter(ordinal for _, ordinal in numbers)
        [ordinal for ordinal, count in counts.items() if count == needed[ordinal]]
    return len(load.events) / (time.process_time() - before)


def throughputs(
    space: Space,
    measure: tuple[str | None, Mapping[str, str]],
    load: ThematicLoad,
    pairs: Sequence[ThemePair],
    path: Path,
    console: Console | None = None,
) -> list[Throughput]:
    """One measurement for each pair, in turn; each is added to the file at once, and what the file holds stays."""
    known = {(t.event_size, t.subscription_size, t.sample): t for t in _read(path)}
    lacking = [p for p in pairs if (p.event_size, p.subscription_size, p.sample) not in known]
    if lacking:
        ThematicEngine(None).find(Event((EventTuple("a", "b"),)), 0)  # loads compiled code
        done = len(pairs) - len(lacking)
        with path.open("ab") as out, counting("cells timed", len(pairs), console, done=done) as tell:
            for number, pair in enumerate(lacking, done + 1):
                speed = cold_throughput(space, measure, load, pair.subscription, pair.event)
                one = Throughput(pair.event_size, pair.subscription_size, pair.sample, speed)
                known[one.event_size, one.subscription_size, one.sample] = one
                out.write(msgspec.json.encode(one) + b"\n")
                out.flush()
                tell(number)
    return [known[p.event_size, p.subscription_size, p.sample] for p in pairs]


def _read(path: Path) -> Iterator[Throughput]:
    """What a file holds; a last line that was cut short is removed from it."""
    if not path.is_file():
        return
    lines = path.read_bytes().splitlines(keepends=True)
    if lines and not lines[-1].endswith(b"\n"):
        path.write_bytes(b"".join(lines[:-1]))
        lines.pop()
    for line in lines:
        yield msgspec.json.decode(line, type=Throughput)
