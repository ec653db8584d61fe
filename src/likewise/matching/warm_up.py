"""Compile every kernel that matching uses, before anything waits for it: `python -m likewise.matching.warm_up`.

A few subscriptions of every kind and a few events run through a matcher, one by one and as a batch; numba keeps what it
compiles on the way (`likewise.kernels.cache`). What is kept already is only read. Where there are two cores, another
process compiles what matching by meaning needs meanwhile; then everything runs once more, so that nothing is missing.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from typing import Final, Literal

from likewise.kernels.cache import PORTABLE, is_compiled_ahead, mark_compiled

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
Part = Literal["all", "meaning", "rest"]
LOW_PRIORITY: Final = 19  # the lowest: portable kernels do the work meanwhile
CHOICES: Final = 17  # subscriptions by meaning of 64 conjunctions each: enough to be filed by their rarest predicate
COPIES: Final = 320  # exact subscriptions: enough for two blocks beside the tail, with dense attributes


def warm_up(space: str | None = None, measure: str | None = None, part: Part = "all") -> None:
    """Run every engine of profile `full` once over what matching does; or those by `meaning`, or the `rest`."""
    from likewise.formats.arrow.event_batch import EventBatch
    from likewise.language import parse
    from likewise.matching.matcher import Matcher
    from likewise.model import Event, Triple, event
    from likewise.model.rdf import RDF_TYPE

    matcher = Matcher(space=space, measure=measure)
    texts = [text for text in SUBSCRIPTIONS if part == "all" or ("~" in text) == (part == "meaning")]
    for number, text in enumerate(texts):
        matcher.add(parse(text, id=f"s{number}"), at=0)
    copies = 0 if part == "meaning" else COPIES
    for number in range(copies):
        matcher.add(parse(f"{{x > {number}, y < {number + 9}, city = c{number % 7}}}", id=f"c{number}"), at=0)
    for number in range(0 if part == "rest" else CHOICES):
        either = ", ".join(f"(x~ > {number + place} or city~ = c{place})" for place in range(6))
        matcher.add(parse(f"{{{either}}}", id=f"o{number}"), at=0)
    events = [event(payload, id=f"e{number}") for number, payload in enumerate(EVENTS)]
    triples = tuple(Triple(s, RDF_TYPE if p == "rdf:type" else p, o) for s, p, o in GRAPH)
    events += [Event(graph=triples, id="g"), Event(vector="1011", id="v")]
    for at, each in enumerate(events):
        matcher.match(each, at=at)
    matcher.match_batch(events, at=[10] * len(events))
    matcher.match_batch(EventBatch.from_events(events), at=[20] * len(events))
    matcher.advance(2 * 10**7)
    matcher.withdraw("e0")
    for number in range(0, copies, 3):
        matcher.remove(f"c{number}")
    matcher.match_batch(events, at=[3 * 10**7] * len(events))
    matcher.explain(events[2], "s0", at=3 * 10**7)
    for number in range(len(texts)):
        matcher.remove(f"s{number}")
    if part == "rest":
        return
    opened = matcher.interpretation.space
    opened.nearest("laptop", 3, themes=["computers"])
    for name in ("esa", "thematic"):
        opened.relatedness("energy consumption", "power usage", themes=["energy"], measure=name)


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
    parser.add_argument("--part", choices=("all", "meaning", "rest"), default="all", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.native:
        os.environ[PORTABLE] = ""
        os.nice(LOW_PRIORITY)
    if arguments.part == "all":
        if (os.cpu_count() or 1) > 1 and not arguments.native and not is_compiled_ahead():
            compiler = subprocess.Popen([sys.executable, "-m", __spec__.name, *sys.argv[1:], "--part", "meaning"])
            warm_up(arguments.space, arguments.measure, "rest")
            compiler.wait()  # if it failed, what follows fails in the same way, and says so
        warm_up(arguments.space, arguments.measure)
        mark_compiled()
    else:
        warm_up(arguments.space, arguments.measure, arguments.part)


if __name__ == "__main__":
    main()
