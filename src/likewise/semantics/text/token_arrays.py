"""Tokenisation of whole Arrow arrays by operations on their bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

_SPACE = 0x20


def _table(lower: bool) -> NDArray[np.uint8]:
    """Return the translation of each byte: ASCII letters and digits stay, other ASCII separates, the rest stays."""
    table = np.arange(256, dtype=np.uint8)
    for code in range(128):
        character = chr(code)
        table[code] = ord(character.lower() if lower else character) if character.isalnum() else _SPACE
    return table


def split_words(
    texts: pa.Array[Any], *, lower: bool, spaced: Callable[[str], str]
) -> tuple[pa.Array[Any], NDArray[np.int32], NDArray[np.int64]]:
    """Split texts and return the distinct words, each text's words as codes, and the ends of each text's codes.

    `spaced` cuts one text that is not ASCII, and returns its words joined by single spaces.

    >>> words, codes, ends = split_words(pa.array(["a b", "", "b"]), lower=True, spaced=str)
    >>> words.to_pylist(), codes.tolist(), ends.tolist()
    (['a', 'b'], [0, 1, 1], [2, 2, 3])
    """
    texts = texts.cast(pa.large_string()).fill_null("")
    data, ends = _bytes_of(texts)
    if len(data) and data.max() > 0x7F:
        rows = np.unique(np.searchsorted(ends, np.flatnonzero(data & 0x80), side="right"))
        mask = np.zeros(len(texts), dtype=bool)
        mask[rows] = True
        cleaned = pa.array([spaced(str(text)) for text in texts.take(rows).to_pylist()], pa.large_string())
        data, ends = _bytes_of(pc.replace_with_mask(texts, pa.array(mask), cleaned))
    return _words(_table(lower)[data], ends)


def accepted_words(words: pa.Array[Any], shortest: int, longest: int, stop_words: Sequence[str]) -> NDArray[np.bool_]:
    """Return which words have a permitted length and are no stop words.

    >>> accepted_words(pa.array(["a", "the", "cat"], pa.large_string()), 2, 9, ["the"]).tolist()
    [False, False, True]
    """
    lengths = np.asarray(pc.call_function("utf8_length", [words]))
    stopped = np.asarray(pc.is_in(words, value_set=pa.array(stop_words, words.type)), dtype=bool)
    fits: NDArray[np.bool_] = (lengths >= shortest) & (lengths <= longest) & ~stopped
    return fits


def filter_words(
    words: pa.Array[Any],
    accepted: NDArray[np.bool_],
    stem: Callable[[Sequence[str]], list[str]] | None,
    codes: NDArray[np.int32],
    ends: NDArray[np.int64],
) -> tuple[pa.Array[Any], NDArray[np.int32], NDArray[np.int64]]:
    """Return the texts again with accepted words only, stemmed.

    >>> words, codes, ends = split_words(pa.array(["a cat", "cats"]), lower=True, spaced=str)
    >>> kept = np.array([False, True, True])
    >>> terms, codes, ends = filter_words(words, kept, lambda found: [w.rstrip("s") for w in found], codes, ends)
    >>> terms.to_pylist(), codes.tolist(), ends.tolist()
    (['cat'], [0, 0], [1, 2])
    """
    if accepted.all() and stem is None:
        return words, codes, ends
    terms = words.filter(pa.array(accepted))
    numbers = np.arange(len(terms), dtype=np.int32)
    if stem is not None:
        stemmed = pa.array(stem([str(word) for word in terms.to_pylist()]), pa.large_string()).dictionary_encode()
        terms, numbers = stemmed.dictionary, stemmed.indices.to_numpy(zero_copy_only=False)
    if accepted.all():
        return terms, numbers[codes], ends
    renumbered = np.full(len(words), -1, dtype=np.int32)
    renumbered[accepted] = numbers
    codes = renumbered[codes]
    stays = codes >= 0
    before = np.zeros(len(codes) + 1, dtype=np.int64)
    np.cumsum(stays, out=before[1:])
    return terms, codes[stays], before[ends]


def _bytes_of(texts: pa.Array[Any]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return a large string array's bytes and the end of each text."""
    _, offsets_buffer, data_buffer = texts.buffers()
    if offsets_buffer is None or data_buffer is None or not len(texts):
        return np.empty(0, dtype=np.uint8), np.zeros(len(texts), dtype=np.int64)
    offsets = np.frombuffer(memoryview(offsets_buffer), dtype=np.int64, count=len(texts) + 1 + texts.offset)
    offsets = offsets[texts.offset :]
    start, stop = int(offsets[0]), int(offsets[-1])
    return np.frombuffer(memoryview(data_buffer), dtype=np.uint8)[start:stop], offsets[1:] - start


def _words(
    data: NDArray[np.uint8], ends: NDArray[np.int64]
) -> tuple[pa.Array[Any], NDArray[np.int32], NDArray[np.int64]]:
    """Find the words: runs without a blank inside one text."""
    inside = data != _SPACE
    first = inside.copy()
    first[1:] &= ~inside[:-1]
    begins = np.concatenate(([0], ends[:-1])) if len(ends) else ends
    begins = begins[begins < len(data)]
    first[begins] = inside[begins]
    starts = np.flatnonzero(first)
    last = inside.copy()
    last[:-1] &= ~inside[1:] | first[1:]
    offsets = np.zeros(len(starts) + 1, dtype=np.int64)
    np.cumsum(np.flatnonzero(last) + 1 - starts, out=offsets[1:])
    words = pa.LargeStringArray.from_buffers(len(starts), _buffer(offsets), _buffer(data[inside]))
    encoded: pa.DictionaryArray[Any, Any] = words.dictionary_encode()
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
    return encoded.dictionary, codes, np.searchsorted(starts, ends, side="left").astype(np.int64)


def _buffer(array: NDArray[Any]) -> pa.Buffer:
    return pa.py_buffer(array.data)
