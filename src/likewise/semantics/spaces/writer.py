"""Atomic writer of a space's folder.

Files go into a temporary folder beside the target, the manifest last, and one rename makes the space
appear. Bytes depend on the content alone.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import numpy as np

from likewise.errors import InputError, StateError
from likewise.semantics.spaces.files import CORE, SpaceFiles
from likewise.semantics.spaces.manifest import (
    FILE,
    SpaceCounts,
    SpaceManifest,
    StoredFile,
    encode_manifest,
    read_manifest,
    with_checksum,
)
from likewise.semantics.text.tokenizer import TokenizerSettings

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]*(\.[a-z0-9]+)+")

Extras = Mapping[str, "NDArray[Any] | bytes"]


class FileWriter:
    """One file of a space, written in pieces and hashed on the way."""

    def __init__(self, path: Path, dtype: np.dtype[Any] | None = None, shape: tuple[int, ...] = ()) -> None:
        self._path, self._dtype, self._hash, self._bytes = path, dtype, hashlib.sha256(), 0
        self._file: BinaryIO = path.open("wb")
        self._expected: int | None = None
        if dtype is not None:
            head = io.BytesIO()
            np.lib.format.write_array_header_1_0(
                head, {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
            )
            self.write(head.getvalue())
            self._expected = self._bytes + dtype.itemsize * int(np.prod(shape, dtype=np.int64))

    def write(self, piece: bytes | NDArray[Any]) -> None:
        """Append bytes, or an array's values in the file's type."""
        data = piece if isinstance(piece, bytes) else np.ascontiguousarray(piece, dtype=self._dtype).tobytes()
        self._hash.update(data)
        self._bytes += self._file.write(data)

    def discard(self) -> None:
        """Close the file without a manifest entry."""
        self._file.close()

    def close(self) -> StoredFile:
        """Return the manifest entry of the file. An array must have the announced number of values."""
        self._file.close()
        if self._expected is not None and self._bytes != self._expected:
            raise StateError(f"{self._path.name} got {self._bytes:,} bytes where {self._expected:,} were announced")
        return StoredFile(self._bytes, self._hash.hexdigest(), self._dtype.str if self._dtype is not None else "")


class SpaceWriter:
    """Write a space in pieces. Leaving the `with` block without `finish` removes everything."""

    def __init__(self, folder: str | Path, *, overwrite: bool = False) -> None:
        self._target, self._overwrite = Path(folder), overwrite
        if self._target.exists() and not overwrite:
            raise InputError(f"{folder} exists already; choose another folder or allow it to be overwritten")
        self._target.parent.mkdir(parents=True, exist_ok=True)
        self._folder = Path(tempfile.mkdtemp(prefix=f".{self._target.name}.", dir=self._target.parent))
        self._open: dict[str, FileWriter] = {}
        self._files: dict[str, StoredFile] = {}

    def __enter__(self) -> SpaceWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for writer in self._open.values():
            writer.discard()
        shutil.rmtree(self._folder, ignore_errors=True)

    def array(self, name: str, dtype: DTypeLike, *shape: int) -> FileWriter:
        """Create an array file of this type and shape, to be filled by `write`."""
        return self._add(name, FileWriter(self._path(name), np.dtype(dtype).newbyteorder("<"), shape))

    def file(self, name: str) -> FileWriter:
        """Create a file of plain bytes."""
        return self._add(name, FileWriter(self._path(name)))

    def link_file(self, source: Path, stored: StoredFile) -> None:
        """Link a file of another space on the same disk, without reading it."""
        path = self._path(source.name)
        try:
            os.link(source, path)
        except OSError:  # file systems without links
            shutil.copyfile(source, path)
        self._files[source.name] = stored

    def extras(self, extras: Extras) -> None:
        """Write further files: arrays (named `*.npy`) and bytes."""
        for name, content in sorted(extras.items()):
            if isinstance(content, bytes) == name.endswith(".npy"):
                raise InputError(f"an extra named {name!r} must {'not ' * name.endswith('.npy')}be bytes")
            if isinstance(content, bytes):
                self.file(name).write(content)
            else:
                self.array(name, content.dtype, *content.shape).write(content)

    def finish(
        self,
        *,
        name: str,
        kind: str,
        corpus: str,
        tokenizer: TokenizerSettings,
        counts: SpaceCounts,
        options: Mapping[str, int | float | str | None] | None = None,
    ) -> SpaceFiles:
        """Write the manifest, move everything into place and open the space."""
        self._files |= {file: writer.close() for file, writer in self._open.items()}
        files = {file: self._files[file] for file in sorted(self._files)}
        manifest = with_checksum(SpaceManifest(name, kind, corpus, tokenizer, counts, files, dict(options or {})))
        (self._folder / FILE).write_bytes(encode_manifest(manifest))
        SpaceFiles(self._folder)  # what would not open is not put in place
        os.chmod(self._folder, 0o755)
        _replace_folder(self._folder, self._target, overwrite=self._overwrite)
        return SpaceFiles(self._target)

    def _path(self, name: str) -> Path:
        if not _NAME.fullmatch(name) or name == FILE or name in self._open or name in self._files:
            raise InputError(f"{name!r} cannot name a file of a space: use each lower-case name once, as in data.npy")
        return self._folder / name

    def _add(self, name: str, writer: FileWriter) -> FileWriter:
        self._open[name] = writer
        return writer


def write_space(
    folder: str | Path,
    *,
    name: str,
    kind: str,
    corpus: str,
    tokenizer: TokenizerSettings,
    terms: Sequence[str],
    titles: Sequence[str],
    posting_ends: ArrayLike,
    documents: ArrayLike,
    frequencies: ArrayLike,
    document_maxima: ArrayLike,
    document_frequencies: ArrayLike,
    options: Mapping[str, int | float | str | None] | None = None,
    extras: Extras | None = None,
    overwrite: bool = False,
) -> SpaceFiles:
    """Write a space from arrays in memory; `terms` must be sorted and distinct.

    An example stands at `SpaceFiles`.

    Raises:
        InputError: The folder exists and `overwrite` is false.
    """
    if any(a >= b for a, b in itertools.pairwise(terms)):
        raise InputError("the terms of a space must be sorted by code point, each once")
    values = np.asarray(frequencies)
    arrays: dict[str, ArrayLike] = {
        "posting_ends.npy": posting_ends,
        "documents.npy": documents,
        "document_maxima.npy": document_maxima,
        "document_frequencies.npy": document_frequencies,
    }
    with SpaceWriter(folder, overwrite=overwrite) as writer:
        for kind_of_text, texts in (("term", terms), ("title", titles)):
            encoded = [text.encode() for text in texts]
            ends = np.cumsum([len(e) for e in encoded], dtype=np.int64)
            writer.file(f"{kind_of_text}s.bin").write(b"".join(encoded))
            writer.array(f"{kind_of_text}_ends.npy", "<i8", len(ends)).write(ends)
        for file, content in arrays.items():
            array = np.asarray(content, dtype=CORE[file])
            writer.array(file, array.dtype, *array.shape).write(array)
        writer.array("frequencies.npy", frequency_type(int(values.max(initial=0))), *values.shape).write(values)
        writer.extras(extras or {})
        counts = SpaceCounts(documents=len(titles), terms=len(terms), postings=len(values))
        return writer.finish(name=name, kind=kind, corpus=corpus, tokenizer=tokenizer, counts=counts, options=options)


def add_extras(folder: str | Path, extras: Extras) -> SpaceFiles:
    """Add or replace further files of an existing space; its checksum changes."""
    folder = Path(folder)
    manifest = read_manifest(folder)
    if clash := sorted(set(extras) & set(CORE)):
        raise InputError(f"{', '.join(clash)} belong to the space itself and cannot be extras")
    with SpaceWriter(folder, overwrite=True) as writer:
        for name in manifest.files:
            if name not in extras:
                writer.link_file(folder / name, manifest.files[name])
        writer.extras(extras)
        return writer.finish(
            name=manifest.name,
            kind=manifest.kind,
            corpus=manifest.corpus,
            tokenizer=manifest.tokenizer,
            counts=manifest.counts,
            options=manifest.options,
        )


def frequency_type(highest: int) -> str:
    """Return the smallest unsigned type that holds the highest frequency.

    >>> frequency_type(255), frequency_type(256), frequency_type(70_000)
    ('|u1', '<u2', '<u4')
    """
    return "|u1" if highest < 1 << 8 else "<u2" if highest < 1 << 16 else "<u4"


def _replace_folder(folder: Path, target: Path, *, overwrite: bool) -> None:
    """Rename a finished folder to its name. An earlier one is moved away first and then removed."""
    if overwrite and target.exists():
        trash = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        os.replace(target, trash / "old")
        os.replace(folder, target)
        shutil.rmtree(trash)
    else:
        os.rename(folder, target)
