"""`/v1/activity`, `/v1/grid` and `/v1/evidence`: what somebody who watches needs, such as the dashboard."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.api.live_views import Activity
from likewise.api.queries import Grid, GridAsked, GridShown
from likewise.api.semantics import Evidence
from likewise.broker.queries.activity import activity
from likewise.broker.tenants.tenant import Tenant
from likewise.formats.json.events import event_from_json
from likewise.language import parse
from likewise.matching.explain.grid import grid
from likewise.matching.reference.terms import theme_of
from likewise.semantics.measure import Term
from likewise.server.gateway import Door
from likewise.server.http.openapi import documented
from likewise.server.http.queries import TWO_TERMS, question_in, tenant_asking, term, terms
from likewise.server.http.requests import answer, whole

router = APIRouter(tags=["watching"])


@router.get(
    "/v1/activity",
    **documented(
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
    door, access, tenant = tenant_asking(request)
    access.require_free("subscribe")  # it shows everybody's matches
    position, sequence = whole(request, "position", 0), whole(request, "sequence", 0)
    limit = whole(request, "limit", 100, 1, 1_000)
    return answer(await door.read(tenant, lambda: _read(door, tenant, position, sequence, limit)))


def _read(door: Door, tenant: Tenant, position: int, sequence: int, limit: int) -> Activity:
    with door.broker.store.reading() as tables:
        return activity(tables, tenant, position, sequence, limit)


@router.post(
    "/v1/grid",
    **documented(
        "Every predicate of a subscription against every tuple of an event: the matrix behind an explanation.",
        answer=GridShown,
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
    (door, _, tenant), sent = await question_in(request, GridAsked)
    event, subscription = event_from_json(bytes(sent.event)), parse(sent.subscription)

    def question() -> Grid | None:
        interpretation = tenant.stateless.interpretation
        level = subscription.threshold if subscription.threshold is not None else interpretation.threshold
        return grid(event, subscription, interpretation.measure, level)

    return answer(GridShown(await door.ask(tenant, question)))


@router.get(
    "/v1/evidence",
    **documented(
        "What stands behind the relatedness of two terms: every measure's score, the themes' effect, shared documents.",
        answer=Evidence,
        query=TWO_TERMS,
    ),
)
async def show_evidence(request: Request) -> Response:
    """Describe what made a score, feedback included."""
    door, _, tenant = tenant_asking(request)
    wanted = Term(term(request, "a"), theme=theme_of(terms(request, "themes")))
    seen = Term(term(request, "b"), theme=theme_of(terms(request, "other_themes")))
    interpretation = tenant.stateless.interpretation
    return answer(await door.ask(tenant, lambda: interpretation.space.describe(wanted, seen, interpretation.measure)))
