"""A broker without tokens: which names, pages and bodies it takes, and how tokens come into force and stay so."""

from __future__ import annotations

import functools
import http.server
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from likewise.broker.broker import Broker
from likewise.broker.config import Config, ServerSettings
from likewise.broker.log.tokens import make_token
from tests.dashboard.conftest import ARGUMENTS, CHROMIUM, NEEDS_CHROMIUM
from tests.server.conftest import serving
from tests.server.sinks.test_interface import until

EVIL = "http://attacker.example"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving(
        config=Config(server=ServerSettings(port=0, hosts=("city.example",), origins=("https://map.example",)))
    ) as at:
        yield at


def posted(address: str, **headers: str) -> httpx.Response:
    return httpx.post(f"{address}/v1/events", json={"no2": 1}, headers=headers, timeout=60)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"host": "localhost:1234"}, 200),
        ({"host": "[::1]:8787"}, 200),
        ({"host": "city.example"}, 200),
        ({"host": "attacker.example"}, 403),
        ({"host": "127.0.0.1.attacker.example"}, 403),
        ({"host": "10.0.0.7:8787"}, 403),
        ({"host": ""}, 403),
        ({"origin": EVIL}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1:1"}, 403),
        ({"origin": "https://map.example"}, 200),
        ({"host": "[::1].attacker.example"}, 403),
        ({"host": "localhost:evil"}, 403),
        ({"host": "city.example", "origin": "https://city.example"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}, 403),
        ({"sec-fetch-site": "cross-site", "origin": "https://map.example"}, 200),
        ({"sec-fetch-site": "same-origin"}, 200),
        ({"sec-fetch-site": "none"}, 200),
        ({"host": "city.example", "origin": "http://city.example"}, 200),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "multipart/form-data; boundary=x"}, 415),
        ({"content-type": "application/x-www-form-urlencoded"}, 415),
    ],
)
def test_only_our_names_our_pages_and_json(address: str, headers: dict[str, str], status: int) -> None:
    """Whatever a browser could be led to send from another site is refused, and nothing is published."""
    before = len(httpx.get(f"{address}/v1/activity?limit=1000").json()["events"])
    answer = posted(address, **headers)
    assert answer.status_code == status, answer.text
    after = len(httpx.get(f"{address}/v1/activity?limit=1000").json()["events"])
    assert after - before == (status == 200)


def test_a_page_of_ours_may_speak_to_us(address: str) -> None:
    """Same origin: what the interface's own documentation sends."""
    assert posted(address, origin=address).status_code == 200


def test_a_request_with_two_hosts_is_refused(address: str) -> None:
    """One of them may be what somebody else has looked at."""
    with socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2])), timeout=60) as raw:
        raw.sendall(b"GET /v1/activity HTTP/1.1\r\nHost: localhost\r\nHost: attacker.example\r\n\r\n")
        assert raw.recv(100).startswith(b"HTTP/1.1 400 ")


def test_a_link_from_another_page_leads_to_a_document_and_to_nothing_else(address: str) -> None:
    """A person may come from anywhere to a page of ours; what is no page is not opened so."""
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert httpx.get(f"{address}/docs", headers=link).status_code == 200
    assert httpx.get(f"{address}/docs", headers={**link, "sec-fetch-dest": "iframe"}).status_code == 403
    for path in ("/v1/activity", "/v1/subscribers/ann/events?sequence=1"):
        assert httpx.get(f"{address}{path}", headers=link).json()["code"] == "foreign_site"


IMAGE = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}


def waiting_for_bob(address: str) -> list[int]:
    """The numbers of deliveries that wait for a subscriber, two more than before."""
    httpx.put(f"{address}/v1/subscribers/bob", timeout=120).raise_for_status()
    subscription = {"v": 1, "text": "{bobs exists}"}
    httpx.put(f"{address}/v1/subscribers/bob/subscriptions/s", json=subscription, timeout=120).raise_for_status()
    before = len(pending(address))
    httpx.post(f"{address}/v1/events", json=[{"bobs": n} for n in range(2)], timeout=120).raise_for_status()
    until(lambda: len(pending(address)) == before + 2)
    return pending(address)


def pending(address: str) -> list[int]:
    answer = httpx.get(f"{address}/v1/subscribers/bob/deliveries?sequence=0", timeout=120).json()
    return [each["sequence"] for each in answer["deliveries"]]


@pytest.mark.parametrize("headers", [IMAGE, {}], ids=["told by the browser", "not told"])
def test_an_image_of_another_page_settles_nobodys_queue(address: str, headers: dict[str, str]) -> None:
    """What stands in an address acknowledges nothing, neither a number that was given nor one of the future."""
    numbers = waiting_for_bob(address)
    for number in (numbers[-1], 9_999_999):
        image = f"{address}/v1/subscribers/bob/events?sequence={number}"
        with httpx.stream("GET", image, headers=headers, timeout=120) as answer:
            assert answer.status_code == (403 if headers else 200)
            assert next(answer.iter_bytes())
        assert pending(address) == numbers


def test_no_cursor_of_a_stream_acknowledges_what_was_never_given(address: str) -> None:
    """A number of the future counts as none, and the stream gives what waits: also after an older copy was restored."""
    numbers = waiting_for_bob(address)
    with httpx.stream(
        "GET", f"{address}/v1/subscribers/bob/events", headers={"last-event-id": "9999999"}, timeout=120
    ) as answer:
        assert next(line for line in answer.iter_lines() if line.startswith("id:")) == f"id: {numbers[0]}"
    with connect(address.replace("http", "ws") + "/v1/subscribers/bob/stream?sequence=9999999") as opened:
        assert json.loads(opened.recv(timeout=60))["sequence"] == numbers[0]
    assert pending(address) == numbers
    with connect(address.replace("http", "ws") + f"/v1/subscribers/bob/stream?sequence={numbers[0]}") as opened:
        assert json.loads(opened.recv(timeout=60))["sequence"] == numbers[1]
    assert pending(address) == numbers[1:]


