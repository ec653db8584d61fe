"""The states of alerts on disk: one Arrow file, with a checksum over its rows.

A row is a key's state, how far the sources of a family are, or what a digest has gathered; `ordinal` says whose (a
family goes by the smallest among its members). States are JSON: they are small, and most of one is optional.

States of alerts that an earlier version saved, as this one keeps them.

Version 1 marked a key as notified when its alarm stood, even if `at most every` kept the alarm from being sent; it was
counted in the next one then, which an alarm that stood on never led to. Whatever is counted since the last alarm that
was sent tells the two apart: sending one sets the count to nothing. An alarm that was marked and never sent is deferred
here: it is sent when the cool-down ends, or at once if it is over.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from likewise.errors import ArtefactDamaged, ArtefactVersion
from likewise.matching.alerts.key_state import FRESH, NO_BASE, KeyState
from likewise.matching.alerts.pending_digest import DigestCheckpoint
from likewise.matching.reference.alerts.clocks import NewestTimes, SuspiciousEvents, WrongClocks
from likewise.matching.reference.alerts.state import CompactedHistory, HoldingRun, Observation, Sources
from likewise.model.alerts.clauses import Alert
from likewise.model.alerts.notification import DigestItem, Key, Why


class RunV1(NamedTuple):
    """A run that did not say when each source was heard."""

    holding: frozenset[str] = frozenset()
    begin: int | None = None
    told: bool = False


class BaseV1(NamedTuple):
    """The events that were no longer remembered one by one."""

    run: RunV1 = RunV1()
    last: Observation | None = None
    last_holding: Observation | None = None


class SavedStateV1(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A key and its state, as version 1 wrote it."""

    key: Key
    last_arrival: int
    trail: list[Observation] = []
    waiting: Sequence[Observation] = ()
    base: BaseV1 | None = None
    settled: int = FRESH
    spoken: bool = False
    quiet_until: int | None = None
    held_back: Sequence[str | None] = ()
    more_held_back: int = 0
    absent: bool = False
    straggled: Sources = ()
    paused: int | None = None


def upgrade_state(saved: SavedStateV1, alert: Alert, now: int | None) -> KeyState:
    """Return the state of a key that version 1 saved; an alarm that it marked and never sent is deferred.

    Args:
        saved: what version 1 wrote.
        alert: the clauses of its alert.
        now: the moment the engine had come to.
    """
    state = KeyState()
    state.last_arrival, state.settled, state.spoken = saved.last_arrival, saved.settled, saved.spoken
    state.trail, state.waiting, state.base = saved.trail, saved.waiting, _base(saved)
    state.quiet_until, state.held_back = saved.quiet_until, saved.held_back
    state.more_held_back, state.absent, state.straggled = saved.more_held_back, saved.absent, saved.straggled
    state.paused = saved.paused
    state.refold(alert)
    never_sent = bool(saved.held_back or saved.more_held_back)
    if alert.once_until == "false" and state.spoken and not never_sent:
        state.mark_run_notified(alert)  # version 1 noted it of the key alone
    if never_sent:
        _defer(state, alert, now, "" if alert.per else saved.key[0])
    return state


def _defer(state: KeyState, alert: Alert, now: int | None, source: str) -> None:
    """Let an alarm that stands be sent when the cool-down ends; of an alarm that does not, the count remains."""
    if alert.absent_for is not None:
        stands = state.absent
        state.absent = False
    elif alert.follows_failing:
        stands = bool(state.holding) and (state.spoken if alert.once_until is not None else state.told)
        state.spoken = False
        if stands:
            state.mark_run_notified(alert, notified=False)
    elif alert.once_until is not None:
        stands, state.spoken = state.spoken, False
    else:  # every event is an alarm: the newest is sent if its cool-down is not over
        stands = now is None or (state.quiet_until is not None and now < state.quiet_until)
    if stands and state.quiet_until is not None and now is not None:
        state.quiet_until = max(state.quiet_until, now)  # what was due long ago is sent for now
    if stands and state.held_back:
        *rest, newest = state.held_back
        state.held_back = rest
        if not alert.follows_failing:
            arrived_at = state.last_arrival
            state.deferred = [Observation(0, arrived_at, arrived_at, source, newest, True, False, False, 1.0, 1.0)]


def _base(saved: SavedStateV1) -> CompactedHistory:
    if saved.base is None:
        return NO_BASE
    run, last, last_holding = saved.base
    observed_at = saved.last_arrival if last is None else last.arrival
    holding = tuple((source, observed_at) for source in sorted(run.holding))
    return CompactedHistory(HoldingRun(holding, run.begin, run.told), last, last_holding)


FILE = "alerts.arrow"
VERSION = b"2"  # 1 marked alarms as notified that were never sent
READ = (b"1", VERSION)
What = Literal["state", "marks", "digest", "unsaid"]


