"""Folders of compiled kernels, and the mark that all kernels are compiled.

Kernels are stored in one folder of the user, however Likewise is started; portable ones come with the distribution
`likewise-kernels`. Code in such a folder runs as the user, so a folder that others can write is refused.

A mark beside the kernels states that all of them are there, so that nothing waits for a compilation. Its name covers
the sources of all kernels, numba, Python and the processor.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import blake2b
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from likewise.errors import ArtefactError

if TYPE_CHECKING:
    from likewise.kernels.targets import CodeTarget

PORTABLE: Final = "LIKEWISE_KERNELS"  # names a folder of portable kernels instead of the installed one; empty: none
UNUSED: Final = 60 * 86400.0  # seconds after which a kernel that no start has read is removed
_OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH


@cache
def kernels_folder() -> Path:
    """Return `NUMBA_CACHE_DIR` if set, else `kernels` in the user's cache; the folder may be deleted at any time.

    Where that cannot be written, a folder of this process, removed when it ends. Kernels that check their bounds
    (`NUMBA_BOUNDSCHECK=1`) have a folder of their own inside.

    Raises:
        ArtefactError: others can write the folder.
    """
    import platformdirs

    configured = os.environ.get("NUMBA_CACHE_DIR")
    folder = Path(configured) if configured else platformdirs.user_cache_path("likewise") / "kernels"
    if os.environ.get("NUMBA_BOUNDSCHECK", "0") not in ("", "0"):
        folder /= "bounds-checked"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for each in {folder, Path(configured) if configured else folder}:
            check_trusted(each, each.stat())
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        near = tempfile.mkdtemp(prefix="likewise-kernels-")
        atexit.register(shutil.rmtree, near, ignore_errors=True)
        return Path(near)
    return folder


def check_trusted(path: Path, status: os.stat_result) -> None:
    """Check that nobody else can write a folder or file of kernels: what it holds runs as this user.

    Raises:
        ArtefactError: others can write it, or it belongs to another user.
    """
    if os.name == "nt":
        return
    if status.st_mode & _OTHERS & ~(stat.S_IWGRP if _is_own_group(status.st_gid) else 0):
        raise ArtefactError(
            f"others can write the compiled kernels in {path} (mode {stat.S_IMODE(status.st_mode):o}), and their code "
            f"would run as you; if you trust what is there, run: chmod -R go-w {path}; else remove it"
        )
    if status.st_uid not in (os.geteuid(), 0):
        raise ArtefactError(
            f"the compiled kernels in {path} belong to user {status.st_uid}, and their code would run as you; "
            "remove them, or name another folder in NUMBA_CACHE_DIR"
        )


@cache
def _is_own_group(group: int) -> bool:
    """Return whether a group holds this user alone, as where a new file is writable by the group (umask 002)."""
    import grp
    import pwd

    try:
        user, known = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except KeyError:
        return False
    return user.pw_uid != 0 and known.gr_name == user.pw_name and set(known.gr_mem) <= {user.pw_name}


@cache
def portable_folders() -> list[tuple[str, Path]]:
    """Return the folders of portable kernels that this processor can run, each with its level, the best first.

    They are in the package `likewise_kernels`, or in the folder that `LIKEWISE_KERNELS` names; empty, it means none.

    Raises:
        ArtefactError: others can write one of them.
    """
    configured = os.environ.get(PORTABLE)
    if configured is None:
        spec = find_spec("likewise_kernels")
        configured = "" if spec is None or spec.origin is None else str(Path(spec.origin).parent)
    if not configured:
        return []
    from likewise.kernels.targets import levels

    folders = [(level, Path(configured) / level) for level in levels()]
    present = [(level, folder) for level, folder in folders if folder.is_dir()]
    for _, folder in present:
        check_trusted(folder, folder.stat())
    return present


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

    It names the mark, and stands in the key of a kernel for what the key cannot describe (docs/decisions/027).
    """
    return blake2b(b"".join(path.read_bytes() for path in sorted(sources(module))), digest_size=8).hexdigest()


_DECORATORS: Final = "from likewise.kernels.compile import"
Stage = Literal["first", "all"]  # the kernels of conditions and alerts, which most subscriptions are; or every kernel
_MARKS: Final[dict[Stage, str]] = {"first": "first-", "all": "ready-"}


def is_compiled_ahead(native: bool = False, stage: Stage = "all") -> bool:
    """Return whether every current kernel is stored, so that matching compiles nothing.

    Args:
        native: whether code for this very processor is asked for, which is faster than portable code.
        stage: which kernels are asked for.
    """
    from likewise.kernels.targets import current, portable

    if _mark(kernels_folder(), current()).is_file():
        return True
    if native:
        return False
    portables = portable_folders()
    if any(_mark(folder, portable(level)).is_file() for level, folder in portables):
        return True
    stages: tuple[Stage, ...] = ("all",) if stage == "all" else ("all", "first")
    return any(_mark(kernels_folder(), current(), portables, each).is_file() for each in stages)


def mark_compiled(stage: Stage = "all") -> None:
    """Record that every kernel of a stage is stored; remove what no start has used for two months.

    Where there are portable kernels, the rest beside them was compiled: then the mark holds for both together.
    """
    from likewise.kernels.targets import current

    mark = _mark(kernels_folder(), current(), portable_folders(), stage)
    for other in mark.parent.iterdir():
        if other.is_file() and time.time() - other.stat().st_mtime > UNUSED:
            other.unlink(missing_ok=True)
    mark.touch()


def kernel_modules() -> list[str]:
    """Return the modules that define kernels.

    >>> "likewise.matching.bitmap.match_kernels" in kernel_modules()
    True
    """
    paths = (path for path in ROOT.rglob("*.py") if _DECORATORS in path.read_text(encoding="utf-8"))
    return sorted(".".join(("likewise", *path.relative_to(ROOT).with_suffix("").parts)) for path in paths)


def _mark(folder: Path, target: CodeTarget, beside: Sequence[tuple[str, Path]] = (), stage: Stage = "all") -> Path:
    """Return the file that states that the kernels are in a folder, or there and in the portable ones beside it."""
    numpy = version("numpy").rpartition(".")[0]  # as in the key of a kernel
    parts = [version("numba"), version("llvmlite"), numpy, sys.implementation.cache_tag, *target]
    parts += [str(portable) for _, portable in beside]
    digest = blake2b(digest_size=8)
    for part in (*parts, *map(fingerprint, kernel_modules())):
        digest.update(part.encode() + b"\0")
    return folder / f"{_MARKS[stage]}{digest.hexdigest()}"
