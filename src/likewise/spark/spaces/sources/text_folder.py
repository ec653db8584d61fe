"""A folder of text files, each one document, its title the path below the folder without its ending."""

from __future__ import annotations

import codecs
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from likewise.spark.spaces.sources.documents import SPLIT_BYTES, Document, Split, batch_documents

if TYPE_CHECKING:
    import pyarrow as pa

_FILES_IN_SPLIT: Final = 1_000
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class TextFolder(msgspec.Struct, frozen=True):
    """Every file below a folder that is no hidden one, in the order of their paths.

    Text is UTF-8 (other bytes are read as replacement characters), or what its byte order mark says.
    Files with zero bytes in them are left out as `not text`.
    """

    path: str

    @property
    def kind(self) -> str:
        """Said in the manifest."""
        return "text"

    def splits(self) -> list[Split]:
        """Return groups of files of moderate size."""
        root = Path(self.path)
        if root.is_file():
            return [Split(str(root.parent), files=(root.name,))]
        out: list[Split] = []
        group: list[str] = []
        size = 0
        for name in sorted(_files(root)):
            group.append(name)
            size += (root / name).stat().st_size
            if size >= SPLIT_BYTES or len(group) >= _FILES_IN_SPLIT:
                out.append(Split(self.path, files=tuple(group)))
                group, size = [], 0
        return [*out, Split(self.path, files=tuple(group))] if group else out

    def read(self, split: Split, left_out: Counter[str]) -> Iterator[pa.RecordBatch]:
        """Yield the split's files as documents."""
        yield from batch_documents(_documents(split, left_out))


def _documents(split: Split, left_out: Counter[str]) -> Iterator[Document]:
    for name in split.files:
        try:
            data = (Path(split.path) / name).read_bytes()
        except OSError:
            left_out["unreadable file"] += 1
            continue
        encoding = next((encoding for mark, encoding in _MARKS if data.startswith(mark)), "utf-8")
        if encoding == "utf-8" and b"\0" in data:
            left_out["not text"] += 1
        else:
            yield Document(os.path.splitext(name)[0], data.decode(encoding, "replace"))


def _files(root: Path) -> Iterator[str]:
    """Return paths below the root, with forward slashes; hidden ones and links to folders are skipped."""
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if not f.startswith(".")]
        for name in names:
            path = Path(folder) / name
            if not name.startswith(".") and path.is_file():
                yield path.relative_to(root).as_posix()
