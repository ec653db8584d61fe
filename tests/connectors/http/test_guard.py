"""A broker without tokens: which names, pages and bodies it takes, and how tokens come into force and stay so."""

from __future__ import annotations

import functools
import http.server
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
from likewise.broker.config import Config, Server
from likewise.broker.store.tokens import make_token
from tests.connectors.conftest import serving
from tests.dashboard.conftest import ARGUMENTS, CHROMIUM, NEEDS_CHROMIUM

EVIL = "http://attacker.example"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving(config=Config(server=Server(port=0, hosts=("city.example",), origins=("https://map.example",)))) as at:
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
    config = Config(server=Server(port=0))
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
            rebound = page.goto(f"{EVIL}:{port}/docs")
            assert rebound is not None
            assert rebound.status == 403
            browser.close()
        events = httpx.get(f"{address}/v1/activity?limit=1000").json()["events"]
        assert not [e for e in events if e["event"]["tuples"][0]["attribute"] == "evil"]
