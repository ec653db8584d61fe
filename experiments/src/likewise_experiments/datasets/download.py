"""Files from the network: resumed where a download broke off, held against their checksum, kept whole or not at all."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import httpx
import msgspec

from likewise.errors import ArtefactDamaged, Unavailable
from likewise_experiments.datasets.catalogue import DataFile

NOTED: Final = "checksums.json"  # in the folder of the data: what first downloads had
PIECE: Final = 1 << 20
Progress = Callable[[int, int | None], None]  # bytes so far, bytes in all if known


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
    try:
        _fetch(file.address, part, progress)
    except httpx.HTTPStatusError as error:
        raise Unavailable(f"{file.address} answers with {error.response.status_code}; it may have moved") from None
    except (httpx.TransportError, httpx.TooManyRedirects) as error:
        raise Unavailable(
            f"{urlsplit(file.address).hostname} does not answer ({error or type(error).__name__}); this needs the "
            f"network. Without one here, bring {file.address} from elsewhere and put it into {path}"
        ) from None
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


def _fetch(address: str, part: Path, progress: Progress) -> None:
    have = part.stat().st_size if part.exists() else 0
    headers = {"accept-encoding": "identity", **({"range": f"bytes={have}-"} if have else {})}
    with httpx.stream("GET", address, headers=headers, follow_redirects=True, timeout=60) as answer:
        if answer.status_code == 416:  # nothing is left to send
            return
        answer.raise_for_status()
        if answer.status_code != 206:  # from the start, whatever we had
            have = 0
        length = answer.headers.get("content-length")
        whole = have + int(length) if length is not None else None
        with part.open("ab" if have else "wb") as stream:
            for piece in answer.iter_raw(PIECE):
                stream.write(piece)
                have += len(piece)
                progress(have, whole)


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
