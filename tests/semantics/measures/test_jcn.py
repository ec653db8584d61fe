"""Promises of likewise.semantics.measures.jcn and its kernels."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import InputError
from likewise.semantics.library import load_space
from likewise.semantics.measure import Term
from likewise.semantics.measures.jcn import JcnMeasure
from likewise.semantics.wordnet.compact import compact
from likewise.semantics.wordnet.database import read_wordnet
from likewise.semantics.wordnet.taxonomy import Taxonomy, taxonomy_files
from tests.semantics.plain_measures import plain_jcn
from tests.semantics.tiny_wordnet import write_tiny_wordnet

WORDS = ["car", "bank", "run", "temperature", "mouse", "heat", "usage", "laptops", "qzxw", "go", "light", "Paris"]


@pytest.fixture(scope="module")
def taxonomy(tmp_path_factory: pytest.TempPathFactory) -> Taxonomy:
    folder = write_tiny_wordnet(tmp_path_factory.mktemp("wordnet"))
    return Taxonomy(taxonomy_files(compact(read_wordnet(folder))))


@given(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=5),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=5),
    st.booleans(),
)
def test_words_score_by_the_formula(asked: list[str], seen: list[str], every: bool) -> None:
    """The kernel equals the plain search for the lowest common subsumer."""
    taxonomy = load_space().taxonomy
    measure = JcnMeasure(taxonomy, senses="all" if every else "first")
    found = measure.matrix([Term(a) for a in asked], [Term(b) for b in seen])
    for i, a in enumerate(asked):
        for j, b in enumerate(seen):
            expected = 1.0 if a == b else plain_jcn(taxonomy, a, b, every)
            assert found[i, j] == pytest.approx(expected, abs=1e-5)


def test_the_most_common_sense_counts_unless_all_do(taxonomy: Taxonomy) -> None:
    """A mouse is first an animal; only with all senses is it near a computer's parts."""
    first, every = JcnMeasure(taxonomy), JcnMeasure(taxonomy, senses="all")
    asked, seen = [Term("mouse")], [Term("computer"), Term("creature")]
    assert first.matrix(asked, seen)[0, 0] < first.matrix(asked, seen)[0, 1]
    assert every.matrix(asked, seen)[0, 0] > first.matrix(asked, seen)[0, 0]


def test_a_phrase_takes_the_mean_of_its_words_best_pairs(taxonomy: Taxonomy) -> None:
    """Both directions are averaged, and an unknown word's best pair is 0."""
    measure = JcnMeasure(taxonomy)
    single = measure.matrix([Term("wheel")], [Term("computer")])[0, 0]
    pair = measure.matrix([Term("wheel qzxw")], [Term("computer")])[0, 0]
    assert pair == pytest.approx((single / 2 + single) / 2, abs=1e-6)


def test_nouns_and_verbs_have_no_common_subsumer(taxonomy: Taxonomy) -> None:
    assert JcnMeasure(taxonomy, senses="all").matrix([Term("race")], [Term("computer")])[0, 0] == 0


def test_corpus_counts_change_the_scores(taxonomy: Taxonomy, tmp_path: Path) -> None:
    """Information content may come from a corpus; the file is part of the configuration."""
    path = tmp_path / "counts.tsv"
    path.write_text("computer\t5000\nwheel\t5000\nmouse\t1\n")
    measure = JcnMeasure(taxonomy, information=str(path))
    asked, seen = [Term("computer")], [Term("wheel")]
    assert measure.matrix(asked, seen)[0, 0] > JcnMeasure(taxonomy).matrix(asked, seen)[0, 0]
    assert measure.configuration()["information"] == str(path)


def test_a_wrong_choice_of_senses_is_refused(taxonomy: Taxonomy) -> None:
    with pytest.raises(InputError, match="there are first, all"):
        JcnMeasure(taxonomy, senses="some")  # type: ignore[arg-type]
