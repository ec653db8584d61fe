"""What was learnt, over a restart: one file a tenant, with a checksum and the position of the log it has come to.

A file that is missing, damaged or of another version is said and left; what the log still holds is learnt anew.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
import structlog

from likewise.broker.catalogue.observations import LearntState
from likewise.broker.catalogue.source_profiles import Learnt

_log = structlog.get_logger("likewise.catalogue")
VERSION: Final = 1


class _Column(msgspec.Struct, frozen=True):
    name: str
    kind: str
    shape: tuple[int, ...]


class _Head(msgspec.Struct, frozen=True):
    """The second line: what follows. The first is the SHA-256 of all the rest."""

    position: int
    words: int  # bytes
    columns: tuple[_Column, ...]
    v: int = VERSION


def path_of(data: Path, tenant: int) -> Path:
    """Where what was learnt of a tenant is saved."""
    return data / "catalogue" / f"{tenant}.learnt"


def save_learnt(path: Path, learnt: Learnt, position: int) -> int:
    """Save what was learnt up to a position, synced, in place of what was there; the bytes written."""
    said, columns = learnt.state()
    words = msgspec.json.encode(said)
    parts = [np.ascontiguousarray(each) for each in columns.values()]
    heads = tuple(_Column(name, part.dtype.str, part.shape) for name, part in zip(columns, parts, strict=True))
    written: list[bytes | memoryview] = [msgspec.json.encode(_Head(position, len(words), heads)) + b"\n", words]
    written += [part.data.cast("B") if part.size else b"" for part in parts]
    digest = hashlib.sha256()
    for each in written:
        digest.update(each)
    path.parent.mkdir(exist_ok=True, mode=0o700)
    building = path.with_suffix(".new")
    with building.open("wb") as file:
        file.write(digest.hexdigest().encode() + b"\n")
        for each in written:
            file.write(each)
        size = file.tell()
        file.flush()
        os.fsync(file.fileno())
    building.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return size


def load_learnt(path: Path, **limits: int) -> tuple[Learnt, int] | None:
    """What was saved, and the position it had come to; None if there is nothing that can be used."""
    try:
        with path.open("rb") as file:
            digest, rest = file.readline().strip(), file.read()
        if hashlib.sha256(rest).hexdigest().encode() != digest:
            raise ValueError("its checksum does not fit")
        line, _, body = rest.partition(b"\n")
        head = msgspec.json.decode(line, type=_Head)
        if head.v != VERSION:
            raise ValueError(f"it is of version {head.v}")
        said = msgspec.json.decode(body[: head.words], type=LearntState)
        at, columns = head.words, {}
        for column in head.columns:
            kind = np.dtype(column.kind)
            count = int(np.prod(column.shape, dtype=np.int64))
            columns[column.name] = np.frombuffer(body, kind, count, at).reshape(column.shape)
            at += count * kind.itemsize
        return Learnt.restored(said, columns, **limits), head.position
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, IndexError, msgspec.MsgspecError) as error:
        _log.error(
            "what was learnt of sources cannot be used; it is learnt anew from the log",
            file=str(path),
            reason=str(error),
        )
        return None
