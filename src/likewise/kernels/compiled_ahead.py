"""Whether every kernel is compiled and kept, so that nothing waits for it.

A mark in the folder of kernels says so. It is named by everything that would make numba compile again: the sources of
all kernels, numba, Python and the kind of machine.
"""

from __future__ import annotations

import platform
import sys
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Final

from likewise.kernels.fingerprint import ROOT, fingerprint
from likewise.kernels.folder import kernels_folder

_DECORATORS: Final = "from likewise.kernels.compile import"
_MARK: Final = "ready-"


def is_compiled_ahead() -> bool:
    """Whether `mark_compiled` was called for the kernels as they are now."""
    return _mark().is_file()


def mark_compiled() -> None:
    """Say that every kernel is compiled and kept; marks of other versions go."""
    mark = _mark()
    for other in mark.parent.glob(f"{_MARK}*"):
        if other != mark:
            other.unlink(missing_ok=True)
    mark.touch()


def kernel_modules() -> list[str]:
    """The modules that have kernels.

    >>> "likewise.matching.bitmap.match_kernels" in kernel_modules()
    True
    """
    found = (path for path in ROOT.rglob("*.py") if _DECORATORS in path.read_text(encoding="utf-8"))
    return sorted(".".join(("likewise", *path.relative_to(ROOT).with_suffix("").parts)) for path in found)


def _mark() -> Path:
    parts = [version("numba"), version("llvmlite"), sys.version, platform.machine(), platform.node()]
    digest = blake2b(digest_size=8)
    for part in (*parts, *map(fingerprint, kernel_modules())):
        digest.update(part.encode() + b"\0")
    return kernels_folder() / f"{_MARK}{digest.hexdigest()}"
