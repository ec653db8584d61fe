"""Looking back: counts, a reading over time, stored events by filter, and what became of one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from fastapi.testclient import TestClient

from likewise.broker.broker import Broker
from likewise.broker.log.tokens import make_token
from likewise.broker.queries import counts as tallies
from likewise.broker.queries import stored_events as stored
from likewise.server.http.server import make_app
from likewise.testing.clocks import ManualClock

MINUTE = 60_000_000
START = 1_700_000_000_000_000 // MINUTE * MINUTE


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START)


@pytest.fixture
def broker(clock: ManualClock) -> Iterator[Broker]:
    with Broker(None, clock=clock) as running:
        yield running


@pytest.fixture
def http(broker: Broker) -> Iterator[TestClient]:
    with TestClient(make_app(broker)) as client:
        yield client


def subscribe(http: TestClient, id: str, text: str, subscriber: str = "ann") -> None:
    http.put(f"/v1/subscribers/{subscriber}").raise_for_status()
    path = f"/v1/subscribers/{subscriber}/subscriptions/{id}"
    http.put(path, content=text, headers={"Content-Type": "text/plain"}).raise_for_status()


def publish(broker: Broker, http: TestClient, *payloads: dict[str, Any], source: str = "roof", first: int = 0) -> None:
    envelopes = [
        {"v": 1, "id": f"{source}-{number}", "source": source, "payload": payload}
        for number, payload in enumerate(payloads, first)
    ]
    http.post("/v1/events", json=envelopes).raise_for_status()
    broker.wait_until_matched()


def get(http: TestClient, path: str, **query: Any) -> Any:
    found = http.get(path, params=query)
    found.raise_for_status()
    return found.json()


def test_tallies_count_by_the_minute_and_by_subscription(broker: Broker, http: TestClient, clock: ManualClock) -> None:
    """Asked again they go on from where they were, and count nothing twice."""
    subscribe(http, "bad air", "{no2 > 40}")
    subscribe(http, "quiet", "{noise > 40}")
    publish(broker, http, {"no2": 45}, {"no2": 5})
    clock.advance(MINUTE)
    for _ in range(2):
        found = get(http, "/v1/tallies", minutes=3)
        assert [(m["events"], m["matches"]) for m in found["minutes"]] == [(0, 0), (2, 1), (0, 0)]
    publish(broker, http, {"no2": 60}, first=2)
    found = get(http, "/v1/tallies", minutes=3)
    assert [(m["events"], m["matches"]) for m in found["minutes"]] == [(0, 0), (2, 1), (1, 1)]
    bad, quiet = found["subscriptions"]
    assert (bad["subscription"], bad["matches"], bad["event"], bad["source"]) == ("bad air", 2, "roof-2", "roof")
    assert bad["last"] == START + MINUTE
    assert quiet == {"subscriber": "ann", "subscription": "quiet"}
    assert found["since"] == START
    [whole] = get(http, "/v1/tallies", minutes=60, span=60)["minutes"]
    assert whole["events"] <= 3


def test_tallies_trail_rather_than_skip(
    broker: Broker, http: TestClient, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One question counts a stretch; the next goes on, until nothing is left."""
    monkeypatch.setattr(tallies, "STRETCH", 4)
    monkeypatch.setattr(tallies, "DELIVERIES", 2)
    subscribe(http, "bad air", "{no2 > 40}")
    get(http, "/v1/tallies")
    publish(broker, http, *({"no2": 45} for _ in range(10)))
    counts = [get(http, "/v1/tallies", minutes=1)["subscriptions"][0].get("matches", 0) for _ in range(6)]
    assert counts == [2, 4, 6, 8, 10, 10]
    assert get(http, "/v1/tallies", minutes=1)["minutes"][0] == {"at": START, "events": 10, "matches": 10}


