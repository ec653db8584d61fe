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
    gateway = gateway_of(request)
    broker = gateway.broker
    if broker.worker.failure is not None:
        raise Unavailable(f"matching has stopped: {broker.worker.failure}")
    if gateway.stopping.is_set():
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
    return json_response(
        {
            "status": "ready",
            "behind": behind,
            "tick_lag_s": round(broker.tick_lag_s, 1),
            "troubles": broker.troubles() + busy,
            "connections": gateway.connection_limits.shown(),
        }
    )


@router.get(
    "/metrics",
    **route_options(
        "Figures for Prometheus: with tokens in force a tenant's own, for its administrators; everybody's with the "
        "scope `metrics`."
    ),
)
async def metrics(request: Request) -> Response:
    """Give the figures."""
    gateway = gateway_of(request)
    access = gateway.authenticator.admit(bearer_token(request))
    tenant_only = None
    if not access.free("metrics"):
        access.require("admin")
        tenant_only = access.tenant
    return Response(gateway.broker.metrics.page(tenant_only), media_type="text/plain; version=0.0.4; charset=utf-8")


@router.get("/v1/stats", **route_options("What the tenant has in the broker.", answer=TenantStats))
async def read_stats(request: Request) -> Response:
    """Give figures of the tenant."""
    gateway, access, tenant = authenticate(request, "admin")
    return json_response(await gateway.read(tenant, lambda: stats(gateway.broker, access.tenant)))


@router.get("/v1/workers", **route_options("Which process of the broker does what.", answer=PoolStatus))
async def read_workers(request: Request) -> Response:
    """Show the processes, which all tenants share."""
    gateway, *_ = authenticate(request, "admin")
    return json_response(pool_status(gateway.broker.topology, gateway.broker.autoscaler))


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
    gateway, access, _ = authenticate(request, "admin")
    if access.tenant != TENANT:
        raise NotAllowed(f"workers are everybody's: administrators of the tenant {TENANT!r} change them")
    update_pool(gateway.broker.autoscaler, decode_body(await read_body(gateway, request), PoolSettings))
    return json_response(pool_status(gateway.broker.topology, gateway.broker.autoscaler))


@router.get(
    "/v1/clock", **route_options("How far the broker trusts its clock to remove what is over.", answer=ClockStatus)
)
async def read_clock(request: Request) -> Response:
    """Show what a step of the clock holds back."""
    gateway, *_ = authenticate(request, "admin")
    return json_response(gateway.broker.retention.status())


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
    gateway, access, tenant = authenticate(request, "admin")
    if access.tenant != TENANT:
        raise NotAllowed(f"the clock is everybody's: administrators of the tenant {TENANT!r} accept it")
    accepted = await gateway.read(tenant, gateway.broker.retention.accept)
    return json_response(ClockAccepted(accepted, gateway.broker.retention.status()))


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
    gateway, access, _ = authenticate(request, "admin")
    statuses = [shown() for tenant, shown in gateway.connections if tenant == access.tenant]
    statuses += [each for listed in gateway.connection_lists for each in listed(access.tenant)]
    return json_response(sorted(statuses, key=lambda each: each.address))


@router.get("/v1/tokens", **route_options("The tenant's tokens, by name.", answer=TokenDetails, many=True))
async def list_tokens(request: Request) -> Response:
    """List tokens."""
    gateway, access, _ = authenticate(request, "admin")
    with gateway.broker.store.reading() as tables:
        tokens = listed_tokens(tables)
    return json_response([TokenDetails(t.name, t.scopes, t.expires) for t in tokens if t.tenant == access.tenant])


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
    gateway, access, _ = authenticate(request, "admin")
    if gateway.authenticator.open:
        raise StateError(
            "the first token shuts everybody else out, so it is made where the store is: stop the broker and run "
            "likewise admin token DATA --name NAME --scope admin"
        )
    token_request = decode_body(await read_body(gateway, request), TokenRequest)
    if "metrics" in token_request.scopes:
        raise NotAllowed("metrics")  # it shows every tenant's figures: made where the store is, by who runs the broker
    expires = None if token_request.expires is None else microseconds(token_request.expires)
    broker = gateway.broker
    token = await gateway.wait_committed(
        broker.store.write,
        lambda tables: make_token(
            tables, token_request.name, access.tenant, token_request.scopes, broker.clock(), expires
        ),
    )
    gateway.reload_tokens()
    return json_response(CreatedToken(token_request.name, str(token)), 201)


@router.delete("/v1/tokens/{name:id}", **route_options("Let a token open nothing any more.", status=204))
async def delete_token(request: Request, name: str) -> Response:
    """Remove a token of the tenant."""
    gateway, access, _ = authenticate(request, "admin")
    store = gateway.broker.store
    await gateway.wait_committed(store.write, lambda tables: remove_token(tables, name, access.tenant))
    gateway.reload_tokens()
    return Response(status_code=204)
