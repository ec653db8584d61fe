"""`/v1/corrections`: what people say that attributes mean; listed, made, taken back, as SSSOM tables out and in."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.api.sources import CorrectionDetails, CorrectionRequest, ImportReceipt
from likewise.broker.tenants.access import Access
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import FormatError, InputError
from likewise.semantics.enrichment.corrections import Correction
from likewise.semantics.enrichment.sssom import read_sssom, write_sssom
from likewise.server.gateway import Gateway
from likewise.server.http.openapi import route_options
from likewise.server.http.requests import authenticate, decode_body, gateway_of, json_response, read_body

router = APIRouter(tags=["sources"])
SSSOM = "text/tab-separated-values"


def authenticate_editor(request: Request) -> tuple[Gateway, Access, Tenant]:
    """Authenticate a caller that may correct meanings for the tenant: no token bound to one name."""
    gateway = gateway_of(request)
    access, tenant = authenticate(gateway, request, "subscribe")
    access.require_free("subscribe")
    return gateway, access, tenant


def correction_details(number: int, correction: Correction) -> CorrectionDetails:
    """Return a correction as a response."""
    return CorrectionDetails(
        number,
        correction.attribute,
        correction.of,
        correction.name,
        correction.means,
        correction.unit,
        correction.by,
        correction.at,
    )


@router.get("/v1/corrections", **route_options("Every correction that holds.", answer=CorrectionDetails, many=True))
async def list_corrections(request: Request) -> Response:
    """List corrections; as an SSSOM table where that is accepted."""
    _, _, tenant = authenticate_editor(request)
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
    gateway, access, tenant = authenticate_editor(request)
    body, now = await read_body(gateway, request), gateway.broker.clock()
    if request.headers.get("content-type", "").partition(";")[0].strip() == SSSOM:
        try:
            imported = read_sssom(body.decode(), by=access.name, at=now)
        except UnicodeDecodeError:
            raise FormatError("the table is not UTF-8 text") from None
        await gateway.wait_committed(lambda done: gateway.broker.announcements.start_correct(tenant, imported, done))
        return json_response(ImportReceipt(len(imported)))
    correction_request = decode_body(body, CorrectionRequest)
    correction = Correction(
        correction_request.attribute,
        correction_request.of,
        correction_request.name,
        correction_request.means,
        correction_request.unit,
        access.name,
        now,
    )
    numbers = await gateway.wait_committed(
        lambda done: gateway.broker.announcements.start_correct(tenant, [correction], done)
    )
    assert isinstance(numbers, list)
    return json_response(correction_details(numbers[0], correction))


@router.delete("/v1/corrections/{number:id}", **route_options("Take a correction back.", status=204))
async def take_back(request: Request, number: str) -> Response:
    """Take a correction back."""
    gateway, _, tenant = authenticate_editor(request)
    if not number.isascii() or not number.isdigit() or len(number) > 18:
        raise InputError(f"a correction has a number, not {number[:40]!r}")
    await gateway.wait_committed(lambda done: gateway.broker.announcements.start_take_back(tenant, int(number), done))
    return Response(status_code=204)
