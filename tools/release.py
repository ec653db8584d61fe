"""Write a version, build a release, and check a release that somebody built.

    python tools/release.py version 0.2.0     the version everywhere it is written, and the changelog's section
    python tools/release.py build             wheels, source archives, notes, SBOM, checksums
    python tools/release.py check FOLDER      whether a folder is complete and is what this checkout builds

docs/contributing/release.md has the steps before and after. `version` writes nothing unless everything can be
written. `build` is reproducible: two checkouts of one commit give the same files, byte for byte, except the kernels'
wheel (`--kernels`), which depends on the platform that compiles it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from datetime import UTC, date, datetime
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Final
from uuid import NAMESPACE_URL, uuid5

ROOT: Final = Path(__file__).resolve().parent.parent
# Each file that states the version, with the text before it; the text occurs exactly once in the file.
VERSION_FIELDS: Final = (
    ("pyproject.toml", '\nversion = "'),
    ("pyproject.toml", '"likewise-kernels=='),
    ("src/likewise/__init__.py", '\n__version__ = "'),
    ("experiments/pyproject.toml", '\nversion = "'),
    ("experiments/pyproject.toml", '"likewise[match]=='),
    ("kernels/pyproject.toml", '\nversion = "'),
    ("CITATION.cff", "\nversion: "),
)
FILES: Final = tuple(dict.fromkeys(name for name, _ in VERSION_FIELDS))
VERSION: Final = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
UNRELEASED: Final = "## Unreleased\n"
NOTES: Final = "NOTES.md"
SBOM: Final = "sbom.cdx.json"
CHECKSUMS: Final = "SHA256SUMS"
_PINNED: Final = re.compile(r"^([a-z0-9][a-z0-9._-]*)==([^\s;\\]+)", re.MULTILINE)
_HASH: Final = re.compile(r"--hash=sha256:([0-9a-f]{64})")


class ReleaseError(Exception):
    """The release cannot be made, or is not what it should be; the message says why and what to do."""


def numbers(version: str) -> tuple[int, ...]:
    """Return the three numbers of a version."""
    if not VERSION.fullmatch(version):
        raise ReleaseError(f"a version is major.minor.patch, three numbers; found {version!r}")
    return tuple(map(int, version.split(".")))


def with_version(text: str, before: str, version: str, name: str) -> str:
    """Return a file's text with another version after the given text."""
    count = len(re.findall(re.escape(before) + VERSION.pattern, text))
    if count != 1:
        raise ReleaseError(f"{name} should state the version once, after {before.strip()!r}; found {count} times")
    return re.sub(re.escape(before) + VERSION.pattern, lambda _: before + version, text)


def with_section(changelog: str, version: str, day: date) -> str:
    """Return the changelog with the unreleased lines given to a version, and an empty section for what comes next."""
    head, title, rest = changelog.partition(UNRELEASED)
    lines = rest.partition("\n## ")[0]
    if not title:
        raise ReleaseError(f"CHANGELOG.md has no section {UNRELEASED.strip()!r}")
    if not re.search(r"^- ", lines, re.MULTILINE):
        raise ReleaseError("CHANGELOG.md has no line under Unreleased; there is nothing to release")
    released = re.findall(r"^## (\d+\.\d+\.\d+)", rest, re.MULTILINE)
    if released and numbers(version) <= max(map(numbers, released)):
        raise ReleaseError(f"{version} is not above {released[0]}, which CHANGELOG.md has already")
    return f"{head}{UNRELEASED}\n## {version} - {day.isoformat()}\n{rest}"


def write_version(root: Path, version: str, day: date) -> None:
    """Write a version into the files of a checkout: all of them, or none."""
    numbers(version)
    texts = {name: (root / name).read_text(encoding="utf-8") for name in (*FILES, "CHANGELOG.md")}
    for name, before in VERSION_FIELDS:
        texts[name] = with_version(texts[name], before, version, name)
    texts["CHANGELOG.md"] = with_section(texts["CHANGELOG.md"], version, day)
    for name, text in texts.items():
        (root / name).write_text(text, encoding="utf-8")


def current_version(root: Path) -> str:
    """Return the version that a checkout states."""
    version: str = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    return version


