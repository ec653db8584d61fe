"""The scenes of `likewise demo`: examples of the papers behind Likewise, and sensors with names of their own."""

from __future__ import annotations

from typing import Final, NamedTuple

from likewise.model import Event, Triple, event
from likewise.model.rdf import RDF_TYPE

HOUR: Final = 3_600_000_000  # µs
NOON: Final = 1_700_000_000_000_000  # µs; any moment will do, and a fixed one shows the same every day


class Scene(NamedTuple):
    """A few subscriptions, and events in the order they arrive."""

    title: str
    remark: str
    subscriptions: dict[str, str]
    events: tuple[Event, ...]
    ends: int | None = None  # the moment to which time passes after the last event
    explained: tuple[str, ...] = ()  # ids of events to explain


def scenes() -> tuple[Scene, ...]:
    """Return the scenes, in the order they are shown."""
    return (other_words(), other_names(), places(), nearest(), football(), interests())


def other_words() -> Scene:
    """Return the example of the thematic matching paper, section 3."""
    office = {"measurement unit": "kilowatt hour", "office": "room 112"}
    usage = {"type": "increased energy consumption event", **office}
    themes = ("energy", "appliances", "building")
    return Scene(
        "The same thing in other words",
        "~ relaxes a part: the event may say it in other words. Themes in braces tell the meaning.",
        {"energy": "{power, computers} {type = increased energy usage event~, device~ = laptop~, office = room 112}"},
        (
            event({**usage, "device": "computer"}, themes=themes, id="e1"),
            event({**usage, "device": "computer", "office": "room 204"}, themes=themes, id="e2"),
        ),
        explained=("e1",),
    )


def other_names() -> Scene:
    """Return readings of three makers' sensors, each with its own name and unit."""
    return Scene(
        "Names and units nobody agreed on",
        "Makers name their readings as they like. A unit in the name, or beside the number, is understood.",
        {"warm": "{temperature~ > 25 degC, city = Galway}"},
        (
            event({"TempC_SHT": 27.1, "city": "Galway"}, id="e3"),
            event({"air_temp_f": 81.2, "city": "Galway"}, id="e4"),
            event({"temperatureMeasure": 26, "city": "Galway"}, id="e5"),
            event({"air_temp_f": 68.0, "city": "Galway"}, id="e6"),
        ),
        explained=("e6",),
    )


def places() -> Scene:
    """Return the geographic box of the CUPUS report, section 4.4."""
    return Scene(
        "Exact, in a place, whatever the unit",
        "Without ~ nothing is guessed: numbers, ranges and units only.",
        {"box": "{no2 > 40 ug/m3, 45.81 <= lat <= 45.82, long between 15.96 and 15.98}"},
        (
            event({"no2": {"value": 45, "unit": "ug/m3"}, "lat": 45.81543, "long": 15.97433}, id="e7"),
            event({"no2": {"value": 0.052, "unit": "mg/m3"}, "lat": 45.8171, "long": 15.9702}, id="e8"),
            event({"no2": {"value": 45, "unit": "ug/m3"}, "lat": 45.79, "long": 15.97433}, id="e9"),
        ),
    )


def nearest() -> Scene:
    """Return the readings nearest to home within a day: a top-k/w subscription of the CUPUS report."""
    sites = (
        ("e10", 0, 45.830, 15.990),
        ("e11", 2, 45.816, 15.975),
        ("e12", 3, 45.900, 16.100),
        ("e13", 4, 45.818, 15.980),
    )
    return Scene(
        "The two nearest in a day",
        "A reading is delivered once it is among the two nearest: at once, or when a nearer one grows old.",
        {"home": "{no2 > 40} top 2 within 24 h by distance(lat 45.815, long 15.977)"},
        tuple(
            event({"no2": 45, "lat": lat, "long": long}, id=id, time=NOON + hours * HOUR)
            for id, hours, lat, long in sites
        ),
        ends=NOON + 26 * HOUR + HOUR // 2,
    )


def football() -> Scene:
    """Return the final of 2010, a subscription to it as in the hybrid matching paper, and a concert."""
    spain, netherlands = "Spain national football team", "Netherlands national football team"
    final = (
        ("name", "2010 FIFA World Cup Final"),
        ("referee", "Howard Webb"),
        ("location", "FNB Stadium"),
        ("location", "Johannesburg"),
        ("team", spain),
        ("team", netherlands),
    )
    concert = (("name", "Summer Serenade"), ("performer", "City Orchestra"), ("location", "Vienna"))
    return Scene(
        "Statements about Linked Data",
        "All of it is approximate: properties and values are compared by meaning.",
        {"final": f'event type "Football Match" . event team "{spain}" . event stadium "FNB Stadium"'},
        (_graph("e14", "FootballMatch", final), _graph("e15", "Concert", concert)),
    )


def _graph(id: str, type: str, properties: tuple[tuple[str, str], ...]) -> Event:
    subject = f"<http://example.org/{id}>"
    triples = [Triple(subject, RDF_TYPE, f"<http://example.org/{type}>")]
    triples += [Triple(subject, f"<http://example.org/{name}>", f'"{value}"') for name, value in properties]
    return Event(id=id, graph=tuple(triples))


def interests() -> Scene:
    """Return the event of the matching heuristics survey, with four of its subscriptions."""
    return Scene(
        "Interest vectors",
        "Yes, no, or either, for each property.",
        {"S1": "[0, 0, 1, 1, 1]", "S2": "[0, 1, 1, 0, 1]", "S3": "[*, 1, 1, *, 1]", "S5": "[0, 1, *, 0, 1]"},
        (Event(id="e16", vector="01101"),),
    )
