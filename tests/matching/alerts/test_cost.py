"""The figures of `likewise bench alerts` come from what is promised: states that were saved come back, all are said."""

from __future__ import annotations

from benchmarks.alerts import run


def test_the_benchmark_runs_in_small() -> None:
    report = run(600, 1_000, seed=1)
    assert report["save"]["states"] == report["tick"]["states"] > 0
    assert 0 < report["tick"]["said"] <= report["tick"]["states"]
    assert [each["keys"] for each in report["keys"]] == [1_000]
