"""Numba kernels of interest vectors: search trees (`trie`) and bit planes (`bitmap`), loaded on first use.

References of a tree: -1 is an empty place, r >= 0 an inner node, r <= -2 the bucket number -r - 2. Every inner
node has at least two children that are not empty. A bucket holds up to eight rows in one stretch of
memory; rows that are all alike may be more, and then full buckets hang behind the first.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Numba infers the types; annotations would not be checked.

from __future__ import annotations

import numpy as np

from likewise.kernels.compile import kernel
from likewise.kernels.sorting import sorted_order

INNER, INNER_FREE, BUCKET, BUCKET_FREE, LIVE = range(5)
ROOM = 8  # rows of a bucket: half a cache line


# Bit planes.
WORDS = 64  # of one plane in one block: eight cache lines in a row, which memory delivers far faster than eight apart
ROWS = 64 * WORDS


@kernel
def set_row(reject, live, counts, mask, value, width, row):
    """Note in the planes what a row rejects."""
    block, word, bit = row // ROWS, row % ROWS >> 6, np.uint64(1) << np.uint64(row & 63)
    live[block, word] |= bit
    for place in range(width):
        shift = np.uint64(place & 63)
        if (mask[row, place >> 6] >> shift) & np.uint64(1):
            refused = 1 - np.int64((value[row, place >> 6] >> shift) & np.uint64(1))
            reject[block, place, refused, word] |= bit
            counts[place, refused] += 1


@kernel
def clear_row(reject, live, counts, mask, value, width, row):
    """Take back what `set_row` noted."""
    block, word, bit = row // ROWS, row % ROWS >> 6, np.uint64(1) << np.uint64(row & 63)
    live[block, word] &= ~bit
    for place in range(width):
        shift = np.uint64(place & 63)
        if (mask[row, place >> 6] >> shift) & np.uint64(1):
            refused = 1 - np.int64((value[row, place >> 6] >> shift) & np.uint64(1))
            reject[block, place, refused, word] &= ~bit
            counts[place, refused] -= 1


@kernel
def survivors(reject, live, counts, event, used, out):
    """The rows no plane the event chooses rejects, ascending, into `out`; returns how many."""
    width = len(counts)
    values = np.empty(width, np.int64)
    rejected = np.empty(width)  # as other callers of `sorted_order` have their keys, so that it is compiled once
    useful = 0
    for place in range(width):
        values[place] = np.int64((event[place >> 6] >> np.uint64(place & 63)) & np.uint64(1))
        rejected[place] = -counts[place, values[place]]
        useful += rejected[place] < 0
    places = sorted_order(rejected)
    left = np.empty(WORDS, np.uint64)
    count = 0
    for block in range(used):
        for w in range(WORDS):
            left[w] = live[block, w]
        for choice in range(useful):
            place = places[choice]
            plane = reject[block, place, values[place]]
            any_left = np.uint64(0)
            for w in range(WORDS):
                left[w] &= ~plane[w]
                any_left |= left[w]
            if any_left == 0:
                break
        for w in range(WORDS):
            word = left[w]
            base = block * ROWS + (w << 6)
            while word:
                lowest = word & (~word + np.uint64(1))
                position = 0
                probe = lowest
                for step in (32, 16, 8, 4, 2, 1):
                    if probe >> np.uint64(step):
                        position += step
                        probe >>= np.uint64(step)
                out[count] = base + position
                count += 1
                word ^= lowest
    return count


@kernel
def _code(mask, value, row, place):
    """Return what a row asks of a property: 0, 1, or 2 for *."""
    word = place >> 6
    bit = np.uint64(place & 63)
    if (mask[row, word] >> bit) & np.uint64(1) == 0:
        return 2
    return np.int64((value[row, word] >> bit) & np.uint64(1))


@kernel
def _take(counters, used, free, chain):
    """A place from the free list, else a new one."""
    place = counters[free]
    if place >= 0:
        counters[free] = chain[place]
        return place
    counters[used] += 1
    return counters[used] - 1


@kernel
def _put(roots, root, child, parent, which, reference):
    """Let a parent's place (or the root) refer to something else."""
    if parent < 0:
        roots[root] = reference
    else:
        child[parent, which] = reference


@kernel
def _filled(total):
    """Return how many rows the first bucket of a chain holds; those behind it are full."""
    return (total - 1) % ROOM + 1


@kernel
def _push(counters, slots, total, behind, bucket, row):
    """One row more for a bucket; a full one moves its rows behind itself first."""
    if total[bucket] > 0 and total[bucket] % ROOM == 0:
        moved = _take(counters, BUCKET, BUCKET_FREE, behind)
        slots[moved] = slots[bucket]
        behind[moved] = behind[bucket]
        behind[bucket] = moved
    slots[bucket, total[bucket] % ROOM] = row
    total[bucket] += 1


