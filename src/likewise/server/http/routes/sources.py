"""The catalogue over HTTP: sources and words, what sources announce, what people correct, and what sources are told."""

from __future__ import annotations

import asyncio
from typing import Final

import msgspec
from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.api.sources import (
    AnnouncementReceipt,
    AttributeSummary,
    CorrectionDetails,
    CorrectionRequest,
    DemandFilterDetails,
    ImportReceipt,
    ReviewQuestion,
    SensingCommand,
    SourceDemandDetails,
    SourceDetails,
    SourcesPage,
    UncertainAttribute,
)
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import FormatError, InputError
from likewise.model.announcements.announcement import Announcement
from likewise.semantics.enrichment.corrections import Correction
from likewise.semantics.enrichment.sssom import read_sssom, write_sssom
from likewise.server.announcements import decode_announcement
from likewise.server.gateway import Gateway
from likewise.server.http.openapi import route_options
from likewise.server.http.requests import (
    authenticate,
    authenticate_reader,
    decode_body,
    integer_parameter,
    json_response,
    read_body,
)

router = APIRouter(tags=["sources"])
_CONTAINING = {"containing": ("string", "only those whose name contains this text"), "limit": ("integer", "how many")}


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
    gateway, _, tenant = authenticate_reader(request)
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
    gateway, _, tenant = authenticate_reader(request)
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
    gateway, _, tenant = authenticate_reader(request)
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
    gateway, _, tenant = authenticate_reader(request)
    limit = integer_parameter(request, "limit", 10, 1, 100)
    return json_response(await gateway.query(tenant, lambda: gateway.broker.catalogue.questions(tenant, limit)))


@router.get(
    "/v1/vocabulary/review",
    **route_options(
        "The attributes that a normaliser is not certain of, those met most often first, with the best guesses.",
        answer=UncertainAttribute,
        many=True,
        query={"limit": ("integer", "how many")},
    ),
)
async def review(request: Request) -> Response:
    """List what needs review."""
    _, _, tenant = authenticate_reader(request)
    known = [] if tenant.normalized is None else tenant.normalized.uncertain()
    return json_response(known[: integer_parameter(request, "limit", 100, 1, 1_000)])


_ANNOUNCEMENT: Final = "/v1/sources/{source:id}/announcement"
_ANNOUNCEMENT_BODIES: Final[dict[str, object]] = {
    "application/json": {
        "attributes": [{"name": "temp1", "unit": "degC", "low": -40, "high": 85}],
        "complete": True,
        "model": "X",
        "place": "roof",
        "interval": 60,
        "lease": 600,
    }
}


def authenticate_source(request: Request, source: str) -> tuple[Gateway, Tenant]:
    """Authenticate a caller that may publish as a source."""
    gateway, access, tenant = authenticate(request, "publish")
    access.require_source(source)
    return gateway, tenant


@router.put(
    _ANNOUNCEMENT,
    **route_options(
        "Announce what a source can produce, until the lease is over; announce again before that to renew it.",
        answer=AnnouncementReceipt,
        bodies=_ANNOUNCEMENT_BODIES,
    ),
)
async def announce(request: Request, source: str) -> Response:
    """Announce a source."""
    gateway, tenant = authenticate_source(request, source)
    announcement = decode_announcement(await read_body(gateway, request), source)
    gateway.check_rate(tenant, 1)
    renewed = await gateway.wait_committed(gateway.broker.announcements.start_announce, tenant, announcement)
    return json_response(AnnouncementReceipt(source, tenant.sources.announcement(source).ends, bool(renewed)))


@router.get(_ANNOUNCEMENT, **route_options("What a source announced.", answer=Announcement))
async def read_one(request: Request, source: str) -> Response:
    """Read an announcement."""
    _, tenant = authenticate_source(request, source)
    return json_response(tenant.sources.announcement(source).announcement)


