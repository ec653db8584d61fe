"""A BERT encoder in NumPy: enough to turn short texts into sentence vectors without a deep-learning stack.

Devlin, J. et al.: BERT, NAACL 2019 (the encoder); Reimers, N. and Gurevych, I.: Sentence-BERT, EMNLP 2019
(mean pooling over the word pieces). Reads what sentence-transformers writes: `config.json`,
`tokenizer.json` and `model.safetensors`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from likewise.errors import ArtefactDamaged, ArtefactVersion, MissingDependency

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
        """One row for each text."""
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
