"""What a release promises: one version everywhere, and a section of the changelog for each tag."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from datetime import date
from hashlib import sha256
from pathlib import Path

import pytest
import yaml

import likewise
from tools import build_kernels, release

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
    release.write_version(checkout, "7.0.0", DAY)
    after = texts(checkout)
    assert all(f"{place}7.0.0" in after[name] for name, place in release.VERSION_FIELDS)
    assert "## Unreleased\n\n## 7.0.0 - 2026-11-16\n" in after["CHANGELOG.md"]
    assert [line for line in after["CHANGELOG.md"].splitlines() if line and "7.0.0" not in line] == [
        line for line in before.splitlines() if line
    ]


@pytest.mark.parametrize("version", ["7.0", "v7.0.0", "07.0.0"])
def test_a_wrong_version_changes_nothing(checkout: Path, version: str) -> None:
    """What is no version is refused before anything is written."""
    before = texts(checkout)
    with pytest.raises(release.ReleaseError, match="three numbers"):
        release.write_version(checkout, version, DAY)
    assert texts(checkout) == before


def test_a_version_is_released_once_and_with_lines(checkout: Path) -> None:
    """An empty section is refused, and so is a version not above the last one."""
    release.write_version(checkout, "7.0.0", DAY)
    before = texts(checkout)
    with pytest.raises(release.ReleaseError, match="nothing to release"):
        release.write_version(checkout, "7.1.0", DAY)
    log = checkout / "CHANGELOG.md"
    log.write_text(log.read_text().replace("## Unreleased\n", "## Unreleased\n\n### Fixed\n- One thing.\n"))
    with pytest.raises(release.ReleaseError, match=r"not above 7\.0\.0"):
        release.write_version(checkout, "6.9.9", DAY)
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


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a release of this checkout."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("this is no git checkout")
    folder = tmp_path_factory.mktemp("release") / "dist"
    release.build(ROOT, folder)
    return folder


@pytest.fixture
def copied(built: Path, tmp_path: Path) -> Path:
    """A copy of a built release that a test may damage."""
    shutil.copytree(built, tmp_path / "dist")
    return tmp_path / "dist"


def test_a_release_is_complete_and_built_the_same_twice(built: Path) -> None:
    """All files are there, byte for byte as a second build has them."""
    assert {path.name for path in built.iterdir()} == {*release.expected_files(likewise.__version__), release.CHECKSUMS}
    assert "byte for byte" in release.check(ROOT, built)[-1]


def test_a_changed_missing_or_added_file_is_reported(copied: Path) -> None:
    """Whoever checks a release sees every file that is not the built one."""
    wheel = next(copied.glob("likewise-*.whl"))
    content = wheel.read_bytes()
    wheel.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(release.ReleaseError, match="was changed after the build"):
        release.check(ROOT, copied, rebuild=False)
    wheel.unlink()
    with pytest.raises(release.ReleaseError, match=r"differ in likewise-.*\.whl"):
        release.check(ROOT, copied, rebuild=False)
    wheel.write_bytes(content)
    (copied / "extra.whl").touch()
    with pytest.raises(release.ReleaseError, match=r"differ in extra\.whl"):
        release.check(ROOT, copied, rebuild=False)


def test_a_release_of_another_commit_is_reported(copied: Path) -> None:
    """Files that this checkout does not build are refused, although their checksums are right."""
    notes = copied / release.NOTES
    sums = copied / release.CHECKSUMS
    before = sha256(notes.read_bytes()).hexdigest()
    notes.write_text(notes.read_text() + "- One more line.\n")
    sums.write_text(sums.read_text().replace(before, sha256(notes.read_bytes()).hexdigest()))
    with pytest.raises(release.ReleaseError, match=r"NOTES\.md is not what this checkout builds"):
        release.check(ROOT, copied)


def test_nothing_is_built_into_a_folder_with_files(tmp_path: Path) -> None:
    """An older file is never uploaded with a release."""
    (tmp_path / "old.whl").touch()
    with pytest.raises(release.ReleaseError, match="is not empty"):
        release.build(ROOT, tmp_path)


def test_the_bill_of_materials_names_every_locked_package_with_its_hashes(built: Path) -> None:
    """Each package of runtime.lock is a component with its version, its hashes and its licence."""
    bill = json.loads((built / release.SBOM).read_text())
    assert bill["bomFormat"] == "CycloneDX"
    lock = (ROOT / "requirements" / "runtime.lock").read_text()
    assert {(each["name"], each["version"]) for each in bill["components"]} == {
        (name, version) for name, version, _ in release.pinned(lock)
    }
    assert sum(len(each["properties"]) for each in bill["components"]) == lock.count("--hash=sha256:")
    assert sum("licenses" in each for each in bill["components"]) > 0.9 * len(bill["components"])


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_pin_actions_and_run_what_there_is(path: Path) -> None:
    """Each action is pinned by its commit, jobs have little rights and an end, and each make target and tool exists."""
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 180
        matrix = job.get("strategy", {}).get("matrix", {})
        assert set(matrix.get("target", [])) <= targets
        for step in job["steps"]:
            if "uses" in step:
                assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", step["uses"]), step
            for target in re.findall(r"\bmake ([a-z-]+)", step.get("run", "")):
                assert target in targets, step
            for tool in re.findall(r"\btools/\w+\.(?:py|sh)", step.get("run", "")):
                assert (ROOT / tool).is_file(), step


def test_workflows_test_each_python_that_the_package_names() -> None:
    """The push workflow and the kernels' wheel cover exactly the versions of the classifiers."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    for name, job in (("ci.yml", "test"), ("release.yml", "kernels")):
        workflow = yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8"))
        assert workflow["jobs"][job]["strategy"]["matrix"]["python"] == named


