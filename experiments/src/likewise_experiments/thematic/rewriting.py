"""The concept-based baseline: subscriptions rewritten with WordNet, then matched exactly.

What Hasan and Curry compare the approximate matcher with before themes (2014, section 5; 89 to 92 % there at 50 %
approximation): every relaxed term is replaced by what WordNet holds for the same concept, for what it is a kind or a
part of, and for its kinds and parts; an event is met or it is not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from likewise.model import Subscription, fold
from likewise.semantics.measure import Term
from likewise_experiments.thematic.load import predicates_of
from likewise_experiments.thematic.thesaurus import Thesaurus


class Rewriting:
    """A measure of 1 and 0: the seen term is a version of the asked one, or the asked one of the seen.

    >>> from likewise_experiments.thematic.thesaurus import ThesaurusEntry
    >>> rewriting = Rewriting(Thesaurus("small", [ThesaurusEntry(("city", "town"), ("urban area",))], ()))
    >>> rewriting.matrix([Term("city")], [Term("Town"), Term("urban area"), Term("river")]).tolist()
    [[1.0, 1.0, 0.0]]
    """

    name = "rewriting"

    def __init__(self, thesaurus: Thesaurus) -> None:
        self._thesaurus = thesaurus

    def configuration(self) -> dict[str, object]:
        """What it is made from."""
        return {"name": self.name, "thesaurus": self._thesaurus.name}

    def versions(self, term: str) -> frozenset[str]:
        """A term and what may stand for it, folded."""
        return frozenset((fold(term), *(fold(a.text) for a in self._thesaurus.alternatives(term))))

    def matrix(self, asked: Sequence[Term], seen: Sequence[Term]) -> NDArray[np.float32]:
        """1 where one term is a version of the other."""
        back = [self.versions(term.text) for term in seen]
        out = np.zeros((len(asked), len(seen)), np.float32)
        for row, term in enumerate(asked):
            forth, own = self.versions(term.text), fold(term.text)
            out[row] = [fold(other.text) in forth or own in these for other, these in zip(seen, back, strict=True)]
        return out

    def rewritten(self, subscription: Subscription) -> int:
        """How many exact subscriptions stand for this one."""
        terms = [(p.attribute, p.attribute_relaxed) for p in predicates_of(subscription)]
        terms += [(str(p.value), p.value_relaxed) for p in predicates_of(subscription)]
        return math.prod(len(self.versions(term)) for term, relaxed in terms if relaxed)
