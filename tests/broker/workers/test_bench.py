"""`likewise bench elastic` measures what it says."""

from __future__ import annotations

import pytest

from benchmarks.elastic import stage


@pytest.mark.timeout(300)
def test_one_worker_two_alike_and_two_parts_find_the_same() -> None:
    found = stage(200, 300, 1, seed=1, kinds=("w2",))
    assert found["w2"]["matches_agree"]
    assert set(found["w2"]["us"]) == {"one", "replicated", "partitioned"}