def test_a_reading_over_time_is_in_one_unit(broker: Broker, http: TestClient, clock: ManualClock) -> None:
    """Values in another unit of the same kind are brought to the newest one's; what is no number is counted apart."""
    subscribe(http, "warm", "{t > 25 degC}")
    for value, unit in ((77, "degF"), (26, "degC")):
        publish(broker, http, {"t": {"value": value, "unit": unit}, "door": "open"}, first=value)
        clock.advance(MINUTE)
    publish(broker, http, {"t": "broken"}, first=1)
    publish(broker, http, {"t": {"value": 3, "unit": "ppm"}}, first=2)
    publish(broker, http, {"t": {"value": 27, "unit": "degC"}}, first=3)
    found = get(http, "/v1/series", source="roof", attribute="t")
    assert [(p["at"] - START, p["value"]) for p in found["points"]] == [(0, 25.0), (MINUTE, 26.0), (2 * MINUTE, 27.0)]
    assert found["unit"] == "degC"
    assert found["left_out"] == 2
    assert found["whole"]
    assert [(m["subscription"], m["cause"], m["event"]) for m in found["marks"]] == [
        ("warm", "arrival", "roof-26"),
        ("warm", "arrival", "roof-3"),
    ]
    assert get(http, "/v1/series", source="roof")["attribute"] == "t"
    assert get(http, "/v1/series", source="roof", since=START + MINUTE, until=START + 2 * MINUTE)["points"] == [
        {"at": START + MINUTE, "value": 26.0, "event": "roof-26"}
    ]
    assert len(get(http, "/v1/series", source="roof", attribute="t", points=2)["points"]) == 2
    assert get(http, "/v1/series", source="nobody")["points"] == []


