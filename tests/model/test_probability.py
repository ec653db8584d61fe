"""A curve makes scores probabilities: it never falls, ends at certainty, and can be asked the other way round."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import FormatError
from likewise.model.probability import AS_SCORED, ProbabilityCurve

CURVE = ProbabilityCurve((0.0, 0.3, 0.5, 0.8, 1.0), (0.0, 0.1, 0.6, 0.6, 1.0))


@given(st.floats(0, 1), st.floats(0, 1))
def test_it_never_falls(one: float, other: float) -> None:
    """A higher score is never less probable."""
    low, high = sorted((one, other))
    assert CURVE.of(low) <= CURVE.of(high) + 1e-12


@given(st.floats(0, 1))
def test_the_least_score_has_the_probability_and_no_lower_one_does(probability: float) -> None:
    """What `confidence` compares with."""
    least = CURVE.least(probability)
    assert CURVE.of(least) >= probability - 1e-9
    assert least == 0.0 or CURVE.of(least - 1e-6) <= probability + 1e-9


def test_many_scores_at_once_are_as_one_by_one() -> None:
    """To the precision of 32 bits; equal is certain."""
    scores = np.linspace(0, 1, 101, dtype=np.float32)
    assert np.allclose(CURVE.each(scores), [CURVE.of(float(score)) for score in scores], atol=1e-6)
    assert CURVE.of(1.0) == AS_SCORED.of(1.0) == 1.0


@pytest.mark.parametrize(
    ("scores", "probabilities"),
    [((0.0, 1.0), (0.5, 0.9)), ((0.0, 0.5), (0.0, 1.0)), ((0.0, 0.5, 1.0), (0.0, 0.9, 0.5)), ((0.0,), (1.0,))],
)
def test_what_is_no_curve_is_refused(scores: tuple[float, ...], probabilities: tuple[float, ...]) -> None:
    """One that falls, or does not reach from 0 to certainty."""
    with pytest.raises(FormatError):
        ProbabilityCurve(scores, probabilities)
