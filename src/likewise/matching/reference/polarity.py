"""Does a value under a relaxed attribute meet a predicate? Names decide what true and a bare number mean."""

from __future__ import annotations

from msgspec.structs import replace

from likewise.matching.reference.operators import OperatorOutcome, meets
from likewise.model.event import EventTuple
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.model.predicate import Predicate
from likewise.semantics.concepts.customary import in_customary_unit
from likewise.semantics.measure import Measure, opposed


def meets_with_polarity(
    predicate: Predicate, item: EventTuple, types: Hierarchy = NO_TYPES, measure: Measure | None = None
) -> OperatorOutcome:
    """`meets`; but where the attribute is relaxed and the measure knows that the tuple's name says the opposite of the
    one asked for, true is false: `{"door open"~ = true}` is met by `doorClosed: false`. A bare number is taken in the
    customary unit of what is asked for (`concepts.customary`).

    >>> from likewise.semantics.library import load_space
    >>> sameness = load_space().measure("sameness")
    >>> asked = Predicate("door open", "=", True, attribute_relaxed=True)
    >>> [bool(meets_with_polarity(asked, EventTuple("doorClosed", said), measure=sameness)) for said in (True, False)]
    [False, True]
    """
    value = predicate.value
    if (
        isinstance(value, bool)
        and predicate.attribute_relaxed
        and predicate.operator in ("=", "!=")
        and opposed(measure, predicate.attribute, item.attribute)
    ):
        predicate = replace(predicate, value=not value)
    taken = in_customary_unit(predicate, item)
    return OperatorOutcome.FALSE if taken is None else meets(predicate, taken, types)
