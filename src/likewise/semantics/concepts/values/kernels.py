"""Compiled rules for all pairs of values, on top of the relations of their items (`item_relations`).

Hard facts decide first, then evidence for sameness, then soft exclusions (`judge` says what each is worth).
"""

# The kernels are typed by numba, from what they are called with.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

import numpy as np

from likewise.kernels.compile import inlined, nogil_kernel
from likewise.semantics.concepts.values.item_relations import (
    BROADER,
    CLOSE,
    FAR_OPPOSITE,
    KIND,
    OPPOSITE,
    PART,
    PART_OF_KIND,
    SAME,
    SIBLING,
    WHOLE,
)
from likewise.semantics.concepts.values.states import GENERIC, PRESENT

MOST = 64  # items of a value that are compared
# What was decided about a pair.
(
    NOTHING,
    SPELLED,
    STATES,
    OTHER_STATE,
    OTHER_CODE,
    OPPOSED,
    OVER,
    OTHER_NAME,
    SAME_MEANING,
    KIND_OF,
    PART_OF,
    NEAR_BROADER,
    NO_CODE,
    SIBLINGS,
    WHOLE_OF,
    FAR_BROADER,
    UNRELATED_STATE,
    ACRONYM,
    OTHER_FORMULA,
    NOT_YET,
    OTHER_HEAD,
) = range(21)


@inlined
def _codes(a, i, b, j):
    """Return 0: no objection, 1: another code, 2: the query has a code and the candidate none, 3: equal codes."""
    begin_a, end_a = (a.code_ends[i - 1] if i else 0), a.code_ends[i]
    begin_b, end_b = (b.code_ends[j - 1] if j else 0), b.code_ends[j]
    if begin_a == end_a:
        return 0
    if begin_b == end_b:
        return 2
    for x in range(begin_a, end_a):
        anywhere = same_word = named = False
        for y in range(begin_b, end_b):
            equal = (
                a.codes[x, 0] == b.codes[y, 0]
                or (a.codes[x, 1] != 0 and a.codes[x, 1] == b.codes[y, 0])
                or (b.codes[y, 1] != 0 and a.codes[x, 0] == b.codes[y, 1])
            )
            anywhere |= equal
            if a.codes[x, 2] != 0 and a.codes[x, 2] == b.codes[y, 2]:
                named = True
                same_word |= equal
        if not anywhere or (named and not same_word):
            return 1
    return 3


@inlined
def _state(a, i, b, j):
    """Return 1: the same state, -1: the opposite, -2: a state that the candidate attribute does not have, 0: no states.

    -3: both say no more than that what their attributes name is so, or is not.
    """
    yes, no, other_yes, other_no = a.states[i, 0], a.states[i, 1], b.states[j, 0], b.states[j, 1]
    if not (yes | no) or not (other_yes | other_no):
        return 0
    generic = ~np.int64(GENERIC)
    if a.placed[i] and b.placed[j]:
        generic = ~np.int64(GENERIC | PRESENT)  # every true attribute says that there is what it names
    if ((yes & other_no) | (no & other_yes)) & generic:
        return -1
    if ((yes & other_yes) | (no & other_no)) & generic:
        return 1
    if a.placed[i] and b.placed[j]:
        return -3
    if (yes & other_no & 1) or (no & other_yes & 1):
        return -1
    if (yes & other_yes & 1) or (no & other_no & 1):
        return 1
    if not (yes | no) & 1 and not (other_yes | other_no) & 1:
        return 0  # two states of different kinds
    if (b.placed[j] and (other_yes | other_no) & 1) or (a.placed[i] and (yes | no) & 1):
        return -2
    return 1 if (yes > 0) == (other_yes > 0) else -1


@inlined
def _odd_negations(a, i, matched, count, both):
    """Return whether an odd number of a value's negations concerns words that both values have."""
    odd = False
    for k in range(a.negated_ends[i - 1] if i else 0, a.negated_ends[i]):
        place = min(a.negated[k], count - 1)
        if both or place < 0 or matched[place]:
            odd = not odd
    return odd


