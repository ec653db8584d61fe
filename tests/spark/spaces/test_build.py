"""Promises of likewise.spark.spaces.build: the right space, whatever the way it was computed."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from likewise.errors import InputError
from likewise.lake.storage import files_below, storage_path
from likewise.semantics.spaces.files import SpaceFiles
from likewise.semantics.text.tokenizer import TokenizerSettings
from likewise.spark.spaces.build import build_space
from likewise.spark.spaces.options import BuildOptions
from likewise.spark.spaces.sources import JsonLines, source_of
from tests.lake.s3_server import served_bucket
from tests.spark.plain_counter import counted_space, same_bytes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.timeout(600)
WORDS = ["cat", "cats", "dog", "running", "no2", "the", "žena", "東京", "co₂", "a", "x" * 70, "energy", "usage", "112"]


def sample(folder: Path, files: int = 5, documents: int = 40) -> list[tuple[str, str]]:
    """Files of JSON lines with random documents: some empty, one with a frequency beyond 16 bits."""
    chance = random.Random(7)
    folder.mkdir()
    out = []
    for file in range(files):
        with (folder / f"{file:02d}.jsonl").open("w") as lines:
            for number in range(documents):
                length = chance.choice([0, 1, 5, 30])
                text = ", ".join(chance.choices(WORDS, weights=range(len(WORDS), 0, -1), k=length))
                text = "cat " * 66_000 if (file, number) == (3, 3) else text
                out.append((f"document {file}/{number} é", text))
                lines.write(json.dumps({"title": out[-1][0], "text": text, "other": number}) + "\n")
    return out


@pytest.mark.parametrize(
    "options",
    [
        BuildOptions(),
        BuildOptions(partitions=1),
        BuildOptions(partitions=3, minimum_df=3, maximum_df=0.4, minimum_length=2, cut=12),
        BuildOptions(partitions=7, keep=4, tokenizer=TokenizerSettings(stemmer="none", stop_words="none")),
    ],
    ids=["default", "one", "filtered", "pruned"],
)
def test_a_plain_count_gives_the_same_bytes(spark: SparkSession, tmp_path: Path, options: BuildOptions) -> None:
    """Spark and a counter in plain Python agree on every byte, for each option and number of partitions."""
    documents = sample(tmp_path / "corpus")
    source = source_of(tmp_path / "corpus")
    summary = build_space(spark, source, tmp_path / "spark", name="test", corpus="for a test", options=options)
    expected = counted_space(tmp_path / "plain", documents, "json-lines", options)
    assert same_bytes(tmp_path / "spark", tmp_path / "plain")
    assert (summary.terms, summary.postings) == (expected.manifest.counts.terms, expected.manifest.counts.postings)
    assert (summary.read, summary.kept) == (len(documents), expected.manifest.counts.documents)
    assert summary.left_out == {"too short": summary.read - summary.kept}
    assert summary.checksum == expected.manifest.checksum


def test_small_splits_change_nothing(spark: SparkSession, tmp_path: Path) -> None:
    """Documents keep their numbers when files are cut into many splits, dealt to several tasks."""
    documents = sample(tmp_path / "corpus", files=2)
    source = JsonLines(tuple(str(p) for p in sorted((tmp_path / "corpus").iterdir())), split_bytes=300)
    assert len(source.splits()) > 20
    build_space(spark, source, tmp_path / "spark", name="test", corpus="for a test", options=BuildOptions(partitions=3))
    counted_space(tmp_path / "plain", documents, "json-lines", BuildOptions())
    assert same_bytes(tmp_path / "spark", tmp_path / "plain")


def test_a_corpus_of_empty_documents_makes_an_empty_space(spark: SparkSession, tmp_path: Path) -> None:
    """No kept document: the space is there, holds nothing, and the summary says why."""
    (tmp_path / "c.jsonl").write_text('{"title": "a", "text": ""}\n{"title": "b", "text": "the"}\n')
    summary = build_space(spark, source_of(tmp_path / "c.jsonl"), tmp_path / "s", name="e", corpus="")
    assert (summary.read, summary.kept, summary.left_out) == (2, 0, {"too short": 2})
    SpaceFiles(tmp_path / "s").verify()


def test_a_folder_without_documents_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    """Nothing to read is a mistake, and leaves nothing behind."""
    (tmp_path / "nothing").mkdir()
    with pytest.raises(InputError, match="no documents"):
        build_space(spark, source_of(tmp_path / "nothing"), tmp_path / "s", name="e", corpus="")
    assert [p.name for p in tmp_path.iterdir()] == ["nothing"]


def test_the_summary_is_kept_beside_the_space(spark: SparkSession, tmp_path: Path) -> None:
    """The counts of a build are written, outside what the checksum covers."""
    (tmp_path / "c.jsonl").write_text('{"title": "a", "text": "cat"}\nnot json\n{"title": "no text"}\n')
    summary = build_space(spark, source_of(tmp_path / "c.jsonl"), tmp_path / "s", name="e", corpus="")
    assert json.loads((tmp_path / "s" / "summary.json").read_text())["kept"] == 1
    assert summary.left_out == {"broken line": 2}
    assert summary.read == 3
    assert summary.peak_memory is None or summary.peak_memory > 1 << 20
    SpaceFiles(tmp_path / "s").verify()


def test_dictionary_of_computing_agrees_with_a_plain_count(spark: SparkSession, tmp_path: Path, shared: Path) -> None:
    """A real corpus of 11,491 entries, compressed."""
    path = shared / "data" / "corpus" / "foldoc.jsonl.gz"
    with gzip.open(path, "rt") as lines:
        documents = [(entry["title"], entry["text"]) for entry in map(json.loads, lines)]
    build_space(spark, source_of(path), tmp_path / "spark", name="test", corpus="for a test")
    counted_space(tmp_path / "plain", documents, "json-lines", BuildOptions())
    assert same_bytes(tmp_path / "spark", tmp_path / "plain")


def test_workers_may_exchange_files_by_an_object_store(spark: SparkSession, tmp_path: Path) -> None:
    """The same bytes as by a folder, also where lists are pruned; nothing is left in the bucket."""
    documents = sample(tmp_path / "corpus")
    options = BuildOptions(partitions=3, keep=4)
    with served_bucket("spaces") as bucket:
        source = source_of(tmp_path / "corpus")
        build_space(
            spark, source, tmp_path / "s", name="test", corpus="for a test", options=options, work=f"{bucket}/work"
        )
        assert not list(files_below(storage_path(bucket)))
    counted_space(tmp_path / "plain", documents, "json-lines", options)
    assert same_bytes(tmp_path / "s", tmp_path / "plain")
