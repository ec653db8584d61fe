"""What a release promises: one version everywhere, and a section of the changelog for each tag."""

from __future__ import annotations

import re
import shutil
import subprocess
from datetime import date
from pathlib import Path

import pytest

import likewise
from tools import release

ROOT = Path(__file__).resolve().parent.parent
DAY = date(2026, 11, 16)
KINDS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the files that a release writes."""
    for name in (*release.FILES, "CHANGELOG.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def texts(folder: Path) -> dict[str, str]:
    return {name: (folder / name).read_text(encoding="utf-8") for name in (*release.FILES, "CHANGELOG.md")}


def test_the_version_is_written_everywhere(checkout: Path) -> None:
    """Package, metadata, citation and changelog say the new version; the changelog's lines are all kept."""
    before = texts(checkout)["CHANGELOG.md"]
    release.release(checkout, "7.0.0", DAY)
    after = texts(checkout)
    assert all(f"{place}7.0.0" in after[name] for name, place in release.PLACES)
    assert "## Unreleased\n\n## 7.0.0 - 2026-11-16\n" in after["CHANGELOG.md"]
    assert [line for line in after["CHANGELOG.md"].splitlines() if line and "7.0.0" not in line] == [
        line for line in before.splitlines() if line
    ]


@pytest.mark.parametrize(
    ("version", "said"), [("7.0", "three numbers"), ("v7.0.0", "three numbers"), ("07.0.0", "three")]
)
def test_a_wrong_version_changes_nothing(checkout: Path, version: str, said: str) -> None:
    """What is no version is refused before anything is written."""
    before = texts(checkout)
    with pytest.raises(release.Refused, match="three numbers"):
        release.release(checkout, version, DAY)
    assert texts(checkout) == before


def test_a_version_is_released_once_and_with_lines(checkout: Path) -> None:
    """An empty section is refused, and so is a version not above the last one."""
    release.release(checkout, "7.0.0", DAY)
    before = texts(checkout)
    with pytest.raises(release.Refused, match="nothing to release"):
        release.release(checkout, "7.1.0", DAY)
    log = checkout / "CHANGELOG.md"
    log.write_text(log.read_text().replace("## Unreleased\n", "## Unreleased\n\n### Fixed\n- One thing.\n"))
    with pytest.raises(release.Refused, match=r"not above 7\.0\.0"):
        release.release(checkout, "6.9.9", DAY)
    assert {name: texts(checkout)[name] for name in release.FILES} == {name: before[name] for name in release.FILES}


def test_the_citation_names_this_version() -> None:
    """CITATION.cff says the package's version, and what the format requires."""
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {likewise.__version__}\n" in text
    assert all(re.search(rf"^{key}:", text, re.MULTILINE) for key in ("cff-version", "message", "title", "authors"))


def test_the_changelog_keeps_its_form() -> None:
    """Unreleased comes first, versions fall and carry their day, the kinds of lines stand in their order."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    titles = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert titles[0] == "Unreleased"
    assert all(re.fullmatch(r"\d+\.\d+\.\d+ - \d{4}-\d{2}-\d{2}", title) for title in titles[1:])
    versions = [release.numbers(title.split()[0]) for title in titles[1:]]
    assert versions == sorted(versions, reverse=True)
    for section in text.split("\n## ")[1:]:
        kinds = re.findall(r"^### (.+)$", section, re.MULTILINE)
        assert kinds == [kind for kind in KINDS if kind in kinds], section.partition("\n")[0]


def test_every_tag_has_its_section() -> None:
    """A tagged version stands in the changelog."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("this is no git checkout")
    done = subprocess.run(["git", "tag", "--list", "v*"], cwd=ROOT, capture_output=True, text=True)
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert all(f"\n## {tag.removeprefix('v')} - " in text for tag in done.stdout.split())
