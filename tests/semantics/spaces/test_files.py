"""Promises of likewise.semantics.spaces.files and space_writer."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from likewise.errors import ArtefactDamaged, ArtefactMissing, ArtefactVersion, InputError, StateError, UnknownId
from likewise.semantics.spaces.files import CORE, SpaceFiles
from likewise.semantics.spaces.manifest import SpaceCounts
from likewise.semantics.spaces.writer import Extras, SpaceWriter, add_extras, write_space
from likewise.semantics.text.tokenizer import TokenizerSettings


def space_of(folder: Path, bags: list[dict[str, int]], extras: Extras | None = None) -> SpaceFiles:
    """A space whose document i holds the counted terms of bag i."""
    terms = sorted(set().union(*bags)) if bags else []
    postings = [(t, d, bag[t]) for t in terms for d, bag in enumerate(bags) if t in bag]
    df = Counter(t for t, _, _ in postings)
    return write_space(
        folder,
        name="sample",
        kind="text",
        corpus="made for a test",
        tokenizer=TokenizerSettings(),
        terms=terms,
        titles=[f"document {d} é" for d in range(len(bags))],
        posting_ends=np.cumsum([df[t] for t in terms], dtype=np.int64),
        documents=[d for _, d, _ in postings],
        frequencies=np.array([n for _, _, n in postings], dtype=np.int64),
        document_maxima=[max(bag.values(), default=0) for bag in bags],
        document_frequencies=[df[t] for t in terms],
        options={"keep": None, "minimum_df": 1},
        extras=extras,
    )


BAGS = [{"cat": 3, "dog": 1, "žena": 2}, {}, {"dog": 300, "co2": 1}, {"東": 1, "a": 70_000}]
EXTRAS: Extras = {"calibration.npy": np.linspace(0, 1, 6).reshape(2, 3), "taxonomy.json": b'{"is": "a"}'}


@pytest.fixture
def files(tmp_path: Path) -> SpaceFiles:
    """A small space with extras."""
    return space_of(tmp_path / "space", BAGS, EXTRAS)


def test_what_was_written_is_read(files: SpaceFiles) -> None:
    """Terms, titles, postings, maxima, df and extras come back."""
    assert files.terms() == sorted(["cat", "dog", "žena", "co2", "東", "a"])
    for number, term in enumerate(files.terms()):
        assert files.term_id(term) == number
        assert files.term(number) == term
        documents, frequencies = files.postings(number)
        expected = {d: bag[term] for d, bag in enumerate(BAGS) if term in bag}
        assert dict(zip(documents.tolist(), frequencies.tolist(), strict=True)) == expected
        assert files.document_frequencies[number] == len(expected)
    assert [files.title(d) for d in range(4)] == files.titles() == [f"document {d} é" for d in range(4)]
    assert files.document_maxima.tolist() == [3, 0, 300, 70_000]
    assert files.extras == ["calibration.npy", "taxonomy.json"]
    assert files.extra_array("calibration.npy").shape == (2, 3)
    assert files.extra_bytes("taxonomy.json") == b'{"is": "a"}'
    assert files.manifest.options == {"keep": None, "minimum_df": 1}
    assert [files.term_id(token) for token in ("cow", "", "žen", "\ud800")] == [-1] * 4
    files.verify()


def test_arrays_cannot_be_changed(files: SpaceFiles) -> None:
    """A space is read only."""
    with pytest.raises(ValueError, match="read-only"):
        files.documents[0] = 1


@pytest.mark.parametrize(("highest", "dtype"), [(255, "|u1"), (256, "<u2"), (65_535, "<u2"), (65_536, "<u4")])
def test_frequencies_take_the_smallest_type(tmp_path: Path, highest: int, dtype: str) -> None:
    """No frequency is cut, and none costs more than it must."""
    files = space_of(tmp_path / "s", [{"a": highest}])
    assert files.frequencies.dtype.str == dtype
    assert files.frequencies.tolist() == [highest]


def test_unknown_numbers_and_extras_are_refused(files: SpaceFiles) -> None:
    """A number outside the space is an error, never another term's data."""
    for call in (files.postings, files.term, files.title):
        for number in (-1, 10**6):
            with pytest.raises(UnknownId):
                call(number)
    with pytest.raises(UnknownId):
        files.extra_bytes("documents.npy")


@pytest.mark.parametrize("name", [*CORE, "calibration.npy", "taxonomy.json"])
def test_a_truncated_or_missing_file_is_refused_when_opening(files: SpaceFiles, name: str) -> None:
    """The message names the file and both sizes."""
    path = files.folder / name
    size = path.stat().st_size
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ArtefactDamaged, match=rf"{name} has {size - 1:,} bytes, expected {size:,}"):
        SpaceFiles(files.folder)
    path.unlink()
    with pytest.raises(ArtefactDamaged, match=f"{name} is not there"):
        SpaceFiles(files.folder)


