"""Manifest of a space: its fields, its checks, and its checksum.

docs/guides/build-a-space.md. The manifest is JSON with sorted keys. Its checksum is the SHA-256 of the same JSON
with an empty checksum, and it lists the SHA-256 of every file, so it stands for the whole space.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

import msgspec

from likewise.errors import ArtefactDamaged, ArtefactMissing, ArtefactVersion
from likewise.semantics.text.tokenizer import TokenizerSettings

VERSION: Final = 1
FILE: Final = "manifest.json"
BLOCK: Final = 1 << 20  # bytes hashed or copied at a time


class StoredFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file of a space: size, hash, and the type of an array (`<u4`), '' for plain bytes."""

    bytes: int
    sha256: str
    dtype: str = ""


class SpaceCounts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Sizes of a space; `postings` counts the stored ones, after pruning."""

    documents: int
    terms: int
    postings: int


class SpaceManifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Description of a space, read before its arrays.

    `kind` says what the documents came from (`wordnet`, `mediawiki`, `text`, ...), `corpus` describes
    it in words, `options` are those of the build. Nothing in it depends on the time or the machine.

    >>> m = SpaceManifest(name="tiny", kind="text", corpus="two lines", tokenizer=TokenizerSettings(),
    ...              counts=SpaceCounts(documents=2, terms=3, postings=4), files={})
    >>> m.v, with_checksum(m).checksum == with_checksum(m).checksum, with_checksum(m).checksum[:8] == m.checksum[:8]
    (1, True, False)
    """

    name: str
    kind: str
    corpus: str
    tokenizer: TokenizerSettings
    counts: SpaceCounts
    files: dict[str, StoredFile]
    options: dict[str, int | float | str | None] = {}
    checksum: str = ""
    v: int = VERSION


class _Version(msgspec.Struct):
    v: int


def encode_manifest(manifest: SpaceManifest) -> bytes:
    """Encode the manifest as it is stored."""
    return msgspec.json.format(msgspec.json.encode(manifest, order="sorted"), indent=1) + b"\n"


def with_checksum(manifest: SpaceManifest) -> SpaceManifest:
    """Return the manifest with its checksum."""
    blank = msgspec.structs.replace(manifest, checksum="")
    digest = hashlib.sha256(msgspec.json.encode(blank, order="sorted")).hexdigest()
    return msgspec.structs.replace(manifest, checksum=digest)


def read_manifest(folder: Path) -> SpaceManifest:
    """Read the manifest of a folder and check its checksum.

    >>> read_manifest(Path("no/such/folder"))
    Traceback (most recent call last):
    ...
    likewise.errors.ArtefactMissing: no space at no/such/folder: it has no manifest.json; build one with `likewise space build`
    """  # noqa: E501  the message is shown as it"""
    try:
        raw = (folder / FILE).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise ArtefactMissing(
            f"no space at {folder}: it has no {FILE}; build one with `likewise space build`"
        ) from None
    return parse_manifest(raw, str(folder))


def parse_manifest(raw: bytes, where: str) -> SpaceManifest:
    """Decode a manifest; `where` is named in errors."""
    try:
        version = msgspec.json.decode(raw, type=_Version).v
        if version > VERSION:
            raise ArtefactVersion(
                f"the space at {where} has format version {version}; this Likewise reads up to {VERSION}: upgrade it"
            )
        manifest = msgspec.json.decode(raw, type=SpaceManifest)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ArtefactDamaged(
            f"the manifest of the space at {where} cannot be read ({error}); build it again"
        ) from None
    if manifest.v != VERSION or with_checksum(manifest).checksum != manifest.checksum:
        raise ArtefactDamaged(f"the manifest of the space at {where} was altered; build it again")
    return manifest


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()
