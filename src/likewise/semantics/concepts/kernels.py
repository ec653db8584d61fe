"""Compiled comparison of the facets of many names: the one implementation of the rule, and the codes of its reasons.

For one pair it notes each factor with the code of its reason and the places of the two qualifiers that it is about;
`comparison` has the words for them.

`word_agreements` and `word_relations` compare single words by the names of vocabularies (`name_agreement`).
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# The kernels are typed by numba, from what they are called with.
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.kernels.compile import nogil_kernel
from likewise.semantics.concepts.name_agreement import PRIOR_USES
from likewise.semantics.concepts.values import item_relations as bit

if TYPE_CHECKING:
    from likewise.semantics.concepts.facet_arrays import FacetArrays

# Numba kernels read plain integers: these are the codes of `tables` and `facets`.
_SAME, _NARROWER, _BROADER, _EXCLUDES, _OTHER, _SIBLINGS = 1, 2, 3, 4, 5, 6
_LISTED, _KNOWN = 2, 1
_MATCHED, _EXCLUDED, _INSTEAD = 1, 2, 3  # what became of a candidate's qualifier
# Codes of reasons, in the order of `comparison.REASONS`.
_KIND, _STATISTIC, _ROLE, _DIMENSION, _TEXT, _NAMED, _EXCLUDE, _COVERED, _ABSENT, _UNASKED, _NUMBER = range(11)


@nogil_kernel
def _note(reasons, code, factor, query, candidate):
    """Note a reason behind the others; row 0 counts them. Where no reasons are asked for there are no rows."""
    if reasons.shape[0]:
        place = int(reasons[0, 0]) + 1
        if place < reasons.shape[0]:
            reasons[0, 0] = place
            reasons[place, 0] = code
            reasons[place, 1] = factor
            reasons[place, 2] = query
            reasons[place, 3] = candidate


@nogil_kernel
def word_agreements(a, b, places):
    """Return the agreement of every query word with every candidate word through their common uses."""
    out = np.zeros((len(a.ends), len(b.ends)), np.float32)
    named = np.full(places, -1, np.int32)
    for j in range(len(b.ends)):
        begin, end = (b.ends[j - 1] if j else 0), b.ends[j]
        if begin == end:
            continue
        for k in range(begin, end):
            named[b.places[k]] = b.things[k]
        for i in range(len(a.ends)):
            votes = common = 0
            for k in range(a.ends[i - 1] if i else 0, a.ends[i]):
                thing = named[a.places[k]]
                if thing >= 0:
                    common += 1
                    votes += 1 if thing == a.things[k] else -1
            if common:
                out[i, j] = votes / (common + PRIOR_USES)
        for k in range(begin, end):
            named[b.places[k]] = -1
    return out


@nogil_kernel
def word_relations(relations, named, sure):
    """Return the relation codes that follow from item relations and from vocabulary names. Names come first."""
    out = np.zeros(relations.shape, np.uint8)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            bits = relations[i, j]
            if named[i, j] >= sure:
                out[i, j] = _SAME
            elif named[i, j] <= -sure or bits & bit.OPPOSITE:
                out[i, j] = _EXCLUDES
            elif bits & bit.SAME:
                out[i, j] = _SAME
            elif bits & bit.FAR_OPPOSITE and not bits & (bit.KIND | bit.BROADER | bit.CLOSE):
                out[i, j] = _EXCLUDES
            elif bits & bit.KIND:
                out[i, j] = _NARROWER
            elif bits & bit.SIBLING and not bits & (bit.BROADER | bit.CLOSE):
                out[i, j] = _SIBLINGS
    return out


@nogil_kernel
def facet_scores(
    base: Any,
    a: FacetArrays,
    s: FacetArrays,
    kind_relations: Any,
    qualifier_relations: Any,
    words: Any,
    known: Any,
    ratio: Any,
    w: Any,
    reasons: Any,
) -> Any:
    """Return the score of every pair: the better of `base` and their agreement, times the factors of their differences.

    `words` holds the relatedness of the asked words and the seen ones, `known` what is known about those of qualifiers
    (`open_vocabulary`); `w` are the weights. `reasons` has rows where one pair's reasons are asked for: the number of
    reasons and the agreement, then for each its code, factor, and the places of the two qualifiers.
    """
    rows, columns = base.shape
    out = np.zeros((rows, columns), dtype=np.float32)
    common = np.zeros((rows, columns), dtype=np.bool_)
    kind_ends, kinds = s.kind_ends, s.kinds
    for i in range(rows):
        k0, k1 = (a.kind_ends[i - 1] if i else 0), a.kind_ends[i]
        for j in range(columns):
            m0, m1 = (kind_ends[j - 1] if j else 0), kind_ends[j]
            best = np.float32(0.0)
            for k in range(k0, k1):
                for m in range(m0, m1):
                    relation = kind_relations[a.kinds[k], kinds[m]]
                    if relation == _SAME:
                        best = np.float32(1.0)
                    elif relation == _NARROWER:
                        best = max(best, w.narrower)
                    elif relation == _BROADER:
                        best = max(best, w.broader)
            if best == 0.0 and a.roles[i] != 0 and a.roles[i] == s.roles[j]:
                best = w.role_alone if a.role_alone[i] else w.broader if s.role_alone[j] else np.float32(0.0)
            common[i, j] = best > 0
            several = w.ambiguous if k1 - k0 > 1 or m1 - m0 > 1 else np.float32(1.0)
            score = w.agreement * best * several * a.certainty[i] * s.certainty[j]
            left = max(base[i, j], score)
            if reasons.shape[0]:
                reasons[0, 1] = score
            if k1 > k0 and m1 > m0 and best == 0.0:
                factor = w.disjoint if a.sure[i] and s.sure[j] else w.disjoint_weak
                left *= factor
                _note(reasons, _KIND, factor, -1, -1)
            if a.roles[i] != s.roles[j] and not (a.is_reading[i] and s.is_reading[j]):
                if not (a.measured[i] and s.measured[j]):
                    left *= w.role
                    _note(reasons, _ROLE, w.role, -1, -1)
                else:
                    factor = w.statistics
                    if a.roles[i] == 0 or s.roles[j] == 0:
                        factor = w.average if a.averaged[i] or s.averaged[j] else w.statistic
                    left *= factor
                    _note(reasons, _STATISTIC, factor, -1, -1)
            ad, sd = a.units[i], s.units[j]
            if (
                (ad != 0 and sd != 0 and ad != sd)
                or (sd != 0 and sd != ratio and a.dimensions[i] != 0 and a.dimensions[i] & sd == 0)
                or (ad != 0 and ad != ratio and s.dimensions[j] != 0 and s.dimensions[j] & ad == 0)
            ):
                left *= w.dimension
                _note(reasons, _DIMENSION, w.dimension, -1, -1)
            if a.quantity[i] and s.other[j]:
                left *= w.text
                _note(reasons, _TEXT, w.text, -1, -1)
            out[i, j] = left
    _qualifiers(out, common, a, s, qualifier_relations, words, known, w, reasons)
    _numbers(out, a.number_ends, a.numbers, s.number_ends, s.numbers, w.number_absent, w.number_differs, reasons)
    return out


@nogil_kernel
def _qualifiers(
    out: Any, common: Any, a: Any, s: Any, relations: Any, words: Any, known: Any, w: Any, reasons: Any
) -> None:
    """Multiply scores by the factors of qualifiers that exclude each other, are missing, or are only on the candidate.

    Words for different kinds of one thing tell names apart that have something else in common (`common`: their kinds).
    """
    rows, columns = out.shape
    a_ends, a_ids, a_sources, a_words, a_defaults = a.qualifier_ends, a.qualifiers, a.sources, a.words, a.defaults
    s_ends, s_ids, s_sources, s_words, s_defaults = s.qualifier_ends, s.qualifiers, s.sources, s.words, s.defaults
    most_query, most_candidate = 0, 0
    for i in range(rows):
        most_query = max(most_query, a_ends[i] - (a_ends[i - 1] if i else 0))
    for j in range(columns):
        most_candidate = max(most_candidate, s_ends[j] - (s_ends[j - 1] if j else 0))
    fates = np.zeros(most_candidate, dtype=np.uint8)
    relations_of_pair = np.zeros((most_query, most_candidate), dtype=np.uint8)
    same = np.zeros(most_query, dtype=np.uint8)
    for i in range(rows):
        q0, q1 = (a_ends[i - 1] if i else 0), a_ends[i]
        for j in range(columns):
            r0, r1 = (s_ends[j - 1] if j else 0), s_ends[j]
            left = out[i, j]
            if left == 0.0 or (q0 == q1 and r0 == r1):
                continue
            for r in range(r1 - r0):
                fates[r] = 0
            shared = common[i, j]
            for q in range(q0, q1):
                for r in range(r0, r1):
                    shared = shared or a_ids[q] == s_ids[r]
            for q in range(q0, q1):
                same[q - q0] = 0
                for r in range(r0, r1):
                    relation = np.uint8(0)
                    if a_ids[q] == s_ids[r]:
                        relation = np.uint8(_SAME)
                    elif a_sources[q] == _LISTED and s_sources[r] == _LISTED:
                        relation = relations[a_ids[q], s_ids[r]]
                    elif a.open_words[q] >= 0 and s.open_words[r] >= 0:
                        relation = known[a.open_words[q], s.open_words[r]]
                        if relation == _SIBLINGS and not shared:
                            relation = np.uint8(0)
                        if relation == 0 and a_words[q] >= 0 and s_words[r] >= 0:
                            relation = np.uint8(words[a_words[q], s_words[r]] >= w.same_word)
                    if relation in (_SAME, _NARROWER):
                        same[q - q0] = 1
                        fates[r - r0] = _MATCHED
                    relations_of_pair[q - q0, r - r0] = relation
            # A name that says of nothing else which one it is may well be the one that was asked for.
            silent = True
            specific = False
            for r in range(r0, r1):
                if s_sources[r] == _LISTED and not s.outer[r]:
                    if fates[r - r0] != _MATCHED:
                        silent = False
                    else:
                        block, bit = s_ids[r] >> 6, np.uint64(1) << np.uint64(s_ids[r] & 63)
                        specific = specific or s_defaults[j, block] & bit == 0
            elsewhere = False  # the asked one is only what an unqualified name means, and this name has other words
            for q in range(q0, q1):
                if same[q - q0]:
                    if reasons.shape[0]:
                        for r in range(r0, r1):
                            if relations_of_pair[q - q0, r - r0] in (_SAME, _NARROWER):
                                _note(reasons, _NAMED, np.float32(1.0), q - q0, r - r0)
                    continue
                against, other = np.uint8(0), -1
                for r in range(r1 - r0):
                    relation = relations_of_pair[q - q0, r]
                    if relation in (_EXCLUDES, _SIBLINGS) and fates[r] != _MATCHED:
                        if against == 0 or relation < against:
                            against, other = relation, r
                        fates[r] = _EXCLUDED
                block, bit = a_ids[q] >> 6, np.uint64(1) << np.uint64(a_ids[q] & 63)
                if against:
                    factor, code = (w.excluded if against == _EXCLUDES else w.sibling), _EXCLUDE
                elif a_sources[q] == _LISTED and (a_defaults[i, block] | s_defaults[j, block]) & bit != 0:
                    factor, code = w.covered, _COVERED
                    elsewhere = True
                    for r in range(r1 - r0):
                        if relations_of_pair[q - q0, r] == _OTHER and fates[r] == 0:
                            fates[r] = _INSTEAD
                elif a_sources[q] == _LISTED:
                    likely = silent and (not s.has_default[j] or (specific and a.loose[q]))
                    factor, code = (w.silent if likely else w.absent), _ABSENT
                else:
                    factor, code = (w.absent_word if a_sources[q] == _KNOWN else w.absent_unknown), _ABSENT
                left *= factor
                _note(reasons, code, factor, q - q0, other)
            unasked = 0
            outer = False
            for r in range(r0, r1):
                if fates[r - r0] in (_MATCHED, _EXCLUDED):
                    continue
                factor = np.float32(1.0)
                if s_sources[r] == _LISTED:
                    block, bit = s_ids[r] >> 6, np.uint64(1) << np.uint64(s_ids[r] & 63)
                    if (a_defaults[i, block] | s_defaults[j, block]) & bit != 0:
                        continue
                    if s.outer[r]:
                        factor = np.float32(1.0) if outer else w.outer  # a long path is one place
                        outer = True
                    elif fates[r - r0] == _INSTEAD:
                        factor = w.instead
                    elif s.loose[r]:
                        factor = w.unasked_word
                    else:  # a second one tells little more: the outdoor air's is one thing
                        factor = w.unasked_word if unasked else w.unasked
                        unasked += 1
                elif s_sources[r] == _KNOWN and not s.outer[r]:
                    factor = w.instead_word if elsewhere else w.unasked_word
                else:
                    continue
                left *= factor
                _note(reasons, _UNASKED, factor, -1, r - r0)
            out[i, j] = left


@nogil_kernel
def _numbers(
    out: Any, query_ends: Any, query: Any, candidate_ends: Any, candidate: Any, absent: Any, differs: Any, reasons: Any
) -> None:
    """Multiply scores of pairs whose index or size is missing or different."""
    for i in range(out.shape[0]):
        k0, k1 = (query_ends[i - 1] if i else 0), query_ends[i]
        if k0 == k1:
            continue
        for j in range(out.shape[1]):
            m0, m1 = (candidate_ends[j - 1] if j else 0), candidate_ends[j]
            common = False
            for k in range(k0, k1):
                for m in range(m0, m1):
                    common = common or query[k] == candidate[m]
            if not common:
                factor = differs if m1 > m0 else absent
                out[i, j] *= factor
                _note(reasons, _NUMBER, factor, -1, -1)
