"""`/v1/sources` and `/v1/vocabulary`: what sources there are, and the words of the stream."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.api.sources import AttributeSummary, ReviewQuestion, SourceDetails, SourcesPage
from likewise.broker.tenants.tenant import Tenant
from likewise.server.gateway import Gateway
from likewise.server.http.openapi import route_options
from likewise.server.http.requests import authenticate, gateway_of, integer_parameter, json_response

router = APIRouter(tags=["sources"])
_CONTAINING = {"containing": ("string", "only those whose name contains this text"), "limit": ("integer", "how many")}


def authenticate_reader(request: Request) -> tuple[Gateway, Tenant]:
    """Who may look at all of a tenant's sources: no token that is bound to one name."""
    door = gateway_of(request)
    access, tenant = authenticate(door, request, "subscribe")
    access.require_free("subscribe")
    return door, tenant


@router.get(
    "/v1/sources",
    **route_options(
        "The sources of the stream, by name: when each was seen, how often it sends, where and what it is.",
        answer=SourcesPage,
        query={**_CONTAINING, "after": ("string", "the last name of the page before")},
    ),
)
async def list_sources(request: Request) -> Response:
    """List sources."""
    door, tenant = authenticate_reader(request)
    after, containing = (request.query_params.get(name, "") for name in ("after", "containing"))
    limit = integer_parameter(request, "limit", 100, 1, 1_000)
    return json_response(await door.query(tenant, lambda: door.broker.catalogue.page(tenant, after, limit, containing)))


@router.get(
    "/v1/sources/{source:id}",
    **route_options("One source: what it announced, what it sends, and what each of it means.", answer=SourceDetails),
)
async def show_source(request: Request, source: str) -> Response:
    """Show a source."""
    door, tenant = authenticate_reader(request)
    return json_response(await door.query(tenant, lambda: door.broker.catalogue.source(tenant, source)))


@router.get(
    "/v1/vocabulary",
    **route_options(
        "The names of attributes that the stream uses, those seen most often first, and what each is taken for.",
        answer=AttributeSummary,
        many=True,
        query=_CONTAINING,
    ),
)
async def vocabulary(request: Request) -> Response:
    """List the words of the stream."""
    door, tenant = authenticate_reader(request)
    containing, limit = (
        request.query_params.get("containing", ""),
        integer_parameter(request, "limit", 1_000, 1, 10_000),
    )
    return json_response(await door.query(tenant, lambda: door.broker.catalogue.words(tenant, containing, limit)))


@router.get(
    "/v1/vocabulary/questions",
    **route_options(
        "The attributes whose confirmation would change most deliveries, the most useful first.",
        answer=ReviewQuestion,
        many=True,
        query={"limit": ("integer", "how many")},
    ),
)
async def questions(request: Request) -> Response:
    """Ask what would help most."""
    door, tenant = authenticate_reader(request)
    limit = integer_parameter(request, "limit", 10, 1, 100)
    return json_response(await door.query(tenant, lambda: door.broker.catalogue.questions(tenant, limit)))
