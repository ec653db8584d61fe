"""`/v1/match`, `/v1/explain`, `/v1/backtest`, `/v1/feedback`, boards and keys: questions on the live code path."""

from __future__ import annotations

from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.api.live_views import Place
from likewise.api.mobile import AlertShown
from likewise.api.queries import (
    Backtest,
    BacktestAsked,
    JudgedPair,
    JudgementAsked,
    JudgementTaken,
    MatchAnswer,
    Question,
)
from likewise.broker.log.entries import Entry, Judge
from likewise.broker.queries.alert_states import alert_shown
from likewise.broker.queries.backtest import backtest
from likewise.broker.queries.queries import board, explain_live, explain_text, places, would_meet
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import STORED_EVENTS
from likewise.errors import InputError
from likewise.formats.json.events import event_from_json
from likewise.formats.json.results import explanation_to_json
from likewise.language import parse
from likewise.model import Event, Explanation
from likewise.server.gateway import Door
from likewise.server.http.openapi import documented
from likewise.server.http.queries import MatcherAnswers, question_in, tenant_asking
from likewise.server.http.requests import answer, raw_answer, whole

router = APIRouter(tags=["matching"])


def _event(asking: MatcherAnswers, asked: Question | JudgementAsked) -> Event | Entry:
    sent = bytes(asked.event)
    if sent and asked.event_id is None:
        return event_from_json(sent)
    if asked.event_id is None or sent:
        raise InputError("give the event itself (`event`) or the id of a stored one (`event_id`)")
    return asking.stored_event(asked.event_id, asked.source)


def _plain(found: Event | Entry) -> Event:
    event = found.value if isinstance(found, Entry) else found
    assert isinstance(event, Event)
    return event


@router.post(
    "/v1/match",
    **documented(
        "Dry run: the subscriptions an event would meet (`event` or `event_id`), or the stored events a "
        "subscription would meet (`text`). Changes nothing.",
        answer=MatchAnswer,
        bodies={"application/json": {"event": {"TempC_SHT": 27.1, "city": "Galway"}}},
    ),
)
async def match(request: Request) -> Response:
    """Match without publishing."""
    asking, said = await question_in(request, Question)
    door, access, tenant = asking
    if said.text is not None:
        if bytes(said.event) or said.event_id is not None:
            raise InputError("give an event or a subscription's text, not both; to compare them use /v1/explain")
        return answer(await _backtest(door, tenant, BacktestAsked(said.text)))
    event = _plain(await asking.door.read(asking.tenant, lambda: _event(asking, said)))
    found = await door.ask(tenant, lambda: would_meet(tenant, event, door.broker.clock()))
    return answer(MatchAnswer(tuple(each for each in found if access.owns(each.subscriber))))


@router.post(
    "/v1/explain",
    **documented(
        "Why an event meets a subscription, or what kept it from doing so.",
        answer=Explanation,
        bodies={
            "application/json": {
                "event": {"TempC_SHT": 21.0, "city": "Galway"},
                "text": "{temperature~ > 25 degC, city = Galway}",
            }
        },
    ),
)
async def explain(request: Request) -> Response:
    """Explain a match, or the lack of one."""
    asking, said = await question_in(request, Question)
    door, _, tenant = asking
    found = await asking.door.read(asking.tenant, lambda: _event(asking, said))
    now = door.broker.clock()
    if said.text is not None:
        subscription = parse(said.text)
        event = _plain(found)
        explained = await door.ask(tenant, lambda: explain_text(tenant, subscription, event, now))
    elif said.subscriber is not None and said.subscription is not None:
        held = asking.subscription(said.subscriber, said.subscription)
        explained = await door.ask(tenant, lambda: explain_live(tenant, held, found, now))
    else:
        raise InputError("give a subscription: `subscriber` and `subscription`, or its `text`")
    return raw_answer(explanation_to_json(explained))


async def _backtest(door: Door, tenant: Tenant, tried: BacktestAsked) -> Backtest:
    subscription = parse(tried.text)
    broker = door.broker
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
    return await door.ask(tenant, question)


@router.post(
    "/v1/backtest",
    **documented(
        "What a subscription would have met among the stored events, as they came; of an alert, what it would have "
        "sent up to now: cause, key and time. Counts by cause.",
        answer=Backtest,
        bodies={"application/json": {"text": "{door = open} for 5 min", "events": 1000}},
    ),
)
async def try_subscription(request: Request) -> Response:
    """Try a subscription on stored events."""
    (door, _, tenant), tried = await question_in(request, BacktestAsked)
    return answer(await _backtest(door, tenant, tried))


@router.post(
    "/v1/feedback",
    **documented(
        "Say whether an event was what a subscription meant; the relatedness of the terms involved moves.",
        answer=JudgementTaken,
        bodies={"application/json": {"subscriber": "ann", "subscription": "warm", "event_id": "e1", "relevant": True}},
    ),
)
async def feedback(request: Request) -> Response:
    """Take feedback."""
    asking, said = await question_in(request, JudgementAsked)
    door, _, tenant = asking
    asking.subscription(said.subscriber, said.subscription)
    event = _plain(await asking.door.read(asking.tenant, lambda: _event(asking, said)))
    command = Judge(said.subscriber, said.subscription, event, said.relevant)
    judgement: Any = await door.answer(lambda done: door.broker.command(tenant, command, done))
    pairs = tuple(JudgedPair(pair.role, pair.asked, pair.seen) for pair in judgement.pairs)
    return answer(JudgementTaken(judgement.number, judgement.relevant, pairs))


@router.get(
    "/v1/subscribers/{subscriber:id}/subscriptions/{id:id}/board",
    **documented("The k best of a top-k subscription's window now.", answer=Place, many=True),
)
async def read_board(request: Request, subscriber: str, id: str) -> Response:
    """Read the board of a top-k subscription."""
    asking = tenant_asking(request)
    door, _, tenant = asking
    held = asking.subscription(subscriber, id)
    ranked = await door.ask(tenant, lambda: board(tenant, held))
    return answer(await door.read(tenant, lambda: places(door.broker.store, held, ranked)))


@router.get(
    "/v1/subscribers/{subscriber:id}/subscriptions/{id:id}/keys",
    **documented(
        "Where an alert stands: which keys are on, since when, how far others are.",
        answer=AlertShown,
        query={"limit": ("integer", "how many keys, 1 to 1,000 (100)")},
    ),
)
async def read_keys(request: Request, subscriber: str, id: str) -> Response:
    """Read the keys of an alert."""
    asking = tenant_asking(request)
    door, _, tenant = asking
    held, limit = asking.subscription(subscriber, id), min(1_000, max(1, whole(request, "limit", 100)))
    now = door.broker.clock()
    return answer(await door.ask(tenant, lambda: alert_shown(tenant, held, now, limit)))
