"""Facets of several names as flat arrays: one side of a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.semantics.concepts.comparison import is_quantity
from likewise.semantics.concepts.facets import INSTANTANEOUS, LISTED, STATISTICS, Facets
from likewise.semantics.concepts.tables import InventoryTables
from likewise.semantics.concepts.weights import FacetWeights

_OPEN: Final = 1 << 40  # numbers of words that no inventory lists begin here


class FacetArrays(NamedTuple):
    """Facets as arrays. Lists are flat, each name's up to its end; `defaults` are bits of listed qualifiers.

    `words` says where a qualifier's word stands in the measure of relatedness, `open_words` where in `qualifier_words`.
    """

    kind_ends: NDArray[np.int64]
    kinds: NDArray[np.int64]
    certainty: NDArray[np.float32]
    sure: NDArray[np.bool_]
    roles: NDArray[np.int64]
    role_alone: NDArray[np.bool_]
    measured: NDArray[np.bool_]
    averaged: NDArray[np.bool_]
    is_reading: NDArray[np.bool_]
    dimensions: NDArray[np.int64]
    units: NDArray[np.int64]
    quantity: NDArray[np.bool_]
    other: NDArray[np.bool_]
    qualifier_ends: NDArray[np.int64]
    qualifiers: NDArray[np.int64]
    sources: NDArray[np.int64]
    outer: NDArray[np.bool_]
    loose: NDArray[np.bool_]
    words: NDArray[np.int64]
    open_words: NDArray[np.int64]
    defaults: NDArray[np.uint64]
    has_default: NDArray[np.bool_]
    number_ends: NDArray[np.int64]
    numbers: NDArray[np.int64]


def facet_arrays(
    facets: Sequence[Facets],
    word_scores_at: Sequence[Mapping[str, int]],
    tables: InventoryTables,
    weights: FacetWeights,
) -> FacetArrays:
    """Convert facets to arrays."""
    sure = weights.certainties()
    listed = [q for f in facets for q in f.qualifiers]
    word_indices = {word: index for index, word in enumerate(qualifier_words(facets))}
    return FacetArrays(
        kind_ends=_ends([len(f.kinds) for f in facets]),
        kinds=_integers([tables.kinds[k] for f in facets for k in f.kinds]),
        certainty=np.array([sure[f.certainty] for f in facets], dtype=np.float32),
        sure=_flags([f.certainty in ("head", "unit") for f in facets]),
        roles=_integers([tables.roles.get(f.role, 0) for f in facets]),
        role_alone=_flags([bool(f.role) and f.kinds == (f.role,) for f in facets]),
        measured=_flags([not f.role or f.role == INSTANTANEOUS or f.role in STATISTICS for f in facets]),
        averaged=_flags([f.role == "average" for f in facets]),
        is_reading=_flags([f.role in ("", INSTANTANEOUS) for f in facets]),
        dimensions=_integers([tables.dimensions_of(f.kinds) for f in facets]),
        units=_integers([tables.dimension_bit(f.dimension) for f in facets]),
        quantity=_flags([f.value in ("", "number") and is_quantity(f, tables) for f in facets]),
        other=_flags([f.value in ("text", "boolean") for f in facets]),
        qualifier_ends=_ends([len(f.qualifiers) for f in facets]),
        qualifiers=_integers([tables.qualifiers[q.name] if q.source == LISTED else _number(q.name) for q in listed]),
        sources=_integers([q.source for q in listed]),
        outer=_flags([q.is_outer for q in listed]),
        loose=_flags([q.source == LISTED and q.name in tables.loose for q in listed]),
        words=_integers(
            [known.get(q.word, -1) for f, known in zip(facets, word_scores_at, strict=True) for q in f.qualifiers]
        ),
        open_words=_integers([word_indices.get(q.word, -1) for q in listed]),
        defaults=np.array([tables.default_bits(f.kinds) for f in facets], dtype=np.uint64).reshape(
            len(facets), tables.blocks
        ),
        has_default=_flags([tables.means_a_thing(f.kinds) for f in facets]),
        number_ends=_ends([len(f.numbers) for f in facets]),
        numbers=_integers([_number(n) for f in facets for n in f.numbers]),
    )


def qualifier_words(facets: Sequence[Facets]) -> list[str]:
    """Return the distinct single words that qualifiers were written as."""
    return list(dict.fromkeys(q.word for f in facets for q in f.qualifiers if q.word))


def _number(word: str) -> int:
    """Return a number for a word that is equal on both sides within this process."""
    return _OPEN | (hash(word) & (_OPEN - 1))


def _ends(lengths: list[int]) -> NDArray[np.int64]:
    return np.cumsum(lengths, dtype=np.int64) if lengths else np.zeros(0, dtype=np.int64)


def _integers(values: list[int]) -> NDArray[np.int64]:
    return np.array(values, dtype=np.int64)


def _flags(values: list[Any]) -> NDArray[np.bool_]:
    return np.array(values, dtype=np.bool_)
