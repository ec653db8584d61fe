"""Files from the network: resumed where a download broke off, held against their checksum, kept whole or not at all."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

import msgspec

from likewise.download import Progress
from likewise.download import download as bring
from likewise.errors import ArtefactDamaged
from likewise_experiments.datasets.catalogue import DataFile

NOTED: Final = "checksums.json"  # in the folder of the data: what first downloads had


def present(file: DataFile, folder: Path) -> bool:
    """Whether a file is there and as it should be; one that is not raises."""
    path = folder / file.name
    if not path.is_file():
        return False
    _check(file, folder, _hash_of(path))
    return True


def download(file: DataFile, folder: Path, progress: Progress = lambda done, whole: None) -> Path:
    """Bring a file; its path. One that is there already is checked and kept."""
    path = folder / file.name
    if present(file, folder):
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    bring(file.address, part, path, progress)
    found = _hash_of(part)
    try:
        _check(file, folder, found)
    except ArtefactDamaged:
        part.unlink()
        raise
    part.replace(path)
    if not file.sha256:
        _note(folder, file.name, found)
    return path


def _hash_of(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _check(file: DataFile, folder: Path, found: str) -> None:
    wanted = file.sha256 or _noted(folder).get(file.name, "")
    if wanted and wanted != found:
        first = "" if file.sha256 else " noted at the first download"
        raise ArtefactDamaged(
            f"{file.name} from {file.address} has the SHA-256 {found}, not {wanted}{first}; remove it and try again"
        )


def _noted(folder: Path) -> dict[str, str]:
    path = folder / NOTED
    return msgspec.json.decode(path.read_bytes(), type=dict[str, str]) if path.is_file() else {}


def _note(folder: Path, name: str, found: str) -> None:
    """Nobody had seen this file before: from now on it must be this one."""
    noted = {**_noted(folder), name: found}
    (folder / NOTED).write_bytes(msgspec.json.format(msgspec.json.encode(noted)) + b"\n")