@pytest.mark.parametrize("name", [*CORE, "calibration.npy", "taxonomy.json"])
def test_an_altered_byte_is_found_by_verify(files: SpaceFiles, name: str) -> None:
    """Any changed bit of any file is found."""
    path = files.folder / name
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(ArtefactDamaged):
        SpaceFiles(files.folder).verify()


@pytest.mark.parametrize("cut", [0, 1, 50, -2])
def test_a_truncated_manifest_is_refused(files: SpaceFiles, cut: int) -> None:
    """Half a manifest is no manifest."""
    path = files.folder / "manifest.json"
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(ArtefactDamaged, match="manifest"):
        SpaceFiles(files.folder)


def test_an_altered_manifest_is_refused(files: SpaceFiles) -> None:
    """Counts, names and settings are covered by the checksum."""
    path = files.folder / "manifest.json"
    path.write_text(path.read_text().replace('"stemmer": "english"', '"stemmer": "none"'))
    with pytest.raises(ArtefactDamaged, match="altered"):
        SpaceFiles(files.folder)


def test_a_newer_space_is_refused_with_the_advice_to_upgrade(files: SpaceFiles) -> None:
    """Even when the newer manifest has fields unknown today."""
    path = files.folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"v": 2, "vectors": "dense"}))
    with pytest.raises(ArtefactVersion, match=r"version 2.*upgrade"):
        SpaceFiles(files.folder)


@pytest.mark.parametrize("there", [False, True])
def test_a_folder_without_a_space_says_so(tmp_path: Path, there: bool) -> None:
    """A missing folder and an empty one are the same: no space there."""
    folder = tmp_path / "nothing"
    if there:
        folder.mkdir()
    with pytest.raises(ArtefactMissing, match="likewise space build"):
        SpaceFiles(folder)


def test_an_existing_folder_is_kept_unless_overwriting_is_allowed(files: SpaceFiles) -> None:
    """Writing never replaces a space by accident, and replaces it whole when asked."""
    with pytest.raises(InputError, match="exists"):
        space_of(files.folder, BAGS)
    with SpaceWriter(files.folder, overwrite=True):
        pass
    SpaceFiles(files.folder).verify()
    assert [p.name for p in files.folder.parent.iterdir()] == ["space"]


def test_a_failure_while_writing_leaves_nothing_behind(tmp_path: Path) -> None:
    """Too few values announced: no folder, no temporary folder."""
    counts = SpaceCounts(documents=0, terms=0, postings=5)
    with SpaceWriter(tmp_path / "s") as writer:
        writer.array("documents.npy", "<u4", 5).write(np.zeros(4))
        with pytest.raises(StateError, match="announced"):
            writer.finish(name="s", kind="text", corpus="", tokenizer=TokenizerSettings(), counts=counts)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["../evil.npy", "manifest.json", "Capital.npy", "plain", "documents.npy"])
def test_extras_cannot_leave_the_folder_or_replace_the_space(tmp_path: Path, name: str) -> None:
    """Names of extras are plain lower-case file names that the space does not use."""
    with pytest.raises(InputError):
        space_of(tmp_path / "s", BAGS, {name: np.zeros(3)})


def test_unsorted_terms_are_refused(tmp_path: Path) -> None:
    """Look-up is a binary search, so order is part of the format."""
    with pytest.raises(InputError, match="sorted"):
        write_space(
            tmp_path / "s",
            name="s",
            kind="text",
            corpus="",
            tokenizer=TokenizerSettings(),
            terms=["b", "a"],
            titles=["x"],
            posting_ends=[1, 2],
            documents=[0, 0],
            frequencies=[1, 1],
            document_maxima=[1],
            document_frequencies=[1, 1],
        )


def test_extras_are_added_to_a_finished_space(files: SpaceFiles) -> None:
    """The rest stays, the checksum changes."""
    later = add_extras(files.folder, {"taxonomy.json": b"{}", "more.npy": np.arange(3)})
    assert later.extras == ["calibration.npy", "more.npy", "taxonomy.json"]
    assert later.extra_bytes("taxonomy.json") == b"{}"
    assert later.manifest.checksum != files.manifest.checksum
    assert later.terms() == files.terms()
    later.verify()


def test_an_empty_corpus_makes_an_empty_space(tmp_path: Path) -> None:
    """No documents, no terms: it opens and verifies."""
    files = space_of(tmp_path / "s", [])
    assert files.term_id("cat") == -1
    files.verify()
