"""What is promised of the package as a whole: its names, its weight, its locks."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

import likewise

ROOT = Path(__file__).resolve().parent.parent

HEAVY = {"numba", "scipy", "pint", "pyarrow", "pyspark", "pandas", "torch", "tokenizers", "safetensors", "nicegui"}


def modules_after(statement: str) -> set[str]:
    """The top-level modules a fresh interpreter has loaded after a statement."""
    code = f"import sys\n{statement}\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "statement", ["import likewise", "import likewise; likewise.event({'a': 1})", "import likewise.cli.main"]
)
def test_importing_loads_nothing_heavy(statement: str) -> None:
    """Importing the package, making an event or listing commands loads no numba, scipy, pint, pyarrow, no extra."""
    assert not modules_after(statement) & HEAVY


def test_importing_takes_little_time() -> None:
    """Importing costs under a second of CPU even on a slow machine; the exact figure is a benchmark's."""
    code = "import time; a = time.process_time(); import likewise; print(time.process_time() - a)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 1.0


def test_the_public_names_are_these() -> None:
    """Nothing joins or leaves the public interface by accident."""
    assert likewise.__all__ == [
        "Event",
        "EventBatch",
        "Explanation",
        "LikewiseError",
        "Match",
        "MatchBatch",
        "Matcher",
        "Measure",
        "Space",
        "Subscription",
        "Term",
        "event",
        "load_space",
        "parse",
    ]


@pytest.mark.parametrize("name", likewise.__all__)
def test_every_public_name_is_there_and_says_what_it_promises(name: str) -> None:
    """Each name loads, and has a docstring."""
    assert getattr(likewise, name).__doc__


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A misspelt name fails as in any module."""
    with pytest.raises(AttributeError, match="has no attribute 'Macher'"):
        likewise.Macher  # noqa: B018  # the access is the test


def test_the_version_is_the_same_everywhere() -> None:
    """The module, the installed package and pyproject.toml agree."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert likewise.__version__ == project["version"] == version("likewise")


def test_the_package_says_that_it_is_typed() -> None:
    """Type checkers find `py.typed` beside the code."""
    assert (Path(likewise.__file__).parent / "py.typed").is_file()


@pytest.mark.parametrize("lock", sorted((ROOT / "requirements").glob("*.lock")), ids=lambda path: path.name)
def test_locks_hold_hashes_and_name_no_index(lock: Path) -> None:
    """Every locked package has a hash, and no address of an index or a folder leaked in."""
    text = lock.read_text()
    assert "://" not in text
    assert "--find-links" not in text
    assert "--index" not in text
    entries = [line for line in text.splitlines() if "==" in line and line[0].isalnum()]
    assert entries
    assert all(entry.rstrip().endswith("\\") for entry in entries), "a package without hashes"
    assert not any(entry.startswith(("torch==", "sentence-transformers==")) for entry in entries)


def test_every_runtime_dependency_is_locked() -> None:
    """runtime.lock holds each dependency of pyproject.toml, at the version of dev.lock."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    runtime, dev = (_pins(ROOT / "requirements" / name) for name in ("runtime.lock", "dev.lock"))
    wanted = {_name(requirement) for requirement in project["dependencies"]}
    assert wanted <= {_name(pin) for pin in runtime}
    assert runtime <= dev


def _pins(lock: Path) -> set[str]:
    return {line.rstrip(" \\") for line in lock.read_text().splitlines() if "==" in line and line[0].isalnum()}


def _name(requirement: str) -> str:
    for end, character in enumerate(requirement):
        if not (character.isalnum() or character in "-_."):
            return requirement[:end].lower()
    return requirement.lower()
