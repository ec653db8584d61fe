"""A space's folder, opened read-only and memory-mapped.

docs/guides/build-a-space.md. The folder holds, beside `manifest.json`:

    terms.bin, term_ends.npy               the sorted terms as UTF-8, one after another; where each ends
    titles.bin, title_ends.npy             the same for the documents' titles, in document order
    posting_ends.npy         int64         where each term's postings end
    documents.npy            uint32        the postings' documents, ascending within a term
    frequencies.npy          uint8/16/32   how often the term occurs in that document
    document_maxima.npy      uint32        each document's highest frequency, before any pruning
    document_frequencies.npy uint32        in how many documents each term occurs, before any pruning

and any further files named in the manifest ("extras": calibration, a taxonomy). Opening checks the
manifest and the sizes and takes about a millisecond; `verify` hashes everything. Spaces are written by
`likewise.semantics.spaces.writer`.
"""

from __future__ import annotations

import itertools
import mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from likewise.errors import ArtefactDamaged, UnknownId
from likewise.semantics.spaces.manifest import SpaceManifest, file_sha256, read_manifest

if TYPE_CHECKING:
    from numpy.typing import NDArray

CORE: Final = {
    "terms.bin": "",
    "term_ends.npy": "<i8",
    "titles.bin": "",
    "title_ends.npy": "<i8",
    "posting_ends.npy": "<i8",
    "documents.npy": "<u4",
    "frequencies.npy": "|u1 <u2 <u4",
    "document_maxima.npy": "<u4",
    "document_frequencies.npy": "<u4",
}