@router.delete(_ANNOUNCEMENT, **route_options("Revoke what a source announced.", status=204))
async def revoke(request: Request, source: str) -> Response:
    """Revoke an announcement."""
    gateway, tenant = authenticate_source(request, source)
    await gateway.wait_committed(gateway.broker.announcements.start_revoke, tenant, source, "")
    return Response(status_code=204)


@router.put("/v1/sources/{source:id}/keep", **route_options("Keep a source awake, whoever asks for it.", status=204))
async def keep(request: Request, source: str) -> Response:
    """Keep a source awake."""
    gateway, tenant = authenticate_source(request, source)
    await gateway.wait_committed(gateway.broker.announcements.start_keep, tenant, source, True)
    return Response(status_code=204)


@router.delete(
    "/v1/sources/{source:id}/keep", **route_options("Let a source rest when nobody asks for it.", status=204)
)
async def let_rest(request: Request, source: str) -> Response:
    """Let a source rest."""
    gateway, tenant = authenticate_source(request, source)
    await gateway.wait_committed(gateway.broker.announcements.start_keep, tenant, source, False)
    return Response(status_code=204)


SSSOM = "text/tab-separated-values"


def correction_details(number: int, correction: Correction) -> CorrectionDetails:
    """Return a correction as a response."""
    return CorrectionDetails(number, **msgspec.structs.asdict(correction))


@router.get("/v1/corrections", **route_options("Every correction that holds.", answer=CorrectionDetails, many=True))
async def list_corrections(request: Request) -> Response:
    """List corrections; as an SSSOM table where that is accepted."""
    _, _, tenant = authenticate_reader(request)
    corrections = list(tenant.sources.corrections.items())
    if SSSOM in request.headers.get("accept", ""):
        return Response(write_sssom([correction for _, correction in corrections]), media_type=SSSOM)
    return json_response([correction_details(number, correction) for number, correction in corrections])


@router.post(
    "/v1/corrections",
    **route_options(
        "Say once what an attribute of a source, of a model, or of everybody means; certain from then on. A table in "
        "SSSOM's form (text/tab-separated-values) says many at once, all or none.",
        answer=CorrectionDetails,
        bodies={
            "application/json": {"attribute": "temp1", "of": "model", "name": "X", "means": "supply air temperature"},
            SSSOM: "subject_id\tsubject_label\tpredicate_id\tobject_label\tmapping_justification",
        },
    ),
)
async def correct(request: Request) -> Response:
    """Correct what an attribute means."""
    gateway, access, tenant = authenticate_reader(request)
    body, now = await read_body(gateway, request), gateway.broker.clock()
    if request.headers.get("content-type", "").partition(";")[0].strip() == SSSOM:
        try:
            imported = read_sssom(body.decode(), by=access.name, at=now)
        except UnicodeDecodeError:
            raise FormatError("the table is not UTF-8 text") from None
        await gateway.wait_committed(gateway.broker.announcements.start_correct, tenant, imported)
        return json_response(ImportReceipt(len(imported)))
    correction_request = decode_body(body, CorrectionRequest)
    correction = Correction(**msgspec.structs.asdict(correction_request), by=access.name, at=now)
    numbers = await gateway.wait_committed(gateway.broker.announcements.start_correct, tenant, [correction])
    assert isinstance(numbers, list)
    return json_response(correction_details(numbers[0], tenant.sources.corrections.get(numbers[0], correction)))


@router.delete("/v1/corrections/{number:id}", **route_options("Take a correction back.", status=204))
async def take_back(request: Request, number: str) -> Response:
    """Take a correction back."""
    gateway, _, tenant = authenticate_reader(request)
    if not number.isascii() or not number.isdigit() or len(number) > 18:
        raise InputError(f"a correction has a number, not {number[:40]!r}")
    await gateway.wait_committed(gateway.broker.announcements.start_take_back, tenant, int(number))
    return Response(status_code=204)


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