@inlined
def _opposed(a, i, b, j, relations, matched_a, matched_b):
    """Return 1: one value denies the other, 2: opposites and negations cancel, 0: neither."""
    begin_a, begin_b = (a.word_ends[i - 1] if i else 0), (b.word_ends[j - 1] if j else 0)
    n, m = min(a.word_ends[i] - begin_a, MOST), min(b.word_ends[j] - begin_b, MOST)
    matched_a[:n], matched_b[:m] = False, False
    for x in range(n):  # what both say
        for y in range(m):
            bits = relations[a.word[begin_a + x], b.word[begin_b + y]]
            if bits & (SAME | CLOSE) and not bits & OPPOSITE and not matched_b[y] and not matched_a[x]:
                matched_a[x] = matched_b[y] = True
    opposed = 0
    for x in range(n):
        for y in range(m):
            bits = relations[a.word[begin_a + x], b.word[begin_b + y]]
            if (
                not matched_a[x]
                and not matched_b[y]
                and (bits & OPPOSITE or (bits & FAR_OPPOSITE and not bits & (KIND | BROADER)))
            ):
                matched_a[x] = matched_b[y] = True
                opposed += 1
    for x in range(n):
        for y in range(m):
            if (
                not matched_a[x]
                and not matched_b[y]
                and relations[a.word[begin_a + x], b.word[begin_b + y]] & (KIND | BROADER)
            ):
                matched_a[x] = matched_b[y] = True
    negations = a.negated_ends[i] - (a.negated_ends[i - 1] if i else 0)
    others = b.negated_ends[j] - (b.negated_ends[j - 1] if j else 0)
    both = negations > 0 and others > 0
    denied = _odd_negations(a, i, matched_a, n, both) != _odd_negations(b, j, matched_b, m, both)
    if (opposed % 2 == 1) != denied:
        return 1
    return 2 if opposed and denied else 0


@inlined
def _any_related(of_a, ends_a, i, of_b, ends_b, j, relations):
    """Return whether any item of one value is related to any item of the other."""
    begin_b, end_b = (ends_b[j - 1] if j else 0), ends_b[j]
    for x in range(ends_a[i - 1] if i else 0, ends_a[i]):
        row = of_a[x]
        for y in range(begin_b, end_b):
            if relations[row, of_b[y]]:
                return True
    return False


@inlined
def _unrelated(a, i, b, j, relations):
    """Return whether no known relation links two values, so that only relatedness decides."""
    if a.marked[i] or b.marked[j]:
        return False
    if _any_related(a.item, a.item_ends, i, b.item, b.item_ends, j, relations):
        return False
    return not _any_related(a.word, a.word_ends, i, b.word, b.word_ends, j, relations)


@inlined
def _not_yet(a, i, b, j):
    """Return whether one value awaits what the other reports as done, in a word that the first does not have."""
    if a.awaited[i] == b.awaited[j]:
        return False
    awaiting, place, done = (a, i, b.done[j]) if a.awaited[i] else (b, j, a.done[i])
    if done == 0:
        return False
    for k in range(awaiting.word_ends[place - 1] if place else 0, awaiting.word_ends[place]):
        if awaiting.items.spelling[awaiting.word[k]] == done:
            return False
    return True


@inlined
def _named_after(a, i, b, j, relations, turned):
    """Return whether a compound is only named after a thing: it has all words of the other before its last word.

    `battery` and `battery cover`. Not if the last word says what the thing is (`oak tree`).
    """
    begin_a, begin_b = (a.word_ends[i - 1] if i else 0), (b.word_ends[j - 1] if j else 0)
    end_a, last = a.word_ends[i], b.word_ends[j] - 1
    if end_a == begin_a or last - begin_b < end_a - begin_a:
        return False
    if a.items.thing[a.word[end_a - 1]] == 0 or b.items.thing[b.word[last]] < 2:
        return False
    for x in range(begin_a, end_a):
        there = False
        for y in range(begin_b, last + 1):
            bits = relations[b.word[y], a.word[x]] if turned else relations[a.word[x], b.word[y]]
            if y < last:
                there |= bits & SAME != 0
            elif bits:
                return False
        if not there:
            return False
    return True


