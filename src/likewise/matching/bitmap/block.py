"""A block of the bitmap engine: up to some thousand slots, each one conjunction, and their bitmaps.

A block is built at once from rows (see `condition_rows`) and changes afterwards only by clearing the
bits of removed slots. Attributes that many of its slots mention are *dense*: one bitmap for each cell
of their axes and each frequent token, lists for rare tokens, one bitmap for "the attribute is not
there". What is left is *listed*: requirements on rare attributes, second requirements on one attribute
and negative rows, as lists of slots by code. A slot with listed requirements counts only once all of
them are confirmed, so the work on rare attributes is what events really say, never their number.

Interval bitmaps: which of many ranges hold a number, as one bitmap (docs/engines/bitmap.md).

The bounds of all ranges on an axis, sorted, are the places where some slot's answer changes. They are
cut into cells of equally many bounds (about 256, so that cells are quantiles). A cell keeps the bitmap of
the slots that some number in it meets; a number is answered by the cell it falls into, with the slots
cleared whose lower bound in the cell it does not reach or whose upper bound it passes: exact, without checking
any slot afterwards. If some slot has several ranges (`in`), the axis's cells keep the answers before their
first bound instead, and the bounds up to the number are flipped.
Slots that ask nothing of the axis are set everywhere, so bitmaps of different attributes combine by AND.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from likewise.kernels.compile import address, compiled
from likewise.kernels.sizes import check_capacity, check_ids, check_lengths
from likewise.matching.bitmap import layout
from likewise.matching.bitmap.condition_rows import COMPOUND, FIRST, NEGATIVE, NUMERIC, PRIMARY, REQUIREMENT
from likewise.matching.bitmap.layout import UPPER, BlockShape

SHAPE = BlockShape()
Steps = TypeVar("Steps", int, NDArray[np.int64])


class IntervalBitmap(NamedTuple):
    """The cells of one axis: `step` bounds each, `cuts[c]` the first bound of cell c.

    A cell is one stretch of memory: the bitmap, then its bounds, then the slot of each bound in 16 bits (with `UPPER`
    added for upper bounds). The last cell is filled up with bounds no number reaches.

    >>> axis = interval_bitmap(np.array([1.0, 3.0]), np.array([4.0, np.inf]), np.array([0, 1]), np.zeros(1, np.uint64))
    >>> axis.step, axis.cuts.tolist(), axis.cells[1:4].view(np.float64).tolist()
    (32, [1.0], [1.0, 3.0, 4.0])
    """

    step: int
    often: bool  # some slot has several ranges: cells hold the answers before their first bound
    cuts: NDArray[np.float64]
    cells: NDArray[np.uint64]


def cell_width(words: int, step: Steps) -> Steps:
    """The words one cell takes."""
    return words + step + step // 4


def interval_bitmap(
    on: NDArray[np.float64],
    off: NDArray[np.float64],
    slots: NDArray[np.int64],
    always: NDArray[np.uint64],
    shape: BlockShape = SHAPE,
) -> IntervalBitmap:
    """The cells for ranges [on, off) of slots; ranges of one slot must not overlap. `always`: slots set everywhere."""
    often = len(slots) > 1 and int(np.bincount(slots).max()) > 1
    real = on < off
    on, off, slots = on[real], off[real], slots[real]
    begun, ends = on == -np.inf, off < np.inf
    state = always.copy()
    set_bits(state, slots[begun])
    bounds = np.concatenate([on[~begun], off[ends]])
    changing = np.concatenate([slots[~begun], slots[ends] | UPPER])
    order = np.argsort(bounds)
    bounds, flips = bounds[order], changing[order]
    step = -(-max(shape.smallest_cell, -(-len(bounds) // shape.cells)) // 4) * 4
    count = max(1, -(-len(bounds) // step))
    cells = np.zeros(count * cell_width(len(always), step), np.uint64)
    _fill(cells, cells.view(np.float64), cells.view(np.uint16), state, bounds, flips, step, often)
    return IntervalBitmap(step, often, bounds[::step].copy() if len(bounds) else np.array([np.inf]), cells)


@compiled
def _fill(
    cells: NDArray[np.uint64],
    numbers: NDArray[np.float64],
    shorts: NDArray[np.uint16],
    state: NDArray[np.uint64],
    bounds: NDArray[np.float64],
    flips: NDArray[np.int64],
    step: int,
    often: bool,
) -> None:
    words = len(state)
    width = words + step + step // 4
    for cell in range(len(cells) // width):
        base = cell * width
        for word in range(words):
            cells[base + word] = state[word]
        for place in range(step):
            index = cell * step + place
            if index < len(bounds):
                slot = flips[index] & (UPPER - 1)
                bit = np.uint64(1) << np.uint64(slot & 63)
                numbers[base + words + place] = bounds[index]
                shorts[4 * (base + words + step) + place] = flips[index]
                state[slot >> 6] ^= bit
                if not often:
                    cells[base + (slot >> 6)] |= bit
            else:
                numbers[base + words + place] = np.nan
                shorts[4 * (base + words + step) + place] = UPPER


@compiled
def set_bits(words: NDArray[np.uint64], slots: NDArray[np.int64]) -> None:
    """Set the bit of each slot."""
    for slot in slots:
        words[slot >> 6] |= np.uint64(1) << np.uint64(slot & 63)


@compiled
def clear_bits(words: NDArray[np.uint64], slots: NDArray[np.int64]) -> None:
    """Clear the bit of each slot."""
    for slot in slots:
        words[slot >> 6] &= ~(np.uint64(1) << np.uint64(slot & 63))


VIOLATES = 64  # action of a listed row that must not hold; below: the requirement it confirms
IS_COMPOUND = 128  # added to the action of a compound range
KINDS: dict[str, type[np.generic]] = {
    "cuts": np.float64,
    "cells": np.uint64,
    "postings": np.uint16,
    "heavy": np.uint64,
}


NO_GATES = np.zeros((0, 3))


class Rows(NamedTuple):
    """Slots as arrays: `starts[s]:starts[s+1]` are the rows of slot s, ordinals ascend."""

    ordinals: NDArray[np.int32]
    starts: NDArray[np.int64]
    codes: NDArray[np.int32]
    flags: NDArray[np.int32]
    on: NDArray[np.float64]
    off: NDArray[np.float64]

    def take(self, slots: NDArray[np.int64]) -> Rows:
        """The rows of some slots, in the given order."""
        sizes = np.diff(self.starts)[slots]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        index = np.repeat(self.starts[slots] - starts[:-1], sizes) + np.arange(starts[-1])
        return Rows(self.ordinals[slots], starts, self.codes[index], self.flags[index], self.on[index], self.off[index])


def join(parts: list[Rows]) -> Rows:
    """Rows of several blocks as one, slots in the order of their ordinals."""
    ordinals = np.concatenate([p.ordinals for p in parts])
    shifts = np.cumsum([0, *(len(p.codes) for p in parts)])
    starts = np.concatenate([p.starts[:-1] + shift for p, shift in zip(parts, shifts, strict=False)] + [shifts[-1:]])
    columns = [np.concatenate([getattr(p, name) for p in parts]) for name in ("codes", "flags", "on", "off")]
    joined = Rows(ordinals, starts, *columns)
    if len(ordinals) > 1 and (ordinals[1:] < ordinals[:-1]).any():
        joined = joined.take(np.argsort(ordinals, kind="stable"))
    return joined


class Block:
    """Slots with their bitmaps. `record` is the line of addresses the kernels read (see `block_layout`)."""

    def __init__(
        self,
        rows: Rows,
        owner: NDArray[np.int32],
        shape: layout.BlockShape,
        gates: NDArray[np.float64] = NO_GATES,
        level: int = 0,
    ) -> None:
        """`gates`: what every slot asks for (see `clustering`); `level`: how many others it was clustered with."""
        self.rows = rows
        self.level = level
        self.settled = False  # no further clustering is of use
        self._shape = shape
        self.size = self.live = len(rows.ordinals)
        self.first, self.last = int(rows.ordinals[0]), int(rows.ordinals[-1])
        self._words = -(-self.size // 64)
        self._arrays: dict[str, NDArray[Any]] = {}
        slot = np.repeat(np.arange(self.size), np.diff(rows.starts))
        attribute = owner[rows.codes]
        primary = rows.flags & PRIMARY != 0
        present = attribute[primary & (rows.flags & FIRST != 0)]
        names, counts = np.unique(present, return_counts=True)
        dense = names[counts >= max(shape.dense_from, self.size // shape.dense_share)]
        place = np.searchsorted(dense, attribute)
        is_dense = primary & (place < len(dense))
        if len(dense):
            is_dense &= dense[np.minimum(place, len(dense) - 1)] == attribute
        self._build_dense(dense, is_dense, place, slot)
        self._build_listed(~is_dense, slot)
        self._arrays["gates"] = gates[: layout.MAX_GATES]
        steps = np.diff(rows.ordinals)
        consecutive = self.size == 1 or bool((steps == 1).all())
        self.distinct = bool((steps > 0).all())
        self._dense, self._consecutive = len(dense), consecutive
        self.record = np.zeros(layout.WIDTH, np.int64)
        self._write_record()

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything about it as arrays, for `restored`."""
        facts = (self.level, self.settled, self.live, self._dense, self._consecutive, self.distinct)
        rows = {f"row_{name}": column for name, column in self.rows._asdict().items()}
        return {**rows, **self._arrays, "facts": np.array(facts, np.int64)}

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]], shape: layout.BlockShape) -> Block:
        """The block whose arrays these are; they become its own."""
        block = cls.__new__(cls)
        level, settled, live, dense, consecutive, distinct = arrays.pop("facts").tolist()
        block.rows = Rows(*(arrays.pop(f"row_{name}") for name in Rows._fields))
        block._arrays, block._shape = arrays, shape
        block.level, block.settled, block.live = level, bool(settled), live
        block.size = len(block.rows.ordinals)
        block.first, block.last = int(block.rows.ordinals[0]), int(block.rows.ordinals[-1])
        block._words = -(-block.size // 64)
        block._dense, block._consecutive, block.distinct = dense, bool(consecutive), bool(distinct)
        block.record = np.zeros(layout.WIDTH, np.int64)
        block._write_record()
        return block

    def _build_dense(
        self, dense: NDArray[Any], is_dense: NDArray[Any], place: NDArray[Any], slot: NDArray[Any]
    ) -> None:
        rows, words = self.rows, self._words
        table: list[list[int]] = []
        masks: list[NDArray[np.uint64]] = []
        axes: list[list[int]] = []
        tokens: list[list[int]] = []
        parts: dict[str, list[NDArray[Any]]] = {name: [] for name in KINDS}
        size = dict.fromkeys(parts, 0)

        def put(name: str, array: NDArray[Any]) -> int:
            parts[name].append(array)
            size[name] += len(array)
            return size[name] - len(array)

        full = np.full(words, ~np.uint64(0))
        for index, code in enumerate(dense.tolist()):
            mine = np.flatnonzero(is_dense & (place == index))
            slots, codes, numeric = slot[mine], rows.codes[mine], rows.flags[mine] & NUMERIC != 0
            absent = full.copy()
            clear_bits(absent, slots)
            present = absent.copy()
            set_bits(present, slots[codes == code])
            masks += [absent, present]
            first_axis, first_token = len(axes), len(tokens)
            for axis in np.unique(codes[numeric]).tolist():
                chosen = mine[codes == axis]
                cells = interval_bitmap(rows.on[chosen], rows.off[chosen], slot[chosen], present, self._shape)
                compound = bool((rows.flags[chosen] & COMPOUND).any())
                cuts, bitmaps = put("cuts", cells.cuts), put("cells", cells.cells)
                flags = layout.OFTEN * cells.often | layout.BOUNDED * compound
                axes.append([axis, cells.step, len(cells.cuts), cuts, bitmaps, flags])
            required = mine[~numeric & (codes != code)]
            required = required[np.argsort(rows.codes[required], kind="stable")]
            names, starts = np.unique(rows.codes[required], return_index=True)
            ends = [*starts[1:].tolist(), len(required)]
            posted = put("postings", slot[required].astype(np.uint16))
            for token, start, end in zip(names.tolist(), starts.tolist(), ends, strict=False):
                heavy = -1
                if (end - start) * 128 > self.size:  # a bitmap is read in less time than so long a list
                    bitmap = present.copy()
                    set_bits(bitmap, slot[required[start:end]])
                    heavy = put("heavy", bitmap)
                tokens.append([token, posted + start, posted + end, heavy])
            table.append([code, first_axis, len(axes), first_token, len(tokens)])
        arrays = self._arrays
        arrays["dense"] = np.array(table, np.int64).ravel()
        arrays["axes"] = np.array(axes, np.int64).ravel()
        arrays["tokens"] = np.array(tokens, np.int64).ravel()
        arrays["masks"] = np.concatenate([*masks, np.empty(0, np.uint64)])
        for name, pieces in parts.items():
            arrays[name] = np.concatenate(pieces) if pieces else np.empty(0, KINDS[name])

    def _build_listed(self, listed: NDArray[Any], slot: NDArray[Any]) -> None:
        rows, arrays = self.rows, self._arrays
        need = np.zeros(self.size, np.uint64)
        required = np.flatnonzero(listed & (rows.flags & NEGATIVE == 0))
        bits = np.uint64(1) << (rows.flags[required] & REQUIREMENT).astype(np.uint64)
        np.bitwise_or.at(need, slot[required], bits)
        actions = np.where(rows.flags & NEGATIVE, VIOLATES, rows.flags & REQUIREMENT)
        actions += np.where(rows.flags & COMPOUND, IS_COMPOUND, 0)
        numeric = rows.flags & NUMERIC != 0
        for kind, mask in (("number", listed & numeric), ("token", listed & ~numeric)):
            mine = np.flatnonzero(mask)
            mine = mine[np.argsort(rows.codes[mine], kind="stable")]
            names, starts = np.unique(rows.codes[mine], return_index=True)
            arrays[f"{kind}_codes"] = names.astype(np.int32)
            arrays[f"{kind}_starts"] = np.append(starts, len(mine)).astype(np.int32)
            arrays[f"{kind}_slots"] = slot[mine].astype(np.uint16)
            arrays[f"{kind}_actions"] = actions[mine].astype(np.uint16)
            if kind == "number":
                arrays["number_on"], arrays["number_off"] = rows.on[mine], rows.off[mine]
        arrays["alive"] = np.zeros(self._words, np.uint64)
        set_bits(arrays["alive"], np.arange(self.size))
        arrays["start"] = arrays["alive"].copy()
        clear_bits(arrays["start"], np.flatnonzero(need))
        arrays["need"] = need if len(required) else np.empty(0, np.uint64)

    def _check(self) -> None:
        """Check the sizes of its arrays once: the kernels read them by address and count alone."""
        arrays, rows, words = self._arrays, self.rows, self._words
        dense, axes, tokens = (arrays[n].reshape(-1, w) for n, w in (("dense", 5), ("axes", 6), ("tokens", 4)))
        check_lengths("bitmaps of a block", words, arrays["start"], arrays["alive"])
        check_lengths("slots of a block", self.size + 1, rows.starts)
        check_lengths("rows of a block", int(rows.starts[-1]), rows.codes, rows.flags, rows.on, rows.off)
        check_lengths("dense attributes", self._dense, dense)
        check_lengths("masks of dense attributes", 2 * self._dense * words, arrays["masks"])
        check_capacity("axes of dense attributes", int(dense[:, 2].max(initial=0)), len(axes))
        check_capacity("tokens of dense attributes", int(dense[:, 4].max(initial=0)), len(tokens))
        check_capacity("cuts of axes", int((axes[:, 3] + axes[:, 2]).max(initial=0)), len(arrays["cuts"]))
        cells = axes[:, 4] + axes[:, 2] * cell_width(words, axes[:, 1])
        check_capacity("cells of axes", int(cells.max(initial=0)), len(arrays["cells"]))
        check_capacity("postings of tokens", int(tokens[:, 2].max(initial=0)), len(arrays["postings"]))
        heavy = tokens[:, 3][tokens[:, 3] >= 0] + words  # -1: postings alone
        check_capacity("bitmaps of tokens", int(heavy.max(initial=0)), len(arrays["heavy"]))
        check_capacity("gates", len(self.gates), layout.MAX_GATES)
        check_ids("slots of postings", arrays["postings"], self.size)
        for kind in ("number", "token"):
            starts, slots = arrays[f"{kind}_starts"], arrays[f"{kind}_slots"]
            check_lengths("listed codes", len(arrays[f"{kind}_codes"]) + 1, starts)
            check_lengths("listed rows", int(starts[-1]), slots, arrays[f"{kind}_actions"])
            check_ids("slots of listed rows", slots, self.size)
        check_lengths("ranges of listed rows", len(arrays["number_slots"]), arrays["number_on"], arrays["number_off"])
        required = (rows.codes, dense[:, 0], self.gates[:, 0].astype(np.int64) >> 1)
        self.codes = 1 + max(int(codes.max(initial=-1)) for codes in required)

    def _write_record(self) -> None:
        self._check()
        record, arrays, rows = self.record, self._arrays, self.rows
        for name, field in layout.ADDRESSES.items():
            record[field] = address(getattr(rows, name[4:]) if name.startswith("row_") else arrays[name])
        gates = self.gates
        record[layout.GATES] = len(gates)
        for number, (axis, low, high) in enumerate(gates.tolist()):
            record[layout.GATE + 3 * number] = axis
            record.view(np.float64)[layout.GATE + 3 * number + 1 : layout.GATE + 3 * number + 3] = low, high
        record[layout.SLOTS], record[layout.WORDS], record[layout.DENSE] = self.size, self._words, self._dense
        record[layout.NUMBER_CODES] = len(arrays["number_codes"])
        record[layout.TOKEN_CODES] = len(arrays["token_codes"])
        record[layout.NEEDING] = int(len(arrays["need"]) > 0)
        distinct = layout.DISTINCT if self.distinct else layout.SHARED
        record[layout.ORDER] = layout.CONSECUTIVE if self._consecutive else distinct

    @property
    def gates(self) -> NDArray[np.float64]:
        """Return what every slot asks for: axis, least and greatest number (see `clustering.gates`)."""
        return self._arrays["gates"]

    def slots_of(self, ordinal: int) -> range:
        """The slots of an ordinal; none if it is not here."""
        low, high = np.searchsorted(self.rows.ordinals, [ordinal, ordinal + 1]).tolist()
        return range(low, high)

    def is_alive(self, slot: int) -> bool:
        """Return whether the slot was not removed."""
        return bool(int(self._arrays["alive"][slot >> 6]) >> (slot & 63) & 1)

    def remove(self, slot: int) -> list[int]:
        """Clear a slot; the codes its rows hold."""
        keep = ~(np.uint64(1) << np.uint64(slot & 63))
        self._arrays["alive"][slot >> 6] &= keep
        self._arrays["start"][slot >> 6] &= keep
        self.live -= 1
        start, end = self.rows.starts[slot], self.rows.starts[slot + 1]
        return self.rows.codes[start:end].tolist()  # type: ignore[no-any-return]

    def living(self, slots: NDArray[np.int64] | None = None) -> Rows:
        """The rows of the slots that are left, of all or of some."""
        if slots is None:
            if self.live == self.size:
                return self.rows
            slots = np.arange(self.size)
        bits = np.unpackbits(self._arrays["alive"].view(np.uint8), bitorder="little")
        return self.rows.take(slots[bits[slots] == 1])

    @property
    def nbytes(self) -> int:
        """Bytes of all its arrays."""
        return sum(a.nbytes for a in (*self._arrays.values(), *self.rows, self.record))
