"""The highest memory of this process and everything it started, watched from a thread."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from types import TracebackType
from typing import Final

_PAUSE: Final = 0.2  # seconds between two looks


class PeakMemory:
    """Watches while its block runs; `peak` is in bytes, None where there is no /proc.

    Resident sizes are summed, so pages that processes share count once for each: an upper bound.

    >>> with PeakMemory() as watched:
    ...     block = bytes(1 << 20)
    >>> watched.peak is None or watched.peak > 1 << 20
    True
    """

    def __init__(self) -> None:
        self.peak: int | None = None
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="peak-memory", daemon=True)

    def __enter__(self) -> PeakMemory:
        self._look()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()
        self._look()

    def _watch(self) -> None:
        while not self._done.wait(_PAUSE):
            self._look()

    def _look(self) -> None:
        found = resident_bytes(os.getpid())
        if found is not None:
            self.peak = max(self.peak or 0, found)


def resident_bytes(root: int) -> int | None:
    """The resident memory of a process and its descendants, or None where there is no /proc."""
    proc = Path("/proc")
    if not (proc / "self" / "stat").exists():
        return None
    parents: dict[int, int] = {}
    pages: dict[int, int] = {}
    for entry in os.listdir(proc):
        if not entry.isdigit():
            continue
        try:
            fields = (proc / entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        parents[int(entry)] = int(fields[1])
        pages[int(entry)] = int(fields[21])
    mine = {root}
    size = 0
    while len(mine) != size:
        size = len(mine)
        mine |= {pid for pid, parent in parents.items() if parent in mine}
    return sum(pages.get(pid, 0) for pid in mine) * os.sysconf("SC_PAGE_SIZE")
