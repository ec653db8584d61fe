"""`/v1/relatedness` and `/v1/nearest`: what the broker takes words to mean."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.api.semantics import RelatednessResponse, RelatedTerm
from likewise.server.http.openapi import route_options
from likewise.server.http.requests import TWO_TERMS, authenticate, integer_parameter, json_response, term, terms

router = APIRouter(tags=["meaning"])


@router.get(
    "/v1/relatedness",
    **route_options(
        "How related two terms are, each under its themes.",
        answer=RelatednessResponse,
        query=TWO_TERMS,
    ),
)
async def relatedness(request: Request) -> Response:
    """Measure two terms."""
    gateway, _, tenant = authenticate(request, "subscribe")
    a, b = term(request, "a"), term(request, "b")
    themes, other = terms(request, "themes"), terms(request, "other_themes")
    interpretation = tenant.stateless.interpretation
    score = await gateway.query(
        tenant, lambda: interpretation.space.relatedness(a, b, themes=themes, other_themes=other)
    )
    return json_response(RelatednessResponse(score))


@router.get(
    "/v1/nearest",
    **route_options(
        "The words of the space most related to a term.",
        answer=RelatedTerm,
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
    gateway, _, tenant = authenticate(request, "subscribe")
    word, k, themes = term(request, "term"), integer_parameter(request, "k", 10, 1, 1_000), terms(request, "themes")
    neighbours = await gateway.query(tenant, lambda: tenant.stateless.interpretation.space.nearest(word, k, themes))
    return json_response([RelatedTerm(near, score) for near, score in neighbours])
