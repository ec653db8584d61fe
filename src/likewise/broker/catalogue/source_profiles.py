"""Learn the profile of each source from its events, in columns: bounded, fast to add to, and saved over restarts.

A source has a shape, and a block of rows, one for each attribute with a unit: how often it was observed, which kinds of
values, their range, the last one, and a short series of earlier ones. Most sources are like others, so a shape is
shared: a source costs the rows of its attributes, not a dictionary of names. Names, texts and sources are bounded by
limits (`likewise.defaults`); what exceeds them is counted, not stored.

Profiles are saved in one file a tenant, with a checksum and their position in the log. A file that is missing, damaged
or of another version is reported and ignored; what the log still holds is learnt again.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
import structlog
from numpy.typing import NDArray

from likewise.broker.catalogue.observations import ObservedAttribute, ObservedName, ObservedSource, ProfileState
from likewise.defaults import (
    CATALOGUE_ATTRIBUTES,
    CATALOGUE_NAMES,
    CATALOGUE_READINGS,
    CATALOGUE_SOURCES,
    CATALOGUE_TEXTS,
)
from likewise.formats.arrow.columns import TEXT, EventColumns


class AttributeShape:
    """Attribute numbers, and the index of each.

    >>> first = AttributeShape()
    >>> first.with_name(7) is first.with_name(7), first.with_name(7).with_name(3).places
    (True, {7: 0, 3: 1})
    """

    __slots__ = ("_following", "names", "places")

    def __init__(self, names: tuple[int, ...] = ()) -> None:
        self.names = names
        self.places = {name: place for place, name in enumerate(names)}
        self._following: dict[int, AttributeShape] = {}

    def with_name(self, name: int) -> AttributeShape:
        """Return the shape with one more name, which must not be in it."""
        shape = self._following.get(name)
        if shape is None:
            shape = self._following[name] = AttributeShape((*self.names, name))
        return shape


SPARKLINE_POINTS: Final = 12  # numbers of the line that is drawn
_LARGEST: Final = float(np.finfo(np.float32).max)
MAX_TEXT_CHARACTERS: Final = 200  # characters of a text that is kept
INTERVAL_DECAY: Final = 0.9  # how much the gaps of before count beside a new one
COLUMNS: Final[dict[str, tuple[type, tuple[int, ...]]]] = {
    "count": (np.int64, ()),
    "low": (np.float64, ()),
    "high": (np.float64, ()),
    "number": (np.float64, ()),
    "last": (np.int64, ()),
    "kinds": (np.uint8, ()),
    "line": (np.float32, (SPARKLINE_POINTS,)),
    "every": (np.float64, ()),
}
_UNSET: Final = {"low": np.inf, "high": -np.inf, "number": np.nan, "line": np.nan, "every": np.nan}
OF_SOURCES: Final = {
    "base": np.int64,
    "room": np.int32,
    "events": np.int64,
    "first": np.int64,
    "seen": np.int64,
    "interval": np.float64,
}


class SourceProfiles:
    """The observed attributes of a tenant's sources.

    >>> from likewise.formats.arrow.columns import columns_of
    >>> from likewise.model import event
    >>> learnt = SourceProfiles()
    >>> learnt.add(columns_of([event({"no2": 45}), event({"no2": 30})]), ["a", "a"], [1_000_000, 3_000_000])
    >>> found = learnt.source("a")
    >>> found.events, found.interval, [(r.attribute, r.low, r.high, r.number) for r in found.readings]
    (2, 2.0, [('no2', 30.0, 45.0, 30.0)])
    """

    def __init__(self, sources: int = CATALOGUE_SOURCES, readings: int = CATALOGUE_READINGS) -> None:
        self._most = (sources, readings)
        self._index: dict[str, int] = {}
        self._names: dict[tuple[str, str], int] = {}
        self._texts: list[dict[str, int]] = []  # of each name, how often each text was seen
        self._shapes: list[AttributeShape] = []
        self._empty = AttributeShape()
        self._places: dict[tuple[AttributeShape, bytes], NDArray[np.int64]] = {}
        self._rows = 0
        self._row: dict[str, NDArray[Any]] = {
            name: np.zeros((0, *rest), kind) for name, (kind, rest) in COLUMNS.items()
        }
        self._text: NDArray[np.object_] = np.zeros(0, object)
        self._of: dict[str, NDArray[Any]] = {name: np.zeros(0, kind) for name, kind in OF_SOURCES.items()}
        self.left_out = {"sources": 0, "readings": 0, "names": 0, "texts": 0}

    def __len__(self) -> int:
        return len(self._index)

    def __contains__(self, source: str) -> bool:
        return source in self._index

    @property
    def nbytes(self) -> int:
        """Return the bytes of the columns; names and texts come on top."""
        return sum(each.nbytes for each in (*self._row.values(), *self._of.values(), self._text))

    @property
    def since(self) -> int:
        """Return when the first source was first observed (µs); 0 if there is none."""
        return int(self._of["first"][: len(self._index)].min(initial=2**62)) if self._index else 0

    # -- learning -------------------------------------------------------------------------------

    def add(self, columns: EventColumns, sources: Sequence[str], at: Sequence[int]) -> None:
        """Look at events: their columns, the source of each, and when it came (µs), in order."""
        names = self._numbered(columns)
        offsets = columns.offsets.tolist()
        owners: list[int] = []
        rows: list[NDArray[np.int64]] = []
        used: list[NDArray[np.int64]] = []
        gathered: dict[int, list[int]] = {}
        for place, source in enumerate(sources):
            number = self._index.get(source)
            if number is None:
                number = self._new_source(source, at[place])
                if number is None:
                    continue
            gathered.setdefault(number, []).append(at[place])
            low, high = offsets[place], offsets[place + 1]
            event_names = names[low:high]
            shape = self._shapes[number]
            key = event_names.tobytes()
            places = self._places.get((shape, key))
            if places is None:
                shape, places = self._fit(number, event_names, key)
            owners.append(number)
            rows.append(places)
            used.append(np.arange(low, high))
        self._count(gathered)
        if rows:  # blocks may have moved meanwhile, so that their beginnings are looked up last
            base = np.repeat(self._of["base"][owners], [len(each) for each in rows])
            row, tuples = np.concatenate(rows) + base, np.concatenate(used)
            known = row >= 0
            when = np.repeat(np.fromiter(at, np.int64, len(at)), np.diff(columns.offsets))[tuples]
            self._add_readings(columns, names, row[known], tuples[known], when[known])

    def _numbered(self, columns: EventColumns) -> NDArray[np.int32]:
        """Return the number of each tuple's name and unit; -1 if there are too many names."""
        codes = columns.attribute.astype(np.int64) * (len(columns.units) + 1) + columns.unit + 1
        distinct, where = np.unique(codes, return_inverse=True)
        numbers = np.empty(len(distinct), np.int32)
        for place, code in enumerate(distinct.tolist()):
            attribute, unit = divmod(code, len(columns.units) + 1)
            numbers[place] = self._name(columns.attributes[attribute], columns.units[unit - 1] if unit else "")
        numbered: NDArray[np.int32] = numbers[where]
        return numbered

    def _name(self, attribute: str, unit: str) -> int:
        number = self._names.get((attribute, unit))
        if number is None:
            if len(self._names) >= CATALOGUE_NAMES:
                self.left_out["names"] += 1
                return -1
            number = self._names[attribute, unit] = len(self._names)
            self._texts.append({})
        return number

    def _new_source(self, source: str, at: int) -> int | None:
        if len(self._index) >= self._most[0]:
            self.left_out["sources"] += 1
            return None
        number = self._index[source] = len(self._index)
        self._shapes.append(self._empty)
        if number >= len(self._of["base"]):
            room = max(16, 2 * number)
            self._of = {name: np.resize(each, room) for name, each in self._of.items()}
        for name, first in (("base", 0), ("room", 0), ("events", 0), ("first", at), ("seen", at), ("interval", np.nan)):
            self._of[name][number] = first
        return number

    def _fit(self, number: int, names: NDArray[np.int32], key: bytes) -> tuple[AttributeShape, NDArray[np.int64]]:
        """Give a source the names it lacks; where each stands in its block, far below 0 if it is left out."""
        shape = self._shapes[number]
        lacking = [name for name in dict.fromkeys(names.tolist()) if name >= 0 and name not in shape.places]
        if lacking:
            size = len(shape.names) + len(lacking)
            if size > CATALOGUE_ATTRIBUTES or not self._make_room(number, size):
                self.left_out["readings"] += len(lacking)
                lacking = []
        for name in lacking:
            shape = shape.with_name(name)
        self._shapes[number] = shape
        absent = -(2**62)
        places = np.array([shape.places.get(name, absent) for name in names.tolist()], np.int64)
        if len(self._places) > CATALOGUE_NAMES:
            self._places.clear()
        self._places[shape, key] = places
        return shape, places

    def _make_room(self, number: int, needed: int) -> bool:
        """Make a source's block large enough, elsewhere if need be."""
        room, base = int(self._of["room"][number]), int(self._of["base"][number])
        if needed <= room:
            return True
        more = needed + needed // 2 if room else needed
        if self._rows + more > self._most[1]:
            return False
        end = self._rows + more
        if end > len(self._text):
            size = max(64, end + end // 2)
            self._row = {name: _grown(each, size) for name, each in self._row.items()}
            self._text = _grown(self._text, size)
        start = self._rows
        for each in (*self._row.values(), self._text):
            each[start : start + room] = each[base : base + room]
        fresh = slice(start + room, end)
        for name, each in self._row.items():
            each[fresh] = _UNSET.get(name, 0)
        self._text[fresh] = ""
        self._rows = end
        self._of["base"][number], self._of["room"][number] = start, more
        return True

    def _count(self, gathered: dict[int, list[int]]) -> None:
        events, latest, interval = self._of["events"], self._of["seen"], self._of["interval"]
        for number, moments in gathered.items():
            before, last, new = int(latest[number]), max(moments), len(moments)
            gaps = new if events[number] else new - 1
            if gaps and last > before:
                gap, weight = (last - before) / gaps / 1e6, INTERVAL_DECAY**gaps
                interval[number] = gap if np.isnan(interval[number]) else weight * interval[number] + (1 - weight) * gap
            events[number] += new
            latest[number] = max(before, last)

    def _add_readings(
        self,
        columns: EventColumns,
        names: NDArray[np.int32],
        row: NDArray[np.int64],
        tuples: NDArray[np.int64],
        when: NDArray[np.int64],
    ) -> None:
        rows, kind = self._row, columns.kind[tuples]
        self._add_intervals(row, when)
        np.add.at(rows["count"], row, 1)
        np.maximum.at(rows["last"], row, when)
        np.bitwise_or.at(rows["kinds"], row, (1 << kind.astype(np.uint8)).astype(np.uint8))
        numeric = kind != TEXT
        at, number = row[numeric], columns.number[tuples[numeric]]
        np.minimum.at(rows["low"], at, number)
        np.maximum.at(rows["high"], at, number)
        rows["number"][at] = number
        drawn = np.unique(at)
        points = np.clip(rows["number"][drawn], -_LARGEST, _LARGEST)  # a larger one would be infinite in the line
        rows["line"][drawn] = np.concatenate((rows["line"][drawn, 1:], points[:, None]), 1)
        for place in np.flatnonzero(~numeric).tolist():
            tuple_at = tuples[place]
            text = columns.texts[columns.text[tuple_at]][:MAX_TEXT_CHARACTERS]
            self._text[row[place]] = text
            known = self._texts[names[tuple_at]]
            if text in known or len(known) < CATALOGUE_TEXTS:
                known[text] = known.get(text, 0) + 1
            else:
                self.left_out["texts"] += 1

    def _add_intervals(self, row: NDArray[np.int64], when: NDArray[np.int64]) -> None:
        """Count the time between two readings of each row: a device may say twenty things at once every minute."""
        drawn, where, new = np.unique(row, return_inverse=True, return_counts=True)
        first, latest = np.full(len(drawn), np.iinfo(np.int64).max), np.zeros(len(drawn), np.int64)
        np.minimum.at(first, where, when)
        np.maximum.at(latest, where, when)
        known = self._row["count"][drawn] > 0
        gaps = np.where(known, new, new - 1)
        gap = (latest - np.where(known, self._row["last"][drawn], first)) / 1e6
        counted = (gaps > 0) & (gap > 0)
        drawn, gaps, gap = drawn[counted], gaps[counted], gap[counted] / gaps[counted]
        before, weight = self._row["every"][drawn], INTERVAL_DECAY**gaps
        self._row["every"][drawn] = np.where(np.isnan(before), gap, weight * before + (1 - weight) * gap)

    # -- looking --------------------------------------------------------------------------------

    def sources(self) -> list[str]:
        """Return every source, in the order in which they were first observed."""
        return list(self._index)

    def source(self, source: str) -> ObservedSource | None:
        """Return the profile of one source."""
        number = self._index.get(source)
        if number is None:
            return None
        of = {name: each[number] for name, each in self._of.items()}
        spelled = list(self._names)
        readings = tuple(
            self._reading(int(of["base"]) + place, *spelled[name])
            for place, name in enumerate(self._shapes[number].names)
        )
        numbers = [each.every for each in readings if each.kinds & ~1 and not math.isnan(each.every)]
        interval = min(numbers, default=float(of["interval"]))  # text is mostly what every message says
        return ObservedSource(source, int(of["events"]), int(of["first"]), int(of["seen"]), interval, readings)

    def _reading(self, row: int, attribute: str, unit: str) -> ObservedAttribute:
        values = {name: each[row] for name, each in self._row.items()}
        line = values["line"][~np.isnan(values["line"])]
        return ObservedAttribute(
            attribute,
            unit,
            int(values["count"]),
            int(values["kinds"]),
            float(values["low"]),
            float(values["high"]),
            int(values["last"]),
            float(values["number"]),
            str(self._text[row]),
            tuple(line.tolist()),
            float(values["every"]),
        )

    def words(self) -> Iterator[ObservedName]:
        """Return every attribute name with a unit, over all sources."""
        if not self._index:
            return
        row, of, count = self._name_of_rows()
        size = len(self._names)
        total = np.bincount(of, self._row["count"][row], size).astype(np.int64)
        kinds, last = np.zeros(size, np.uint8), np.zeros(size, np.int64)
        low, high = np.full(size, np.inf), np.full(size, -np.inf)
        np.bitwise_or.at(kinds, of, self._row["kinds"][row])
        np.maximum.at(last, of, self._row["last"][row])
        np.minimum.at(low, of, self._row["low"][row])
        np.maximum.at(high, of, self._row["high"][row])
        for number, (attribute, unit) in enumerate(self._names):
            if count[number]:
                yield ObservedName(
                    attribute,
                    unit,
                    int(total[number]),
                    int(count[number]),
                    int(kinds[number]),
                    float(low[number]),
                    float(high[number]),
                    int(last[number]),
                )

    def texts(self, attribute: str, unit: str = "") -> dict[str, int]:
        """Count how often each text of an attribute was observed."""
        number = self._names.get((attribute, unit))
        return {} if number is None else dict(self._texts[number])

    def _name_of_rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the rows in use, the name of each, and how many sources have a name."""
        rows, names = [], []
        by_shape: dict[AttributeShape, list[int]] = {}
        for number, shape in enumerate(self._shapes):
            by_shape.setdefault(shape, []).append(number)
        for shape, numbers in by_shape.items():
            base = self._of["base"][numbers]
            rows.append((base[:, None] + np.arange(len(shape.names))).ravel())
            names.append(np.tile(np.array(shape.names, np.int64), len(numbers)))
        row, name = np.concatenate(rows), np.concatenate(names)
        return row.astype(np.int64), name, np.bincount(name, minlength=len(self._names))

    # -- keeping --------------------------------------------------------------------------------

    def state(self) -> tuple[ProfileState, dict[str, NDArray[np.generic]]]:
        """Return the state to save: texts, and columns."""
        shapes = {shape: place for place, shape in enumerate(dict.fromkeys(self._shapes))}
        state = ProfileState(
            sources=list(self._index),
            names=list(self._names),
            texts=self._texts,
            shapes=[shape.names for shape in shapes],
            shape=[shapes[shape] for shape in self._shapes],
            last=[str(text) for text in self._text[: self._rows]],
            left_out=dict(self.left_out),
        )
        columns: dict[str, NDArray[np.generic]] = {name: each[: self._rows] for name, each in self._row.items()}
        return state, columns | {name: each[: len(self._index)] for name, each in self._of.items()}

    @classmethod
    def restored(cls, state: ProfileState, columns: dict[str, NDArray[np.generic]], **limits: int) -> SourceProfiles:
        """Rebuild the profiles that `state` returned; raise `ValueError` if its parts do not fit each other."""
        made = cls(**limits)
        made._index = {source: number for number, source in enumerate(state.sources)}
        made._names = {(attribute, unit): number for number, (attribute, unit) in enumerate(state.names)}
        made._texts = state.texts
        made._rows = len(state.last)
        made._row = {name: np.array(columns[name]) for name in COLUMNS if name in columns}
        if "every" not in made._row:  # saved by an earlier release
            made._row["every"] = np.full(made._rows, np.nan)
        made._of = {name: np.array(columns[name]) for name in OF_SOURCES}
        made._text = np.array(state.last, object)
        shapes = []
        for names in state.shapes:
            shape = made._empty
            for name in names:
                shape = shape.with_name(name)
            shapes.append(shape)
        made._shapes = [shapes[place] for place in state.shape]
        made.left_out.update(state.left_out)
        sizes = {len(each) for each in made._of.values()} | {len(state.sources), len(made._index), len(made._shapes)}
        rows = {len(each) for each in made._row.values()} | {made._rows}
        if len(sizes) > 1 or len(rows) > 1 or len(state.texts) != len(made._names):
            raise ValueError("its columns have different lengths")
        return made


_log = structlog.get_logger("likewise.catalogue")
VERSION: Final = 1


class _Column(msgspec.Struct, frozen=True):
    name: str
    kind: str
    shape: tuple[int, ...]


class _Head(msgspec.Struct, frozen=True):
    """The second line, which describes what follows. The first is the SHA-256 of all the rest."""

    position: int
    words: int  # bytes
    columns: tuple[_Column, ...]
    v: int = VERSION


def profile_path(data: Path, tenant: int) -> Path:
    """Return the file of a tenant's saved profiles."""
    return data / "catalogue" / f"{tenant}.learnt"


def save_profiles(path: Path, learnt: SourceProfiles, position: int) -> int:
    """Save what was learnt up to a position, synced, in place of what was there; the bytes written."""
    state, columns = learnt.state()
    words = msgspec.json.encode(state)
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


def load_profiles(path: Path, **limits: int) -> tuple[SourceProfiles, int] | None:
    """Return saved profiles and their position in the log; None if there is nothing usable."""
    try:
        with path.open("rb") as file:
            digest, rest = file.readline().strip(), file.read()
        if hashlib.sha256(rest).hexdigest().encode() != digest:
            raise ValueError("its checksum does not fit")
        line, _, body = rest.partition(b"\n")
        head = msgspec.json.decode(line, type=_Head)
        if head.v != VERSION:
            raise ValueError(f"it is of version {head.v}")
        state = msgspec.json.decode(body[: head.words], type=ProfileState)
        at, columns = head.words, {}
        for column in head.columns:
            kind = np.dtype(column.kind)
            count = int(np.prod(column.shape, dtype=np.int64))
            columns[column.name] = np.frombuffer(body, kind, count, at).reshape(column.shape)
            at += count * kind.itemsize
        return SourceProfiles.restored(state, columns, **limits), head.position
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, IndexError, msgspec.MsgspecError) as error:
        _log.error(
            "source_profiles_damaged",
            file=str(path),
            reason=str(error),
        )
        return None


def _grown(array: NDArray, size: int) -> NDArray:  # type: ignore[type-arg]
    made = np.zeros((size, *array.shape[1:]), array.dtype)
    made[: len(array)] = array
    return made
