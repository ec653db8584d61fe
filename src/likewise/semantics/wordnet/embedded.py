"""The embedded space: made from WordNet 3.0, packed in the package, unpacked into the cache.

`python -m likewise.semantics.wordnet.database.embedded [WORDNET_FOLDER]` rebuilds the packed artefacts from WordNet's
database files (Debian's wordnet-base). What ships is WordNet in arrays (`compact_wordnet`), the core
of the latent vectors (`latent_fit`) and the calibration; the space's postings, the taxonomy and the
documents' latent vectors follow from these when it is unpacked, in a few seconds, once.
"""

from __future__ import annotations

import hashlib
import lzma
import sys
import tempfile
from functools import partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from likewise.errors import ArtefactMissing
from likewise.semantics.spaces.files import SpaceFiles
from likewise.semantics.spaces.writer import Extras, write_space
from likewise.semantics.wordnet.compact import CompactWordNet, compact, pack, unpack
from likewise.semantics.wordnet.database import DEFAULT_FOLDER, read_wordnet
from likewise.semantics.wordnet.relations import relations_files
from likewise.semantics.wordnet.taxonomy import taxonomy_files

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy import sparse

NAME: Final = "wordnet"
WORDNET: Final = "wordnet-3.0.xz"
LATENT: Final = "latent.xz"
CALIBRATION: Final = "calibration.json"
FORM: Final = b"2"  # raise it when the same artefacts unpack to other files


DIMENSIONS: Final = 256
CORE_TERMS: Final = 5_000
_OVERSAMPLING: Final = 16
_ITERATIONS: Final = 5
_STEP: Final = 0.34  # of a column's deviation: 16 levels reach 2.7 deviations to either side
_LEVELS: Final = 16


class LatentCore(msgspec.Struct, frozen=True):
    """Left singular vectors of the core terms as small integers: `(levels + 0.5) * columns * rows`."""

    terms: bytes
    levels: bytes
    rows: bytes
    columns: bytes
    singular: bytes

    def vectors(self) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.float32]]:
        """Return the core terms' numbers, their vectors, and the singular values."""
        columns, rows = np.frombuffer(self.columns, "<f4"), np.frombuffer(self.rows, "<f4")
        levels = np.frombuffer(self.levels, np.int8).reshape(len(rows), len(columns))
        values = ((levels + np.float32(0.5)) * columns * rows[:, None]).astype(np.float32)
        return np.frombuffer(self.terms, "<i4"), values, np.frombuffer(self.singular, "<f4")


def weight_matrix(files: SpaceFiles) -> sparse.csr_array:
    """Return the weights of every term (sources.md T), terms by documents."""
    from scipy import sparse

    counts = files.manifest.counts
    starts = np.concatenate(([0], files.posting_ends))
    highest = files.document_maxima[files.documents].astype(np.float32)
    tf = np.float32(0.5) + np.float32(0.5) * files.frequencies.astype(np.float32) / highest
    idf = np.log(counts.documents / files.document_frequencies).astype(np.float32)
    data = tf * np.repeat(idf, np.diff(starts))
    return sparse.csr_array((data, files.documents.astype(np.int32), starts), shape=(counts.terms, counts.documents))


