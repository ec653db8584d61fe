"""`likewise bench elastic` measures what it says."""

from __future__ import annotations

import pytest

from benchmarks.workers.stage import gains


@pytest.mark.timeout(300)
def test_one_worker_two_alike_and_two_parts_find_the_same() -> None:
    found = gains("w2", 200, 300, 1, seed=1)
    assert found["matches_agree"]
    assert set(found["us"]) == {"one", "replicated", "partitioned"}
