"""Health, readiness, metrics, and what an administrator asks for."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.api.operations import (
    ClockAccepted,
    ClockStatus,
    ConnectionStatus,
    CreatedToken,
    TenantStats,
    TokenDetails,
    TokenRequest,
)
from likewise.api.workers import PoolSettings, PoolStatus
from likewise.broker.admin import stats
from likewise.broker.log.tokens import listed_tokens, make_token, remove_token
from likewise.broker.telemetry.workers import pool_status, update_pool
from likewise.defaults import TENANT
from likewise.errors import NotAllowed, StateError, Unavailable
from likewise.model.time import microseconds
from likewise.server.executors import STARVED_SECONDS
from likewise.server.http.openapi import route_options
from likewise.server.http.requests import authenticate, bearer_token, decode_body, gateway_of, json_response, read_body

router = APIRouter(tags=["operations"])


@router.get("/healthz", **route_options("Whether the process lives."))
async def health() -> Response:
    """Say that the process lives."""
    return json_response({"status": "alive"})


@router.get("/readyz", **route_options("Whether events are taken in and matched."))
async def readiness(request: Request) -> Response:
    """Say whether the broker does its work."""
    door = gateway_of(request)
    broker = door.broker
    if broker.worker.failure is not None:
        raise Unavailable(f"matching has stopped: {broker.worker.failure}")
    if door.stopping.is_set():
        raise Unavailable("the broker is stopping")
    if broker.store.trouble is not None:
        raise Unavailable(broker.store.trouble)
    executors = gateway_of(request).executors
    if executors.reads.starved():
        raise Unavailable(
            f"all {executors.reads.threads} threads that read the store have been busy for {STARVED_SECONDS:g} s "
            "without an end; look at the disk"
        )
    if await executors.default_pool_starved():
        raise Unavailable("the default thread pool runs nothing any more; restart the broker, and report what it did")
    behind = broker.store.position - broker.worker.position
    busy = [f"all threads for {pool.name} have been busy for {STARVED_SECONDS:g} s" for pool in executors.starved()]
    troubles, connections = broker.troubles() + busy, door.connection_limits.shown()
    return json_response({"status": "ready", "behind": behind, "troubles": troubles, "connections": connections})


@router.get(
    "/metrics",
    **route_options(
        "Figures for Prometheus: with tokens in force a tenant's own, for its administrators; everybody's with the "
        "scope `metrics`."
    ),
)
async def metrics(request: Request) -> Response:
    """Give the figures."""
    door = gateway_of(request)
    access = door.authenticator.admit(bearer_token(request))
    own = None
    if not access.free("metrics"):
        access.require("admin")
        own = access.tenant
    return Response(door.broker.metrics.page(own), media_type="text/plain; version=0.0.4; charset=utf-8")


@router.get("/v1/stats", **route_options("What the tenant has in the broker.", answer=TenantStats))
async def read_stats(request: Request) -> Response:
    """Give figures of the tenant."""
    door = gateway_of(request)
    access, tenant = authenticate(door, request, "admin")
    return json_response(await door.read(tenant, lambda: stats(door.broker, access.tenant)))


@router.get("/v1/workers", **route_options("Which process of the broker does what.", answer=PoolStatus))
async def read_workers(request: Request) -> Response:
    """Show the processes, which all tenants share."""
    door = gateway_of(request)
    authenticate(door, request, "admin")
    return json_response(pool_status(door.broker.topology, door.broker.autoscaler))


@router.put(
    "/v1/workers",
    **route_options(
        "Change what decides how many workers there are; for administrators of the tenant `default`.",
        answer=PoolStatus,
        bodies={"application/json": {"policy": "paper", "split_us": 200, "merge_us": 20}},
    ),
)
async def set_workers(request: Request) -> Response:
    """Let other settings decide from now on; all tenants share the workers."""
    door = gateway_of(request)
    access, _ = authenticate(door, request, "admin")
    if access.tenant != TENANT:
        raise NotAllowed(f"workers are everybody's: administrators of the tenant {TENANT!r} change them")
    update_pool(door.broker.autoscaler, decode_body(await read_body(door, request), PoolSettings))
    return json_response(pool_status(door.broker.topology, door.broker.autoscaler))


@router.get(
    "/v1/clock", **route_options("How far the broker trusts its clock to remove what is over.", answer=ClockStatus)
)
async def read_clock(request: Request) -> Response:
    """Show what a step of the clock holds back."""
    door = gateway_of(request)
    authenticate(door, request, "admin")
    return json_response(door.broker.retention.status())


@router.post(
    "/v1/clock/accept",
    **route_options(
        "Take the clock for right, durably, so that what is over by it is removed; for administrators of the tenant "
        "`default`. With nothing to accept nothing changes.",
        answer=ClockAccepted,
    ),
)
async def accept_clock(request: Request) -> Response:
    """Accept the clock; all tenants share it."""
    door = gateway_of(request)
    access, tenant = authenticate(door, request, "admin")
    if access.tenant != TENANT:
        raise NotAllowed(f"the clock is everybody's: administrators of the tenant {TENANT!r} accept it")
    accepted = await door.read(tenant, door.broker.retention.accept)
    return json_response(ClockAccepted(accepted, door.broker.retention.status()))


@router.get(
    "/v1/connections",
    **route_options(
        "What brings events in beside publishers: bridges, and devices that are connected, by address.",
        answer=ConnectionStatus,
        many=True,
    ),
)
async def list_connections(request: Request) -> Response:
    """List the tenant's connections."""
    door = gateway_of(request)
    access, _ = authenticate(door, request, "admin")
    found = [shown() for tenant, shown in door.connections if tenant == access.tenant]
    found += [each for listed in door.connection_lists for each in listed(access.tenant)]
    return json_response(sorted(found, key=lambda each: each.address))