def fit_latent(files: SpaceFiles, *, dimensions: int = DIMENSIONS, core: int = CORE_TERMS) -> LatentCore:
    """Decompose a space's weights, with terms and then documents normalised, and keep the core."""
    balanced, _ = _balanced(weight_matrix(files))
    random = np.random.default_rng(20140812)
    left, singular = _decomposed(balanced, dimensions, random)
    terms = np.sort(np.argsort(-files.document_frequencies.astype(np.int64), kind="stable")[:core])
    vectors = left[terms]
    rows = np.linalg.norm(vectors, axis=1).astype("<f4")
    unit = vectors / np.maximum(rows, 1e-12)[:, None]
    columns = unit.std(axis=0).astype("<f4")
    scaled = np.round(unit / np.maximum(columns, 1e-12) / _STEP - 0.5)
    levels = np.clip(scaled, -_LEVELS // 2, _LEVELS // 2 - 1).astype(np.int8)
    return LatentCore(
        terms.astype("<i4").tobytes(),
        levels.tobytes(),
        rows.tobytes(),
        (columns * np.float32(_STEP)).astype("<f4").tobytes(),
        singular.astype("<f4").tobytes(),
    )


def latent_documents(files: SpaceFiles, core: LatentCore) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Fold in every document: return rows of small integers and each row's scale."""
    terms, vectors, singular = core.vectors()
    balanced, lengths = _balanced(weight_matrix(files))
    rows = (balanced[terms].T.tocsr() @ vectors) / singular
    rows /= np.maximum(lengths, 1e-12)[:, None]
    scales = np.abs(rows).max(axis=1) / 127
    small = np.round(rows / np.maximum(scales, 1e-30)[:, None]).astype(np.int8)
    return small, scales.astype(np.float32)


def pack_core(core: LatentCore) -> bytes:
    """Compress a core."""
    return lzma.compress(msgspec.msgpack.encode(core), preset=9 | lzma.PRESET_EXTREME)


def unpack_core(packed: bytes) -> LatentCore:
    """Decompress a core."""
    return msgspec.msgpack.decode(lzma.decompress(packed), type=LatentCore)


def _balanced(weights: sparse.csr_array) -> tuple[sparse.csr_array, NDArray[np.float32]]:
    """Normalise terms, then documents; also return the length that each document had in between."""
    from scipy import sparse

    norms = np.sqrt(np.asarray(weights.multiply(weights).sum(axis=1))).ravel()
    rows = np.repeat(np.maximum(norms, 1e-12), np.diff(weights.indptr))
    data = (weights.data / rows).astype(np.float32)
    lengths = np.sqrt(np.bincount(weights.indices, weights=data * data, minlength=weights.shape[1])).astype(np.float32)
    data /= np.maximum(lengths, 1e-12)[weights.indices]
    return sparse.csr_array((data, weights.indices, weights.indptr), shape=weights.shape), lengths


def _decomposed(
    matrix: sparse.csr_array, dimensions: int, random: np.random.Generator
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the leading left singular vectors and values (Halko et al. 2011, algorithms 4.4 and 5.1)."""
    from scipy import linalg

    width = min(dimensions + _OVERSAMPLING, *matrix.shape)
    transposed: Any = matrix.T.tocsr()
    basis, _ = linalg.qr(matrix @ random.standard_normal((matrix.shape[1], width), dtype=np.float32), mode="economic")
    for _ in range(_ITERATIONS):
        other, _ = linalg.qr(transposed @ basis, mode="economic")
        basis, _ = linalg.qr(matrix @ other, mode="economic")
    inner, singular, _ = linalg.svd((transposed @ basis).T, full_matrices=False)
    left = basis @ inner
    left *= np.where(left[np.abs(left).argmax(axis=0), np.arange(left.shape[1])] < 0, -1, 1)  # one sign of two
    return left[:, :dimensions].astype(np.float32), singular[:dimensions].astype(np.float32)


def packed(name: str) -> bytes:
    """Return a packed artefact of the package."""
    path = resources.files("likewise") / "data" / name
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise ArtefactMissing(f"the package lacks its data file {name}; install it again") from None


def checksum() -> str:
    """Return the checksum of all artefacts, which names the folder of the unpacked space."""
    digest = hashlib.sha256(FORM)
    for name in (WORDNET, LATENT, CALIBRATION):
        digest.update(hashlib.sha256(packed(name)).digest())
    return digest.hexdigest()


def unpack_embedded(folder: str | Path) -> SpaceFiles:
    """Write the embedded space into a folder, all of it or nothing."""
    extras = {CALIBRATION: packed(CALIBRATION)}
    return write_wordnet_space(folder, unpack(packed(WORDNET)), core=unpack_core(packed(LATENT)), extras=extras)


def write_wordnet_space(
    folder: str | Path, wordnet: CompactWordNet, *, core: LatentCore | None = None, extras: Extras | None = None
) -> SpaceFiles:
    """Write a space with one document per synset, the taxonomy, and latent vectors if their core is given."""
    folder = Path(folder)
    counts = wordnet.documents()
    by_term = counts.tocsc()
    by_term.sort_indices()
    files = {f"taxonomy_{name}": content for name, content in taxonomy_files(wordnet).items()}
    files |= {f"relations_{name}": content for name, content in relations_files(wordnet).items()}
    write = partial(
        write_space,
        name=NAME,
        kind="wordnet",
        corpus="WordNet 3.0, a document a synset: its words, gloss, and its neighbours' words and definitions",
        tokenizer=wordnet.tokenizer,
        terms=wordnet.vocabulary,
        titles=wordnet.titles(),
        posting_ends=by_term.indptr[1:],
        documents=by_term.indices,
        frequencies=by_term.data,
        document_maxima=_maxima(counts.indptr, counts.data),
        document_frequencies=np.diff(by_term.indptr),
    )
    arrays: dict[str, Any] = {**files, **(extras or {})}
    if core is not None:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as near:
            rows, scales = latent_documents(write(Path(near) / "plain"), core)
        arrays |= {"latent_documents.npy": rows, "latent_scales.npy": scales}
    return write(folder, extras=arrays)


def rebuild(source: str | Path = DEFAULT_FOLDER, target: str | Path | None = None, *, latent: bool = True) -> Path:
    """Rebuild the packed artefacts from WordNet's database files; the calibration is unchanged."""
    target = Path(target) if target is not None else Path(str(resources.files("likewise") / "data"))
    target.mkdir(parents=True, exist_ok=True)
    wordnet = compact(read_wordnet(source))
    (target / WORDNET).write_bytes(pack(wordnet))
    if latent:
        with tempfile.TemporaryDirectory() as near:
            files = write_wordnet_space(Path(near) / NAME, wordnet)
            (target / LATENT).write_bytes(pack_core(fit_latent(files)))
    return target


def _maxima(starts: NDArray[Any], values: NDArray[Any]) -> NDArray[np.uint32]:
    """Return the highest value of each row; 0 for an empty one."""
    out = np.zeros(len(starts) - 1, dtype=np.uint32)
    filled = np.diff(starts) > 0
    out[filled] = np.maximum.reduceat(values, starts[:-1][filled])
    return out


if __name__ == "__main__":
    print(f"wrote {rebuild(*sys.argv[1:2])}")
