"""Filters that are looked up find what looking at each of them finds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from likewise.edge.demand import FilterIndex
from likewise.matching.demand.demand_filter import DemandFilter
from likewise.model import Predicate
from likewise.model.event import EventTuple
from likewise.model.hierarchies.types import NO_TYPES
from likewise.model.text import fold

NAMES = st.sampled_from(("a", "b", "C d"))
VALUES = st.one_of(
    st.sampled_from(("on", "ON ", "off", "5", "5.0", "2024-05-01", "2024-05-01T10:00:00Z", "seven", "1e1", "0x5")),
    st.integers(-3, 12),
    st.sampled_from((5.0, 0.5, 2**60, 1e300)),
    st.booleans(),
)
PREDICATES = st.one_of(
    st.builds(lambda name, value: Predicate(name, "=", value), NAMES, VALUES),
    st.builds(lambda name, value: Predicate(name, ">", value), NAMES, st.floats(-3, 12)),
    st.builds(lambda name: Predicate(name, "exists"), NAMES),
)
PARTS = st.lists(st.lists(PREDICATES, min_size=1, max_size=2).map(tuple), max_size=3).map(tuple)
FILTERS = st.lists(st.lists(PARTS, max_size=2).map(tuple), max_size=6)
TUPLES = st.lists(st.builds(EventTuple, NAMES, VALUES, st.sampled_from(("", "", "s"))), max_size=4)


@given(FILTERS, TUPLES)
def test_what_is_looked_up_is_what_each_filter_says(filters: list[tuple], tuples: list[EventTuple]) -> None:  # type: ignore[type-arg]
    """Whatever the values are: numbers as text, dates, units, truth values, large numbers."""
    made = [DemandFilter(str(number), alternatives) for number, alternatives in enumerate(filters)]
    by_name: dict[str, list[EventTuple]] = {}
    for item in tuples:
        by_name.setdefault(fold(item.attribute), []).append(item)
    wanted = any(each.matches(by_name) for each in made)
    assert FilterIndex(made).matches(by_name, NO_TYPES) == wanted
