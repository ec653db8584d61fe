"""What each part of the default measure is worth on the vendor benchmark: one part left out at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from likewise import defaults
from likewise.semantics.concepts.inventory import Inventory
from likewise.semantics.concepts.library import shipped_concepts
from likewise.semantics.concepts.weights import FACETS, FacetWeights
from likewise.semantics.measure import Measure, Term
from likewise.semantics.space import Space, combined_measure
from likewise_experiments.vendor.benchmark import Benchmark, decide, rank

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


EVERYTHING: Final = "everything"
NEUTRAL: Final[dict[str, dict[str, float | bool]]] = {
    EVERYTHING: {},
    "without short forms, formulas and names of units": {"short_forms": False},
    "without heads and words that say little": {"modifier": 1.0, "light": 1.0, "transparent": 1.0},
    "without different quantities and units": {"conflict": 1.0, "sisters": 1.0},
    "without the order of a path's parts": {"container": 1.0},
    "without weaker association of quantities with other words": {"association": 1.0},
    "with the alignment's former exponents": {"asked_share": 0.7, "leniency": 0.5},
    "without kinds of values": {"not_a_number": 1.0, "not_a_state": 1.0},
}


class AblationRow(msgspec.Struct, frozen=True):
    """The measure without one part: maximal F1, average precision, and the F1 of decisions at the threshold."""

    name: str
    maximal_f1: float
    average_precision: float
    decision_f1: float
    by_vendor: float = 0.0
    distinct: float = 0.0


class WithoutContext:
    """A measure that is not told what stands beside a value, or its unit."""

    def __init__(self, measure: Measure) -> None:
        self.name, self._measure = measure.name, measure

    def matrix(self, asked: Sequence[Term], seen: Sequence[Term]) -> NDArray[np.float32]:
        """Every pair's score."""
        return self._measure.matrix(asked, [msgspec.structs.replace(t, context=(), unit="") for t in seen])

    def configuration(self) -> dict[str, object]:
        """That of the measure."""
        return self._measure.configuration()


def variants(space: Space) -> Iterator[tuple[str, Measure]]:
    """The default measure, whole and with one part left out at a time, then spelling alone.

    >>> from likewise.semantics.library import load_space
    >>> next(variants(load_space()))[0]
    'everything'
    """
    for name, weights in NEUTRAL.items():
        names = msgspec.structs.replace(space.calibration.names, **_any(weights))
        yield name, combined_measure(space, msgspec.structs.replace(space.calibration, names=names))
    yield "without the unit and the text beside a value", WithoutContext(space.measure("combine"))
    yield "spelling alone (`names`)", space.measure("names")


def ablation_row(name: str, benchmark: Benchmark, measure: Measure, threshold: float | None = None) -> AblationRow:
    """One line of the table."""
    found = rank(benchmark, measure)
    decided = decide(benchmark, measure, defaults.THRESHOLD if threshold is None else threshold, numeric=False)
    return AblationRow(name, found.maximal_f1, found.average_precision, decided.f1, decided.by_vendor, decided.distinct)


def facet_ablation(benchmark: Benchmark, space: Space, threshold: float | None = None) -> list[AblationRow]:
    """The measure of sameness whole, without one facet at a time, without all of them (`combine`)."""
    whole = FacetWeights()
    measures: list[tuple[str, Measure]] = [(EVERYTHING, space.measure("sameness"))]
    measures += [(f"without {facet}", space.measure("sameness", weights=whole.without(facet))) for facet in FACETS]
    bare = inventory_without_qualifiers()
    measures += [
        (f"without the list of qualifiers{also}", space.measure("sameness", inventory=bare, weights=weights))
        for also, weights in (("", whole), (" and agreement through names", whole.without("agreement through names")))
    ]
    measures += [("relatedness alone (`combine`)", space.measure("combine"))]
    return [ablation_row(name, benchmark, measure, threshold) for name, measure in measures]


def inventory_without_qualifiers() -> Inventory:
    """What ships, without the list of qualifiers: only those that a kind names as its defaults are still known.

    >>> bare = inventory_without_qualifiers().qualifiers
    >>> "return" in bare, "outdoor" in bare
    (False, True)
    """
    return Inventory(concept for concept in shipped_concepts() if concept.sort != "qualifier")


def _any(weights: dict[str, float | bool]) -> dict[str, Any]:
    return dict(weights)
