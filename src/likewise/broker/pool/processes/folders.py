"""Where workers' sockets and saved shares are: folders that nobody else can read, and that go with the broker.

Saved shares are in the broker's own folder where it has one: what is swept out of a folder for temporary files now and
then would be missed. A socket's path has to be short, so sockets are among the temporary files. What a broker that was
killed left behind there is removed at the next start; a lock says whose are in use.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import shutil
import tempfile
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Final

PREFIX: Final = "likewise-workers-"
LOCK: Final = "in-use"
SHARES: Final = "workers"  # in the broker's folder


class Folders:
    """The folders of a crew; `data` is the broker's own, if it has one."""

    def __init__(self, data: Path | None = None) -> None:
        self._data = data
        self._numbers = itertools.count(1)
        self._lock: int | None = None

    @cached_property
    def _temporary(self) -> Path:
        sweep(Path(tempfile.gettempdir()))
        made = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._lock = os.open(made / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        return made

    @cached_property
    def _kept(self) -> Path:
        if self._data is None:
            return self._temporary
        made = self._data / SHARES
        remove_folder(made)  # of a broker that was killed; this one has the folder to itself
        made.mkdir(mode=0o700)
        return made

    def for_socket(self) -> Path:
        """A folder for a socket; made again if somebody removed it."""
        self._temporary.mkdir(mode=0o700, exist_ok=True)
        return self._temporary

    def new(self, name: str) -> Path:
        """A folder for a saved share that is not there yet."""
        return self._kept / f"{name}-{next(self._numbers)}"

    def remove(self) -> None:
        """Remove all of them."""
        for name in ("_temporary", "_kept"):
            if name in self.__dict__:
                remove_folder(self.__dict__.pop(name))
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def sweep(folder: Path) -> int:
    """Remove what brokers that were killed left in a folder; how many there were."""
    swept = 0
    for each in folder.glob(f"{PREFIX}*"):
        with suppress(OSError):  # somebody else's, or gone by now
            lock = os.open(each / LOCK, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove_folder(each)
                swept += 1
            finally:
                os.close(lock)
    return swept


def remove_folder(folder: Path) -> None:
    """Remove a folder, if it is there."""
    with suppress(OSError):
        shutil.rmtree(folder)