@kernel
def _first_difference(slots, total, behind, bucket, row, mask, value, width, start, length):
    """The first property in cyclic order on which a row and a bucket's rows differ; -1 if all are alike."""
    words = mask.shape[1]
    differ = np.zeros(words, np.uint64)
    filled = _filled(total[bucket])
    while bucket >= 0:
        for i in range(filled):
            other = slots[bucket, i]
            for w in range(words):
                differ[w] |= (mask[row, w] ^ mask[other, w]) | (value[row, w] ^ value[other, w])
        bucket = behind[bucket]
        filled = ROOM
    place = start
    for _ in range(length):
        if (differ[place >> 6] >> np.uint64(place & 63)) & np.uint64(1):
            return place
        place += 1
        if place == width:
            place = 0
    return -1


@kernel
def _split(pool, mask, value, bucket, place):
    """A new inner node that tests a property, with a bucket's rows below it; the bucket is given back."""
    counters, _roots, tested, child, slots, total, behind = pool
    node = _take(counters, INNER, INNER_FREE, child[:, 0])
    tested[node] = place
    child[node, 0] = child[node, 1] = child[node, 2] = -1
    filled = _filled(total[bucket])
    while bucket >= 0:
        rows = slots[bucket].copy()
        following = behind[bucket]
        behind[bucket] = counters[BUCKET_FREE]
        counters[BUCKET_FREE] = bucket
        for i in range(filled):
            branch = _code(mask, value, rows[i], place)
            if child[node, branch] == -1:
                fresh = _take(counters, BUCKET, BUCKET_FREE, behind)
                total[fresh], behind[fresh] = 0, -1
                child[node, branch] = -fresh - 2
            _push(counters, slots, total, behind, -child[node, branch] - 2, rows[i])
        bucket = following
        filled = ROOM
    return node


@kernel
def insert(pool, mask, value, width, chosen, starts, lengths, row):
    """Put a row into each chosen tree. A bucket is split, once a row, when a ninth comes, else at 17, 33, ..."""
    counters, roots, tested, child, slots, total, behind = pool
    for root in chosen:
        parent, which = -1, 0
        at = roots[root]
        tried = False
        while True:
            while at >= 0:
                parent = at
                which = _code(mask, value, row, tested[at])
                at = child[at, which]
            if at == -1:
                bucket = _take(counters, BUCKET, BUCKET_FREE, behind)
                total[bucket], behind[bucket] = 0, -1
                _put(roots, root, child, parent, which, -bucket - 2)
                break
            bucket = -at - 2
            row_count = total[bucket]
            if tried or row_count < ROOM or row_count & (row_count - 1):
                break
            tried = True
            place = _first_difference(
                slots, total, behind, bucket, row, mask, value, width, starts[root], lengths[root]
            )
            if place < 0:
                break
            at = _split(pool, mask, value, bucket, place)
            _put(roots, root, child, parent, which, at)
        _push(counters, slots, total, behind, bucket, row)
        counters[LIVE] += 1


@kernel
def delete(pool, mask, value, chosen, row):
    """Take a row out of each chosen tree; an inner node left with one child makes way for it."""
    counters, roots, tested, child, slots, total, behind = pool
    for root in chosen:
        parent, which = -1, 0
        grandparent, branch = -1, 0
        at = roots[root]
        while at >= 0:
            grandparent, branch = parent, which
            parent = at
            which = _code(mask, value, row, tested[at])
            at = child[at, which]
        first = -at - 2
        last = _filled(total[first]) - 1
        bucket, filled = first, last + 1
        deleted = False
        while not deleted:
            for i in range(filled):
                if slots[bucket, i] == row:
                    slots[bucket, i] = slots[first, last]
                    deleted = True
                    break
            bucket = behind[bucket]
            filled = ROOM
        counters[LIVE] -= 1
        total[first] -= 1
        if last > 0:
            continue
        next_bucket = behind[first]
        if next_bucket >= 0:
            slots[first] = slots[next_bucket]
            behind[first] = behind[next_bucket]
        else:
            next_bucket = first
            _put(roots, root, child, parent, which, -1)
        behind[next_bucket] = counters[BUCKET_FREE]
        counters[BUCKET_FREE] = next_bucket
        if next_bucket != first or parent < 0:
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


@kernel
def search(pool, mask, value, event, root, stack, out):
    """The rows of one tree an event meets, into `out`; returns how many."""
    _counters, roots, tested, child, slots, total, behind = pool
    words = mask.shape[1]
    count = 0
    stack[0] = roots[root]
    depth = 1
    while depth > 0:
        depth -= 1
        at = stack[depth]
        if at >= 0:
            place = tested[at]
            value_asked_of = child[at, np.int64((event[place >> 6] >> np.uint64(place & 63)) & np.uint64(1))]
            either = child[at, 2]
            if value_asked_of != -1:
                stack[depth] = value_asked_of
                depth += 1
            if either != -1:
                stack[depth] = either
                depth += 1
        elif at <= -2:
            bucket = -at - 2
            filled = _filled(total[bucket])
            while bucket >= 0:
                for i in range(filled):
                    row = slots[bucket, i]
                    meets = True
                    for w in range(words):
                        if event[w] & mask[row, w] != value[row, w]:
                            meets = False
                            break
                    if meets:
                        out[count] = row
                        count += 1
                bucket = behind[bucket]
                filled = ROOM
    return count
