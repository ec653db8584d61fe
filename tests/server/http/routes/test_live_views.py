"""What somebody who watches is told: activity, the matrix, the evidence."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from likewise.broker.broker import Broker
from likewise.broker.log.tokens import make_token
from likewise.server.http.server import make_app


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker(None) as running:
        yield running


@pytest.fixture
def http(broker: Broker) -> Iterator[TestClient]:
    with TestClient(make_app(broker)) as client:
        yield client


def subscribe(http: TestClient, subscriber: str, id: str, text: str, **headers: str) -> None:
    http.put(f"/v1/subscribers/{subscriber}", headers=headers).raise_for_status()
    path = f"/v1/subscribers/{subscriber}/subscriptions/{id}"
    http.put(path, content=text, headers={"Content-Type": "text/plain", **headers}).raise_for_status()


def test_activity_lists_events_and_what_they_met_and_consumes_nothing(broker: Broker, http: TestClient) -> None:
    """Asked twice from the start it says the same; asked from where it ended, only what is new."""
    subscribe(http, "ann", "bad air", "{no2 > 40}")
    http.post("/v1/events", json=[{"no2": 45}, {"no2": 5}]).raise_for_status()
    broker.wait_until_matched()
    first = http.get("/v1/activity").json()
    assert [event["event"]["tuples"][0]["value"] for event in first["events"]] == [45, 5]
    [match] = first["matches"]
    assert match["met"] == [{"subscriber": "ann", "subscription": "bad air", "score": 1.0}]
    assert match["position"] == first["events"][0]["position"]
    assert http.get("/v1/activity").json() == first
    assert http.get("/v1/subscribers/ann").json()["pending"] == 1
    later = {"position": first["position"], "sequence": first["sequence"]}
    assert http.get("/v1/activity", params=later).json() == {"events": [], "matches": [], **later}


def test_activity_keeps_to_the_newest(broker: Broker, http: TestClient) -> None:
    """With a limit the newest are listed, in their order."""
    http.post("/v1/events", json=[{"n": n} for n in range(10)]).raise_for_status()
    broker.wait_until_matched()
    found = http.get("/v1/activity", params={"limit": 3}).json()["events"]
    assert [event["event"]["tuples"][0]["value"] for event in found] == [7, 8, 9]


def test_the_matrix_has_a_row_for_each_predicate(http: TestClient) -> None:
    """Its chosen cells are the explanation's mapping."""
    asked = {"event": {"TempC_SHT": 27.1, "city": "Galway"}, "text": "{temperature~ > 25 degC, city = Galway}"}
    grid = http.post("/v1/grid", json={"event": asked["event"], "subscription": asked["text"]}).json()["grid"]
    assert grid["predicates"] == ["temperature~ > 25 degC", "city = Galway"]
    assert grid["tuples"] == ["TempC_SHT: 27.1", "city: Galway"]
    explained = http.post("/v1/explain", json=asked).json()
    assert grid["chosen"] == [each["tuple"] for each in explained["mapping"]["correspondences"]]
    assert grid["score"] == pytest.approx(explained["score"], abs=1e-6)


def test_kinds_without_predicates_have_no_matrix(http: TestClient) -> None:
    """An interest vector is no condition."""
    assert http.post("/v1/grid", json={"event": {"a": 1}, "subscription": "[1, 0]"}).json() == {"grid": None}


def test_evidence_names_measures_and_documents(http: TestClient) -> None:
    """And refuses a question without a term."""
    found = http.get("/v1/evidence", params={"a": "laptop", "b": "computer", "themes": ["computers"]}).json()
    assert dict(found["scores"])[found["measure"]] == pytest.approx(found["score"], abs=1e-6)
    assert found["documents"]
    assert http.get("/v1/evidence", params={"a": "laptop"}).json()["code"] == "input"


def test_no_tenant_sees_another(broker: Broker, http: TestClient) -> None:
    """With tokens in force activity needs one, and shows its tenant's events only."""
    http.post("/v1/events", json={"secret": 1}).raise_for_status()
    broker.wait_until_matched()
    token = broker.store.commit(lambda tables: make_token(tables, "one", "default", ["admin"], 0))
    http.app.state.gateway.reload_tokens()  # type: ignore[attr-defined]
    assert http.get("/v1/activity").status_code == 401
    own = http.get("/v1/activity", headers={"Authorization": f"Bearer {token}"}).json()
    assert len(own["events"]) == 1
    other = broker.tenant("other")
    from likewise.broker.queries.activity import activity

    with broker.store.reading() as tables:
        assert activity(tables, other, 0, 0, 10).events == ()
