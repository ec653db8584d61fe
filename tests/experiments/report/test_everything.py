"""The page with every evaluation: complete without its data, resumed, and in need of nothing else."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from likewise.errors import ArtefactMissing, InputError
from likewise_experiments.report.everything import PAGE, everything
from likewise_experiments.report.parts import PARTS, Part
from likewise_experiments.report.sections import Glance, Section, Table, Text
from likewise_experiments.report.setting import Choices, Setting

RELATED = "tiger\tcat\t7.35\ntiger\ttiger\t10\nstock\tjaguar\t0.92\nbook\tpaper\t7.46\n"


class _Tags(HTMLParser):
    """What a page refers to, and whether its elements are closed."""

    VOID = frozenset({"meta", "br", "img", "link"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.references: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.references += [v for k, v in attrs if k in ("src", "href", "xlink:href", "data") and v]
        self.ids += [v for k, v in attrs if k == "id" and v]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def _read(page: str) -> _Tags:
    tags = _Tags()
    tags.feed(page)
    assert tags.open == []
    return tags


def _counted(name: str, runs: list[str]) -> Part:
    def run(setting: Setting) -> Section:
        runs.append(name)
        setting.file("data.txt")
        table = Table("a < b", ("measure", "F1"), (("`combine`", "0.5"),))
        return Section(name, name, (table,), "likewise", (Glance("F1", "0.5"),), {"F1": {"combine": 0.5}})

    return Part(name, f"Part {name}", ("data.txt",), run)


def test_parts_that_are_done_are_taken_as_they_are_until_their_data_changes(tmp_path: Path) -> None:
    """A second run computes nothing; other data or `fresh` does; the page is whole each time."""
    runs: list[str] = []
    data, out = tmp_path / "data" / "deep", tmp_path / "out"
    data.mkdir(parents=True)
    (data / "data.txt").write_text("one")
    parts, choices = [_counted("a", runs), _counted("b", runs)], Choices(data=str(tmp_path / "data"))
    first = everything(choices, out, parts=parts)
    assert everything(choices, out, parts=parts) == first
    assert runs == ["a", "b"]
    (data / "data.txt").write_text("two")
    everything(choices, out, parts=parts)
    everything(choices, out, parts=parts, fresh=True)
    assert runs == ["a", "b"] * 3
    page = (out / PAGE).read_text()
    assert "a &lt; b" in page
    _read(page)


def test_an_interrupted_run_leaves_a_page_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """What was done stands in the page, the rest is said not to have run yet."""
    runs: list[str] = []

    def stopped(setting: Setting) -> Section:
        raise KeyboardInterrupt

    (tmp_path / "data.txt").write_text("one")
    choices, last = Choices(data=str(tmp_path)), Part("b", "Part b", (), stopped)
    with pytest.raises(KeyboardInterrupt):
        everything(choices, tmp_path / "out", parts=[_counted("a", runs), last])
    page = (tmp_path / "out" / PAGE).read_text()
    assert "not run yet" in page
    everything(choices, tmp_path / "out", parts=[_counted("a", runs), _counted("b", runs)])
    assert runs == ["a", "b"]
    assert "not run yet" not in (tmp_path / "out" / PAGE).read_text()


def test_what_is_missing_or_wrong_is_said_and_the_others_run(tmp_path: Path) -> None:
    """Missing data and refused input become messages; they are tried again the next time."""
    runs: list[str] = []

    def wrong(setting: Setting) -> Section:
        raise InputError("expected cells like 30x30x5")

    said = StringIO()
    sections = everything(
        Choices(),
        tmp_path,
        parts=[_counted("a", runs), Part("b", "Part b", (), wrong)],
        console=Console(file=said, width=300),
    )
    assert [s.status for s in sections] == ["missing", "failed"]
    page = (tmp_path / PAGE).read_text()
    assert "give one with --data" in page
    assert "Expected cells like 30x30x5." in page
    assert "2 of 2: Part b: not run" in said.getvalue()
    everything(Choices(), tmp_path, parts=[_counted("a", runs)])
    assert runs == ["a", "a"]


def test_files_are_found_below_the_folder_the_nearest_first(tmp_path: Path) -> None:
    """Up to three folders down; a missing one is named with the folder."""
    for place in ("a/b/c", "a"):
        (tmp_path / place).mkdir(parents=True, exist_ok=True)
        (tmp_path / place / "x.tsv").write_text(place)
    setting = Setting(Choices(data=str(tmp_path)), tmp_path)
    assert [path.read_text() for path in setting.all_found("x.*")] == ["a", "a/b/c"]
    with pytest.raises(ArtefactMissing, match=re.escape(str(tmp_path))):
        setting.file("y.tsv")


def test_the_page_refers_to_nothing_outside_and_no_two_things_share_a_name(tmp_path: Path) -> None:
    """Every part that needs no Spark, on small data: figures inside the page, references to its own places only."""
    (tmp_path / "EN-RG-65.txt").write_text(RELATED)
    (tmp_path / "icews_2014_valid.txt.gz").write_bytes(_dated())
    (tmp_path / "pairs-dev.tsv").write_text("kind\tasked\tseen\tsame\nvalue\ton\toff\t0\nvalue\tcar\tautomobile\t1\n")
    _vendors(tmp_path)
    parts = [part for part in PARTS if part.name != "thematic"]
    choices = Choices(data=str(tmp_path), quick=True)
    sections = everything(choices, tmp_path / "out", parts=parts, command="likewise eval all")
    assert {s.name: s.status for s in sections} == {part.name: "done" for part in parts}
    page = (tmp_path / "out" / PAGE).read_text()
    tags = _read(page)
    assert page.count("<svg") >= 3
    assert [r for r in tags.references if not r.startswith("#")] == []
    assert {r[1:] for r in tags.references} <= set(tags.ids)
    assert len(tags.ids) == len(set(tags.ids))
    assert "<script" not in page
    assert "url(http" not in page
    assert "prefers-color-scheme: dark" in page
    assert "held-out" not in page
    for section in sections:
        assert all(not isinstance(block, Text) or "No figure" not in block.text for block in section.blocks)


def _dated() -> bytes:
    import gzip

    return gzip.compress(
        b"Armed Gang (Iraq)\tAbduct, hijack, or take hostage\tCitizen (Iraq)\t2014-02-12\n"
        b"France\tMake a visit\tCitizen (France)\t2014-02-13\n"
    )


def _vendors(folder: Path) -> None:
    """Six development vendors who say temperature in their own ways."""
    import gzip
    import json

    from likewise_experiments.vendor.benchmark import is_held_out

    names = ("temperature", "tmp", "air_temp", "TempC", "temp_c", "warmth")
    vendors = [f"vendor {n}" for n in range(40) if not is_held_out(f"vendor {n}")][: len(names)]
    with gzip.open(folder / "lorawan-dev-events.jsonl.gz", "wt") as out:
        for vendor, name in zip(vendors, names, strict=True):
            out.write(json.dumps({"vendor": vendor, "data": {name: 21.5, "battery": 3.1}}) + "\n")
    rows = "".join(
        f"{v}\t{n}\tair temperature\tdegC\n{v}\tbattery\tbattery voltage\tV\n"
        for v, n in zip(vendors, names, strict=True)
    )
    (folder / "lorawan-dev.tsv").write_text("vendor\tpath\tlabel\tunit\n" + rows)
    (folder / "subscriptions.tsv").write_text("phenomenon\tsubscription\nair temperature\ttemperature\n")