class SavedState(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A key and its state."""

    key: Key
    last_arrival: int
    trail: list[Observation] = []
    waiting: Sequence[Observation] = ()
    base: CompactedHistory | None = None
    settled: int = FRESH
    spoken: bool = False
    quiet_until: int | None = None
    held_back: Sequence[str | None] = ()
    more_held_back: int = 0
    absent: bool = False
    straggled: Sources = ()
    paused: int | None = None
    deferred: Sequence[Observation] = ()
    earlier: bool = False
    active: Sources = ()
    doubted: Sequence[Observation] = ()


class SavedDigestCheckpoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The state of a key before notifications that only wait in a digest, and the events since."""

    before: SavedState
    heard: list[Observation]
    settled: int


class SavedDigestCheckpointV1(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The same, as version 1 wrote it."""

    before: SavedStateV1
    heard: list[Observation]
    settled: int


class SavedMarks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The progress of sources: (key, source, time); the key is empty where the source is the key."""

    marks: list[tuple[Key, str, int]]


class SavedAlertHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The engine's time and counts, the checksum of the rows, and the sources whose silence is excused."""

    now: int | None
    sequence: int
    refused_late: int
    keyless: int
    sha256: str
    excused: dict[Why, list[str]] = {}
    version: int = 2
    clocks: WrongClocks = {}
    newest: NewestTimes = {}
    suspicious: SuspiciousEvents = {}


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


def state_of(row: bytes, alert: Alert, facts: SavedAlertHeader) -> tuple[Key, KeyState]:
    """The key and the state of a row."""
    if facts.version == 1:
        saved = msgspec.json.decode(row, type=SavedStateV1)
        return saved.key, upgrade_state(saved, alert, facts.now)
    return _state(msgspec.json.decode(row, type=SavedState), alert)


def checkpoint_row(ordinal: int, key: Key, pending: DigestCheckpoint) -> Row:
    """Return the row of one key's pending digest."""
    saved = SavedDigestCheckpoint(_saved(key, pending.state), pending.observations, pending.settled)
    return "unsaid", ordinal, msgspec.json.encode(saved)


def checkpoint_of(row: bytes, alert: Alert, facts: SavedAlertHeader) -> tuple[Key, DigestCheckpoint]:
    """The key of such a row, and what it was before."""
    if facts.version == 1:
        old = msgspec.json.decode(row, type=SavedDigestCheckpointV1)
        return old.before.key, DigestCheckpoint(upgrade_state(old.before, alert, facts.now), old.heard, old.settled)
    saved = msgspec.json.decode(row, type=SavedDigestCheckpoint)
    key, state = _state(saved.before, alert)
    return key, DigestCheckpoint(state, saved.heard, saved.settled)


def _state(saved: SavedState, alert: Alert) -> tuple[Key, KeyState]:
    state = KeyState()
    state.last_arrival, state.settled, state.spoken = saved.last_arrival, saved.settled, saved.spoken
    state.trail, state.waiting, state.base = saved.trail, saved.waiting, saved.base or NO_BASE
    state.quiet_until, state.held_back = saved.quiet_until, saved.held_back
    state.more_held_back, state.absent, state.straggled = saved.more_held_back, saved.absent, saved.straggled
    state.paused, state.deferred, state.earlier = saved.paused, saved.deferred, saved.earlier
    state.active = saved.active
    # An earlier release remembered an upload by events that move nothing.
    state.doubted = [each for each in saved.doubted if each.holds or each.fails or each.clears]
    state.refold(alert)
    return saved.key, state


def digest_row(ordinal: int, items: list[DigestItem]) -> Row:
    """Return the row of the items that a digest has collected."""
    return "digest", ordinal, msgspec.json.encode(items)


def items_of(row: bytes) -> list[DigestItem]:
    """The items of a digest's row."""
    return msgspec.json.decode(row, type=list[DigestItem])


def write_alerts(folder: Path, rows: Iterable[Row], facts: SavedAlertHeader) -> None:
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


def read_alerts(folder: Path) -> tuple[SavedAlertHeader, list[Row]]:
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
        facts = msgspec.json.decode(metadata[b"facts"], type=SavedAlertHeader)
        facts = msgspec.structs.replace(facts, version=int(version))
        columns = (table.column(name).to_pylist() for name in ("what", "ordinal", "value"))
        rows: list[Row] = list(zip(*columns, strict=True))
    except (pa.ArrowException, msgspec.MsgspecError, UnicodeDecodeError, KeyError, OSError) as error:
        raise ArtefactDamaged(f"{path} cannot be read ({error}); restore a copy of the folder") from None
    if _checksum(rows) != facts.sha256:
        raise ArtefactDamaged(f"{path} is not what was written: its checksum differs; restore a copy of the folder")
    return facts, rows


def _checksum(rows: Iterable[Row]) -> str:
    digest = hashlib.sha256()
    for what, ordinal, value in rows:
        digest.update(f"{what} {ordinal} {len(value)}\n".encode())
        digest.update(value)
    return digest.hexdigest()
