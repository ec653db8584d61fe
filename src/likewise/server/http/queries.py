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
    """Context of a query: the gateway, the caller's access and its tenant."""

    gateway: Gateway
    access: Access
    tenant: Tenant

    def stored_event(self, id: str, source: str | None) -> Entry:
        """Return a stored event; a token bound to subscribers needs one that received it."""
        broker = self.gateway.broker
        if self.access.free("subscribe"):
            return broker.stored_event(self.tenant, id, source)
        names = self.access.bound("subscribe")
        queue_numbers = {queue.number for name in names if (queue := self.tenant.subscribers.get(name)) is not None}

        def given(position: int, _: str) -> bool:
            with broker.store.reading() as tables:
                return not queue_numbers.isdisjoint(recipients_of(tables, self.tenant.number, position))

        return broker.stored_event(self.tenant, id, source, given)

    def subscription(self, subscriber: str, id: str) -> StoredSubscription:
        """Return a subscription; refuse a token that is bound to other subscribers."""
        self.access.require_subscriber(subscriber)
        return self.tenant.subscription(subscriber, id)


def query_context(request: Request) -> QueryContext:
    """Return the context of a query; subscribers are allowed."""
    gateway = gateway_of(request)
    return QueryContext(gateway, *authenticate(gateway, request, "subscribe"))


async def read_query(request: Request, kind: type[T]) -> tuple[QueryContext, T]:
    """Return the context of a query and the decoded body."""
    context = query_context(request)
    return context, decode_body(await read_body(context.gateway, request), kind)


def terms(request: Request, name: str) -> list[str]:
    """Return every value of a query parameter, such as theme tags."""
    values = request.query_params.getlist(name)
    if len(values) > MAX_THEMES:
        raise LimitExceeded("theme tags", allowed=MAX_THEMES, found=len(values))
    for each in values:
        if len(each) > MAX_TERM_LENGTH:
            raise LimitExceeded("characters of a term", allowed=MAX_TERM_LENGTH, found=len(each))
    return values


def term(request: Request, name: str) -> str:
    """Return the one term of a query parameter."""
    values = terms(request, name)
    if len(values) != 1 or not values[0].strip():
        raise InputError(f"`{name}` is needed, once, with some text")
    return values[0]
