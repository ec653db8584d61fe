"""`likewise relate`: how related two terms are, by every measure, and what made it so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.compiling import report_compilation
from likewise.cli.terminal.options import AsJson, MeasureName, SpaceName, parse_measure

if TYPE_CHECKING:
    from rich.console import RenderableType

    from likewise.api.semantics import RelatednessEvidence


def relate(
    first: Annotated[str, typer.Argument(metavar="TERM", help="A term, as a subscription would ask for it.")],
    second: Annotated[str, typer.Argument(metavar="TERM", help="Another, as an event would use it.")],
    theme: Annotated[list[str] | None, typer.Option("--theme", help="A theme of the first term; repeat it.")] = None,
    other_theme: Annotated[
        list[str] | None, typer.Option("--other-theme", help="A theme of the second term; repeat it.")
    ] = None,
    measure: MeasureName = None,
    space: SpaceName = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="FOLDER", help="Compare by this embedding model, too.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show how related two terms are, by every measure, and the documents that made it.

    Example: `likewise relate laptop computer --theme computers --other-theme energy`
    """
    from likewise.semantics.library import load_space
    from likewise.semantics.measure import Term
    from likewise.semantics.vectors.term_vectors import theme_of

    opened = load_space(space)
    query, other = Term(first, theme=theme_of(theme or ())), Term(second, theme=theme_of(other_theme or ()))
    name, options = parse_measure(measure) if measure else ("embeddings" if model else None, {})
    chosen = opened.measure(name, **({"model": model, **options} if name == "embeddings" else options))
    with report_compilation():
        evidence = opened.describe(query, other, chosen)
    if as_json:
        output.print_json(evidence)
    else:
        output.console().print(_table(evidence))


def _table(evidence: RelatednessEvidence) -> RenderableType:
    """Return the evidence for people: scores, documents, notes."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    scores = Table(box=None, pad_edge=False)
    scores.add_column("measure")
    scores.add_column("score", justify="right")
    for name, score in evidence.scores:
        chosen = "bold" if name == evidence.measure else ""
        scores.add_row(Text(name, style=chosen), Text(f"{score:.3f}", style=chosen))
    parts: list[RenderableType] = [Text(f"{evidence.asked} – {evidence.seen}", style="bold"), scores]
    if evidence.without_themes is not None:
        parts.append(
            Text(
                f"\nThemes reach {evidence.asked_basis:,} and {evidence.seen_basis:,} documents; "
                f"without them {evidence.measure} gives {evidence.without_themes:.3f}."
            )
        )
    if evidence.documents:
        shared = Table(box=None, pad_edge=False)
        shared.add_column("share", justify="right")
        shared.add_column("shared document")
        for document in evidence.documents:
            shared.add_row(f"{document.share:.1%}", Text(document.title))
        parts += [Text(""), shared]
    parts += [Text(f"note: {note}", style="yellow") for note in evidence.notes]
    return Group(*parts)
