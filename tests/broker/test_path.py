"""The benchmark of the broker's path, in small: what goes through the broker is what matching alone finds."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.broker_path import path, w1, w2


@pytest.mark.parametrize("make", [w1, w2])
def test_as_many_matches_are_stored_as_the_matcher_finds_alone(tmp_path: Path, make: Callable[..., Any]) -> None:
    """`path` compares them itself; both workloads meet something."""
    asked, events = make(random.Random(1), 1_000, 600)
    found = path(asked, events, tmp_path / "data", rounds=1)
    assert found["matches_an_event"] > 0.5
    assert set(found) >= {"alone", "alone_event_by_event", "broker"}
