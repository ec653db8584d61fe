"""docs/life-of-an-event.md names each function on an event's way, and every name on the page exists.

The page writes a name in full once, `folder/module.Name` or `folder/module.Class.method` below `src/likewise/`. After
that `Class.method`, `method` or `part.method` stands for a name of a module or class the page named in full.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "life-of-an-event.md"
SOURCE = ROOT / "src" / "likewise"
QUOTED = re.compile(r"`([^`\n]+)`")
FULL = re.compile(r"((?:\w+/)+\w+)\.(\w+(?:\.\w+)*)")
SHORT = re.compile(r"\w+(?:\.\w+)?")
WORDS = {"block"}  # a queue's policy


def module_of(path: str) -> ModuleType:
    return importlib.import_module("likewise." + path.replace("/", "."))


def has(owner: object, name: str) -> bool:
    """Whether a module or class has a name: of its own, inherited, or given to its instances."""
    if hasattr(owner, name) or name in getattr(owner, "__annotations__", {}):
        return True
    if not inspect.isclass(owner) or not owner.__module__.startswith("likewise."):
        return False
    home = sys.modules[owner.__module__].__file__
    return home is not None and re.search(rf"\bself\.{name}\b.* = ", Path(home).read_text(encoding="utf-8")) is not None


def classes(module: ModuleType) -> list[type]:
    return [value for value in vars(module).values() if inspect.isclass(value)]


def problem(quoted: str, named: dict[str, ModuleType]) -> str | None:
    """What is wrong with a quoted name; `named` are the modules the page names in full."""
    if full := FULL.fullmatch(quoted):
        owner: object = named[full[1]]
        for part in full[2].split("."):
            if not has(owner, part):
                return f"{full[1]} has no {full[2]}"
            owner = getattr(owner, part, None)
        return None
    if quoted.endswith("/"):
        return None if (SOURCE / quoted).is_dir() or (ROOT / quoted).is_dir() else f"there is no folder {quoted}"
    if not SHORT.fullmatch(quoted) or quoted in WORDS:
        return None
    first, _, second = quoted.partition(".")
    for module in named.values():
        if second and inspect.isclass(owner := getattr(module, first, None)) and has(owner, second):
            return None
        for owner in (module, *(each for each in classes(module) if each.__module__ == module.__name__)):
            if not has(owner, first):
                continue
            if not second or any(has(kind, second) for kind in classes(module)):
                return None
    return f"no module the page names has {quoted}"


def problems(page: str) -> list[str]:
    quoted = QUOTED.findall(page)
    named, wrong = {}, []
    for full in filter(None, map(FULL.fullmatch, quoted)):
        try:
            named[full[1]] = module_of(full[1])
        except ModuleNotFoundError:
            wrong.append(f"there is no module {full[1]}")
    known = [each for each in quoted if not (match := FULL.fullmatch(each)) or match[1] in named]
    return wrong + [said for each in known if (said := problem(each, named))]


def test_every_name_on_the_page_exists() -> None:
    """Each quoted name can be looked up in the package."""
    text = PAGE.read_text(encoding="utf-8")
    assert len([each for each in QUOTED.findall(text) if FULL.fullmatch(each)]) >= 20, "the page names its functions"
    assert problems(text) == []


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("`model/even.Event`", "there is no module model/even"),
        ("`model/event.Evnt`", "model/event has no Evnt"),
        ("`model/event.Event.paylod`", "model/event has no Event.paylod"),
        ("`model/event.Event` and `paylod`", "no module the page names has paylod"),
        ("`model/event.Event` and `Event.paylod`", "no module the page names has Event.paylod"),
        ("`modle/`", "there is no folder modle/"),
    ],
)
def test_a_name_that_is_gone_is_found(page: str, said: str) -> None:
    """A page that names what is not there fails, and the test says which name."""
    assert problems(page) == [said]
