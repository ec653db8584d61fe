"""Numba kernels of the top-k engine: candidate lists, and settling what changed.

An entry of a candidate list is one publication seen by one subscription. Entries are in order of rank:
the smaller value first, ties to the later time, then to the later arrival. `better(a, b)` is that order.

A subscription's region ends at a bound (value, time, publication). Its list holds every publication in
the region that fewer than k better ones outlive (the k-skyband of Mouratidis, Bakiras and Papadias,
"Continuous Monitoring of Top-k Queries over Sliding Windows", SIGMOD 2006); what k better ones outlive
can never be among the k best.
"""

# The kernels are typed by numba, from what they are called with.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

import numpy as np

from likewise.kernels.compile import kernel
from likewise.kernels.sorting import value_of_rank
from likewise.matching.topk.region_kernels import find_regions, note_bound, rank

COUNTED, TIMED, ENDLESS = 0, 1, 2  # kinds of windows
REDRAW = 4  # arrivals in a region, in multiples of what it spans, after which it is drawn anew


@kernel
def better(value, time, number, other_value, other_time, other_number):
    """Return whether the first publication ranks before the second."""
    if value != other_value:
        return value < other_value
    if time != other_time:
        return time > other_time
    return number > other_number


@kernel
def outlives(window, time, number, other_time, other_number):
    """Return whether the first publication stays in the window at least as long as the second."""
    if window == COUNTED:
        return number >= other_number
    return window == ENDLESS or time >= other_time


@kernel
def _place(value, time, number, start, length, entries):
    """Where a publication stands, or would stand, in a list."""
    e_value, e_time, e_number, _, _ = entries
    low, high = 0, length
    while low < high:
        middle = (low + high) // 2
        at = start + middle
        if better(e_value[at], e_time[at], e_number[at], value, time, number):
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _move(entries, source, target):
    e_value, e_time, e_number, e_outlived, e_done = entries
    e_value[target] = e_value[source]
    e_time[target] = e_time[source]
    e_number[target] = e_number[source]
    e_outlived[target] = e_outlived[source]
    e_done[target] = e_done[source]


@kernel
def _drop(slot, at, start, length, entries):
    """Take one entry out of a list."""
    for i in range(start + at, start + length[slot] - 1):
        _move(entries, i + 1, i)
    length[slot] -= 1


@kernel
def take_out(slot, value, time, number, start, length, entries):
    """Take a publication out of a list; whether it was there."""
    at = _place(value, time, number, start, length[slot], entries)
    if at < length[slot] and entries[2][start + at] == number:
        _drop(slot, at, start, length, entries)
        return True
    return False


@kernel
def put_in(slot, value, time, number, window, k, keep, capacity, start, length, entries, bounds, faded):
    """Put a publication of the region into a list; what k better ones outlive leaves it.

    A full list is cut to its best `keep` entries, which ends the region there. What leaves the list and was
    delivered is written to `faded` (how many), so that it is not delivered again should it come back.
    """
    e_value, e_time, e_number, e_outlived, e_done = entries
    bound, bound_time, bound_number = bounds
    count = 0
    if length[slot] == capacity:
        for i in range(start + keep, start + length[slot]):
            if e_done[i]:
                faded[count] = e_number[i]
                count += 1
        length[slot] = keep
        last = start + keep - 1
        bound[slot], bound_time[slot], bound_number[slot] = e_value[last], e_time[last], e_number[last]
        if not better(value, time, number, e_value[last], e_time[last], e_number[last]):
            return count
    at = _place(value, time, number, start, length[slot], entries)
    outlived = 0
    for i in range(start, start + at):
        if outlives(window, e_time[i], e_number[i], time, number):
            outlived += 1
    if outlived >= k:
        return count
    for i in range(start + length[slot], start + at, -1):
        _move(entries, i - 1, i)
    e_value[start + at], e_time[start + at], e_number[start + at] = value, time, number
    e_outlived[start + at], e_done[start + at] = outlived, 0
    length[slot] += 1
    position = start + at + 1
    for i in range(start + at + 1, start + length[slot]):
        if outlives(window, time, number, e_time[i], e_number[i]):
            e_outlived[i] += 1
        if e_outlived[i] < k:
            if position != i:
                _move(entries, i, position)
            position += 1
        elif e_done[i]:
            faded[count] = e_number[i]
            count += 1
    length[slot] = position - start
    return count


