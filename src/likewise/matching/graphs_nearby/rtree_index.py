"""The baseline: every pattern a box in one three-dimensional R-tree (sources.md L).

Qin et al., CIKM 2014, section 2.2: a pattern without variables is a point, one with one variable a line,
one with two a plane. Lines and planes reach through the whole space, so the tree's regions overlap.
The tree is libspatialindex's, by way of `rtree` (Guttman, "R-trees", SIGMOD 1984; R*-tree splits).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import MissingDependency
from likewise.matching.graphs_nearby.pattern_space import PatternSpace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from likewise.matching.reference.locality import Locality
    from likewise.model.rdf import TriplePattern

NODE = 16  # entries of a node: libspatialindex's 100 suits pages of a disk, in memory small nodes are faster
WHOLE_AXIS = (-2.0, 2.0)  # every coordinate lies between -1 and 1


class RTreeIndex(PatternSpace):
    """Patterns within a radius, by one R-tree.

    >>> from likewise.matching.reference.locality import LexicalLocality
    >>> from likewise.model.rdf import TriplePattern
    >>> index = RTreeIndex(LexicalLocality(), radius=0.9)
    >>> index.insert(TriplePattern("?e", "<http://e.org/homeTeam>", "?t"), 1)
    >>> [number for number, distance in index.match("<x:m1>", "<http://e.org/home_teams>", "<x:Spain>")]
    [1]
    """

    def __init__(
        self, locality: Locality, radius: float, sample: Sequence[tuple[str, str, str] | TriplePattern] = ()
    ) -> None:
        super().__init__(locality, radius, sample)
        self._tree = new_tree(3)

    def place(self, slot: int, coordinates: dict[int, float]) -> None:
        """A box that spans the axes of variables."""
        self._tree.insert(slot, _box(coordinates))

    def displace(self, slot: int, coordinates: dict[int, float]) -> None:
        """Delete the box."""
        self._tree.delete(slot, _box(coordinates))

    def search(
        self, lows: NDArray[np.float64], highs: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The boxes that a triple's ranges cut."""
        return search_tree(self._tree, lows, highs)


def _box(coordinates: dict[int, float]) -> list[float]:
    ends = [(coordinates[i], coordinates[i]) if i in coordinates else WHOLE_AXIS for i in range(3)]
    return [low for low, _ in ends] + [high for _, high in ends]


def check_installed() -> None:
    """Refuse where the library of R-trees is not there."""
    try:
        import rtree.index  # noqa: F401
    except ImportError:
        raise MissingDependency("rtree", "rdf") from None


def new_tree(dimensions: int) -> Any:
    """An empty R-tree in memory."""
    check_installed()
    from rtree.index import Index, Property

    return Index(
        properties=Property(
            dimension=dimensions, leaf_capacity=NODE, index_capacity=NODE, near_minimum_overlap_factor=NODE // 2
        )
    )


def search_tree(
    tree: Any, lows: NDArray[np.float64], highs: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of a query and what it cuts."""
    if not len(lows):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    ids, counts = tree.intersection_v(np.ascontiguousarray(lows), np.ascontiguousarray(highs))
    return np.repeat(np.arange(len(lows)), counts.astype(np.int64)), ids
