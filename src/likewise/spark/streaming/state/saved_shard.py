"""The state of a shard on disk: a saved matcher, and the checksums of its files.

A worker that saved a state has it still at hand when the next batch goes on from it.
"""

from __future__ import annotations

import hashlib
import uuid
from collections import OrderedDict
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec

from likewise.errors import ArtefactDamaged, ArtefactMissing
from likewise.lake.atomic_create import sync_folder, write_whole
from likewise.matching.matcher import Matcher
from likewise.matching.storage.checksums import with_checksum
from likewise.matching.storage.folder import FEEDBACK, MatcherManifest
from likewise.semantics.spaces.manifest import file_sha256
from likewise.spark.streaming.matchers import MeaningChoice

_SUMS: Final = "checksums.json"
_AT_HAND: Final = 16  # states a worker keeps
_live: OrderedDict[tuple[str, str, bytes], Matcher] = OrderedDict()


class SavedShard(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a shard's state lies below the state's folder, the checksum of it, and when time next moves it."""

    path: str
    checksum: str
    due: int | None = None


def save_shard(matcher: Matcher, folder: Path, batch: int, shard: str, choice: MeaningChoice) -> SavedShard:
    """Write a shard's state under a name of its own: what counts is what the driver names."""
    path = f"{batch:010d}/{shard}.{uuid.uuid4().hex[:8]}"
    place = folder / path
    matcher.save(place, index=False)
    _leave_out_feedback(place)
    files = sorted(file for file in place.rglob("*") if file.is_file())
    sums = {file.relative_to(place).as_posix(): file_sha256(file) for file in files}
    data = msgspec.json.encode(sums)
    write_whole(place / _SUMS, data)
    sync_folder(place.parent)
    saved = SavedShard(path, hashlib.sha256(data).hexdigest(), matcher.state.next_due())
    _live[str(folder), path, msgspec.json.encode(choice)] = matcher
    while len(_live) > _AT_HAND:
        _live.popitem(last=False)
    return saved


def load_shard(folder: Path, saved: SavedShard | None, choice: MeaningChoice) -> Matcher:
    """The state of a shard, to be moved on; an empty one if there is none yet. What is damaged is refused."""
    if saved is None:
        return _empty(msgspec.json.encode(choice)).alike()
    at_hand = _live.pop(
        (str(folder), saved.path, msgspec.json.encode(choice)), None
    )  # it is moved, so nobody else may have it
    if at_hand is not None:
        return at_hand
    place = folder / saved.path
    if not (place / _SUMS).is_file():
        raise ArtefactMissing(f"the state of rankings and alerts in {place} is not there; {_HELP}")
    data = (place / _SUMS).read_bytes()
    if hashlib.sha256(data).hexdigest() != saved.checksum:
        raise ArtefactDamaged(f"{place / _SUMS} is not what was saved; {_HELP}")
    for name, said in msgspec.json.decode(data, type=dict[str, str]).items():
        if not (place / name).is_file() or file_sha256(place / name) != said:
            raise ArtefactDamaged(f"{place / name} is not what was saved: its SHA-256 was {said}; {_HELP}")
    return _empty(msgspec.json.encode(choice)).alike(place)


_HELP: Final = "restore a copy of the checkpoint, or start anew with another --checkpoint"


def _leave_out_feedback(place: Path) -> None:
    """Each batch says which judgements count, not the state it goes on from."""
    if (place / FEEDBACK).is_file():
        (place / FEEDBACK).unlink()
        saved = msgspec.json.decode((place / "manifest.json").read_bytes(), type=MatcherManifest)
        files = {name: checksum for name, checksum in saved.files.items() if name != FEEDBACK}
        write_whole(
            place / "manifest.json", msgspec.json.encode(with_checksum(msgspec.structs.replace(saved, files=files)))
        )


@lru_cache(maxsize=2)
def _empty(choice: bytes) -> Matcher:
    return msgspec.json.decode(choice, type=MeaningChoice).matcher()
