"""The outside of Likewise stays as it is, whatever is renamed and moved inside.

Routes, commands, configuration, metrics, tables and everything that one process writes for another are written down in
`today/`, a fact a line. A change of them is seen in review; what a release had is kept, or listed in `changed.tsv`.
"""

from __future__ import annotations

import csv
import lzma
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from likewise import api as wire_formats
from likewise.broker.config import Config
from likewise.server.http.openapi import TYPES
from tests.golden.documents import DOCUMENTS, classes_as_values, text_of
from tests.golden.labels import GROUPS, WITHOUT_LABEL
from tests.golden.wire_types import Unlabelled, describe, structs_in
from tests.golden.write import BASELINE, FOLDER, TODAY

ROOT = FOLDER.parent.parent
HOW = (
    "The outside of Likewise differs from its golden file. If that is meant, run `python -m tests.golden.write` and "
    "commit what it writes; whatever an older client, edge, worker or file still says has to be understood under its "
    "old name, and is listed in tests/golden/changed.tsv. If only internals were renamed, give the old name back on "
    "the outside."
)
COLUMNS = ["document", "old", "new", "read", "test"]

now = cache(text_of)


@cache
def baseline() -> frozenset[tuple[str, str]]:
    """Return the facts of the release, each with its document."""
    lines = lzma.decompress(BASELINE.read_bytes()).decode().splitlines()
    return frozenset((document, fact) for document, _, fact in (line.partition("\t") for line in lines))


def changed() -> list[dict[str, str]]:
    lines = (FOLDER / "changed.tsv").read_text(encoding="utf-8").splitlines()
    rows = csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t", quoting=csv.QUOTE_NONE)
    return list(rows)


def test_there_is_a_golden_file_for_each_document() -> None:
    """None is missing, and none is left over."""
    assert {path.stem for path in TODAY.glob("*.txt")} == set(DOCUMENTS), HOW


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_outside_is_as_its_golden_file_says(name: str) -> None:
    """Byte for byte; prose and examples among it."""
    golden = set((TODAY / f"{name}.txt").read_text(encoding="utf-8").splitlines())
    found = set(now(name).splitlines())
    gone, new = sorted(golden - found)[:20], sorted(found - golden)[:20]
    assert (gone, new) == ([], []), HOW


@pytest.mark.parametrize("name", sorted({document for document, _ in baseline()}))
def test_what_the_release_had_is_there_or_listed_as_changed(name: str) -> None:
    """New facts may come; one that goes is listed with what stands for it."""
    before = {fact for document, fact in baseline() if document == name}
    gone = before - set(now(name).splitlines()) if name in DOCUMENTS else before
    listed = {row["old"] for row in changed() if row["document"] == name}
    assert sorted(gone - listed)[:20] == [], HOW
    assert sorted(listed - gone) == [], f"tests/golden/changed.tsv lists what {name} still has, or never had"


def test_every_listed_change_says_what_became_of_it() -> None:
    """What is said to be read is shown by a test; what stands for it now is there."""
    for row in changed():
        assert list(row) == COLUMNS
        assert row["read"] in ("yes", "no")
        assert row["new"] == "-" or row["new"] in now(row["document"]).splitlines()
        if row["read"] == "yes":
            file, _, name = row["test"].partition("::")
            assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8"), f"there is no test {row['test']}"
        else:
            assert row["test"], "say why nobody misses it"


def test_every_struct_that_is_read_or_written_has_a_label() -> None:
    """A class that the sources give to a decoder, or that belongs to the published interface, is described."""
    labelled = [type_ for group in GROUPS.values() for type_ in group.values()]
    described = {cls for type_ in (*labelled, *TYPES.values(), Config) for cls in structs_in(type_)} | WITHOUT_LABEL
    published = {
        cls: cls.__module__
        for cls in _below(msgspec.Struct)
        if cls.__module__.startswith(wire_formats.__name__) and not cls.__subclasses__()
    }
    missing = {cls: at for cls, at in {**classes_as_values(), **published}.items() if cls not in described}
    lacking = sorted(f"{cls.__name__} ({at})" for cls, at in missing.items())
    assert lacking == [], "give each a label in tests/golden/labels.py, by where it is used"


def _below(kind: type[msgspec.Struct]) -> set[type[msgspec.Struct]]:
    found: set[type[msgspec.Struct]] = set()
    for child in kind.__subclasses__():
        found |= {child} | _below(child)
    return found


class Part(msgspec.Struct, array_like=True):
    number: int
    name: str = "x"


class Whole(msgspec.Struct, tag="whole", omit_defaults=True, forbid_unknown_fields=True):
    parts: list[Part]
    size: int | None = None


def test_a_description_names_no_class_and_no_field_of_an_array() -> None:
    """What a rename of a class, or of what is only a position, leaves as it is."""
    renamed: Any = msgspec.defstruct("Renamed", [("first", int), ("second", str, "x")], array_like=True)
    other = msgspec.defstruct(
        "Other",
        [("parts", list[renamed]), ("size", int | None, None)],
        tag="whole",
        omit_defaults=True,
        forbid_unknown_fields=True,
    )
    assert describe("at", Whole, {}) == describe("at", other, {})
    assert "at/whole/parts[][1]: string" in describe("at", Whole, {})


@pytest.mark.parametrize(
    "change",
    [
        {"fields": [("pieces", list[Part]), ("size", int | None, None)]},
        {"fields": [("parts", list[Part]), ("size", int | None, 1)]},
        {"fields": [("parts", list[Part]), ("size", str | None, None)]},
        {"tag": "all"},
        {"omit_defaults": False},
        {"forbid_unknown_fields": False},
    ],
    ids=["a field", "a default", "a type", "the tag", "what is left out", "what is refused"],
)
def test_a_change_that_others_would_see_is_seen(change: dict[str, Any]) -> None:
    """Each of these makes another JSON, or takes another one."""
    fields = change.pop("fields", [("parts", list[Part]), ("size", int | None, None)])
    options: dict[str, Any] = {"tag": "whole", "omit_defaults": True, "forbid_unknown_fields": True} | change
    assert describe("at", Whole, {}) != describe("at", msgspec.defstruct("Whole", fields, **options), {})


class Loop(msgspec.Struct):
    inner: list[Loop]


def test_a_struct_that_contains_itself_needs_a_label() -> None:
    """Else its description would have no end."""
    with pytest.raises(Unlabelled, match="contains itself"):
        describe("at", Loop, {})
    assert "at/inner[]: <at>" in describe("at", Loop, {Loop: "at"})


def test_the_golden_files_hold_no_path_of_this_machine() -> None:
    """They are equal wherever they are written."""
    for path in TODAY.glob("*.txt"):
        assert str(Path.home()) not in path.read_text(encoding="utf-8")
        assert str(ROOT) not in path.read_text(encoding="utf-8")
