"""WordNet's hypernym taxonomy of nouns and verbs as arrays, with information content.

Resnik, P.: Using information content to evaluate semantic similarity in a taxonomy, IJCAI 1995 (the
information content of a concept is -ln of the probability of meeting it or anything below it), and
sources.md H for what we take from it.

The taxonomy is part of a space's folder (`taxonomy_*`), so it is mapped and shared like the space. A
synset's ancestors, itself among them, are stored as one list, which makes the search for common
subsumers a matter of marking one list and running over the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from likewise.errors import FormatError
from likewise.model.text import fold
from likewise.semantics.wordnet.compact import CompactWordNet

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy import sparse

    from likewise.semantics.spaces.files import SpaceFiles

# How a regular form is brought back to its base (morphy(7)); the first base WordNet knows counts.
ENDINGS: Final = {
    "n": (
        ("s", ""),
        ("ses", "s"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "v": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    "a": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "r": (),
}
WORD_FILES: Final = ("words.bin", "word_ends.npy", "senses.npy", "sense_ends.npy", "parts.npy", "irregular.json")
SMOOTHING: Final = 1.0  # added to every synset's count, so that none is impossible
NAMES: Final = (*WORD_FILES, "ancestors.npy", "ancestor_ends.npy", "tags.npy")


def has_files(files: SpaceFiles, kind: str, names: Iterable[str]) -> bool:
    """Return whether a space has all files of a kind (`taxonomy`, `relations`)."""
    return all(f"{kind}_{name}" in files.extras for name in names)


def open_files(files: SpaceFiles, kind: str, names: Iterable[str]) -> dict[str, Any]:
    """Return the files of a kind by their names, arrays memory-mapped."""
    return {
        name: (files.extra_array if name.endswith(".npy") else files.extra_bytes)(f"{kind}_{name}") for name in names
    }


def has_taxonomy(files: SpaceFiles) -> bool:
    """Return whether a space has a taxonomy of its own."""
    return has_files(files, "taxonomy", NAMES)


def taxonomy_in(files: SpaceFiles) -> Taxonomy:
    """Open the taxonomy of a space."""
    return Taxonomy(open_files(files, "taxonomy", NAMES))


class WordIndex:
    """Folded words in alphabetical order, each with its synsets, and the base forms of inflected words."""

    def __init__(self, files: Mapping[str, Any]) -> None:
        self._words: bytes = files["words.bin"]
        self._word_ends: NDArray[np.int64] = files["word_ends.npy"]
        self._senses: NDArray[np.int32] = files["senses.npy"]
        self._sense_ends: NDArray[np.int64] = files["sense_ends.npy"]
        self._irregular = msgspec.json.decode(files["irregular.json"], type=dict[str, dict[str, tuple[str, ...]]])

    def bases(self, word: str, part: str) -> Iterable[str]:
        """Yield the folded word, then its possible base forms."""
        yield word
        yield from self._irregular.get(part, {}).get(word, ())
        for ending, base in ENDINGS[part]:
            if word.endswith(ending) and len(word) > len(ending) + 1:
                yield word[: -len(ending)] + base

    def lookup(self, word: str) -> NDArray[np.int32]:
        """Return the synsets of a word, by a binary search on the mapped bytes."""
        encoded = word.encode("utf-8", "surrogatepass")
        low, high = 0, len(self._word_ends)
        while low < high:
            middle = (low + high) // 2
            middle_word = self._words[self._word_ends.item(middle - 1) if middle else 0 : self._word_ends.item(middle)]
            if middle_word == encoded:
                start = self._sense_ends.item(middle - 1) if middle else 0
                return self._senses[start : self._sense_ends.item(middle)]
            low, high = (middle + 1, high) if middle_word < encoded else (low, middle)
        return np.empty(0, dtype=np.int32)


class Taxonomy(WordIndex):
    """Words, their senses, and each sense's ancestors.

    Nouns have the numbers below `nouns`, verbs follow. `irregular` maps irregular forms to bases, for
    nouns (`n`) and verbs (`v`).
    """

    def __init__(self, files: Mapping[str, Any]) -> None:
        super().__init__(files)
        self.ancestors: NDArray[np.int32] = files["ancestors.npy"]
        self.ancestor_ends: NDArray[np.int64] = files["ancestor_ends.npy"]
        self.tags: NDArray[np.int32] = files["tags.npy"]
        self.nouns = int(files["parts.npy"][0])

    @property
    def synsets(self) -> int:
        """The number of synsets in the taxonomy."""
        return len(self.ancestor_ends)

    def senses(self, word: str, *, both: bool = False) -> NDArray[np.int32]:
        """Return a word's synsets, the most common first: as a noun, or if it is none, as a verb.

        With `both`, the noun's and then the verb's. Regular and irregular forms are understood
        (`mice`, `batteries`); an unknown word has none.
        """
        folded = fold(word)
        nouns = self._senses_as(folded, "n")
        if len(nouns) and not both:
            return nouns
        return np.concatenate([nouns, self._senses_as(folded, "v")])

    def has_word(self, word: str) -> bool:
        """Return whether the word, or a base form of it, is a noun or a verb here."""
        return len(self.senses(word)) > 0

    @cached_property
    def information(self) -> NDArray[np.float32]:
        """Each synset's information content from WordNet's own tagged corpora, smoothed."""
        return self.information_from(self.tags)

    def information_from(self, counts: NDArray[Any]) -> NDArray[np.float32]:
        """Return information content from counts of synsets: -ln p, where p includes all hyponyms."""
        smoothed = np.asarray(counts, dtype=np.float64) + SMOOTHING
        lengths = np.diff(self.ancestor_ends, prepend=0)
        mass = np.bincount(self.ancestors, weights=np.repeat(smoothed, lengths), minlength=self.synsets)
        total = np.where(
            np.arange(self.synsets) < self.nouns, smoothed[: self.nouns].sum(), smoothed[self.nouns :].sum()
        )
        information: NDArray[np.float32] = (np.log(total) - np.log(mass)).clip(0).astype(np.float32)
        return information

    def information_of_words(self, frequencies: Mapping[str, float]) -> NDArray[np.float32]:
        """Return information content from word counts of a corpus, shared among the senses of a word.

        Resnik 1995, section 3: untagged text credits every sense of a word.
        """
        counts = np.zeros(self.synsets)
        for word, count in frequencies.items():
            senses = self.senses(word, both=True)
            if len(senses):
                np.add.at(counts, senses, count / len(senses))
        return self.information_from(counts)

    def _senses_as(self, word: str, part: str) -> NDArray[np.int32]:
        """Return the senses of a folded word in one part of speech, through its irregular and regular bases."""
        for base in self.bases(word, part):
            synsets = self.lookup(base)
            synsets = synsets[synsets < self.nouns] if part == "n" else synsets[synsets >= self.nouns]
            if len(synsets):
                return synsets
        return np.empty(0, dtype=np.int32)


def taxonomy_files(wordnet: CompactWordNet) -> dict[str, Any]:
    """Return the arrays from which a `Taxonomy` is opened, from WordNet's nouns and verbs."""
    nouns, verbs = wordnet.parts[0], wordnet.parts[1]
    size = nouns + verbs
    synset_of_word = np.repeat(np.arange(wordnet.synsets), np.diff(wordnet.words.ends, prepend=0))
    hypernyms = wordnet.hypernyms()
    ancestors = reachable(hypernyms[(hypernyms < size).all(axis=1)], size)
    tags = np.bincount(synset_of_word, weights=wordnet.tags, minlength=wordnet.synsets)[:size]
    return {
        **word_files(wordnet, size),
        "ancestors.npy": ancestors.indices.astype(np.int32),
        "ancestor_ends.npy": ancestors.indptr[1:].astype(np.int64),
        "tags.npy": tags.astype(np.int32),
        "parts.npy": np.array([nouns, verbs], dtype=np.int32),
        "irregular.json": msgspec.json.encode({p: wordnet.irregular.get(p, {}) for p in ("n", "v")}, order="sorted"),
    }