def test_a_series_says_when_it_did_not_look_at_everything(
    broker: Broker, http: TestClient, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is asked for beyond what one question looks at is said to be missing."""
    monkeypatch.setattr(stored, "MAX_EXAMINED", 3)
    publish(broker, http, *({"n": n} for n in range(6)))
    clock.advance(MINUTE)
    publish(broker, http, *({"n": n} for n in range(3)), first=6)
    assert not get(http, "/v1/series", source="roof")["whole"]
    assert get(http, "/v1/series", source="roof", since=START + 1)["whole"]


def test_stored_events_are_found_by_words_source_time_and_subscription(
    broker: Broker, http: TestClient, clock: ManualClock
) -> None:
    """Newest first; each says what it met."""
    subscribe(http, "bad air", "{no2 > 40}")
    publish(broker, http, {"no2": 45, "place": "Shop Street"}, {"no2": 5})
    clock.advance(MINUTE)
    publish(broker, http, {"no2": 50, "place": "Quay Street"}, source="wall")

    def ids(**query: Any) -> list[str]:
        return [each["event"]["id"] for each in get(http, "/v1/events", **query)["events"]]

    assert ids() == ["wall-0", "roof-1", "roof-0"]
    assert ids(containing="street no2") == ["wall-0", "roof-0"]
    assert ids(source="roof") == ["roof-1", "roof-0"]
    assert ids(until=START + 1) == ["roof-1", "roof-0"]
    assert ids(since=START + 1) == ["wall-0"]
    assert ids(subscriber="ann", subscription="bad air") == ["wall-0", "roof-0"]
    first = get(http, "/v1/events", limit=2)
    assert first["events"][0]["met"] == [{"subscriber": "ann", "subscription": "bad air", "score": 1.0}]
    assert [e["event"]["id"] for e in get(http, "/v1/events", before=first["before"])["events"]] == ["roof-0"]
    assert http.get("/v1/events", params={"subscription": "bad air"}).status_code == 400


def test_pages_of_stored_events_reach_the_oldest(
    broker: Broker, http: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where one question looks at a part, `before` leads on until it is None."""
    monkeypatch.setattr(stored, "MAX_EXAMINED", 3)
    monkeypatch.setattr(stored, "PAGE", 2)
    publish(broker, http, *({"n": n} for n in range(10)))
    seen, before = [], None
    while True:
        page = get(http, "/v1/events", **({} if before is None else {"before": before}), containing="n")
        seen += [each["event"]["id"] for each in page["events"]]
        before = page["before"]
        if before is None:
            break
    assert seen == [f"roof-{n}" for n in reversed(range(10))]


def trace(http: TestClient, event: str, subscription: str = "bad air") -> Any:
    return get(http, "/v1/trace", event=event, subscriber="ann", subscription=subscription)


def test_a_trace_says_what_became_of_an_event(broker: Broker, http: TestClient) -> None:
    """Delivered, missed, too early, too late; and what was asked for then, whatever is asked for now."""
    publish(broker, http, {"no2": 5})
    subscribe(http, "bad air", "{no2 > 40}")
    publish(broker, http, {"no2": 45}, {"no2": 7}, first=1)
    met = trace(http, "roof-1")
    assert met["outcome"] == "delivered"
    assert [step["step"] for step in met["steps"]] == ["came", "delivered", "waits"]
    assert "score of 1.00" in met["steps"][1]["said"]
    assert trace(http, "roof-2")["outcome"] == "not_met"
    assert trace(http, "roof-0")["outcome"] == "before_it"
    http.post("/v1/subscribers/ann/acknowledgements", json={"sequence": 1}).raise_for_status()
    assert trace(http, "roof-1")["steps"][-1]["step"] == "settled"
    subscribe(http, "bad air", "{no2 > 50}")
    broker.wait_until_matched()
    after = trace(http, "roof-1")
    assert (after["outcome"], after["text"], after["changed_since"]) == ("delivered", "{no2 > 40}", True)
    http.delete("/v1/subscribers/ann/subscriptions/bad%20air").raise_for_status()
    publish(broker, http, {"no2": 99}, first=3)
    assert trace(http, "roof-3")["outcome"] == "after_it"
    assert trace(http, "roof-3", "never there")["outcome"] == "unknown_then"
    http.delete("/v1/events/roof-2").raise_for_status()
    missing = {"event": "none", "subscriber": "ann", "subscription": "x"}
    assert http.get("/v1/trace", params=missing).status_code == 404


def test_what_was_asked_for_stays_known_after_it_ended(tmp_path: Any, clock: ManualClock) -> None:
    """Upkeep keeps the newest ended subscriptions, also over a restart."""
    for turn in range(2):
        with Broker(tmp_path, clock=clock) as broker, TestClient(make_app(broker)) as http:
            if turn == 0:
                subscribe(http, "bad air", "{no2 > 40}")
                publish(broker, http, {"no2": 45})
                http.delete("/v1/subscribers/ann/subscriptions/bad%20air").raise_for_status()
                http.post("/v1/subscribers/ann/acknowledgements", json={"sequence": 1}).raise_for_status()
                broker.wait_until_matched()
                broker.sweep()
            assert trace(http, "roof-0")["text"] == "{no2 > 40}"


def test_nobody_sees_what_others_have(broker: Broker, http: TestClient) -> None:
    """A token bound to a subscriber traces its own alone and lists nothing; another tenant sees nothing of it."""
    subscribe(http, "bad air", "{no2 > 40}")
    subscribe(http, "own", "{no2 > 40}", "bob")
    publish(broker, http, {"no2": 45})
    said = {}
    for name, tenant, scope in (("bob", "default", "subscribe:bob"), ("else", "other", "admin")):
        made = broker.store.commit(partial(make_token, name=name, tenant=tenant, scopes=(scope,), now=START))
        said[name] = {"Authorization": f"Bearer {made}"}
    http.app.state.gateway.reload_tokens()  # type: ignore[attr-defined]
    for path in ("/v1/tallies", "/v1/events", "/v1/series?source=roof"):
        assert http.get(path, headers=said["bob"]).status_code == 403
        assert http.get(path).status_code == 401
    about = {"event": "roof-0", "subscriber": "bob", "subscription": "own"}
    assert http.get("/v1/trace", params=about, headers=said["bob"]).json()["outcome"] == "delivered"
    refused = http.get(
        "/v1/trace", params=about | {"subscriber": "ann", "subscription": "bad air"}, headers=said["bob"]
    )
    assert refused.status_code == 403
    other = said["else"]
    assert http.get("/v1/events", headers=other).json()["events"] == []
    assert http.get("/v1/tallies", headers=other).json()["subscriptions"] == []
    assert http.get("/v1/series?source=roof", headers=other).json()["points"] == []
    assert http.get("/v1/trace", params=about, headers=other).status_code == 404
