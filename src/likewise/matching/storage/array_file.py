"""Many arrays in one file that is memory-mapped when it is read.

    8 bytes     LIKEWISE
    8 bytes     how long the list is, little-endian
    the list    JSON: for each array its name, type, shape and where it begins
    the arrays  little-endian, each at a multiple of 64 bytes

What is read is a private view of the file: pages are shared with other processes until they are written to, and what
is written stays in memory.
"""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from likewise.errors import ArtefactDamaged

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAGIC = b"LIKEWISE"
ALIGNED = 64
KINDS = frozenset({"|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8", "<f4", "<f8"})


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
        if entry.kind not in KINDS or min(entry.shape, default=0) < 0 or entry.at < 0:
            raise ArtefactDamaged(f"{path} says of the array {entry.name!r} what cannot be")
        kind = np.dtype(entry.kind)
        if begin + entry.at + count * kind.itemsize > len(whole):
            raise ArtefactDamaged(f"{path} ends before its array {entry.name!r} does")
        arrays[entry.name] = np.frombuffer(whole, kind, count, begin + entry.at).reshape(entry.shape)
    return arrays
