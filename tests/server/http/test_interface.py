"""The HTTP interface, over a real connection."""

from __future__ import annotations

import json
import time
from functools import partial
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from likewise.broker.broker import Broker
from likewise.broker.config import Config, ServerSettings, TenantLimits
from likewise.broker.log.tables import StoreTables
from tests.server.conftest import serving


def pending(http: httpx.Client, subscriber: str, count: int, after: int = 0) -> list[dict[str, Any]]:
    """Wait for that many deliveries."""
    for _ in range(500):
        answer = http.get(f"/v1/subscribers/{subscriber}/deliveries", params={"sequence": after})
        found: list[dict[str, Any]] = answer.json()["deliveries"]
        if len(found) >= count:
            return found
        time.sleep(0.01)
    return found


def test_an_event_goes_from_publisher_to_subscriber_and_is_acknowledged(http: httpx.Client) -> None:
    """Register, subscribe, publish, read, acknowledge."""
    assert http.put("/v1/subscribers/a1", json={"policy": "dead-letter", "limit": 10}).json()["limit"] == 10
    made = http.post("/v1/subscribers/a1/subscriptions", json={"v": 1, "text": "{no2 > 40, town = A}"})
    assert made.status_code == 201
    [held] = made.json()["subscriptions"]
    assert held["text"] == "{no2 > 40, town = A}"
    [receipt] = http.post("/v1/events", json={"no2": 45, "town": "A"}).json()["events"]
    [found] = pending(http, "a1", 1)
    assert found["event"]["id"] == receipt["id"]
    assert found["subscriptions"] == [{"id": held["id"], "score": 1.0}]
    acknowledged = http.post("/v1/subscribers/a1/acknowledgements", json={"sequence": found["sequence"]})
    assert acknowledged.status_code == 204
    assert http.get("/v1/subscribers/a1").json()["pending"] == 0


@pytest.mark.parametrize(
    ("kind", "body", "count"),
    [
        ("application/json", '[{"f1": 1}, {"v": 1, "payload": {"f1": 2}}]', 2),
        ("application/x-ndjson", '{"f1": 1}\n\n{"f1": 2}\n', 2),
        ("application/cloudevents+json", '{"specversion":"1.0","id":"c1","source":"/x","type":"t","data":{"f1":1}}', 1),
        ("application/cloudevents-batch+json", '[{"specversion":"1.0","id":"c2","source":"/x","type":"t"}]', 1),
        ("application/senml+json", '[{"bn":"urn:dev:1/","n":"temp","u":"Cel","v":21},{"n":"hum","v":3}]', 1),
    ],
)
def test_events_come_in_every_published_form(http: httpx.Client, kind: str, body: str, count: int) -> None:
    """One, arrays, lines, CloudEvents, SenML."""
    answer = http.post("/v1/events", content=body, headers={"content-type": kind})
    assert answer.status_code == 200, answer.text
    assert len(answer.json()["events"]) == count


def test_subscriptions_are_created_replaced_listed_read_and_deleted(http: httpx.Client) -> None:
    """As JSON, with the printed form in the answers."""
    http.put("/v1/subscribers/b1")
    answer = http.post(
        "/v1/subscribers/b1/subscriptions",
        json=[{"v": 1, "text": "{q = 1}", "id": "x"}, {"v": 1, "text": "{q = 2}", "id": "y"}],
    )
    assert [s["id"] for s in answer.json()["subscriptions"]] == ["x", "y"]
    again = http.post("/v1/subscribers/b1/subscriptions", json={"v": 1, "text": "{q = 1}", "id": "x"})
    assert (again.status_code, again.json()["code"]) == (409, "duplicate_id")
    assert http.put("/v1/subscribers/b1/subscriptions/x", json={"v": 1, "text": "{q = 3}"}).json()["text"] == "{q = 3}"
    assert [s["id"] for s in http.get("/v1/subscribers/b1/subscriptions").json()] == ["y", "x"]
    assert http.get("/v1/subscribers/b1/subscriptions/x", params={"form": "json"}).json()["body"]["kind"] == "condition"
    assert http.delete("/v1/subscribers/b1/subscriptions/x").status_code == 204
    assert http.get("/v1/subscribers/b1/subscriptions/x").status_code == 404
    assert "y" in [s["id"] for s in http.get("/v1/subscriptions").json()]


