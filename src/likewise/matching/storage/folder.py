"""A saved matcher: a folder that outlives the process (docs/versions.md).

    manifest.json         format, version, threshold, measure, the space's checksum, the next ordinal
    subscriptions.jsonl   one a line, in the order of addition, with its ordinal and the end of its validity
    feedback.arrow        the judgements, one pair a row
    annotations.csv       what is laid over events, if anything is
    types.json            the declared types, if there are any: pairs of a type and a wider one
    engines/<kind>/       what an engine keeps beyond its subscriptions (windows)
    index/                what was built of the subscriptions, a cache (`index_file`)

The folder is written beside its place and then moved there, so a crash leaves the old or the new one.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from likewise.errors import ArtefactDamaged, ArtefactMissing, ArtefactVersion, IndexRebuilt, InputError
from likewise.matching.engine import Addition
from likewise.matching.matcher_state import MatcherState
from likewise.matching.registry import PROFILES, EngineSelection
from likewise.matching.storage import index_file as index
from likewise.matching.storage.checksums import check_files, files_below, manifest_checksum, with_checksum
from likewise.matching.storage.subscriptions import SubscriptionLine
from likewise.model import Kind
from likewise.model.hierarchies.types import Hierarchy
from likewise.semantics.enrichment.rows import read_annotations, write_annotations
from likewise.semantics.enrichment.table import NO_ANNOTATIONS, AnnotationSource
from likewise.semantics.feedback import Feedback, Judgement, TermPair
from likewise.semantics.interpretation import Interpretation
from likewise.semantics.spaces.manifest import file_sha256

if TYPE_CHECKING:
    from likewise.semantics.measure import Measure
    from likewise.semantics.space import Space

VERSION = 3  # 1 had no checksum of the subscriptions, 2 none of what else is there
SUBSCRIPTIONS = "subscriptions.jsonl"
FEEDBACK = "feedback.arrow"
ANNOTATIONS = "annotations.csv"
TYPES = "types.json"


class MatcherManifest(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Content of `manifest.json`."""

    format: str
    v: int
    threshold: float
    next_ordinal: int
    subscriptions: int
    measure: dict[str, object] | None = None
    space: str | None = None
    lateness: int = 0
    given: bool = False  # the measure is the user's own
    engines: dict[Kind, str] = {}  # which engines keep something beyond the subscriptions, if not those of profile full
    annotations: int = 0  # how many rows
    types: int = 0  # how many pairs
    checksum: str = ""  # of the subscriptions
    files: dict[str, str] = {}  # the checksums of the others, but for those of the index, which has its own
    seal: str = ""  # the checksum of all of this
    states: tuple[Kind, ...] = ()  # the kinds whose state stands in `engines`: without it nothing goes on as it was


