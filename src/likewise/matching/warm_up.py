"""Compile every kernel that matching uses, before anything waits for it: `python -m likewise.matching.warm_up`.

A few subscriptions of every kind and a few events run through a matcher, one by one and as a batch; numba stores what
it compiles on the way (`likewise.kernels.cache`). What is stored already is only read.

The work is divided into parts that compile different kernels, so that two processes share it. `conditions` and
`measure` together are the first stage: conditions, exact or relaxed, and alerts, which most subscriptions are.
Rankings, graph patterns, interests and statements follow, which a broker compiles while it runs.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, get_args

from likewise.kernels.cache import PORTABLE, Stage, is_compiled_ahead, mark_compiled

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from likewise.matching.matcher import Matcher
    from likewise.model import Kind
    from likewise.semantics.measure import Term

SUBSCRIPTIONS: Final = (
    "{x > 1, city = Galway, not status = off}",
    "{x between 2 and 30 degC, name starts with a, tag in (a, b)}",
    "{place under building/1, x != 3, y exists}",
    "{temperature~ > 25 degC, device~ = laptop~}",
    "{power, computers} {type = increased energy usage event~, device~ = laptop~, office = room 112}",
    "{device~ = laptop~, not room~ = kitchen~} threshold 0.3",
    "{x exists} top 2 within 3 events by value(x)",
    "{x exists} top 1 within 10 s by value(x) highest",
    "{x > 0} top 2 within 24 h by distance(lat 45.8, long 15.9)",
    "{x > 0} top 2 within 5 events by sum(2*x + y)",
    "{device~ = laptop~} top 2 within 30 min by relatedness",
    'event type "Football Match" . event team "Spain national football team"',
    "?e rdf:type dbo:Event . ?e dbp:stadium ?x",
    "?e rdf:type dbo:Event",
    "near (?e, dbp:stadium, ?x) top 2 within 5 events by meaning",
    "[1, 0, *, 1]",
    "[*, 0, *, 1]",
)
EVENTS: Final = (
    {"x": 2.5, "y": 4, "city": "Galway", "lat": 45.81, "long": 15.97, "place": "building/1/2", "tag": "a"},
    {"x": {"value": 81.2, "unit": "degF"}, "name": "abc", "status": "off", "lat": 45.7, "long": 15.9, "y": 2},
    {"TempC_SHT": 27.1, "appliance": "computer", "room": "room 112", "type": "increased energy consumption event"},
    {"x": 7, "y": 1, "device": "notebook computer", "temperature": "26 degC", "lat": 45.9, "long": 16.0},
)
GRAPH: Final = (
    ("<http://e.org/m>", "rdf:type", "<http://dbpedia.org/ontology/Event>"),
    ("<http://e.org/m>", "<http://dbpedia.org/property/stadium>", '"Soccer City"'),
    ("<http://e.org/m>", "<http://dbpedia.org/ontology/team>", "<http://dbpedia.org/resource/Spain>"),
)
# The kinds of subscriptions that a part compiles the kernels of.
KINDS_OF_PART: Final[dict[str, frozenset[Kind]]] = {
    "conditions": frozenset(("exact", "approximate", "alert")),
    "measure": frozenset(("approximate",)),
    "rankings": frozenset(("top",)),
    "others": frozenset(("interest", "near", "pattern", "statements")),
}
Part = Literal["conditions", "measure", "rankings", "others"]
# The parts of each stage, as two processes share them.
SHARES: Final[dict[Stage, tuple[tuple[Part, ...], ...]]] = {
    "first": (("conditions",), ("measure",)),
    "all": (("conditions", "others"), ("measure", "rankings")),
}
LOW_PRIORITY: Final = 19  # the lowest: portable kernels do the work meanwhile
BESIDE_PRIORITY: Final = 10  # a broker that runs comes first, but subscriptions wait for these kernels
CHOICES: Final = 17  # subscriptions by meaning of 64 conjunctions each: enough to be filed by their rarest predicate
COPIES: Final = 320  # exact subscriptions: enough for two blocks beside the tail, with dense attributes


class _EverythingRelated:
    """A measure that computes nothing, so that the kernels of matching are compiled without those of a measure."""

    name = "everything related"

    def matrix(self, queries: Sequence[Term], candidates: Sequence[Term]) -> NDArray[np.float32]:
        """Return 0.9 for every pair."""
        import numpy as np

        return np.full((len(queries), len(candidates)), 0.9, np.float32)

    def configuration(self) -> dict[str, object]:
        """Return the name."""
        return {"name": self.name}


def warm_up(space: str | None = None, measure: str | None = None, part: Part | None = None) -> None:
    """Run every engine of profile `full` once over what matching does; or those that a part needs."""
    from likewise.formats.arrow.event_batch import EventBatch
    from likewise.language import parse
    from likewise.matching.matcher import Matcher
    from likewise.model import Event, Triple, event
    from likewise.model.rdf import RDF_TYPE

    if part == "conditions":
        matcher = Matcher(measure=_EverythingRelated())
    elif part == "measure":  # the oracle asks the measure as the engine does, and has no kernels
        matcher = Matcher(space=space, measure=measure, engines={"approximate": "naive"})
    else:
        matcher = Matcher(space=space, measure=measure)
    subscriptions = [parse(text, id=f"s{number}") for number, text in enumerate(SUBSCRIPTIONS)]
    if part is not None:
        kinds = KINDS_OF_PART[part]
        subscriptions = [each for each in subscriptions if each.kind in kinds]
    for each in subscriptions:
        matcher.add(each, at=0)
    copies = COPIES if part in (None, "conditions") else 0
    for number in range(copies):
        matcher.add(parse(f"{{x > {number}, y < {number + 9}, city = c{number % 7}}}", id=f"c{number}"), at=0)
    for number in range(CHOICES if copies else 0):
        either = ", ".join(f"(x~ > {number + place} or city~ = c{place})" for place in range(6))
        matcher.add(parse(f"{{{either}}}", id=f"o{number}"), at=0)
    events = [event(payload, id=f"e{number}") for number, payload in enumerate(EVENTS)]
    triples = tuple(Triple(s, RDF_TYPE if p == "rdf:type" else p, o) for s, p, o in GRAPH)
    events += [Event(graph=triples, id="g"), Event(vector="1011", id="v")]
    for at, each_event in enumerate(events):
        matcher.match(each_event, at=at)
    matcher.match_batch(events, at=[10] * len(events))
    matcher.match_batch(EventBatch.from_events(events), at=[20] * len(events))
    matcher.advance(2 * 10**7)
    matcher.withdraw("e0")
    for number in range(0, copies, 3):
        matcher.remove(f"c{number}")
    matcher.match_batch(events, at=[3 * 10**7] * len(events))
    if "s0" in matcher:
        matcher.explain(events[2], "s0", at=3 * 10**7)
    for each in subscriptions:
        matcher.remove(each.id)
    if part in (None, "others"):
        _use_space(matcher)


def _use_space(matcher: Matcher) -> None:
    """Look up neighbours and relatedness, which commands and pages do beside matching."""
    space = matcher.interpretation.space
    space.nearest("laptop", 3, themes=["computers"])
    for name in ("esa", "thematic"):
        space.relatedness("energy consumption", "power usage", themes=["energy"], measure=name)


def compile_stage(stage: Stage, space: str | None = None, measure: str | None = None) -> None:
    """Compile the kernels of a stage in two processes, if there are two cores, and mark it."""
    own, other = SHARES[stage]
    options = [*(("--space", space) if space else ()), *(("--measure", measure) if measure else ())]
    if (os.cpu_count() or 1) > 1 and not is_compiled_ahead(stage=stage):
        parts = [option for part in other for option in ("--part", part)]
        beside = subprocess.Popen([sys.executable, "-m", "likewise.matching.warm_up", *options, *parts])
        _warm_up_parts(own, space, measure)
        if code := beside.wait():
            sys.exit(code)  # it has printed why
    elif stage == "first":
        _warm_up_parts((*own, *other), space, measure)
    if stage == "all":
        warm_up(space, measure)  # whatever no part reaches
    mark_compiled(stage)


def _warm_up_parts(parts: Iterable[Part], space: str | None, measure: str | None) -> None:
    for part in parts:
        warm_up(space, measure, part)


def lower_priority(nice: int) -> None:
    """Lower the priority of this process, also against other sessions where Linux schedules sessions as groups."""
    os.nice(nice)
    with suppress(OSError):  # no such system
        Path("/proc/self/autogroup").write_text(str(nice), encoding="ascii")


def main() -> None:
    """Compile what a broker with this space and measure will need, and mark it done."""
    parser = argparse.ArgumentParser(description="Compile the matching kernels, once.")
    parser.add_argument("--space")
    parser.add_argument("--measure")
    parser.add_argument(
        "--native",
        action="store_true",
        help="for this very processor, at low priority, although portable ones are there",
    )
    parser.add_argument(
        "--stage",
        choices=get_args(Stage),
        default="all",
        help="first: conditions and alerts, which most subscriptions are; all: every kind (the default)",
    )
    parser.add_argument("--beside", action="store_true", help="at lower priority, beside a broker that runs")
    parser.add_argument("--part", action="append", choices=get_args(Part), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    space, measure = arguments.space, arguments.measure
    if arguments.beside:
        lower_priority(BESIDE_PRIORITY)
    if arguments.native:
        os.environ[PORTABLE] = ""
        lower_priority(LOW_PRIORITY)
        warm_up(space, measure)
        mark_compiled()
    elif arguments.part:
        _warm_up_parts(arguments.part, space, measure)
    else:
        compile_stage(arguments.stage, space, measure)


if __name__ == "__main__":
    main()