def test_errors_are_problems_with_stable_codes(http: httpx.Client) -> None:
    """problem+json with what was expected, what was found and what to do."""
    http.put("/v1/subscribers/c1")
    for answer, status, code in (
        (http.post("/v1/events", content="{"), 400, "format"),
        (http.post("/v1/events", content="<x/>", headers={"content-type": "text/xml"}), 400, "format"),
        (http.post("/v1/subscribers/c1/subscriptions", json={"v": 1, "text": "{a > }"}), 400, "syntax"),
        (http.get("/v1/subscribers/nobody"), 404, "unknown_id"),
        (http.delete("/v1/events/nothing"), 404, "unknown_id"),
        (http.get("/v1/nowhere"), 404, "unknown_address"),
        (http.patch("/v1/events"), 405, "unknown_method"),
        (http.get("/v1/subscribers/c1/deliveries?sequence=x"), 400, "input"),
        (http.put("/v1/subscribers/c1", json={"policy": "lose"}), 400, "format"),
        (http.put("/v1/subscribers/c1", json={"limit": 0}), 413, "limit"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
        assert answer.headers["content-type"] == "application/problem+json"


def test_the_same_id_with_other_content_is_refused(http: httpx.Client) -> None:
    """409, and the same content is a duplicate."""
    event = {"v": 1, "payload": {"z": 1}, "id": "same"}
    first = http.post("/v1/events", json=event).json()["events"][0]
    again = http.post("/v1/events", json=event).json()["events"][0]
    assert again == {**first, "duplicate": True}
    other = http.post("/v1/events", json={**event, "payload": {"z": 2}})
    assert (other.status_code, other.json()["code"]) == (409, "conflict")


def test_dry_runs_explain_and_backtests_change_nothing(http: httpx.Client) -> None:
    """On the live code path, for stored and for sent events, for held and for typed subscriptions."""
    http.put("/v1/subscribers/d1")
    http.put("/v1/subscribers/d1/subscriptions/warm", json={"v": 1, "text": "{temperature~ > 25 degC, town = D}"})
    http.post("/v1/events", json={"v": 1, "payload": {"temp": 21, "town": "D"}, "id": "d-cold"})
    met = http.post("/v1/match", json={"event": {"temp": 27, "town": "D"}})
    assert met.json()["matches"][0]["subscription"] == "warm", met.text
    explained = http.post("/v1/explain", json={"event_id": "d-cold", "subscriber": "d1", "subscription": "warm"}).json()
    assert (explained["subscription_id"], explained["event_id"]) == ("warm", "d-cold")
    assert explained["verdict"] != "match"
    assert "mappings" not in explained
    asked = {"event_id": "d-cold", "subscriber": "d1", "subscription": "warm", "mappings": 5}
    assert "mappings" not in http.post("/v1/explain", json=asked).json()  # 21 is not above 25: there is none
    two = {"event": {"device[]": ["computer", "telephone"]}, "text": "{device~ = laptop~}", "mappings": 2}
    first, second = http.post("/v1/explain", json=two).json()["mappings"]
    assert first["score"] >= second["score"]
    assert first["probability"] + second["probability"] == pytest.approx(1)
    vector = http.post("/v1/explain", json={"event": {"a": 1}, "text": "[1, 0]", "mappings": 2})
    assert vector.status_code == 409, vector.text
    typed = http.post("/v1/explain", json={"event_id": "d-cold", "text": "{temp > 20, town = D}"}).json()
    assert typed["verdict"] == "match"
    tried = http.post("/v1/backtest", json={"text": "{town = D} top 1 within 10 events by value(temp)"}).json()
    assert (tried["matched"], tried["matches"][0]["event"]) == (1, "d-cold")
    assert (tried["matches"][0]["cause"], tried["causes"]) == ("arrival", {"arrival": 1})
    assert http.post("/v1/match", json={"text": "{town = D}"}).json()["matched"] == 1
    assert http.get("/v1/subscribers/d1").json()["pending"] == 0


def test_a_backtest_of_an_alert_says_cause_key_and_time(http: httpx.Client) -> None:
    """What became due after the last event is in it; ending an alarm is counted, and is no match."""
    for id, state in (("b1", "open"), ("b2", "closed"), ("b3", "open")):
        http.post("/v1/events", json={"v": 1, "payload": {"hatch": state}, "id": id, "source": "cellar"})
    for _ in range(1_000):  # events are tried once they are matched
        found = http.post("/v1/backtest", json={"text": "{hatch = open} for 1 us once until false"}).json()
        if found["matched"] == 2:
            break
        time.sleep(0.02)
    assert found["causes"] == {"held": 2, "cleared": 1}
    assert found["matched"] == 2
    assert [(each["cause"], each["key"], each["event"]) for each in found["matches"]] == [
        ("held", ["cellar"], "b1"),
        ("cleared", ["cellar"], "b2"),
        ("held", ["cellar"], "b3"),
    ]
    last = found["matches"][-1]
    assert last["arrival"] + 1 == last["time"] <= found["until"]


def test_boards_show_the_k_best_now(http: httpx.Client) -> None:
    """Best first, with the value they are ranked by."""
    http.put("/v1/subscribers/t1")
    http.put("/v1/subscribers/t1/subscriptions/top", json={"v": 1, "text": "{town = T} top 2 within 1 h by value(x)"})
    for x in (5, 3, 9):
        http.post("/v1/events", json={"v": 1, "payload": {"town": "T", "x": x}, "id": f"t{x}"})
    pending(http, "t1", 2)
    board = http.get("/v1/subscribers/t1/subscriptions/top/board").json()
    assert [(place["rank"], place["event"], place["value"]) for place in board] == [(1, "t3", 3.0), (2, "t5", 5.0)]
    assert http.get("/v1/subscribers/d1/subscriptions/warm/board").status_code in (404, 409)


def test_boards_name_the_event_and_say_its_value_as_it_was_stated(http: httpx.Client) -> None:
    """Ranked in the unit that is named, shown with the source and the unit the event used."""
    http.put("/v1/subscribers/t2")
    text = "{town = U} top 2 within 1 h by value(temp in K) highest"
    http.put("/v1/subscribers/t2/subscriptions/hot", json={"v": 1, "text": text})
    for id, source, value, unit in (("f", "/roof", 86, "degF"), ("c", "/yard", 27.5, "degC"), ("k", "/lab", 280, "K")):
        payload = {"town": "U", "temp": {"value": value, "unit": unit}}
        http.post("/v1/events", json={"v": 1, "payload": payload, "id": id, "source": source})
    pending(http, "t2", 2)
    first, second = http.get("/v1/subscribers/t2/subscriptions/hot/board").json()
    assert (first["event"], first["source"], round(first["value"], 2)) == ("f", "/roof", 303.15)
    assert first["stated"] == [{"attribute": "temp", "value": 86, "unit": "degF"}]
    assert (second["source"], second["stated"][0]["value"]) == ("/yard", 27.5)


def test_feedback_moves_what_it_is_about(http: httpx.Client) -> None:
    """The pairs of terms are told."""
    http.put("/v1/subscribers/f1")
    http.put("/v1/subscribers/f1/subscriptions/s", json={"v": 1, "text": "{colour~ = red~}"})
    said = {"subscriber": "f1", "subscription": "s", "event": {"hue": "scarlet"}, "relevant": True}
    assert http.post("/v1/feedback", json=said).json()["pairs"]


def test_an_event_dated_ahead_counts_as_it_comes_and_ends_nothing(http: httpx.Client) -> None:
    """Its clock is wrong: a question says so as what is published does, and a subscription with a validity goes on."""
    http.put("/v1/subscribers/v1")
    text = "{town = V} valid for 1 h"
    http.put("/v1/subscribers/v1/subscriptions/short", json={"v": 1, "text": text})
    ahead = {"v": 1, "payload": {"town": "V"}, "id": "v-0", "time": "2999-01-01T00:00:00Z"}
    for asked in (ahead, {"town": "V"}):
        met = http.post("/v1/match", json={"event": asked}).json()["matches"]
        assert [m["subscription"] for m in met] == ["short"]
    for sent in (ahead, {"v": 1, "payload": {"town": "V"}, "id": "v-1"}):
        http.post("/v1/events", json=sent)
    assert len(pending(http, "v1", 2)) == 2


def test_a_batch_of_subscriptions_holds_together_or_not_at_all(http: httpx.Client) -> None:
    """One id in use refuses them all, again and again."""
    http.put("/v1/subscribers/b9")
    batch = [{"v": 1, "text": "{a = 1}", "id": id} for id in ("one", "two", "one")]
    for _ in range(2):
        refused = http.post("/v1/subscribers/b9/subscriptions", json=batch)
        assert (refused.status_code, refused.json()["code"]) == (409, "duplicate_id")
        assert http.get("/v1/subscribers/b9/subscriptions").json() == []
    assert http.post("/v1/subscribers/b9/subscriptions", json=batch[:2]).status_code == 201


def test_meaning_can_be_asked_for(http: httpx.Client) -> None:
    """Relatedness and near words."""
    assert http.get("/v1/relatedness", params={"a": "laptop", "b": "computer"}).json()["relatedness"] > 0.3
    assert len(http.get("/v1/nearest", params={"term": "laptop", "k": 3}).json()) == 3
    assert http.get("/v1/relatedness", params={"a": "laptop"}).status_code == 400


def test_what_cannot_be_read_is_a_dead_letter_that_can_be_looked_at(http: httpx.Client) -> None:
    """Listed, read, refused again on replay, removed."""
    http.post("/v1/events", content='{"a": 1}\n{"broken', headers={"content-type": "application/x-ndjson"})
    letter = http.get("/v1/dead-letters").json()[-1]
    assert (letter["reason"], letter["body"]) == ("unreadable", '{"broken')
    assert http.post(f"/v1/dead-letters/{letter['number']}/retry").status_code == 400
    assert http.delete(f"/v1/dead-letters/{letter['number']}").status_code == 204
    assert http.get(f"/v1/dead-letters/{letter['number']}").status_code == 404


def test_what_did_not_fit_is_replayed(http: httpx.Client) -> None:
    """A dead letter of a full queue is delivered once there is room."""
    http.put("/v1/subscribers/g1", json={"policy": "dead-letter", "limit": 1})
    http.put("/v1/subscribers/g1/subscriptions/s", json={"v": 1, "text": "{town = G}"})
    for number in (1, 2):
        http.post("/v1/events", json={"v": 1, "payload": {"town": "G"}, "id": f"g{number}"})
    [first] = pending(http, "g1", 1)
    for _ in range(300):
        letters = [x for x in http.get("/v1/dead-letters").json() if x.get("subscriber") == "g1"]
        if letters:
            break
        time.sleep(0.01)
    [letter] = letters
    assert letter["event"] == "g2"
    http.post("/v1/subscribers/g1/acknowledgements", json={"sequence": first["sequence"]})
    assert http.post(f"/v1/dead-letters/{letter['number']}/retry").json() == {"delivered": True}
    [again] = pending(http, "g1", 1)
    assert (again["event"]["id"], again["cause"], again["subscriptions"]) == (
        "g2",
        "replayed",
        [{"id": "s", "score": 1.0}],
    )


def test_health_readiness_metrics_and_description_are_served(http: httpx.Client) -> None:
    """For operators and for machines."""
    assert http.get("/healthz").json() == {"status": "alive"}
    assert http.get("/readyz").json()["status"] == "ready"
    assert "likewise_events_received_total" in http.get("/metrics").text
    described = http.get("/openapi.json").json()
    assert "/v1/events" in described["paths"]
    assert described["paths"]["/v1/events"]["post"]["requestBody"]["content"]["application/json"]["example"]
    assert "Problem" in described["components"]["schemas"]


def test_tokens_open_what_they_are_for_and_keep_tenants_apart() -> None:
    """Scopes, tenants, and nothing without a token once there is one."""
    with Broker(None, Config(server=ServerSettings(port=0))) as broker:
        from likewise.broker.log.tokens import make_token

        def token_of(name: str, tenant: str, scope: str, tables: StoreTables) -> str:
            return make_token(tables, name, tenant, [scope], 0)

        tokens = {
            name: broker.store.commit(partial(token_of, name, tenant, scope))
            for name, tenant, scope in (
                ("root", "one", "admin"),
                ("in", "one", "publish"),
                ("out", "one", "subscribe"),
                ("other", "two", "admin"),
            )
        }
        with broker.store.reading() as tables:
            kept = str(tables.rows("SELECT * FROM tokens"))
        assert not any(token in kept for token in tokens.values())
        with serving(broker=broker) as address, httpx.Client(base_url=address) as http:

            def ask(name: str, method: str, path: str, **given: Any) -> int:
                headers = {"authorization": f"Bearer {tokens.get(name, 'lw_wrong')}"}
                return http.request(method, path, headers=headers, **given).status_code

            assert http.get("/v1/subscriptions").status_code == 401
            assert ask("nobody", "GET", "/v1/subscriptions") == 401
            assert ask("in", "POST", "/v1/events", json={"v": 1, "payload": {"a": 1}, "id": "e1"}) == 200
            assert ask("in", "GET", "/v1/subscriptions") == 403
            assert ask("out", "POST", "/v1/events", json={"a": 1}) == 403
            assert ask("out", "GET", "/v1/dead-letters") == 403
            assert ask("out", "PUT", "/v1/subscribers/ann") == 200
            assert ask("root", "GET", "/v1/stats") == 200
            assert ask("other", "GET", "/v1/subscribers/ann") == 404
            assert ask("other", "POST", "/v1/explain", json={"event_id": "e1", "text": "{a = 1}"}) == 404
            assert ask("root", "POST", "/v1/explain", json={"event_id": "e1", "text": "{a = 1}"}) == 200


def test_limits_on_bodies_batches_subscriptions_and_rates_hold() -> None:
    """Each is refused with its code."""
    config = Config(server=ServerSettings(port=0), limits=TenantLimits(body=1000, batch=3, subscriptions=1, rate=5))
    with serving(config=config) as address, httpx.Client(base_url=address) as http:
        assert http.post("/v1/events", content=b"x" * 2000).json()["code"] == "limit"
        assert http.post("/v1/events", content=iter([b"x" * 600] * 3)).json()["code"] == "limit"
        assert http.post("/v1/events", json=[{"a": 1}] * 4).json()["code"] == "limit"
        http.put("/v1/subscribers/a")
        one, two = ({"v": 1, "text": text} for text in ("{a = 1}", "{a = 2}"))
        assert http.post("/v1/subscribers/a/subscriptions", json=one).status_code == 201
        assert http.post("/v1/subscribers/a/subscriptions", json=two).json()["code"] == "limit"
        answers = [http.post("/v1/events", json=[{"a": 1}] * 3) for _ in range(3)]
        assert answers[-1].json()["code"] == "rate"
        assert int(answers[-1].headers["retry-after"]) >= 1


def test_a_blocking_queue_delays_the_acknowledgement_of_publishers() -> None:
    """The publisher waits until the subscriber has made room."""
    import threading

    with serving() as address, httpx.Client(base_url=address, timeout=30) as http:
        http.put("/v1/subscribers/a", json={"policy": "block", "limit": 1})
        http.put("/v1/subscribers/a/subscriptions/s", json={"v": 1, "text": "{a exists}"})
        http.post("/v1/events", json={"a": 1})
        [first] = pending(http, "a", 1)
        answered = threading.Event()

        def publish() -> None:
            httpx.post(f"{address}/v1/events", json={"a": 2}, timeout=30)
            answered.set()

        thread = threading.Thread(target=publish)
        thread.start()
        assert not answered.wait(0.3)
        http.post("/v1/subscribers/a/acknowledgements", json={"sequence": first["sequence"]})
        assert answered.wait(20)
        thread.join()


@pytest.mark.parametrize("id", ["", "a\nb", "a\x7f", "\x85"])
def test_an_id_that_nobody_could_address_is_refused(http: httpx.Client, id: str) -> None:
    """With words, alone and among others, in JSON and in lines; nothing of such a request is stored."""
    good, bad = ({"v": 1, "payload": {"a": 1}, "id": each} for each in ("good " + repr(id), id))
    for sent in (json.dumps(bad), json.dumps([good, bad])):
        answer = http.post("/v1/events", content=sent)
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_event")
        assert "id" in answer.json()["detail"]
    lines = {"content-type": "application/x-ndjson"}
    both = json.dumps(good) + "\n" + json.dumps(bad)
    assert http.post("/v1/events", content=both, headers=lines).status_code == 400
    assert http.get(f"/v1/events/{quote(str(good['id']), safe='')}").status_code == 404


def test_old_names_of_sequence_numbers_are_still_read(http: httpx.Client) -> None:
    """`after` and the old address of a dead letter work; two names at once are refused."""
    http.put("/v1/subscribers/old")
    for name in ("sequence", "after"):
        assert http.get("/v1/subscribers/old/deliveries", params={name: 3}).json() == {"deliveries": [], "sequence": 3}
    both = http.get("/v1/subscribers/old/deliveries?sequence=3&after=3")
    assert (both.status_code, both.json()["code"]) == (400, "input")
    for address in ("retry", "replay"):
        assert http.post(f"/v1/dead-letters/999/{address}").status_code == 404
        assert http.post(f"/v1/dead-letters/999/{address}").json()["code"] == "unknown_id"
