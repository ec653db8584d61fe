"""`/v1/match`, `/v1/explain`, `/v1/backtest`, `/v1/feedback`, boards and keys: questions on the live code path."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec
from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.api.live_views import BoardEntry
from likewise.api.mobile import AlertDetails
from likewise.api.queries import (
    BacktestRequest,
    BacktestResult,
    JudgedPair,
    JudgementReceipt,
    JudgementRequest,
    MatchRequest,
    MatchResponse,
)
from likewise.broker.log.entries import Entry, JudgeCommand
from likewise.broker.queries.alert_states import alert_shown
from likewise.broker.queries.backtest import backtest
from likewise.broker.queries.dry_run import board, explain_live, explain_text, mappings, places, would_match
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import STORED_EVENTS
from likewise.errors import InputError
from likewise.formats.json.events import event_from_json
from likewise.formats.json.results import explanation_to_json
from likewise.language import parse
from likewise.model import Event, Explanation
from likewise.server.gateway import Gateway
from likewise.server.http.openapi import route_options
from likewise.server.http.requests import (
    Caller,
    authenticate,
    integer_parameter,
    json_response,
    raw_json_response,
    read_query,
)

router = APIRouter(tags=["matching"])


def _event_of(caller: Caller, query: MatchRequest | JudgementRequest) -> Event | Entry:
    sent = bytes(query.event)
    if sent and query.event_id is None:
        return event_from_json(sent)
    if query.event_id is None or sent:
        raise InputError("give the event itself (`event`) or the id of a stored one (`event_id`)")
    return caller.stored_event(query.event_id, query.source)


def _event_value(stored: Event | Entry) -> Event:
    event = stored.value if isinstance(stored, Entry) else stored
    assert isinstance(event, Event)
    return event


@router.post(
    "/v1/match",
    **route_options(
        "Dry run: the subscriptions an event would meet (`event` or `event_id`), or the stored events a "
        "subscription would meet (`text`). Changes nothing.",
        answer=MatchResponse,
        bodies={"application/json": {"event": {"TempC_SHT": 27.1, "city": "Galway"}}},
    ),
)
async def match(request: Request) -> Response:
    """Match without publishing."""
    caller, query = await read_query(request, MatchRequest)
    gateway, access, tenant = caller
    if query.text is not None:
        if bytes(query.event) or query.event_id is not None:
            raise InputError("give an event or a subscription's text, not both; to compare them use /v1/explain")
        return json_response(await _run_backtest(gateway, tenant, BacktestRequest(query.text)))
    event = _event_value(await caller.gateway.read(caller.tenant, lambda: _event_of(caller, query)))
    matches = await gateway.query(tenant, lambda: would_match(tenant, event, gateway.broker.clock()))
    return json_response(MatchResponse(tuple(each for each in matches if access.owns(each.subscriber))))


@router.post(
    "/v1/explain",
    **route_options(
        "Why an event meets a subscription, or what kept it from doing so; with `mappings`, that many of the best "
        "mappings of predicates to tuples, each with its probability.",
        answer=Explanation,
        bodies={
            "application/json": {
                "event": {"TempC_SHT": 21.0, "city": "Galway"},
                "text": "{temperature~ > 25 degC, city = Galway}",
                "mappings": 3,
            }
        },
    ),
)
async def explain(request: Request) -> Response:
    """Explain a match, or the lack of one."""
    caller, query = await read_query(request, MatchRequest)
    gateway, _, tenant = caller
    stored_event = await caller.gateway.read(caller.tenant, lambda: _event_of(caller, query))
    now = gateway.broker.clock()
    event = _event_value(stored_event)
    if query.text is not None:
        subscription = parse(query.text)
        explained = await gateway.query(tenant, lambda: explain_text(tenant, subscription, event, now))
    elif query.subscriber is not None and query.subscription is not None:
        stored = caller.subscription(query.subscriber, query.subscription)
        subscription = stored.subscription
        explained = await gateway.query(tenant, lambda: explain_live(tenant, stored, stored_event, now))
    else:
        raise InputError("give a subscription: `subscriber` and `subscription`, or its `text`")
    if query.mappings:
        best = await gateway.query(tenant, lambda: mappings(tenant, subscription, event, query.mappings))
        explained = msgspec.structs.replace(explained, mappings=best)
    return raw_json_response(explanation_to_json(explained))


async def _run_backtest(gateway: Gateway, tenant: Tenant, tried: BacktestRequest) -> BacktestResult:
    subscription = parse(tried.text)
    broker = gateway.broker
    limit, shown = max(0, min(tried.events, STORED_EVENTS)), max(0, min(tried.shown, 10_000))
    question = partial(
        backtest,
        broker.store,
        tenant,
        subscription,
        broker.worker.position + 1,
        broker.clock(),
        limit=limit,
        shown=shown,
    )
    return await gateway.query(tenant, question)


@router.post(
    "/v1/backtest",
    **route_options(
        "What a subscription would have met among the stored events, as they came; of an alert, what it would have "
        "sent up to now: cause, key and time. Counts by cause.",
        answer=BacktestResult,
        bodies={"application/json": {"text": "{door = open} for 5 min", "events": 1000}},
    ),
)
async def try_subscription(request: Request) -> Response:
    """Try a subscription on stored events."""
    (gateway, _, tenant), tried = await read_query(request, BacktestRequest)
    return json_response(await _run_backtest(gateway, tenant, tried))


@router.post(
    "/v1/feedback",
    **route_options(
        "Say whether an event was what a subscription meant; the relatedness of the terms involved moves.",
        answer=JudgementReceipt,
        bodies={"application/json": {"subscriber": "ann", "subscription": "warm", "event_id": "e1", "relevant": True}},
    ),
)
async def feedback(request: Request) -> Response:
    """Take feedback."""
    caller, judged = await read_query(request, JudgementRequest)
    gateway, _, tenant = caller
    caller.subscription(judged.subscriber, judged.subscription)
    event = _event_value(await caller.gateway.read(caller.tenant, lambda: _event_of(caller, judged)))
    command = JudgeCommand(judged.subscriber, judged.subscription, event, judged.relevant)
    judgement: Any = await gateway.wait_committed(gateway.broker.command, tenant, command)
    pairs = tuple(JudgedPair(pair.role, pair.query, pair.candidate) for pair in judgement.pairs)
    return json_response(JudgementReceipt(judgement.number, judgement.relevant, pairs))


@router.get(
    "/v1/subscribers/{subscriber:id}/subscriptions/{id:id}/board",
    **route_options("The k best of a top-k subscription's window now.", answer=BoardEntry, many=True),
)
async def read_board(request: Request, subscriber: str, id: str) -> Response:
    """Read the board of a top-k subscription."""
    caller = authenticate(request, "subscribe")
    gateway, _, tenant = caller
    stored = caller.subscription(subscriber, id)
    ranked = await gateway.query(tenant, lambda: board(tenant, stored))
    return json_response(await gateway.read(tenant, lambda: places(gateway.broker.store, stored, ranked)))


@router.get(
    "/v1/subscribers/{subscriber:id}/subscriptions/{id:id}/keys",
    **route_options(
        "Where an alert stands: which keys are on, since when, how far others are.",
        answer=AlertDetails,
        query={"limit": ("integer", "how many keys, 1 to 1,000 (100)")},
    ),
)
async def read_keys(request: Request, subscriber: str, id: str) -> Response:
    """Read the keys of an alert."""
    caller = authenticate(request, "subscribe")
    gateway, _, tenant = caller
    stored, limit = caller.subscription(subscriber, id), min(1_000, max(1, integer_parameter(request, "limit", 100)))
    now = gateway.broker.clock()
    return json_response(await gateway.query(tenant, lambda: alert_shown(tenant, stored, now, limit)))
