"""Tokens for one source or one subscriber, and tokens that end: what they open, and what they do not show."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from urllib.parse import quote

import httpx
import msgspec
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from likewise.broker.broker import Broker
from likewise.broker.config import Config, ServerSettings
from likewise.broker.log.tables import StoreTables
from likewise.broker.log.tokens import make_token
from likewise.testing.clocks import ManualClock
from tests.server.conftest import serving

SCOPES = {
    "root": ["admin"],
    "in": ["publish"],
    "roof": ["publish:/roof"],
    "two": ["publish:/roof", "publish:/cellar"],
    "out": ["subscribe"],
    "ann": ["subscribe:ann"],
    "both": ["publish:/roof", "subscribe:a/b"],
}


class Town:
    """A broker with a token of every kind."""

    def __init__(self, address: str, tokens: dict[str, str], clock: ManualClock) -> None:
        self.address, self.tokens, self.clock = address, tokens, clock
        self._http = httpx.Client(base_url=address, timeout=300)

    def ask(self, who: str, method: str, path: str, **given: Any) -> httpx.Response:
        return self._http.request(method, path, headers={"authorization": f"Bearer {self.tokens[who]}"}, **given)

    def publish(self, who: str, id: str, source: str | None = None, **payload: Any) -> httpx.Response:
        said: dict[str, Any] = {"v": 1, "payload": payload or {"x": 1}, "id": id}
        return self.ask(who, "POST", "/v1/events", json=said if source is None else said | {"source": source})

    def close(self) -> None:
        self._http.close()


@contextmanager
def made_town() -> Iterator[Town]:
    clock = ManualClock("2024-05-01T12:00:00Z")
    broker = Broker(None, Config(server=ServerSettings(port=0)), clock=clock)

    def token(name: str, tables: StoreTables) -> str:
        return make_token(tables, name, "default", SCOPES[name], clock())

    tokens = {name: broker.store.commit(partial(token, name)) for name in SCOPES}
    with serving(broker=broker) as address:
        town = Town(address, tokens, clock)
        try:
            yield town
        finally:
            town.close()


@pytest.fixture(scope="module")
def town() -> Iterator[Town]:
    with made_town() as town:
        yield town


def test_a_bound_publisher_publishes_under_its_sources_alone(town: Town) -> None:
    """By prefix; what says no source gets the only one; of two sources none is guessed; nothing of a refused batch."""
    assert town.publish("roof", "p1", "/roof/3").status_code == 200
    assert town.publish("roof", "p2").status_code == 200
    assert town.ask("root", "GET", "/v1/events/p2").json()["event"]["source"] == "/roof"
    refused = town.publish("roof", "p3", "/cellar")
    assert (refused.status_code, refused.json()["scope"]) == (403, "publish:/cellar")
    batch = [{"v": 1, "payload": {"x": 1}, "id": f"b{n}", "source": s} for n, s in enumerate(("/roof", "/street"))]
    assert town.ask("roof", "POST", "/v1/events", json=batch).status_code == 403
    assert town.ask("root", "GET", "/v1/events/b0").status_code == 404
    assert town.publish("two", "p4").status_code == 403
    assert town.publish("two", "p4", "/cellar/1").status_code == 200
    assert town.publish("in", "p5", "/anywhere").status_code == 200
    assert town.ask("roof", "GET", "/v1/subscriptions").status_code == 403


def test_a_publish_token_takes_back_only_what_is_its_own(town: Town) -> None:
    """One for every source takes back none, one for a source its own, an administrator all; others look unknown."""
    assert town.publish("in", "w1", "/cellar").status_code == 200
    assert town.publish("in", "w2", "/roof/2").status_code == 200
    refused = town.ask("in", "DELETE", "/v1/events/w1")
    assert (refused.status_code, refused.json()["scope"]) == (403, "publish:/cellar")
    assert town.ask("roof", "DELETE", "/v1/events/w1").status_code == 404
    assert town.ask("roof", "DELETE", "/v1/events/w1?source=/cellar").status_code == 404
    assert town.ask("roof", "DELETE", "/v1/events/nothing").status_code == 404
    assert town.ask("roof", "DELETE", "/v1/events/w2").status_code == 204
    assert town.ask("root", "DELETE", "/v1/events/w1").status_code == 204
    assert town.ask("ann", "DELETE", "/v1/events/p1").status_code == 403


def test_nobody_bound_can_tell_that_others_share_an_id(town: Town) -> None:
    """An id of two other sources looks unknown; one's own beside it needs no source to be said."""
    for source in ("/cellar", "/street"):
        assert town.publish("in", "shared", source).status_code == 200
    assert town.ask("out", "PUT", "/v1/subscribers/ann").status_code == 200
    asked = {"event_id": "shared", "subscriber": "ann", "subscription": "none"}
    for who, method, path, body in (
        ("roof", "DELETE", "/v1/events/shared", None),
        ("ann", "GET", "/v1/events/shared", None),
        ("ann", "POST", "/v1/match", {"event_id": "shared"}),
        ("ann", "POST", "/v1/explain", asked),
    ):
        answer = town.ask(who, method, path, json=body)
        assert (answer.status_code, answer.json()["code"]) == (404, "unknown_id"), (who, method, path)
    assert town.ask("root", "DELETE", "/v1/events/shared").status_code == 409
    assert town.publish("roof", "shared").status_code == 200
    assert town.ask("roof", "DELETE", "/v1/events/shared").status_code == 204
    assert town.ask("roof", "DELETE", "/v1/events/shared").status_code == 404
    assert town.ask("root", "GET", "/v1/events/shared?source=/cellar").status_code == 200


