"""What a kernel is made from: its own source, and those of everything it imports from this project's packages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[1]
_IMPORTED = re.compile(
    r"^\s*from (likewise[\w.]*) import (?:\(([^)]*)\)|(.*))|^\s*import (likewise[\w.]*)", re.MULTILINE
)


@cache
def sources(module: str) -> frozenset[Path]:
    """The files a module is made from."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        return frozenset()
    found: set[Path] = set()
    waiting = [Path(spec.origin)]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _imported(path.read_text(encoding="utf-8"))
    return frozenset(found)


def _imported(text: str) -> Iterator[Path]:
    """The files of the modules that a source imports; a package's own front door lists all and counts for none."""
    for match in _IMPORTED.finditer(text):
        package = match[1] or match[4]
        parts = (match[2] or match[3] or "").split(",")
        for name in [package, *(f"{package}.{part.split()[0]}" for part in parts if part.strip())]:
            top, *rest = name.split(".")
            root = ROOT if top == "likewise" else _folder_of(top)
            if root is None or not rest:
                continue
            below = root.joinpath(*rest)
            for file in (below.with_suffix(".py"), below / "__init__.py"):
                if file.is_file():
                    yield file


@cache
def _folder_of(package: str) -> Path | None:
    """The folder of another package of this project; None if it is not installed."""
    spec = find_spec(package)
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


@cache
def fingerprint(module: str) -> str:
    """Changes with the sources a module is made from, in whatever folder they lie.

    Numba looks at a kernel's own file alone to see whether what it keeps of it is still true. A kernel that calls
    another file's, or reads addresses by a layout another file says, must not outlive that file: it could write
    anywhere. So the kept form of every kernel has this in its name. What a kernel cannot see does not change it
    (docs/decisions/007).
    """
    return blake2b(b"".join(path.read_bytes() for path in sorted(sources(module))), digest_size=8).hexdigest()
