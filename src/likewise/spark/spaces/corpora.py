"""Corpora that a space can be made of by name: where their dumps are, and their checksums.

A dump has the date of its making in its name. What is downloaded is the newest one whose checksum is published; one
that was begun is finished first, even if a newer one has come meanwhile.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Final, NamedTuple

from likewise.download import Progress, download
from likewise.errors import ArtefactDamaged, FormatError, Unavailable, UnknownId

DUMPS: Final = "https://dumps.wikimedia.org"
_CHECKSUM: Final = ".sha1"  # beside a dump that is on its way


class Corpus(NamedTuple):
    """A corpus with the options that its space is built with."""

    name: str
    title: str
    wiki: str
    size: str
    licence: str
    minimum_df: int = 3
    keep: int = 1_000


class Dump(NamedTuple):
    """A dump that is here, and its date."""

    path: Path
    date: str


CORPORA: Final = (
    Corpus(
        "wikipedia-simple",
        "Simple English Wikipedia",
        "simplewiki",
        "a download of about 350 MB",
        "CC BY-SA 4.0: whoever passes the space on names Wikipedia's authors, and passes it on under the same licence",
    ),
)


def corpus(name: str) -> Corpus:
    """Return a corpus by its name."""
    for each in CORPORA:
        if each.name == name:
            return each
    raise UnknownId(name, known=[each.name for each in CORPORA])


def download_dump(
    chosen: Corpus, folder: Path, address: str = DUMPS, progress: Progress = lambda done, whole: None
) -> Dump:
    """Bring the newest dump of a corpus; one that is there is checked and taken.

    Args:
        chosen: The corpus.
        folder: Where dumps are kept.
        address: The server, or a mirror of it.
        progress: Called with the bytes so far, and those in all.

    Raises:
        Unavailable: The server does not answer.
        ArtefactDamaged: What came does not have its checksum; it is removed.
        FormatError: The list of checksums does not name a dump.
    """
    folder.mkdir(parents=True, exist_ok=True)
    name, checksum = _begun(chosen, folder) or _newest(chosen, folder, address)
    path, noted = folder / name, folder / (name + _CHECKSUM)
    date = name.split("-")[1]
    if not path.exists():
        noted.write_text(checksum, "utf-8")
        part = path.with_name(name + ".part")
        try:
            download(f"{address}/{chosen.wiki}/{date}/{name}", part, path, progress)
        except Unavailable as error:
            answer = getattr(error.__cause__, "response", None)
            if getattr(answer, "status_code", None) in (404, 410):  # gone: the next try asks for the newest
                noted.unlink()
                part.unlink(missing_ok=True)
            raise
        _verify(part, checksum)
        part.replace(path)
    else:
        _verify(path, checksum)
    return Dump(path, date)


def _begun(chosen: Corpus, folder: Path) -> tuple[str, str] | None:
    """Return the dump of an earlier download with its checksum, the newest one."""
    noted = sorted(folder.glob(f"{chosen.wiki}-*{_CHECKSUM}"))
    if not noted:
        return None
    return noted[-1].name.removesuffix(_CHECKSUM), noted[-1].read_text("utf-8").strip()


def _newest(chosen: Corpus, folder: Path, address: str) -> tuple[str, str]:
    """Return the name and the SHA-1 of the newest dump."""
    listing = folder / f"{chosen.wiki}-latest-sha1sums.txt"
    listing.unlink(missing_ok=True)
    download(f"{address}/{chosen.wiki}/latest/{listing.name}", listing, listing)
    text = listing.read_text("utf-8", errors="replace")
    listing.unlink()
    pattern = rf"^([0-9a-f]{{40}})\s+({chosen.wiki}-\d{{8}}-pages-articles-multistream\.xml\.bz2)$"
    found = re.findall(pattern, text, re.MULTILINE)
    if not found:
        raise FormatError(f"the checksums of {address}/{chosen.wiki}/latest name no dump of the articles")
    checksum, name = max(found, key=lambda each: each[1])
    return name, checksum


def _verify(path: Path, checksum: str) -> None:
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha1").hexdigest()
    if found != checksum:
        path.unlink()
        for noted in path.parent.glob(f"{path.name.removesuffix('.part')}{_CHECKSUM}"):
            noted.unlink()  # the next try asks for the newest dump
        raise ArtefactDamaged(f"{path.name} has the SHA-1 {found}, not {checksum}; it is removed, try again")
