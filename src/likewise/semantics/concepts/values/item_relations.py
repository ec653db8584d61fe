"""Relations between all items of two sides, by the synsets they have in common.

The asked side is turned round (`inverted_items`), so that a new item costs what it has and not what all asked ones
have.
"""

# The kernel is typed by numba, from what it is called with.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

from typing import Final

import numpy as np

from likewise.kernels.compile import inlined, nogil_kernel

# How two items stand to each other; several may hold.
SAME, CLOSE, KIND, PART, PART_OF_KIND, BROADER, OPPOSITE, FAR_OPPOSITE, SIBLING, WHOLE = (1 << i for i in range(10))
SENSES, NEAR, ANCESTORS, PARENTS, WHOLES, OPPOSITES, FAR_OPPOSITES, SIDES = range(8)  # the lists of an item
# What follows if a synset stands in this list of the asked item and in that one of the seen item.
_FOLLOWS: Final = {
    (SENSES, SENSES): SAME,
    (SENSES, NEAR): CLOSE,
    (SENSES, ANCESTORS): KIND,
    (SENSES, WHOLES): PART,
    (SENSES, OPPOSITES): OPPOSITE,
    (SENSES, FAR_OPPOSITES): FAR_OPPOSITE,
    (NEAR, SENSES): CLOSE,
    (NEAR, OPPOSITES): FAR_OPPOSITE,
    (NEAR, FAR_OPPOSITES): FAR_OPPOSITE,
    (ANCESTORS, SENSES): BROADER,
    (ANCESTORS, WHOLES): PART_OF_KIND,
    (PARENTS, PARENTS): SIBLING,
    (WHOLES, SENSES): WHOLE,
    (WHOLES, ANCESTORS): WHOLE,
    (OPPOSITES, SENSES): OPPOSITE,
    (OPPOSITES, SIDES): OPPOSITE,
    (OPPOSITES, NEAR): FAR_OPPOSITE,
    (FAR_OPPOSITES, SENSES): FAR_OPPOSITE,
    (FAR_OPPOSITES, NEAR): FAR_OPPOSITE,
    (SIDES, OPPOSITES): OPPOSITE,
}
FOLLOWS: Final = np.zeros((8, 8), dtype=np.uint16)
for _lists, _bit in _FOLLOWS.items():
    FOLLOWS[_lists] = _bit


@inlined
def _add_relations(postings, synset, which, j, follows, relations):
    """Add the relations of every query item that lists a synset; return its range in the postings."""
    k, high = 0, len(postings.synsets)
    while k < high:
        middle = (k + high) // 2
        if postings.synsets[middle] < synset:
            k = middle + 1
        else:
            high = middle
    if k == len(postings.synsets) or postings.synsets[k] != synset:
        return 0, 0
    begin, end = (postings.ends[k - 1] if k else 0), postings.ends[k]
    for e in range(begin, end):
        relations[postings.rows[e], j] |= follows[postings.lists[e], which]
    return begin, end


@nogil_kernel
def relate_items(a, b, kinds, follows):
    """Return the relation bits of every query and candidate item, and the width of the nearest broader one."""
    rows, columns = len(a.spelling), len(b.spelling)
    relations = np.zeros((rows, columns), np.uint16)
    breadth = np.zeros((rows, columns), np.int32)
    for j in range(columns):
        for i in range(rows):
            if a.spelling[i] == b.spelling[j]:
                relations[i, j] = SAME
        for which in range(8):
            place = which * columns + j
            for at in range(b.ends[place - 1] if place else 0, b.ends[place]):
                synset = b.values[at]
                _add_relations(a.others, synset, which, j, follows, relations)
                if which not in (SENSES, WHOLES):
                    continue
                begin, end = _add_relations(a.ancestors, synset, which, j, follows, relations)
                if which == SENSES:
                    for e in range(begin, end):
                        i = a.ancestors.rows[e]
                        least = breadth[i, j]
                        breadth[i, j] = kinds[synset] if least == 0 else min(least, kinds[synset])
    return relations, breadth
