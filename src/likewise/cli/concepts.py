"""`likewise concepts`: the inventory of what readings there are, and vocabularies of your own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson

if TYPE_CHECKING:
    from likewise.semantics.concepts.inventory import Sort
    from likewise.spark.concepts import VocabularySource

app = typer.Typer(
    help="What kinds of readings there are, and vocabularies of your own.\n\n"
    "Example: `likewise concepts show waterTemp`",
    no_args_is_help=True,
)


@app.command("list")
def list_concepts(
    sort: Annotated[
        str | None,
        typer.Option(help="kind, weak, qualifier, role, silent, means or name only; all but names if none."),
    ] = None,
    source: Annotated[str | None, typer.Option(help="Those of one source only, as `core` or your file's name.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the concepts that names of readings are understood by.

    Example: `likewise concepts list --sort kind`
    """
    from likewise.errors import InputError
    from likewise.semantics.concepts.inventory import SORTS
    from likewise.semantics.concepts.library import load_inventory, shipped_names

    if sort is not None and sort not in SORTS:
        raise InputError(f"no concepts are of the sort {sort!r}; there are {', '.join(SORTS)}")
    concepts = [
        c
        for c in (*load_inventory().concepts, *(shipped_names() if sort == "name" else ()))
        if (sort == c.sort if sort else c.sort != "name") and (source is None or c.source.startswith(source))
    ]
    if as_json:
        output.print_json(concepts)
        return
    from rich.table import Table

    table = Table("sort", "name", "also", "source", box=None, pad_edge=False)
    for concept in concepts:
        table.add_row(concept.sort, concept.name, ", ".join(concept.labels), concept.source)
    output.console().print(table)