def test_a_bound_subscriber_sees_settles_and_takes_over_itself_alone(town: Town) -> None:
    """Everything below another's address is refused, lists hold its own, and nobody else's matches show."""
    for name in ("ann", "bob"):
        assert town.ask("out", "PUT", f"/v1/subscribers/{name}").status_code == 200
        text = {"v": 1, "text": "{seen = yes}", "id": f"of {name}"}
        assert town.ask("out", "POST", f"/v1/subscribers/{name}/subscriptions", json=text).status_code == 201
    others: list[tuple[str, str, dict[str, Any]]] = [
        ("PUT", "", {}),
        ("GET", "", {}),
        ("DELETE", "", {}),
        ("GET", "/deliveries", {}),
        ("GET", "/deliveries?replay=true", {}),
        ("GET", "/events", {}),
        ("POST", "/acknowledgements", {"json": {"sequence": 0}}),
        ("GET", "/subscriptions", {}),
        ("POST", "/subscriptions", {"json": {"v": 1, "text": "{x = 1}"}}),
        ("PUT", "/subscriptions/of%20bob", {"json": {"v": 1, "text": "{x = 1}"}}),
        ("GET", "/subscriptions/of%20bob", {}),
        ("DELETE", "/subscriptions/of%20bob", {}),
        ("GET", "/subscriptions/of%20bob/board", {}),
    ]
    for method, path, given in others:
        refused = town.ask("ann", method, f"/v1/subscribers/bob{path}", **given)
        assert (method, path, refused.status_code, refused.json().get("scope")) == (method, path, 403, "subscribe:bob")
    assert town.ask("ann", "PUT", "/v1/subscribers/new").status_code == 403
    assert town.ask("ann", "GET", "/v1/activity").status_code == 403
    assert [s["id"] for s in town.ask("ann", "GET", "/v1/subscribers").json()] == ["ann"]
    assert {s["subscriber"] for s in town.ask("ann", "GET", "/v1/subscriptions").json()} == {"ann"}
    assert {s["subscriber"] for s in town.ask("out", "GET", "/v1/subscriptions").json()} >= {"ann", "bob"}
    asked = {"event": {"seen": "yes"}}
    assert [m["subscriber"] for m in town.ask("ann", "POST", "/v1/match", json=asked).json()["matches"]] == ["ann"]
    for path in ("/v1/explain", "/v1/feedback"):
        said = asked | {"subscriber": "bob", "subscription": "of bob"}
        body = said | {"relevant": True} if path == "/v1/feedback" else said
        assert town.ask("ann", "POST", path, json=body).status_code == 403
    assert town.ask("ann", "GET", "/v1/subscribers/ann").status_code == 200
    assert town.ask("both", "PUT", "/v1/subscribers/a%2Fb").status_code == 200


