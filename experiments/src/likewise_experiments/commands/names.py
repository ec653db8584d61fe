"""`likewise eval names`: names and payloads of 32 domains."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson

if TYPE_CHECKING:
    from likewise_experiments.names.experiment import DomainScore


def names(
    test: Annotated[bool, typer.Option("--test", help="Score the domains set aside instead of the others.")] = False,
    errors: Annotated[bool, typer.Option("--errors", help="List what is decided wrongly.")] = False,
    as_json: AsJson = False,
) -> None:
    """Score names and payloads of 32 domains: what is found of the same, what is kept apart, and what confidence does.

    Example: `likewise eval names --errors`
    """
    from likewise_experiments.names.experiment import confidence_curve, score_names

    scores = score_names("test" if test else "dev")
    if as_json:
        output.print_json(scores)
        return
    rows = [_row(each.domain, [each]) for each in scores]
    heads = ("domain", "kept apart", "found", "precision of payloads", "recall of payloads")
    output.print_table(heads, [*rows, _row("all", scores)])
    points = [
        (f"{p.confidence:g}", str(p.matches), f"{p.said:.2f}", f"{p.precision:.2f}", f"{p.recall:.2f}")
        for p in confidence_curve(scores)
    ]
    output.print_table(("confidence", "matches of payloads", "probability, mean", "precision", "recall"), points)
    if errors:
        output.print_table(("where", "", "requested", "seen"), [error for each in scores for error in each.errors])


def _row(name: str, scores: Iterable[DomainScore]) -> tuple[str, str, str, str, str]:
    listed = list(scores)

    def share(part: str, rest: str) -> str:
        good, bad = (sum(getattr(each, field) for each in listed) for field in (part, rest))
        return f"{good / max(1, good + bad):.2f} of {good + bad}"

    return (
        name,
        share("apart", "wrong"),
        share("found", "missed"),
        share("right_matches", "wrong_matches"),
        share("right_matches", "missed_matches"),
    )