@router.get("/v1/tokens", **route_options("The tenant's tokens, by name.", answer=TokenDetails, many=True))
async def list_tokens(request: Request) -> Response:
    """List tokens."""
    door = gateway_of(request)
    access, _ = authenticate(door, request, "admin")
    with door.broker.store.reading() as tables:
        found = listed_tokens(tables)
    return json_response([TokenDetails(t.name, t.scopes, t.expires) for t in found if t.tenant == access.tenant])


@router.post(
    "/v1/tokens",
    **route_options(
        "Make a token for the tenant. The first one, which puts tokens in force, is made on the command line.",
        answer=CreatedToken,
        status=201,
        bodies={
            "application/json": {
                "name": "roof sensor",
                "scopes": ["publish:/roof"],
                "expires": "2100-01-01T00:00:00Z",
            }
        },
    ),
)
async def create_token(request: Request) -> Response:
    """Make a token."""
    door = gateway_of(request)
    access, _ = authenticate(door, request, "admin")
    if door.authenticator.open:
        raise StateError(
            "the first token shuts everybody else out, so it is made where the store is: stop the broker and run "
            "likewise admin token DATA --name NAME --scope admin"
        )
    wanted = decode_body(await read_body(door, request), TokenRequest)
    if "metrics" in wanted.scopes:
        raise NotAllowed("metrics")  # it shows every tenant's figures: made where the store is, by who runs the broker
    expires = None if wanted.expires is None else microseconds(wanted.expires)
    broker = door.broker
    token = await door.wait_committed(
        lambda done: broker.store.write(
            lambda tables: make_token(tables, wanted.name, access.tenant, wanted.scopes, broker.clock(), expires), done
        )
    )
    door.reload_tokens()
    return json_response(CreatedToken(wanted.name, str(token)), 201)


@router.delete("/v1/tokens/{name:id}", **route_options("Let a token open nothing any more.", status=204))
async def delete_token(request: Request, name: str) -> Response:
    """Remove a token of the tenant."""
    door = gateway_of(request)
    access, _ = authenticate(door, request, "admin")
    store = door.broker.store
    await door.wait_committed(lambda done: store.write(lambda tables: remove_token(tables, name, access.tenant), done))
    door.reload_tokens()
    return Response(status_code=204)
