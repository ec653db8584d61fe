"""Promises of the passes in likewise.spark.spaces.index, run here without Spark."""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import ArtefactMissing, InputError
from likewise.semantics.spaces.files import SpaceFiles
from likewise.semantics.spaces.writer import SpaceWriter
from likewise.semantics.text.tokenizer import TokenizerSettings
from likewise.spark.spaces import index
from likewise.spark.spaces.build import assemble
from likewise.spark.spaces.options import BuildOptions
from likewise.spark.spaces.sources.documents import Split, batch
from tests.spark.plain_counter import counted_space, same_bytes

PLAIN = TokenizerSettings(stemmer="none", stop_words="none")


class Listed(msgspec.Struct, frozen=True):
    """A source of listed documents; a split is a range of them, given in batches of two."""

    documents: tuple[tuple[str, str], ...]
    size: int = 3

    @property
    def kind(self) -> str:
        return "listed"

    def splits(self) -> list[Split]:
        return [Split("", i, i + self.size) for i in range(0, len(self.documents), self.size)]

    def read(self, split: Split, left_out: Counter[str]) -> Iterator[pa.RecordBatch]:
        mine = self.documents[split.start : split.stop]
        for i in range(0, len(mine), 2):
            yield batch([t for t, _ in mine[i : i + 2]], [x for _, x in mine[i : i + 2]])


def built(
    folder: Path,
    source: Listed,
    options: BuildOptions,
    tasks: Sequence[Sequence[int]],
    number: int,
    rerun: bool = False,
) -> SpaceFiles:
    """The passes as Spark would run them: each task with its splits, then each bucket."""
    with tempfile.TemporaryDirectory() as place, SpaceWriter(folder) as writer:
        for name in (index.DOCUMENTS, index.TALLIES, index.PARTS):
            Path(place, name).mkdir()
        work = index.WorkPlace(place)
        dealt: dict[int, list[pa.RecordBatch]] = defaultdict(list)
        run = index.tokenise(source, source.splits(), options, number, work)
        for splits in tasks:
            for _ in range(2 if rerun else 1):  # of a task that runs twice, Spark hands on the rows of one run
                rows = list(run(iter([pa.RecordBatch.from_arrays([pa.array(splits, pa.int64())], names=["id"])])))
            for row in rows:
                dealt[row.column(0)[0].as_py()].append(row)
        counts = [r.to_pylist()[0] for rows in dealt.values() for r in index.merge(options, work)(reversed(rows))]
        parts = sorted(c["part"] for c in counts if c["terms"])
        total, highest = sum(c["postings"] for c in counts), max((c["highest"] for c in counts), default=0)
        space = assemble(writer, work, parts, total, highest)
        return writer.finish(
            name="test",
            kind=source.kind,
            corpus="for a test",
            tokenizer=options.tokenizer,
            counts=space,
            options=options.stored(),
        )


TEXTS = st.lists(st.sampled_from(["a", "b", "c", "é", "dd", "a1", "ff"]), max_size=12).map(" ".join)


@given(
    texts=st.lists(TEXTS, max_size=14),
    tasks=st.integers(1, 4),
    number=st.integers(1, 5),
    batch_documents=st.integers(1, 5),
    block=st.integers(1, 9),
    options=st.builds(
        BuildOptions,
        tokenizer=st.just(PLAIN),
        minimum_df=st.integers(1, 3),
        maximum_df=st.sampled_from([0.3, 0.5, 1.0]),
        minimum_length=st.integers(1, 3),
        cut=st.none() | st.integers(1, 6),
        keep=st.none() | st.integers(1, 4),
    ),
)
def test_every_way_of_dealing_the_work_gives_the_counted_space(
    texts: list[str], tasks: int, number: int, batch_documents: int, block: int, options: BuildOptions
) -> None:
    """Tasks, buckets, batches, blocks and the order of arrival never show in the result."""
    source = Listed(tuple((f"title {i}", text) for i, text in enumerate(texts)))
    numbers = list(range(len(source.splits())))
    dealt = [numbers[len(numbers) * i // tasks : len(numbers) * (i + 1) // tasks] for i in range(tasks)]
    with (
        tempfile.TemporaryDirectory() as name,
        patch("likewise.spark.spaces.index.BATCH_DOCUMENTS", batch_documents),
        patch("likewise.spark.spaces.build._BLOCK", block),
    ):
        built(Path(name, "passes"), source, options, dealt, number)
        counted_space(Path(name, "plain"), source.documents, "listed", options)
        assert same_bytes(Path(name, "passes"), Path(name, "plain"))


def test_a_task_that_runs_twice_changes_nothing(tmp_path: Path) -> None:
    """Spark may run a task again; its files are named and filled alike."""
    source = Listed(tuple((str(i), f"a b{i % 3} c") for i in range(10)))
    built(tmp_path / "once", source, BuildOptions(tokenizer=PLAIN), [[0, 1], [2, 3]], 2)
    built(tmp_path / "twice", source, BuildOptions(tokenizer=PLAIN), [[0, 1], [2, 3]], 2, rerun=True)
    assert same_bytes(tmp_path / "once", tmp_path / "twice")


def test_a_part_the_driver_cannot_see_is_named(tmp_path: Path) -> None:
    """Workers that write elsewhere are noticed, with what to do about it."""
    (tmp_path / "documents").mkdir()
    (tmp_path / "parts").mkdir()
    with SpaceWriter(tmp_path / "s") as writer, pytest.raises(ArtefactMissing, match="folder that all workers share"):
        assemble(writer, index.WorkPlace(str(tmp_path)), [3], 1, 1)


@pytest.mark.parametrize(
    "choice", [{"minimum_df": 0}, {"maximum_df": 0.0}, {"cut": 0}, {"keep": -1}, {"partitions": 0}]
)
def test_options_without_sense_are_refused(choice: dict[str, Any]) -> None:
    """Each is named in the message."""
    with pytest.raises(InputError, match=next(iter(choice))):
        BuildOptions(**choice)
