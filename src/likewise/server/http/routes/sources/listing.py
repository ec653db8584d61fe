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
    """Authenticate a caller that may read all sources of a tenant: no token bound to one name."""
    gateway = gateway_of(request)
    access, tenant = authenticate(gateway, request, "subscribe")
    access.require_free("subscribe")
    return gateway, tenant


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
    gateway, tenant = authenticate_reader(request)
    after, containing = (request.query_params.get(name, "") for name in ("after", "containing"))
    limit = integer_parameter(request, "limit", 100, 1, 1_000)
    return json_response(
        await gateway.query(tenant, lambda: gateway.broker.catalogue.page(tenant, after, limit, containing))
    )


@router.get(
    "/v1/sources/{source:id}",
    **route_options("One source: what it announced, what it sends, and what each of it means.", answer=SourceDetails),
)
async def show_source(request: Request, source: str) -> Response:
    """Show a source."""
    gateway, tenant = authenticate_reader(request)
    return json_response(await gateway.query(tenant, lambda: gateway.broker.catalogue.source(tenant, source)))


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
    gateway, tenant = authenticate_reader(request)
    containing, limit = (
        request.query_params.get("containing", ""),
        integer_parameter(request, "limit", 1_000, 1, 10_000),
    )
    return json_response(await gateway.query(tenant, lambda: gateway.broker.catalogue.words(tenant, containing, limit)))


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
    gateway, tenant = authenticate_reader(request)
    limit = integer_parameter(request, "limit", 10, 1, 100)
    return json_response(await gateway.query(tenant, lambda: gateway.broker.catalogue.questions(tenant, limit)))