class SpaceFiles:
    """Memory-mapped arrays of one space. Thread-safe.

    >>> import tempfile, pathlib
    >>> from likewise.semantics.spaces.writer import write_space
    >>> from likewise.semantics.text.tokenizer import TokenizerSettings
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "tiny"
    >>> files = write_space(folder, name="tiny", kind="text", corpus="two lines", tokenizer=TokenizerSettings(),
    ...     terms=["cat", "dog"], titles=["on cats", "on both"], posting_ends=[2, 3], documents=[0, 1, 1],
    ...     frequencies=[3, 1, 2], document_maxima=[3, 2], document_frequencies=[2, 1])
    >>> files.term_id("cat"), files.term_id("cow"), files.term(1), files.title(1)
    (0, -1, 'dog', 'on both')
    >>> documents, frequencies = files.postings(0)
    >>> documents.tolist(), frequencies.tolist()
    ([0, 1], [3, 1])
    >>> SpaceFiles(folder).verify()
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.manifest: SpaceManifest = read_manifest(self.folder)
        self._check_sizes()
        counts = self.manifest.counts
        self.term_ends: NDArray[np.int64] = self._array("term_ends.npy", counts.terms)
        self.title_ends: NDArray[np.int64] = self._array("title_ends.npy", counts.documents)
        self.posting_ends: NDArray[np.int64] = self._array("posting_ends.npy", counts.terms)
        self.documents: NDArray[np.uint32] = self._array("documents.npy", counts.postings)
        self.frequencies: NDArray[np.unsignedinteger[Any]] = self._array("frequencies.npy", counts.postings)
        self.document_maxima: NDArray[np.uint32] = self._array("document_maxima.npy", counts.documents)
        self.document_frequencies: NDArray[np.uint32] = self._array("document_frequencies.npy", counts.terms)
        self._terms = _mapped(self.folder / "terms.bin")
        self._titles = _mapped(self.folder / "titles.bin")
        for ends, total, what in (
            (self.term_ends, len(self._terms), "terms"),
            (self.title_ends, len(self._titles), "titles"),
            (self.posting_ends, counts.postings, "postings"),
        ):
            if (int(ends[-1]) if len(ends) else 0) != total:
                raise self._damaged(f"its {what} end at {int(ends[-1]) if len(ends) else 0}, not at {total}")

    def term_id(self, token: str) -> int:
        """Return the number of a term, or -1, by a binary search on the mapped bytes (no table in memory)."""
        encoded = token.encode("utf-8", "surrogatepass")
        terms, ends = self._terms, self.term_ends
        low, high = 0, len(ends)
        while low < high:
            middle = (low + high) // 2
            start = ends.item(middle - 1) if middle else 0
            middle_term = terms[start : ends.item(middle)]
            if middle_term < encoded:
                low = middle + 1
            elif middle_term == encoded:
                return middle
            else:
                high = middle
        return -1

    def term(self, term_id: int) -> str:
        """The term with this number."""
        return _text(self._terms, self.term_ends, term_id)

    def terms(self) -> list[str]:
        """Return all terms in order, as a new list."""
        return _texts(self._terms, self.term_ends)

    def title(self, document: int) -> str:
        """A document's title."""
        return _text(self._titles, self.title_ends, document)

    def titles(self) -> list[str]:
        """Return all titles in document order, as a new list."""
        return _texts(self._titles, self.title_ends)

    def postings(self, term_id: int) -> tuple[NDArray[np.uint32], NDArray[np.unsignedinteger[Any]]]:
        """Return the ascending documents of a term and its frequencies, as views."""
        start, stop = self.posting_range(term_id)
        return self.documents[start:stop], self.frequencies[start:stop]

    def posting_range(self, term_id: int) -> tuple[int, int]:
        """Return the range of a term's postings in `documents` and `frequencies`."""
        if not 0 <= term_id < len(self.posting_ends):
            raise UnknownId(str(term_id))
        return (self.posting_ends.item(term_id - 1) if term_id else 0), self.posting_ends.item(term_id)

    @property
    def extras(self) -> list[str]:
        """The sorted names of the further files of this space."""
        return sorted(name for name in self.manifest.files if name not in CORE)

    def extra_array(self, name: str) -> NDArray[Any]:
        """A further array by its file name (`calibration.npy`), mapped."""
        if name not in self.extras:
            raise UnknownId(name)
        return self._array(name, None)

    def extra_bytes(self, name: str) -> bytes:
        """A further file by its name, read whole."""
        if name not in self.extras:
            raise UnknownId(name)
        return (self.folder / name).read_bytes()

    def verify(self) -> None:
        """Check every hash and the order of terms and postings. Raises `ArtefactDamaged`."""
        for name, stored in self.manifest.files.items():
            if file_sha256(self.folder / name) != stored.sha256:
                raise self._damaged(f"{name} was altered")
        starts = np.concatenate(([0], self.posting_ends[:-1])) if len(self.posting_ends) else self.posting_ends
        ascending = np.ones(len(self.documents), dtype=bool)
        ascending[1:] = self.documents[1:] > self.documents[:-1]
        ascending[starts[starts < len(self.documents)]] = True
        inside = not len(self.documents) or int(self.documents.max()) < self.manifest.counts.documents
        if not (ascending.all() and inside and (np.diff(self.posting_ends) >= 0).all()):
            raise self._damaged("its postings are out of order")
        terms = self.terms()
        if any(a >= b for a, b in itertools.pairwise(terms)):
            raise self._damaged("its terms are out of order")

    def _check_sizes(self) -> None:
        for name, dtypes in CORE.items():
            if name not in self.manifest.files:
                raise self._damaged(f"{name} is not in its manifest")
            if self.manifest.files[name].dtype not in dtypes.split(" "):
                raise self._damaged(f"{name} has the type {self.manifest.files[name].dtype}, expected {dtypes}")
        for name, stored in self.manifest.files.items():
            path = self.folder / name
            size = path.stat().st_size if path.is_file() else None
            if size != stored.bytes:
                problem = "is not there" if size is None else f"has {size:,} bytes"
                raise self._damaged(f"{name} {problem}, expected {stored.bytes:,} bytes")

    def _array(self, name: str, length: int | None) -> NDArray[Any]:
        path = self.folder / name
        try:
            array: NDArray[Any] = np.load(path, mmap_mode=None if length == 0 else "r", allow_pickle=False)
        except ValueError as error:
            raise self._damaged(f"{name} is no array ({error})") from None
        if array.dtype.str != self.manifest.files[name].dtype or (length is not None and array.shape != (length,)):
            raise self._damaged(f"{name} holds {array.dtype.str}{list(array.shape)}, expected {length}")
        # A plain view of the mapping: indexing a memmap costs several times more.
        view = array.view(np.ndarray)
        view.flags.writeable = False
        return view

    def _damaged(self, what: str) -> ArtefactDamaged:
        return ArtefactDamaged(f"the space at {self.folder} is damaged: {what}; build or unpack it again")


def _mapped(path: Path) -> mmap.mmap | bytes:
    """Map a file's bytes; an empty file cannot be mapped."""
    if not path.stat().st_size:
        return b""
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _text(data: mmap.mmap | bytes, ends: NDArray[np.int64], index: int) -> str:
    if not 0 <= index < len(ends):
        raise UnknownId(str(index))
    return data[(ends.item(index - 1) if index else 0) : ends.item(index)].decode()


def _texts(data: mmap.mmap | bytes, ends: NDArray[np.int64]) -> list[str]:
    whole, start, out = bytes(data), 0, []
    for end in ends.tolist():
        out.append(whole[start:end].decode())
        start = end
    return out
