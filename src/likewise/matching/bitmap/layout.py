"""Where a block's sizes and addresses stand in the line of numbers a kernel reads.

Lines 1 to n of the engine's table are blocks, the last line is the tail of recent additions, line 0
holds the scratch memory all of them share.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class BlockShape(NamedTuple):
    """The sizes of the bitmap engine, each with its reason; tests use small ones to see blocks at work."""

    tail_slots: int = 128  # a scan of so few slots costs about as much as matching one block
    tail_rows: int = 2_048  # `in` with many values makes many rows; past this the tail becomes a block early
    largest_block: int = 8_192  # slots; bounds the pause of one build and keeps a bitmap (1 kB) in the nearest cache
    clustered: int = (
        8  # full neighbours that are clustered first; of more an event enters fewer, but planning takes longer
    )
    finer: int = 4  # a clustered block has so many times fewer slots: an event enters less, and cells take less memory
    levels: int = 3  # how often slots are clustered anew with four times as many; bounds the pause of one plan
    entered: int = 60  # percent of the parts that an event enters; above it, order costs more than clustering saves
    matched: int = (
        2  # percent of the slots that match; above it, sorting their ordinals costs more than clustering saves
    )
    merged: int = 4  # neighbouring blocks of one size class that become one
    dense_share: int = 16  # an attribute is dense if at least one slot in so many mentions it,
    dense_from: int = 32  # and so many slots at least: a shorter list is scanned in less time than a bitmap is copied
    cells: int = 256  # quantiles of a full axis: a cell of 8,192 slots then costs 1 kB and about 32 flips
    smallest_cell: int = 32  # bounds; fewer would spend more memory on bitmaps than they save in flips

    @property
    def clustered_block(self) -> int:
        """Slots of a clustered block."""
        return max(1, self.largest_block // self.finer)

    def size_classes(self) -> list[int]:
        """Blocks below each of these sizes are merged with their like.

        >>> BlockShape().size_classes()
        [512, 2048, 8192]
        """
        classes = [self.tail_slots * self.merged]
        while classes[-1] * self.merged <= self.largest_block:
            classes.append(classes[-1] * self.merged)
        return classes


SLOTS: Final = 0  # how many slots
WORDS: Final = 1  # how many words a bitmap over them has
DENSE: Final = 2  # how many attributes are dense
NUMBER_CODES: Final = 3  # how many axes are listed
TOKEN_CODES: Final = 4  # how many tokens are listed
NEEDING: Final = 5  # 1 if some slot waits for listed requirements
ORDER: Final = 6  # one of the three below
AT: Final = 7  # where its bitmap lies in the result, in words

CONSECUTIVE: Final = 0  # ordinals without a gap
DISTINCT: Final = 1  # ascending, each once
SHARED: Final = 2  # ascending; slots of one subscription share its ordinal

START: Final = 8  # slots that wait for nothing and are not removed
ALIVE: Final = 9
NEED: Final = 10  # requirements each slot waits for, as bits
ORDINALS: Final = 11
DENSE_TABLE: Final = 12  # for each dense attribute: code, first and end axis, first and end token
MASKS: Final = 13  # for each dense attribute: slots that match without it; slots that match with any value of it
AXES: Final = 14  # for each axis: code, step, how many cells, where its cuts and cells lie, flags
CUTS: Final = 15
CELLS: Final = 16
TOKENS: Final = 17  # for each token: code, its postings' start and end, its bitmap or -1
POSTINGS: Final = 18
HEAVY: Final = 19
NUMBERS: Final = 20  # listed axes: codes, starts, slots, actions, on, off
NUMBER_STARTS: Final = 21
NUMBER_SLOTS: Final = 22
NUMBER_ACTIONS: Final = 23
NUMBER_ON: Final = 24
NUMBER_OFF: Final = 25
LISTED: Final = 26  # listed tokens: codes, starts, slots, actions
LISTED_STARTS: Final = 27
LISTED_SLOTS: Final = 28
LISTED_ACTIONS: Final = 29
ROW_STARTS: Final = 30
ROW_CODES: Final = 31
ROW_FLAGS: Final = 32
ROW_ON: Final = 33
ROW_OFF: Final = 34
GATES: Final = 35  # how many axes there are that every slot asks for something on
GATE: Final = 36  # for each: the axis (see `clustering.gates`), the least and the greatest number any of them takes
MAX_GATES: Final = 3
WIDTH: Final = GATE + 3 * MAX_GATES

OFTEN: Final = 1  # flag of an axis: some slot has several ranges on it
BOUNDED: Final = 2  # flag of an axis: some row is compound
UPPER: Final = 1 << 15  # added to the slot of an upper bound

ADDRESSES: Final = {
    "start": START,
    "alive": ALIVE,
    "need": NEED,
    "row_ordinals": ORDINALS,
    "dense": DENSE_TABLE,
    "masks": MASKS,
    "axes": AXES,
    "cuts": CUTS,
    "cells": CELLS,
    "tokens": TOKENS,
    "postings": POSTINGS,
    "heavy": HEAVY,
    "number_codes": NUMBERS,
    "number_starts": NUMBER_STARTS,
    "number_slots": NUMBER_SLOTS,
    "number_actions": NUMBER_ACTIONS,
    "number_on": NUMBER_ON,
    "number_off": NUMBER_OFF,
    "token_codes": LISTED,
    "token_starts": LISTED_STARTS,
    "token_slots": LISTED_SLOTS,
    "token_actions": LISTED_ACTIONS,
    "row_starts": ROW_STARTS,
    "row_codes": ROW_CODES,
    "row_flags": ROW_FLAGS,
    "row_on": ROW_ON,
    "row_off": ROW_OFF,
}

# Line 0.
BLOCKS: Final = 0  # how many blocks stand in the lines after it
RESULT_WORDS: Final = 1  # words of one event's result, the tail included
WHERE: Final = 2  # code -> first point of the event that says it, or -1
WHERE_SIZE: Final = 3
SCRATCH: Final = 4  # words, twice the largest block
CONFIRMED: Final = 5  # requirements confirmed so far, for each slot of a block
TOUCHED: Final = 6  # slots with something confirmed
POINTS: Final = 7  # the events to match: their points, the points' numbers, room for both
NUMBERS_OF_POINTS: Final = 8
POINTS_ROOM: Final = 9
RESULT: Final = 10  # bitmaps of some events, and of how many
TOGETHER: Final = 11
FOUND: Final = 12  # one event's ordinals, and room for how many
FOUND_ROOM: Final = 13
ENDS: Final = 14  # where its points begin and end, and how many ordinals it has
SOURCES: Final = 15  # two tables, each with room for the dense attributes of a block: see `find_sources`
SOURCES_ROOM: Final = 16
PLACES: Final = 17  # for each byte the places of its bits: see `listing_kernels`
ENTERED: Final = 18  # for each event and block, whether it is entered; the bitmaps of the others are not written
PAIRS: Final = 19  # room for the blocks and events that are
SCRATCH_ROOM: Final = 20
SLOTS_ROOM: Final = 21  # of CONFIRMED and TOUCHED
