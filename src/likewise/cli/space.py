"""`likewise space`: get, build, list and check spaces of meaning."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson, SparkMaster

if TYPE_CHECKING:
    from likewise.semantics.spaces.manifest import SpaceManifest
    from likewise.spark.spaces.options import BuildSummary

app = typer.Typer(
    help="Get, build, list and check spaces of meaning.\n\nExample: `likewise space get wikipedia-simple`",
    no_args_is_help=True,
)

_WHICH: Final = "A space's name or folder; the embedded one by default."
_KINDS: Final = ("wordnet", "mediawiki", "json-lines", "parquet", "text")


@app.command()
def build(
    source: Annotated[str, typer.Argument(help="A file or folder of documents.")],
    out: Annotated[str, typer.Option("--out", "-o", metavar="DIR", help="The new space's folder.")],
    kind: Annotated[
        str | None, typer.Option(help=f"What the source is ({', '.join(_KINDS)}); seen from its files if not said.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="The space's name; its folder's by default.")] = None,
    corpus: Annotated[str | None, typer.Option(help="The corpus in words, for the manifest.")] = None,
    title_field: Annotated[str, typer.Option(help="The title in JSON lines and Parquet.")] = "title",
    text_field: Annotated[str, typer.Option(help="The text in JSON lines and Parquet.")] = "text",
    stop_words: Annotated[str, typer.Option(help="english or none.")] = "english",
    stemmer: Annotated[str, typer.Option(help="A Snowball language (english, german, ...) or none.")] = "english",
    shortest_token: Annotated[int, typer.Option(min=1, help="Characters a token has at least.")] = 1,
    minimum_df: Annotated[int, typer.Option(min=1, help="Documents that hold a term, at least.")] = 1,
    maximum_df: Annotated[float, typer.Option(min=0, max=1, help="The part of all documents, at most.")] = 1.0,
    minimum_length: Annotated[int, typer.Option(min=1, help="Tokens a document has at least.")] = 1,
    cut: Annotated[int | None, typer.Option(min=1, help="Read so many tokens of each document.")] = None,
    keep: Annotated[int | None, typer.Option(min=1, help="Keep so many of each term's strongest documents.")] = None,
    master: SparkMaster = None,
    memory: Annotated[str | None, typer.Option(help="Memory of Spark's driver, as 2g; 1g if not said.")] = None,
    partitions: Annotated[int | None, typer.Option(min=1, help="Parts the work is cut into.")] = None,
    work: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="On a cluster: a folder that all workers share, or s3://bucket/folder."),
    ] = None,
    word_counts: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Also count the corpus's words, for information content in WordNet."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a space that is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Build a space from documents, on Spark.

    Sources: WordNet's database files; MediaWiki dumps (.xml, .xml.bz2); JSON lines (also .gz, .bz2, .xz) and
    Parquet with a title and a text; any other folder, as text files.

    Example: `likewise space build enwiki-multistream.xml.bz2 --out spaces/enwiki --minimum-df 3 --keep 1000`
    """
    from likewise.errors import InputError
    from likewise.semantics.text.tokenizer import Tokenizer, TokenizerSettings
    from likewise.spark.session import DRIVER_MEMORY, spark_session
    from likewise.spark.spaces.build import build_space
    from likewise.spark.spaces.information_content import count_words, write_word_counts
    from likewise.spark.spaces.options import BuildOptions
    from likewise.spark.spaces.sources import source_of

    if kind is not None and kind not in _KINDS:
        raise InputError(f"no source is of the kind {kind!r}; there are {', '.join(_KINDS)}")
    if Path(out).exists() and not overwrite:
        raise InputError(f"{out} exists already; choose another folder or say --overwrite")
    settings = TokenizerSettings(stop_words=stop_words, stemmer=stemmer, shortest=shortest_token)
    Tokenizer(settings)  # a wrong name is said before Spark starts
    options = BuildOptions(settings, minimum_df, maximum_df, minimum_length, cut, keep, partitions)
    documents = source_of(Path(source).absolute(), kind, title=title_field, text=text_field)  # type: ignore[arg-type]  # checked above
    screen = output.console(stderr=True)
    with spark_session(master, memory=memory or DRIVER_MEMORY) as spark:
        summary = build_space(
            spark,
            documents,
            out,
            name=name or Path(out).absolute().name,
            corpus=corpus if corpus is not None else Path(source).name,
            options=options,
            work=work,
            overwrite=overwrite,
            console=screen if screen.is_terminal and not as_json else None,
        )
        if word_counts is not None:
            write_word_counts(count_words(spark, documents), word_counts)
    if as_json:
        output.print_json(summary)
    else:
        _show_summary(summary)


