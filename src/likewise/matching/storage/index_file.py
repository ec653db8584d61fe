"""The built index of a saved matcher: a cache beside its subscriptions, so that loading builds nothing.

    index/manifest.json   format, version, the product's version, the checksums of the subscriptions and of these files
    index/lines.bin       where each line of subscriptions.jsonl begins, its ordinal, kind and the end of its validity
    index/ids.json        the ids of the lines
    index/<kind>.bin      what an engine has built, as memory-mapped arrays
    index/<kind>.json     what its codes stand for

It is used only if everything fits; else the index is built anew from the subscriptions, and `IndexRebuilt` says why.
"""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from likewise.errors import ArtefactDamaged
from likewise.matching.matcher_state import MatcherState
from likewise.matching.registry import KINDS, EngineSelection
from likewise.matching.storage.subscriptions import StoredLines, StoredSubscriptions
from likewise.semantics.spaces.manifest import file_sha256

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FORMAT: Final = "likewise-matcher-index"
VERSION: Final = 2  # in 1, a clustered block of conditions had one gate
FOLDER: Final = "index"
NEVER: Final = -(2**63)  # in place of the end of what does not end
BUILT: Final = "bitmap"  # the engine whose index is kept


MAGIC = b"LIKEWISE"
ALIGNED = 64
DTYPES = frozenset({"|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8", "<f4", "<f8"})


class ArrayEntry(msgspec.Struct, array_like=True):
    """Where an array lies."""

    name: str
    kind: str
    shape: tuple[int, ...]
    at: int


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays of numbers under names."""
    import numpy as np

    entries: list[ArrayEntry] = []
    at = 0
    little = {name: np.ascontiguousarray(a, a.dtype.newbyteorder("<")) for name, a in arrays.items()}
    for name, array in little.items():
        entries.append(ArrayEntry(name, array.dtype.str, array.shape, at))
        at += -(-array.nbytes // ALIGNED) * ALIGNED
    listed = msgspec.json.encode(entries)
    listed += b" " * (-(len(MAGIC) + 8 + len(listed)) % ALIGNED)
    with path.open("wb") as out:
        out.write(MAGIC + len(listed).to_bytes(8, "little") + listed)
        for array in little.values():
            out.write(array.data)
            out.write(bytes(-array.nbytes % ALIGNED))


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a file that `write_arrays` wrote; each may be written to, which leaves the file as it is.

    >>> import tempfile
    >>> import numpy as np
    >>> path = Path(tempfile.mkdtemp()) / "arrays.bin"
    >>> write_arrays(path, {"a": np.arange(3), "none": np.empty(0, np.float32)})
    >>> {name: array.tolist() for name, array in read_arrays(path).items()}
    {'a': [0, 1, 2], 'none': []}
    """
    import numpy as np

    try:
        with path.open("rb") as file:
            whole: Any = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    except (OSError, ValueError) as error:
        raise ArtefactDamaged(f"{path} cannot be read ({error})") from None
    head = len(MAGIC) + 8
    if whole[: len(MAGIC)] != MAGIC:
        raise ArtefactDamaged(f"{path} is no file of arrays")
    begin = head + int.from_bytes(whole[len(MAGIC) : head], "little")
    try:
        entries = msgspec.json.decode(whole[head:begin], type=list[ArrayEntry])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ArtefactDamaged(f"the list of arrays in {path} cannot be read ({error})") from None
    arrays = {}
    for entry in entries:
        count = int(np.prod(entry.shape, dtype=np.int64))
        if entry.kind not in DTYPES or min(entry.shape, default=0) < 0 or entry.at < 0:
            raise ArtefactDamaged(f"{path} says of the array {entry.name!r} what cannot be")
        kind = np.dtype(entry.kind)
        if begin + entry.at + count * kind.itemsize > len(whole):
            raise ArtefactDamaged(f"{path} ends before its array {entry.name!r} does")
        arrays[entry.name] = np.frombuffer(whole, kind, count, begin + entry.at).reshape(entry.shape)
    return arrays


class IndexManifest(msgspec.Struct, forbid_unknown_fields=True):
    """Content of `index/manifest.json`."""

    format: str
    v: int
    likewise: str
    subscriptions: str
    files: dict[str, str]


def product() -> str:
    """The version of the product, as it is installed."""
    try:
        return version("likewise")
    except PackageNotFoundError:  # run from its sources
        return "from sources"


