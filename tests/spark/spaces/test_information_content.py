"""Promises of likewise.spark.spaces.information_content."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from likewise.semantics.wordnet.taxonomy import read_word_counts
from likewise.spark.spaces.information_content import count_words, write_word_counts
from likewise.spark.spaces.sources import JsonLines

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TEXTS = ["The cat and the Dog", "dogs, dogs; cats", "", "a cat"]


def test_words_are_counted_over_all_splits(spark: SparkSession, tmp_path: Path) -> None:
    """A plain count gives the same, and only words that pass both tests come back."""
    path = tmp_path / "c.jsonl"
    path.write_text("".join(json.dumps({"title": "", "text": text}) + "\n" for text in TEXTS))
    source = JsonLines((str(path),), split_bytes=40)
    assert len(source.splits()) > 2
    expected = Counter(re.findall(r"\w+", " ".join(TEXTS).lower()))
    assert count_words(spark, source) == expected
    some = count_words(spark, source, known=frozenset({"cat", "dogs", "cow"}).__contains__, minimum=2)
    assert some == {"cat": 2, "dogs": 2}


def test_counts_are_written_as_the_taxonomy_reads_them(tmp_path: Path) -> None:
    """Word, tab, count; the most frequent first."""
    write_word_counts({"b": 2, "a": 2, "c": 5}, tmp_path / "counts.tsv")
    assert (tmp_path / "counts.tsv").read_text() == "c\t5\na\t2\nb\t2\n"
    assert read_word_counts(tmp_path / "counts.tsv") == {"a": 2, "b": 2, "c": 5}
