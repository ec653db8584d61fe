"""`likewise eval vendor`: phrases against what vendors call things."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from likewise.cli import output
from likewise.cli.options import AsJson, SpaceName, measure_named
from likewise.semantics.measure import Measure


def vendor(
    events: Annotated[Path, typer.Option("--events", help="Example messages, JSON lines (.gz): vendor, data.")],
    gold: Annotated[Path, typer.Option("--gold", help="Labels: vendor, path, label, unit (tab-separated).")],
    subscriptions: Annotated[Path, typer.Option("--subscriptions", help="Phrases: phenomenon, subscription.")],
    measure: Annotated[list[str] | None, typer.Option("--measure", help="A measure; repeat it. All if none.")] = None,
    threshold: Annotated[
        float | None, typer.Option("--threshold", help="For decisions; the default otherwise.")
    ] = None,
    part: Annotated[str, typer.Option("--part", help="dev, held-out (a third, set aside for testing) or all.")] = "dev",
    curve: Annotated[bool, typer.Option("--feedback", help="Show what a few judgements are worth.")] = False,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Rank and decide which vendors' attributes a plain phrase means.

    A third of the vendors (by a hash of their names) is set aside: tune on `dev` alone. Yardsticks (word overlap,
    character n-grams, plain ESA) stand in the same table.

    Example: `likewise eval vendor --events lorawan-dev-events.jsonl.gz --gold lorawan-dev.tsv --subscriptions
    subscriptions.tsv`
    """
    from likewise import defaults
    from likewise.evaluation.feedback_curve import feedback_curve
    from likewise.evaluation.vendor import CharacterGrams, WordOverlap, decide, is_held_out, rank, read_benchmark
    from likewise.semantics.library import load_space

    if part not in ("dev", "held-out", "all"):
        raise typer.BadParameter("give dev, held-out or all", param_hint="--part")
    whole = read_benchmark(events, gold, subscriptions)
    benchmark = whole.part(v for v in whole.vendors() if part == "all" or is_held_out(v) == (part == "held-out"))
    opened = load_space(space)
    named = [measure_named(said) for said in measure or ["esa", "names", "combine"]]
    chosen: list[Measure] = [
        WordOverlap(),
        CharacterGrams(),
        *(opened.measure(name, **options) for name, options in named),
    ]
    level = defaults.THRESHOLD if threshold is None else threshold
    results = [(each.name, rank(benchmark, each)) for each in chosen]
    decisions = {
        name: decide(benchmark, chosen[-1], level, numeric=numeric)
        for name, numeric in (("exists", False), ("numeric with a unit", True))
    }
    points = []
    if curve:
        vendors = benchmark.vendors()
        tested = [v for i, v in enumerate(vendors) if i % 3 == 0]
        points = feedback_curve(
            benchmark.part(v for v in vendors if v not in tested), benchmark.part(tested), chosen[-1], level
        )
    if as_json:
        output.print_json(
            {
                "part": part, "vendors": len(benchmark.vendors()), "events": len(benchmark.events),
                "ranking": dict(results), "threshold": level, "decisions": decisions, "feedback": points,
            }
        )  # fmt: skip
        return
    from rich.table import Table

    console = output.console()
    console.print(
        f"{len(benchmark.vendors())} vendors ({part}), {len(benchmark.events)} events, {results[0][1].phrases} phrases"
    )
    table = Table("ranking by", "maximal F1", "average precision", box=None, pad_edge=False)
    for name, result in results:
        table.add_row(name, f"{result.maximal_f1:.3f}", f"{result.average_precision:.3f}")
    console.print(table)
    table = Table(f"decisions of {chosen[-1].name} at {level:g}", "precision", "recall", "F1", box=None, pad_edge=False)
    for name, decided in decisions.items():
        table.add_row(name, f"{decided.precision:.3f}", f"{decided.recall:.3f}", f"{decided.f1:.3f}")
    console.print(table)
    if points:
        table = Table("judgements a phrase", "maximal F1", "average precision", "decision F1", box=None, pad_edge=False)
        for point in points:
            figures = (point.maximal_f1, point.average_precision, point.decision_f1)
            table.add_row(str(point.judgements_a_phrase), *(f"{figure:.3f}" for figure in figures))
        console.print(table)
