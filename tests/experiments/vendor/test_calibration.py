"""Probabilities are held against what was meant."""

from __future__ import annotations

import numpy as np
import pytest

from likewise_experiments.vendor.calibration import calibration_of


def test_probabilities_that_hold_have_no_distance_and_others_have_it() -> None:
    said = np.repeat([0.2, 0.6, 0.8, 1.0], [10, 10, 10, 5])
    right = np.array([k < share for share, n in ((2, 10), (6, 10), (8, 10), (5, 5)) for k in range(n)])
    assert calibration_of(said, right).error == pytest.approx(0)
    assert calibration_of(said, ~right).error > 0.3
    assert sum(each.pairs for each in calibration_of(said, right).bins) == 35


def test_pairs_that_nobody_would_call_a_find_are_left_out() -> None:
    found = calibration_of(np.array([0.01, 0.05]), np.array([True, False]))
    assert (found.bins, found.error) == ((), 0)
