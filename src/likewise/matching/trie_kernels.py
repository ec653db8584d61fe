"""Compiled search trees over interest vectors; loaded by `likewise.matching.trie` on first use.

References: -1 is an empty place, r >= 0 an inner node, r <= -2 the bucket number -r - 2. Every inner
node has at least two children that are not empty.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Numba infers the types; annotations would not be checked.

from __future__ import annotations

import numpy as np
from numba import njit

INNER, INNER_FREE, LEAF, LEAF_FREE, ENTRY, ENTRY_FREE, LIVE = range(7)
SPLIT = 8  # a bucket is split when it reaches 8, then tried again at 16, 32, ...


@njit(cache=True)
def _code(care, value, row, place):
    """What a row asks of a property: 0, 1, or 2 for *."""
    word = place >> 6
    bit = np.uint64(place & 63)
    if (care[row, word] >> bit) & np.uint64(1) == 0:
        return 2
    return np.int64((value[row, word] >> bit) & np.uint64(1))


@njit(cache=True)
def _take(counters, used, free, chain):
    """A place from the free list, else a new one."""
    place = counters[free]
    if place >= 0:
        counters[free] = chain[place]
        return place
    counters[used] += 1
    return counters[used] - 1


@njit(cache=True)
def _put(roots, root, child, parent, which, reference):
    """Let a parent's place (or the root) refer to something else."""
    if parent < 0:
        roots[root] = reference
    else:
        child[parent, which] = reference


@njit(cache=True)
def _first_difference(entry_row, entry_next, head, care, value, width, start, length):
    """The first property in cyclic order on which a bucket's rows differ; -1 if they are all alike."""
    words = care.shape[1]
    differ = np.zeros(words, np.uint64)
    first = entry_row[head]
    entry = entry_next[head]
    while entry >= 0:
        row = entry_row[entry]
        for w in range(words):
            differ[w] |= (care[row, w] ^ care[first, w]) | (value[row, w] ^ value[first, w])
        entry = entry_next[entry]
    place = start
    for _ in range(length):
        if (differ[place >> 6] >> np.uint64(place & 63)) & np.uint64(1):
            return place
        place += 1
        if place == width:
            place = 0
    return -1


@njit(cache=True)
def insert(pool, care, value, width, chosen, starts, lengths, row):
    """Put a row into each chosen tree."""
    counters, roots, tested, child, head, count, entry_row, entry_next = pool
    for root in chosen:
        parent, which = -1, 0
        at = roots[root]
        while at >= 0:
            parent = at
            which = _code(care, value, row, tested[at])
            at = child[at, which]
        if at == -1:
            leaf = _take(counters, LEAF, LEAF_FREE, head)
            head[leaf], count[leaf] = -1, 0
            _put(roots, root, child, parent, which, -leaf - 2)
        else:
            leaf = -at - 2
        entry = _take(counters, ENTRY, ENTRY_FREE, entry_next)
        counters[LIVE] += 1
        entry_row[entry], entry_next[entry] = row, head[leaf]
        head[leaf] = entry
        count[leaf] += 1
        n = count[leaf]
        if n < SPLIT or n & (n - 1):
            continue
        place = _first_difference(entry_row, entry_next, entry, care, value, width, starts[root], lengths[root])
        if place < 0:
            continue
        node = _take(counters, INNER, INNER_FREE, child[:, 0])
        tested[node] = place
        child[node, 0] = child[node, 1] = child[node, 2] = -1
        _put(roots, root, child, parent, which, node)
        head[leaf] = counters[LEAF_FREE]
        counters[LEAF_FREE] = leaf
        while entry >= 0:
            following = entry_next[entry]
            branch = _code(care, value, entry_row[entry], place)
            if child[node, branch] == -1:
                fresh = _take(counters, LEAF, LEAF_FREE, head)
                head[fresh], count[fresh] = -1, 0
                child[node, branch] = -fresh - 2
            target = -child[node, branch] - 2
            entry_next[entry] = head[target]
            head[target] = entry
            count[target] += 1
            entry = following


@njit(cache=True)
def delete(pool, care, value, chosen, row):
    """Take a row out of each chosen tree; an inner node left with one child makes way for it."""
    counters, roots, tested, child, head, count, entry_row, entry_next = pool
    for root in chosen:
        parent, which = -1, 0
        grandparent, branch = -1, 0
        at = roots[root]
        while at >= 0:
            grandparent, branch = parent, which
            parent = at
            which = _code(care, value, row, tested[at])
            at = child[at, which]
        leaf = -at - 2
        before, entry = -1, head[leaf]
        while entry_row[entry] != row:
            before, entry = entry, entry_next[entry]
        if before < 0:
            head[leaf] = entry_next[entry]
        else:
            entry_next[before] = entry_next[entry]
        entry_next[entry] = counters[ENTRY_FREE]
        counters[ENTRY_FREE] = entry
        counters[LIVE] -= 1
        count[leaf] -= 1
        if count[leaf] > 0:
            continue
        head[leaf] = counters[LEAF_FREE]
        counters[LEAF_FREE] = leaf
        _put(roots, root, child, parent, which, -1)
        if parent < 0:
            continue
        left, survivor = 0, -1
        for c in range(3):
            if child[parent, c] != -1:
                left += 1
                survivor = child[parent, c]
        if left == 1:
            _put(roots, root, child, grandparent, branch, survivor)
            child[parent, 0] = counters[INNER_FREE]
            counters[INNER_FREE] = parent


@njit(cache=True)
def search(pool, care, value, event, root, stack, out):
    """The rows of one tree an event meets, into `out`; returns how many."""
    _counters, roots, tested, child, head, _count, entry_row, entry_next = pool
    words = care.shape[1]
    found = 0
    stack[0] = roots[root]
    depth = 1
    while depth > 0:
        depth -= 1
        at = stack[depth]
        if at >= 0:
            place = tested[at]
            asked = child[at, np.int64((event[place >> 6] >> np.uint64(place & 63)) & np.uint64(1))]
            either = child[at, 2]
            if asked != -1:
                stack[depth] = asked
                depth += 1
            if either != -1:
                stack[depth] = either
                depth += 1
        elif at <= -2:
            entry = head[-at - 2]
            while entry >= 0:
                row = entry_row[entry]
                meets = True
                for w in range(words):
                    if event[w] & care[row, w] != value[row, w]:
                        meets = False
                        break
                if meets:
                    out[found] = row
                    found += 1
                entry = entry_next[entry]
    return found
