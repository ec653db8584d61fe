"""A triple automaton laid out in arrays for batches, kept up with the changes since it was made.

The triple automaton as arrays, and following many triples through it; loaded on the first batch.

States are numbered from 1, 0 is no state. `roles[0, label]` is the state after that subject, `roles[1, label]`
the one after `?` and that predicate, `roles[2, label]` the final state after `?`, `?` and that object. All other
transitions by a constant are in one open-addressing table from (state, label) to state; `rest[state]` is the
transition by `?`. A final state's subscriptions are `numbers[starts[state] : starts[state] + counts[state]]`.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# The kernels are typed by numba, from what they are called with.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.kernels.compile import kernel
from likewise.kernels.sizes import check_ids, check_lengths
from likewise.matching.graphs.triple_states import Final, First, Second, State

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
    added = 0
    for i in range(len(new_keys)):
        key = new_keys[i]
        slot = _slot(key, mask)
        while keys[slot] != key and keys[slot] != 0:
            slot = (slot + 1) & mask
        if keys[slot] == 0:
            keys[slot] = key
            added += 1
        targets[slot] = new_targets[i]
    return added


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
def follow(labels, first, roles, rest, branches, keys, targets, starts, counts, numbers, match_all, triples, out):
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
        count = 0
        if match_all > 0:
            finals[count] = match_all
            count += 1
        state = roles[2, o]
        if state > 0:
            finals[count] = state
            count += 1
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
                finals[count] = rest[state]
                count += 1
            if o > 0 and branches[state]:
                final = _step(keys, targets, mask, state, o)
                if final > 0:
                    finals[count] = final
                    count += 1
        size = 0
        for i in range(count):
            size += counts[finals[i]]
        if filled + size > len(out):
            return t, filled
        for i in range(count):
            begin = starts[finals[i]]
            for k in range(begin, begin + counts[finals[i]]):
                triples[filled] = t
                out[filled] = numbers[k]
                filled += 1
    return total, filled


_SMALLEST = 1_024  # slots of the table of transitions
_HITS = 4_096  # hits there is room for at first


class AutomatonTable:
    """The arrays described in `triple_automaton_kernels`. Changes are noted, and written before the next batch."""

    def __init__(
        self,
        after_subject: Sequence[First | None],
        after_predicate: Sequence[Second | None],
        after_object: Sequence[Final | None],
        match_all: Final | None,
        states: int,
    ) -> None:
        rows: tuple[Sequence[First | Second | Final | None], ...] = (after_subject, after_predicate, after_object)
        self._roles = np.array([[0 if state is None else state.id for state in row] for row in rows], np.int32)
        self._everything = 0 if match_all is None else match_all.id
        self._rest = np.zeros(states, np.int32)
        self._branches = np.zeros(states, bool)
        self._starts = np.zeros(states, np.int64)
        self._counts = np.zeros(states, np.int64)
        self._keys = np.zeros(_SMALLEST, np.int64)
        self._targets = np.zeros(_SMALLEST, np.int32)
        self._used = 0
        self._numbers = np.empty(0, np.int64)
        self._transitions: list[tuple[int, int]] = []  # (key, target)
        self._finals: dict[int, list[int]] = {}
        self._changes = 0
        pending: list[First | Second | Final] = [state for row in rows for state in row if state is not None]
        if match_all is not None:
            pending.append(match_all)
        while pending:  # the machine is a tree below these
            state = pending.pop()
            if not isinstance(state, State):
                self._finals[state.id] = state.numbers
                continue
            self._branches[state.id] = bool(state.next)
            self._transitions += [(state.id << 32 | label, reached.id) for label, reached in state.next.items()]
            pending.extend(state.next.values())
            if state.rest is not None:
                self._rest[state.id] = state.rest.id
                pending.append(state.rest)
        self._write()

    # -- changes --------------------------------------------------------------------------------

    def put(self, state: int, label: int, target: int, branches: int) -> None:
        """A transition by a label (or by `?`, label 0) leads to a target now, or nowhere (0)."""
        self._changes += 1
        self._grow(max(state, target))
        self._widen(label)
        if label:
            self._transitions.append((state << 32 | label, target))
            self._branches[state] = branches > 0
        else:
            self._rest[state] = target
        if target:  # a number used before may have had transitions
            self._rest[target] = 0
            self._branches[target] = False
            self._counts[target] = 0

    def put_role(self, role: int, label: int, target: int) -> None:
        """The state after a subject, predicate or object is another one now."""
        self._changes += 1
        self._grow(target)
        self._widen(label)
        self._roles[role, label] = target
        if target:
            self._rest[target] = 0
            self._branches[target] = False
            self._counts[target] = 0

    def touch(self, final: Final) -> None:
        """The numbers of a final state have changed."""
        self._changes += 1
        self._finals[final.id] = final.numbers

    def is_behind(self, states: int) -> bool:
        """Return whether so much has changed, or is left over from changes, that making it anew is cheaper."""
        return self._changes > max(_SMALLEST, 2 * states)

    def _widen(self, label: int) -> None:
        """Give a label a column in `_roles`.

        Subject, predicate and object share their labels, and the kernel reads the column of each of the three labels
        of a triple first, whatever role the pattern has given them.
        """
        if label >= self._roles.shape[1]:
            wider = np.zeros((3, max(label + 1, 2 * self._roles.shape[1])), np.int32)
            wider[:, : self._roles.shape[1]] = self._roles
            self._roles = wider

    def _grow(self, state: int) -> None:
        if state >= len(self._rest):
            more = max(state + 1, 2 * len(self._rest)) - len(self._rest)
            self._rest = np.pad(self._rest, (0, more))
            self._branches = np.pad(self._branches, (0, more))
            self._starts = np.pad(self._starts, (0, more))
            self._counts = np.pad(self._counts, (0, more))

    def _write(self) -> None:
        if self._transitions:
            self._make_room(len(self._transitions))
            new = np.array(self._transitions, np.int64)
            check_ids("states that transitions lead to", new[:, 1], len(self._rest))
            check_ids("states that transitions start from", new[:, 0] >> 32, len(self._rest))
            self._used += put_all(self._keys, self._targets, new[:, 0].copy(), new[:, 1].astype(np.int32))
            self._transitions.clear()
        if self._finals:
            total = len(self._numbers)
            for final, numbers in self._finals.items():
                self._starts[final], self._counts[final] = total, len(numbers)
                total += len(numbers)
            added = (number for numbers in self._finals.values() for number in numbers)
            more = np.fromiter(added, np.int64, total - len(self._numbers))
            self._numbers = np.concatenate([self._numbers, more])
            self._finals.clear()

    def _make_room(self, more: int) -> None:
        """Keep the table of transitions at most half full; transitions that lead nowhere are dropped then."""
        if 2 * (self._used + more) <= len(self._keys):
            return
        live = self._targets > 0
        old_keys, old_targets = self._keys[live], self._targets[live]
        size = _SMALLEST
        while size < 2 * (len(old_keys) + more):
            size *= 2
        self._keys, self._targets = np.zeros(size, np.int64), np.zeros(size, np.int32)
        self._used = put_all(self._keys, self._targets, old_keys, old_targets)

    # -- matching -------------------------------------------------------------------------------

    def follow(self, labels: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The hits of triples given as rows of three labels."""
        self._write()
        check_ids("labels of triples, columns of roles", labels, self._roles.shape[1])
        check_lengths("states", len(self._rest), self._branches, self._starts, self._counts)
        total, at = labels.shape[0], 0
        parts: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        room = max(_HITS, 2 * total)
        while at < total:
            triples, out = np.empty(room, np.int64), np.empty(room, np.int64)
            after, filled = self._follow(labels, at, triples, out)
            parts.append((triples[:filled], out[:filled]))
            room = 2 * room if after == at else room  # one triple alone may meet more than there is room for
            at = after
        if len(parts) == 1:
            return parts[0]
        empty = np.empty(0, np.int64)
        return np.concatenate([p[0] for p in parts] or [empty]), np.concatenate([p[1] for p in parts] or [empty])

    def _follow(self, labels: NDArray[np.int32], at: int, triples: Any, out: Any) -> tuple[int, int]:
        index: tuple[int, int] = follow(
            labels,
            at,
            self._roles,
            self._rest,
            self._branches,
            self._keys,
            self._targets,
            self._starts,
            self._counts,
            self._numbers,
            self._everything,
            triples,
            out,
        )
        return index