def test_no_stream_is_opened_for_another_page(address: str) -> None:
    """A browser sends `Origin` with a WebSocket and lets its page read what comes: so it is refused at once."""
    httpx.put(f"{address}/v1/subscribers/ann").raise_for_status()
    stream = address.replace("http", "ws") + "/v1/subscribers/ann/stream"
    with pytest.raises(InvalidStatus) as refused, connect(stream, origin=Origin(EVIL)):
        pass
    assert refused.value.response.status_code == 403
    with connect(stream) as opened:
        assert opened.ping() is not None


def test_the_first_token_is_not_made_over_http(address: str) -> None:
    """One request of a stranger would shut everybody out."""
    refused = httpx.post(f"{address}/v1/tokens", json={"name": "mine", "scopes": ["admin"]})
    assert refused.status_code == 409
    assert "likewise admin token" in refused.json()["detail"]
    assert posted(address).status_code == 200


def test_deleting_the_last_token_shuts_the_door(tmp_path: Path) -> None:
    """It never opens by itself again, also after a restart; a new token opens it for its bearer."""
    config = Config(server=ServerSettings(port=0))
    with Broker(tmp_path, config) as broker:
        token = broker.store.commit(lambda tables: make_token(tables, "only", "default", ["admin"], 0))
    with serving(tmp_path, config) as address:
        own = {"authorization": f"Bearer {token}"}
        assert posted(address, **own).status_code == 200
        assert posted(address, **own, origin=EVIL).status_code == 200  # the token decides
        httpx.delete(f"{address}/v1/tokens/only", headers=own).raise_for_status()
        assert posted(address, **own).status_code == posted(address).status_code == 401
    with serving(tmp_path, config) as address:
        assert posted(address).status_code == 401
        assert "command line" in posted(address).json()["detail"]
    with Broker(tmp_path, config) as broker:
        other = broker.store.commit(lambda tables: make_token(tables, "next", "default", ["admin"], 0))
    with serving(tmp_path, config) as address:
        named = httpx.get(f"{address}/v1/tokens", headers={"authorization": f"Bearer {other}"}).json()
        assert [each["name"] for each in named] == ["next"]


def test_token_names_belong_to_their_tenant(tmp_path: Path) -> None:
    """Two tenants may call a token the same; one may not twice."""
    with Broker(tmp_path) as broker:
        for tenant in ("north", "south"):
            name = functools.partial(make_token, name="roof", tenant=tenant, scopes=["publish"], now=0)
            assert broker.store.commit(name)
            with pytest.raises(Exception, match="already"):
                broker.store.commit(name)


PAGE = """<script>
async function tries(at) {
  const said = [];
  for (const kind of ['application/json', 'text/plain', undefined]) {
    try {
      const asked = {method: 'POST', mode: kind === 'application/json' ? 'cors' : 'no-cors', body: '{"evil": 1}'};
      if (kind) asked.headers = {'Content-Type': kind};
      const answer = await fetch(at + '/v1/events', asked);
      said.push(answer.type + ' ' + answer.status);
    } catch (error) { said.push('refused'); }
  }
  said.push(await new Promise(done => {
    const socket = new WebSocket(at.replace('http', 'ws') + '/v1/subscribers/ann/stream');
    socket.onopen = () => done('open'); socket.onerror = () => done('closed');
  }));
  for (const asked of ['events?sequence=1', 'events?sequence=9999999']) {
    said.push(await new Promise(done => {
      const image = new Image();
      image.onload = () => done('loaded'); image.onerror = () => done('not loaded');
      image.src = at + '/v1/subscribers/bob/' + asked;
    }));
  }
  return said;
}
</script>"""


@contextmanager
def foreign_page(folder: Path) -> Iterator[int]:
    """Another web server on this machine, with a page that tries what an attacker's would."""
    (folder / "index.html").write_text(PAGE)
    serve = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_address[1]
        server.shutdown()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass


class TestInABrowser:
    """Debian's chromium on a page of another origin, and on one whose name was bound to the broker."""

    pytestmark = NEEDS_CHROMIUM

    def test_another_page_can_neither_publish_nor_listen(self, address: str, tmp_path: Path) -> None:
        """Not by the broker's address, and not by a name of the attacker's that leads to it (DNS rebinding)."""
        sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
        httpx.put(f"{address}/v1/subscribers/ann").raise_for_status()
        numbers = waiting_for_bob(address)
        port = address.rpartition(":")[2]
        rules = "--host-resolver-rules=MAP attacker.example 127.0.0.1"
        with foreign_page(tmp_path) as other, sync_api.sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*ARGUMENTS, rules], headless=True)
            page = browser.new_page()
            page.goto(f"{EVIL}:{other}/index.html")
            for target in (address, f"{EVIL}:{port}"):
                said = page.evaluate(f"tries('{target}')")
                assert said[0] == "refused"
                assert said[3] == "closed"
            assert pending(address) == numbers
            rebound = page.goto(f"{EVIL}:{port}/docs")
            assert rebound is not None
            assert rebound.status == 403
            browser.close()
        events = httpx.get(f"{address}/v1/activity?limit=1000").json()["events"]
        assert not [e for e in events if e["event"]["tuples"][0]["attribute"] == "evil"]