def word_files(wordnet: CompactWordNet, size: int) -> dict[str, Any]:
    """Return the folded words of the first `size` synsets, each with its synsets: by part of speech, then by sense."""
    synsets = np.repeat(np.arange(wordnet.synsets), np.diff(wordnet.words.ends, prepend=0))
    within = synsets < size
    senses, synsets = wordnet.senses[within], synsets[within]
    used, uses = np.unique(wordnet.words.values[within], return_inverse=True)
    folded = [fold(wordnet.lexicon[word]).encode() for word in used.tolist()]
    encoded = sorted(set(folded))
    numbers = {word: number for number, word in enumerate(encoded)}
    words = np.array([numbers[word] for word in folded], dtype=np.int64)[uses]
    parts = np.repeat(np.arange(len(wordnet.parts)), wordnet.parts)[synsets]
    return {
        "words.bin": b"".join(encoded),
        "word_ends.npy": np.cumsum([len(word) for word in encoded], dtype=np.int64),
        "senses.npy": synsets[np.lexsort((synsets, senses, parts, words))].astype(np.int32),
        "sense_ends.npy": np.cumsum(np.bincount(words, minlength=len(encoded)), dtype=np.int64),
    }


def reachable(pairs: NDArray[np.int32], size: int) -> sparse.csr_array:
    """Return each synset's row of itself and all synsets above it, ascending; WordNet's verbs have a cycle.

    Args:
        pairs: synsets, each with one directly above it.
        size: the number of synsets.
    """
    from scipy import sparse

    steps = sparse.csr_array((np.ones(len(pairs), np.int32), (pairs[:, 0], pairs[:, 1])), shape=(size, size))
    reached = fresh = sparse.csr_array(sparse.eye_array(size, dtype=np.int32, format="csr"))
    while fresh.nnz:
        further = (fresh @ steps).tocsr()
        further.data[:] = 1
        fresh = (further - further.multiply(reached)).tocsr()
        fresh.eliminate_zeros()
        reached = (reached + fresh).tocsr()
    reached.sort_indices()
    return reached


def read_word_counts(path: str | Path) -> dict[str, float]:
    """Read `word<TAB>count` lines, as the Spark job writes them. Counts of one word add up."""
    counts: dict[str, float] = {}
    with Path(path).open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            word, tab, count = line.rstrip("\n").rpartition("\t")
            if not line.strip() or line.startswith("#"):
                continue
            try:
                counts[fold(word)] = counts.get(fold(word), 0.0) + float(count)
            except ValueError:
                raise FormatError(
                    f"{path}, line {number}: expected a word, a tab and a count, found {line[:60]!r}"
                ) from None
            if not tab:
                raise FormatError(f"{path}, line {number}: expected a word, a tab and a count, found {line[:60]!r}")
    return counts
