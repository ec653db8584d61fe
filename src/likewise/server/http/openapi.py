"""Describe the routes for OpenAPI, from the types that they read and write."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from likewise.api.operations import Problem
from likewise.server.http.problems import MEDIA_TYPE

TYPES: dict[str, type] = {"Problem": Problem}
_PROBLEM: Final = {"content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
_MEANINGS: Final = {
    400: "what was sent cannot be read or is wrong",
    401: "no token, or an unknown one",
    403: "the token's scopes do not cover it",
    404: "there is nothing with this id",
    409: "it does not fit what is there",
    413: "a limit was passed",
    415: "without tokens, a body of a type that any web page could send",
    429: "too many requests",
    503: "it cannot be done now",
}


def route_options(
    summary: str,
    *,
    answer: type | None = None,
    status: int = 200,
    bodies: dict[str, object] | None = None,
    query: dict[str, tuple[str, str]] | None = None,
    many: bool = False,
) -> dict[str, Any]:
    """Return the keyword arguments of `@router.get` and the like that describe a route.

    `bodies` gives an example for each media type that is read; `query` a JSON type and a text for each parameter.
    """
    extra: dict[str, Any] = {}
    if bodies:
        extra["requestBody"] = {
            "required": True,
            "content": {kind: {"schema": _schema_of(example), "example": example} for kind, example in bodies.items()},
        }
    if query:
        extra["parameters"] = [
            {"name": name, "in": "query", "required": False, "schema": {"type": kind}, "description": text}
            for name, (kind, text) in query.items()
        ]
    good: dict[str, Any] = {"description": "done"}
    if answer is not None:
        TYPES[answer.__name__] = answer
        reference: dict[str, Any] = {"$ref": f"#/components/schemas/{answer.__name__}"}
        good["content"] = {"application/json": {"schema": {"type": "array", "items": reference} if many else reference}}
    responses: dict[int | str, Any] = {status: good}
    responses |= {code: {"description": text, **_PROBLEM} for code, text in _MEANINGS.items()}
    return {"summary": summary, "openapi_extra": extra, "responses": responses, "status_code": status}


def _schema_of(example: object) -> dict[str, object]:
    if isinstance(example, str):
        return {"type": "string"}
    return {"type": "array", "items": {"type": "object"}} if isinstance(example, list) else {"type": "object"}


def components() -> dict[str, Any]:
    """Return the schemas of every registered type."""
    _, schemas = msgspec.json.schema_components(list(TYPES.values()), ref_template="#/components/schemas/{name}")
    return dict(schemas)
