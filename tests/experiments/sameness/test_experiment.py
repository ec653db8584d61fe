"""The sameness evaluation counts what is told apart and what is found, and says what went wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from likewise.errors import FormatError
from likewise.testing import TableMeasure
from likewise_experiments.sameness.experiment import evaluate_sameness, read_pairs

HEAD = "kind\tasked\tseen\tsame\tcategory\n"
ROWS = HEAD + "value\ton\toff\t0\topposite\nvalue\tcar\tauto\t1\tsynonym\nattribute\ta\tb\t1\t\n"


def test_counts_follow_the_scores(tmp_path: Path) -> None:
    """One different pair met, one same pair found, one missed."""
    path = tmp_path / "pairs.tsv"
    path.write_text(ROWS)
    result = evaluate_sameness(
        read_pairs(path), TableMeasure({("on", "off"): 0.9, ("car", "auto"): 0.6}), 0.5, path.name
    )
    assert (result.total.apart, result.total.different, result.total.found, result.total.same) == (0, 1, 1, 2)
    assert {(miss.asked, miss.same) for miss in result.misses} == {("on", False), ("a", True)}
    assert set(result.categories) == {"opposite", "synonym"}


@pytest.mark.parametrize(
    "text", ["", "asked\tseen\nx\ty\n", "kind\tasked\tseen\tsame\nvalue\tx\ty\t2\n", "kind\tasked\tseen\tsame\n"]
)
def test_a_file_that_holds_no_pairs_is_refused_with_its_line(tmp_path: Path, text: str) -> None:
    """Nothing is scored then."""
    path = tmp_path / "pairs.tsv"
    path.write_text(text)
    with pytest.raises(FormatError):
        read_pairs(path)
