"""The interface of a source of documents: splits to distribute, and Arrow batches of titles and texts.

A source plans its splits once, on the driver, in the order its documents shall be numbered; a worker
reads one split at a time. The documents and their order never depend on how the splits are dealt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, Protocol

import msgspec

if TYPE_CHECKING:
    import pyarrow as pa

SPLIT_BYTES: Final = 16 << 20  # stored bytes of one split: a few seconds of work
BATCH_DOCUMENTS: Final = 10_000  # docs/guides/spark-cluster.md: batches of this size are fastest
BATCH_CHARACTERS: Final = 16 << 20  # and no batch of long documents grows beyond this


class Split(msgspec.Struct, frozen=True):
    """A piece of a source: the bytes (or row groups, or files) from `start` to `stop` of `path`."""

    path: str
    start: int = 0
    stop: int = -1
    files: tuple[str, ...] = ()


class Document(msgspec.Struct, frozen=True):
    """A title and a text."""

    title: str
    text: str


class Source(Protocol):
    """A corpus that can be cut into splits; it is sent to workers, so it holds no open files."""

    @property
    def kind(self) -> str:
        """Return the kind of source that a space's manifest names."""
        ...

    def splits(self) -> list[Split]:
        """Return the splits, in the order of their documents."""
        ...

    def read(self, split: Split, left_out: Counter[str]) -> Iterator[pa.RecordBatch]:
        """Yield the split's documents; count what is left out under its reason."""
        ...


def batch(titles: Sequence[str], texts: Sequence[str]) -> pa.RecordBatch:
    """Return an Arrow batch of documents.

    >>> batch(["a"], ["text of a"]).num_rows
    1
    """
    import pyarrow as pa

    # Lone surrogates, which some JSON holds, are no text that could be stored.
    columns = [[t.encode("utf-8", "replace").decode() for t in column] for column in (titles, texts)]
    return pa.RecordBatch.from_arrays(
        [pa.array(column, pa.large_string()) for column in columns], names=["title", "text"]
    )


def batch_documents(documents: Iterable[Document]) -> Iterator[pa.RecordBatch]:
    """Yield documents gathered into batches of bounded size.

    >>> [b.num_rows for b in batch_documents([Document("a", "x"), Document("b", "y")])]
    [2]
    """
    titles: list[str] = []
    texts: list[str] = []
    characters = 0
    for document in documents:
        titles.append(document.title)
        texts.append(document.text)
        characters += len(document.text)
        if len(titles) >= BATCH_DOCUMENTS or characters >= BATCH_CHARACTERS:
            yield batch(titles, texts)
            titles, texts, characters = [], [], 0
    if titles:
        yield batch(titles, texts)


def split_ranges(size: int, step: int = SPLIT_BYTES) -> list[tuple[int, int]]:
    """Yield even ranges of about `step` of a length.

    >>> split_ranges(10, 4), split_ranges(0, 4)
    ([(0, 4), (4, 8), (8, 10)], [])
    """
    return [(start, min(start + step, size)) for start in range(0, size, step)]
