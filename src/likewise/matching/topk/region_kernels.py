"""Numba kernels of the region index: which top-k subscriptions does a publication concern?

A balanced tree over the points distances are measured from; each node knows the box of the points below it and
their widest region. A publication descends just where a region can reach it. Where all members rank alike (one
attribute, a sum, relatedness) there are no points, and a node is passed over by its widest region alone.
"""

# The kernels are typed by numba, from what they are called with.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

import numpy as np

from likewise.kernels.compile import kernel
from likewise.kernels.sorting import sorted_order

LEAF = 16  # subscriptions in a leaf: few enough to test, enough to keep the tree small


@kernel
def rank(values, centre, shared, sign):
    """Return what a publication is ranked by for a subscription; NaN if it is no candidate."""
    if shared:
        return sign * values[0]
    total = 0.0
    for i in range(len(centre)):
        total += (values[i] - centre[i]) * (values[i] - centre[i])
    return sign * np.sqrt(total) if total < np.inf else np.nan


@kernel
def build_tree(centres, slots):
    """Order the slots so that each node of a balanced binary tree covers a run of them; the boxes of the nodes.

    Node 1 is the root, node n has the children 2n and 2n+1, and the leaves are the second half.
    """
    leaves = 1
    while leaves * LEAF < len(slots):
        leaves *= 2
    order = slots.copy()
    dimensions = centres.shape[1]
    first = np.zeros(2 * leaves, np.int64)
    last = np.zeros(2 * leaves, np.int64)
    boxes = np.zeros((2 * leaves, 2, dimensions))
    last[1] = len(order)
    for node in range(1, 2 * leaves):
        a, b = first[node], last[node]
        widest, width = 0, -1.0
        for d in range(dimensions):
            low, high = np.inf, -np.inf
            for i in range(a, b):
                low = min(low, centres[order[i], d])
                high = max(high, centres[order[i], d])
            boxes[node, 0, d], boxes[node, 1, d] = low, high
            if high - low > width:
                widest, width = d, high - low
        if node < leaves:
            if dimensions > 0 and b - a > 1:
                keys = np.empty(b - a)
                run = np.empty(b - a, np.int64)
                for i in range(a, b):
                    keys[i - a] = centres[order[i], widest]
                    run[i - a] = order[i]
                ascending = sorted_order(keys)
                for i in range(a, b):
                    order[i] = run[ascending[i - a]]
            middle = (a + b + 1) // 2
            first[2 * node], last[2 * node] = a, middle
            first[2 * node + 1], last[2 * node + 1] = middle, b
    leaf_of = np.full(len(centres), -1, np.int64)
    for node in range(leaves, 2 * leaves):
        for i in range(first[node], last[node]):
            leaf_of[order[i]] = node
    return order, first, last, boxes, leaf_of


@kernel
def widest_regions(order, first, last, bound):
    """For each node the largest bound below it."""
    widest = np.full(len(first), -np.inf)
    leaves = len(first) // 2
    for node in range(len(first) - 1, 0, -1):
        if node >= leaves:
            for i in range(first[node], last[node]):
                widest[node] = max(widest[node], bound[order[i]])
        else:
            widest[node] = max(widest[2 * node], widest[2 * node + 1])
    return widest


@kernel
def note_bound(slot, tree, bound):
    """Tell the index that a subscription's bound has changed."""
    order, first, last, _, leaf_of, widest = tree
    node = leaf_of[slot] if slot < len(leaf_of) else -1
    if node < 0:
        return
    ordinals = -np.inf
    for i in range(first[node], last[node]):
        ordinals = max(ordinals, bound[order[i]])
    widest[node] = ordinals
    node //= 2
    while node >= 1:
        ordinals = max(widest[2 * node], widest[2 * node + 1])
        if widest[node] == ordinals:
            break
        widest[node] = ordinals
        node //= 2


@kernel
def find_regions(values, shared, sign, centres, bound, tree, tail, out):
    """The subscriptions whose region may hold a publication; those from `tail` on are not in the index yet."""
    order, first, last, boxes, _, widest = tree
    count = 0
    leaves = len(first) // 2
    pending = np.empty(128, np.int64)
    depth = 0
    if len(order):
        pending[0] = 1
        depth = 1
    while depth:
        depth -= 1
        node = pending[depth]
        least = -np.inf
        if shared:
            least = sign * values[0]
        elif sign > 0:
            total = 0.0
            for d in range(len(values)):
                gap = max(boxes[node, 0, d] - values[d], values[d] - boxes[node, 1, d], 0.0)
                total += gap * gap
            least = np.sqrt(total) * (1 - 1e-12)  # rounding must not hide a region
        if not least <= widest[node]:
            continue
        if node < leaves:
            pending[depth], pending[depth + 1] = 2 * node, 2 * node + 1
            depth += 2
            continue
        for i in range(first[node], last[node]):
            slot = order[i]
            if rank(values, centres[slot], shared, sign) <= bound[slot]:
                out[count] = slot
                count += 1
    for slot in range(tail, len(bound)):
        if rank(values, centres[slot], shared, sign) <= bound[slot]:
            out[count] = slot
            count += 1
    return count
