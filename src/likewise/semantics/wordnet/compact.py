"""WordNet as a few integer arrays: the shipped form, from which its space and taxonomy are made.

Texts are kept as the tokens the space counts, so 28 MB of database files become about 3 MB. Of each pair
of inverse relations (hypernym and hyponym, whole and part, subject and member) one is stored.
"""

from __future__ import annotations

import lzma
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from likewise.errors import ArtefactDamaged
from likewise.semantics.text.tokenizer import Tokenizer, TokenizerSettings
from likewise.semantics.wordnet.database import (
    DEFINITION_WEIGHT,
    FILES,
    HYPERNYMS,
    NEIGHBOURS,
    NO_NEIGHBOURS,
    WORDS_WEIGHT,
    WordNet,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy import sparse

INVERSES: Final = {"~": "@", "~i": "@i", "%m": "#m", "%p": "#p", "%s": "#s", "-c": ";c"}
_FILTERS: Final = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME}]
_PARTS: Final = tuple(part for part, _ in FILES)


class RaggedArray(msgspec.Struct, frozen=True, eq=False):
    """Lists of numbers, one after another; list i is `values[ends[i - 1]:ends[i]]`."""

    values: NDArray[np.int32]
    ends: NDArray[np.int64]

    def counts(self, width: int) -> sparse.csr_array:
        """Return how often each number below `width` occurs in each list."""
        from scipy import sparse

        starts = np.concatenate(([0], self.ends))
        ones = np.ones(len(self.values), dtype=np.int32)
        matrix = sparse.csr_array((ones, self.values, starts), shape=(len(self.ends), width))
        matrix.sum_duplicates()
        return matrix


class CompactWordNet(msgspec.Struct, frozen=True, eq=False):
    """WordNet as arrays. `parts` counts the synsets of each part of speech, which follow one another.

    `lexicon` holds every distinct word as printed, `vocabulary` every distinct token, both sorted.
    `words`, `senses` and `tags` run in parallel over the words of all synsets; `lexicon_tokens`,
    `definitions` and `examples` are tokens; `relations` maps a pointer's symbol to its (from, to) pairs.
    """

    tokenizer: TokenizerSettings
    parts: tuple[int, ...]
    lexicon: list[str]
    vocabulary: list[str]
    words: RaggedArray
    senses: NDArray[np.int32]
    tags: NDArray[np.int32]
    lexicon_tokens: RaggedArray
    definitions: RaggedArray
    examples: RaggedArray
    relations: dict[str, NDArray[np.int32]]
    irregular: dict[str, dict[str, tuple[str, ...]]]

    @property
    def synsets(self) -> int:
        """The number of synsets."""
        return sum(self.parts)

    def titles(self) -> list[str]:
        """Return the titles of the documents (`Synset.title`)."""
        starts = [0, *self.words.ends[:-1].tolist()]
        values = self.words.values.tolist()
        return [
            ", ".join(self.lexicon[w] for w in values[start : min(start + 3, end)])
            for start, end in zip(starts, self.words.ends.tolist(), strict=True)
        ]

    def hypernyms(self) -> NDArray[np.int32]:
        """Return all (synset, hypernym) pairs, instances included."""
        relations = [pairs for symbol, pairs in self.relations.items() if symbol in HYPERNYMS]
        return np.concatenate(relations) if relations else np.empty((0, 2), dtype=np.int32)

    def documents(self) -> sparse.csr_array:
        """Return the frequency of each token in each synset's document (`synset_document`)."""
        width = len(self.vocabulary)
        words = (self.words.counts(len(self.lexicon)) @ self.lexicon_tokens.counts(width)).tocsr()
        definitions, examples = self.definitions.counts(width), self.examples.counts(width)
        counted = words * WORDS_WEIGHT + definitions * DEFINITION_WEIGHT + examples
        counts: sparse.csr_array = (counted + self._neighbours() @ (words + definitions)).tocsr()
        counts.sum_duplicates()
        counts.sort_indices()
        return counts

    def _neighbours(self) -> sparse.csr_array:
        """Return which synsets contribute to each synset's document (`wordnet.neighbours`), as ones."""
        from scipy import sparse

        pairs = []
        for symbol, stored in self.relations.items():
            pairs.append(_first(stored, symbol))
        for inverse, symbol in INVERSES.items():
            if symbol in self.relations:
                pairs.append(_first(self.relations[symbol][:, ::-1], inverse))
        rows, columns = np.concatenate([np.empty((0, 2), dtype=np.int32), *pairs]).T
        shape = (self.synsets, self.synsets)
        joined = sparse.csr_array((np.ones(len(rows), dtype=np.int32), (rows, columns)), shape=shape)
        joined.sum_duplicates()
        joined.data[:] = 1
        return joined


