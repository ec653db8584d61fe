"""Every command that the documentation shows can be typed: its name, its options and its arguments are right."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from likewise.cli import main
from likewise.cli.terminal import lazy

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted(p for p in (ROOT / "docs").rglob("*.md") if "_build" not in p.parts)]
FENCE = re.compile(r"^\s*```(?:console|sh|bash|text)?[^\n]*\n(.*?)^\s*```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(likewise [a-z][^`]*)`")


def commands(page: Path) -> Iterator[str]:
    """Each `likewise` command of a page, in blocks and in the text; lines that go on are joined."""
    text = page.read_text(encoding="utf-8")
    for block in FENCE.findall(text):
        for line in re.sub(r"\\\n\s*", " ", block).splitlines():
            found = re.match(r"\s*(?:\$ )?(?:[A-Z_]+=\S+ )*(?:echo .* \| )?(likewise [a-z].*)", line)
            if found:
                yield found[1]
    for found in INLINE.findall(FENCE.sub("", text)):
        yield " ".join(found.split())


def shown() -> list[tuple[str, str]]:
    every = [(page.relative_to(ROOT).as_posix(), command) for page in PAGES for command in commands(page)]
    return list(dict.fromkeys(every))


def resolve(command: Any, words: list[str]) -> tuple[Any, list[str]]:
    """The command that words lead to, and the words left over."""
    while words and words[0] in getattr(command, "commands", {}):
        held = getattr(command, "lazy", {})
        command = lazy.load(words[0], held[words[0]].target) if words[0] in held else command.commands[words[0]]
        words = words[1:]
    return command, words


def test_there_are_commands_to_check() -> None:
    """The patterns above find what the pages show."""
    found = [command for _, command in shown()]
    assert len(found) > 60
    assert any(command.startswith("likewise context add") for command in found)


@pytest.mark.parametrize(("page", "command"), shown(), ids=lambda value: str(value)[:50])
def test_the_command_exists_with_these_options(page: str, command: str) -> None:
    """What is shown in full can be typed; an option that is no longer there is found."""
    words = shlex.split(command.replace("...", ""), comments=True)[1:]
    words = words[: next((place for place, word in enumerate(words) if word in ("|", ">", "2>", "&")), len(words))]
    found, rest = resolve(typer.main.get_command(main.app), words)
    assert not rest or not hasattr(found, "commands") or rest[0].startswith("-"), f"{page}: there is no `{command}`"
    if getattr(found, "context_settings", {}).get("ignore_unknown_options"):
        return  # a benchmark has options of its own
    known = {option for parameter in found.params for option in (*parameter.opts, *parameter.secondary_opts)} | {
        "--help"
    }
    if hasattr(found, "commands"):
        known |= {"--version", "--install-completion", "--show-completion"}
    for word in rest:
        if re.fullmatch(r"--?[a-z][a-z-]*(=.*)?", word):
            assert word.partition("=")[0] in known, f"{page}: `{command}` has no option {word}"