def notes(root: Path, version: str) -> str:
    """Return the changelog's section of a version, or the unreleased lines if the version has none yet."""
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    section = re.search(rf"^## {re.escape(version)} - .*?(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    if section:
        return section.group().rstrip() + "\n"
    body = changelog.partition(UNRELEASED)[2].partition("\n## ")[0].strip()
    return f"## {version} (not released)\n\n{body}\n"


def pinned(lock: str) -> list[tuple[str, str, list[str]]]:
    """Return the name, version and hashes of each package of a lock file."""
    starts = list(_PINNED.finditer(lock))
    ends = [*(each.start() for each in starts[1:]), len(lock)]
    return [
        (each.group(1), each.group(2), _HASH.findall(lock[each.end() : end]))
        for each, end in zip(starts, ends, strict=True)
    ]


def _licence(name: str) -> str | None:
    """Return the licence that an installed package states, or None if the package is not installed or states none."""
    try:
        fields = metadata(name)
    except PackageNotFoundError:
        return None
    stated = fields["License-Expression"] or fields["License"]
    if stated and len(stated) < 100 and "\n" not in stated:
        return str(stated)
    classifiers = [
        each.rpartition(" :: ")[2] for each in fields.get_all("Classifier", []) if each.startswith("License")
    ]
    return " AND ".join(classifiers) or None


def sbom(root: Path, version: str) -> str:
    """Return the software bill of materials (CycloneDX 1.6): locked run-time packages, hashes, licences."""
    components = []
    for name, pin, hashes in pinned((root / "requirements" / "runtime.lock").read_text(encoding="utf-8")):
        component: dict[str, object] = {
            "type": "library",
            "bom-ref": f"pkg:pypi/{name}@{pin}",
            "name": name,
            "version": pin,
            "purl": f"pkg:pypi/{name}@{pin}",
            # One file for each platform and Python; a file that matches none of these is not the locked one.
            "properties": [{"name": "likewise:sha256", "value": each} for each in hashes],
        }
        if licence := _licence(name):
            component["licenses"] = [{"license": {"name": licence}}]
        components.append(component)
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, f'pkg:pypi/likewise@{version}')}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": f"pkg:pypi/likewise@{version}",
                "name": "likewise",
                "version": version,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
                "purl": f"pkg:pypi/likewise@{version}",
            }
        },
        "components": components,
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def expected_files(version: str) -> list[str]:
    """Return the names of the files that every release has."""
    return [
        f"{name}-{version}{ending}"
        for name in ("likewise", "likewise_experiments")
        for ending in ("-py3-none-any.whl", ".tar.gz")
    ] + [NOTES, SBOM]


def _commit_time(root: Path) -> str:
    """Return the time of the last commit in seconds, which archives use as the time of their files."""
    done = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "315532800"


def build(root: Path, out: Path, *, kernels: bool = False) -> list[Path]:
    """Build the files of a release.

    Args:
        root: a checkout.
        out: the folder for the files; it must be empty or not exist, so that no older file is uploaded with them.
        kernels: build the wheel of compiled kernels for this Python and platform, too.

    Returns:
        The files, checksums last.
    """
    if out.exists() and any(out.iterdir()):
        raise ReleaseError(f"{out} is not empty; remove it, or name another folder with --out")
    out.mkdir(parents=True, exist_ok=True)
    version = current_version(root)
    uv = str(Path(sys.executable).with_name("uv"))
    environment = {**os.environ, "SOURCE_DATE_EPOCH": _commit_time(root)}
    for project in (root, root / "experiments"):
        command = [uv, "build", "--quiet", "--no-build-isolation", "--offline", "--out-dir", str(out), str(project)]
        subprocess.run(command, env=environment, check=True)
    if kernels:
        builder = root / "tools" / "build_kernels.py"
        subprocess.run([sys.executable, str(builder), "--out", str(out)], env=environment, check=True)
    (out / ".gitignore").unlink(missing_ok=True)
    (out / NOTES).write_text(notes(root, version), encoding="utf-8")
    (out / SBOM).write_text(sbom(root, version), encoding="utf-8")
    files = sorted(path for path in out.iterdir() if path.is_file())
    lines = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)
    (out / CHECKSUMS).write_text(lines, encoding="utf-8")
    return [*files, out / CHECKSUMS]


