"""Values as flat arrays, the input of the kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from likewise.semantics.concepts.values.items import LexicalItem
from likewise.semantics.concepts.values.parser import Code
from likewise.semantics.concepts.values.terms import ValueTerm

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Fields of `LexicalItem`, in the order of the list numbers in `item_relations`.
LISTS = ("senses", "near", "ancestors", "parents", "wholes", "opposites", "far_opposites", "sides")


class ItemColumns(NamedTuple):
    """Distinct items of some values: spelling, flags, and every list of synsets, one after another.

    List l of item i is `values[ends[l, i - 1]:ends[l, i]]`.
    """

    spelling: NDArray[np.int64]
    name: NDArray[np.bool_]
    capital: NDArray[np.bool_]
    formula: NDArray[np.bool_]
    thing: NDArray[np.int8]
    ends: NDArray[np.int64]
    values: NDArray[np.int32]

    @property
    def senses(self) -> NDArray[np.int32]:
        """Return the first list of every item: its synsets. Numbers in other lists may be tags of
        hand-written sides.
        """
        return self.values[: self.ends[len(self.spelling) - 1]] if len(self.spelling) else self.values[:0]


class ValueColumns(NamedTuple):
    """Values as arrays: the ends of the items and codes of each value, and its flags.

    `marked` ones are compared with all others in full.
    A code has its own number, the number with the letter its word begins with (`terminal 5`, T5), and its word's.
    """

    items: ItemColumns
    item_ends: NDArray[np.int64]
    item: NDArray[np.int64]
    word_ends: NDArray[np.int64]
    word: NDArray[np.int64]
    code_ends: NDArray[np.int64]
    codes: NDArray[np.int64]
    negated_ends: NDArray[np.int64]
    negated: NDArray[np.int64]
    states: NDArray[np.int64]
    placed: NDArray[np.bool_]
    completed: NDArray[np.bool_]
    awaited: NDArray[np.bool_]
    done: NDArray[np.int64]
    marked: NDArray[np.bool_]
    spelled: NDArray[np.int64]


def columns_of(terms: Sequence[ValueTerm]) -> ValueColumns:
    """Convert values to arrays."""
    places: dict[LexicalItem, int] = {}
    item = [places.setdefault(one, len(places)) for term in terms for one in term.items]
    word = [places.setdefault(one, len(places)) for term in terms for one in term.words]
    return ValueColumns(
        items=item_columns(list(places)),
        item_ends=_ends(len(term.items) for term in terms),
        item=np.array(item, dtype=np.int64),
        word_ends=_ends(len(term.words) for term in terms),
        word=np.array(word, dtype=np.int64),
        code_ends=_ends(len(term.codes) for term in terms),
        codes=np.array([_code(code) for term in terms for code in term.codes], dtype=np.int64).reshape(-1, 3),
        negated_ends=_ends(len(term.negated) for term in terms),
        negated=np.array([place for term in terms for place in term.negated], dtype=np.int64),
        states=np.array([(term.yes, term.no) for term in terms], dtype=np.int64).reshape(-1, 2),
        placed=np.array([term.is_generic for term in terms], dtype=np.bool_),
        completed=np.array([term.completed for term in terms], dtype=np.bool_),
        awaited=np.array([term.awaited for term in terms], dtype=np.bool_),
        done=np.array([text_hash(term.done) for term in terms], dtype=np.int64),
        marked=np.array([_may_exclude(term) for term in terms], dtype=np.bool_),
        spelled=np.array(
            [(text_hash(term.alphanumerics), text_hash(term.initials), text_hash(term.acronym)) for term in terms],
            dtype=np.int64,
        ).reshape(-1, 3),
    )


def _may_exclude(term: ValueTerm) -> bool:
    """Return whether a value can exclude an unrelated one: it is negated, a proper name, or a formula."""
    denies = bool(term.negated) or term.completed or term.awaited
    return denies or any(item.name or item.capital or item.formula for item in term.items)


def text_hash(text: str) -> int:
    """Return a 63-bit hash of a text; 0 for no text. Two texts collide once in 2**63."""
    return (
        int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little") >> 1
        if text
        else 0
    )


def _code(code: Code) -> tuple[int, int, int]:
    lettered = code.qualifier[:1] + code.text if code.qualifier else ""
    return text_hash(code.text), text_hash(lettered), text_hash(code.qualifier)


def item_columns(items: Sequence[LexicalItem]) -> ItemColumns:
    """Convert items to arrays."""
    lists = [[getattr(item, name) for item in items] for name in LISTS]
    ends = np.cumsum([len(one) for column in lists for one in column], dtype=np.int64)
    values = np.array([value for column in lists for one in column for value in one], dtype=np.int32)
    return ItemColumns(
        spelling=np.array([text_hash(item.text) for item in items], dtype=np.int64),
        name=np.array([item.name for item in items], dtype=np.bool_),
        capital=np.array([item.capital for item in items], dtype=np.bool_),
        formula=np.array([item.formula for item in items], dtype=np.bool_),
        thing=np.array([item.thing for item in items], dtype=np.int8),
        ends=ends,
        values=values,
    )


def _ends(lengths: Iterable[int]) -> NDArray[np.int64]:
    return np.cumsum(np.fromiter(lengths, dtype=np.int64), dtype=np.int64)