def test_a_bound_subscriber_reads_the_events_it_was_given(town: Town) -> None:
    """Others look unknown, also to an explanation."""
    town.ask("out", "PUT", "/v1/subscribers/ann")
    town.ask("ann", "PUT", "/v1/subscribers/ann/subscriptions/mine", json={"v": 1, "text": "{for = ann}"})
    town.publish("in", "given", **{"for": "ann"})
    town.publish("in", "kept", **{"for": "bob"})
    with connect(stream_of(town, "ann"), additional_headers=bearer(town, "ann")) as stream:
        while msgspec.json.decode(stream.recv(timeout=60))["event"]["id"] != "given":
            pass
    assert town.ask("ann", "GET", "/v1/events/given").status_code == 200
    assert town.ask("ann", "GET", "/v1/events/kept").status_code == 404
    asked = {"event_id": "kept", "text": "{for = bob}"}
    assert town.ask("ann", "POST", "/v1/explain", json=asked).status_code == 404
    assert town.ask("out", "POST", "/v1/explain", json=asked).status_code == 200


def stream_of(town: Town, name: str) -> str:
    return f"{town.address.replace('http', 'ws')}/v1/subscribers/{name}/stream"


def bearer(town: Town, who: str) -> dict[str, str]:
    return {"authorization": f"Bearer {town.tokens[who]}"}


def test_a_stream_of_another_is_not_taken_over(town: Town) -> None:
    """Whoever serves it goes on."""
    town.ask("out", "PUT", "/v1/subscribers/bob")
    with connect(stream_of(town, "bob"), additional_headers=bearer(town, "out")) as own:
        with connect(stream_of(town, "bob"), additional_headers=bearer(town, "ann")) as other:
            with pytest.raises(ConnectionClosed) as closed:
                other.recv(timeout=60)
            assert closed.value.rcvd is not None
            assert (closed.value.rcvd.code, "not_allowed" in closed.value.rcvd.reason) == (1008, True)
        assert town.ask("out", "GET", "/v1/subscribers/bob").json()["connected"]
        own.close()


def test_a_token_that_is_over_opens_nothing_and_its_stream_ends() -> None:
    """Made over HTTP for an hour; removed tokens end their streams, too."""
    with made_town() as town:
        wanted = {"name": "short", "scopes": ["subscribe:ann"], "expires": "2024-05-01T13:00:00Z"}
        made = town.ask("root", "POST", "/v1/tokens", json=wanted)
        assert made.status_code == 201
        town.tokens["short"] = made.json()["token"]
        listed = {each["name"]: each for each in town.ask("root", "GET", "/v1/tokens").json()}
        assert listed["short"] == wanted | {"expires": 1_714_568_400_000_000}
        assert "expires" not in listed["ann"]
        assert town.ask("short", "PUT", "/v1/subscribers/ann").status_code == 200
        with connect(stream_of(town, "ann"), additional_headers=bearer(town, "short")) as stream:
            town.clock.advance(3_600 * 1_000_000)
            with pytest.raises(ConnectionClosed) as closed:
                stream.recv(timeout=60)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1008
        refused = town.ask("short", "GET", "/v1/subscribers/ann")
        assert (refused.status_code, refused.json()["code"]) == (401, "not_authenticated")
        with connect(stream_of(town, "ann"), additional_headers=bearer(town, "ann")) as stream:
            assert town.ask("root", "DELETE", "/v1/tokens/ann").status_code == 204
            with pytest.raises(ConnectionClosed):
                stream.recv(timeout=60)
        assert town.ask("ann", "GET", "/v1/subscribers/ann").status_code == 401


