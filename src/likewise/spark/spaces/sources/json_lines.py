"""JSON lines: one object a line with a title and a text, plain or compressed.

Plain files are cut into byte ranges; a line belongs to the range it begins in. Compressed files cannot
be cut: one split each.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, cast

import msgspec

from likewise.spark.spaces.sources.documents import SPLIT_BYTES, Document, Split, batch_documents, split_ranges

if TYPE_CHECKING:
    import pyarrow as pa

_BLOCK: Final = 8 << 20  # bytes parsed at a time
_OPENERS: Final[dict[str, Callable[[str, str], object]]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


class JsonLines(msgspec.Struct, frozen=True):
    """Files of JSON lines, in the order given.

    Lines that are no JSON object with a text are left out as `broken line`.
    """

    paths: tuple[str, ...]
    title: str = "title"
    text: str = "text"
    split_bytes: int = SPLIT_BYTES

    @property
    def kind(self) -> str:
        """Said in the manifest."""
        return "json-lines"

    def splits(self) -> list[Split]:
        """Return byte ranges of plain files, and whole compressed ones."""
        return [
            Split(path, start, stop)
            for path in self.paths
            for start, stop in (
                [(0, -1)]
                if Path(path).suffix in _OPENERS
                else split_ranges(Path(path).stat().st_size, self.split_bytes)
            )
        ]

    def read(self, split: Split, left_out: Counter[str]) -> Iterator[pa.RecordBatch]:
        """Yield the documents of the lines that begin in the split."""
        for block in _blocks(split, left_out):
            fast = _parse(block, self.title, self.text)
            if fast is not None:
                yield fast
            else:
                yield from batch_documents(self._lines(block, left_out))

    def _lines(self, block: bytes, left_out: Counter[str]) -> Iterator[Document]:
        """Yield the block's documents one by one, whatever is wrong with some of its lines."""
        for line in block.split(b"\n"):
            if not line.strip():
                continue
            try:
                document = msgspec.json.decode(line, type=dict[str, object])
            except (msgspec.DecodeError, UnicodeDecodeError):
                document = {}
            title, text = document.get(self.title), document.get(self.text)
            if isinstance(text, str):
                yield Document("" if title is None else str(title), text)
            else:
                left_out["broken line"] += 1


def _parse(block: bytes, title: str, text: str) -> pa.RecordBatch | None:
    """Parse a block of sound lines with Arrow; return None if any line is not exactly a title and a text."""
    import pyarrow as pa
    import pyarrow.json as pj

    schema = pa.schema([(title, pa.large_string()), (text, pa.large_string())])
    try:
        table = pj.read_json(
            io.BytesIO(block),
            read_options=pj.ReadOptions(use_threads=False, block_size=len(block) + 1),
            parse_options=pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
        )
    except pa.ArrowInvalid:
        return None
    if table[text].null_count or table.num_rows != block.count(b"\n") + (not block.endswith(b"\n")):
        return None  # a line without a text, or one that is not one object
    titles = table[title].combine_chunks().fill_null("")
    return pa.RecordBatch.from_arrays([titles, table[text].combine_chunks()], names=["title", "text"])


def _blocks(split: Split, left_out: Counter[str]) -> Iterator[bytes]:
    """Yield the split's lines, in blocks that end with a line's end."""
    opener = _OPENERS.get(Path(split.path).suffix)
    if opener is not None:
        with cast(BinaryIO, opener(split.path, "rb")) as file:
            yield from _until_end(file, left_out)
        return
    with open(split.path, "rb") as file:
        if split.start:
            file.seek(split.start - 1)
            file.readline()  # the line that began before the split is another's
        while (at := file.tell()) < split.stop:
            block = file.read(min(_BLOCK, split.stop - at))
            yield block if block.endswith(b"\n") else block + file.readline()


def _until_end(file: BinaryIO, left_out: Counter[str]) -> Iterator[bytes]:
    """Yield a compressed stream's lines; if it breaks off, count that and end."""
    while True:
        try:
            block = file.read(_BLOCK)
            block += file.readline() if block and not block.endswith(b"\n") else b""
        except (EOFError, OSError, lzma.LZMAError):
            left_out["broken stream"] += 1
            return
        if not block:
            return
        yield block
