"""`/v1/relatedness` and `/v1/nearest`: what the broker takes words to mean."""

from __future__ import annotations

import asyncio

import msgspec
from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.connectors.documented import documented
from likewise.connectors.gate import answer, gate_of, whole
from likewise.defaults import MAX_TERM_LENGTH, MAX_THEMES
from likewise.errors import InputError, LimitExceeded

router = APIRouter(tags=["meaning"])


class RelatednessAnswer(msgspec.Struct, frozen=True):
    """How related two terms are, in [0, 1]."""

    relatedness: float


class Near(msgspec.Struct, frozen=True):
    """A word of the space, and how related it is."""

    term: str
    relatedness: float


def _terms(request: Request, name: str) -> list[str]:
    found = request.query_params.getlist(name)
    if len(found) > MAX_THEMES:
        raise LimitExceeded("theme tags", allowed=MAX_THEMES, found=len(found))
    for term in found:
        if len(term) > MAX_TERM_LENGTH:
            raise LimitExceeded("characters of a term", allowed=MAX_TERM_LENGTH, found=len(term))
    return found


def _term(request: Request, name: str) -> str:
    found = _terms(request, name)
    if len(found) != 1 or not found[0].strip():
        raise InputError(f"`{name}` is needed, once, with some text")
    return found[0]


@router.get(
    "/v1/relatedness",
    **documented(
        "How related two terms are, each under its themes.",
        answer=RelatednessAnswer,
        query={
            "a": ("string", "a term, as a subscription asks"),
            "b": ("string", "another, as an event says"),
            "themes": ("string", "theme tags of the first, repeated"),
            "other_themes": ("string", "theme tags of the second, repeated"),
        },
    ),
)
async def relatedness(request: Request) -> Response:
    """Measure two terms."""
    gate = gate_of(request)
    _, tenant = gate.admit(request, "subscribe")
    a, b = _term(request, "a"), _term(request, "b")
    themes, other = _terms(request, "themes"), _terms(request, "other_themes")
    meaning = tenant.plain.meaning
    found = await asyncio.to_thread(lambda: meaning.space.relatedness(a, b, themes=themes, other_themes=other))
    return answer(RelatednessAnswer(found))


@router.get(
    "/v1/nearest",
    **documented(
        "The words of the space most related to a term.",
        answer=Near,
        many=True,
        query={
            "term": ("string", "the term"),
            "k": ("integer", "how many"),
            "themes": ("string", "theme tags, repeated"),
        },
    ),
)
async def nearest(request: Request) -> Response:
    """Find near words."""
    gate = gate_of(request)
    _, tenant = gate.admit(request, "subscribe")
    term, k, themes = _term(request, "term"), whole(request, "k", 10, 1, 1_000), _terms(request, "themes")
    found = await asyncio.to_thread(lambda: tenant.plain.meaning.space.nearest(term, k, themes))
    return answer([Near(word, score) for word, score in found])
