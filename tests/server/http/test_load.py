"""What is too much, too old, too negative or not JSON: refused with words, counted, and tried again as told."""

from __future__ import annotations

import json
import logging
import threading
from functools import partial
from typing import Any

import httpx
import pytest
import structlog
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from likewise.broker.broker import Broker
from likewise.broker.config import Config, LoggingSettings, ServerSettings, TenantLimits
from likewise.broker.log.tables import StoreTables
from likewise.broker.log.tokens import make_token
from likewise.broker.telemetry.logging import log_to_stderr
from likewise.client import Publisher
from likewise.server import gateway as door
from tests.broker.asked import asked
from tests.server.conftest import serving

WINDOW = {"v": 1, "text": "{x exists} top 9 within 9 events by value(x)"}


def test_a_backlog_tells_publishers_when_to_come_again_and_clients_do() -> None:
    """429 with Retry-After while too much waits; the client library sends it again and gets its receipt."""
    broker = Broker(None, Config(server=ServerSettings(port=0), limits=TenantLimits(backlog=2)))
    with serving(broker=broker) as address, httpx.Client(base_url=address, timeout=60) as http:
        http.put("/v1/subscribers/ann").raise_for_status()
        http.put("/v1/subscribers/ann/subscriptions/w", json=WINDOW).raise_for_status()
        receipts: list[object] = []
        with asked(broker.tenant("default")):
            answers = [http.post("/v1/events", json={"x": n}) for n in range(3)]
            assert [each.status_code for each in answers] == [200, 200, 429]
            refused = answers[-1]
            assert refused.json()["code"] == "backlog"
            assert refused.json()["waiting"] == 2
            assert 1 <= int(refused.headers["retry-after"]) <= 30

            def publish() -> None:
                with Publisher(address, patience=60) as out:
                    receipts.append(out.publish({"x": 9}))

            publishing = threading.Thread(target=publish)
            publishing.start()
            while 'code="backlog",tenant="default"} 2.0' not in http.get("/metrics").text:
                publishing.join(0.01)
        publishing.join(60)
        assert len(receipts) == 1


def test_questions_of_a_tenant_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two are answered, one waits, the next is told to come again; afterwards all is as before."""
    monkeypatch.setattr(door, "MAX_QUESTIONS_WAITING", 1)
    broker = Broker(None, Config(server=ServerSettings(port=0)))
    with serving(broker=broker) as address, httpx.Client(base_url=address, timeout=60) as http:
        found: list[int] = []

        def ask() -> None:
            found.append(httpx.post(f"{address}/v1/match", json={"event": {"x": 1}}, timeout=60).status_code)

        with asked(broker.tenant("default")):
            asking = [threading.Thread(target=ask) for _ in range(4)]
            for thread in asking:
                thread.start()
            while not found:
                asking[0].join(0.01)
            assert found == [429]
            assert http.get("/healthz").status_code == 200
        for thread in asking:
            thread.join(60)
        assert sorted(found) == [200, 200, 200, 429]
        assert http.post("/v1/match", json={"event": {"x": 1}}).status_code == 200


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/subscribers/ann/acknowledgements", {"sequence": -1}),
        ("/v1/subscribers/ann/acknowledgements", {"acknowledge": -7}),
        ("/v1/subscribers/ann/acknowledgements", {"sequence": 2**63}),
        ("/v1/backtest", {"text": "{x = 1}", "events": -1}),
        ("/v1/backtest", {"text": "{x = 1}", "shown": -1}),
        ("/v1/events", {"v": 1, "payload": {"x": 1}, "expires": -1}),
    ],
)
def test_what_is_below_zero_is_refused(http: httpx.Client, path: str, body: dict[str, Any]) -> None:
    """With words, and nothing changes."""
    http.put("/v1/subscribers/ann").raise_for_status()
    before = http.get("/v1/stats").json()["events"]
    refused = http.post(path, json=body)
    assert refused.status_code == 400
    assert refused.json()["code"] in ("format", "invalid_event")
    assert http.get("/v1/stats").json()["events"] == before


def test_a_body_without_a_type_is_taken_and_another_page_is_refused_whatever_it_sends(http: httpx.Client) -> None:
    """Forms always name a type, and scripts say their origin: so a body without one is nobody's web page."""
    body = b'{"x": 1}'
    request = http.build_request("POST", "/v1/events", content=body)
    assert "content-type" not in request.headers
    assert http.send(request).status_code == 200
    for origin in ("https://attacker.example", "null"):
        refused = http.post("/v1/events", content=body, headers={"origin": origin})
        assert (refused.status_code, refused.json()["code"]) == (403, "foreign_origin")


def test_a_dead_letter_keeps_its_media_type_and_is_tried_again_as_that(http: httpx.Client) -> None:
    """Turtle that was cut off, mended by nobody, stays Turtle; a letter of SenML becomes events once it can."""
    turtle = {"content-type": "text/turtle; graph=whole"}
    assert http.post("/v1/events", content=b"<http://e.org/a> <http://e.org/b", headers=turtle).status_code == 400
    letter = http.get("/v1/dead-letters").json()[-1]
    assert letter["media_type"] == "text/turtle; graph=whole"
    still = http.post(f"/v1/dead-letters/{letter['number']}/retry")
    assert still.status_code == 400
    assert "JSON" not in still.json()["detail"]


