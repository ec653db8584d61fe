"""`likewise eval columns`: columns of published tables, taken by meaning."""

from __future__ import annotations

from typing import Annotated

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson


def columns(
    test: Annotated[bool, typer.Option("--test", help="Score the tables set aside instead of the others.")] = False,
    errors: Annotated[bool, typer.Option("--errors", help="List the requests decided wrongly.")] = False,
    as_json: AsJson = False,
) -> None:
    """Count how many requested columns of published tables are found, and how many of those found are right.

    Example: `likewise eval columns --errors`
    """
    from likewise_experiments.columns.experiment import SYSTEMS, labelled_tables, score

    tables = [table for table in labelled_tables() if table.set == ("test" if test else "dev")]
    scores = [score(system, tables) for system in SYSTEMS]
    if as_json:
        output.print_json(scores)
        return
    rows = [
        (each.system, each.right, each.wrong, each.missed, f"{each.precision:.3f}", f"{each.recall:.3f}")
        for each in scores
    ]
    output.print_table(("system", "right", "wrong", "missed", "precision", "recall"), rows)
    if errors:
        output.print_table(
            ("table", "requested", "taken", "right"),
            [(table, phrase, taken or "-", right or "-") for table, phrase, taken, right in scores[0].errors],
        )
