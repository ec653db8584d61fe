"""Writes a new version everywhere it stands, and gives the changelog's newest lines to it.

    python tools/release.py 0.2.0
    python tools/release.py 0.2.0 --date 2026-11-16

docs/contributing/release.md has the steps before and after. Nothing is written unless everything can be.
"""

from __future__ import annotations

import argparse
import re
import sys
from datetime import UTC, date, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Where the version stands, each with what stands before it; exactly once in the file.
PLACES = (
    ("pyproject.toml", '\nversion = "'),
    ("pyproject.toml", '"likewise-kernels=='),
    ("src/likewise/__init__.py", '\n__version__ = "'),
    ("experiments/pyproject.toml", '\nversion = "'),
    ("experiments/pyproject.toml", '"likewise[match]=='),
    ("kernels/pyproject.toml", '\nversion = "'),
    ("CITATION.cff", "\nversion: "),
)
FILES = tuple(dict.fromkeys(name for name, _ in PLACES))
VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
UNRELEASED = "## Unreleased\n"


class Refused(Exception):
    """The release cannot be made; the message says why and what to do."""


def numbers(version: str) -> tuple[int, ...]:
    """The three numbers of a version."""
    if not VERSION.fullmatch(version):
        raise Refused(f"a version is major.minor.patch, three numbers; found {version!r}")
    return tuple(map(int, version.split(".")))


def with_version(text: str, before: str, version: str, name: str) -> str:
    """A file's text with another version after what stands before it."""
    found = re.findall(re.escape(before) + VERSION.pattern, text)
    if len(found) != 1:
        raise Refused(f"{name} should say the version once, after {before.strip()!r}; found {len(found)} times")
    return re.sub(re.escape(before) + VERSION.pattern, lambda _: before + version, text)


def with_section(changelog: str, version: str, day: date) -> str:
    """The changelog with the unreleased lines given to a version, and a new, empty section for what comes next."""
    head, found, rest = changelog.partition(UNRELEASED)
    lines = rest.partition("\n## ")[0]
    if not found:
        raise Refused(f"CHANGELOG.md has no section {UNRELEASED.strip()!r}")
    if not re.search(r"^- ", lines, re.MULTILINE):
        raise Refused("nothing stands under Unreleased in CHANGELOG.md; there is nothing to release")
    released = re.findall(r"^## (\d+\.\d+\.\d+)", rest, re.MULTILINE)
    if released and numbers(version) <= max(map(numbers, released)):
        raise Refused(f"{version} is not above {released[0]}, which CHANGELOG.md has already")
    return f"{head}{UNRELEASED}\n## {version} - {day.isoformat()}\n{rest}"


def release(root: Path, version: str, day: date) -> None:
    """Write a version into the files of a checkout: all of them, or none."""
    numbers(version)
    written = {name: (root / name).read_text(encoding="utf-8") for name in (*FILES, "CHANGELOG.md")}
    for name, before in PLACES:
        written[name] = with_version(written[name], before, version, name)
    written["CHANGELOG.md"] = with_section(written["CHANGELOG.md"], version, day)
    for name, text in written.items():
        (root / name).write_text(text, encoding="utf-8")


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("version", help="major.minor.patch")
    options.add_argument("--date", type=date.fromisoformat, default=datetime.now(UTC).date())
    chosen = options.parse_args()
    try:
        release(ROOT, chosen.version, chosen.date)
    except Refused as refused:
        print(f"release: {refused}", file=sys.stderr)
        return 2
    print(f"Version {chosen.version} is written. Next: build, try, tag, as docs/contributing/release.md says.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
