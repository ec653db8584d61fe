"""Shortest paths and gloss vectors in WordNet, beside Jiang and Conrath's measure (sources.md H, section 5.3.2).

Rada, R. et al.: Development and application of a metric on semantic nets, IEEE Transactions on Systems, Man and
Cybernetics 19(1), 1989, for the path. Patwardhan, S. and Pedersen, T.: Using WordNet-based context vectors to estimate
the semantic relatedness of concepts, EACL workshop 2006, for the gloss vectors.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.defaults import NAME_CACHE_ENTRIES
from likewise.kernels.sizes import check_ids
from likewise.semantics.measures.jcn import JcnMeasure, Senses, TermSenses

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.semantics.wordnet.relations import WordRelations
    from likewise.semantics.wordnet.taxonomy import Taxonomy


class _SensePairs(JcnMeasure):
    """Words compared by a score of every two synsets; terms are read, and paired, as by Jiang and Conrath."""

    def __init__(self, taxonomy: Taxonomy, senses: Senses) -> None:
        super().__init__(taxonomy, senses=senses)

    def configuration(self) -> dict[str, object]:
        """Return the settings that rebuild this measure over the same space."""
        return {"name": self.name, "senses": self.senses}

    def _word_scores(self, a: TermSenses, b: TermSenses) -> NDArray[np.float32]:
        scores = np.zeros((len(a.sense_ends), len(b.sense_ends)), np.float32)
        pairs = self._synset_scores(a.senses, b.senses)
        starts = [np.concatenate([[0], side.sense_ends])[:-1] for side in (a, b)]  # none of a term without words
        for i, (first, end) in enumerate(zip(starts[0].tolist(), a.sense_ends.tolist(), strict=True)):
            for j, (other, last) in enumerate(zip(starts[1].tolist(), b.sense_ends.tolist(), strict=True)):
                scores[i, j] = pairs[first:end, other:last].max(initial=0)
        return scores

    def _synset_scores(self, a: NDArray[np.int32], b: NDArray[np.int32]) -> NDArray[np.float32]:
        """Return the score of every synset of `a` with every synset of `b`."""
        raise NotImplementedError


class PathMeasure(_SensePairs):
    """1 / (1 + edges on the shortest path through a common hypernym); 0 for synsets without one.

    >>> from likewise.semantics.library import load_space
    >>> from likewise.semantics.measure import Term
    >>> path = load_space().measure("path")
    >>> float(path.matrix([Term("car")], [Term("motor vehicle")])[0, 0])
    0.5
    """

    name = "path"

    def __init__(self, taxonomy: Taxonomy, relations: WordRelations, *, senses: Senses = "first") -> None:
        super().__init__(taxonomy, senses)
        self._relations = relations
        self._above = lru_cache(maxsize=NAME_CACHE_ENTRIES)(self._climb)

    def _climb(self, synset: int) -> dict[int, int]:
        """Return the hypernyms of a synset, itself among them, with the edges up to each."""
        edges = {synset: 0}
        level = [synset]
        while level:
            upper = [t for s in level for name in ("kind_of", "instance_of") for t in self._relations.targets(name, s)]
            depth = edges[level[0]] + 1
            level = [synset for synset in dict.fromkeys(upper) if synset not in edges]
            edges.update(dict.fromkeys(level, depth))
        return edges

    def _synset_scores(self, a: NDArray[np.int32], b: NDArray[np.int32]) -> NDArray[np.float32]:
        scores = np.zeros((len(a), len(b)), np.float32)
        others = [self._above(synset) for synset in b.tolist()]
        for i, synset in enumerate(a.tolist()):
            above = self._above(synset)
            for j, other in enumerate(others):
                edges = min((above[s] + other[s] for s in above.keys() & other.keys()), default=None)
                scores[i, j] = 0.0 if edges is None else 1.0 / (1 + edges)
        return scores


class GlossMeasure(_SensePairs):
    """Cosine of the vectors of two synsets' glosses, below 0 as 0.

    A gloss stands with those of the synset's neighbours, and its vector is the sum of the vectors of its words, which
    follow from the glosses that the words occur in: the rows that a space of WordNet has of its documents, one a synset
    (departure: their co-occurrence is kept in the latent dimensions, not word by word).

    >>> from likewise.semantics.library import load_space
    >>> from likewise.semantics.measure import Term
    >>> gloss = load_space().measure("gloss").matrix([Term("car")], [Term("engine"), Term("banana")])[0]
    >>> bool(gloss[0] > gloss[1])
    True
    """

    name = "gloss"

    def __init__(self, taxonomy: Taxonomy, rows: NDArray[Any], *, senses: Senses = "first") -> None:
        super().__init__(taxonomy, senses)
        self._rows = rows

    def _synset_scores(self, a: NDArray[np.int32], b: NDArray[np.int32]) -> NDArray[np.float32]:
        unit = []
        for synsets in (a, b):
            check_ids("synsets with glosses", synsets, len(self._rows))
            rows = self._rows[synsets].astype(np.float32)
            unit.append(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))
        cosines: NDArray[np.float32] = np.clip(unit[0] @ unit[1].T, 0, 1)
        return cosines
