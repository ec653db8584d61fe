"""Errors as problem+json (RFC 9457), with the stable codes of `likewise.errors`."""

from __future__ import annotations

from math import ceil
from typing import Final

import msgspec
import structlog
from fastapi import Request
from fastapi.responses import Response
from starlette.types import Scope

from likewise import errors
from likewise.api.operations import Problem
from likewise.server.gateway import Gateway

_log = structlog.get_logger("likewise.http")
MEDIA_TYPE: Final = "application/problem+json"
_STATUS: Final[dict[type[errors.LikewiseError], int]] = {
    errors.NotAuthenticated: 401,
    errors.NotAllowed: 403,
    errors.UnknownId: 404,
    errors.DuplicateId: 409,
    errors.Conflict: 409,
    errors.LimitExceeded: 413,
    errors.RateExceeded: 429,
    errors.Unavailable: 503,
    errors.MissingDependency: 501,
    errors.ArtefactError: 500,
    errors.StateError: 409,
    errors.InputError: 400,
}


def status_of(error: errors.LikewiseError) -> int:
    """Return the HTTP status of an error.

    >>> status_of(errors.ParseError("nothing here")), status_of(errors.UnknownId("s9"))
    (400, 404)
    """
    return next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 500)


def problem_document(error: errors.LikewiseError) -> dict[str, object]:
    """Return an error as problem details.

    >>> problem_document(errors.UnknownId("s9"))["type"]
    'urn:likewise:error:unknown_id'
    """
    facts = error.to_dict()
    facts.pop("__notes__", None)
    detail = facts.pop("message")
    status = status_of(error)
    title = (type(error).__doc__ or "").split(".")[0].split(":")[0]
    return {
        "type": f"urn:likewise:error:{error.code}",
        "title": title,
        "status": status,
        "detail": detail,
        **facts,
    }


def problem_response(error: errors.LikewiseError, scope: Scope) -> Response:
    """Return the response to a request that failed, and count the error for its tenant."""
    gateway: Gateway = scope["state"]["gateway"]
    gateway.broker.metrics.refused(scope.get("likewise_tenant", ""), error.code)
    document = problem_document(error)
    headers = {}
    if isinstance(error, errors.RateExceeded):
        headers["Retry-After"] = str(max(1, ceil(error.retry_after)))
    if isinstance(error, errors.NotAuthenticated):
        headers["WWW-Authenticate"] = "Bearer"
    return Response(
        msgspec.json.encode(document, enc_hook=str), status_of(error), media_type=MEDIA_TYPE, headers=headers
    )


async def handle_likewise_error(request: Request, error: Exception) -> Response:
    """Handle a `LikewiseError` for FastAPI."""
    assert isinstance(error, errors.LikewiseError)
    return problem_response(error, request.scope)


def simple_problem(status: int, code: str, detail: str) -> Response:
    """Return a problem without an error: an unknown path, or a method that is not served."""
    document = Problem(f"urn:likewise:error:{code}", code.replace("_", " "), status, detail, code)
    return Response(msgspec.json.encode(document), status, media_type=MEDIA_TYPE)


def internal_error(path: str, error: Exception) -> Response:
    """Log a bug of ours, and return a problem that shows nothing of it."""
    _log.error("request_failed", path=path, exc_info=error)
    return simple_problem(500, "internal", "the broker made a mistake, which is in its log; tell who runs it")
