"""WordNet's relations between words of every part of speech, as memory-mapped arrays.

The taxonomy (`taxonomy`) knows what nouns and verbs are kinds of. Whether two values say the same also takes
opposites, parts, instances, and what adjectives and adverbs derive from. All of it follows from the packed
WordNet; it is written beside the space when that is unpacked (`relations_*`), and mapped.

Fellbaum, C. (ed.): WordNet, an electronic lexical database, 1998; the symbols are those of wninput(5).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from likewise.defaults import NAME_CACHE_ENTRIES
from likewise.model.text import fold
from likewise.semantics.wordnet.taxonomy import WORD_FILES, WordIndex, has_files, open_files, reachable, word_files

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.semantics.spaces.files import SpaceFiles
    from likewise.semantics.wordnet.compact import CompactWordNet

# The relations kept, each under a name for its files.
RELATIONS: Final = {
    "@": "kind_of",
    "@i": "instance_of",
    "#p": "part_of",
    "!": "opposite",
    "&": "similar",
    "+": "derived",
    "\\": "pertains",
    "<": "participle",
    "$": "grouped",
}
PARTS: Final = "nvar"
NAMES: Final = (
    *WORD_FILES,
    "kinds.npy",
    *(f"{name}{ending}.npy" for name in RELATIONS.values() for ending in ("", "_ends")),
)


def has_relations(files: SpaceFiles) -> bool:
    """Return whether a space has relations of its own."""
    return has_files(files, "relations", NAMES)


def relations_in(files: SpaceFiles) -> WordRelations:
    """Open the relations of a space."""
    return WordRelations(open_files(files, "relations", NAMES))


class WordRelations(WordIndex):
    """Words, their synsets, and the relations between synsets, by WordNet's own numbers.

    `kinds[s]` counts the synsets below s, however deep: few for `computer`, thousands for `device`.
    """

    def __init__(self, files: Mapping[str, Any]) -> None:
        super().__init__(files)
        self._bounds: list[int] = np.cumsum(files["parts.npy"]).tolist()
        self.kinds: NDArray[np.int32] = files["kinds.npy"]
        self._values = {name: files[f"{name}.npy"] for name in RELATIONS.values()}
        self._ends = {name: files[f"{name}_ends.npy"] for name in RELATIONS.values()}
        self._closures: dict[tuple[tuple[str, ...], int], frozenset[int]] = {}
        self._lookup = lru_cache(maxsize=NAME_CACHE_ENTRIES)(lambda word: self.lookup(word).tolist())

    @property
    def synsets(self) -> int:
        """The number of synsets; their numbers are below it."""
        return self._bounds[-1]

    def part(self, synset: int) -> str:
        """Return the part of speech of a synset: `n`, `v`, `a` or `r`."""
        return next(part for part, bound in zip(PARTS, self._bounds, strict=True) if synset < bound)

    def targets(self, relation: str, synset: int) -> list[int]:
        """Return the synsets that a relation leads to from one synset.

        >>> from likewise.semantics.library import load_space
        >>> known = load_space().relations
        >>> paris = known.senses("paris", "n")[0]
        >>> known.targets("part_of", paris) == known.senses("France", "n")[:1]
        True
        """
        ends = self._ends[relation]
        start = int(ends[synset - 1]) if synset else 0
        targets: list[int] = self._values[relation][start : int(ends[synset])].tolist()
        return targets

    def closure(self, relations: Iterable[str], synsets: Iterable[int]) -> set[int]:
        """Return the synsets reachable from some synsets by these relations, without the start."""
        names = tuple(relations)
        starts = set(synsets)
        reached: set[int] = set()
        return reached.union(*(self._reached(names, synset) for synset in starts)) - starts

    def _reached(self, names: tuple[str, ...], synset: int) -> frozenset[int]:
        """Return the synsets reachable from one synset; cached, since hypernyms are shared."""
        cached = self._closures.get((names, synset))
        if cached is not None:
            return cached
        reached: set[int] = set()
        waiting = [synset]
        while waiting:
            at = waiting.pop()
            for target in [t for name in names for t in self.targets(name, at)]:
                if target not in reached:
                    reached.add(target)
                    beyond = self._closures.get((names, target))
                    if beyond is None:
                        waiting.append(target)
                    else:
                        reached |= beyond
        if len(self._closures) >= NAME_CACHE_ENTRIES:
            self._closures.clear()
        self._closures[names, synset] = done = frozenset(reached)
        return done

    def senses(self, word: str, part: str) -> list[int]:
        """Return a word's synsets as one part of speech, the most common first, by its first known base form."""
        bound = PARTS.index(part)
        low, high = (self._bounds[bound - 1] if bound else 0), self._bounds[bound]
        for base in self.bases(fold(word), part):
            synsets = [s for s in self._lookup(base) if low <= s < high]
            if synsets:
                return synsets
        return []

    def irregular(self, part: str) -> Mapping[str, tuple[str, ...]]:
        """Return the irregular forms of a part of speech and their bases."""
        return self._irregular.get(part, {})

    def has_word(self, word: str) -> bool:
        """Return whether WordNet has the word or a base form of it."""
        return any(self.senses(word, part) for part in PARTS)

    def bases(self, word: str, part: str) -> Iterable[str]:
        """Yield the folded word, then its possible base forms; a doubled consonant is one, too (stopped, stop)."""
        yield from super().bases(word, part)
        for ending in ("ed", "ing") if part == "v" else ():
            stem = word.removesuffix(ending)
            if stem != word and len(stem) > 3 and stem[-1] == stem[-2]:
                yield stem[:-1]


def relations_files(wordnet: CompactWordNet) -> dict[str, Any]:
    """Return the files from which `WordRelations` is opened."""
    files: dict[str, Any] = {
        **word_files(wordnet, wordnet.synsets),
        "parts.npy": np.array(wordnet.parts, dtype=np.int32),
        "irregular.json": msgspec.json.encode(wordnet.irregular, order="sorted"),
    }
    nothing = np.empty((0, 2), dtype=np.int32)
    for symbol, name in RELATIONS.items():
        pairs = np.unique(wordnet.relations.get(symbol, nothing), axis=0)
        files[f"{name}.npy"] = pairs[:, 1].astype(np.int32)
        files[f"{name}_ends.npy"] = np.searchsorted(pairs[:, 0], np.arange(wordnet.synsets), side="right")
    files["kinds.npy"] = _kinds_below(wordnet)
    return files


def _kinds_below(wordnet: CompactWordNet) -> NDArray[np.int32]:
    """Return for each synset its number of hyponyms; instances do not count."""
    above = reachable(wordnet.relations.get("@", np.empty((0, 2), dtype=np.int32)), wordnet.synsets)
    return (np.bincount(above.indices, minlength=wordnet.synsets) - 1).astype(np.int32)  # without the synset itself