def write_index(state: MatcherState, folder: Path, starts: list[int], subscriptions: str) -> None:
    """Write the index of a matcher; `subscriptions` is the checksum of its lines, which begin at `starts`."""
    import numpy as np

    from likewise.matching.bitmap.engine import BitmapEngine

    place = folder / FOLDER
    place.mkdir()
    subscription = state.held
    kinds = state.kinds()
    write_arrays(
        place / "lines.bin",
        {
            "starts": np.array(starts, np.int64),
            "ordinals": np.fromiter(subscription, np.int64, len(subscription)),
            "kinds": np.fromiter((KINDS.index(kinds[o]) for o in subscription), np.uint8, len(subscription)),
            "ends": np.fromiter((state.ends.get(o, NEVER) for o in subscription), np.int64, len(subscription)),
        },
    )
    (place / "ids.json").write_bytes(msgspec.json.encode(list(state.ordinals)))
    for kind, engine in state.engines.items():
        if isinstance(engine, BitmapEngine):
            arrays, questions = engine.export_index()
            write_arrays(place / f"{kind}.bin", arrays)
            (place / f"{kind}.json").write_bytes(questions)
    files = {path.name: file_sha256(path) for path in sorted(place.iterdir())}
    manifest = IndexManifest(FORMAT, VERSION, product(), subscriptions, files)
    (place / "manifest.json").write_bytes(msgspec.json.format(msgspec.json.encode(manifest)))


def unfit(folder: Path, subscriptions: str, choice: EngineSelection) -> str:
    """Explain why the index of a folder cannot be used; empty if it can. One that is not there is no matter."""

    place = folder / FOLDER
    try:
        manifest = msgspec.json.decode((place / "manifest.json").read_bytes(), type=IndexManifest)
    except (OSError, UnicodeDecodeError, msgspec.MsgspecError) as error:
        return f"its manifest cannot be read ({error})"
    if (manifest.format, manifest.v) != (FORMAT, VERSION):
        return f"it is {manifest.format!r}, version {manifest.v}; this one reads {FORMAT!r}, version {VERSION}"
    if manifest.likewise != product():
        return f"it was built by likewise {manifest.likewise}, and this is {product()}"
    if manifest.subscriptions != subscriptions:
        return "it was built of other subscriptions"
    if choice.name("exact") != BUILT and "exact.bin" in manifest.files:
        return f"it is of the engine {BUILT!r}, and exact conditions go to {choice.name('exact')!r}"
    for name, expected in manifest.files.items():
        path = place / Path(name).name
        if not path.is_file():
            return f"{name} is missing"
        if file_sha256(path) != expected:
            return f"{name} is damaged"
    return ""


def load_index(folder: Path, state: MatcherState) -> None:
    """Let an empty state hold what the index says; subscriptions are read when they are looked at.

    Kinds whose engines keep no index are added one by one. The index must not be `unfit`.
    """
    import numpy as np

    from likewise.matching.bitmap.engine import BitmapEngine
    from likewise.matching.bitmap.saved_index import BuiltIndex

    place = folder / FOLDER
    lines = read_arrays(place / "lines.bin")
    ids = msgspec.json.decode((place / "ids.json").read_bytes(), type=list[str])
    ordinals: NDArray[np.int64] = lines["ordinals"]
    stored = StoredLines(folder / "subscriptions.jsonl", lines["starts"])
    listed = ordinals.tolist()
    state.held = StoredSubscriptions(stored, dict(zip(listed, range(len(listed)), strict=True)))
    state.ordinals = dict(zip(ids, listed, strict=True))
    ending = lines["ends"] != NEVER
    state.ends = dict(zip(ordinals[ending].tolist(), lines["ends"][ending].tolist(), strict=True))
    for number in np.unique(lines["kinds"]).tolist():
        kind = KINDS[number]
        mine = np.flatnonzero(lines["kinds"] == number)
        engine = state.engine(kind)
        if isinstance(engine, BitmapEngine):
            built = BuiltIndex(read_arrays(place / f"{kind}.bin"), (place / f"{kind}.json").read_bytes())
            places = dict(zip(ordinals[mine].tolist(), mine.tolist(), strict=True))
            engine.import_index(built, StoredSubscriptions(stored, places))
            if len(engine) != len(mine):
                raise ArtefactDamaged(f"{place} does not fit the subscriptions beside it; remove it")
        else:
            for ordinal in ordinals[mine].tolist():
                engine.add(ordinal, state.held[ordinal], 0)
