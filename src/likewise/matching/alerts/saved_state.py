"""The states of alerts on disk: one Arrow file, with a checksum over its rows.

A row is a key's state, how far the sources of a family are, or what a digest has gathered; `ordinal` says whose (a
family goes by the smallest among its members). States are JSON: they are small, and most of one is optional.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from likewise.errors import ArtefactDamaged, ArtefactVersion
from likewise.matching.alerts.key_state import FRESH, NO_BASE, KeyState
from likewise.matching.alerts.pending_digest import Unsaid
from likewise.matching.alerts.upgrade import SavedStateV1, upgrade_state
from likewise.matching.reference.alerts.clocks import WrongClocks
from likewise.matching.reference.alerts.state import Base, Heard, Sources
from likewise.model.alerts.clauses import Alert
from likewise.model.alerts.notification import DigestItem, Key, Why

FILE = "alerts.arrow"
VERSION = b"2"  # 1 marked alarms as notified that were never sent
READ = (b"1", VERSION)
What = Literal["state", "marks", "digest", "unsaid"]


class SavedState(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A key and its state."""

    key: Key
    last_arrival: int
    trail: list[Heard] = []
    waiting: Sequence[Heard] = ()
    base: Base | None = None
    settled: int = FRESH
    spoken: bool = False
    quiet_until: int | None = None
    held_back: Sequence[str | None] = ()
    more_held_back: int = 0
    absent: bool = False
    straggled: Sources = ()
    paused: int | None = None
    deferred: Sequence[Heard] = ()
    earlier: bool = False
    active: Sources = ()
    doubted: Sequence[Heard] = ()


class SavedUnsaid(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a key was before what only waits in a digest, and the events since."""

    before: SavedState
    heard: list[Heard]
    settled: int


class SavedUnsaidV1(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The same, as version 1 wrote it."""

    before: SavedStateV1
    heard: list[Heard]
    settled: int


class SavedMarks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How far sources are: (key, source, time); the key is empty where the source is the key."""

    marks: list[tuple[Key, str, int]]


class Facts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The engine's time and counts, the checksum of the rows, and the sources whose silence is excused."""

    now: int | None
    sequence: int
    refused_late: int
    keyless: int
    sha256: str
    excused: dict[Why, list[str]] = {}
    version: int = 2
    clocks: WrongClocks = {}


Row = tuple[What, int, bytes]


def state_row(ordinal: int, key: Key, state: KeyState) -> Row:
    """One key."""
    return "state", ordinal, msgspec.json.encode(_saved(key, state))


def _saved(key: Key, state: KeyState) -> SavedState:
    base = None if state.base is NO_BASE else state.base
    return SavedState(
        key,
        state.last_arrival,
        state.trail,
        state.waiting,
        base,
        state.settled,
        state.spoken,
        state.quiet_until,
        state.held_back,
        state.more_held_back,
        state.absent,
        state.straggled,
        state.paused,
        state.deferred,
        state.earlier,
        state.active,
        state.doubted,
    )


def state_of(row: bytes, alert: Alert, facts: Facts) -> tuple[Key, KeyState]:
    """The key and the state of a row."""
    if facts.version == 1:
        saved = msgspec.json.decode(row, type=SavedStateV1)
        return saved.key, upgrade_state(saved, alert, facts.now)
    return _state(msgspec.json.decode(row, type=SavedState), alert)


def unsaid_row(ordinal: int, key: Key, unsaid: Unsaid) -> Row:
    """What only waits in a digest, of one key."""
    saved = SavedUnsaid(_saved(key, unsaid.state), unsaid.heard, unsaid.settled)
    return "unsaid", ordinal, msgspec.json.encode(saved)


def unsaid_of(row: bytes, alert: Alert, facts: Facts) -> tuple[Key, Unsaid]:
    """The key of such a row, and what it was before."""
    if facts.version == 1:
        old = msgspec.json.decode(row, type=SavedUnsaidV1)
        return old.before.key, Unsaid(upgrade_state(old.before, alert, facts.now), old.heard, old.settled)
    saved = msgspec.json.decode(row, type=SavedUnsaid)
    key, state = _state(saved.before, alert)
    return key, Unsaid(state, saved.heard, saved.settled)


def _state(saved: SavedState, alert: Alert) -> tuple[Key, KeyState]:
    state = KeyState()
    state.last_arrival, state.settled, state.spoken = saved.last_arrival, saved.settled, saved.spoken
    state.trail, state.waiting, state.base = saved.trail, saved.waiting, saved.base or NO_BASE
    state.quiet_until, state.held_back = saved.quiet_until, saved.held_back
    state.more_held_back, state.absent, state.straggled = saved.more_held_back, saved.absent, saved.straggled
    state.paused, state.deferred, state.earlier = saved.paused, saved.deferred, saved.earlier
    state.active, state.doubted = saved.active, saved.doubted
    state.refold(alert)
    return saved.key, state


def digest_row(ordinal: int, items: list[DigestItem]) -> Row:
    """What a digest has gathered."""
    return "digest", ordinal, msgspec.json.encode(items)


def items_of(row: bytes) -> list[DigestItem]:
    """The items of a digest's row."""
    return msgspec.json.decode(row, type=list[DigestItem])


def write_alerts(folder: Path, rows: Iterable[Row], facts: Facts) -> None:
    """Write every row, and the engine's facts with the rows' checksum."""
    import pyarrow as pa

    listed = list(rows)
    facts = msgspec.structs.replace(facts, sha256=_checksum(listed))
    columns: dict[str, pa.Array[Any]] = {
        "what": pa.array([what for what, _, _ in listed], pa.string()),
        "ordinal": pa.array([ordinal for _, ordinal, _ in listed], pa.int64()),
        "value": pa.array([value for _, _, value in listed], pa.binary()),
    }
    metadata = {b"likewise.alerts": VERSION, b"facts": msgspec.json.encode(facts)}
    table = pa.table(columns).replace_schema_metadata(metadata)
    with pa.OSFile(str(folder / FILE), "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)


def read_alerts(folder: Path) -> tuple[Facts, list[Row]]:
    """The rows that were written; what is damaged or of another version is refused."""
    import pyarrow as pa

    path = folder / FILE
    try:
        with pa.OSFile(str(path), "rb") as source, pa.ipc.open_file(source) as reader:
            table = reader.read_all()
        metadata = table.schema.metadata or {}
        version = metadata.get(b"likewise.alerts", b"none")
        if version not in READ:
            raise ArtefactVersion(
                f"{path} holds alerts of version {version.decode()}; this release reads 1 and {VERSION.decode()}"
            )
        facts = msgspec.json.decode(metadata[b"facts"], type=Facts)
        facts = msgspec.structs.replace(facts, version=int(version))
        columns = (table.column(name).to_pylist() for name in ("what", "ordinal", "value"))
        rows: list[Row] = list(zip(*columns, strict=True))
    except (pa.ArrowException, msgspec.MsgspecError, UnicodeDecodeError, KeyError, OSError) as error:
        raise ArtefactDamaged(f"{path} cannot be read ({error}); restore a copy of the folder") from None
    if _checksum(rows) != facts.sha256:
        raise ArtefactDamaged(f"{path} is not what was written: its checksum differs; restore a copy of the folder")
    return facts, rows


def _checksum(rows: Iterable[Row]) -> str:
    found = hashlib.sha256()
    for what, ordinal, value in rows:
        found.update(f"{what} {ordinal} {len(value)}\n".encode())
        found.update(value)
    return found.hexdigest()