def _first(pairs: NDArray[np.int32], symbol: str) -> NDArray[np.int32]:
    """Return the pairs of a relation that count as neighbours: the first `NEIGHBOURS` targets of each synset."""
    if symbol in NO_NEIGHBOURS or not len(pairs):
        return np.empty((0, 2), dtype=np.int32)
    pairs = np.unique(pairs, axis=0)
    first_of_row = np.searchsorted(pairs[:, 0], pairs[:, 0], side="left")
    return pairs[np.arange(len(pairs)) - first_of_row < NEIGHBOURS]


def compact(wordnet: WordNet, settings: TokenizerSettings | None = None) -> CompactWordNet:
    """Convert WordNet's database to arrays."""
    import pyarrow as pa

    tokenizer = Tokenizer(settings)
    synsets = wordnet.synsets
    lexicon = sorted({word for s in synsets for word in s.words})
    number = {word: i for i, word in enumerate(lexicon)}
    sources = (lexicon, [s.definition for s in synsets], [s.examples for s in synsets])
    texts = [tokenizer.encode(pa.array(source, pa.string())) for source in sources]
    terms = [[str(term) for term in encoded.terms.to_pylist()] for encoded in texts]
    vocabulary = sorted(set(chain.from_iterable(terms)))
    place = {token: i for i, token in enumerate(vocabulary)}
    tokens = []
    for encoded, token_list in zip(texts, terms, strict=True):
        renumbered = np.array([place[token] for token in token_list], dtype=np.int32)
        tokens.append(RaggedArray(renumbered[encoded.codes], encoded.ends.astype(np.int64)))
    relations: dict[str, list[tuple[int, int]]] = {}
    for i, s in enumerate(synsets):
        for symbol, target in s.pointers:
            if symbol not in INVERSES:
                relations.setdefault(symbol, []).append((i, target))
    return CompactWordNet(
        tokenizer=tokenizer.settings,
        parts=tuple(sum(s.part == part for s in synsets) for part in _PARTS),
        lexicon=lexicon,
        vocabulary=vocabulary,
        words=RaggedArray(
            _numbers(number[w] for s in synsets for w in s.words), _ends([len(s.words) for s in synsets])
        ),
        senses=_numbers(n for s in synsets for n in s.senses),
        tags=_numbers(n for s in synsets for n in s.counts),
        lexicon_tokens=tokens[0],
        definitions=tokens[1],
        examples=tokens[2],
        relations={symbol: np.array(pairs, dtype=np.int32) for symbol, pairs in sorted(relations.items())},
        irregular=wordnet.irregular,
    )


class _PackedHeader(msgspec.Struct):
    """Header of the packed form; `sizes` are the lengths of the arrays, in `_ARRAYS` order."""

    tokenizer: TokenizerSettings
    parts: tuple[int, ...]
    irregular: dict[str, dict[str, tuple[str, ...]]]
    symbols: list[str]
    sizes: list[int]
    v: int = 1


