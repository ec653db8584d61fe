"""How commands speak: JSON for machines, colour for people, one clear message for an error, and exit codes.

| code | meaning |
|---|---|
| 0 | done; for a question, yes |
| 1 | done; for a question, no: nothing matched |
| 2 | what was handed in is wrong |
| 3 | something needed is missing or damaged: an artefact, an optional dependency |
| 130 | stopped with Ctrl-C |
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import msgspec

from likewise.errors import ArtefactError, LikewiseError, MissingDependency

if TYPE_CHECKING:
    from rich.console import Console

YES: Final = 0
NO: Final = 1
BAD_INPUT: Final = 2
UNAVAILABLE: Final = 3
INTERRUPTED: Final = 130


def console(*, stderr: bool = False) -> Console:
    """A console on standard output (or error); in colour on terminals, as NO_COLOR and FORCE_COLOR say."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, emoji=False, markup=False)


def json_line(value: object) -> str:
    """A value as one line of JSON; what JSON does not know (a NumPy number, a path) as a number or as text.

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
    print(line if isinstance(line, str) else line.decode(), flush=True)


def print_error(error: LikewiseError | OSError, *, as_json: bool) -> None:
    """Print an error on standard error: its facts as JSON, or its message, red on terminals."""
    if as_json:
        sys.stderr.write(json_line({"error": facts(error)}) + "\n")
        return
    from rich.text import Text

    message = str(error) if isinstance(error, LikewiseError) else reason(error)
    place = where(error)
    console(stderr=True).print(
        Text.assemble(("error: ", "bold red"), f"{place}: " if place else "", message), soft_wrap=True
    )


def facts(error: LikewiseError | OSError) -> dict[str, object]:
    """The error's facts.

    >>> facts(FileNotFoundError(2, "No such file or directory", "events.jsonl"))["code"]
    'file'
    """
    if isinstance(error, LikewiseError):
        found = error.facts()
        found.pop("__notes__", None)
        return {**found, "where": where(error)} if where(error) else found
    return {"code": "file", "message": reason(error), "path": str(error.filename or "")}


def where(error: BaseException) -> str:
    """Where the text stood that the error is about, as its notes say; '' if they say nothing.

    >>> error = LikewiseError("wrong")
    >>> error.add_note("events.jsonl, line 7")
    >>> where(error)
    'events.jsonl, line 7'
    """
    return ", ".join(reversed(getattr(error, "__notes__", [])))


def reason(error: OSError) -> str:
    """What the system said about a file, in one line.

    >>> reason(FileNotFoundError(2, "No such file or directory", "events.jsonl"))
    'events.jsonl: No such file or directory'
    """
    return f"{error.filename}: {error.strerror}" if error.filename else str(error)


def exit_code(error: LikewiseError | OSError) -> int:
    """The exit code that goes with an error.

    >>> from likewise.errors import FormatError
    >>> exit_code(FormatError("no JSON")), exit_code(MissingDependency("pyspark", "spark"))
    (2, 3)
    """
    return UNAVAILABLE if isinstance(error, (ArtefactError, MissingDependency)) else BAD_INPUT
