"""Parquet files with a column of titles and one of texts; a split is one row group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from likewise.errors import FormatError
from likewise.spark.spaces.sources.documents import BATCH_DOCUMENTS, Split

if TYPE_CHECKING:
    import pyarrow as pa


class ParquetFiles(msgspec.Struct, frozen=True):
    """Parquet files, in the order given; rows without a text are left out as `no text`."""

    paths: tuple[str, ...]
    title: str = "title"
    text: str = "text"

    @property
    def kind(self) -> str:
        """Said in the manifest."""
        return "parquet"

    def splits(self) -> list[Split]:
        """Return one split for each row group; the columns must be there."""
        import pyarrow.parquet as pq

        out = []
        for path in self.paths:
            file = pq.ParquetFile(path)
            if self.text not in file.schema_arrow.names:
                names = ", ".join(file.schema_arrow.names)
                raise FormatError(f"{path} has no column {self.text!r}; it has {names}: name the right one")
            out += [Split(path, group, group + 1) for group in range(file.num_row_groups)]
        return out

    def read(self, split: Split, left_out: Counter[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the split's row group."""
        import pyarrow as pa
        import pyarrow.compute as pc
        import pyarrow.parquet as pq

        file = pq.ParquetFile(split.path)
        columns = [name for name in (self.title, self.text) if name in file.schema_arrow.names]
        groups = range(split.start, split.stop)
        for rows in file.iter_batches(batch_size=BATCH_DOCUMENTS, row_groups=list(groups), columns=columns):
            left_out["no text"] += rows.column(self.text).null_count
            rows = rows.filter(pc.is_valid(rows.column(self.text)))
            texts = rows.column(self.text).cast(pa.large_string())
            titles = rows.column(self.title) if self.title in columns else pa.array([""] * len(rows), pa.string())
            titles = titles.cast(pa.large_string()).fill_null("")
            yield pa.RecordBatch.from_arrays([titles, texts], names=["title", "text"])