@app.command()
def show(
    term: Annotated[str, typer.Argument(help="The name of a reading, as a device or a person writes it.")],
    unit: Annotated[str, typer.Option(help="The unit stated beside it.")] = "",
    against: Annotated[
        str | None, typer.Option(help="Another name: what both have in common and what differs.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what a name is understood to say, and with `--against` whether another one says the same.

    Example: `likewise concepts show "pipe temperature" --against TempC_SHT`
    """
    import msgspec

    from likewise.semantics.concepts.explanations import describe_facets
    from likewise.semantics.library import load_space
    from likewise.semantics.measure import Term
    from likewise.semantics.measures.sameness import SamenessMeasure

    measure = cast(SamenessMeasure, load_space().measure("sameness"))
    query = Term(term, unit=unit)
    facets = measure.facets(query)
    if against is None:
        readings = measure.readings(query)
        if as_json:
            output.print_json({**msgspec.to_builtins(facets), "readings": readings})
            return
        for reading in readings:
            for step in reading.steps:
                output.console().print(f"{step.written} is read as {step.plain} ({step.how})", soft_wrap=True)
            output.console().print(describe_facets(measure.facets(Term(reading.text, unit=unit or reading.unit))))
        return
    other = Term(against)
    score = float(measure.matrix([query], [other])[0, 0])
    verdict = measure.explanation(query, other)
    if as_json:
        output.print_json({"asked": facets, "seen": measure.facets(other), "score": score, "said": verdict})
    else:
        output.console().print(f"{score:.2f}  {verdict}")


@app.command()
def add(
    file: Annotated[
        Path, typer.Argument(help="CSV (our columns), SSSOM (.tsv), or SKOS, OWL, RDFS (.ttl, .rdf, ...).")
    ],
    name: Annotated[str | None, typer.Option(help="What to call the vocabulary; the file's name by default.")] = None,
    sort: Annotated[str, typer.Option("--as", help="What the entries of RDF are: kind or qualifier.")] = "kind",
    remove: Annotated[bool, typer.Option("--remove", help="Take the vocabulary of this name out again.")] = False,
    as_json: AsJson = False,
) -> None:
    """Add a vocabulary of your own: all of it, or nothing if a row is wrong or broader concepts go round in a circle.

    It counts from the next start of a broker or matcher on. Adding a file again replaces what it added before.

    Example: `likewise concepts add plant-vocabulary.csv`
    """
    from likewise.errors import InputError
    from likewise.semantics.concepts.user_concepts import add_vocabulary, remove_vocabulary

    if remove:
        remove_vocabulary(name or file.stem)
        output.console().print(f"took out {name or file.stem}")
        return
    if sort not in ("kind", "qualifier"):
        raise InputError(f"entries are added as kind or qualifier, not as {sort!r}")
    target, concepts = add_vocabulary(file, name, cast("Sort", sort))
    if as_json:
        output.print_json({"file": str(target), "concepts": len(concepts)})
    else:
        output.console().print(f"added {len(concepts):,} concepts as {target.stem}")


@app.command()
def check(
    files: Annotated[
        list[Path] | None, typer.Argument(help="Domains of the encyclopaedia; those that ship if none.")
    ] = None,
) -> None:
    """Check the form of domains of the encyclopaedia, before they are added.

    Example: `likewise concepts check kilns.csv`
    """
    from likewise.errors import FormatError
    from likewise.semantics.concepts.encyclopaedia.entries import domain_files, inventory_concepts, read_entries
    from likewise.semantics.concepts.inventory import Inventory
    from likewise.semantics.concepts.library import shipped_concepts
    from likewise.semantics.concepts.user_concepts import domain_faults

    texts = [(path.stem, path.read_text("utf-8-sig")) for path in files or ()] or domain_files()
    entries = [entry for name, text in texts for entry in read_entries(text, name)]
    faults = domain_faults(entries, Inventory((*shipped_concepts(), *inventory_concepts(entries))))
    for fault in faults:
        output.console().print(fault, markup=False, highlight=False, soft_wrap=True)
    if faults:
        raise FormatError(
            f"{len(faults)} faults in {len(texts)} files; docs/contributing/encyclopaedia.md has the rules"
        )
    output.console().print(f"{len(entries)} entries in {len(texts)} files are well formed")


def _parse_vocabulary_source(text: str, form: str) -> VocabularySource:
    """Parse `FILE`, or `FILE=` with its title and licence."""
    from likewise.spark.concepts import VocabularySource

    path, _, source = text.partition("=")
    return VocabularySource(str(Path(path).absolute()), form, source or Path(path).name.partition(".")[0])


@app.command()
def build(
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write: .csv, or .csv.xz packed.")],
    brick: Annotated[Path | None, typer.Option(help="Brick's ontology (.ttl; BSD-3-Clause).")] = None,
    qudt: Annotated[Path | None, typer.Option(help="QUDT's quantity kinds (.ttl; CC BY 4.0).")] = None,
    ontology: Annotated[
        list[str] | None, typer.Option(metavar="FILE[=SOURCE]", help="SAREF, SOSA, any SKOS or OWL; repeat it.")
    ] = None,
    names: Annotated[
        list[str] | None, typer.Option(metavar="FILE[=SOURCE]", help="JSON lists of attributes: FIWARE, Zigbee2MQTT.")
    ] = None,
    master: Annotated[str | None, typer.Option(help="The Spark master; else SPARK_REMOTE, else this machine.")] = None,
    as_json: AsJson = False,
) -> None:
    """Build an inventory from public vocabularies, on Spark. What the hand-written core says already is left out.

    What ships was built from Brick, QUDT, SAREF, SOSA and FIWARE; each row names its source and licence. Zigbee2MQTT's
    names are GPL and do not ship: build them for yourself, and `likewise concepts add` the result.

    Example: `likewise concepts build --names devices.jsonl.gz --out zigbee.csv`
    """
    from likewise.errors import InputError
    from likewise.semantics.concepts.vocabularies import brick as brick_vocabulary
    from likewise.semantics.concepts.vocabularies import qudt as qudt_vocabulary
    from likewise.spark.concepts import VocabularySource, build_concepts
    from likewise.spark.session import spark_session

    sources = [
        *([VocabularySource(str(brick.absolute()), "brick", brick_vocabulary.SOURCE)] if brick else []),
        *([VocabularySource(str(qudt.absolute()), "qudt", qudt_vocabulary.SOURCE)] if qudt else []),
        *(_parse_vocabulary_source(text, "ontology") for text in ontology or ()),
        *(_parse_vocabulary_source(text, "names") for text in names or ()),
    ]
    if not sources:
        raise InputError("there is nothing to build from; name --brick, --qudt, --ontology or --names")
    with spark_session(master) as spark:
        summary = build_concepts(spark, sources, out)
    if as_json:
        output.print_json(summary)
        return
    from rich.table import Table

    table = Table("source", "file", "names", "concepts", box=None, pad_edge=False)
    for each in summary.sources:
        table.add_row(each.source, Path(each.file).name, f"{each.named:,}", f"{each.concepts:,}")
    output.console().print(table)
    output.console().print(f"wrote {summary.concepts:,} concepts, {summary.bytes:,} bytes, to {summary.out}")
