"""Words for the comparison of two attribute names by their facets.

The rule is compiled (`kernels.facet_scores`); for one pair it notes the codes of its reasons, which become words here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Protocol

import msgspec
import numpy as np

from likewise.semantics.concepts.facets import INSTANTANEOUS, LISTED, Facets, Qualifier

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.semantics.concepts.tables import InventoryTables

# Words for the codes of the kernel, by their numbers.
REASONS: Final = (
    *("kind", "statistic", "role", "dimension", "text", "named", "excluded", "covered", "absent", "unasked"),
    "number",
)
MOST_REASONS: Final = 63  # of one pair; a name has few words


class NamedExamples(Protocol):
    """Names of vocabularies that decide the relation of two words that the inventory does not list."""

    def example_names(self, query: str, candidate: str) -> tuple[str, str]:
        """Return the two vocabulary names that decide the relation, or two empty strings."""


class FacetDifference(msgspec.Struct, frozen=True):
    """One reason that lowers a score: its kind, its factor, the query's and the candidate's side.

    `names` are two of a vocabulary that say so. A factor of 1 is no difference but something worth telling.
    """

    reason: str
    factor: float
    query: str = ""
    candidate: str = ""
    names: tuple[str, str] = ("", "")


class FacetAgreement(msgspec.Struct, frozen=True):
    """Score of what two names have in common (0 if their kinds differ) and the list of their differences."""

    score: float
    differences: tuple[FacetDifference, ...]

    def apply(self, relatedness: float) -> float:
        """Return the score of a pair whose names have this relatedness."""
        out = max(relatedness, self.score)
        for difference in self.differences:
            out *= difference.factor
        return out


def no_reasons() -> NDArray[np.float32]:
    """Return the array that asks the kernel for no reasons."""
    return np.zeros((0, 4), np.float32)


def reasons_of_one_pair() -> NDArray[np.float32]:
    """Return an array for the kernel to note the reasons of one pair in."""
    return np.zeros((1 + MOST_REASONS, 4), np.float32)


def facet_agreement(
    query: Facets, candidate: Facets, reasons: NDArray[np.float32], examples: NamedExamples
) -> FacetAgreement:
    """Return the agreement and the differences of two names from the reasons that the kernel noted."""
    noted = reasons[1 : 1 + int(reasons[0, 0])].tolist()
    differences = tuple(
        difference
        for code, factor, q, r in noted
        for difference in _difference(REASONS[int(code)], factor, int(q), int(r), query, candidate, examples)
    )
    return FacetAgreement(float(reasons[0, 1]), differences)


def _difference(
    reason: str, factor: float, q: int, r: int, query: Facets, candidate: Facets, examples: NamedExamples
) -> Iterator[FacetDifference]:
    """Yield the difference that a code stands for; none where two words are plainly one."""
    asked = query.qualifiers[q] if q >= 0 else None
    seen = candidate.qualifiers[r] if r >= 0 else None
    names = ("", "")
    if asked is not None and seen is not None and _is_open(asked, seen):
        names = examples.example_names(asked.word, seen.word)
    sides = {
        "kind": (query.kinds[:1], candidate.kinds[:1]),
        "role": ((query.role,), (candidate.role,)),
        "statistic": ((query.role,), (candidate.role,)),
        "dimension": ((query.dimension,), (candidate.dimension,)),
        "text": (("number",), (candidate.value,)),
        "number": (query.numbers, candidate.numbers),
    }
    if reason in sides:
        ours, theirs = sides[reason]
        yield FacetDifference(reason, factor, " ".join(ours), " ".join(theirs))
    elif reason == "named":
        if asked is not None and seen is not None and asked.name != seen.name and any(names):
            yield FacetDifference(reason, factor, asked.word, seen.word, names)
    else:
        yield FacetDifference(reason, factor, asked.name if asked else "", seen.name if seen else "", names)


def _is_open(a: Qualifier, b: Qualifier) -> bool:
    """Return whether two qualifiers are compared by their words, because the inventory does not list both."""
    return bool(a.word and b.word) and not a.source == b.source == LISTED


def is_quantity(facets: Facets, tables: InventoryTables) -> bool:
    """Return whether a name can only have numbers as values."""
    kinds = [tables.inventory.kinds.get(kind) for kind in facets.kinds]
    return (
        bool(kinds)
        and facets.role in ("", INSTANTANEOUS)
        and all(k is not None and k.values == ("number",) for k in kinds)
    )
