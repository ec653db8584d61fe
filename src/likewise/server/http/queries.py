"""Questions as requests bring them: who asks, for which tenant, and what; terms of the query within their limits."""

from __future__ import annotations

from typing import Final, NamedTuple, TypeVar

from fastapi import Request

from likewise.broker.log.deliveries import recipients_of
from likewise.broker.log.entries import Entry
from likewise.broker.tenants.access import Access
from likewise.broker.tenants.tenant import Held, Tenant
from likewise.defaults import MAX_TERM_LENGTH, MAX_THEMES
from likewise.errors import InputError, LimitExceeded
from likewise.server.gateway import Door
from likewise.server.http.requests import admit, body_of, door_of, read

T = TypeVar("T")
TWO_TERMS: Final = {
    "a": ("string", "a term, as a subscription asks"),
    "b": ("string", "another, as an event says"),
    "themes": ("string", "theme tags of the first, repeated"),
    "other_themes": ("string", "theme tags of the second, repeated"),
}


class MatcherAnswers(NamedTuple):
    """Where a question goes, who asks it and for which tenant."""

    door: Door
    access: Access
    tenant: Tenant

    def stored_event(self, id: str, source: str | None) -> Entry:
        """A stored event by its id; for who is bound to subscribers only if one of them was given it."""
        broker = self.door.broker
        if self.access.free("subscribe"):
            return broker.stored_event(self.tenant, id, source)
        names = self.access.bound("subscribe")
        own = {queue.number for name in names if (queue := self.tenant.subscribers.get(name)) is not None}

        def given(position: int, _: str) -> bool:
            with broker.store.reading() as tables:
                return not own.isdisjoint(recipients_of(tables, self.tenant.number, position))

        return broker.stored_event(self.tenant, id, source, given)

    def subscription(self, subscriber: str, id: str) -> Held:
        """A subscription; refused to whom its subscriber does not belong."""
        self.access.require_subscriber(subscriber)
        return self.tenant.subscription(subscriber, id)


def tenant_asking(request: Request) -> MatcherAnswers:
    """Where a question goes and for which tenant; subscribers may ask."""
    door = door_of(request)
    return MatcherAnswers(door, *admit(door, request, "subscribe"))


async def question_in(request: Request, kind: type[T]) -> tuple[MatcherAnswers, T]:
    """The same, and the question in the request's body."""
    asking = tenant_asking(request)
    return asking, read(await body_of(asking.door, request), kind)


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
