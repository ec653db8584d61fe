"""Output of commands: JSON for machines, colour for people, one clear message for an error, and exit codes.

| code | meaning |
|---|---|
| 0 | done; for a question, yes |
| 1 | done; for a question, no: nothing matched |
| 2 | what was handed in is wrong |
| 3 | something needed is missing or damaged: an artefact, an optional dependency |
| 4 | the broker does not answer, or cannot do it now |
| 130 | stopped with Ctrl-C |
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from likewise.errors import ArtefactError, LikewiseError, MissingDependency, Unavailable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

T = TypeVar("T")
YES: Final = 0
NO: Final = 1
BAD_INPUT: Final = 2
MISSING: Final = 3
NO_ANSWER: Final = 4
INTERRUPTED: Final = 130


class PipeClosed(Exception):
    """Nobody reads our output any more."""


def console(*, stderr: bool = False) -> Console:
    """Return a console on standard output (or error); in colour on terminals, as NO_COLOR and FORCE_COLOR say."""
    from rich.console import Console

    class Piped(Console):
        """A console whose reader may stop reading, as `head` does; that is no failure (`silence_stdout`)."""

        def on_broken_pipe(self) -> None:
            raise PipeClosed

    return Piped(stderr=stderr, highlight=False, emoji=False, markup=False)


def width() -> int | None:
    """Return the width of a line in characters; None in a pipe, where nothing is cut."""
    return console().width if sys.stdout.isatty() or os.environ.get("COLUMNS") else None


def truncated(line: Text) -> Text:
    """Return a line cut to the width of a terminal, with an ellipsis; in a pipe nothing is cut."""
    if (room := width()) is not None:
        line.truncate(room, overflow="ellipsis")
    return line


def silence_stdout() -> int:
    """Redirect standard output to nowhere after its reader went away; return the exit code."""
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
    return YES


def json_line(value: object) -> str:
    """Encode a value as one line of JSON; a NumPy number as a number, other unknown types as text.

    >>> json_line({"id": "s1", "score": 0.5})
    '{"id":"s1","score":0.5}'
    """
    return msgspec.json.encode(value, enc_hook=_plain).decode()


def _plain(value: object) -> object:
    item = getattr(value, "item", None)
    return item() if callable(item) else str(value)


def print_json(value: object) -> None:
    """Print a value as one line of JSON."""
    print_line(json_line(value))


def print_line(line: str | bytes) -> None:
    """Print a line at once, so that a reader in a pipe sees it."""
    try:
        print(line if isinstance(line, str) else line.decode(), flush=True)
    except BrokenPipeError:
        raise PipeClosed from None


class _Notes:
    """Whether notes are printed; `likewise -q` prints none."""

    quiet = False


def set_quiet(quiet: bool) -> None:
    """Print no notes from now on, or print them."""
    _Notes.quiet = quiet


def print_note(text: str) -> None:
    """Print a note for people on standard error, so that results stay clean; with `likewise -q` nothing."""
    if _Notes.quiet:
        return
    console(stderr=True).print(text, style="dim", soft_wrap=True)


def download_progress(name: str) -> Callable[[int, int | None], None]:
    """Return what prints how far a download is, every tenth of it or every 64 MiB."""
    printed = -1

    def show(done: int, whole: int | None) -> None:
        nonlocal printed
        step = done * 10 // whole if whole else done >> 26
        if step != printed:
            printed = step
            of = f" of {whole / 1e6:,.1f}" if whole else ""
            print_note(f"{name}: {done / 1e6:,.1f}{of} MB")

    return show


def print_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows below their heads, as wide as they need; the last column is cut to what is left of the line."""
    cells = [tuple(map(str, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    room = width()
    for number, row in enumerate([tuple(heads), *cells]):
        line = "  ".join(cell.ljust(wide) for cell, wide in zip(row, widths, strict=True)).rstrip()
        if room is not None and len(line) > room:
            line = line[: room - 1] + "…"
        console().print(line, style="bold" if number == 0 else "", soft_wrap=True)


def print_result(value: object, as_json: bool, text: str) -> None:
    """Print the result of a command: as JSON, or in words."""
    if as_json:
        print_json(value)
    else:
        print_line(text)


def print_list(
    values: Sequence[T], as_json: bool, none: str, heads: Sequence[str], row: Callable[[T], Sequence[object]]
) -> None:
    """Print values as JSON, or as a table with a row for each; `none` says in words that there are none."""
    if as_json or not values:
        print_result(values, as_json, none)
    else:
        print_table(heads, map(row, values))


def print_error(error: LikewiseError | OSError, *, as_json: bool) -> None:
    """Print an error on standard error: its facts as JSON, or its message, red on terminals."""
    if as_json:
        sys.stderr.write(json_line({"error": error_facts(error)}) + "\n")
        return
    from rich.text import Text

    message = str(error) if isinstance(error, LikewiseError) else os_error_text(error)
    place = error_location(error)
    console(stderr=True).print(
        Text.assemble(("error: ", "bold red"), f"{place}: " if place else "", message), soft_wrap=True
    )


def error_facts(error: LikewiseError | OSError) -> dict[str, object]:
    """Return the fields of an error.

    >>> error_facts(FileNotFoundError(2, "No such file or directory", "events.jsonl"))["code"]
    'file'
    """
    if isinstance(error, LikewiseError):
        fields = error.to_dict()
        fields.pop("__notes__", None)
        return {**fields, "where": error_location(error)} if error_location(error) else fields
    return {"code": "file", "message": os_error_text(error), "path": str(error.filename or "")}


def error_location(error: BaseException) -> str:
    """Return the location of the text that an error is about, from its notes; '' if they name none.

    >>> error = LikewiseError("wrong")
    >>> error.add_note("events.jsonl, line 7")
    >>> error_location(error)
    'events.jsonl, line 7'
    """
    return ", ".join(reversed(getattr(error, "__notes__", [])))


def os_error_text(error: OSError) -> str:
    """Return what the system reported about a file, in one line.

    >>> os_error_text(FileNotFoundError(2, "No such file or directory", "events.jsonl"))
    'events.jsonl: No such file or directory'
    """
    return f"{error.filename}: {error.strerror}" if error.filename else str(error)


def exit_code(error: LikewiseError | OSError) -> int:
    """Return the exit code of an error.

    >>> from likewise.errors import FormatError
    >>> exit_code(FormatError("no JSON")), exit_code(MissingDependency("pyspark", "spark")), exit_code(Unavailable(""))
    (2, 3, 4)
    """
    if isinstance(error, Unavailable):
        return NO_ANSWER
    return MISSING if isinstance(error, (ArtefactError, MissingDependency)) else BAD_INPUT
