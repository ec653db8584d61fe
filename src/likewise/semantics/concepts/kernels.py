"""Compiled comparison of the facets of many names; `agreement` is the plain form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

if TYPE_CHECKING:
    from likewise.semantics.concepts.sides import FacetArrays

_SAME, _NARROWER, _BROADER, _EXCLUDES = 1, 2, 3, 4
_LISTED, _KNOWN = 2, 1


@numba.njit(cache=True, nogil=True)
def agreements(
    base: Any, a: FacetArrays, s: FacetArrays, kind_relations: Any, qualifier_relations: Any, words: Any, ratio: Any, w: Any
) -> Any:
    """The score of every pair: the better of `base` and their agreement, times what is left for their differences.

    `words` holds the relatedness of the asked words and the seen ones; `w` the weights in `FacetWeights`' order.
    """
    rows, columns = base.shape
    out = np.empty((rows, columns), dtype=np.float32)
    most = 0
    for j in range(columns):
        most = max(most, s.qualifier_ends[j] - (s.qualifier_ends[j - 1] if j else 0))
    matched = np.zeros(most, dtype=np.uint8)
    for i in range(rows):
        ak0, ak1 = (a.kind_ends[i - 1] if i else 0), a.kind_ends[i]
        aq0, aq1 = (a.qualifier_ends[i - 1] if i else 0), a.qualifier_ends[i]
        an0, an1 = (a.number_ends[i - 1] if i else 0), a.number_ends[i]
        for j in range(columns):
            sk0, sk1 = (s.kind_ends[j - 1] if j else 0), s.kind_ends[j]
            best = np.float32(0.0)
            for k in range(ak0, ak1):
                for m in range(sk0, sk1):
                    found = kind_relations[a.kinds[k], s.kinds[m]]
                    if found == _SAME:
                        best = np.float32(1.0)
                    elif found == _NARROWER:
                        best = max(best, w.narrower)
                    elif found == _BROADER:
                        best = max(best, w.broader)
            if best == 0.0 and a.roles[i] != 0 and a.roles[i] == s.roles[j]:
                best = w.role_alone if a.role_alone[i] else w.broader if s.role_alone[j] else np.float32(0.0)
            several = w.ambiguous if ak1 - ak0 > 1 or sk1 - sk0 > 1 else np.float32(1.0)
            score = w.agreement * best * several * a.certainty[i] * s.certainty[j]
            left = np.float32(1.0)
            if ak1 > ak0 and sk1 > sk0 and score == 0.0:
                left *= w.disjoint if a.sure[i] and s.sure[j] else w.disjoint_weak
            if a.roles[i] != s.roles[j]:
                if a.measured[i] and s.measured[j]:
                    if a.roles[i] != 0 and s.roles[j] != 0:
                        left *= w.statistics
                    else:
                        left *= w.average if a.averaged[i] or s.averaged[j] else w.statistic
                else:
                    left *= w.role
            ad, sd = a.units[i], s.units[j]
            if (
                (ad != 0 and sd != 0 and ad != sd)
                or (sd != 0 and sd != ratio and a.dimensions[i] != 0 and a.dimensions[i] & sd == 0)
                or (ad != 0 and ad != ratio and s.dimensions[j] != 0 and s.dimensions[j] & ad == 0)
            ):
                left *= w.dimension
            if a.quantity[i] and s.other[j]:
                left *= w.text
            sq0, sq1 = (s.qualifier_ends[j - 1] if j else 0), s.qualifier_ends[j]
            matched[:] = 0
            for q in range(aq0, aq1):  # first everything that is the same, since that excludes nothing
                for r in range(sq0, sq1):
                    if _relation(a, q, s, r, qualifier_relations, words, w.same_word) == _SAME:
                        matched[r - sq0] = 1
            for q in range(aq0, aq1):
                same, against = False, False
                for r in range(sq0, sq1):
                    found = _relation(a, q, s, r, qualifier_relations, words, w.same_word)
                    if found == _SAME:
                        same = True
                        break
                    if found == _EXCLUDES and matched[r - sq0] != 1:
                        against = True
                if same:
                    continue
                if against:
                    left *= w.excluded
                    for r in range(sq0, sq1):
                        if matched[r - sq0] == 0 and (
                            _relation(a, q, s, r, qualifier_relations, words, w.same_word) == _EXCLUDES
                        ):
                            matched[r - sq0] = 2
                elif a.standings[q] == _LISTED and _meant(a, i, s, j, a.qualifiers[q]):
                    left *= w.covered
                else:
                    left *= w.absent if a.standings[q] == _LISTED else w.absent_word if a.standings[q] == _KNOWN else w.absent_unknown
            for r in range(sq0, sq1):
                if matched[r - sq0] != 0 or (s.standings[r] == _LISTED and _meant(a, i, s, j, s.qualifiers[r])):
                    continue
                if s.outer[r]:
                    if s.standings[r] == _LISTED:
                        left *= w.outer
                elif s.standings[r] == _LISTED:
                    left *= w.unasked
                elif s.standings[r] == _KNOWN:
                    left *= w.unasked_word
            if an1 > an0:
                sn0, sn1 = (s.number_ends[j - 1] if j else 0), s.number_ends[j]
                common = False
                for k in range(an0, an1):
                    for m in range(sn0, sn1):
                        common = common or a.numbers[k] == s.numbers[m]
                if not common:
                    left *= w.number_differs if sn1 > sn0 else w.number_absent
            out[i, j] = max(base[i, j], score) * left
    return out


@numba.njit(cache=True, nogil=True)
def _relation(a: Any, q: Any, s: Any, r: Any, relations: Any, words: Any, same_word: Any) -> Any:
    """How an asked qualifier and a seen one relate: the same, excluding each other, or neither."""
    if a.qualifiers[q] == s.qualifiers[r]:
        return _SAME
    if a.standings[q] == _LISTED and s.standings[r] == _LISTED:
        found = relations[a.qualifiers[q], s.qualifiers[r]]
        return _SAME if found == _NARROWER else np.int64(found)
    if a.words[q] >= 0 and s.words[r] >= 0 and words[a.words[q], s.words[r]] >= same_word:
        return _SAME
    return 0


@numba.njit(cache=True, nogil=True)
def _meant(a: Any, i: Any, s: Any, j: Any, qualifier: Any) -> Any:
    """Whether an unqualified name of either side's kinds has a listed qualifier anyway."""
    block, bit = qualifier >> 6, np.uint64(1) << np.uint64(qualifier & 63)
    return (a.defaults[i, block] | s.defaults[j, block]) & bit != 0
