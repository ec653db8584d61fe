"""Interface of measures of relatedness: the term and the protocol.

A measure compares the terms a subscription asks for with the terms events were seen to use. Its
answer for a pair never depends on which other pairs it was asked about, so it may be computed once
and kept (docs/engines/thematic.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, Protocol

import msgspec

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

Role = Literal["attribute", "value"]
ValueKind = Literal["text", "number", "boolean", ""]


class Term(msgspec.Struct, frozen=True, order=True):
    """A text to be interpreted, with what is known about its place in an event or subscription.

    `text` is as written; `theme` holds the folded, sorted theme tags of its side; `unit` and `kind`
    describe the reading an attribute carries; `context` is nearby text of the same event or
    subscription (the path, the fields of the same list item), the nearest first.

    Attributes:
        text: The text as written.
        role: `attribute` or `value`.
        theme: Folded, sorted theme tags of its subscription or event.
        unit: Unit of the reading that an attribute carries, '' if unknown.
        kind: Kind of the reading's value: `text`, `number`, `boolean`, '' if unknown.
        context: Nearby texts of the same event or subscription, the nearest first.

    >>> Term("TempC_SHT", kind="number").role
    'attribute'
    """

    text: str
    role: Role = "attribute"
    theme: tuple[str, ...] = ()
    unit: str = ""
    kind: ValueKind = ""
    context: tuple[str, ...] = ()


class Measure(Protocol):
    """Relatedness of terms in [0, 1].

    Equal terms (text folded) give 1; unrelated ones, and a term the measure knows nothing about,
    give 0. The matrix has one row for each asked term and one column for each seen term.
    """

    name: str

    def matrix(self, queries: Sequence[Term], candidates: Sequence[Term]) -> NDArray[float32]:
        """Return the relatedness of every query term (row) with every candidate term (column).

        Args:
            queries: Terms of subscriptions, one per row.
            candidates: Terms of events, one per column.

        Returns:
            Scores in [0, 1]. The score of a pair does not depend on the other terms of the call.
        """
        ...

    def configuration(self) -> dict[str, object]:
        """Return the configuration that rebuilds this measure over the same space; saved with a matcher."""
        ...


def opposed(measure: Measure | None, query: str, candidate: str) -> bool:
    """Return whether one Boolean name is true exactly when the other is false; False if the measure cannot tell.

    >>> opposed(None, "door open", "doorClosed")
    False
    """
    compare: Callable[[str, str], bool] | None = getattr(measure, "opposed", None)
    return compare is not None and compare(query, candidate)
