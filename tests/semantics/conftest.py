"""What tests of meaning share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from likewise.semantics.library import load_space
from likewise.semantics.space import Space
from likewise.semantics.spaces.writer import write_space
from likewise.semantics.text.tokenizer import TokenizerSettings
from likewise.semantics.wordnet.database import DEFAULT_FOLDER, WordNet, read_wordnet


@pytest.fixture(scope="session")
def embedded() -> Space:
    return load_space()


@pytest.fixture(scope="session")
def real_wordnet() -> WordNet:
    """Debian's wordnet-base, or a skip."""
    if not (DEFAULT_FOLDER / "data.noun").is_file():
        pytest.skip("WordNet's database files are not installed (Debian: wordnet-base)")
    return read_wordnet()


@pytest.fixture
def space_of(tmp_path: Path) -> Callable[[list[dict[str, int]]], Space]:
    """Builds a space whose document i holds the counted tokens of bag i, without stop words or stems."""
    made = 0

    def build(bags: list[dict[str, int]]) -> Space:
        nonlocal made
        made += 1
        terms = sorted(set().union(*bags)) if bags else []
        postings = [(t, d, bag[t]) for t in terms for d, bag in enumerate(bags) if t in bag]
        df = Counter(t for t, _, _ in postings)
        ends, total = [], 0
        for term in terms:
            total += df[term]
            ends.append(total)
        files = write_space(
            tmp_path / f"space-{made}",
            name="small",
            kind="text",
            corpus="bags",
            tokenizer=TokenizerSettings(stemmer="none", stop_words="none"),
            terms=terms,
            titles=[f"document {d}" for d in range(len(bags))],
            posting_ends=ends,
            documents=[d for _, d, _ in postings],
            frequencies=[n for _, _, n in postings],
            document_maxima=[max(bag.values(), default=0) for bag in bags],
            document_frequencies=[df[t] for t in terms],
        )
        return Space(files)

    return build
