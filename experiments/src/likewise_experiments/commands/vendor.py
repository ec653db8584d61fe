"""`likewise eval vendor`: phrases against what vendors call things."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson, ModelFolder, SpaceName, parse_measure

if TYPE_CHECKING:
    from likewise.semantics.space import Space
    from likewise_experiments.vendor.benchmark import Benchmark


def vendor(
    events: Annotated[
        Path | None,
        typer.Option("--events", help="Example messages, JSON lines (.gz): vendor, data. Names alone if none."),
    ] = None,
    gold: Annotated[
        Path | None,
        typer.Option("--gold", help="Labels: vendor, path, label, unit (tab-separated). Those shipped if none."),
    ] = None,
    subscriptions: Annotated[
        Path | None, typer.Option("--subscriptions", help="Phrases: phenomenon, subscription. Those shipped if none.")
    ] = None,
    measure: Annotated[list[str] | None, typer.Option("--measure", help="A measure; repeat it. All if none.")] = None,
    threshold: Annotated[
        float | None, typer.Option("--threshold", help="For decisions; the default otherwise.")
    ] = None,
    part: Annotated[
        str, typer.Option("--part", help="dev, all, or what is set aside: new-vendors, new-phrases, held-out (both).")
    ] = "dev",
    ablation: Annotated[bool, typer.Option("--ablation", help="Leave one part out at a time instead.")] = False,
    curve: Annotated[bool, typer.Option("--feedback", help="Show what a few judgements are worth.")] = False,
    confirmations: Annotated[
        bool, typer.Option("--confirmations", help="Show instead what it is worth to say once what attributes are.")
    ] = False,
    space: SpaceName = None,
    model: ModelFolder = None,
    as_json: AsJson = False,
) -> None:
    """Rank and decide which vendors' attributes a plain phrase means.

    Labels and phrases are shipped. The messages are their makers' and are not: without `--events` names are ranked and
    nothing is decided.

    A third of the vendors and of the phrases (by a hash of their names) is set aside: tune on `dev` alone. Yardsticks
    (word overlap, character n-grams, plain ESA, with `--model` a sentence model) stand in the same table. The decisions
    are those of the last measure, by events, as a mean over vendors, and on distinct events. `--ablation` shows what
    each facet of the default measure is worth.

    Examples: `likewise eval vendor`, `likewise eval vendor --events lorawan-dev-events.jsonl.gz`
    """
    from likewise.semantics.library import load_space
    from likewise_experiments.vendor.benchmark import LABELS, PHRASES, read_benchmark
    from likewise_experiments.vendor.experiment import PARTS, chosen_part, measures_of, vendor_experiment

    if part not in PARTS:
        raise typer.BadParameter(f"give {', '.join(PARTS[:-1])} or {PARTS[-1]}", param_hint="--part")
    if events is None and (ablation or confirmations or curve):
        raise typer.BadParameter("this decides about messages; give them", param_hint="--events")
    benchmark = chosen_part(read_benchmark(events, gold or LABELS, subscriptions or PHRASES), part)
    if ablation:
        _ablation(benchmark, load_space(space), threshold, as_json=as_json)
        return
    if confirmations:
        _confirmations(benchmark, load_space(space), threshold, as_json=as_json)
        return
    named = [parse_measure(said) for said in measure or ["esa", "names", "combine", "sameness"]]
    chosen = load_space(space)
    report = vendor_experiment(
        benchmark,
        part,
        measures_of(chosen, named, model),
        threshold,
        curve=curve,
        probabilities=chosen.calibration.probability,
        messages=events is not None,
    )
    if as_json:
        output.print_json(report)
        return
    from rich.table import Table

    console = output.console()
    phrases = next(iter(report.ranking.values())).phrases
    seen = f"{report.events} events" if events is not None else "their names without messages"
    console.print(f"{report.vendors} vendors ({part}), {seen}, {phrases} phrases")
    table = Table("ranking by", "maximal F1", "average precision", box=None, pad_edge=False)
    for name, result in report.ranking.items():
        table.add_row(name, f"{result.maximal_f1:.3f}", f"{result.average_precision:.3f}")
    console.print(table)
    if events is None:
        console.print("Decisions need messages, which are their makers': --events FILE", style="dim")
        return
    heading = f"decisions of {report.decided_by} at {report.threshold:g}"
    table = Table(heading, "precision", "recall", "F1", "by vendor", "distinct", box=None, pad_edge=False)
    for name, decided in report.decisions.items():
        shown = (decided.precision, decided.recall, decided.f1, decided.by_vendor, decided.distinct)
        table.add_row(name, *(f"{figure:.3f}" for figure in shown))
    console.print(table)
    if report.calibration is not None:
        table = Table("probability said", "on the mean", "meant", "pairs", box=None, pad_edge=False)
        for each in report.calibration.bins:
            table.add_row(f"{each.low} to {each.high}", f"{each.said:.2f}", f"{each.meant:.2f}", f"{each.pairs:,}")
        console.print(table)
        console.print(f"mean distance {report.calibration.error:.3f}")
    if report.feedback:
        table = Table("judgements a phrase", "maximal F1", "average precision", "decision F1", box=None, pad_edge=False)
        for point in report.feedback:
            figures = (point.maximal_f1, point.average_precision, point.decision_f1)
            table.add_row(str(point.judgements_a_phrase), *(f"{figure:.3f}" for figure in figures))
        console.print(table)


def _ablation(benchmark: Benchmark, space: Space, threshold: float | None, *, as_json: bool) -> None:
    """The table of facets left out, one at a time."""
    from likewise_experiments.vendor.ablation import facet_ablation

    rows = facet_ablation(benchmark, space, threshold)
    if as_json:
        output.print_json(rows)
        return
    from rich.table import Table

    table = Table("sameness", "maximal F1", "decisions", "by vendor", "distinct", box=None, pad_edge=False)
    for row in rows:
        figures = (row.maximal_f1, row.decision_f1, row.by_vendor, row.distinct)
        table.add_row(row.name, *(f"{figure:.3f}" for figure in figures))
    output.console().print(table)


def _confirmations(benchmark: Benchmark, space: Space, threshold: float | None, *, as_json: bool) -> None:
    from likewise import defaults
    from likewise_experiments.vendor.confirming import confirmation_curve

    measure = space.measure(defaults.MEASURE)
    level = defaults.THRESHOLD if threshold is None else threshold
    found = confirmation_curve(benchmark, measure, level, space.calibration.probability[measure.name])
    if as_json:
        output.print_json(found)
    else:
        rows = [(each.confirmations, f"{each.f1:.3f}", f"{each.precision:.3f}", f"{each.recall:.3f}") for each in found]
        output.print_table(("confirmations", "F1", "precision", "recall"), rows)
