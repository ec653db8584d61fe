"""Relatedness by dense vectors of a model that the user supplies.

Reimers, N. and Gurevych, I.: Sentence-BERT, EMNLP 2019, for sentence models; Mikolov, T. et al.: Efficient
estimation of word representations in vector space, 2013, for static vectors. The thematic variant
carries Algorithm 1 of Hasan and Curry 2014 over to dense vectors: a theme keeps the dimensions in which
its own vector is strongest (the stronger half) and the others are set to zero.

Encoders for the `embeddings` measure, chosen by the content of a folder or file.

| what | how it is read |
|---|---|
| a folder with `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json` | onnxruntime, if it is installed |
| a sentence-transformers folder of a BERT model (`model.safetensors`) | our own forward pass (`bert`) |
| a folder with `vectors.npy` and `words.txt`, one word a line | static word vectors, mapped |
| a text file, `word number number ...` on each line | static word vectors |

A BERT encoder in NumPy: enough to turn short texts into sentence vectors without a deep-learning stack.

Devlin, J. et al.: BERT, NAACL 2019 (the encoder); Reimers, N. and Gurevych, I.: Sentence-BERT, EMNLP 2019
(mean pooling over the word pieces). Reads what sentence-transformers writes: `config.json`,
`tokenizer.json` and `model.safetensors`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec
import numpy as np

from likewise import defaults
from likewise.errors import (
    ArtefactDamaged,
    ArtefactMissing,
    ArtefactVersion,
    FormatError,
    InputError,
    MissingDependency,
)
from likewise.model.text import fold
from likewise.semantics.measure import Term
from likewise.semantics.measures.esa import set_equal_to_one
from likewise.semantics.text.identifiers import split_identifier
from likewise.semantics.vectors.lru_cache import LruCache
from likewise.semantics.vectors.prepared_terms import PreparedTerms
from likewise.semantics.vectors.term_vectors import Theme, theme_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

LONGEST: Final = 128  # word pieces of a text that count; terms are short
BATCH: Final = 64


class _Config(msgspec.Struct):
    model_type: str
    num_hidden_layers: int
    num_attention_heads: int
    hidden_size: int
    layer_norm_eps: float = 1e-12
    hidden_act: str = "gelu"
    max_position_embeddings: int = 512


class BertEncoder:
    """Sentence vectors of length 1 from a model folder."""

    def __init__(self, folder: Path) -> None:
        try:
            from safetensors.numpy import load_file
            from tokenizers import Tokenizer
        except ImportError:
            raise MissingDependency("the tokenizers and safetensors packages", "embeddings") from None
        self._config = msgspec.json.decode((folder / "config.json").read_bytes(), type=_Config)
        if self._config.model_type != "bert" or self._config.hidden_act != "gelu":
            raise ArtefactVersion(
                f"the model in {folder} is a {self._config.model_type!r} with {self._config.hidden_act!r}; "
                "models of type 'bert' with 'gelu' are read directly: export others to model.onnx"
            )
        weights: dict[str, Any] = load_file(folder / "model.safetensors")
        self._weights = {name.removeprefix("bert."): w.astype(np.float32) for name, w in weights.items()}
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(min(LONGEST, self._config.max_position_embeddings))
        self._tokenizer.enable_padding(length=None)
        if "embeddings.word_embeddings.weight" not in self._weights:
            raise ArtefactDamaged(f"the model in {folder} has no word embeddings; download it again")

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row per text."""
        out = np.zeros((len(texts), self._config.hidden_size), dtype=np.float32)
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        for start in range(0, len(order), BATCH):
            chosen = order[start : start + BATCH]
            encoded = self._tokenizer.encode_batch([texts[i] for i in chosen])
            ids = np.array([e.ids for e in encoded])
            mask = np.array([e.attention_mask for e in encoded], dtype=np.float32)
            pooled = (self._hidden(ids, mask) * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
            out[chosen] = pooled / np.maximum(np.linalg.norm(pooled, axis=1, keepdims=True), 1e-12)
        return out

    def _hidden(self, ids: NDArray[Any], mask: NDArray[np.float32]) -> NDArray[np.float32]:
        w = self._weights
        x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.token_type_embeddings.weight"][0]
        x = self._norm(x + w["embeddings.position_embeddings.weight"][: ids.shape[1]], "embeddings.LayerNorm")
        bias = (1 - mask)[:, None, None, :] * np.float32(-1e9)
        for layer in range(self._config.num_hidden_layers):
            name = f"encoder.layer.{layer}"
            attended = self._attention(x, bias, f"{name}.attention.self")
            dense = self._linear(attended, f"{name}.attention.output.dense")
            x = self._norm(x + dense, f"{name}.attention.output.LayerNorm")
            inner = _gelu(self._linear(x, f"{name}.intermediate.dense"))
            x = self._norm(x + self._linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")
        return x

    def _attention(self, x: NDArray[np.float32], bias: NDArray[np.float32], name: str) -> NDArray[np.float32]:
        batch, length, width = x.shape
        heads = self._config.num_attention_heads

        def split(part: str) -> NDArray[np.float32]:
            return self._linear(x, f"{name}.{part}").reshape(batch, length, heads, width // heads).transpose(0, 2, 1, 3)

        scores = split("query") @ split("key").transpose(0, 1, 3, 2) / np.float32((width // heads) ** 0.5) + bias
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        joined: NDArray[np.float32] = (scores @ split("value")).transpose(0, 2, 1, 3).reshape(batch, length, width)
        return joined

    def _linear(self, x: NDArray[np.float32], name: str) -> NDArray[np.float32]:
        weight = self._weights[f"{name}.weight"]
        rows = x.reshape(-1, x.shape[-1]) @ weight.T  # one product instead of one for each text
        rows += self._weights[f"{name}.bias"]
        out: NDArray[np.float32] = rows.reshape(*x.shape[:-1], len(weight))
        return out

    def _norm(self, x: NDArray[np.float32], name: str) -> NDArray[np.float32]:
        x = x - x.mean(axis=-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + np.float32(self._config.layer_norm_eps))
        out: NDArray[np.float32] = x * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
        return out


def _gelu(x: NDArray[np.float32]) -> NDArray[np.float32]:
    from scipy.special import erf

    out: NDArray[np.float32] = x * np.float32(0.5) * (1 + erf(x / np.float32(2**0.5)))
    return out


class Encoder(Protocol):
    """Text encoder with unit vectors; an unknown text has a row of zeros."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row per text."""
        ...


def open_encoder(path: str | Path) -> Encoder:
    """Open the model in a folder or file.

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
    """Static word vectors. A term is the mean of the unit vectors of its known words.

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
        """Return one row per text."""
        out = np.zeros((len(texts), self._vectors.shape[1]), dtype=np.float32)
        for i, text in enumerate(texts):
            rows = self._rows(text)
            if rows:
                out[i] = _unit(_unit(np.asarray(self._vectors[rows], dtype=np.float32)).mean(axis=0))
        return out

    def _rows(self, text: str) -> list[int]:
        """Return the rows of the whole text, else of its words, else of their parts."""
        if (whole := self._place.get(fold(text))) is not None:
            return [whole]
        rows: list[int] = []
        for word in text.split():
            place = self._place.get(fold(word))
            parts = [place] if place is not None else [self._place.get(fold(part)) for part in split_identifier(word)]
            rows += [row for row in parts if row is not None]
        return rows


class OnnxEncoder:
    """Sentence model exported to ONNX, with mean pooling over the word pieces."""

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
        """Return one row per text."""
        encoded = self._tokenizer.encode_batch(list(texts))
        mask = np.array([e.attention_mask for e in encoded], dtype=np.int64)
        inputs = {
            "input_ids": np.array([e.ids for e in encoded], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        hidden = self._session.run(None, {name: inputs[name] for name in self._inputs})[0]
        if hidden.ndim == 3:
            hidden = (hidden * mask[:, :, None]).sum(axis=1) / np.maximum(mask.sum(axis=1, keepdims=True), 1)
        return _unit(hidden.astype(np.float32))


def _read_text(path: Path) -> tuple[list[str], NDArray[np.float32]]:
    """Read word vectors from text. A first line of two numbers (word2vec, fastText) is skipped."""
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
    """Return rows, or one row, normalised to length 1; zeros stay zeros."""
    out: NDArray[np.float32] = rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-12)
    return out


class EmbeddingsMeasure:
    """Cosine of two terms' vectors, clipped at 0.

    `model` is a folder or file (`open_encoder`); with `thematic` each side is first projected by its theme.
    Identifiers are cut into words before they are encoded. Vectors are kept within a bound.
    """

    name = "embeddings"

    def __init__(self, model: str | None = None, *, thematic: bool | str = False) -> None:
        if model is None:
            raise InputError(
                "the measure 'embeddings' needs a model: give model=FOLDER, a sentence-transformers or ONNX folder "
                "or a file of word vectors"
            )
        self.model, self.thematic = str(model), str(thematic).lower() in ("true", "1", "yes")
        self._encoder: Encoder = open_encoder(model)
        self._kept: LruCache[str, NDArray[np.float32]] = LruCache(
            defaults.TERM_CACHE_BYTES, lambda row: row.nbytes + 200
        )
        self._side: PreparedTerms[NDArray[np.float32]] = PreparedTerms(self._rows)

    def configuration(self) -> dict[str, object]:
        """Return the settings that rebuild this measure, given the same model."""
        return {"name": self.name, "model": self.model, "thematic": self.thematic}

    def matrix(self, queries: Sequence[Term], candidates: Sequence[Term]) -> NDArray[np.float32]:
        """The relatedness of every asked term with every seen one."""
        return set_equal_to_one(self.cosines(queries, candidates), queries, candidates)

    def cosines(self, queries: Sequence[Term], candidates: Sequence[Term]) -> NDArray[np.float32]:
        """Return the cosines, clipped at 0, without the rule for equal terms."""
        out: NDArray[np.float32] = np.clip(self._side(queries) @ self._side(candidates).T, 0, 1)
        return out

    def _rows(self, terms: Sequence[Term]) -> NDArray[np.float32]:
        themes = [theme_of(t.theme) if self.thematic else () for t in terms]
        texts = [_readable(t.text) for t in terms]
        vectors = self._encoded([*texts, *(tag for theme in set(themes) for tag in theme)])
        rows = np.array([vectors[text] for text in texts], dtype=np.float32).reshape(len(terms), -1)
        masks = {theme: _mask(theme, vectors) for theme in set(themes) if theme}
        for i, theme in enumerate(themes):
            if theme:
                row = rows[i] * masks[theme]
                length = np.linalg.norm(row)
                rows[i] = row / length if length > 0 else row
        return rows

    def _encoded(self, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Return a unit vector for each distinct text; the missing ones are encoded together."""
        out = {}
        for text in set(texts):
            cached = self._kept.get(text)
            if cached is not None:
                out[text] = cached
        missing = sorted(set(texts) - set(out))
        if missing:
            for text, row in zip(missing, self._encoder.encode(missing), strict=True):
                out[text] = row if text else np.zeros_like(row)
                self._kept.put(text, out[text])
        return out


def _readable(text: str) -> str:
    """Return an identifier as words; ordinary text is unchanged.

    >>> _readable("wind_avg_km_h"), _readable("batteryLevel"), _readable("hot water")
    ('wind avg km h', 'battery level', 'hot water')
    """
    return fold(" ".join(part for word in text.split() for part in split_identifier(word)))


def _mask(theme: Theme, vectors: dict[str, NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return the dimensions of a theme: the stronger half of its tags' mean; all, for a theme without a vector."""
    strength = np.abs(np.mean([vectors[tag] for tag in theme], axis=0))
    if not strength.any():
        return np.ones_like(strength)
    mask: NDArray[np.float32] = (strength >= np.median(strength)).astype(np.float32)
    return mask
