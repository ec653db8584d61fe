"""A space as one compressed file: how the embedded default ships.

Layout: the line `likewise-space-pack 1`, eight bytes with the length of the JSON header, the header (the
manifest's text, then for each file its name, its coding and its compressed length), then the files,
each one an xz stream. Before compression an integer array may be recoded, always reversibly:

    gaps      postings' documents as distances within each term
    steps     ends as distances (the sizes of what they delimit)
    plain     as it is

and is then stored byte plane by byte plane (all lowest bytes first), which suits the compressor. Bytes
depend on the content and the compressor's version alone, and unpacking restores each file exactly: the
manifest's hashes are checked.
"""

from __future__ import annotations

import hashlib
import io
import lzma
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec
import numpy as np

from likewise.errors import ArtefactDamaged, ArtefactError, ArtefactMissing, ArtefactVersion
from likewise.semantics.space_files import SpaceFiles
from likewise.semantics.space_manifest import FILE, Manifest, parse_manifest

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAGIC: Final = b"likewise-space-pack "
_VERSION: Final = 1
Coding = Literal["plain", "steps", "gaps", "bytes"]


class _Packed(msgspec.Struct, frozen=True):
    name: str
    coding: Coding
    length: int


class _Header(msgspec.Struct, frozen=True):
    manifest: str
    files: list[_Packed]


def pack(folder: str | Path, path: str | Path) -> int:
    """Writes the space in a folder as one file and returns its size in bytes."""
    files = SpaceFiles(folder)
    entries, blobs = [], []
    for name in sorted(files.manifest.files):
        coding = _coding(name, files.manifest)
        raw = (files.folder / name).read_bytes()
        if coding != "bytes":
            array = np.load(io.BytesIO(raw), allow_pickle=False)
            coding = coding if array.ndim == 1 else "plain"
            raw = _planes(_coded(array, coding, files.posting_ends))
        blob = lzma.compress(raw, lzma.FORMAT_XZ, lzma.CHECK_CRC32, filters=_filters(len(raw), text=coding == "bytes"))
        entries.append(_Packed(name, coding, len(blob)))
        blobs.append(blob)
    header = msgspec.json.encode(_Header((files.folder / FILE).read_text(), entries))
    target = Path(path)
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as out:
        out.write(_MAGIC + b"%d\n" % _VERSION + len(header).to_bytes(8, "little") + header + b"".join(blobs))
    os.chmod(out.name, 0o644)
    os.replace(out.name, target)
    return target.stat().st_size


def packed_manifest(path: str | Path) -> Manifest:
    """The manifest of a packed space, without unpacking it."""
    with Path(path).open("rb") as file:
        return parse_manifest(_read_header(file, path)[1].manifest.encode(), str(path))


def unpack(path: str | Path, folder: str | Path) -> SpaceFiles:
    """Restores a packed space into a new folder, each file checked against its hash."""
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise ArtefactMissing(f"no packed space at {path}; install Likewise again or build a space") from None
    at, header = _read_header(io.BytesIO(data), path)
    manifest = parse_manifest(header.manifest.encode(), str(path))
    target = Path(folder)
    target.mkdir(parents=True)
    ends = np.empty(0, dtype=np.int64)
    # The postings' ends come before their documents: gaps cannot be undone without them.
    offsets = np.cumsum([0] + [entry.length for entry in header.files]).tolist()
    for entry, start in sorted(zip(header.files, offsets, strict=False), key=lambda e: e[0].name != "posting_ends.npy"):
        blob = data[at + start : at + start + entry.length]
        try:
            raw = lzma.decompress(blob, lzma.FORMAT_XZ)
            stored = manifest.files[entry.name]
            if entry.coding != "bytes":
                raw = _restored(raw, np.dtype(stored.dtype), entry.coding, ends)
        except (lzma.LZMAError, KeyError, ValueError) as error:
            raise ArtefactDamaged(f"{entry.name} in {path} cannot be unpacked ({error}); fetch it again") from None
        if hashlib.sha256(raw).hexdigest() != stored.sha256:
            raise ArtefactDamaged(f"{entry.name} in {path} was altered; fetch it again")
        if entry.name == "posting_ends.npy":
            ends = np.load(io.BytesIO(raw), allow_pickle=False)
        (target / entry.name).write_bytes(raw)
    (target / FILE).write_bytes(header.manifest.encode())
    return SpaceFiles(target)


