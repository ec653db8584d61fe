"""WordNet's database files: one document for each synset (docs/guides/build-a-space.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from likewise.semantics.wordnet.database import read_synset_documents
from likewise.spark.spaces.sources.documents import Document, Split, batch_documents

if TYPE_CHECKING:
    import pyarrow as pa


class WordNetFiles(msgspec.Struct, frozen=True):
    """The folder that holds `data.noun` and its fellows; small enough for one split."""

    path: str

    @property
    def kind(self) -> str:
        """Said in the manifest."""
        return "wordnet"

    def splits(self) -> list[Split]:
        """Return one split: a synset's document needs its neighbours anywhere in the database."""
        return [Split(self.path)]

    def read(self, split: Split, left_out: Counter[str]) -> Iterator[pa.RecordBatch]:
        """Yield the synsets' documents, in the order of the database."""
        yield from batch_documents(Document(d.title, d.text) for d in read_synset_documents(split.path))