@nogil_kernel
def score_values(a, b, relations, breadth, base, weights, score, reason):
    """Write the score of every pair and the code of the rule that decided it.

    `weights`: what is left of a score for a hard and a soft exclusion; what is reached at least by the same meaning, a
    kind, a part and a near broader word; the most kinds a near broader word has.
    """
    # Rules are tried in a fixed order, and the first that decides a pair ends it with `continue`: states and codes
    # first, because they are facts that no relatedness outweighs; then one spelling or initials; then opposites; last
    # the words that are left on both sides, counted by their relation. Numba inlines none of this into closures
    # without a cost, so the rules stay in one function.
    hard, soft, same, kind, part, near, kinds = weights
    matched_a, matched_b, covered = np.zeros(MOST, np.bool_), np.zeros(MOST, np.bool_), np.zeros(MOST, np.bool_)
    for i in range(len(a.item_ends)):
        begin_a = a.item_ends[i - 1] if i else 0
        n = min(a.item_ends[i] - begin_a, MOST)
        for j in range(len(b.item_ends)):
            begin_b = b.item_ends[j - 1] if j else 0
            m = min(b.item_ends[j] - begin_b, MOST)
            value = base[i, j]
            codes = _codes(a, i, b, j)
            state = _state(a, i, b, j)
            if state == -3:
                opposed = _opposed(a, i, b, j, relations, matched_a, matched_b)
                alike = (a.states[i, 0] & GENERIC != 0) == (b.states[j, 0] & GENERIC != 0)
                state = -1 if opposed == 1 or (opposed == 0 and not alike) else 1
            if state == -1:
                score[i, j], reason[i, j] = hard * value, OTHER_STATE
                continue
            if codes == 1:
                score[i, j], reason[i, j] = hard * value, OTHER_CODE
                continue
            if state == 1:
                score[i, j], reason[i, j] = max(value, same), STATES
                continue
            if codes == 3 and n == 0 and m == 0:  # nothing but numbers: 1500 m, 1.5 km
                score[i, j], reason[i, j] = max(value, same), SPELLED
                continue
            if a.spelled[i, 0] != 0 and a.spelled[i, 0] == b.spelled[j, 0]:
                score[i, j], reason[i, j] = max(value, same), SPELLED
                continue
            if (a.spelled[i, 1] != 0 and a.spelled[i, 1] == b.spelled[j, 2]) or (
                b.spelled[j, 1] != 0 and b.spelled[j, 1] == a.spelled[i, 2]
            ):
                score[i, j], reason[i, j] = max(value, kind), ACRONYM
                continue
            if codes != 2 and state != -2 and _unrelated(a, i, b, j, relations):
                score[i, j] = value
                continue
            opposed = _opposed(a, i, b, j, relations, matched_a, matched_b)
            if opposed == 1:
                score[i, j], reason[i, j] = hard * value, OPPOSED
                continue
            matched_a[:n], matched_b[:m], covered[:n] = False, False, False
            equal = 0
            for x in range(n):  # what both say; where opposites and negations cancel, these too
                for y in range(m):
                    bits = relations[a.item[begin_a + x], b.item[begin_b + y]]
                    if matched_a[x] or matched_b[y] or (bits & OPPOSITE and opposed != 2):
                        continue
                    if a.items.formula[a.item[begin_a + x]] and b.items.formula[b.item[begin_b + y]]:
                        bits &= (
                            SAME
                            if a.items.spelling[a.item[begin_a + x]] == b.items.spelling[b.item[begin_b + y]]
                            else 0
                        )
                    if bits & (SAME | CLOSE) or (opposed == 2 and bits & (OPPOSITE | FAR_OPPOSITE)):
                        matched_a[x] = matched_b[y] = covered[x] = True
                        equal += 1
            lower = parts = wholes = broader = siblings = names = formulas = 0
            for x in range(n):
                if matched_a[x]:
                    continue
                p = a.item[begin_a + x]
                for y in range(m):
                    if matched_b[y]:
                        continue
                    q = b.item[begin_b + y]
                    bits = relations[p, q]
                    if a.items.formula[p] and b.items.formula[q]:
                        formulas += 1
                    elif bits & KIND:
                        covered[x] = True
                        lower += 1
                    elif bits & (PART | PART_OF_KIND):
                        covered[x] = True
                        parts += 1
                    elif bits & BROADER:
                        broader = max(broader, breadth[p, q])
                    elif bits & WHOLE:
                        wholes += 1
                    elif a.items.formula[p] or b.items.formula[q]:
                        formulas += 1
                    elif (a.items.name[p] and b.items.name[q]) or (
                        a.items.capital[p] and b.items.capital[q] and (a.items.name[p] or b.items.name[q])
                    ):
                        names += 1
                    elif bits & SIBLING:
                        siblings += 1
                    else:
                        continue
                    matched_a[x] = matched_b[y] = True
                    break
            if a.completed[i] != b.completed[j]:
                score[i, j], reason[i, j] = hard * value, OVER
                continue
            if _not_yet(a, i, b, j):
                score[i, j], reason[i, j] = hard * value, NOT_YET
                continue
            if names:
                score[i, j], reason[i, j] = hard * value, OTHER_NAME
                continue
            if formulas:
                score[i, j], reason[i, j] = hard * value, OTHER_FORMULA
                continue
            all_covered = n > 0
            for x in range(n):
                all_covered &= covered[x]
            # The last words say what a value is, those before them which: both sides' must stand for each other.
            heads = n > 0 and m > 0 and matched_a[n - 1] and matched_b[m - 1]
            if codes == 2:
                score[i, j], reason[i, j] = soft * value, NO_CODE
            elif all_covered and heads and wholes + siblings == 0:
                reached, why = (part, PART_OF) if parts else (kind, KIND_OF) if lower or m > n else (same, SAME_MEANING)
                score[i, j], reason[i, j] = max(value, reached), why
            elif state == -2:
                score[i, j], reason[i, j] = soft * value, UNRELATED_STATE
            elif wholes:
                score[i, j], reason[i, j] = soft * value, WHOLE_OF
            elif siblings == 1 and n == m and equal == n - 1:
                score[i, j], reason[i, j] = soft * value, SIBLINGS
            elif broader and n == 1 and m == 1:
                if broader <= kinds:
                    score[i, j], reason[i, j] = max(value, near), NEAR_BROADER
                else:
                    score[i, j], reason[i, j] = soft * value, FAR_BROADER
            elif _named_after(a, i, b, j, relations, False) or _named_after(b, j, a, i, relations, True):
                score[i, j], reason[i, j] = soft * value, OTHER_HEAD
            else:
                score[i, j], reason[i, j] = value, NOTHING
