"""The triple automaton as arrays, and following many triples through it; loaded on the first batch.

States are numbered from 1, 0 is no state. `roles[0, label]` is the state after that subject, `roles[1, label]`
the one after `?` and that predicate, `roles[2, label]` the final state after `?`, `?` and that object. All other
transitions by a constant are in one open-addressing table from (state, label) to state; `rest[state]` is the
transition by `?`. A final state's subscriptions are `numbers[starts[state] : starts[state] + counts[state]]`.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Numba infers the types; annotations would not be checked.

from __future__ import annotations

import numpy as np

from likewise.kernels.compile import kernel

FINALS = 8  # the eight kinds of patterns, so at most eight final states for a triple


@kernel
def _slot(key, mask):
    """Where to look for a key first: its bits mixed by a multiplication (Knuth, vol. 3, 6.4)."""
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64(mixed >> np.uint64(20)) & mask


@kernel
def put_all(keys, targets, new_keys, new_targets):
    """Set transitions, later ones over earlier ones; how many slots came into use. The table must have room."""
    mask = len(keys) - 1
    taken = 0
    for i in range(len(new_keys)):
        key = new_keys[i]
        slot = _slot(key, mask)
        while keys[slot] != key and keys[slot] != 0:
            slot = (slot + 1) & mask
        if keys[slot] == 0:
            keys[slot] = key
            taken += 1
        targets[slot] = new_targets[i]
    return taken


@kernel
def _step(keys, targets, mask, state, label):
    key = (np.int64(state) << 32) | label
    slot = _slot(key, mask)
    while keys[slot] != 0:
        if keys[slot] == key:
            return targets[slot]
        slot = (slot + 1) & mask
    return np.int32(0)


@kernel
def follow(labels, first, roles, rest, branches, keys, targets, starts, counts, numbers, everything, triples, out):
    """Triples from `first` on, until the output is full: the next triple to do, and how many hits there are.

    `labels` has a row of three for each triple, 0 for a constant of no pattern;
    `branches[state]` tells whether the state has any transition by a constant.
    """
    mask = len(keys) - 1
    finals = np.empty(FINALS, np.int32)
    filled = 0
    total = labels.shape[0]
    for t in range(first, total):
        s, p, o = labels[t, 0], labels[t, 1], labels[t, 2]
        found = 0
        if everything > 0:
            finals[found] = everything
            found += 1
        state = roles[2, o]
        if state > 0:
            finals[found] = state
            found += 1
        for path in range(3):
            if path == 0:
                state = roles[1, p]
            else:
                after = roles[0, s]
                if after == 0:
                    break
                if path == 1:
                    state = rest[after]
                else:
                    state = np.int32(0)
                    if p > 0 and branches[after]:
                        state = _step(keys, targets, mask, after, p)
            if state == 0:
                continue
            if rest[state] > 0:
                finals[found] = rest[state]
                found += 1
            if o > 0 and branches[state]:
                final = _step(keys, targets, mask, state, o)
                if final > 0:
                    finals[found] = final
                    found += 1
        size = 0
        for i in range(found):
            size += counts[finals[i]]
        if filled + size > len(out):
            return t, filled
        for i in range(found):
            begin = starts[finals[i]]
            for k in range(begin, begin + counts[finals[i]]):
                triples[filled] = t
                out[filled] = numbers[k]
                filled += 1
    return total, filled
