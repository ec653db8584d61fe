"""Shapes: which attributes a source has, in the order in which it was first seen with them.

Most sources of a stream are like others, so a shape is shared by all that are alike: a source costs the rows of its
readings, not a dictionary of names. A shape knows the one that follows with one name more.
"""

from __future__ import annotations


class Shape:
    """Names (by number) and where each stands.

    >>> first = Shape()
    >>> first.with_name(7) is first.with_name(7), first.with_name(7).with_name(3).places
    (True, {7: 0, 3: 1})
    """

    __slots__ = ("_following", "names", "places")

    def __init__(self, names: tuple[int, ...] = ()) -> None:
        self.names = names
        self.places = {name: place for place, name in enumerate(names)}
        self._following: dict[int, Shape] = {}

    def with_name(self, name: int) -> Shape:
        """The shape with one name more, which is not among them."""
        found = self._following.get(name)
        if found is None:
            found = self._following[name] = Shape((*self.names, name))
        return found