def save(state: MatcherState, folder: Path, *, indexed: bool = True, durable: bool = True) -> None:
    """Write what a matcher holds, and what was built of it; the folder appears whole or not at all.

    It and what is in it may be read by whoever the umask lets read. With `durable` false it need not outlast a crash.
    """
    if folder.exists() and not _ours(folder):
        raise InputError(
            f"{folder} is there and is no saved matcher, so it is not replaced; name another folder, or remove it first"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    engines: dict[Kind, str] = {}
    states: list[Kind] = []
    reserved = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    building = reserved / "new"  # a folder of mkdtemp could be read by nobody else
    try:
        building.mkdir()
        starts = [0]
        with (building / SUBSCRIPTIONS).open("wb") as out:
            for ordinal, subscription in state.held.items():
                line = msgspec.json.encode(SubscriptionLine(ordinal, subscription, state.ends.get(ordinal))) + b"\n"
                out.write(line)
                starts.append(starts[-1] + len(line))
            out.flush()
            if durable:
                os.fsync(out.fileno())
        digest = file_sha256(building / SUBSCRIPTIONS)
        if indexed and any(state.choice.name(kind) == index.BUILT for kind in state.engines):
            index.write_index(state, building, starts, digest)
        for kind, engine in state.engines.items():
            place = building / "engines" / kind
            place.mkdir(parents=True)
            engine.save(place)
            name = state.choice.name(kind)
            if name != PROFILES["full"][kind] and any(place.iterdir()):
                engines[kind] = name
            if kind in ("top", "alert") and any(place.iterdir()):
                states.append(kind)
        by = state.interpretation
        if len(by.feedback):
            write_feedback(building / FEEDBACK, by.feedback)
        rows = by.annotations.current()
        if len(rows):
            (building / ANNOTATIONS).write_text(write_annotations(rows), encoding="utf-8")
        if by.types:
            (building / TYPES).write_bytes(msgspec.json.encode(by.types.declared))
        manifest = MatcherManifest(
            "likewise-matcher",
            VERSION,
            by.threshold,
            state.next_ordinal,
            len(state.held),
            by.configuration(),
            by.space_checksum(),
            by.lateness,
            by.is_custom_measure(),
            engines,
            len(rows),
            len(by.types.declared),
            digest,
            files_below(building, SUBSCRIPTIONS, index.FOLDER),
            states=tuple(states),
        )
        (building / "manifest.json").write_bytes(msgspec.json.format(msgspec.json.encode(with_checksum(manifest))))
        if folder.exists():
            folder.rename(reserved / "old")
        building.rename(folder)
    finally:
        shutil.rmtree(reserved, ignore_errors=True)


def _ours(folder: Path) -> bool:
    """Return whether a folder may be replaced: a saved matcher, or nothing in it."""
    return folder.is_dir() and ((folder / "manifest.json").is_file() or not any(folder.iterdir()))


def load(
    folder: Path,
    *,
    space: Space | str | Path | None,
    measure: Measure | str | None,
    cache_bytes: int,
    interpretation: Interpretation | None,
    choice: EngineSelection,
    types: Hierarchy | None = None,
    annotations: AnnotationSource | None = None,
) -> MatcherState:
    """Return what a matcher held, from what `save` wrote; `types` and `annotations` in place of the saved ones."""
    manifest = _manifest(folder)
    check_files(folder, manifest.files)
    if interpretation is None:
        interpretation = Interpretation(
            space=space,
            measure=measure,
            threshold=manifest.threshold,
            cache_bytes=cache_bytes,
            lateness=manifest.lateness,
            types=_types(folder, manifest) if types is None else types,
            annotations=_annotations(folder, manifest) if annotations is None else annotations,
        ).restored(manifest.measure, manifest.given, manifest.space)
    elif types is not None or annotations is not None:
        replaced = "types" if types is not None else "annotations"
        raise InputError(f"an interpretation says the {replaced} already; give the one or the other")
    if (folder / FEEDBACK).is_file():
        interpretation = interpretation.with_feedback(read_feedback(folder / FEEDBACK))
    state = MatcherState(interpretation, choice)
    _hold(folder, manifest, state)
    state.next_ordinal = manifest.next_ordinal
    for kind, engine in state.engines.items():
        place = folder / "engines" / kind
        if place.is_dir() and any(place.iterdir()):
            saved, loads = manifest.engines.get(kind, PROFILES["full"][kind]), choice.name(kind)
            if saved != loads:
                raise InputError(
                    f"the engine {saved!r} saved what {folder} keeps for the kind {kind!r}, and {loads!r} cannot read "
                    f"it; load it with the same engine"
                )
            engine.load(place)
        elif kind in manifest.states:
            raise ArtefactMissing(
                f"{place} is missing or empty, and the matcher was saved with its state; restore a copy of the folder"
            )
    return state


def _hold(folder: Path, manifest: MatcherManifest, state: MatcherState) -> None:
    """Hold the saved subscriptions, by what was built of them if that fits."""
    path = folder / SUBSCRIPTIONS
    if not path.is_file():
        raise ArtefactMissing(f"{path} is missing; restore a copy")
    if manifest.checksum:
        digest = file_sha256(path)
        if digest != manifest.checksum:
            raise ArtefactDamaged(
                f"{path} is not what was saved: its SHA-256 is {digest}, the manifest says {manifest.checksum}; "
                "restore a copy"
            )
        if (folder / index.FOLDER).is_dir():
            reason = index.unfit(folder, digest, state.choice)
            if not reason:
                index.load_index(folder, state)
                _check_count(path, len(state.held), manifest.subscriptions, "subscriptions")
                return
            warnings.warn(
                f"the index in {folder} is not used: {reason}. It was built anew from the subscriptions, which takes "
                "longer; save the matcher again",
                IndexRebuilt,
                stacklevel=4,
            )
    entries, ends = [], []
    with path.open("rb") as lines:
        for count, raw in enumerate(lines, 1):
            try:
                line = msgspec.json.decode(raw, type=SubscriptionLine)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise ArtefactDamaged(f"{path}, line {count}: {error}; restore a copy") from None
            entries.append(Addition(line.ordinal, line.subscription, 0))
            ends.append(line.ends)
    _check_count(path, len(entries), manifest.subscriptions, "subscriptions")
    state.add_many(entries, ends)


def _types(folder: Path, manifest: MatcherManifest) -> Hierarchy:
    pairs: list[tuple[str, str]] = []
    if manifest.types:
        try:
            pairs = msgspec.json.decode((folder / TYPES).read_bytes(), type=list[tuple[str, str]])
        except (OSError, UnicodeDecodeError, msgspec.MsgspecError) as error:
            raise ArtefactDamaged(f"{folder / TYPES} cannot be read ({error}); restore a copy") from None
    _check_count(folder / TYPES, len(pairs), manifest.types)
    return Hierarchy(pairs)


def _annotations(folder: Path, manifest: MatcherManifest) -> AnnotationSource:
    if not manifest.annotations:
        return NO_ANNOTATIONS
    try:
        table = read_annotations((folder / ANNOTATIONS).read_text(encoding="utf-8"), ANNOTATIONS)
    except (OSError, UnicodeDecodeError, InputError) as error:
        raise ArtefactDamaged(f"{folder / ANNOTATIONS} cannot be read ({error}); restore a copy") from None
    _check_count(folder / ANNOTATIONS, len(table), manifest.annotations)
    return table


def _check_count(path: Path, actual: int, expected: int, of: str = "rows") -> None:
    if actual != expected:
        raise ArtefactDamaged(f"{path} holds {actual} {of}, the manifest says {expected}; restore a copy")


def _manifest(folder: Path) -> MatcherManifest:
    path = folder / "manifest.json"
    if not path.is_file():
        raise ArtefactMissing(f"there is no saved matcher in {folder}: manifest.json is missing")
    try:
        raw = msgspec.json.decode(path.read_bytes())
        if isinstance(raw, dict) and isinstance(raw.get("v"), int) and raw["v"] > VERSION:
            raise ArtefactVersion(
                f"{folder} was saved in version {raw['v']}; this one reads up to {VERSION}: upgrade likewise"
            )
        manifest = msgspec.convert(raw, MatcherManifest)
        if manifest.v < 1:
            raise ArtefactDamaged(f"{path} says version {manifest.v}, which there never was; restore a copy")
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ArtefactDamaged(f"{path} cannot be read ({error}); restore a copy") from None
    if manifest.format != "likewise-matcher":
        raise ArtefactDamaged(f"{path} is not the manifest of a saved matcher")
    if manifest.v == VERSION and manifest.seal != manifest_checksum(manifest):
        raise ArtefactDamaged(f"{path} is not what was saved: its seal does not fit; restore a copy")
    return manifest


FEEDBACK_VERSION = b"1"
COLUMNS = ("judgement", "subscription_id", "event_id", "relevant", "role", "asked", "seen")


def write_feedback(path: Path, feedback: Feedback) -> None:
    """Write every judgement; one without pairs has one row with an empty role."""
    import pyarrow as pa

    rows = [
        (j.number, j.subscription_id, j.event_id, j.relevant, *pair)
        for j in feedback
        for pair in j.pairs or (("", "", ""),)
    ]
    types = (pa.int64(), pa.string(), pa.string(), pa.bool_(), pa.string(), pa.string(), pa.string())
    columns = [pa.array(column, kind) for column, kind in zip(zip(*rows, strict=True), types, strict=True)]
    table = pa.table(columns, names=list(COLUMNS)).replace_schema_metadata({"likewise.feedback": FEEDBACK_VERSION})
    with pa.OSFile(str(path), "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)


def read_feedback(path: Path) -> Feedback:
    """The judgements of a file that `write_feedback` wrote."""
    import pyarrow as pa

    try:
        with pa.memory_map(str(path)) as source:
            table = pa.ipc.open_file(source).read_all()
    except pa.ArrowInvalid as error:
        raise ArtefactDamaged(f"{path} cannot be read ({error}); restore a copy") from None
    version = (table.schema.metadata or {}).get(b"likewise.feedback")
    if version != FEEDBACK_VERSION:
        raise ArtefactVersion(
            f"{path} is feedback of version {version!r}; this one reads {FEEDBACK_VERSION!r}: upgrade likewise"
        )
    judgements: dict[int, Judgement] = {}
    for number, subscription, event, relevant, role, query_text, event_text in zip(
        *(table[name].to_pylist() for name in COLUMNS), strict=True
    ):
        earlier = judgements[number].pairs if number in judgements else ()
        pairs = (*earlier, TermPair(role, query_text, event_text)) if role else earlier
        judgements[number] = Judgement(number, subscription, event, relevant, pairs)
    return Feedback(judgements.values())
