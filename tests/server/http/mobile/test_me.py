"""The page of one subscriber: its own and nobody else's, in words, consumed by looking at it never."""

from __future__ import annotations

import os
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from likewise.broker.broker import Broker
from likewise.broker.config import Config, ServerSettings
from likewise.broker.log.tokens import make_token
from likewise.server.http.mobile.page import HEADERS
from likewise.server.http.server import HttpServer, make_app

CHROMIUM = os.environ.get("LIKEWISE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
SLOW = 60_000


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker(None) as running:
        yield running


@pytest.fixture
def http(broker: Broker) -> Iterator[TestClient]:
    with TestClient(make_app(broker)) as client:
        yield client


def subscribe(http: TestClient, subscriber: str, id: str, text: str) -> None:
    http.put(f"/v1/subscribers/{subscriber}").raise_for_status()
    path = f"/v1/subscribers/{subscriber}/subscriptions/{id}"
    http.put(path, content=text, headers={"Content-Type": "text/plain"}).raise_for_status()


def test_the_page_runs_nothing_that_is_not_its_own(http: TestClient) -> None:
    for path, kind in (("/me", "text/html"), ("/me/me.js", "text/javascript"), ("/me/me.css", "text/css")):
        found = http.get(path)
        assert found.status_code == 200
        assert found.headers["content-type"].startswith(kind)
        assert found.headers["content-security-policy"] == HEADERS["content-security-policy"]
    assert "unsafe" not in HEADERS["content-security-policy"]
    page = http.get("/me").text
    assert "style=" not in page
    assert "onclick" not in page
    assert "innerHTML" not in http.get("/me/me.js").text


def test_where_an_alert_stands_is_told_key_by_key_what_was_said_first(broker: Broker, http: TestClient) -> None:
    subscribe(http, "ann", "door", "{door = open} for 5 min")
    subscribe(http, "ann", "once", "{door = open} once until false")
    subscribe(http, "ann", "plain", "{door = open}")
    for source, door in (("hall", "open"), ("attic", "open"), ("attic", "closed")):
        http.post("/v1/events", json={"v": 1, "payload": {"door": door}, "source": source}).raise_for_status()
    broker.wait_until_matched()
    said = http.get("/v1/subscribers/ann/subscriptions/door/keys").json()
    assert said["total"] == 2
    assert [(each["key"], each["state"]) for each in said["keys"]] == [(["hall"], "lasting"), (["attic"], "off")]
    assert said["keys"][0]["words"].endswith(" of 5 min")
    (first,) = http.get("/v1/subscribers/ann/subscriptions/once/keys", params={"limit": 1}).json()["keys"]
    assert (first["key"], first["state"], first["said"]) == (["hall"], "on", True)
    refused = http.get("/v1/subscribers/ann/subscriptions/plain/keys")
    assert (refused.status_code, "is no alert" in refused.json()["detail"]) == (409, True)


def test_what_is_mine_is_told_in_words_and_consumed_by_nobody(broker: Broker, http: TestClient) -> None:
    subscribe(http, "ann", "door", "{door = open} once until false")
    http.post("/v1/events", json=[{"door": "open"}]).raise_for_status()
    broker.wait_until_matched()
    found = http.get("/v1/me", params={"name": "ann"}).json()
    assert (found["name"], found["names"]) == ("ann", ["ann"])
    [mine] = found["subscriptions"]
    assert mine["words"] == "door is open; once, until that ends"
    assert mine["keys"][0]["said"] is True
    [news] = found["news"]
    assert (news["cause"], news["subscription"]) == ("arrival", "door")
    assert news["headline"] == "door: open"
    assert "`door` says open: door = open" in news["text"]
    assert http.get("/v1/me", params={"name": "ann", "sequence": found["sequence"]}).json().get("news", []) == []
    assert http.get("/v1/subscribers/ann").json()["pending"] == 1


def test_a_token_shows_its_own_subscriber_and_no_other(broker: Broker, http: TestClient) -> None:
    subscribe(http, "ann", "door", "{door = open}")
    subscribe(http, "bob", "door", "{door = open}")
    token = broker.store.commit(lambda tables: make_token(tables, "phone", "default", ["subscribe:ann"], now=0))
    with TestClient(make_app(broker)) as fresh:
        assert fresh.get("/v1/me").status_code == 401
        assert fresh.get("/me").status_code == 200
        own = {"authorization": f"Bearer {token}"}
        found = fresh.get("/v1/me", headers=own).json()
        assert (found["name"], found["names"]) == ("ann", ["ann"])
        assert fresh.get("/v1/me", params={"name": "bob"}, headers=own).status_code == 403


@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium; apt-get install chromium, or LIKEWISE_CHROMIUM")
@pytest.mark.timeout(300)
def test_a_phone_shows_what_came_and_takes_a_thumb(tmp_path: Path) -> None:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with socket.socket() as trying:
        trying.bind(("127.0.0.1", 0))
        port = int(trying.getsockname()[1])
    with Broker(None, Config(server=ServerSettings(port=port))) as broker:
        served = HttpServer(broker)
        running = threading.Thread(target=_run, args=(served,), daemon=True)
        running.start()
        try:
            _look(sync_api, broker, f"http://127.0.0.1:{port}", tmp_path)
        finally:
            served.stop()
            running.join(60)


def _run(served: HttpServer) -> None:
    import asyncio

    asyncio.run(served.run())


def _look(sync_api: object, broker: Broker, url: str, folder: Path) -> None:
    import httpx

    patience = time.monotonic() + 120
    while True:
        try:
            httpx.get(f"{url}/me", timeout=5).raise_for_status()
            break
        except httpx.HTTPError:
            assert time.monotonic() < patience
            time.sleep(0.05)
    with httpx.Client(base_url=url, timeout=60) as client:
        client.put("/v1/subscribers/ann").raise_for_status()
        text = "{door = open} per room for 5 min once until false"
        path = "/v1/subscribers/ann/subscriptions"
        plain = {"Content-Type": "text/plain"}
        client.put(f"{path}/left-open", content=text, headers=plain).raise_for_status()
        client.put(f"{path}/any", content='{note~ = "<b>hello</b>"~}', headers=plain).raise_for_status()
        event = {"door": "open", "room": "Kitchen", "note": "<b>hello</b>"}
        client.post("/v1/events", json=event).raise_for_status()
    broker.wait_until_matched()
    arguments = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    with sync_api.sync_playwright() as playwright:  # type: ignore[attr-defined]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments, headless=True)
        page = browser.new_page(viewport={"width": 420, "height": 900})
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{url}/me")
        page.wait_for_selector("#news .cause", timeout=SLOW)
        assert "door is open; once it held for 5 min, until that ends, for each room" in page.inner_text(
            "#subscriptions"
        )
        assert "has held for" in page.inner_text("#subscriptions")
        assert page.locator("#news b").count() == 0  # what an event says is text
        assert page.evaluate("document.documentElement.scrollWidth") <= 420
        page.get_by_role("button", name="not meant").first.click()
        page.wait_for_selector('#news button[aria-pressed="true"]', timeout=SLOW)
        page.screenshot(path=str(folder / "me-420.png"), full_page=True)
        if shots := os.environ.get("LIKEWISE_SHOTS"):
            shutil.copy(folder / "me-420.png", Path(shots) / "me-420.png")
        assert errors == []
        browser.close()
