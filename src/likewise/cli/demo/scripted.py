"""`likewise demo`: a few events and subscriptions, what matches, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.compiling import report_compilation
from likewise.cli.terminal.options import AsJson
from likewise.model import Event, Triple, event
from likewise.model.rdf import RDF_TYPE

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from likewise.matching.matcher import Matcher
    from likewise.model import Match


def demo(
    as_json: AsJson = False,
    city: Annotated[bool, typer.Option("--city", help="Run a broker, a simulated city and the dashboard.")] = False,
    edge: Annotated[bool, typer.Option("--edge", help="The city with three edges, one losing its line.")] = False,
    seconds: Annotated[float | None, typer.Option(min=0, help="With --city: end by itself after so long.")] = None,
    devices: Annotated[int, typer.Option(min=1, max=10_000, help="With --city: how many devices.")] = 60,
    seed: Annotated[int, typer.Option(help="With --city: another number is another city.")] = 1,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="With --city: the broker's port.")] = None,
    dashboard: Annotated[bool, typer.Option(help="With --city: serve the dashboard too.")] = True,
) -> None:
    """Show a few events, what they match, and why; with --city, a whole city live.

    Example: `likewise demo --city`
    """
    if edge:
        from likewise.cli.demo.edges import show_edges

        show_edges(seconds=seconds, devices=devices, seed=seed, port=port, dashboard=dashboard)
        return
    if city:
        from likewise.cli.demo.city import show_city

        show_city(seconds=seconds, devices=devices, seed=seed, port=port, dashboard=dashboard)
        return
    from likewise import Matcher, parse

    screen = None if as_json else output.console()
    for scene in scenes():
        matcher = Matcher(clock=lambda: NOON)
        for id, text in scene.subscriptions.items():
            matcher.add(parse(text, id=id))
        with report_compilation():
            happened = list(run_scene(matcher, scene))
        if screen is None:
            _print_json(happened)
        else:
            _print_scene(screen, scene, matcher, happened)
    if screen is not None:
        screen.print(
            "Next: a whole city with likewise demo --city; likewise explain --help; likewise match --help", style="dim"
        )


class SceneStep(NamedTuple):
    """An event (or None, when time just passed), its matches, and what kept it from the first subscription."""

    event: Event | None
    matches: Sequence[Match]
    verdict: str


def run_scene(matcher: Matcher, scene: Scene) -> Iterator[SceneStep]:
    """Match each event in turn, then let time pass to the end of the scene."""
    first = next(iter(scene.subscriptions))
    for published in scene.events:
        matches = matcher.match(published)
        yield SceneStep(published, matches, matcher.explain(published, first).verdict)
    if scene.ends is not None:
        yield SceneStep(None, matcher.advance(scene.ends), "match")


def _print_json(happened: Sequence[SceneStep]) -> None:
    from likewise.formats.json.results import match_to_json

    for moment in happened:
        for match in moment.matches:
            output.print_line(match_to_json(match))


def _print_scene(screen: Console, scene: Scene, matcher: Matcher, happened: Sequence[SceneStep]) -> None:
    from rich.padding import Padding
    from rich.rule import Rule
    from rich.table import Table
    from rich.text import Text

    from likewise.cli.terminal.rendering import explanation_summary

    screen.print(Rule(Text(scene.title, "bold"), align="left", style="dim"))
    screen.print(Text(scene.remark, "dim italic"))
    subscriptions = Table.grid(padding=(0, 2, 0, 0))
    for id, text in scene.subscriptions.items():
        subscriptions.add_row(Text(id, "bold cyan"), Text(text, "cyan"))
    screen.print(Padding(subscriptions, (1, 0, 1, 2)))
    shown = Table.grid(padding=(0, 2, 0, 0), expand=True)
    shown.add_column()
    shown.add_column()
    shown.add_column(ratio=1)
    shown.add_column(width=30)
    for moment in happened:
        for row in _step_rows(moment):
            shown.add_row(*row)
    screen.print(Padding(shown, (0, 0, 1, 2)))
    for published in scene.events:
        if published.id in scene.explained:
            for id in scene.subscriptions:
                explanation = matcher.explain(published, id)
                question = "Why does {} match {}?" if explanation.verdict == "match" else "Why does {} not match {}?"
                screen.print(Text(question.format(published.id, id), "bold"))
                screen.print(Padding(explanation_summary(explanation), (0, 0, 1, 2)))


def _step_rows(moment: SceneStep) -> Iterator[tuple[Text, Text, Text, Text]]:
    """Yield a row for an event with its matches; or, when time passed, one for each event that was promoted."""
    from rich.text import Text

    from likewise.model.rendering import event_text, verdict_text

    yes, no = Text("✓", "bold green"), Text("✗", "bold red")
    if moment.event is None:
        for match in moment.matches:
            yield (
                yes,
                Text(str(match.event_id), "bold"),
                Text("a day later, as nearer ones grew old", "dim"),
                _matches_text([match]),
            )
        return
    result = _matches_text(moment.matches) if moment.matches else Text(verdict_text(moment.verdict), "dim")
    yield yes if moment.matches else no, Text(moment.event.id or "", "bold"), Text(event_text(moment.event)), result


def _matches_text(matches: Sequence[Match]) -> Text:
    from rich.text import Text

    from likewise.cli.terminal.rendering import score_style
    from likewise.model.rendering import number

    line = Text()
    for match in matches:
        line.append("  " if line else "")
        line.append(match.subscription_id, "cyan")
        if match.rank_value is not None:
            line.append(f" at distance {match.rank_value:.3f}")
        elif match.kind in ("approximate", "statements"):
            line.append(f" {number(match.score)}", score_style(match.score))
        if match.cause == "promoted":
            line.append(" promoted", "magenta")
    return line


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
    return (other_names(), other_words(), places(), nearest(), football(), interests())


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
            event({**usage, "device": "computer"}, themes=themes, id="e5"),
            event({**usage, "device": "computer", "office": "room 204"}, themes=themes, id="e6"),
        ),
        explained=("e5",),
    )


def other_names() -> Scene:
    """Return readings of three makers' sensors, each with its own name and unit."""
    return Scene(
        "Names and units nobody agreed on",
        "Makers name their readings as they like. A unit in the name, or beside the number, is understood.",
        {"warm": "{temperature~ > 25 degC, city = Galway}"},
        (
            event({"TempC_SHT": 27.1, "city": "Galway"}, id="e1"),
            event({"air_temp_f": 81.2, "city": "Galway"}, id="e2"),
            event({"temperatureMeasure": 26, "city": "Galway"}, id="e3"),
            event({"air_temp_f": 68.0, "city": "Galway"}, id="e4"),
        ),
        explained=("e4",),
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
