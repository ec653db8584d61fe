"""Cache of compiled kernels: its folder, its keys, and the mark that all kernels are compiled.

Where compiled kernels are kept between runs: one folder, however Likewise is started.

Whether every kernel is compiled and kept, so that nothing waits for it.

A mark in the folder of kernels says so. It is named by everything that would make numba compile again: the sources of
all kernels, numba, Python and the kind of machine.
"""

from __future__ import annotations

import atexit
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Final


@cache
def kernels_folder() -> Path:
    """Return `NUMBA_CACHE_DIR` if set, else `kernels` in the user's cache; the folder may be deleted at any time.

    Where that cannot be written, a folder of this process, removed when it ends. Kernels that check their bounds
    (`NUMBA_BOUNDSCHECK=1`) have a folder of their own inside: numba does not tell the two apart.
    """
    import platformdirs

    configured = os.environ.get("NUMBA_CACHE_DIR")
    folder = Path(configured) if configured else platformdirs.user_cache_path("likewise") / "kernels"
    if os.environ.get("NUMBA_BOUNDSCHECK", "0") not in ("", "0"):
        folder /= "bounds-checked"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        near = tempfile.mkdtemp(prefix="likewise-kernels-")
        atexit.register(shutil.rmtree, near, ignore_errors=True)
        return Path(near)
    return folder


ROOT = Path(__file__).parents[1]
_IMPORTED = re.compile(
    r"^\s*from (likewise[\w.]*) import (?:\(([^)]*)\)|(.*))|^\s*import (likewise[\w.]*)", re.MULTILINE
)


@cache
def sources(module: str) -> frozenset[Path]:
    """Return the files that a module is made from."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        return frozenset()
    files: set[Path] = set()
    waiting = [Path(spec.origin)]
    while waiting:
        path = waiting.pop()
        if path not in files:
            files.add(path)
            waiting += _imported(path.read_text(encoding="utf-8"))
    return frozenset(files)


def _imported(text: str) -> Iterator[Path]:
    """Yield the files of the modules that a source imports; a package's `__init__` alone does not count."""
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
    """Return the folder of another package of this project; None if it is not installed."""
    spec = find_spec(package)
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


@cache
def fingerprint(module: str) -> str:
    """Return a hash of the sources a module is made from, wherever they are installed.

    Numba looks at a kernel's own file alone to see whether what it keeps of it is still true. A kernel that calls
    another file's, or reads addresses by a layout another file says, must not outlive that file: it could write
    anywhere. So the kept form of every kernel has this in its name. What a kernel cannot see does not change it
    (docs/decisions/007).
    """
    return blake2b(b"".join(path.read_bytes() for path in sorted(sources(module))), digest_size=8).hexdigest()


_DECORATORS: Final = "from likewise.kernels.compile import"
_MARK: Final = "ready-"


def is_compiled_ahead() -> bool:
    """Return whether `mark_compiled` was called for the current kernels."""
    return _mark().is_file()


def mark_compiled() -> None:
    """Record that every kernel is compiled and cached; marks of other versions are removed."""
    mark = _mark()
    for other in mark.parent.glob(f"{_MARK}*"):
        if other != mark:
            other.unlink(missing_ok=True)
    mark.touch()


def kernel_modules() -> list[str]:
    """Return the modules that define kernels.

    >>> "likewise.matching.bitmap.match_kernels" in kernel_modules()
    True
    """
    paths = (path for path in ROOT.rglob("*.py") if _DECORATORS in path.read_text(encoding="utf-8"))
    return sorted(".".join(("likewise", *path.relative_to(ROOT).with_suffix("").parts)) for path in paths)


def _mark() -> Path:
    parts = [version("numba"), version("llvmlite"), sys.version, platform.machine(), platform.node()]
    digest = blake2b(digest_size=8)
    for part in (*parts, *map(fingerprint, kernel_modules())):
        digest.update(part.encode() + b"\0")
    return kernels_folder() / f"{_MARK}{digest.hexdigest()}"