@app.command()
def get(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Which one: wikipedia-simple.")],
    dump: Annotated[
        Path | None, typer.Option("--dump", metavar="FILE", help="A dump that is here already; nothing is downloaded.")
    ] = None,
    installed: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="The space's name; that of the corpus by default.")
    ] = None,
    mirror: Annotated[
        str | None, typer.Option("--mirror", metavar="URL", help="Where dumps are, instead of dumps.wikimedia.org.")
    ] = None,
    master: SparkMaster = None,
    memory: Annotated[str | None, typer.Option(help="Memory of Spark's driver, as 2g; 2g if not said.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a space that is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Download a corpus, check it, build its space on Spark, and install that under its name.

    A download that broke off goes on where it was. With --dump a MediaWiki dump that is here is taken. The space is
    used by its name: `--space wikipedia-simple`, or `[matching] space = "wikipedia-simple"`.

    Example: `likewise space get wikipedia-simple`
    """
    from likewise.errors import ArtefactMissing, InputError
    from likewise.semantics.library import spaces_folder
    from likewise.semantics.text.tokenizer import TokenizerSettings
    from likewise.spark.session import spark_session
    from likewise.spark.spaces.build import build_space
    from likewise.spark.spaces.corpora import DUMPS, corpus, download_dump
    from likewise.spark.spaces.options import BuildOptions
    from likewise.spark.spaces.sources import source_of

    chosen = corpus(name)
    out = spaces_folder() / (installed or chosen.name)
    if out.exists() and not overwrite:
        raise InputError(f"the space {out.name} is installed in {out}; say --overwrite to build it again")
    if dump is not None and not dump.is_file():
        raise ArtefactMissing(f"there is no dump {dump}")
    output.print_note(f"{chosen.title}: {chosen.licence}")
    date = "a dump of one's own"
    if dump is None:
        output.print_note(chosen.size)
        progress = output.download_progress(chosen.name)
        dump, date = download_dump(chosen, spaces_folder() / ".dumps", mirror or DUMPS, progress)
    settings = TokenizerSettings(stop_words="english", stemmer="english")
    options = BuildOptions(settings, chosen.minimum_df, keep=chosen.keep)
    with spark_session(master, memory=memory or "2g") as spark:
        summary = build_space(
            spark,
            source_of(dump.absolute(), None),
            str(out),
            name=out.name,
            corpus=f"{chosen.title}, {date}, {chosen.licence.partition(':')[0]}",
            options=options,
            overwrite=overwrite,
        )
    if as_json:
        output.print_json(summary)
    else:
        _show_summary(summary)


@app.command(name="list")
def list_spaces(
    folders: Annotated[
        list[str] | None, typer.Argument(metavar="DIR", help="Where to look, instead of the usual places.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the spaces in folders: those given, else the embedded one, the user's own and the working directory's.

    Example: `likewise space list spaces/`
    """
    spaces = [(place, manifest) for folder in _places(folders) for place, manifest in _spaces_in(folder)]
    if as_json:
        output.print_json([{"folder": str(place), **_facts(manifest)} for place, manifest in spaces])
        return
    from rich.table import Table

    table = Table("name", "kind", "documents", "terms", "postings", "folder")
    for place, manifest in spaces:
        counts = manifest.counts
        numbers = (f"{n:,}" for n in (counts.documents, counts.terms, counts.postings))
        table.add_row(manifest.name, manifest.kind, *numbers, str(place))
    screen = output.console()
    screen.print(table if spaces else "no spaces found; build one with `likewise space build`")


@app.command()
def info(
    space: Annotated[str | None, typer.Argument(metavar="SPACE", help=_WHICH)] = None, as_json: AsJson = False
) -> None:
    """Say what a space holds and how it was built.

    Example: `likewise space info spaces/enwiki`
    """
    from likewise.semantics.library import load_space

    files = load_space(space).files
    facts = {"folder": str(files.folder), **_facts(files.manifest)}
    if as_json:
        output.print_json(facts)
        return
    _show(facts)


@app.command()
def verify(
    space: Annotated[str | None, typer.Argument(metavar="SPACE", help=_WHICH)] = None, as_json: AsJson = False
) -> None:
    """Hash every file of a space and check its order; the exit code is 3 if it is damaged.

    Example: `likewise space verify spaces/enwiki`
    """
    from likewise.semantics.library import load_space

    files = load_space(space).files
    files.verify()
    total = sum(stored.bytes for stored in files.manifest.files.values())
    number, checksum = len(files.manifest.files), files.manifest.checksum
    if as_json:
        output.print_json(
            {"folder": str(files.folder), "files": number, "bytes": total, "checksum": checksum, "sound": True}
        )
    else:
        output.console().print(f"{files.folder} is sound: {number} files, {total:,} bytes, {checksum[:16]}")


def _facts(manifest: SpaceManifest) -> dict[str, object]:
    import msgspec

    facts: dict[str, object] = msgspec.to_builtins(manifest)
    facts["bytes"] = sum(stored.bytes for stored in manifest.files.values())
    facts["files"] = sorted(manifest.files)
    return facts


def _places(folders: list[str] | None) -> list[Path]:
    if folders:
        return [Path(folder) for folder in folders]
    from likewise.semantics.library import spaces_folder
    from likewise.semantics.wordnet.unpacked import embedded_folder

    return [embedded_folder(), spaces_folder(), Path()]


def _spaces_in(folder: Path) -> list[tuple[Path, SpaceManifest]]:
    """Return the spaces that are this folder or in it. A damaged one is skipped; `verify` reports why."""
    from likewise.errors import ArtefactError
    from likewise.semantics.spaces.manifest import FILE, read_manifest

    out = []
    for path in [folder, *(sorted(p for p in folder.iterdir() if p.is_dir()) if folder.is_dir() else [])]:
        if not (path / FILE).is_file():
            continue
        try:
            out.append((path, read_manifest(path)))
        except ArtefactError as error:
            output.console(stderr=True).print(f"passed over: {error}")
    return out


def _show_summary(summary: BuildSummary) -> None:
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in summary.left_out.items())
    left_out = summary.read - summary.kept
    _show(
        {
            "space": f"{summary.name} in {summary.folder}",
            "documents read": summary.read,
            "kept": summary.kept,
            "left out": f"{left_out:,}" + (f" ({reasons})" if reasons else ""),
            "terms": summary.terms,
            "postings": summary.postings,
            "seconds": round(summary.seconds, 1),
            "peak memory": "unknown" if summary.peak_memory is None else f"{summary.peak_memory / 2**20:,.0f} MiB",
            "checksum": summary.checksum[:16],
        }
    )


def _show(facts: dict[str, object]) -> None:
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    for key, value in facts.items():
        shown = f"{value:,}" if isinstance(value, int) else ", ".join(value) if isinstance(value, list) else str(value)
        table.add_row(key, shown)
    output.console().print(table)
