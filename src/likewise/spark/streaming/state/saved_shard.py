"""The state of a shard on disk: a saved matcher, and the checksums of its files.

A worker that saved a state has it still at hand when the next batch goes on from it.
"""

from __future__ import annotations

import hashlib
import tempfile
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
from likewise.matching.storage.folder import FEEDBACK, MatcherManifest, save
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
        return empty_matcher(choice)
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


def pack_matcher(matcher: Matcher) -> bytes:
    """Return the files of a saved matcher, without judgements, in one value."""
    with tempfile.TemporaryDirectory(prefix="likewise-state-") as folder:
        place = Path(folder, "matcher")
        save(matcher.state, place, indexed=False, durable=False)
        _leave_out_feedback(place)
        files = sorted(path for path in place.rglob("*") if path.is_file())
        return msgspec.msgpack.encode({path.relative_to(place).as_posix(): path.read_bytes() for path in files})


def unpack_matcher(packed: bytes, choice: MeaningChoice) -> Matcher:
    """Return the matcher of `pack_matcher`, which compares words by `choice`."""
    with tempfile.TemporaryDirectory(prefix="likewise-state-") as folder:
        for name, data in msgspec.msgpack.decode(packed, type=dict[str, bytes]).items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return empty_matcher(choice).alike(Path(folder))


def empty_matcher(choice: MeaningChoice) -> Matcher:
    """Return a matcher without subscriptions, whose space and measure are opened once by a worker."""
    return _empty(msgspec.json.encode(choice)).alike()


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