def test_long_targets_run_every_night() -> None:
    """Each long target of the Makefile is in the nightly workflow."""
    nightly = yaml.safe_load((ROOT / ".github" / "workflows" / "nightly.yml").read_text(encoding="utf-8"))
    targets = set(nightly["jobs"]["long"]["strategy"]["matrix"]["target"])
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    long = set(re.findall(r"^(test-[a-z-]+):", makefile, re.MULTILINE))
    assert long | {"nightly", "chaos", "soak", "fuzz", "stops", "clock-steps", "lake"} <= targets


@pytest.mark.parametrize(
    "path", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")), ids=lambda path: path.name
)
def test_issue_forms_are_forms(path: Path) -> None:
    """Each form has a name, a description and fields with labels."""
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    if path.name != "config.yml":
        assert form["name"]
        assert form["description"]
        assert all(field["attributes"]["label"] for field in form["body"])


def test_the_kernels_of_a_release_are_built_and_tried_by_targets_of_the_makefile() -> None:
    """So that the steps of the workflow can be run on any machine; a step that is written out is tried by nobody."""
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))
    commands = [step["run"] for step in workflow["jobs"]["kernels"]["steps"] if "run" in step]
    assert commands == ["make kernels", "make check-kernels"]
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert {"kernels", "check-kernels"} <= set(targets)


def test_the_newest_wheel_of_kernels_is_the_one_that_is_installed(tmp_path: Path) -> None:
    """Wheels of earlier versions and of other Pythons may lie beside it."""
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    for age, name in enumerate((f"0.2.0-{python}-{python}", f"0.1.0-{python}-{python}", "0.3.0-cp399-cp399")):
        wheel = tmp_path / f"likewise_kernels-{name}-any.whl"
        wheel.touch()
        os.utime(wheel, (1000 - age, 1000 - age))
    assert build_kernels.newest_wheel(tmp_path).name.startswith("likewise_kernels-0.2.0")
    with pytest.raises(SystemExit, match="run: make kernels"):
        build_kernels.newest_wheel(tmp_path / "none")
