"""Items turned round: from each synset to the items that list it, as the asked side is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from likewise.semantics.concepts.values.columns import LISTS, ItemColumns

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ABOVE: Final = LISTS.index("above")


class Postings(NamedTuple):
    """From synsets, in order, to the items that list them: `rows[ends[k - 1]:ends[k]]` list `synsets[k]`."""

    synsets: NDArray[np.int32]
    ends: NDArray[np.int64]
    rows: NDArray[np.int32]
    lists: NDArray[np.uint8]


class InvertedItems(NamedTuple):
    """What stands above items is by itself: it is long, and few lists of the other side ask for it."""

    spelling: NDArray[np.int64]
    above: Postings
    others: Postings


def turned(items: ItemColumns) -> InvertedItems:
    """Some items turned round."""
    count = len(items.spelling)
    lengths = np.diff(items.ends, prepend=0)
    rows = np.repeat(np.tile(np.arange(count, dtype=np.int32), len(LISTS)), lengths)
    lists = np.repeat(np.repeat(np.arange(len(LISTS), dtype=np.uint8), count), lengths)
    above = lists == _ABOVE
    return InvertedItems(
        items.spelling,
        above=_postings(items.values[above], rows[above], lists[above]),
        others=_postings(items.values[~above], rows[~above], lists[~above]),
    )


def _postings(values: NDArray[np.int32], rows: NDArray[np.int32], lists: NDArray[np.uint8]) -> Postings:
    order = np.argsort(values, kind="stable")
    synsets, counts = np.unique(values, return_counts=True)
    return Postings(synsets, np.cumsum(counts, dtype=np.int64), rows[order], lists[order])