def test_a_letter_that_can_be_read_by_now_is_published_as_its_type() -> None:
    """As after an upgrade: the bytes are fine, the type is the one they came with."""
    from likewise.errors import FormatError

    broker = Broker(None, Config(server=ServerSettings(port=0)))
    with serving(broker=broker) as address, httpx.Client(base_url=address, timeout=60) as http:
        told = threading.Event()
        body = b"<http://e.org/m1> <http://e.org/level> 7 ."
        tenant, error = broker.tenant("default"), FormatError("not read then")
        broker.add_dead_letter(tenant, error, body, lambda result: told.set(), "text/turtle")
        assert told.wait(60)
        number = http.get("/v1/dead-letters").json()[-1]["number"]
        assert len(http.post(f"/v1/dead-letters/{number}/retry").raise_for_status().json()["published"]) == 1
        assert http.get("/v1/dead-letters").json() == []


def test_figures_are_a_tenants_own_and_refusals_are_counted() -> None:
    """An administrator sees its tenant alone, the scope `metrics` everybody, and nobody else anything."""
    with Broker(None, Config(server=ServerSettings(port=0), limits=TenantLimits(body=300))) as broker:

        def token(name: str, tenant: str, scope: str, tables: StoreTables) -> str:
            return make_token(tables, name, tenant, [scope], 0)

        wanted = (("a", "one", "admin"), ("b", "two", "admin"), ("m", "two", "metrics"), ("p", "one", "publish"))
        heads = {
            name: {"authorization": f"Bearer {broker.store.commit(partial(token, name, tenant, scope))}"}
            for name, tenant, scope in wanted
        }
        with serving(broker=broker) as address, httpx.Client(base_url=address, timeout=60) as http:
            for name, count in (("a", 2), ("b", 5)):
                events = [{"x": n} for n in range(count)]
                http.post("/v1/events", json=events, headers=heads[name]).raise_for_status()
            http.post("/v1/events", content=b"{", headers=heads["a"])
            http.post("/v1/events", content=b"x" * 1_000, headers=heads["a"])
            http.put("/v1/subscribers/ann", content=b"x" * 1_000, headers=heads["a"])
            one, two, every = (http.get("/metrics", headers=heads[name]).text for name in ("a", "b", "m"))
            figures = {name: http.get("/v1/stats", headers=heads[name]).json() for name in ("a", "b")}
            assert [figures[name]["log_position"] for name in ("a", "b")] == [2, 7]
            assert figures["a"]["matched_position"] <= 2
            assert 0 < figures["a"]["bytes"] < 2 * 200  # its own two events, whatever others have
            refused = {name: http.get("/v1/stats", headers=heads[name]).json()["refused"] for name in ("a", "b")}
            assert refused == {"a": 3, "b": 0}
            assert http.get("/metrics", headers=heads["p"]).status_code == 403
            assert http.get("/metrics").status_code == 401
            assert http.get("/v1/stats", headers=heads["m"]).status_code == 403
    assert 'likewise_events_received_total{tenant="one"} 2.0' in one
    assert 'likewise_requests_refused_total{code="format",tenant="one"} 1.0' in one
    assert 'likewise_requests_refused_total{code="limit",tenant="one"} 2.0' in one
    assert 'likewise_dead_letters_total{tenant="one"} 1.0' in one
    assert "two" not in one
    assert "likewise_log_position" not in one
    assert 'likewise_events_received_total{tenant="two"} 5.0' in two
    assert "one" not in two.replace("took lately", "")
    assert 'tenant="one"' in every
    assert 'tenant="two"' in every
    assert "likewise_log_position" in every


def test_what_libraries_log_is_json_where_the_log_is(capfd: pytest.CaptureFixture[str]) -> None:
    """A warning of the server's library is one line of JSON with its logger, and an exception stays within its line."""
    root = logging.getLogger()
    before, configured = list(root.handlers), structlog.get_config()
    for handler in before:
        root.removeHandler(handler)
    try:
        log_to_stderr(LoggingSettings())
        logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
        try:
            raise ValueError("of a library")
        except ValueError:
            logging.getLogger("asyncio").exception("Task exception was never retrieved")
        structlog.get_logger("likewise.test").warning("of our own")
    finally:
        for handler in list(root.handlers):
            root.removeHandler(handler)
        for handler in before:
            root.addHandler(handler)
        structlog.configure(**configured)
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    assert [(line["event"], line["level"]) for line in lines] == [
        ("Invalid HTTP request received.", "warning"),
        ("Task exception was never retrieved", "error"),
        ("of our own", "warning"),
    ]
    assert lines[0]["logger"] == "uvicorn.error"
    assert "ValueError: of a library" in lines[1]["exception"]


@pytest.mark.parametrize("said", [b'{"sequence": 0}', b"\xff\xfe", b"", b"[]"])
def test_bytes_on_a_stream_are_read_like_text_or_refused(http: httpx.Client, said: bytes) -> None:
    """With 4400 and words; never a traceback and 1011."""
    http.put("/v1/subscribers/bytes").raise_for_status()
    address = f"ws://{http.base_url.netloc.decode()}/v1/subscribers/bytes/stream"
    with connect(address) as stream:
        stream.send(said)
        if said.startswith(b"{"):
            stream.close()
        else:
            with pytest.raises(ConnectionClosed):
                stream.recv(timeout=60)
    assert stream.close_code == (1000 if said.startswith(b"{") else 4400)
