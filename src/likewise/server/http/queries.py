"""Questions as requests bring them: who asks, for which tenant, and what; terms of the query within their limits."""

from __future__ import annotations

from typing import Final, NamedTuple, TypeVar

from fastapi import Request

from likewise.broker.log.deliveries import recipients_of
from likewise.broker.log.entries import Entry
from likewise.broker.tenants.access import Access
from likewise.broker.tenants.tenant import StoredSubscription, Tenant
from likewise.defaults import MAX_TERM_LENGTH, MAX_THEMES
from likewise.errors import InputError, LimitExceeded
from likewise.server.gateway import Gateway
from likewise.server.http.requests import authenticate, decode_body, gateway_of, read_body

T = TypeVar("T")
TWO_TERMS: Final = {
    "a": ("string", "a term, as a subscription asks"),
    "b": ("string", "another, as an event says"),
    "themes": ("string", "theme tags of the first, repeated"),
    "other_themes": ("string", "theme tags of the second, repeated"),
}


class QueryContext(NamedTuple):
    """Where a question goes, who asks it and for which tenant."""

    gateway: Gateway
    access: Access
    tenant: Tenant

    def stored_event(self, id: str, source: str | None) -> Entry:
        """A stored event by its id; for who is bound to subscribers only if one of them was given it."""
        broker = self.gateway.broker
        if self.access.free("subscribe"):
            return broker.stored_event(self.tenant, id, source)
        names = self.access.bound("subscribe")
        own = {queue.number for name in names if (queue := self.tenant.subscribers.get(name)) is not None}

        def given(position: int, _: str) -> bool:
            with broker.store.reading() as tables:
                return not own.isdisjoint(recipients_of(tables, self.tenant.number, position))

        return broker.stored_event(self.tenant, id, source, given)

    def subscription(self, subscriber: str, id: str) -> StoredSubscription:
        """A subscription; refused to whom its subscriber does not belong."""
        self.access.require_subscriber(subscriber)
        return self.tenant.subscription(subscriber, id)


def query_context(request: Request) -> QueryContext:
    """Where a question goes and for which tenant; subscribers may ask."""
    door = gateway_of(request)
    return QueryContext(door, *authenticate(door, request, "subscribe"))


async def read_query(request: Request, kind: type[T]) -> tuple[QueryContext, T]:
    """The same, and the question in the request's body."""
    asking = query_context(request)
    return asking, decode_body(await read_body(asking.gateway, request), kind)


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
