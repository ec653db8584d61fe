"""Graph patterns with joins over real events: a part of `benchmarks.triples`, measured with `--rdf DIR`."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

from likewise.formats.rdf.reader import events_from_rdf
from likewise.matching.graphs.engine import GraphPatternEngine
from likewise.matching.oracle.engine import OracleEngine
from likewise.model import Event, GraphPattern, Subscription, TriplePattern

Row = dict[str, Any]


def spent(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds, and what came out."""
    gc.collect()
    began = time.process_time()
    result = work()
    return max(time.process_time() - began, 1e-9), result


def graph_patterns(events: Sequence[Event], number: int, seed: int) -> list[Subscription]:
    """Patterns of two to four statements taken from an event, each object a constant or a variable, one of a kind."""
    chance = Random(seed)
    made: dict[GraphPattern, None] = {}
    usable = [event for event in events if len(event.graph) > 1]
    while len(made) < number:
        graph = chance.choice(usable).graph
        chosen = chance.sample(graph, min(len(graph), chance.randint(2, 4)))
        subjects = {subject: f"?s{i}" for i, subject in enumerate(dict.fromkeys(t.subject for t in chosen))}
        parts = [
            TriplePattern(
                subjects[t.subject],
                t.predicate,
                subjects.get(t.object, t.object if i == 0 or chance.random() < 0.4 else f"?o{i}"),
            )
            for i, t in enumerate(chosen)
        ]
        made[GraphPattern(tuple(parts))] = None
    return [Subscription(body, id=f"s{i}") for i, body in enumerate(made)]


def joins(folder: Path, number: int, rounds: int, seed: int = 1) -> Row:
    """Graph patterns with joins over the real events of a folder, checked against plain evaluation on a few."""
    import gzip

    events: list[Event] = []
    for name, kind in (
        ("event-infobox-triples.nt.gz", "nt"),
        ("citybench/dataset/AarhusCulturalEvents.rdf.gz", "rdf"),
        ("citybench/dataset/AarhusLibraryEvents.rdf.gz", "rdf"),
    ):
        if (folder / name).is_file():
            with gzip.open(folder / name) as file:
                events += events_from_rdf(file.read(), kind, on_error=lambda error: None)
    if not events:
        raise SystemExit(f"there are no events in {folder}; name the folder that holds event-infobox-triples.nt.gz")
    subscriptions = graph_patterns(events, number, seed)
    engine, plain = GraphPatternEngine(), OracleEngine()

    def build() -> None:
        for ordinal, subscription in enumerate(subscriptions):
            engine.add(ordinal, subscription, 0)

    built, _ = spent(build)
    for ordinal, subscription in enumerate(subscriptions):
        plain.add(ordinal, subscription, 0)
    few = events[:: max(1, len(events) // 8)][:8]
    naive, expected = spent(lambda: [plain.match(event, 0) for event in few])
    if [engine.match(event, 0) for event in few] != expected:
        raise SystemExit("graph patterns differ from plain evaluation")
    moments = [0] * len(events)
    engine.match_batch(events[:1], [0])
    batch, hits = min(spent(lambda: len(engine.match_batch(events, moments).ordinals)) for _ in range(rounds))
    single, found = min(spent(lambda: sum(len(engine.match(event, 0)) for event in events)) for _ in range(rounds))
    assert hits == found
    return {
        "subscriptions": number,
        "distinct_triple_patterns": engine.patterns,
        "events": len(events),
        "triples": sum(len(event.graph) for event in events),
        "matches": hits,
        "add_us": round(built * 1e6 / number, 2),
        "batch_us_per_event": round(batch * 1e6 / len(events), 1),
        "with_bindings_us_per_event": round(single * 1e6 / len(events), 1),
        "plain_us_per_event": round(naive * 1e6 / len(few), 1),
    }
