"""Promises of likewise.semantics.wordnet.database, compact_wordnet and taxonomy."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from likewise.errors import ArtefactDamaged, ArtefactMissing, FormatError
from likewise.semantics.text.tokenizer import Tokenizer
from likewise.semantics.wordnet.compact import CompactWordNet, compact, pack, unpack
from likewise.semantics.wordnet.database import WordNet, read_synset_documents, read_wordnet, synset_document
from likewise.semantics.wordnet.embedded import WORDNET, packed
from likewise.semantics.wordnet.taxonomy import Taxonomy, read_word_counts, taxonomy_files
from tests.semantics.tiny_wordnet import write_tiny_wordnet


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_wordnet(tmp_path_factory.mktemp("wordnet"))


@pytest.fixture(scope="module")
def taxonomy(folder: Path) -> Taxonomy:
    return Taxonomy(taxonomy_files(compact(read_wordnet(folder))))


def test_a_synset_has_its_words_senses_counts_and_gloss(folder: Path) -> None:
    """Underscores become blanks, markers go, the second sense of a word is known as such."""
    synsets = read_wordnet(folder).synsets
    assert synsets[3].words == ("motor vehicle", "automobile")
    assert synsets[3].counts == (0, 5)
    assert synsets[1].definition == "a device"
    assert synsets[1].examples == '"hums"'
    assert [(s.words[0], s.senses[0]) for s in synsets if "mouse" in s.words] == [("mouse", 1), ("mouse", 2)]
    assert next(s for s in synsets if s.part == "a").words == ("fast",)


def test_a_document_holds_words_gloss_and_neighbours(folder: Path) -> None:
    """Own words thrice, the definition twice, each neighbour's words and definition once."""
    synsets = read_wordnet(folder).synsets
    tokens = Counter(Tokenizer().tokens(synset_document(synsets[4], synsets).text))
    assert tokens["comput"] == 3 + 1
    assert tokens["calcul"] == 2
    assert tokens["machin"] == 2 + 1
    assert tokens["devic"] == 1 + 1


def test_a_missing_database_is_named(tmp_path: Path) -> None:
    with pytest.raises(ArtefactMissing, match=r"data\.noun is missing; install Debian's wordnet-base"):
        read_wordnet(tmp_path)


def test_a_damaged_line_is_shown(tmp_path: Path) -> None:
    write_tiny_wordnet(tmp_path)
    (tmp_path / "data.adv").write_text("00000310 02 r 0z quickly | what\n")
    with pytest.raises(ArtefactDamaged, match="00000310 02 r 0z"):
        read_wordnet(tmp_path)


def test_the_arrays_count_what_the_texts_say(folder: Path) -> None:
    """The packed form's documents, made by matrix products, equal a plain count of the documents' texts."""
    wordnet = read_wordnet(folder)
    assert_documents_equal(wordnet, unpack(pack(compact(wordnet))), every=1)


def test_the_arrays_count_what_the_texts_of_the_real_wordnet_say(real_wordnet: WordNet) -> None:
    """The shipped arrays against every 211th document of Debian's wordnet-base."""
    assert_documents_equal(real_wordnet, unpack(packed(WORDNET)), every=211)


def assert_documents_equal(wordnet: WordNet, arrays: CompactWordNet, every: int) -> None:
    counts, tokenizer = arrays.documents(), Tokenizer(arrays.tokenizer)
    titles = arrays.titles()
    for i in range(0, len(wordnet.synsets), every):
        document = synset_document(wordnet.synsets[i], wordnet.synsets)
        row = counts[[i]]
        found = {arrays.vocabulary[t]: int(n) for t, n in zip(row.indices, row.data, strict=True)}
        assert found == Counter(tokenizer.tokens(document.text))
        assert titles[i] == document.title


def test_documents_come_in_the_order_of_the_synsets(folder: Path) -> None:
    """What the pipeline reads is what the embedded space was made from."""
    synsets = read_wordnet(folder).synsets
    assert list(read_synset_documents(folder)) == [synset_document(s, synsets) for s in synsets]


def test_packing_loses_nothing(folder: Path) -> None:
    arrays = compact(read_wordnet(folder))
    again = unpack(pack(arrays))
    assert (again.lexicon, again.vocabulary, again.parts, again.irregular) == (
        arrays.lexicon,
        arrays.vocabulary,
        arrays.parts,
        arrays.irregular,
    )
    assert again.relations.keys() == arrays.relations.keys()
    assert all(np.array_equal(again.relations[k], arrays.relations[k]) for k in arrays.relations)
    assert np.array_equal(again.words.values, arrays.words.values)
    assert np.array_equal(again.definitions.ends, arrays.definitions.ends)


@pytest.mark.parametrize("cut", [0, 10, 200])
def test_a_cut_pack_is_refused(folder: Path, cut: int) -> None:
    with pytest.raises(ArtefactDamaged, match="install the package again"):
        unpack(pack(compact(read_wordnet(folder)))[:cut])


def test_words_are_found_in_their_forms(taxonomy: Taxonomy) -> None:
    """Regular and irregular forms, phrases, case; nouns before verbs; unknown words have no senses."""
    assert taxonomy.senses("MICE").tolist() == taxonomy.senses("mouse").tolist() == [5, 7]
    assert taxonomy.senses("computers").tolist() == [4]
    assert taxonomy.senses("motor vehicle").tolist() == [3]
    assert taxonomy.senses("racing").tolist() == [9]
    assert not taxonomy.has_word("")
    assert not taxonomy.has_word("дом")


def test_information_content_falls_towards_the_root(taxonomy: Taxonomy) -> None:
    """The root has none; a synset has at least its hypernym's; rarer ones have more."""
    information = taxonomy.information
    assert information[0] == 0
    starts = np.concatenate(([0], taxonomy.ancestor_ends))
    for synset in range(taxonomy.synsets):
        for ancestor in taxonomy.ancestors[starts[synset] : starts[synset + 1]]:
            assert information[ancestor] <= information[synset] + 1e-6
    assert information[4] > information[5]  # a computer was met less often than a mouse


def test_counts_of_words_replace_wordnets_own(taxonomy: Taxonomy, tmp_path: Path) -> None:
    path = tmp_path / "counts.tsv"
    path.write_text("# a corpus\ncomputer\t1000\nmouse\t2\nComputer\t1\n")
    information = taxonomy.information_of_words(read_word_counts(path))
    assert information[4] < information[5]


def test_a_bad_line_of_counts_is_named(tmp_path: Path) -> None:
    path = tmp_path / "counts.tsv"
    path.write_text("computer\tmany\n")
    with pytest.raises(FormatError, match="line 1"):
        read_word_counts(path)
