"""`likewise vocabulary`: the words of the stream, what they are taken for, and what people say they mean."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from likewise.cli.broker.queries import read_text
from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson, BrokerOptions, command_group, with_option_groups

app = command_group("See the stream's words, and say once what they mean.", "likewise vocabulary questions")


@app.command("list")
@with_option_groups
def list_words(
    broker: BrokerOptions,
    containing: Annotated[str, typer.Option("--containing", help="Only names that contain this text.")] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, max=10000, help="How many.")] = 100,
    as_json: AsJson = False,
) -> None:
    """List the names of attributes that the stream uses, and what each is taken for.

    Example: `likewise vocabulary list --containing temp`
    """
    with broker.publisher() as client:
        attributes = client.sources.vocabulary(containing, limit)
    output.print_list(
        attributes,
        as_json,
        "No words yet. They come by themselves with events.",
        ("attribute", "unit", "kind", "seen", "sources", "values", "is taken for", "p", ""),
        lambda each: (
            each.attribute,
            each.unit,
            "/".join(each.kinds),
            each.times,
            each.sources,
            ", ".join(each.values[:4]),
            each.understood.means or "?",
            f"{each.understood.probability:.2f}",
            "corrected" if each.understood.basis == "corrected" else "",
        ),
    )


@app.command()
@with_option_groups
def questions(
    broker: BrokerOptions,
    limit: Annotated[int, typer.Option("--limit", min=1, max=100, help="How many.")] = 10,
    as_json: AsJson = False,
) -> None:
    """List the attributes whose confirmation would change most deliveries, the most useful first.

    Example: `likewise vocabulary questions`
    """
    with broker.publisher() as client:
        useful = client.sources.questions(limit)
    output.print_list(
        useful,
        as_json,
        "No question: nothing that is asked for is in doubt.",
        ("attribute", "unit", "a day", "sources", "is it ...?", "asked for as"),
        lambda each: (
            each.attribute,
            each.unit,
            f"{each.deliveries:.3g}",
            each.sources,
            each.proposed,
            ", ".join(f"{term} {likely:.2f}" for term, likely in each.asked),
        ),
    )
    if useful and not as_json:
        output.print_note("Answer one: likewise vocabulary correct ATTRIBUTE 'what it is' --model ... | --source ...")


@app.command()
@with_option_groups
def review(
    broker: BrokerOptions,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many.")] = 100,
    as_json: AsJson = False,
) -> None:
    """List the attributes that are not published under a common name, with the best guesses and the reason.

    Example: `likewise vocabulary review`
    """
    with broker.publisher() as client:
        attributes = client.sources.review(limit)
    output.print_list(
        attributes,
        as_json,
        "Nothing needs review.",
        ("attribute", "of", "value", "unit", "is it ...?", "advice", "why"),
        lambda each: (
            each.attribute,
            f"model {each.model}" if each.model else each.source,
            str(each.value),
            each.unit,
            ", ".join(f"{name} {likely:.2f}" for name, likely in each.guesses[:3]) or "?",
            f"{each.advice} {each.advised:.2f}" if each.advice else "",
            each.why,
        ),
    )


@app.command()
@with_option_groups
def correct(
    broker: BrokerOptions,
    attribute: Annotated[str, typer.Argument(metavar="ATTRIBUTE", help="The attribute as events name it.")],
    means: Annotated[str, typer.Argument(metavar="MEANING", help="What it is.")] = "",
    unit: Annotated[str, typer.Option("--unit", help="The unit of its readings, where events state none.")] = "",
    source: Annotated[str, typer.Option("--source", help="Of this source only.")] = "",
    model: Annotated[str, typer.Option("--model", help="Of sources of this model only.")] = "",
    denies: Annotated[
        list[str] | None, typer.Option("--not", metavar="KIND", help="What it is not. May be given several times.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say once what an attribute is; certain from then on, for every subscription.

    With --not a false match ends: conditions that ask for that kind are no longer met by the attribute.

    Example: `likewise vocabulary correct temp1 "supply air temperature" --model X --unit degC`
    """
    from likewise.errors import InputError

    if source and model:
        raise InputError("a correction is of a source or of a model; give one of --source and --model")
    with broker.publisher() as client:
        correction = client.sources.correct(
            attribute, means, unit=unit, source=source, model=model, denies=denies or ()
        )
    whose = f" of {correction.of} {correction.name}" if correction.name else ""
    parts = (correction.means, *(f"not {each}" for each in correction.denies))
    meaning = ", ".join(filter(None, (*parts, f"in {correction.unit}" if correction.unit else "")))
    text = f"{correction.attribute}{whose} is {meaning}. Undo: likewise vocabulary undo {correction.number}"
    output.print_result(correction, as_json, text)


@app.command()
@with_option_groups
def corrections(broker: BrokerOptions, as_json: AsJson = False) -> None:
    """List what people said that attributes mean.

    Example: `likewise vocabulary corrections`
    """
    from likewise.cli.terminal.rendering import time_of_day

    with broker.publisher() as client:
        active = client.sources.corrections()
    output.print_list(
        active,
        as_json,
        "No corrections.",
        ("number", "attribute", "of", "is", "is not", "unit", "by", "at"),
        lambda each: (
            each.number,
            each.attribute,
            f"{each.of} {each.name}" if each.name else "",
            each.means,
            ", ".join(each.denies),
            each.unit,
            each.by,
            time_of_day(each.at) if each.at else "",
        ),
    )


@app.command()
@with_option_groups
def undo(
    broker: BrokerOptions, number: Annotated[int, typer.Argument(metavar="NUMBER", help="The correction's number.")]
) -> None:
    """Take a correction back.

    Example: `likewise vocabulary undo 17`
    """
    with broker.publisher() as client:
        client.sources.take_back(number)
    output.print_line(f"Correction {number} holds no longer.")


@app.command("export")
@with_option_groups
def export(
    broker: BrokerOptions,
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="Where to; standard output if left out.")] = None,
) -> None:
    """Write every correction as an SSSOM table.

    Example: `likewise vocabulary export corrections.sssom.tsv`
    """
    with broker.publisher() as client:
        table = client.sources.export_corrections()
    if file is None:
        output.print_line(table.rstrip("\n"))
    else:
        file.write_text(table, encoding="utf-8")
        output.print_line(f"Wrote {file}.")


@app.command("import")
@with_option_groups
def import_table(
    broker: BrokerOptions,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An SSSOM table with skos:exactMatch rows.")],
    as_json: AsJson = False,
) -> None:
    """Make the corrections of an SSSOM table, all or none.

    Example: `likewise vocabulary import corrections.sssom.tsv`
    """
    text = read_text(file)
    with broker.publisher() as client:
        count = client.sources.import_corrections(text)
    output.print_result({"corrections": count}, as_json, f"{count} corrections hold from now on.")
