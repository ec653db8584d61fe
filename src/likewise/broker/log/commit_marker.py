"""A second record of the last commit, which reveals that commits are missing from the store.

SQLite takes a damaged or truncated write-ahead log for one that ends there, and opens without a word.
So the number of each commit is also written to a file of its own after the commit is on disk. That
file is not synced: after a power cut it may be behind, never ahead. A store that is behind it has lost
what was acknowledged.
"""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import Final

from likewise.errors import ArtefactDamaged

NAME: Final = "commits"


class CommitMarker:
    """The file beside the store with the number of the last commit."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)

    def check(self, store_number: int) -> None:
        """Refuse a store whose last commit is older than one that was on disk."""
        raw = os.pread(self._file, 64, 0)
        if not raw:
            return
        number, _, rest = raw.partition(b" ")
        if rest.strip() != b"%08x" % zlib.crc32(number):
            return  # cut short while it was written: it says nothing then
        if int(number) > store_number:
            raise ArtefactDamaged(
                f"the store in {self.path.parent} ends at commit {store_number}, but commit {int(number)} was on disk: "
                "the end of its write-ahead log is damaged or missing; restore a copy, or remove the file "
                f"{NAME!r} to go on without what is lost"
            )

    def write(self, number: int) -> None:
        """Note a commit that is on disk."""
        text = b"%020d" % number
        os.pwrite(self._file, text + b" %08x\n" % zlib.crc32(text), 0)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)
