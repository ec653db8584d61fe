"""An index of nearby patterns as an index of exact ones: what is found near is met if every constant is the triple's.

So the MVR-tree and the R-tree of the paper (Qin et al., CIKM 2014, section 2.2) can stand where the triple automaton
does, and answer the same. Terms are compared as written: the radius is 0, and what spelling alone brings near is
looked at again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from likewise.matching.reference.locality import LexicalLocality
from likewise.model.rdf import TriplePattern, is_variable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.matching.graphs_nearby.pattern_space import PatternSpace

Parts = tuple[str, str, str]


class _AsWritten(LexicalLocality):
    """Terms by their spelling, two terms having the same text only if they are the same term."""

    def text(self, term: str) -> str:
        return term


class ExactPatternMatches(NamedTuple):
    """Triple `triples[i]` meets pattern `numbers[i]`; ordered by triple."""

    triples: NDArray[np.int64]
    numbers: NDArray[np.int64]


class ExactPatterns:
    """Triple patterns by number, and the numbers a triple meets.

    >>> index = ExactPatterns("mvr-tree")
    >>> index.insert(TriplePattern("?e", "<type>", "<Event>"), 1)
    >>> index.match("<b>", "<type>", "<Event>"), index.match("<b>", "<type>", "<event>")
    ([1], [])
    """

    def __init__(self, tree: Literal["mvr-tree", "r-tree"]) -> None:
        self._space = _tree(tree)
        self._patterns: dict[int, Parts] = {}

    def __len__(self) -> int:
        return len(self._patterns)

    def insert(self, pattern: TriplePattern, number: int) -> None:
        """Add a pattern under a number of its own."""
        self._space.insert(pattern, number)
        self._patterns[number] = (pattern.subject, pattern.predicate, pattern.object)

    def remove(self, number: int) -> None:
        """Take a pattern out."""
        self._space.remove(number)
        del self._patterns[number]

    def match(self, subject: str, predicate: str, object: str) -> list[int]:
        """The numbers of the patterns a triple meets, in no particular order."""
        numbers: list[int] = self.match_batch([(subject, predicate, object)]).numbers.tolist()
        return numbers

    def match_batch(self, triples: Sequence[Parts]) -> ExactPatternMatches:
        """`match` for many triples (subject, predicate, object) at once, as arrays."""
        if not self._patterns or not triples:
            return ExactPatternMatches(np.empty(0, np.int64), np.empty(0, np.int64))
        near = self._space.match_batch(triples)
        pairs = zip(near.triples.tolist(), near.numbers.tolist(), strict=True)
        keep = np.fromiter((_meets(triples[t], self._patterns[n]) for t, n in pairs), bool, len(near.triples))
        return ExactPatternMatches(near.triples[keep], near.numbers[keep])


def _meets(triple: Parts, pattern: Parts) -> bool:
    return all(
        is_variable(pattern_term) or pattern_term == triple_term
        for pattern_term, triple_term in zip(pattern, triple, strict=True)
    )


def _tree(name: Literal["mvr-tree", "r-tree"]) -> PatternSpace:
    if name == "mvr-tree":
        from likewise.matching.graphs_nearby.mvr_tree import MvrTree

        return MvrTree(_AsWritten(), radius=0.0)
    from likewise.matching.graphs_nearby.rtree_index import RTreeIndex

    return RTreeIndex(_AsWritten(), radius=0.0)