def unpack_into_cache(path: str | Path, cache: str | Path) -> SpaceFiles:
    """The packed space, unpacked once into a cache folder under its name and checksum.

    Safe when several processes do it at once: each unpacks beside the target and the first rename
    wins. A copy that no longer opens is replaced.
    """
    manifest = packed_manifest(path)
    target = Path(cache) / f"{manifest.name}-{manifest.checksum[:16]}"
    try:
        return SpaceFiles(target)
    except ArtefactError:
        pass  # not there yet, or damaged: unpack it
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        unpack(path, scratch / "new")
        for _ in range(2):
            try:
                os.rename(scratch / "new", target)
                break
            except OSError:
                try:
                    return SpaceFiles(target)  # another process was first
                except ArtefactError:
                    os.rename(target, scratch / "damaged")
        return SpaceFiles(target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _filters(size: int, *, text: bool) -> list[dict[str, int]]:
    """The compressor's settings: a window as large as the data, and literals seen in the light of what suits them."""
    window = min(max(4096, 1 << (size - 1).bit_length()), 1 << 26) if size else 4096
    preset = 9 | lzma.PRESET_EXTREME
    return [{"id": lzma.FILTER_LZMA2, "preset": preset, "dict_size": window, "lc": 4 if text else 0, "lp": 0, "pb": 0}]


def _coding(name: str, manifest: Manifest) -> Coding:
    dtype = manifest.files[name].dtype
    if not dtype or np.dtype(dtype).kind not in "iu":
        return "bytes"
    return "gaps" if name == "documents.npy" else "steps" if name.endswith("_ends.npy") else "plain"


def _coded(array: NDArray[Any], coding: Coding, posting_ends: NDArray[np.int64]) -> NDArray[Any]:
    if coding == "plain" or not array.size:
        return array
    steps = array.copy()
    steps[1:] -= array[:-1]
    if coding == "gaps":
        starts = _starts(posting_ends, len(array))
        steps[starts] = array[starts]
    return steps


def _decoded(steps: NDArray[Any], coding: Coding, posting_ends: NDArray[np.int64]) -> NDArray[Any]:
    if coding == "plain" or not steps.size:
        return steps
    if coding == "steps":
        return np.cumsum(steps, dtype=steps.dtype)
    total = np.cumsum(steps, dtype=np.int64)
    starts = _starts(posting_ends, len(steps))
    before = total[starts] - steps[starts]
    sizes = np.diff(np.append(starts, len(steps)))
    documents: NDArray[Any] = (total - np.repeat(before, sizes)).astype(steps.dtype)
    return documents


def _starts(posting_ends: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    """Where terms that have postings begin."""
    starts = np.unique(np.concatenate((np.zeros(1, dtype=np.int64), posting_ends)))
    return starts[starts < length]


def _planes(array: NDArray[Any]) -> bytes:
    """The array's shape as a line of text, then its bytes, plane by plane."""
    shape = ",".join(str(n) for n in array.shape).encode()
    return shape + b"\n" + array.reshape(-1).view(np.uint8).reshape(-1, array.dtype.itemsize).T.tobytes()


def _restored(raw: bytes, dtype: np.dtype[Any], coding: Coding, posting_ends: NDArray[np.int64]) -> bytes:
    """The npy file's bytes again."""
    shape, planes = raw.split(b"\n", 1)
    bytes_ = np.frombuffer(planes, dtype=np.uint8).reshape(dtype.itemsize, -1)
    values = np.ascontiguousarray(bytes_.T).reshape(-1).view(dtype)
    out = io.BytesIO()
    array = _decoded(values, coding, posting_ends).reshape([int(n) for n in shape.split(b",") if n])
    np.lib.format.write_array(out, array, version=(1, 0), allow_pickle=False)
    return out.getvalue()


def _read_header(file: Any, path: str | Path) -> tuple[int, _Header]:
    """Where the files begin, and the header."""
    line = file.readline(64)
    if not line.startswith(_MAGIC) or not line[len(_MAGIC) :].strip().isdigit():
        raise ArtefactDamaged(f"{path} is no packed space; fetch it again")
    if int(line[len(_MAGIC) :]) > _VERSION:
        raise ArtefactVersion(f"{path} was packed by a newer Likewise; upgrade this one")
    length = int.from_bytes(file.read(8), "little")
    try:
        header = msgspec.json.decode(file.read(length), type=_Header)
    except (msgspec.DecodeError, MemoryError, OverflowError) as error:
        raise ArtefactDamaged(f"the header of {path} cannot be read ({error}); fetch it again") from None
    return len(line) + 8 + length, header
