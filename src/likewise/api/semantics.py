"""Responses about relatedness of terms, and the evidence for it."""

from __future__ import annotations

import msgspec


class RelatednessResponse(msgspec.Struct, frozen=True):
    """Relatedness of two terms, in [0, 1]."""

    relatedness: float


class RelatedTerm(msgspec.Struct, frozen=True):
    """A word of the space, and how related it is."""

    term: str
    relatedness: float


class SharedDocument(msgspec.Struct, frozen=True):
    """A document both terms occur in, and its share of what they have in common (all shares sum to 1)."""

    title: str
    share: float


class RelatednessEvidence(msgspec.Struct, frozen=True):
    """Evidence for the relatedness of two terms.

    `scores` has each measure's own score; `without_themes` is the score the same measure gives when the
    themes are left out (None if there are none); `asked_basis` and `seen_basis` count the documents of
    each side's theme (0 without a theme, or if the space does not know it). `notes` say in words what
    the measures had to fall back on. `documents` are the strongest shared ones first.
    """

    asked: str
    seen: str
    measure: str
    score: float
    scores: tuple[tuple[str, float], ...]
    without_themes: float | None = None
    asked_basis: int = 0
    seen_basis: int = 0
    notes: tuple[str, ...] = ()
    documents: tuple[SharedDocument, ...] = ()
