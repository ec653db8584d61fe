"""The feed, against a broker that is played by a transport in memory."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from likewise.dashboard.broker_api import BrokerApi, RequestRefused
from likewise.dashboard.feed import LiveFeed
from likewise.errors import NotAllowed, NotAuthenticated, Unavailable


def event(position: int) -> dict[str, object]:
    return {"position": position, "arrival": 0, "event": {"v": 1, "id": f"e{position}", "source": "s", "tuples": []}}


class Played(httpx.AsyncBaseTransport):
    """Answers `/v1/activity` with events after the position asked for, while `up`."""

    def __init__(self) -> None:
        self.log: list[int] = []
        self.up = True
        self.status = 200
        self.asked: list[httpx.Request] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        if not self.up:
            raise httpx.ConnectError("nobody there")
        if self.status != 200:
            return httpx.Response(self.status, json={"detail": "no", "scope": "admin"})
        if request.url.path == "/v1/subscriptions":
            return httpx.Response(200, json=[])
        after = int(request.url.params["position"])
        found = [event(p) for p in self.log if p > after]
        last = max([after, *self.log]) if found else after
        return httpx.Response(200, json={"events": found, "matches": [], "position": last, "sequence": 0})


def test_each_event_is_taken_once() -> None:
    """The feed asks for what is new only."""
    played = Played()
    feed = LiveFeed(BrokerApi("http://b", transport=played))
    played.log = [1, 2]
    assert asyncio.run(feed.refresh())
    played.log = [1, 2, 3]
    assert asyncio.run(feed.refresh())
    assert [e.position for e in feed.events] == [1, 2, 3]
    assert feed.find("e3", "s") is not None
    assert feed.find("e3", "other") is None


def test_a_broker_that_is_away_is_said_and_then_forgotten() -> None:
    """The problem names the address, and goes when the broker is back."""
    played = Played()
    feed = LiveFeed(BrokerApi("http://b", transport=played))
    played.up = False
    assert not asyncio.run(feed.refresh())
    assert "http://b does not answer" in feed.problem
    assert feed.last_response is None
    played.up, played.log = True, [1]
    assert asyncio.run(feed.refresh())
    assert feed.problem == ""
    assert feed.last_response is not None


def test_a_broker_that_lost_its_memory_is_read_from_the_start() -> None:
    """After a restart without data, positions start again; nothing new is missed."""
    played = Played()
    feed = LiveFeed(BrokerApi("http://b", transport=played))
    played.log = [1, 2, 3, 4]
    asyncio.run(feed.refresh())
    played.up = False
    asyncio.run(feed.refresh())
    played.up, played.log = True, [1, 2]
    asyncio.run(feed.refresh())
    assert [e.position for e in feed.events] == [1, 2]


@pytest.mark.parametrize(("status", "error"), [(401, NotAuthenticated), (403, NotAllowed), (400, RequestRefused)])
def test_a_refusal_is_an_error_of_the_tree(status: int, error: type[Exception]) -> None:
    """A missing token, a missing scope and any other refusal can be told apart."""
    played = Played()
    played.status = status
    with pytest.raises(error):
        asyncio.run(BrokerApi("http://b", transport=played).subscribers())


def test_a_token_is_sent_with_every_request() -> None:
    """The viewer's own token goes to the broker, and nobody else's."""
    played = Played()
    asyncio.run(BrokerApi("http://b", "lw_x", transport=played).activity(0, 0))
    assert [r.headers["Authorization"] for r in played.asked] == ["Bearer lw_x"]


def test_a_broker_that_is_away_is_unavailable() -> None:
    """Not an exception of the HTTP library."""
    played = Played()
    played.up = False
    with pytest.raises(Unavailable, match="does not answer"):
        asyncio.run(BrokerApi("http://b", transport=played).activity(0, 0))
