"""Health, readiness, metrics, and what an administrator asks for."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.api.operations import (
    ClockAccepted,
    ClockStatus,
    ConnectionShown,
    Stats,
    TokenMade,
    TokenShown,
    TokenWanted,
)
from likewise.api.workers import WorkersShown, WorkersWanted
from likewise.broker.admin import stats
from likewise.broker.log.tokens import listed_tokens, make_token, remove_token
from likewise.broker.telemetry.workers import change_workers, shown_workers
from likewise.defaults import TENANT
from likewise.errors import NotAllowed, StateError, Unavailable
from likewise.model.time import microseconds
from likewise.server.executors import STARVED_SECONDS
from likewise.server.http.openapi import documented
from likewise.server.http.requests import admit, answer, body_of, door_of, read, token_in

router = APIRouter(tags=["operations"])


@router.get("/healthz", **documented("Whether the process lives."))
async def health() -> Response:
    """Say that the process lives."""
    return answer({"status": "alive"})


@router.get("/readyz", **documented("Whether events are taken in and matched."))
async def readiness(request: Request) -> Response:
    """Say whether the broker does its work."""
    door = door_of(request)
    broker = door.broker
    if broker.worker.failure is not None:
        raise Unavailable(f"matching has stopped: {broker.worker.failure}")
    if door.stopping.is_set():
        raise Unavailable("the broker is stopping")
    if broker.store.trouble is not None:
        raise Unavailable(broker.store.trouble)
    executors = door_of(request).executors
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
    return answer({"status": "ready", "behind": behind, "troubles": troubles, "connections": connections})


@router.get(
    "/metrics",
    **documented(
        "Figures for Prometheus: with tokens in force a tenant's own, for its administrators; everybody's with the "
        "scope `metrics`."
    ),
)
async def metrics(request: Request) -> Response:
    """Give the figures."""
    door = door_of(request)
    access = door.keeper.admit(token_in(request))
    own = None
    if not access.free("metrics"):
        access.require("admin")
        own = access.tenant
    return Response(door.broker.metrics.page(own), media_type="text/plain; version=0.0.4; charset=utf-8")


@router.get("/v1/stats", **documented("What the tenant has in the broker.", answer=Stats))
async def read_stats(request: Request) -> Response:
    """Give figures of the tenant."""
    door = door_of(request)
    access, tenant = admit(door, request, "admin")
    return answer(await door.read(tenant, lambda: stats(door.broker, access.tenant)))


@router.get("/v1/workers", **documented("Which process of the broker does what.", answer=WorkersShown))
async def read_workers(request: Request) -> Response:
    """Show the processes, which all tenants share."""
    door = door_of(request)
    admit(door, request, "admin")
    return answer(shown_workers(door.broker.staff, door.broker.elastic))


@router.put(
    "/v1/workers",
    **documented(
        "Change what decides how many workers there are; for administrators of the tenant `default`.",
        answer=WorkersShown,
        bodies={"application/json": {"policy": "paper", "split_us": 200, "merge_us": 20}},
    ),
)
async def set_workers(request: Request) -> Response:
    """Let other settings decide from now on; all tenants share the workers."""
    door = door_of(request)
    access, _ = admit(door, request, "admin")
    if access.tenant != TENANT:
        raise NotAllowed(f"workers are everybody's: administrators of the tenant {TENANT!r} change them")
    change_workers(door.broker.elastic, read(await body_of(door, request), WorkersWanted))
    return answer(shown_workers(door.broker.staff, door.broker.elastic))


@router.get(
    "/v1/clock", **documented("How far the broker trusts its clock to remove what is over.", answer=ClockStatus)
)
async def read_clock(request: Request) -> Response:
    """Show what a step of the clock holds back."""
    door = door_of(request)
    admit(door, request, "admin")
    return answer(door.broker.retention.status())


@router.post(
    "/v1/clock/accept",
    **documented(
        "Take the clock for right, durably, so that what is over by it is removed; for administrators of the tenant "
        "`default`. With nothing to accept nothing changes.",
        answer=ClockAccepted,
    ),
)
async def accept_clock(request: Request) -> Response:
    """Accept the clock; all tenants share it."""
    door = door_of(request)
    access, tenant = admit(door, request, "admin")
    if access.tenant != TENANT:
        raise NotAllowed(f"the clock is everybody's: administrators of the tenant {TENANT!r} accept it")
    accepted = await door.read(tenant, door.broker.retention.accept)
    return answer(ClockAccepted(accepted, door.broker.retention.status()))


@router.get(
    "/v1/connections",
    **documented(
        "What brings events in beside publishers: bridges, and devices that are connected, by address.",
        answer=ConnectionShown,
        many=True,
    ),
)
async def list_connections(request: Request) -> Response:
    """List the tenant's connections."""
    door = door_of(request)
    access, _ = admit(door, request, "admin")
    found = [shown() for tenant, shown in door.connections if tenant == access.tenant]
    found += [each for listed in door.listed for each in listed(access.tenant)]
    return answer(sorted(found, key=lambda each: each.address))


@router.get("/v1/tokens", **documented("The tenant's tokens, by name.", answer=TokenShown, many=True))
async def list_tokens(request: Request) -> Response:
    """List tokens."""
    door = door_of(request)
    access, _ = admit(door, request, "admin")
    with door.broker.store.reading() as tables:
        found = listed_tokens(tables)
    return answer([TokenShown(t.name, t.scopes, t.expires) for t in found if t.tenant == access.tenant])


@router.post(
    "/v1/tokens",
    **documented(
        "Make a token for the tenant. The first one, which puts tokens in force, is made on the command line.",
        answer=TokenMade,
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
    door = door_of(request)
    access, _ = admit(door, request, "admin")
    if door.keeper.open:
        raise StateError(
            "the first token shuts everybody else out, so it is made where the store is: stop the broker and run "
            "likewise admin token DATA --name NAME --scope admin"
        )
    wanted = read(await body_of(door, request), TokenWanted)
    if "metrics" in wanted.scopes:
        raise NotAllowed("metrics")  # it shows every tenant's figures: made where the store is, by who runs the broker
    expires = None if wanted.expires is None else microseconds(wanted.expires)
    broker = door.broker
    token = await door.answer(
        lambda done: broker.store.write(
            lambda tables: make_token(tables, wanted.name, access.tenant, wanted.scopes, broker.clock(), expires), done
        )
    )
    door.reload()
    return answer(TokenMade(wanted.name, str(token)), 201)


@router.delete("/v1/tokens/{name:id}", **documented("Let a token open nothing any more.", status=204))
async def delete_token(request: Request, name: str) -> Response:
    """Remove a token of the tenant."""
    door = door_of(request)
    access, _ = admit(door, request, "admin")
    store = door.broker.store
    await door.answer(lambda done: store.write(lambda tables: remove_token(tables, name, access.tenant), done))
    door.reload()
    return Response(status_code=204)
