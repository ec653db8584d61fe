"""Promises of likewise.spark.spaces.sources: every document once, in order, and what is left out counted."""

from __future__ import annotations

import bz2
import gzip
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import FormatError, InputError
from likewise.spark.spaces.sources import JsonLines, Source, source_of
from likewise.spark.spaces.sources.documents import Document, batch_documents

Read = tuple[list[tuple[str, str]], dict[str, int]]


def read_all(source: Source) -> Read:
    """All documents of a source, split by split, and what was left out."""
    left_out: Counter[str] = Counter()
    out = [
        (row["title"], row["text"])
        for split in source.splits()
        for batch in source.read(split, left_out)
        for row in batch.to_pylist()
    ]
    return out, {reason: n for reason, n in left_out.items() if n}


LINES = [
    '{"title": "one", "text": "first"}',
    "not json",
    '{"title": null, "text": "no title", "extra": [1, {"a": 2}]}',
    '{"text": "nothing but text é"}',
    "",
    '{"title": "no text"}',
    '{"title": 7, "text": "a number as title"}',
    '{"title": "text is a number", "text": 7}',
    '["a", "list"]',
    '{"title": "last", "text": "without line end"}',
]
DOCUMENTS = [
    ("one", "first"),
    ("", "no title"),
    ("", "nothing but text é"),
    ("7", "a number as title"),
    ("last", "without line end"),
]


@pytest.mark.parametrize("ending", ["", ".gz", ".bz2"])
def test_json_lines_give_their_documents_and_count_broken_lines(tmp_path: Path, ending: str) -> None:
    """One broken line costs itself alone, plain or compressed."""
    path = tmp_path / f"c.jsonl{ending}"
    packers: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}
    path.write_bytes(packers[ending]("\n".join(LINES).encode()))
    assert read_all(source_of(path)) == (DOCUMENTS, {"broken line": 4})


@given(size=st.integers(1, 60), texts=st.lists(st.text(max_size=12), max_size=8))
def test_a_line_belongs_to_the_split_it_begins_in(
    tmp_path_factory: pytest.TempPathFactory, size: int, texts: list[str]
) -> None:
    """However small the splits, each line is read once and in order."""
    path = tmp_path_factory.mktemp("lines") / "c.jsonl"
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    path.write_text("".join(json.dumps({"title": str(i), "text": t}) + "\n" for i, t in enumerate(texts)))
    found, left_out = read_all(JsonLines((str(path),), split_bytes=size))
    assert found == [(str(i), text) for i, text in enumerate(texts)]
    assert left_out == {}


def test_a_compressed_file_that_breaks_off_gives_what_it_has(tmp_path: Path) -> None:
    """A truncated download is counted, not a crash."""
    lines = b"".join(b'{"title": "%d", "text": "%s"}\n' % (i, b"word " * 50) for i in range(60_000))
    path = tmp_path / "c.jsonl.gz"
    path.write_bytes(gzip.compress(lines, 1)[:-20_000])
    found, left_out = read_all(source_of(path))
    assert left_out == {"broken stream": 1}
    assert found[:2] == [("0", "word " * 50), ("1", "word " * 50)]


def test_other_field_names_are_taken(tmp_path: Path) -> None:
    """JSON lines and Parquet name their columns as they like."""
    (tmp_path / "c.jsonl").write_text('{"name": "a", "body": "b", "text": "c"}\n')
    pq.write_table(pa.table({"name": ["a"], "body": ["b"]}), tmp_path / "c.parquet")
    for file in ("c.jsonl", "c.parquet"):
        assert read_all(source_of(tmp_path / file, title="name", text="body")) == ([("a", "b")], {})


def test_parquet_is_read_row_group_by_row_group(tmp_path: Path) -> None:
    """Rows keep their order; a row without text is left out."""
    table = pa.table({"title": [str(i) for i in range(10)], "text": [None if i == 4 else f"t{i}" for i in range(10)]})
    pq.write_table(table, tmp_path / "c.parquet", row_group_size=3)
    source = source_of(tmp_path)
    assert len(source.splits()) == 4
    assert read_all(source) == ([(str(i), f"t{i}") for i in range(10) if i != 4], {"no text": 1})


def test_parquet_without_the_column_identifies_there_are(tmp_path: Path) -> None:
    """The message lists the columns."""
    pq.write_table(pa.table({"body": ["b"]}), tmp_path / "c.parquet")
    with pytest.raises(FormatError, match=r"no column 'text'.*body"):
        source_of(tmp_path / "c.parquet").splits()


def test_a_folder_of_text_is_read_in_the_order_of_its_paths(tmp_path: Path) -> None:
    """Encodings by their marks, hidden files passed over, binary ones counted."""
    (tmp_path / "sub" / ".git").mkdir(parents=True)
    (tmp_path / "b.txt").write_bytes("später".encode("utf-16"))
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfmarked")
    (tmp_path / "sub" / "c.md").write_bytes(b"bad \xff byte")
    (tmp_path / "sub" / ".git" / "config").write_text("hidden")
    (tmp_path / ".hidden").write_text("hidden")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\0\0")
    found, left_out = read_all(source_of(tmp_path))
    assert found == [("a", "marked"), ("b", "später"), ("sub/c", "bad \ufffd byte")]
    assert left_out == {"not text": 1}


def test_sources_are_recognised_by_their_files(tmp_path: Path) -> None:
    """WordNet by data.noun, the others by their endings, all else as text."""
    for name, file in [("w", "data.noun"), ("j", "x.jsonl.gz"), ("p", "x.parquet"), ("m", "x.xml"), ("t", "x.txt")]:
        (tmp_path / name).mkdir()
        (tmp_path / name / file).write_bytes(b"")
    kinds = [source_of(tmp_path / name).kind for name in "wjpmt"]
    assert kinds == ["wordnet", "json-lines", "parquet", "mediawiki", "text"]
    assert source_of(tmp_path / "t" / "x.txt").kind == "text"
    with pytest.raises(InputError, match=r"no parquet files.*\.parquet"):
        source_of(tmp_path / "t", "parquet")


def test_batches_are_bounded_by_number_and_by_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither many short nor few long documents make a large batch."""
    monkeypatch.setattr("likewise.spark.spaces.sources.documents.BATCH_DOCUMENTS", 3)
    monkeypatch.setattr("likewise.spark.spaces.sources.documents.BATCH_CHARACTERS", 10)
    sizes = [b.num_rows for b in batch_documents(Document("", "x" * n) for n in (1, 1, 1, 1, 20, 1))]
    assert sizes == [3, 2, 1]


def test_wordnet_gives_a_document_for_each_synset() -> None:
    """Debian's database, where it is installed: 117,659 synsets in the order of the files."""
    folder = Path("/usr/share/wordnet")
    if not (folder / "data.noun").is_file():
        pytest.skip("WordNet's database files are not installed (Debian: wordnet-base)")
    source = source_of(folder)
    batch = next(source.read(source.splits()[0], Counter()))
    assert "entity" in batch.column(1)[0].as_py()