@pytest.mark.parametrize(
    ("wanted", "status"),
    [
        ({"name": "n", "scopes": ["publish:"]}, 400),
        ({"name": "n", "scopes": ["admin:me"]}, 400),
        ({"name": "n", "scopes": ["everything"]}, 400),
        ({"name": "n", "scopes": []}, 400),
        ({"name": "n", "scopes": ["publish"], "expires": 7}, 400),
        ({"name": "n", "scopes": ["publish"], "expires": -1}, 400),
        ({"name": "n", "scopes": ["publish"], "expires": "soon"}, 400),
        ({"name": "n", "scopes": ["publish:" + "x" * 2000]}, 413),
        ({"name": "n", "scopes": ["metrics"]}, 403),
    ],
)
def test_a_token_that_cannot_be_is_refused(town: Town, wanted: dict[str, Any], status: int) -> None:
    """And nothing is made."""
    assert town.ask("root", "POST", "/v1/tokens", json=wanted).status_code == status
    assert "n" not in {each["name"] for each in town.ask("root", "GET", "/v1/tokens").json()}


def test_names_of_tokens_are_a_tenants_own() -> None:
    """Two tenants may each have a token `roof`; neither lists or removes the other's."""
    with Broker(None, Config(server=ServerSettings(port=0))) as broker:

        def token(name: str, tenant: str, tables: StoreTables) -> str:
            return make_token(tables, name, tenant, ["admin"], 0)

        for tenant in ("one", "two"):
            broker.store.commit(partial(token, "roof", tenant))
        first, second = (broker.store.commit(partial(token, "root", tenant)) for tenant in ("one", "two"))
        with serving(broker=broker) as address, httpx.Client(base_url=address) as http:
            one, two = ({"authorization": f"Bearer {token}"} for token in (first, second))
            assert http.delete("/v1/tokens/roof", headers=one).status_code == 204
            assert http.delete("/v1/tokens/roof", headers=one).status_code == 404
            assert {t["name"] for t in http.get("/v1/tokens", headers=two).json()} == {"roof", "root"}


@pytest.mark.parametrize("id", ["a/b", "/", "a%2Fb", "100%", "%", "ü /?#&", "..", "a//b/", "subscriptions/x"])
def test_ids_with_slashes_and_percent_signs_are_ids_like_any_other(town: Town, id: str) -> None:
    """Of subscribers, subscriptions, events and tokens, over HTTP and as a stream."""
    name = quote(id, safe="")
    if id == "..":
        name = "%2E%2E"
    assert town.ask("out", "PUT", f"/v1/subscribers/{name}").json()["id"] == id
    at = f"/v1/subscribers/{name}/subscriptions/{name}"
    assert town.ask("out", "PUT", at, json={"v": 1, "text": f"{{own = {msgspec.json.encode(id).decode()}}}"}).is_success
    assert town.ask("out", "GET", at).json()["id"] == id
    assert town.publish("in", id, "/ids", own=id).status_code == 200
    with connect(stream_of(town, name), additional_headers=bearer(town, "out")) as stream:
        assert msgspec.json.decode(stream.recv(timeout=60))["event"]["id"] == id
    assert town.ask("out", "GET", f"/v1/events/{name}?source=/ids").json()["event"]["id"] == id
    assert town.ask("root", "DELETE", f"/v1/events/{name}?source=/ids").status_code == 204
    assert town.ask("root", "POST", "/v1/tokens", json={"name": id, "scopes": ["publish"]}).status_code == 201
    assert town.ask("root", "DELETE", f"/v1/tokens/{name}").status_code == 204
    assert town.ask("out", "DELETE", at).status_code == 204
    assert town.ask("out", "DELETE", f"/v1/subscribers/{name}").status_code == 204
