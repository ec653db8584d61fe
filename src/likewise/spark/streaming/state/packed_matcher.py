"""The state of a bucket as one value: the files of a saved matcher."""

from __future__ import annotations

import tempfile
from functools import lru_cache
from pathlib import Path

import msgspec

from likewise.lake.atomic_create import write_whole
from likewise.matching.matcher import Matcher
from likewise.matching.storage.checksums import with_checksum
from likewise.matching.storage.folder import FEEDBACK, MatcherManifest, save
from likewise.spark.streaming.matchers import MeaningChoice


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
