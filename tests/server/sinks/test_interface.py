"""Targets over HTTP: set, list, change, remove, retry; what a token may, and that secrets go in and never out."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
import structlog

from likewise.broker.broker import Broker
from likewise.broker.config import Config, MatchingSettings, ServerSettings, TargetNetworks
from likewise.broker.log.tables import StoreTables
from likewise.broker.log.tokens import make_token
from tests.server.conftest import serving
from tests.server.sinks.receiver import Receiver, receiving

CONFIG = Config(
    server=ServerSettings(port=0), matching=MatchingSettings(profile="small"), targets=TargetNetworks(("127.0.0.0/8",))
)
PATH = "/v1/subscribers/ann/subscriptions/bad%20air/targets"
LETTERS = "/v1/dead-letters"


def until(holds: Callable[[], Any], seconds: float = 120) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < deadline, "it never came to be"
        time.sleep(0.02)
    return found


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as running:
        yield running


@contextlib.contextmanager
def ready(data: Path | None, config: Config = CONFIG, broker: Broker | None = None) -> Iterator[httpx.Client]:
    """A broker with a subscriber and a subscription."""
    with serving(data, config, broker) as address, httpx.Client(base_url=address, timeout=120) as http:
        assert http.put("/v1/subscribers/ann").is_success
        body = msgspec.json.encode({"v": 1, "text": "{no2 > 40}", "id": "bad air"})
        http.put(
            "/v1/subscribers/ann/subscriptions/bad%20air", content=body, headers={"content-type": "application/json"}
        )
        yield http


@pytest.fixture
def http() -> Iterator[httpx.Client]:
    with ready(None) as client:
        yield client


def publish(http: httpx.Client, *ids: str, no2: int = 50) -> None:
    for id in ids:
        event = {"v": 1, "id": id, "payload": {"no2": no2}}
        assert http.post("/v1/events", json=event).is_success


def ids(receiver: Receiver) -> list[str]:
    return [msgspec.json.decode(each.body)["event"]["id"] for each in receiver.accepted]


def test_a_target_gets_each_match_and_says_how_it_fares(http: httpx.Client, receiver: Receiver) -> None:
    """Set, listed, read; the secret stands in the answer that made it, and in no other."""
    made = http.put(f"{PATH}/hook", json={"kind": "webhook", "url": receiver.url, "because": True})
    assert made.status_code == 200, made.text
    assert made.json()["secret"].startswith("whsec_")
    publish(http, "e1", "e2")
    publish(http, "low", no2=3)
    until(lambda: ids(receiver) == ["e1", "e2"])
    said = msgspec.json.decode(receiver.accepted[0].body)
    assert said["subscriptions"] == [{"id": "bad air", "score": 1.0}]
    [reason] = said["because"]
    assert reason["parts"] == [{"part": "no2 > 40", "score": 1.0, "attribute": "no2", "value": "50"}]
    [shown] = until(lambda: [each for each in http.get("/v1/targets").json() if each["state"].get("sent") == 2])
    assert (shown["subscriber"], shown["subscription"], shown["id"], shown["kind"]) == (
        "ann",
        "bad air",
        "hook",
        "webhook",
    )
    assert shown["state"]["last_success"] > 0
    assert shown == http.get(f"{PATH}/hook").json() == http.get(PATH).json()[0]
    assert "secret" not in shown
    assert http.delete(f"{PATH}/hook").status_code == 204
    assert http.get("/v1/targets").json() == []
    assert http.get(f"{PATH}/hook").status_code == 404


def test_a_failing_receiver_gets_every_match_and_once_by_its_ids(http: httpx.Client, receiver: Receiver) -> None:
    """5xx, 429, a stall, broken connections, lost answers: every match at least once, in order."""
    receiver.answers.extend([500, 200, "lose", 200, (429, {"retry-after": "0"}), 200, "reset", 200, "stall", 200, 503])
    http.put(f"{PATH}/hook", json={"kind": "webhook", "url": receiver.url, "timeout": 1})
    wanted = [f"e{n}" for n in range(6)]
    publish(http, *wanted)
    until(lambda: len(dict.fromkeys(ids(receiver))) == 6)
    assert list(dict.fromkeys(ids(receiver))) == wanted
    names = [(each.headers["webhook-id"], msgspec.json.decode(each.body)["event"]["id"]) for each in receiver.received]
    assert len(set(names)) == 6
    state = until(lambda: (s := http.get(f"{PATH}/hook").json()["state"]).get("sent") == 6 and s)
    assert state.get("waiting", 0) == 0
    assert state["failed"] == 6


def test_dead_letters_are_shown_and_retried(http: httpx.Client, receiver: Receiver) -> None:
    """All of a target, or one by its number; an event for nobody else comes of it."""
    receiver.answers.extend([404, 410, 400])
    http.put(f"{PATH}/hook", json={"kind": "webhook", "url": receiver.url})
    publish(http, "e1", "e2", "e3", "e4")
    until(lambda: ids(receiver) == ["e4"])
    letters = http.get(LETTERS).json()
    assert [(each["reason"], each["event"], each["subscriber"]) for each in letters] == [
        ("undelivered", f"e{n}", "ann") for n in (1, 2, 3)
    ]
    assert "answered 404" in letters[0]["detail"]
    assert http.get(f"{PATH}/hook").json()["state"]["dead"] == 3
    assert http.post(f"{LETTERS}/{letters[1]['number']}/retry").json() == {"trying": True}
    until(lambda: ids(receiver) == ["e4", "e2"])
    until(lambda: len(http.get(LETTERS).json()) == 2)
    assert http.post(f"{PATH}/hook/retry").json() == {"letters": 2}
    until(lambda: ids(receiver) == ["e4", "e2", "e1", "e3"])
    until(lambda: http.get(LETTERS).json() == [])
    waiting = http.get("/v1/subscribers/ann/deliveries?sequence=0").json()["deliveries"]
    assert len(waiting) == 4  # the subscriber's own, each once


def test_settings_change_and_what_is_left_out_stays(http: httpx.Client, receiver: Receiver) -> None:
    """The secret and headers, too; what is wrong changes nothing."""
    first = {"kind": "webhook", "url": receiver.url, "headers": {"X-Key": "abc"}}
    secret = http.put(f"{PATH}/hook", json=first).json()["secret"]
    assert "secret" not in http.put(f"{PATH}/hook", json={"kind": "webhook", "url": receiver.url}).json()
    changed = http.patch(f"{PATH}/hook", json={"form": "template", "template": {"n": "{{no2}}"}})
    assert changed.json()["form"] == "template", changed.text
    for wrong in ({"template": "{{@nobody}}"}, {"url": "ftp://x"}, {"colour": 1}, {"timeout": 0}, {"form": "json"}):
        assert http.patch(f"{PATH}/hook", json=wrong).status_code == 400
    publish(http, "e1")
    [got] = until(lambda: receiver.accepted)
    assert (got.body, got.headers["x-key"]) == (b'{"n":50}', "abc")
    from likewise.server.sinks.signing import signed_headers

    signed = signed_headers(secret, got.headers["webhook-id"], int(got.headers["webhook-timestamp"]), got.body)
    assert got.headers["webhook-signature"] == signed["webhook-signature"]
    assert http.patch(f"{PATH}/other", json={"because": True}).status_code == 404


def deep(levels: int) -> object:
    found: object = 1
    for _ in range(levels):
        found = [found]
    return found


WRONG: list[tuple[object, str]] = [
    ({"kind": "webhook"}, "url"),
    ({"kind": "fax", "url": "https://x"}, "kind"),
    ({"kind": "webhook", "url": "https://ann:hush@example.org/"}, "Authorization"),
    ({"kind": "webhook", "url": "http://10.0.0.1/"}, "no public address"),
    ({"kind": "webhook", "url": "http://[::1]/"}, "no public address"),
    ({"kind": "webhook", "url": "http://169.254.169.254/latest"}, "no public address"),
    ({"kind": "webhook", "url": "https://example.org/a b"}, "https://example.org/path"),
    ({"kind": "webhook", "url": "https://example.org", "headers": {"Host": "x"}}, "header"),
    ({"kind": "webhook", "url": "https://example.org", "headers": {"X": "a\r\nb"}}, "plain text"),
    ({"kind": "webhook", "url": "https://example.org", "headers": {"X": " hush"}}, "plain text"),
    ({"kind": "webhook", "url": "https://example.org", "secret": "short"}, "16 bytes"),
    ({"kind": "webhook", "url": "https://example.org", "form": "template"}, "template"),
    ({"kind": "webhook", "url": "https://example.org", "template": "x"}, "form"),
    ({"kind": "webhook", "url": "https://example.org", "patience": 1e9}, "patience"),
    ({"kind": "mqtt", "url": "mqtt://127.0.0.1", "topic": "a/+/b"}, "topic"),
    ({"kind": "mqtt", "url": "mqtt://127.0.0.1/x", "topic": "a"}, "topic"),
    ({"kind": "mqtt", "url": "http://127.0.0.1", "topic": "a"}, "MQTT"),
    ({"kind": "webhook", "url": "https://example.org", "headers": {f"x{n}": "" for n in range(40)}}, "headers"),
    ({"kind": "webhook", "url": "https://example.org", "form": "template", "template": deep(200)}, "deep"),
    ({"kind": "webhook", "url": "https://example.org", "secret": "x" * 2_000}, "at most"),
    ([1], "target"),
]


@pytest.fixture(scope="module")
def empty() -> Iterator[httpx.Client]:
    with ready(None) as client:
        yield client


@pytest.mark.parametrize(("body", "words"), WRONG)
def test_a_bad_target_is_refused_with_words_and_changes_nothing(empty: httpx.Client, body: object, words: str) -> None:
    """And the words hold no secret."""
    http = empty
    answer = http.put(f"{PATH}/hook", json=body)
    assert answer.status_code == 400, answer.text
    assert words in answer.json()["detail"]
    assert "hush" not in answer.text
    assert http.get("/v1/targets").json() == []


def test_an_unknown_subscriber_has_no_targets(empty: httpx.Client) -> None:
    """It is registered first."""
    http = empty
    path = "/v1/subscribers/nobody/subscriptions/x/targets"
    assert http.put(f"{path}/hook", json={"kind": "webhook", "url": "https://example.org"}).status_code == 404
    assert http.get(path).status_code == 404


def test_secrets_are_shown_nowhere(receiver: Receiver, tmp_path: Path) -> None:
    """Not in an answer, a problem, the metrics, the log, nor in what an object prints; paths of addresses are such."""
    hidden = ["hush-secret-of-16", "hush-header", "hush-path", "hush-query", "hush-password"]
    url = f"{receiver.url}/hush-path?k=hush-query"
    wanted = {"kind": "webhook", "url": url, "secret": "hush-secret-of-16", "headers": {"Authorization": "hush-header"}}
    mqtt = {"kind": "mqtt", "url": "mqtt://ann@127.0.0.1:9", "topic": "a", "password": "hush-password", "timeout": 1}
    receiver.answers.extend([500, 404])
    with structlog.testing.capture_logs() as logs, ready(tmp_path) as http:
        answers = [http.put(f"{PATH}/hook", json=wanted), http.put(f"{PATH}/mq", json=mqtt)]
        publish(http, "e1", "e2")
        until(lambda: ids(receiver) == ["e2"])
        until(lambda: http.get(f"{PATH}/mq").json()["state"].get("last_error"))
        paths = [
            "/v1/targets",
            PATH,
            f"{PATH}/hook",
            LETTERS,
            "/metrics",
            "/v1/subscriptions",
            "/v1/stats",
            "/openapi.json",
        ]
        answers += [http.get(path) for path in paths]
        answers.append(http.put(f"{PATH}/hook", json={**wanted, "timeout": 0}))
    said = " ".join(answer.text for answer in answers) + repr(logs)
    assert receiver.received
    with Broker(tmp_path, CONFIG) as broker:
        for feed in broker.tenant("default").sinks:
            said += repr(feed.setting) + repr(feed.row()) + repr(vars(feed))
    assert "example" in said
    assert [each for each in hidden if each in said] == []


def made_token(tenant: str, scopes: list[str], tables: StoreTables) -> str:
    return make_token(tables, scopes[0], tenant, scopes, 1)


def test_a_bound_token_sees_and_sets_its_own_alone(receiver: Receiver) -> None:
    """And no tenant sees another's."""
    broker = Broker(None, CONFIG)
    tokens = {
        name: broker.store.commit(partial(made_token, tenant, scopes))
        for name, tenant, scopes in (
            ("admin", "default", ["admin"]),
            ("ann", "default", ["subscribe:ann"]),
            ("bob", "default", ["subscribe:bob"]),
            ("publisher", "default", ["publish"]),
            ("other", "other", ["admin"]),
        )
    }

    def of(name: str) -> dict[str, str]:
        return {"authorization": f"Bearer {tokens[name]}"}

    with serving(None, CONFIG, broker) as address, httpx.Client(base_url=address, timeout=120) as http:
        body = {"kind": "webhook", "url": receiver.url}
        for name in ("ann", "bob"):
            assert http.put(f"/v1/subscribers/{name}", headers=of(name)).is_success
            path = f"/v1/subscribers/{name}/subscriptions/warm/targets/hook"
            assert http.put(path, json=body, headers=of(name)).is_success
        own = "/v1/subscribers/ann/subscriptions/warm/targets"
        for name, status in (("bob", 403), ("publisher", 403), ("other", 404)):
            assert http.get(own, headers=of(name)).status_code == status
            assert http.put(f"{own}/hook", json=body, headers=of(name)).status_code == status
            assert http.delete(f"{own}/hook", headers=of(name)).status_code == status
            assert http.post(f"{own}/hook/retry", headers=of(name)).status_code == status
        assert [each["subscriber"] for each in http.get("/v1/targets", headers=of("ann")).json()] == ["ann"]
        assert [each["subscriber"] for each in http.get("/v1/targets", headers=of("admin")).json()] == ["ann", "bob"]
        assert http.get("/v1/targets", headers=of("other")).json() == []
        assert http.get(own).status_code == 401


def test_metrics_count_by_tenant(http: httpx.Client, receiver: Receiver) -> None:
    """What was sent, what failed, what waits."""
    receiver.answers.append(500)
    http.put(f"{PATH}/hook", json={"kind": "webhook", "url": receiver.url})
    publish(http, "e1")
    until(lambda: ids(receiver) == ["e1"])
    page = until(
        lambda: (p := http.get("/metrics").text) and 'likewise_targets_sent_total{tenant="default"} 1.0' in p and p
    )
    assert 'likewise_targets_failed_total{tenant="default"} 1.0' in page
    assert 'likewise_targets{tenant="default"} 1.0' in page
    assert 'likewise_targets_waiting{tenant="default"} 0.0' in page


def test_targets_go_on_after_a_restart(receiver: Receiver, tmp_path: Path) -> None:
    """What was published while the receiver was down comes when both are back."""
    receiver.usual = 503
    with ready(tmp_path) as http:
        http.put(f"{PATH}/hook", json={"kind": "webhook", "url": receiver.url})
        publish(http, "e1", "e2")
        until(lambda: receiver.received)
    receiver.usual = 200
    with ready(tmp_path):
        until(lambda: ids(receiver) == ["e1", "e2"])
