"""`/v1/relatedness` and `/v1/nearest`: what the broker takes words to mean."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.api.semantics import Near, RelatednessAnswer
from likewise.server.http.openapi import documented
from likewise.server.http.queries import TWO_TERMS, tenant_asking, term, terms
from likewise.server.http.requests import answer, whole

router = APIRouter(tags=["meaning"])


@router.get(
    "/v1/relatedness",
    **documented(
        "How related two terms are, each under its themes.",
        answer=RelatednessAnswer,
        query=TWO_TERMS,
    ),
)
async def relatedness(request: Request) -> Response:
    """Measure two terms."""
    door, _, tenant = tenant_asking(request)
    a, b = term(request, "a"), term(request, "b")
    themes, other = terms(request, "themes"), terms(request, "other_themes")
    interpretation = tenant.stateless.interpretation
    found = await door.ask(tenant, lambda: interpretation.space.relatedness(a, b, themes=themes, other_themes=other))
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
    door, _, tenant = tenant_asking(request)
    word, k, themes = term(request, "term"), whole(request, "k", 10, 1, 1_000), terms(request, "themes")
    found = await door.ask(tenant, lambda: tenant.stateless.interpretation.space.nearest(word, k, themes))
    return answer([Near(near, score) for near, score in found])