@kernel
def refill(slot, log, since, centre, shared, sign, window, k, keep, start, length, entries, bounds, done_before):
    """Make a list anew from the window's publications: the best `keep` of them, less what k better ones outlive.

    Afterwards `done_before` begins with what was delivered and left the list; returns how many.
    """
    l_values, l_time, l_alive, base = log
    e_value, e_time, e_number, e_outlived, e_done = entries
    bound, bound_time, bound_number = bounds
    before = length[slot]
    for i in range(before):
        done_before[i] = e_number[start + i] if e_done[start + i] else -1
    size = len(l_time)
    ranks = np.empty(size)
    count = 0
    for i in range(max(0, since - base), size):
        if l_alive[i]:
            value = rank(l_values[i], centre, shared, sign)
            if value == value:  # a NaN is no candidate
                ranks[count] = value
                count += 1
    limit = np.inf
    if count > keep:
        limit = value_of_rank(ranks, count, keep - 1)
    # The best `keep` in order; equal values at the end are settled by recency.
    chosen = 0
    for i in range(size - 1, max(0, since - base) - 1, -1):
        if not l_alive[i]:
            continue
        value = rank(l_values[i], centre, shared, sign)
        if not value <= limit:
            continue
        at = _place(value, l_time[i], i + base, start, chosen, entries)
        if at >= keep:
            continue
        for j in range(min(chosen, keep - 1), at, -1):
            _move(entries, start + j - 1, start + j)
        e_value[start + at], e_time[start + at], e_number[start + at] = value, l_time[i], i + base
        chosen = min(chosen + 1, keep)
    if count > keep:
        last = start + keep - 1
        bound[slot], bound_time[slot], bound_number[slot] = e_value[last], e_time[last], e_number[last]
    else:
        bound[slot], bound_time[slot], bound_number[slot] = np.inf, 0, 0
    position = start
    for i in range(start, start + chosen):
        outlived = 0
        for j in range(start, i):
            # entries that were dropped here are outlived by k others, which outlive this one too if they do
            if j < position and outlives(window, e_time[j], e_number[j], e_time[i], e_number[i]):
                outlived += 1
        if outlived < k:
            _move(entries, i, position)
            e_outlived[position], e_done[position] = outlived, 0
            for j in range(before):
                if done_before[j] == e_number[position]:
                    e_done[position] = 1
                    done_before[j] = -1
            position += 1
    length[slot] = position - start
    faded = 0
    for j in range(before):
        if done_before[j] >= 0:
            done_before[faded] = done_before[j]
            faded += 1
    return faded


@kernel
def step(
    removed,
    arriving,
    forced,
    log,
    window,
    shared,
    sign,
    subs,
    starts,
    lengths,
    entries,
    bounds,
    tree,
    tail,
    touched,
    marks,
    out,
    faded_out,
):
    """Publications leave, one arrives, and every list they concern is settled.

    `gone` are the indices in the log of what leaves, `arriving` that of what arrives (-1: nothing). With
    `forced` a list is made anew even if it is long enough (something was withdrawn). Deliveries go to
    `out` as (slot, publication), what faded to `faded_out`; returns (deliveries, faded, refills).
    """
    l_values, l_time, _, base = log
    k, keep, capacity, since, entered, centres = subs
    bound, bound_time, bound_number = bounds
    out_slot, out_number = out
    faded_slot, faded_number = faded_out
    marked = 0
    delivered, faded_count, refills = 0, 0, 0
    for index in removed:
        count = find_regions(l_values[index], shared, sign, centres, bound, tree, tail, touched[marked:])
        settled = marked
        for i in range(marked, marked + count):
            slot = touched[i]
            if index + base < since[slot]:
                continue
            value = rank(l_values[index], centres[slot], shared, sign)
            take_out(slot, value, l_time[index], index + base, starts[slot], lengths, entries)
            if marks[slot] == 0:
                marks[slot] = 1
                touched[settled] = slot
                settled += 1
        marked = settled
    if arriving >= 0:
        count = find_regions(l_values[arriving], shared, sign, centres, bound, tree, tail, touched[marked:])
        settled = marked
        scratch = np.empty(np.max(capacity) if len(capacity) else 0, np.int64)
        for i in range(marked, marked + count):
            slot = touched[i]
            value = rank(l_values[arriving], centres[slot], shared, sign)
            number, time = arriving + base, l_time[arriving]
            if number < since[slot] or (
                value == bound[slot]
                and not better(value, time, number, value, bound_time[slot], bound_number[slot])
                and bound[slot] < np.inf
            ):
                continue
            old = bound[slot]
            entered[slot] += 1
            lost = put_in(
                slot,
                value,
                time,
                number,
                window,
                k[slot],
                keep[slot],
                capacity[slot],
                starts[slot],
                lengths,
                entries,
                bounds,
                scratch,
            )
            for j in range(lost):
                faded_slot[faded_count], faded_number[faded_count] = slot, scratch[j]
                faded_count += 1
            if bound[slot] != old:
                note_bound(slot, tree, bound)
            if marks[slot] == 0:
                marks[slot] = 1
                touched[settled] = slot
                settled += 1
        marked = settled
    done_before = np.empty(np.max(capacity) if len(capacity) else 0, np.int64)
    for i in range(marked):
        slot = touched[i]
        marks[slot] = 0
        start = starts[slot]
        # A list may stay short although its region fills: after some arrivals the region is drawn anew.
        crowded = entered[slot] >= REDRAW * keep[slot]
        if forced or crowded or (lengths[slot] < k[slot] and bound[slot] < np.inf):
            lost = refill(
                slot,
                log,
                since[slot],
                centres[slot],
                shared,
                sign,
                window,
                k[slot],
                keep[slot],
                start,
                lengths,
                entries,
                bounds,
                done_before,
            )
            for j in range(lost):
                faded_slot[faded_count], faded_number[faded_count] = slot, done_before[j]
                faded_count += 1
            note_bound(slot, tree, bound)
            refills += 1
            entered[slot] = 0
        for j in range(start, start + min(k[slot], lengths[slot])):
            if entries[4][j] == 0:
                entries[4][j] = 1
                out_slot[delivered], out_number[delivered] = slot, entries[2][j]
                delivered += 1
    return delivered, faded_count, refills
