"""A file of annotations: read as a whole or refused with the line, followed when it changes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from likewise.defaults import MAX_TERM_LENGTH
from likewise.errors import ArtefactMissing, FormatError, LimitExceeded
from likewise.semantics.enrichment.rows import annotations_from_mappings, read_annotations, write_annotations
from likewise.semantics.enrichment.table import AnnotationTable
from likewise.semantics.enrichment.watched_file import AnnotationFile

HEADER = "key,is,attribute,value,unit,means\n"
GOOD = (
    HEADER + "source,s17,room,room 112,,\n\nmodel,SHT31,temp1,,degC,supply air temperature\ndevice~,laptop,owner,IT,,\n"
)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("source,s17,room,,,", "says nothing"),
        (",s17,room,1,,", "no key"),
        ("source,s17,,1,,", "names no attribute"),
        ("topic,a/b,,,degC,", "names no attribute"),
        ("temp1,,,,degX,", "'degX' is no unit"),
        ("source,s17,room,large,m2,", "is no number"),
        ("source,s17,t,1,,temperature", "use two rows"),
        ("source~,s17,room,1,,", "without `~`"),
        ("topic,a/#/b,floor,1,,", "`#` stands alone"),
        ("source,s17,room,1,,,too", "7 cells, but 6 columns"),
        ('source,s17,room,"1,,', "not CSV"),
        (f"source,s17,room,{'x' * (MAX_TERM_LENGTH + 1)},,", "characters of an annotation's value"),
    ],
)
def test_a_bad_row_is_refused_with_its_line(line: str, said: str) -> None:
    """The error names the file and the line, and nothing is read."""
    with pytest.raises(FormatError) as caught:
        read_annotations(f"{GOOD}{line}\n", "rooms.csv")
    assert "rooms.csv, line 6:" in str(caught.value)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("key,room", "no column is named 'room'"),
        ("is,value", "`key` is missing"),
        ("key,is,is", "named twice"),
        ("", "`key`"),
    ],
)
def test_a_header_that_is_none_is_refused(header: str, said: str) -> None:
    """The columns are named before any row."""
    with pytest.raises(FormatError) as caught:
        read_annotations(header + "\n", "rooms.csv")
    assert "line 1" in str(caught.value)
    assert said in str(caught.value)


def test_two_rows_that_contradict_each_other_are_refused_with_both_lines() -> None:
    """One attribute has one unit and one meaning under one key."""
    with pytest.raises(FormatError) as caught:
        read_annotations(HEADER + "temp1,,,,degC,\nTEMP1,,temp1,,degF,\n", "rooms.csv")
    assert "line 3" in str(caught.value)
    assert "line 2" in str(caught.value)
    with pytest.raises(FormatError):
        read_annotations(HEADER + "t,,,,,air temperature\nt,,,,,water temperature\n")
    assert len(read_annotations(HEADER + "t,,,,degC,\nt,5,,,degF,\n")) == 2


def test_rows_come_back_as_they_were_written() -> None:
    """What is written reads back to the same version; another row is another version."""
    table = read_annotations("\ufeff" + GOOD)
    again = read_annotations(write_annotations(table))
    assert [row.cells() for row in again] == [row.cells() for row in table]
    assert again.version == table.version != AnnotationTable(table.rows[:2]).version


def test_mappings_are_refused_by_their_number() -> None:
    """Rows handed in as mappings are counted from 1."""
    with pytest.raises(FormatError) as caught:
        annotations_from_mappings([{"key": "t", "unit": "degC"}, {"key": "t", "units": "degC"}])
    assert "row 2" in str(caught.value)


def test_too_many_rows_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits are stated and kept."""
    monkeypatch.setattr("likewise.semantics.enrichment.table.MAX_RELAXED_ANNOTATIONS", 0)
    with pytest.raises(LimitExceeded):
        read_annotations(GOOD)
    monkeypatch.setattr("likewise.semantics.enrichment.table.MAX_ANNOTATIONS", 2)
    with pytest.raises(LimitExceeded):
        read_annotations(GOOD)


def written(path: Path, text: str | bytes, stamp: int) -> None:
    """Replace a file, with a time of its own so that the test needs no waiting."""
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    os.utime(path, ns=(stamp, stamp))


def test_a_changed_file_is_read_again_and_a_bad_one_leaves_the_rows_of_before(tmp_path: Path) -> None:
    """Nothing is half loaded; the problem is told, once a change, until the file is mended."""
    path, told = tmp_path / "rooms.csv", []
    written(path, GOOD, 1_000)
    file = AnnotationFile(path, on_change=lambda changed: told.append(changed.problem))
    first = file.current()
    assert file.current() is first
    for stamp, bad in enumerate((GOOD + "source,s17,room,,,\n", b"key\n\xff", None), 2_000):
        if bad is None:
            path.unlink()
        else:
            written(path, bad, stamp)
        assert file.current() is first
        assert file.current() is first
        assert file.problem
    assert "line 6" in told[1]
    assert "line 2" in told[2]
    written(path, HEADER + "t,,,,degC,\n", 3_000)
    assert len(file.current()) == 1
    assert file.problem == told[-1] == ""
    assert len(told) == 5


def test_a_file_that_is_not_there_is_refused_at_once(tmp_path: Path) -> None:
    """The first reading must succeed."""
    with pytest.raises(ArtefactMissing):
        AnnotationFile(tmp_path / "none.csv")
