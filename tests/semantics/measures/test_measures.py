"""The contract every measure keeps (likewise.semantics.measure)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.model.text import fold
from likewise.semantics.library import load_space
from likewise.semantics.measure import Measure, Term
from likewise.semantics.space import Space

NAMES = ["esa", "thematic", "latent", "jcn", "names", "combine", "sameness"]
TEXTS = [
    "temperature",
    "TempC_SHT",
    "air_temp_f",
    "batteryLevel",
    "wind speed",
    "Laptop",
    "laptop",
    "computer",
    "",
    "  ",
    "qzxw",
    "дом",
    "温度",
    "حرارة",
    "a",
    "the of",
    "112",
    "co2",
    "x" * 1024,
    "word " * 200,
    "🌡️",
    "rh",
    "km/h",
]
THEMES = [(), ("energy",), ("qzxw",), ("weather", "room"), ("",)]
terms = st.builds(
    Term,
    st.one_of(st.sampled_from(TEXTS), st.text(max_size=20)),
    theme=st.sampled_from(THEMES),
    unit=st.sampled_from(["", "degC", "nonsense"]),
)


def measure_named(name: str) -> Measure:
    return load_space().measure(name)


@pytest.mark.parametrize("name", NAMES)
@given(asked=st.lists(terms, max_size=5), seen=st.lists(terms, max_size=5))
def test_scores_lie_in_range_and_equal_terms_are_one(name: str, asked: list[Term], seen: list[Term]) -> None:
    """Any terms in any alphabet: finite scores in [0, 1] in the promised shape, 1 for equal texts."""
    found = measure_named(name).matrix(asked, seen)
    assert found.shape == (len(asked), len(seen))
    assert found.dtype == np.float32
    assert np.isfinite(found).all()
    assert (found >= 0).all()
    assert (found <= 1).all()
    for i, a in enumerate(asked):
        for j, b in enumerate(seen):
            if a == b if name == "sameness" else fold(a.text) == fold(b.text):
                assert found[i, j] == 1


@pytest.mark.parametrize("name", NAMES)
@given(asked=st.lists(terms, min_size=1, max_size=4), seen=st.lists(terms, min_size=1, max_size=4))
def test_an_answer_does_not_depend_on_the_company(name: str, asked: list[Term], seen: list[Term]) -> None:
    """A pair scores the same alone as in any matrix."""
    measure = measure_named(name)
    together = measure.matrix(asked, seen)
    for i, a in enumerate(asked):
        for j, b in enumerate(seen):
            assert measure.matrix([a], [b])[0, 0] == pytest.approx(together[i, j], abs=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_what_nothing_is_known_about_is_related_to_nothing(name: str) -> None:
    unknown = [Term("qzxwvu"), Term(""), Term("дом")]
    found = measure_named(name).matrix(unknown, [Term("temperature"), Term("qpqpqp"), Term("река")])
    assert not found.any()


@pytest.mark.parametrize("name", NAMES)
def test_a_configuration_rebuilds_the_measure(name: str, embedded: Space) -> None:
    """What is saved with a matcher brings back a measure with the same answers."""
    configuration = embedded.measure(name).configuration()
    again = embedded.measure(str(configuration.pop("name")), **configuration)
    asked, seen = [Term("wind speed"), Term("laptop")], [Term("wind_avg_km_h"), Term("computer")]
    assert np.array_equal(again.matrix(asked, seen), embedded.measure(name).matrix(asked, seen))


@pytest.mark.parametrize("name", NAMES)
def test_the_default_space_tells_related_from_unrelated(name: str) -> None:
    """Each measure puts a plainly related pair above a plainly unrelated one."""
    pairs = {"names": ("temperature", "TempC_SHT", "pressure")}
    asked, near, far = pairs.get(name, ("car", "automobile", "banana"))
    found = measure_named(name).matrix([Term(asked)], [Term(near), Term(far)])[0]
    assert found[0] > found[1]
