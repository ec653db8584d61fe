"""`/v1/activity`, `/v1/grid` and `/v1/evidence`: what somebody who watches needs, such as the dashboard."""

from __future__ import annotations

import asyncio

import msgspec
from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.broker.activity import Activity, activity
from likewise.broker.tenants import Tenant
from likewise.connectors.documented import documented
from likewise.connectors.gate import Gate, answer, gate_of, read, whole
from likewise.defaults import MAX_TERM_LENGTH, MAX_THEMES
from likewise.errors import InputError, LimitExceeded
from likewise.formats.json_events import event_from_json
from likewise.language import parse
from likewise.matching.grid import Grid, grid
from likewise.matching.terms import theme_of
from likewise.semantics.evidence import Evidence
from likewise.semantics.measure import Term

router = APIRouter(tags=["watching"])


class GridAsked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An event, as it would be published, and the text of a subscription."""

    event: msgspec.Raw
    subscription: str


class GridShown(msgspec.Struct, frozen=True):
    """The matrix; None for kinds of subscriptions that have none."""

    grid: Grid | None


@router.get(
    "/v1/activity",
    **documented(
        "The newest events and what they met; nothing is consumed.",
        answer=Activity,
        query={
            "position": ("integer", "the last position seen; only later events are listed"),
            "sequence": ("integer", "the last sequence number seen; only later matches are listed"),
            "limit": ("integer", "how many of each at most"),
        },
    ),
)
async def watch(request: Request) -> Response:
    """Read the newest events and matches."""
    gate = gate_of(request)
    _, tenant = gate.admit(request, "subscribe")
    position, sequence = whole(request, "position", 0), whole(request, "sequence", 0)
    limit = whole(request, "limit", 100, 1, 1_000)
    return answer(await asyncio.to_thread(_read, gate, tenant, position, sequence, limit))


def _read(gate: Gate, tenant: Tenant, position: int, sequence: int, limit: int) -> Activity:
    with gate.broker.store.reading() as connection:
        return activity(connection, tenant, position, sequence, limit)


@router.post(
    "/v1/grid",
    **documented(
        "Every predicate of a subscription against every tuple of an event: the matrix behind an explanation.",
        answer=GridShown,
        bodies={
            "application/json": {
                "event": {"TempC_SHT": 27.1, "city": "Galway"},
                "subscription": "{temperature~ > 25 degC, city = Galway}",
            }
        },
    ),
)
async def show_grid(request: Request) -> Response:
    """Compute the matrix with the tenant's own meaning, feedback included."""
    gate = gate_of(request)
    _, tenant = gate.admit(request, "subscribe")
    asked = read(await gate.body(request), GridAsked)
    event, subscription = event_from_json(bytes(asked.event)), parse(asked.subscription)

    def question() -> Grid | None:
        meaning = tenant.plain.meaning
        level = subscription.threshold if subscription.threshold is not None else meaning.threshold
        return grid(event, subscription, meaning.measure, level)

    return answer(GridShown(await gate.ask(question)))


@router.get(
    "/v1/evidence",
    **documented(
        "What stands behind the relatedness of two terms: every measure's score, the themes' effect, shared documents.",
        answer=Evidence,
        query={
            "a": ("string", "a term, as a subscription asks"),
            "b": ("string", "another, as an event says"),
            "themes": ("string", "theme tags of the first, repeated"),
            "other_themes": ("string", "theme tags of the second, repeated"),
        },
    ),
)
async def show_evidence(request: Request) -> Response:
    """Describe what made a score, feedback included."""
    gate = gate_of(request)
    _, tenant = gate.admit(request, "subscribe")
    asked, seen = _term(request, "a", "themes"), _term(request, "b", "other_themes")
    meaning = tenant.plain.meaning
    return answer(await gate.ask(lambda: meaning.space.describe(asked, seen, meaning.measure)))


def _term(request: Request, name: str, themes: str) -> Term:
    """A term of the query under its themes."""
    text, tags = request.query_params.get(name, ""), request.query_params.getlist(themes)
    if not text.strip():
        raise InputError(f"`{name}` is needed, with some text")
    if len(tags) > MAX_THEMES:
        raise LimitExceeded("theme tags", allowed=MAX_THEMES, found=len(tags))
    if max(map(len, [text, *tags])) > MAX_TERM_LENGTH:
        raise LimitExceeded("characters of a term", allowed=MAX_TERM_LENGTH)
    return Term(text, theme=theme_of(tags))
