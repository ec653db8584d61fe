"""`likewise data`: the data of published experiments; what there is, and bring it here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson

if TYPE_CHECKING:
    from likewise_experiments.datasets.catalogue import DataSet

app = typer.Typer(
    help="List and get the data of published experiments; nothing is downloaded unless it is asked for.\n\n"
    "Example: `likewise data get relatedness`",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    add_completion=False,
)


def _names() -> list[str]:
    from likewise_experiments.datasets.catalogue import SETS

    return [each.name for each in SETS]


@app.command("list")
def list_sets(as_json: AsJson = False) -> None:
    """List the data sets: name, size, what it is.

    Example: `likewise data list`
    """
    from likewise_experiments.datasets.catalogue import SETS

    if as_json:
        output.print_json(SETS)
    else:
        output.print_table(("name", "size", "what"), [(each.name, each.size, each.what) for each in SETS])


@app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The data set.", autocompletion=_names)],
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="Where it would go.")] = Path("data"),
    as_json: AsJson = False,
) -> None:
    """Say where a data set comes from, under which licence, its checksums, and what to run then. Downloads nothing.

    Example: `likewise data show eurovoc`
    """
    from likewise_experiments.datasets.catalogue import data_set

    found = data_set(name)
    if as_json:
        output.print_json(found)
        return
    output.print_line(f"{found.name}: {found.what}")
    output.print_line(f"size     {found.size}")
    output.print_line(f"licence  {found.licence}")
    for file in found.files:
        output.print_line(f"from     {file.address}")
        output.print_line(f"sha256   {file.sha256 or 'not known; noted at the first download'}")
    _then(found, to)


@app.command()
def get(
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="Which ones.", autocompletion=_names)],
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="The folder to put them into.")] = Path("data"),
) -> None:
    """Download data sets, check them, and say which command repeats the published tables with them.

    What is there already is checked and kept; a download that broke off goes on. It needs the network.

    Example: `likewise data get relatedness eurovoc --to data`
    """
    from likewise_experiments.datasets.catalogue import data_set

    for found in [data_set(name) for name in names]:
        output.print_note(f"{found.name}: {found.size}; {found.licence}")
        _bring(found, to)
        _then(found, to)


def _bring(found: DataSet, to: Path) -> None:
    from likewise_experiments.datasets.conversion import convert, record_files
    from likewise_experiments.datasets.download import download

    for file in found.files:
        path = download(file, to, output.download_progress(file.name))
        seen = "as it should be" if file.sha256 else "its checksum is noted: nobody had one before"
        output.print_line(f"{path}: {seen}")
    if found.conversion == "zenodo":
        listed, licence = record_files(to / found.files[0].name, "OpenSense")
        output.print_note(f"licence of the record: {licence}")
        for file, md5 in listed:
            path = download(file, to, output.download_progress(file.name))
            _check_md5(path, md5)
            output.print_line(f"{path}: as the record says")
    if (made := convert(found, to)) is not None:
        output.print_line(f"{made}: made of it")


def _check_md5(path: Path, wanted: str) -> None:
    import hashlib

    from likewise.errors import ArtefactDamaged

    with path.open("rb") as stream:
        if hashlib.file_digest(stream, "md5").hexdigest() != wanted:
            raise ArtefactDamaged(f"{path} is not what its record says (MD5 {wanted}); remove it and try again")


def _then(found: DataSet, to: Path) -> None:
    if found.note:
        output.print_line(f"note     {found.note}")
    for command in found.then:
        output.print_line(f"then     {command.format(to=to)}")
