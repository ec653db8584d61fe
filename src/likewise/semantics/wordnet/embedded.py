"""The embedded space: made from WordNet 3.0, packed in the package, unpacked into the cache.

`python -m likewise.semantics.wordnet.database.embedded [WORDNET_FOLDER]` rebuilds the packed artefacts from WordNet's
database files (Debian's wordnet-base). What ships is WordNet in arrays (`compact_wordnet`), the core
of the latent vectors (`latent_fit`) and the calibration; the space's postings, the taxonomy and the
documents' latent vectors follow from these when it is unpacked, in a few seconds, once.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from functools import partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from likewise.errors import ArtefactMissing
from likewise.semantics.spaces.files import SpaceFiles
from likewise.semantics.spaces.writer import Extras, write_space
from likewise.semantics.wordnet.compact import CompactWordNet, compact, pack, unpack
from likewise.semantics.wordnet.database import DEFAULT_FOLDER, read_wordnet
from likewise.semantics.wordnet.latent_fit import LatentCore, fit_latent, latent_documents, pack_core, unpack_core
from likewise.semantics.wordnet.relations import relations_files
from likewise.semantics.wordnet.taxonomy import taxonomy_files

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAME: Final = "wordnet"
WORDNET: Final = "wordnet-3.0.xz"
LATENT: Final = "latent.xz"
CALIBRATION: Final = "calibration.json"
FORM: Final = b"2"  # raise it when the same artefacts unpack to other files


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
