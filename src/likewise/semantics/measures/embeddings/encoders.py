"""Models a user may supply for the `embeddings` measure, found by what a folder or file holds.

| what | how it is read |
|---|---|
| a folder with `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json` | onnxruntime, if it is installed |
| a sentence-transformers folder of a BERT model (`model.safetensors`) | our own forward pass (`bert`) |
| a folder with `vectors.npy` and `words.txt`, one word a line | static word vectors, mapped |
| a text file, `word number number ...` on each line | static word vectors |
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from likewise.errors import ArtefactDamaged, ArtefactMissing, FormatError, MissingDependency
from likewise.model.text import fold
from likewise.semantics.measures.embeddings.bert import LONGEST, BertEncoder
from likewise.semantics.text.identifiers import words_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Encoder(Protocol):
    """Texts to vectors of length 1; a text it knows nothing about has a row of zeros."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row for each text."""
        ...


def open_encoder(path: str | Path) -> Encoder:
    """The model in a folder or file.

    >>> open_encoder("no/such/model")
    Traceback (most recent call last):
    ...
    likewise.errors.ArtefactMissing: there is no embedding model at no/such/model; ...
    """
    path = Path(path)
    if path.is_file():
        return WordVectors(*_read_text(path))
    for onnx in (path / "model.onnx", path / "onnx" / "model.onnx"):
        if onnx.is_file():
            return OnnxEncoder(onnx, path / "tokenizer.json")
    if (path / "model.safetensors").is_file():
        return BertEncoder(path)
    if (path / "vectors.npy").is_file():
        words = (path / "words.txt").read_text("utf-8").split("\n")
        vectors = np.load(path / "vectors.npy", mmap_mode="r", allow_pickle=False)
        return WordVectors([w for w in words if w], vectors)
    raise ArtefactMissing(
        f"there is no embedding model at {path}; expected a folder with model.onnx, model.safetensors or "
        "vectors.npy, or a text file of word vectors"
    )


class WordVectors:
    """Static word vectors: a term is the mean of its known words' unit vectors.

    >>> vectors = WordVectors(["hot", "cold"], np.array([[1.0, 0.0], [0.0, 2.0]]))
    >>> vectors.encode(["Hot", "hotCold", "mild"]).astype(float).round(2).tolist()
    [[1.0, 0.0], [0.71, 0.71], [0.0, 0.0]]
    """

    def __init__(self, words: Sequence[str], vectors: NDArray[Any]) -> None:
        if vectors.ndim != 2 or len(words) != len(vectors):
            raise ArtefactDamaged(
                f"the word vectors hold {len(words):,} words and an array of shape {vectors.shape}; "
                "expected one row for each word"
            )
        self._place: dict[str, int] = {}
        for i, word in enumerate(words):
            self._place.setdefault(fold(word.replace("_", " ")), i)
        self._vectors = vectors

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row for each text."""
        out = np.zeros((len(texts), self._vectors.shape[1]), dtype=np.float32)
        for i, text in enumerate(texts):
            found = self._rows(text)
            if found:
                out[i] = _unit(_unit(np.asarray(self._vectors[found], dtype=np.float32)).mean(axis=0))
        return out

    def _rows(self, text: str) -> list[int]:
        """The rows of the whole text, else of its words, else of its words' parts."""
        if (whole := self._place.get(fold(text))) is not None:
            return [whole]
        rows: list[int] = []
        for word in text.split():
            place = self._place.get(fold(word))
            parts = [place] if place is not None else [self._place.get(fold(part)) for part in words_of(word)]
            rows += [row for row in parts if row is not None]
        return rows


class OnnxEncoder:
    """A sentence model exported to ONNX, its word pieces' vectors averaged."""

    def __init__(self, model: Path, tokenizer: Path) -> None:
        try:
            from onnxruntime import InferenceSession  # type: ignore[import-untyped]
            from tokenizers import Tokenizer
        except ImportError:
            raise MissingDependency("onnxruntime (and tokenizers)", "embeddings") from None
        self._session = InferenceSession(str(model), providers=["CPUExecutionProvider"])
        self._inputs = [entry.name for entry in self._session.get_inputs()]
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.enable_truncation(LONGEST)
        self._tokenizer.enable_padding()

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row for each text."""
        encoded = self._tokenizer.encode_batch(list(texts))
        mask = np.array([e.attention_mask for e in encoded], dtype=np.int64)
        given = {
            "input_ids": np.array([e.ids for e in encoded], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        hidden = self._session.run(None, {name: given[name] for name in self._inputs})[0]
        if hidden.ndim == 3:
            hidden = (hidden * mask[:, :, None]).sum(axis=1) / np.maximum(mask.sum(axis=1, keepdims=True), 1)
        return _unit(hidden.astype(np.float32))


def _read_text(path: Path) -> tuple[list[str], NDArray[np.float32]]:
    """Word vectors from text; a first line of two numbers (as word2vec and fastText write) is skipped."""
    words: list[str] = []
    rows: list[NDArray[np.float32]] = []
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            fields = line.rstrip().split(" ")
            if number == 1 and len(fields) == 2:
                continue
            try:
                rows.append(np.array(fields[1:], dtype=np.float32))
            except ValueError:
                raise FormatError(
                    f"{path}, line {number}: expected a word and numbers, separated by blanks, found {line[:60]!r}"
                ) from None
            words.append(fields[0])
            if len(rows[-1]) != len(rows[0]) or not len(rows[0]):
                raise FormatError(
                    f"{path}, line {number}: expected {len(rows[0])} numbers after the word, found {len(rows[-1])}"
                )
    if not rows:
        raise FormatError(f"{path} holds no word vectors")
    return words, np.stack(rows)


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows, or one row, brought to length 1; zeros stay zeros."""
    out: NDArray[np.float32] = rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-12)
    return out