def pack(wordnet: CompactWordNet) -> bytes:
    """Compress the arrays; equal arrays give equal bytes.

    Pairs are stored as differences, text without the start it shares with the line before: both
    compress better.
    """
    lists = (wordnet.words, wordnet.lexicon_tokens, wordnet.definitions, wordnet.examples)
    arrays: list[NDArray[Any]] = [wordnet.senses, wordnet.tags]
    for each in lists:
        arrays += [each.values, np.diff(each.ends, prepend=0)]
    for pairs in wordnet.relations.values():
        arrays += [np.diff(pairs[:, 0], prepend=0), pairs[:, 1] - pairs[:, 0]]
    head = _PackedHeader(
        wordnet.tokenizer, wordnet.parts, wordnet.irregular, list(wordnet.relations), [len(a) for a in arrays]
    )
    blocks = [
        msgspec.json.encode(head, order="sorted"),
        _front_coded(wordnet.lexicon),
        _front_coded(wordnet.vocabulary),
    ]
    body = b"".join(np.asarray(a, dtype="<i4").tobytes() for a in arrays)
    raw = b"".join(len(block).to_bytes(4, "little") + block for block in [*blocks, body])
    return lzma.compress(raw, format=lzma.FORMAT_XZ, filters=_FILTERS)


def unpack(packed: bytes) -> CompactWordNet:
    """Decompress the arrays of a packed WordNet.

    >>> unpack(b"no artefact")
    Traceback (most recent call last):
    ...
    likewise.errors.ArtefactDamaged: the packed WordNet cannot be read (LZMAError); install the package again
    """
    try:
        raw = lzma.decompress(packed, format=lzma.FORMAT_XZ)
        blocks, at = [], 0
        while at < len(raw):
            end = at + 4 + int.from_bytes(raw[at : at + 4], "little")
            blocks.append(raw[at + 4 : end])
            at = end
        head = msgspec.json.decode(blocks[0], type=_PackedHeader)
        numbers = np.frombuffer(blocks[3], dtype="<i4")
        if numbers.size != sum(head.sizes):
            raise ValueError("sizes")
    except (lzma.LZMAError, msgspec.DecodeError, IndexError, ValueError) as error:
        raise ArtefactDamaged(
            f"the packed WordNet cannot be read ({type(error).__name__}); install the package again"
        ) from None
    arrays = iter(np.split(numbers, np.cumsum(head.sizes)[:-1]))
    senses, tags = next(arrays), next(arrays)
    lists = [RaggedArray(next(arrays), np.cumsum(next(arrays), dtype=np.int64)) for _ in range(4)]
    relations = {}
    for symbol in head.symbols:
        source = np.cumsum(next(arrays), dtype=np.int32)
        relations[symbol] = np.stack([source, source + next(arrays)], axis=1)
    return CompactWordNet(
        tokenizer=head.tokenizer,
        parts=head.parts,
        lexicon=_whole(blocks[1]),
        vocabulary=_whole(blocks[2]),
        words=lists[0],
        senses=senses,
        tags=tags,
        lexicon_tokens=lists[1],
        definitions=lists[2],
        examples=lists[3],
        relations=relations,
        irregular=head.irregular,
    )


def _front_coded(texts: Sequence[str]) -> bytes:
    """Front-code sorted texts: each without the prefix it shares with the one before, after that prefix's length.

    >>> _whole(_front_coded(["car", "card", "dog"]))
    ['car', 'card', 'dog']
    """
    out, before = [], ""
    for text in texts:
        shared = 0
        for a, b in zip(text[:90], before, strict=False):
            if a != b:
                break
            shared += 1
        out.append(chr(32 + shared) + text[shared:])
        before = text
    return "\n".join(out).encode()


def _whole(block: bytes) -> list[str]:
    out, before = [], ""
    for line in block.decode().split("\n") if block else []:
        before = before[: ord(line[0]) - 32] + line[1:]
        out.append(before)
    return out


def _numbers(values: Any) -> NDArray[np.int32]:
    return np.fromiter(values, dtype=np.int32)


def _ends(lengths: Sequence[int]) -> NDArray[np.int64]:
    return np.cumsum(lengths, dtype=np.int64)
