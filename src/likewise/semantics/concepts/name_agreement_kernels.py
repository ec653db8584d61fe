"""Compiled comparison of many words by where vocabularies use them (`name_agreement`), and what follows for
qualifiers.
"""

# The kernels are typed by numba, from what they are called with.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

import numpy as np

from likewise.kernels.compile import unlocked
from likewise.semantics.concepts.name_agreement import DOUBT
from likewise.semantics.concepts.values import relations as bit

_SAME, _NARROWER, _EXCLUDES, _SIBLINGS = 1, 2, 4, 6  # as in `tables`


@unlocked
def word_agreements(a, b, places):
    """The agreement of every asked word with every seen one through the places both stand in."""
    out = np.zeros((len(a.ends), len(b.ends)), np.float32)
    named = np.full(places, -1, np.int32)
    for j in range(len(b.ends)):
        begin, end = (b.ends[j - 1] if j else 0), b.ends[j]
        if begin == end:
            continue
        for k in range(begin, end):
            named[b.places[k]] = b.things[k]
        for i in range(len(a.ends)):
            said = common = 0
            for k in range(a.ends[i - 1] if i else 0, a.ends[i]):
                thing = named[a.places[k]]
                if thing >= 0:
                    common += 1
                    said += 1 if thing == a.things[k] else -1
            if common:
                out[i, j] = said / (common + DOUBT)
        for k in range(begin, end):
            named[b.places[k]] = -1
    return out


@unlocked
def word_relations(standing, named, sure):
    """What follows from how words stand to each other, and from what names say, which comes first."""
    out = np.zeros(standing.shape, np.uint8)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            bits = standing[i, j]
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
