"""Thesauri: what may stand for a term."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from likewise.errors import ArtefactMissing, FormatError
from likewise_experiments.thematic.thesauri import open_thesaurus
from likewise_experiments.thematic.thesaurus import eurovoc
from likewise_experiments.thematic.wordnet_thesaurus import wordnet
from tests.experiments.small_thesaurus import small_thesaurus

EUROVOC = {
    "schemes": {"10": {"domain": 48}, "11": {"domain": 4}},
    "concepts": {
        "1": {
            "inScheme": [10],
            "topConceptOf": [10],
            "prefLabel": {"en": "transport", "fr": "transport"},
            "narrower": [2],
            "related": [3],
        },
        "2": {
            "inScheme": [10],
            "prefLabel": {"en": "vehicle"},
            "altLabel": {"en": ["transport equipment"]},
            "broader": [1],
        },
        "3": {"inScheme": [11], "topConceptOf": [11], "prefLabel": {"en": "politics"}},
    },
}


def texts(found: object) -> list[str]:
    """The alternatives' texts."""
    return [a.text for a in found]  # type: ignore[attr-defined]


def test_the_longest_known_run_of_words_is_replaced() -> None:
    """As in the paper: `increased energy consumption event` -> `increased use of energy event`."""
    found = small_thesaurus().alternatives("increased energy consumption event")
    assert texts(found) == ["increased use of energy event", "increased consumption event"]
    assert [a.synonym for a in found] == [True, False]


def test_a_term_is_never_its_own_alternative() -> None:
    """Neither as it is nor in another case."""
    assert texts(small_thesaurus().alternatives("CITY")) == ["town", "town planning", "urban area"]
    assert small_thesaurus().alternatives("unheard of") == ()


def test_eurovoc_is_read_for_the_domains_asked_for(tmp_path: Path) -> None:
    """Labels, related and narrower concepts; top terms of the micro-thesauri of those domains alone."""
    path = tmp_path / "eurovoc.json.gz"
    path.write_bytes(gzip.compress(json.dumps(EUROVOC).encode()))
    read = eurovoc(path)
    assert read.top_terms() == ("transport",)
    assert texts(read.alternatives("transport")) == ["politics", "vehicle"]
    assert texts(read.alternatives("vehicle")) == ["transport equipment"]
    assert read.alternatives("politics") == ()


def test_what_is_no_eurovoc_is_refused(tmp_path: Path) -> None:
    """With what was expected and found."""
    (tmp_path / "x.json").write_text('{"a": 1}')
    with pytest.raises(FormatError, match="not EuroVoc"):
        eurovoc(tmp_path / "x.json")
    with pytest.raises(ArtefactMissing, match="no thesaurus at"):
        open_thesaurus(str(tmp_path / "none.json"))


def test_wordnet_serves_where_eurovoc_is_absent() -> None:
    """Synonyms of the first sense, kinds and wholes as related; as many top terms as EuroVoc's domains have."""
    read = wordnet()
    found = read.alternatives("city")
    assert {"metropolis", "urban center"} <= {a.text for a in found if a.synonym}
    assert "municipality" in {a.text for a in found if not a.synonym}
    assert len(read.top_terms()) == 206


def test_the_shared_eurovoc_has_the_papers_top_terms(shared: Path) -> None:
    """206 top terms in the six domains of section 5.2.2."""
    read = eurovoc(shared / "data" / "eurovoc" / "eurovoc-2021-en-fr.json.gz")
    assert len(read.top_terms()) == 206
    assert "land transport" in read.top_terms()
    assert {"Eire", "Southern Ireland"} <= set(texts(read.alternatives("Ireland")))
