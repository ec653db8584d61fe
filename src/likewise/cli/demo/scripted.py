"""`likewise demo`: a few events and subscriptions, what matches, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.compiling import report_compilation
from likewise.cli.terminal.options import AsJson

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from likewise.cli.demo.scenes import Scene
    from likewise.matching.matcher import Matcher
    from likewise.model import Event, Match


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
    from likewise.cli.demo.scenes import NOON, scenes

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
        screen.print("Next: likewise explain --help, likewise match --help, and README.md", style="dim")


class SceneStep(NamedTuple):
    """An event (or None, when time just passed), its matches, and what kept it from the first subscription."""

    event: Event | None
    matches: Sequence[Match]
    verdict: str


def run_scene(matcher: Matcher, scene: Scene) -> Iterator[SceneStep]:
    """Match each event in turn, then let time pass to the end of the scene."""
    first = next(iter(scene.subscriptions))
    for event in scene.events:
        matches = matcher.match(event)
        yield SceneStep(event, matches, matcher.explain(event, first).verdict)
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

    from likewise.cli.terminal.rendering import explanation_table

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
    for event in scene.events:
        if event.id in scene.explained:
            for id in scene.subscriptions:
                explanation = matcher.explain(event, id)
                question = "Why does {} match {}?" if explanation.verdict == "match" else "Why does {} not match {}?"
                screen.print(Text(question.format(event.id, id), "bold"))
                screen.print(Padding(explanation_table(explanation, event), (0, 0, 1, 2)))


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
