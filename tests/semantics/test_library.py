"""Promises of likewise.semantics.library, embedded, space and nearest."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import platformdirs
import pytest

from likewise.errors import ArtefactError, ArtefactMissing, InputError
from likewise.semantics import library
from likewise.semantics.measure import Term
from likewise.semantics.space import Space
from likewise.semantics.spaces.files import SpaceFiles
from likewise.semantics.wordnet import embedded as artefact
from likewise.semantics.wordnet import unpacked
from likewise.semantics.wordnet.compact import compact, unpack
from likewise.semantics.wordnet.database import WordNet, read_wordnet
from likewise.semantics.wordnet.embedded import (
    LATENT,
    WORDNET,
    fit_latent,
    latent_documents,
    packed,
    unpack_core,
    write_wordnet_space,
)
from tests.semantics.tiny_wordnet import write_tiny_wordnet


def test_the_artefacts_fit_into_four_megabytes() -> None:
    assert sum(len(packed(name)) for name in (WORDNET, LATENT, artefact.CALIBRATION)) <= 4 * 2**20


def test_a_rebuild_gives_the_identical_arrays(real_wordnet: WordNet) -> None:
    """From Debian's wordnet-base: every array of the packed WordNet, and so the whole space."""
    again, stored = compact(real_wordnet), unpack(packed(WORDNET))
    assert (again.lexicon, again.vocabulary, again.parts) == (stored.lexicon, stored.vocabulary, stored.parts)
    for name in ("words", "lexicon_tokens", "definitions", "examples"):
        assert np.array_equal(getattr(again, name).values, getattr(stored, name).values)
        assert np.array_equal(getattr(again, name).ends, getattr(stored, name).ends)
    assert np.array_equal(again.senses, stored.senses)
    assert np.array_equal(again.tags, stored.tags)
    assert again.relations.keys() == stored.relations.keys()
    assert all(np.array_equal(again.relations[k], stored.relations[k]) for k in stored.relations)
    assert again.irregular == stored.irregular


def test_the_unpacked_space_is_whole_and_says_the_same_everywhere(embedded: Space, tmp_path: Path) -> None:
    """Every hash holds, and unpacking again gives the same postings."""
    embedded.files.verify()
    again = write_wordnet_space(tmp_path / "again", unpack(packed(WORDNET)))
    for name in ("documents.npy", "frequencies.npy", "posting_ends.npy", "terms.bin", "taxonomy_ancestors.npy"):
        assert again.manifest.files[name].sha256 == embedded.files.manifest.files[name].sha256


def test_the_embedded_space_is_opened_once(embedded: Space) -> None:
    assert library.load_space() is embedded
    assert library.load_space("wordnet") is embedded


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own, and a small WordNet in place of the packed one."""
    arrays = compact(read_wordnet(write_tiny_wordnet(tmp_path / "wordnet")))
    monkeypatch.setattr(artefact, "unpack", lambda _: arrays)
    monkeypatch.setattr(artefact, "unpack_core", lambda _: None)
    cache = tmp_path / "cache"
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda _: cache)
    return cache


def test_unpacking_leaves_one_whole_folder(tiny: Path) -> None:
    """However many threads unpack at once, and nothing temporary stays behind."""
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.append(unpacked.embedded_files().manifest.checksum)) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(found)) == 1
    assert [p.name for p in (tiny / "spaces").iterdir()] == [f"wordnet-{artefact.checksum()[:16]}"]


def test_a_damaged_cache_is_unpacked_again(tiny: Path) -> None:
    folder = unpacked.embedded_files().folder
    (folder / "documents.npy").write_bytes(b"short")
    unpacked.embedded_files().verify()


def test_where_no_cache_can_be_written_the_space_still_opens(tiny: Path) -> None:
    """A file stands where the cache's folder should be: a clear error; a read-only place: a folder of the process."""
    tiny.write_text("in the way")
    with pytest.raises(ArtefactError, match="XDG_CACHE_HOME"):
        unpacked.embedded_files()


