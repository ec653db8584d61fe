"""What a report is made of: sections of text, tables and figures, kept as JSON between runs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal

import msgspec

KEPT: Final = "section.json"


class Text(msgspec.Struct, frozen=True, tag="text"):
    """A paragraph; `backquotes` stand around code."""

    text: str


class Table(msgspec.Struct, frozen=True, tag="table"):
    """Rows under a header; the first column is text, the others are figures."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Figure(msgspec.Struct, frozen=True, tag="figure"):
    """A picture as an `<svg>` element."""

    caption: str
    svg: str


class Figures(msgspec.Struct, frozen=True, tag="figures"):
    """Pictures side by side where there is room."""

    figures: tuple[Figure, ...]


Block = Text | Table | Figure | Figures


class Glance(msgspec.Struct, frozen=True):
    """One line of the overview: what was measured, what came out, and what the paper says or was aimed at."""

    what: str
    here: str
    compared: str = ""


class Section(msgspec.Struct, frozen=True):
    """One part's outcome.

    `facts` are figures by column and measure, for the table that sets measures side by side; `when` is the
    UTC time it was found, `seconds` how long that took. A part that could not run says why in its one block.
    """

    name: str
    title: str
    blocks: tuple[Block, ...] = ()
    command: str = ""
    glances: tuple[Glance, ...] = ()
    facts: dict[str, dict[str, float]] = {}
    status: Literal["done", "missing", "failed", "waiting"] = "done"
    when: str = ""
    seconds: float = 0.0


class _Kept(msgspec.Struct, frozen=True):
    key: str
    section: Section


def keep(folder: Path, key: str, section: Section) -> None:
    """Write a section whole or not at all; `key` says what it depends on."""
    folder.mkdir(parents=True, exist_ok=True)
    near = folder / f".{KEPT}.{os.getpid()}"
    near.write_bytes(msgspec.json.encode(_Kept(key, section)))
    os.replace(near, folder / KEPT)


def kept(folder: Path, key: str) -> Section | None:
    """The section of an earlier run with the same key; None if there is none, or it cannot be read."""
    try:
        found = msgspec.json.decode((folder / KEPT).read_bytes(), type=_Kept)
    except (OSError, msgspec.DecodeError):
        return None
    return found.section if found.key == key else None


def key_of(choices: Iterable[object], files: Iterable[Path]) -> str:
    """What a section depends on: choices, and the content of files.

    >>> key_of(["vendor", None], []) == key_of(["vendor", None], []) != key_of(["vendor", 1], [])
    True
    """
    digest = hashlib.sha256(repr(list(choices)).encode())
    for path in files:
        digest.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
