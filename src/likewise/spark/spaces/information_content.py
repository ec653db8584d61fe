"""Word counts of a corpus, on Spark: what information content for WordNet's taxonomy is computed from.

Resnik (1995): the information content of a concept is -log of the probability of meeting it or anything
below it in a corpus. The counting is the part that needs a corpus, and is done here; the sums over the
taxonomy are `likewise.semantics.wordnet.taxonomy`'s, which reads the file written here. Words are folded but
neither stemmed nor freed of stop words: the taxonomy does its own reduction to base forms.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from likewise.semantics.text.tokenizer import Tokenizer, TokenizerSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from likewise.spark.spaces.sources.documents import Source, Split

WORDS: Final = TokenizerSettings(stop_words="none", stemmer="none")
_SCHEMA: Final = "word string, count long"


def count_words(
    spark: SparkSession, source: Source, *, known: Callable[[str], bool] | None = None, minimum: int = 1
) -> dict[str, int]:
    """Count the words of the corpus that occur at least `minimum` times and that `known` accepts.

    Only the words that pass come to the driver; give `known` (a taxonomy's membership test) for large
    corpora.
    """
    from pyspark.sql import functions

    splits = source.splits()
    numbers = spark.range(0, len(splits), 1, numPartitions=max(1, len(splits)))
    counted = numbers.mapInArrow(_counter(source, splits, known), _SCHEMA)
    rows = counted.groupBy("word").agg(functions.sum("count").alias("count")).where(f"count >= {int(minimum)}")
    return {row["word"]: row["count"] for row in rows.toLocalIterator()}


def write_word_counts(counts: Mapping[str, int], path: str | Path) -> None:
    """Write `word<TAB>count` lines, the most frequent first, whole or not at all."""
    path = Path(path)
    handle, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        for word, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            file.write(f"{word}\t{count}\n")
    os.replace(name, path)


def word_counts(texts: Sequence[str] | pa.Array[pa.StringScalar]) -> Counter[str]:
    """Count the words of texts in memory.

    >>> word_counts(["The cat and the dog"]).most_common(1)
    [('the', 2)]
    """
    encoded = Tokenizer(WORDS).encode(pa.array(texts, pa.large_string()))
    counts = np.bincount(encoded.codes, minlength=len(encoded.terms))
    return Counter(dict(zip((str(t) for t in encoded.terms.to_pylist()), counts.tolist(), strict=True)))


def _counter(
    source: Source, splits: Sequence[Split], known: Callable[[str], bool] | None
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def run(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        total: Counter[str] = Counter()
        for row in rows:
            for number in row.column(0).to_numpy(zero_copy_only=False).tolist():
                for batch in source.read(splits[number], Counter()):
                    total.update(word_counts(batch.column(1)))
        pairs = [(word, count) for word, count in total.items() if known is None or known(word)]
        yield pa.RecordBatch.from_arrays(
            [pa.array([w for w, _ in pairs], pa.string()), pa.array([c for _, c in pairs], pa.int64())],
            names=["word", "count"],
        )

    return run
