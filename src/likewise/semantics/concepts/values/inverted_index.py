"""Inverted index of the query's items: from each synset to the items that list it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from likewise.semantics.concepts.values.columns import LISTS, ItemColumns

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ANCESTORS: Final = LISTS.index("ancestors")


class Postings(NamedTuple):
    """From ascending synsets to the items that list them: `rows[ends[k - 1]:ends[k]]` list `synsets[k]`."""

    synsets: NDArray[np.int32]
    ends: NDArray[np.int64]
    rows: NDArray[np.int32]
    lists: NDArray[np.uint8]


class InvertedItems(NamedTuple):
    """Inverted index of items. Ancestors are apart: their list is long, and few lists of the other side look it up."""

    spelling: NDArray[np.int64]
    ancestors: Postings
    others: Postings


def invert(items: ItemColumns) -> InvertedItems:
    """Build the inverted index of some items."""
    count = len(items.spelling)
    lengths = np.diff(items.ends, prepend=0)
    rows = np.repeat(np.tile(np.arange(count, dtype=np.int32), len(LISTS)), lengths)
    lists = np.repeat(np.repeat(np.arange(len(LISTS), dtype=np.uint8), count), lengths)
    ancestors = lists == _ANCESTORS
    return InvertedItems(
        items.spelling,
        ancestors=_postings(items.values[ancestors], rows[ancestors], lists[ancestors]),
        others=_postings(items.values[~ancestors], rows[~ancestors], lists[~ancestors]),
    )


def _postings(values: NDArray[np.int32], rows: NDArray[np.int32], lists: NDArray[np.uint8]) -> Postings:
    order = np.argsort(values, kind="stable")
    synsets, counts = np.unique(values, return_counts=True)
    return Postings(synsets, np.cumsum(counts, dtype=np.int64), rows[order], lists[order])