def test_a_read_only_cache_is_done_without(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(folder: Path) -> SpaceFiles:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(unpacked, "_unpacked", refused)
    files = unpacked.embedded_files()
    assert files.manifest.counts.documents == 13
    assert not tiny.exists()


def test_named_spaces_are_found_in_the_users_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By name, by path; an unknown name lists the known ones."""
    monkeypatch.setenv("LIKEWISE_SPACES", str(tmp_path))
    arrays = compact(read_wordnet(write_tiny_wordnet(tmp_path / "wn")))
    write_wordnet_space(tmp_path / "mine", arrays)
    assert library.named_spaces() == ["mine"]
    by_name = library.load_space("mine")
    assert by_name is library.load_space(tmp_path / "mine")
    assert by_name.files.manifest.counts.documents == 13
    with pytest.raises(ArtefactMissing, match="there are wordnet, mine"):
        library.load_space("yours")
    with pytest.raises(ArtefactMissing, match=r"manifest\.json"):
        library.load_space(tmp_path / "nowhere")


def test_latent_vectors_can_be_fitted_and_folded_in(tmp_path: Path) -> None:
    """On a small space: documents with the same words come close, and fitting twice gives the same."""
    files = write_wordnet_space(tmp_path / "tiny", compact(read_wordnet(write_tiny_wordnet(tmp_path / "wn"))))
    core = fit_latent(files, dimensions=4, core=20)
    assert core == fit_latent(files, dimensions=4, core=20)
    rows, scales = latent_documents(files, core)
    assert rows.shape == (13, 4)
    assert np.isfinite(scales).all()


def test_the_packed_latent_core_fits_its_space(embedded: Space) -> None:
    terms, vectors, singular = unpack_core(packed(LATENT)).vectors()
    assert len(terms) == len(vectors) == 5_000
    assert terms.max() < embedded.files.manifest.counts.terms
    assert (np.diff(singular) <= 1e-6).all()


def test_evidence_says_what_made_a_score(embedded: Space) -> None:
    """Every measure's score, the themes' reach, the score without them, the shared documents."""
    found = embedded.describe(Term("bank", theme=("money",)), Term("deposit", theme=("money",)))
    assert {name for name, _ in found.scores} == {
        "esa",
        "thematic",
        "latent",
        "jcn",
        "path",
        "gloss",
        "names",
        "combine",
    }
    assert found.score == dict(found.scores)["combine"]
    assert found.asked_basis == found.seen_basis > 1_000
    assert found.without_themes == pytest.approx(embedded.relatedness("bank", "deposit"))
    assert any("bank" in document.title for document in found.documents)
    assert 0 < sum(document.share for document in found.documents) <= 1 + 1e-6
    assert found.notes == ()


def test_evidence_names_what_had_to_be_fallen_back_on(embedded: Space) -> None:
    found = embedded.describe(Term("", theme=("qzxw",)), Term("дом", theme=("money",)))
    assert found.score == 0
    assert any("is empty" in note for note in found.notes)
    assert any("knows no word of 'дом'" in note for note in found.notes)
    assert any("theme of the asked term is unknown" in note for note in found.notes)
    lost = embedded.describe(Term("penguin", theme=("carburetor",)), Term("bird"))
    assert any("nothing of the asked term lies within its theme" in note for note in lost.notes)


def test_the_nearest_words_are_related_ones(embedded: Space) -> None:
    """Words, not stems; the best first; under a theme those of its domain; none for an unknown term."""
    found = embedded.nearest("battery", 5)
    assert len(found) == 5
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    assert {"charger", "recharge", "nicad", "voltaic", "anode", "electrode"} & {
        word for word, _ in embedded.nearest("battery", 20)
    }
    assert "riverbank" in {word for word, _ in embedded.nearest("bank", 20, themes=["river"])}
    assert embedded.nearest("qzxw", 5) == []
    with pytest.raises(InputError, match="at least 1"):
        embedded.nearest("battery", 0)
