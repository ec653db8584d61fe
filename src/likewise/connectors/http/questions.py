"""Questions as requests bring them: who asks, for which tenant, and what; terms of the query within their limits."""

from __future__ import annotations

from typing import Final, TypeVar

from fastapi import Request

from likewise.broker.tenants.tenant import Tenant
from likewise.connectors.door import Door
from likewise.connectors.http.requests import admit, body_of, door_of, read
from likewise.defaults import MAX_TERM_LENGTH, MAX_THEMES
from likewise.errors import InputError, LimitExceeded

T = TypeVar("T")
TWO_TERMS: Final = {
    "a": ("string", "a term, as a subscription asks"),
    "b": ("string", "another, as an event says"),
    "themes": ("string", "theme tags of the first, repeated"),
    "other_themes": ("string", "theme tags of the second, repeated"),
}


def tenant_asking(request: Request) -> tuple[Door, Tenant]:
    """Where a question goes and for which tenant; subscribers may ask."""
    door = door_of(request)
    return door, admit(door, request, "subscribe")[1]


async def question_in(request: Request, kind: type[T]) -> tuple[Door, Tenant, T]:
    """The same, and the question in the request's body."""
    door, tenant = tenant_asking(request)
    return door, tenant, read(await body_of(door, request), kind)


def terms(request: Request, name: str) -> list[str]:
    """Every value of a name in the query, such as theme tags."""
    found = request.query_params.getlist(name)
    if len(found) > MAX_THEMES:
        raise LimitExceeded("theme tags", allowed=MAX_THEMES, found=len(found))
    for each in found:
        if len(each) > MAX_TERM_LENGTH:
            raise LimitExceeded("characters of a term", allowed=MAX_TERM_LENGTH, found=len(each))
    return found


def term(request: Request, name: str) -> str:
    """The one term under a name in the query."""
    found = terms(request, name)
    if len(found) != 1 or not found[0].strip():
        raise InputError(f"`{name}` is needed, once, with some text")
    return found[0]
