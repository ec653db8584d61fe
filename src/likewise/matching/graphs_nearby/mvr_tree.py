"""The MVR-tree: one tree for each kind of pattern, in as many dimensions as it has constants (sources.md L).

Qin et al., CIKM 2014, section 2.2: a three-dimensional R-tree for patterns without variables, three
two-dimensional ones for one variable, three ordered indexes for two. In each of them patterns are points,
so nothing overlaps. A triple is looked up in all seven. Beside an R-tree stand the ordered coordinates of
its points along each axis: a triple near none of them on some axis need not go into the tree (ours).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.matching.graphs_nearby.pattern_space import PatternSpace
from likewise.matching.graphs_nearby.rtree_index import new_tree, search_tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from likewise.matching.reference.locality import Locality
    from likewise.model.rdf import TriplePattern

Pairs = tuple["NDArray[np.int64]", "NDArray[np.int64]"]


class MvrTree(PatternSpace):
    """Patterns within a radius, by a tree for each kind.

    >>> from likewise.matching.reference.locality import LexicalLocality
    >>> from likewise.model.rdf import TriplePattern
    >>> index = MvrTree(LexicalLocality(), radius=0.9)
    >>> index.insert(TriplePattern("?e", "<http://e.org/homeTeam>", "?t"), 1)
    >>> index.insert(TriplePattern("?e", "<http://e.org/home_teams>", "?t"), 2)
    >>> [number for number, distance in index.match("<x:m1>", "<http://e.org/homeTeams>", "<x:Spain>")]
    [1, 2]
    """

    def __init__(
        self, locality: Locality, radius: float, sample: Sequence[tuple[str, str, str] | TriplePattern] = ()
    ) -> None:
        super().__init__(locality, radius, sample)
        self._trees: dict[tuple[int, ...], Any] = {}  # by the positions of the constants

    def place(self, slot: int, coordinates: dict[int, float]) -> None:
        """A point in the tree of its kind."""
        kind = tuple(coordinates)
        tree = self._trees.get(kind)
        if tree is None:
            tree = self._trees[kind] = OrderedAxis() if len(kind) == 1 else PointTree(len(kind))
        tree.insert(slot, _point(coordinates))

    def displace(self, slot: int, coordinates: dict[int, float]) -> None:
        """Delete the point."""
        self._trees[tuple(coordinates)].delete(slot, _point(coordinates))

    def search(self, lows: NDArray[np.float64], highs: NDArray[np.float64]) -> Pairs:
        """The points in a triple's ranges, of every kind."""
        pairs = []
        for kind, tree in self._trees.items():
            low, high = lows[:, kind], highs[:, kind]
            pairs.append(tree.search(low[:, 0], high[:, 0]) if len(kind) == 1 else tree.search(low, high))
        empty = np.empty(0, np.int64)
        return (
            np.concatenate([triples for triples, _ in pairs] or [empty]),
            np.concatenate([slots for _, slots in pairs] or [empty]),
        )


def _point(coordinates: dict[int, float]) -> list[float]:
    return list(coordinates.values()) * 2


class PointTree:
    """An R-tree of points, and the order of their coordinates along each axis."""

    def __init__(self, dimensions: int) -> None:
        self._tree = new_tree(dimensions)
        self._axes = [OrderedAxis() for _ in range(dimensions)]

    def insert(self, slot: int, point: list[float]) -> None:
        """Add a point."""
        self._tree.insert(slot, point)
        for axis, coordinate in zip(self._axes, point, strict=False):
            axis.insert(slot, [coordinate])

    def delete(self, slot: int, point: list[float]) -> None:
        """Take a point out."""
        self._tree.delete(slot, point)
        for axis, coordinate in zip(self._axes, point, strict=False):
            axis.delete(slot, [coordinate])

    def search(self, lows: NDArray[np.float64], highs: NDArray[np.float64]) -> Pairs:
        """Pairs of a box and the points in it."""
        hopeful = np.ones(len(lows), bool)
        for i, axis in enumerate(self._axes):
            hopeful &= axis.between(lows[:, i], highs[:, i])[1] > 0
        searched = np.flatnonzero(hopeful)
        pairs, slots = search_tree(self._tree, lows[searched], highs[searched])
        return searched[pairs], slots


class OrderedAxis:
    """Slots ordered by one coordinate; changes are noted and sorted in before the next search.

    >>> axis = OrderedAxis()
    >>> axis.insert(7, [0.5, 0.5]); axis.insert(8, [0.1, 0.1])
    >>> axis.search(np.array([0.0, 0.4]), np.array([1.0, 0.6]))
    (array([0, 0, 1]), array([8, 7, 7]))
    """

    def __init__(self) -> None:
        self._coordinates = np.empty(0)
        self._slots = np.empty(0, np.int64)
        self._added: dict[int, float] = {}
        self._gone: set[int] = set()

    def insert(self, slot: int, point: list[float]) -> None:
        """Add a slot."""
        self._added[slot] = point[0]

    def delete(self, slot: int, point: list[float]) -> None:
        """Take a slot out."""
        if self._added.pop(slot, None) is None:
            self._gone.add(slot)

    def _settle(self) -> None:
        if self._gone:
            keep = ~np.isin(self._slots, np.fromiter(self._gone, np.int64, len(self._gone)))
            self._coordinates, self._slots = self._coordinates[keep], self._slots[keep]
            self._gone.clear()
        if self._added:
            coordinates = np.concatenate([self._coordinates, np.fromiter(self._added.values(), np.float64)])
            slots = np.concatenate([self._slots, np.fromiter(self._added, np.int64)])
            order = np.argsort(coordinates, kind="stable")
            self._coordinates, self._slots = coordinates[order], slots[order]
            self._added.clear()

    def search(self, lows: NDArray[np.float64], highs: NDArray[np.float64]) -> Pairs:
        """Pairs of a range and the slots in it."""
        starts, counts = self.between(lows, highs)
        before = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
        places = np.arange(counts.sum()) + np.repeat(starts - before, counts)
        return np.repeat(np.arange(len(lows)), counts), self._slots[places]

    def between(self, lows: NDArray[np.float64], highs: NDArray[np.float64]) -> Pairs:
        """Where each range begins in the order, and how many slots are in it."""
        self._settle()
        starts = np.searchsorted(self._coordinates, lows, "left")
        return starts, np.searchsorted(self._coordinates, highs, "right") - starts
