"""`/v1/activity`, `/v1/grid` and `/v1/evidence`: what somebody who watches needs, such as the dashboard."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.api.live_views import Activity
from likewise.api.queries import Grid, GridRequest, GridResponse
from likewise.api.semantics import RelatednessEvidence
from likewise.broker.queries.activity import activity
from likewise.formats.json.events import event_from_json
from likewise.language import parse
from likewise.matching.explain.similarity_matrix import similarity_matrix
from likewise.matching.reference.terms import theme_of
from likewise.semantics.measure import Term
from likewise.server.http.openapi import route_options
from likewise.server.http.requests import (
    TWO_TERMS,
    authenticate,
    authenticate_reader,
    integer_parameter,
    json_response,
    read_query,
    term,
    terms,
)

router = APIRouter(tags=["watching"])


@router.get(
    "/v1/activity",
    **route_options(
        "The newest events and what they met; nothing is consumed.",
        answer=Activity,
        query={
            "position": ("integer", "the last position seen; only later events are listed"),
            "sequence": ("integer", "the last sequence number seen; only later matches are listed"),
            "limit": ("integer", "how many of each at most"),
        },
    ),
)
async def watch(request: Request) -> Response:
    """Read the newest events and matches."""
    gateway, _, tenant = authenticate_reader(request)  # it shows everybody's matches
    position, sequence = integer_parameter(request, "position", 0), integer_parameter(request, "sequence", 0)
    limit = integer_parameter(request, "limit", 100, 1, 1_000)

    def read_activity() -> Activity:
        with gateway.broker.store.reading() as tables:
            return activity(tables, tenant, position, sequence, limit)

    return json_response(await gateway.read(tenant, read_activity))


@router.post(
    "/v1/grid",
    **route_options(
        "Every predicate of a subscription against every tuple of an event: the matrix behind an explanation.",
        answer=GridResponse,
        bodies={
            "application/json": {
                "event": {"TempC_SHT": 27.1, "city": "Galway"},
                "subscription": "{temperature~ > 25 degC, city = Galway}",
            }
        },
    ),
)
async def show_grid(request: Request) -> Response:
    """Compute the matrix with the tenant's own meaning, feedback included."""
    (gateway, _, tenant), sent = await read_query(request, GridRequest)
    event, subscription = event_from_json(bytes(sent.event)), parse(sent.subscription)

    def question() -> Grid | None:
        interpretation = tenant.stateless.interpretation
        level = subscription.threshold if subscription.threshold is not None else interpretation.threshold
        return similarity_matrix(event, subscription, interpretation.measure, level)

    return json_response(GridResponse(await gateway.query(tenant, question)))


@router.get(
    "/v1/evidence",
    **route_options(
        "What stands behind the relatedness of two terms: every measure's score, the themes' effect, shared documents.",
        answer=RelatednessEvidence,
        query=TWO_TERMS,
    ),
)
async def show_evidence(request: Request) -> Response:
    """Describe what made a score, feedback included."""
    gateway, _, tenant = authenticate(request, "subscribe")
    subscription_term = Term(term(request, "a"), theme=theme_of(terms(request, "themes")))
    event_term = Term(term(request, "b"), theme=theme_of(terms(request, "other_themes")))
    interpretation = tenant.stateless.interpretation
    return json_response(
        await gateway.query(
            tenant, lambda: interpretation.space.describe(subscription_term, event_term, interpretation.measure)
        )
    )