def check(root: Path, dist: Path, *, rebuild: bool = True) -> list[str]:
    """Check a built release against a checkout of the same commit; return what was checked, a line each.

    Args:
        root: a checkout of the commit that was released, not necessarily the one that built it.
        dist: the folder with the files.
        rebuild: build the release here and compare it byte for byte.

    Raises:
        ReleaseError: a file is missing, changed, or not what this checkout builds.
    """
    version = current_version(root)
    lines = (dist / CHECKSUMS).read_text(encoding="utf-8").splitlines()
    listed = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    if missing := [name for name in expected_files(version) if name not in listed]:
        raise ReleaseError(f"{dist} lacks {', '.join(missing)}; is it a release of {version}?")
    present = {path.name for path in dist.iterdir() if path.is_file()} - {CHECKSUMS}
    if present != set(listed):
        raise ReleaseError(f"{CHECKSUMS} and {dist} differ in {', '.join(sorted(present ^ set(listed)))}")
    for name, digest in listed.items():
        if hashlib.sha256((dist / name).read_bytes()).hexdigest() != digest:
            raise ReleaseError(f"{name} is not the file that {CHECKSUMS} names: it was changed after the build")
    for name in listed:
        if name.endswith(".whl"):
            with zipfile.ZipFile(dist / name) as wheel:
                if wheel.testzip() is not None:
                    raise ReleaseError(f"{name} is damaged")
    locked = {name for name, _, _ in pinned((root / "requirements" / "runtime.lock").read_text(encoding="utf-8"))}
    stated = {each["name"] for each in json.loads((dist / SBOM).read_text(encoding="utf-8"))["components"]}
    if locked != stated:
        raise ReleaseError(f"{SBOM} and requirements/runtime.lock differ in {', '.join(sorted(locked ^ stated))}")
    checked = [f"{len(listed)} files of {version} have their checksums", f"{SBOM} has {len(stated)} packages"]
    if rebuild:
        with tempfile.TemporaryDirectory() as folder:
            built = [path for path in build(root, Path(folder) / "dist") if path.name != CHECKSUMS]
            for path in built:
                # The bill states licences from installed packages, which may differ between two machines.
                if path.name != SBOM and path.read_bytes() != (dist / path.name).read_bytes():
                    raise ReleaseError(f"{path.name} is not what this checkout builds; is it the released commit?")
        checked.append(f"{len(built) - 1} files are byte for byte what this checkout builds")
    return checked


def main(arguments: list[str] | None = None) -> int:
    """Run one command; return the exit code."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = options.add_subparsers(dest="command", required=True)
    version = commands.add_parser("version", help="write a version everywhere")
    version.add_argument("version", help="major.minor.patch")
    version.add_argument("--date", type=date.fromisoformat, default=datetime.now(UTC).date(), help="today by default")
    builder = commands.add_parser("build", help="build wheels, archives, notes, SBOM, checksums")
    builder.add_argument("--out", type=Path, default=ROOT / "dist" / "release", help="an empty folder (dist/release)")
    builder.add_argument("--kernels", action="store_true", help="the wheel of compiled kernels, too (minutes of CPU)")
    checker = commands.add_parser("check", help="check a built release against this checkout")
    checker.add_argument("dist", type=Path)
    checker.add_argument("--no-rebuild", action="store_true", help="check sums and contents only")
    chosen = options.parse_args(arguments)
    try:
        if chosen.command == "version":
            write_version(ROOT, chosen.version, chosen.date)
            print(f"Version {chosen.version} is written. Next: commit, build, try, tag (docs/contributing/release.md).")
        elif chosen.command == "build":
            for path in build(ROOT, chosen.out, kernels=chosen.kernels):
                print(f"{path.stat().st_size:>12,}  {path}")
        else:
            print("\n".join(check(ROOT, chosen.dist, rebuild=not chosen.no_rebuild)))
    except (ReleaseError, OSError) as error:
        print(f"release: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
