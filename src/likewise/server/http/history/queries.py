"""`/v1/tallies`, `/v1/series`, `/v1/events` and `/v1/trace`: what was, for somebody who looks back.

Each is a function of who asks and of the query, which runs beside the loop: reading the store may take a while.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias
from weakref import WeakKeyDictionary

from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.api.history import Series, StoredEvents, Tallies, Trace
from likewise.broker.queries.counts import DAY, Tally
from likewise.broker.queries.stored_events import FOREVER, series, stored_events
from likewise.broker.queries.traces import trace
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import MAX_TERM_LENGTH
from likewise.errors import InputError, LimitExceeded
from likewise.server.http.openapi import documented
from likewise.server.http.queries import MatcherAnswers, tenant_asking, term
from likewise.server.http.requests import answer, whole

Look: TypeAlias = Callable[[MatcherAnswers, Request], object]

router = APIRouter(tags=["looking back"])
_TIMES = {
    "since": ("integer", "the earliest moment of arrival, in µs since 1970"),
    "until": ("integer", "the moment (µs) before which they arrived"),
}
_tallies: WeakKeyDictionary[Tenant, Tally] = WeakKeyDictionary()


def _door(
    path: str, summary: str, kind: type, query: dict[str, tuple[str, str]], *, own: bool = False
) -> Callable[[Look], Look]:
    """Open an address that answers with what a look finds: at everybody's events, or `own` at one subscriber's."""

    def opened(look: Look) -> Look:
        async def door(request: Request) -> Response:
            asking = tenant_asking(request)
            if not own:
                asking.access.require_free("subscribe")
            return answer(await asking.door.ask(asking.tenant, lambda: look(asking, request)))

        said = documented(summary, answer=kind, query=query)
        router.get(path, name=look.__name__, description=look.__doc__, **said)(door)
        return look

    return opened


@_door(
    "/v1/tallies",
    "Events and matches by the minute, and how often each subscription was met, and when last.",
    Tallies,
    {
        "minutes": ("integer", "how far back, at most a day: 1440"),
        "span": ("integer", "minutes that are counted together"),
    },
)
def read_tallies(asking: MatcherAnswers, request: Request) -> Tallies:
    """Count what there is."""
    minutes, span = whole(request, "minutes", 60, 1, DAY), whole(request, "span", 1, 1, 60)
    broker, tally = asking.door.broker, _tallies.setdefault(asking.tenant, Tally())
    with broker.store.reading() as tables:
        return tally.count(tables, asking.tenant, broker.clock(), minutes, span)


@_door(
    "/v1/series",
    "The numbers of one reading of a source over time, and what was said about them.",
    Series,
    {
        "source": ("string", "the source"),
        "attribute": ("string", "the reading, as the source names it; without it the first that is a number"),
        **_TIMES,
        "points": ("integer", "how many numbers at most"),
    },
)
def read_series(asking: MatcherAnswers, request: Request) -> Series:
    """Read one reading's past."""
    return series(
        asking.door.broker.store,
        asking.tenant,
        term(request, "source"),
        _text(request, "attribute"),
        since=whole(request, "since", 0),
        until=whole(request, "until", FOREVER),
        points=whole(request, "points", 600, 1, 5_000),
    )


@_door(
    "/v1/events",
    "Stored events by filter, the newest first, with what each met.",
    StoredEvents,
    {
        "containing": ("string", "words that the event holds, in its names, values, themes, id or source"),
        "source": ("string", "its source, as it is written"),
        "subscriber": ("string", "with `subscription`: only what met this"),
        "subscription": ("string", "the subscription's id"),
        **_TIMES,
        "before": ("integer", "the position before which to look; an answer's `before` is where to go on"),
        "limit": ("integer", "how many at most"),
    },
)
def list_events(asking: MatcherAnswers, request: Request) -> StoredEvents:
    """List stored events."""
    met = (_text(request, "subscriber"), _text(request, "subscription"))
    if bool(met[0]) != bool(met[1]):
        raise InputError("`subscriber` and `subscription` go together")
    before = whole(request, "before", asking.tenant.appended + 1, 0, FOREVER)
    return stored_events(
        asking.door.broker.store,
        asking.tenant,
        before=before,
        limit=whole(request, "limit", 100, 1, 1_000),
        source=_text(request, "source") or None,
        containing=_text(request, "containing"),
        subscription=met if all(met) else None,
        since=whole(request, "since", 0),
        until=whole(request, "until", FOREVER),
    )


@_door(
    "/v1/trace",
    "What became of a stored event for a subscription: whether it was delivered then, and every step of it.",
    Trace,
    {
        "event": ("string", "the event's id"),
        "source": ("string", "its source, where several share the id"),
        "subscriber": ("string", "whose subscription"),
        "subscription": ("string", "its id"),
    },
    own=True,
)
def read_trace(asking: MatcherAnswers, request: Request) -> Trace:
    """Say what became of an event."""
    subscriber, subscription = term(request, "subscriber"), term(request, "subscription")
    asking.access.require_subscriber(subscriber)
    entry = asking.stored_event(term(request, "event"), _text(request, "source") or None)
    return trace(asking.door.broker.store, asking.tenant, entry, subscriber, subscription)


def _text(request: Request, name: str) -> str:
    said = request.query_params.get(name, "")
    if len(said) > MAX_TERM_LENGTH:
        raise LimitExceeded(f"characters of `{name}`", allowed=MAX_TERM_LENGTH, found=len(said))
    return said
