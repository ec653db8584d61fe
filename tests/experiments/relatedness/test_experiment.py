"""Promises of likewise_experiments.relatedness.experiment, and what the default measure achieves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from likewise.errors import FormatError
from likewise.semantics.library import load_space
from likewise_experiments.relatedness.experiment import evaluate, read_judgements, spearman

FEWEST = {"EN-WS-353-ALL": 0.72, "EN-MEN-TR-3k": 0.68, "EN-RG-65": 0.82, "EN-MTurk-771": 0.66}


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=30))
def test_spearman_is_scipys(pairs: list[tuple[int, int]]) -> None:
    a, b = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    if len(set(a)) > 1 and len(set(b)) > 1:
        assert spearman(a, b) == pytest.approx(spearmanr(a, b)[0], abs=1e-9)
    else:
        assert spearman(a, b) == 0


def test_pairs_are_read_with_blanks_or_tabs(tmp_path: Path) -> None:
    path = tmp_path / "pairs.txt"
    path.write_text("# judged\ncar automobile 9.5\n\nhot dog\tsausage\t7\n", encoding="utf-8")
    assert [(j.first, j.second, j.score) for j in read_judgements(path)] == [
        ("car", "automobile", 9.5),
        ("hot dog", "sausage", 7.0),
    ]


def test_a_bad_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "pairs.txt"
    path.write_text("car automobile 9.5\ncar automobile\n")
    with pytest.raises(FormatError, match="line 2"):
        read_judgements(path)
    path.write_text("car automobile 9.5\n")
    with pytest.raises(FormatError, match="at least 2"):
        read_judgements(path)


def test_unknown_terms_are_counted_and_score_nothing(tmp_path: Path) -> None:
    path = tmp_path / "pairs.txt"
    path.write_text("car automobile 9\ncar qzxw 1\ncar banana 2\nwater river 7\n")
    found = evaluate(load_space(), path)
    assert (found.pairs, found.unknown, found.measure) == (4, 1, "combine")
    assert found.spearman > 0.7


@pytest.mark.parametrize("name", FEWEST)
def test_the_default_measure_follows_peoples_judgements(shared: Path, name: str) -> None:
    path = shared / "data" / "relatedness" / f"{name}.txt"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    assert evaluate(load_space(), path).spearman >= FEWEST[name]
