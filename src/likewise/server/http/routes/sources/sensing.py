"""`/v1/sources/.../sense` and `/demand`: what a source is told, and what it is asked for."""

from __future__ import annotations

import asyncio
from typing import Final

import msgspec
from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.api.sources import DemandFilterDetails, SensingCommand, SourceDemandDetails
from likewise.errors import InputError
from likewise.server.http.openapi import route_options
from likewise.server.http.requests import integer_parameter, json_response
from likewise.server.http.routes.sources.announcements import authenticate_source

router = APIRouter(tags=["sources"])
MAX_WAIT_S: Final = 30.0  # seconds that a request may wait


@router.get(
    "/v1/sources/{source:id}/sense",
    **route_options(
        "What a controllable source is told: to sense, and how often, or to rest. With `wait` the answer comes once "
        "the version is above `after`.",
        answer=SensingCommand,
        query={"after": ("integer", "the version known"), "wait": ("number", "seconds to wait for another")},
    ),
)
async def sense(request: Request, source: str) -> Response:
    """Tell a source."""
    gateway, tenant = authenticate_source(request, source)
    text = request.query_params.get("wait", "0")
    try:
        wait = min(MAX_WAIT_S, max(0.0, float(text)))
    except ValueError:
        raise InputError(f"`wait` is a number of seconds, not {text[:40]!r}") from None
    after, deadline = integer_parameter(request, "after", 0), asyncio.get_running_loop().time() + wait
    while True:  # in small steps, so that no thread is held and a stop ends it
        command = gateway.broker.activation.sense(tenant, source)
        if command.version > after or asyncio.get_running_loop().time() >= deadline or gateway.stopping.is_set():
            return json_response(command)
        await asyncio.sleep(0.1)


@router.get(
    "/v1/sources/{source:id}/demand",
    **route_options(
        "What a source is asked for: exact filters that every event meets which a subscription wants, and the version.",
        answer=SourceDemandDetails,
    ),
)
async def demand(request: Request, source: str) -> Response:
    """Show a source's demand."""
    gateway, tenant = authenticate_source(request, source)
    details = await gateway.query(tenant, lambda: gateway.broker.source_demand.demand(tenant, source))
    filters = tuple(
        DemandFilterDetails(each.id, str(each), msgspec.to_builtins(each.alternatives)) for each in details.filters
    )
    return json_response(SourceDemandDetails(source, details.version, filters, details.everything))
