"""Events to draw, as wide as the model allows: any text, numbers of both kinds, units, groups, graphs."""

from __future__ import annotations

from hypothesis import strategies as st

from likewise.model import Event, EventTuple, Triple

TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8).filter(lambda text: bool(text.strip()))
NUMBERS = st.one_of(
    st.integers(-(2**70), 2**70),
    st.integers(-5, 5),
    st.integers(-5, 5).map(float),
    st.floats(allow_nan=False, allow_infinity=False),
    st.just(-0.0),
)
VALUES = st.one_of(TEXT, NUMBERS, st.booleans(), st.sampled_from(["27.5", "room 112", ":", '":', "\\"]))
TUPLES = st.builds(
    EventTuple,
    WORDS | st.sampled_from(["t", "a.b", "tags[]", "r[].v", "value", "v", "payload"]),
    VALUES,
    st.just("") | st.sampled_from(["degC", "%", "raw"]),
    st.integers(0, 2),
)
IRIS = st.sampled_from(["<http://e.org/a>", "<http://e.org/b#c>", "<urn:x:y>"])
OBJECTS = IRIS | st.sampled_from(
    ['"text"', '"5"^^<http://www.w3.org/2001/XMLSchema#integer>', '"chat"@fr', "_:b0", '"a\\nb"']
)
TRIPLES = st.builds(Triple, IRIS | st.just("_:b1"), IRIS, OBJECTS)
MOMENTS = st.none() | st.integers(-(2**55), 2**55)
EVENTS = st.builds(
    Event,
    st.lists(TUPLES, min_size=1, max_size=6).map(tuple),
    st.lists(WORDS, max_size=3).map(tuple),
    st.none() | WORDS,
    st.none() | WORDS,
    MOMENTS,
    MOMENTS,
    st.lists(TRIPLES, max_size=3).map(tuple),
    st.sampled_from(["", "01", "1"]),
)


def typed(event: Event) -> tuple[object, ...]:
    """The event with the types of its numbers: 27 is not 27.0 here, nor 0.0 -0.0."""
    return (event, *((type(t.value), repr(t.value)) for t in event.tuples))
