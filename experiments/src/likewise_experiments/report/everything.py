"""`likewise eval all`: every part in turn, each kept when it is done, and the page written after each."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from likewise.errors import ArtefactError, LikewiseError, MissingDependency
from likewise_experiments.progress import duration
from likewise_experiments.report.machine import machine, versions
from likewise_experiments.report.page import page
from likewise_experiments.report.parts import PARTS, Part
from likewise_experiments.report.sections import Section, Text, keep, kept, key_of
from likewise_experiments.report.setting import Choices, Setting

if TYPE_CHECKING:
    from rich.console import Console

PAGE: Final = "report.html"


def everything(
    choices: Choices,
    folder: Path,
    *,
    command: str = "likewise eval all",
    fresh: bool = False,
    console: Console | None = None,
    parts: Sequence[Part] = PARTS,
) -> list[Section]:
    """Run the parts into a folder and write its page; sections of an earlier run with the same data stay as they are.

    A part whose data or dependency is missing says so in its section, and the others run. `fresh` takes nothing
    from earlier runs.
    """
    folder.mkdir(parents=True, exist_ok=True)
    setting = Setting(choices, folder, console)
    used = versions()
    sections = [Section(p.name, p.title, (Text("This part has not run yet."),), status="waiting") for p in parts]
    for number, part in enumerate(parts):
        inner = setting.within(part.name)
        found = None if fresh else kept(inner.folder, _key(part, inner))
        told = "taken from an earlier run"
        if found is None:
            if console is not None:
                console.print(f"{number + 1} of {len(parts)}: {part.title} ...")
            found = _run(part, inner)
            told = f"{duration(found.seconds)}" if found.status == "done" else f"not run: {_reason(found)}"
            if found.status == "done":
                keep(inner.folder, _key(part, inner), found)
        sections[number] = found
        _write(folder, page(sections, command=command, when=_now(), versions=used, machine=machine()))
        if console is not None:
            console.print(f"{number + 1} of {len(parts)}: {part.title}: {told}", soft_wrap=True)
    return sections


def _key(part: Part, setting: Setting) -> str:
    from likewise import __version__

    files = [path for pattern in part.files for path in setting.all_found(pattern)]
    chosen = msgspec.structs.replace(setting.choices, data=None, master=None)
    report = setting.folder / "report.json"  # an experiment's own, which may have been made anew
    return key_of([part.name, __version__, chosen], [*files, *([report] if report.is_file() else [])])


def _run(part: Part, setting: Setting) -> Section:
    """The part's section, or one that says why there is none."""
    begun = time.monotonic()
    try:
        found = part.run(setting)
    except LikewiseError as error:
        absent = isinstance(error, ArtefactError | MissingDependency)
        reason = str(error)[:1].upper() + str(error)[1:] + ("" if str(error).endswith(".") else ".")
        return Section(part.name, part.title, (Text(reason),), status="missing" if absent else "failed")
    return msgspec.structs.replace(found, when=_now(), seconds=time.monotonic() - begun)


def _reason(section: Section) -> str:
    block = section.blocks[0]
    return block.text if isinstance(block, Text) else section.status


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def _write(folder: Path, text: str) -> None:
    near = folder / f".{PAGE}.{os.getpid()}"
    near.write_text(text, encoding="utf-8")
    os.replace(near, folder / PAGE)
