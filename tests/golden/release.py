"""Make what a release leaves behind: a store, a saved matcher, a lake with its change log, an edge's session.

    python -m tests.golden.release tests/golden/release-NAME.tar.xz

Run it with the sources of the release, once, and commit the file; it is never written anew. Beside the folders it holds
`answers.json`: what the release itself said of each. `tests/golden/test_release.py` opens each with the code of today
and compares.
"""

from __future__ import annotations

import json
import shutil
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import msgspec
import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from typer.testing import CliRunner

import likewise as lw
from likewise.broker.admin import migrate, verify_store
from likewise.broker.broker import Broker
from likewise.broker.config import Config, LakeSettings, ServerSettings, StoreSettings
from likewise.cli.main import app
from likewise.formats.json.events import event_to_json
from likewise.lake.change_log import ChangeLog
from likewise.lake.parts import TABLES
from likewise.testing.clocks import ManualClock
from tests.broker.lake_writer.kept import rows
from tests.golden import edge_transcript
from tests.server.mqtt.broker.conftest import devices

START: Final = "2026-05-01T12:00:00Z"
MINUTE: Final = 60_000_000
STORE, LAKE, LOG, MATCHER, TOKEN = "store", "lake", "change-log", "matcher", "token"
HUB, EDGE, TRANSCRIPT, ANSWERS = "edge/hub", "edge/roof", "edge/frames.json", "answers.json"
# What is looked at in a store, over HTTP; `list` answers are compared without regard to order.
ROUTES: Final = (
    "/v1/subscribers",
    "/v1/subscriptions",
    "/v1/targets",
    "/v1/sources",
    "/v1/sources/door%2F1",
    "/v1/sources/door%2F1/announcement",
    "/v1/sources/door%2F1/sense",
    "/v1/tokens",
    "/v1/corrections",
    "/v1/dead-letters",
    "/v1/events?limit=100",
    "/v1/events/e2",
    "/v1/subscribers/ann/subscriptions/open/keys",
    "/v1/subscribers/ann/subscriptions/open?form=json",
    "/v1/subscribers/ann/subscriptions/hot/keys",
    "/v1/subscribers/ann/subscriptions/silent/keys",
    "/v1/subscribers/ann/subscriptions/daily/keys",
    "/v1/subscribers/ann/subscriptions/best/board",
    "/v1/subscribers/ann/deliveries?replay=true",
    "/v1/subscribers/bob/deliveries",
    "/v1/subscribers/ann/subscriptions/never/targets/hook",
)
SUBSCRIPTIONS: Final = {
    "warm": "{temperature > 25}",
    "alike": "{temp~ > 25 degC}",
    "galway": "{city = Galway, (temperature > 20 or humidity < 40)}",
    "open": "{door = open} for 5 min",
    "hot": "{temperature > 30} once until {temperature < 28}",
    "smoke": "{smoke = true} at most every 10 min",
    "silent": "{temperature exists} absent for 1 h",
    "daily": "{error exists} digest every 1 d",
    "best": "{temperature exists} top 2 within 1 h by value(temperature)",
    "never": "{never = 1}",  # has a target, which so never gets anything
    "chosen": "{temperature > 10 degC} select (temperature in degC as t, @source as device)",
}
_EVENTS: Final[tuple[tuple[str, str, dict[str, Any]], ...]] = (
    ("e1", "roof/1", {"temperature": 21, "city": "Galway"}),
    ("e2", "roof/1", {"temperature": 26.5, "unit": "degC"}),
    ("e3", "door/1", {"door": "open"}),
    ("e4", "roof/2", {"temperature": 31, "humidity": 35, "city": "Galway"}),
    ("e5", "roof/2", {"error": "sensor 3"}),
    ("e6", "kitchen", {"smoke": True}),
    ("e7", "roof/1", {"TempC_SHT": 27.1}),
    ("e8", "roof/1", {"temperature": 12}),
)


def config(folder: Path) -> Config:
    """Return the configuration of the broker that leaves the store."""
    return Config(
        server=ServerSettings(port=0),
        store=StoreSettings("forever"),
        lake=LakeSettings(str(folder / LAKE), keep="all", every="0.05 s", stream_log=str(folder / LOG)),
    )


@contextmanager
def opened(folder: Path, clock: ManualClock) -> Iterator[tuple[Broker, httpx.Client, int]]:
    """Serve the store of a folder; yield the broker, a client of it, and the port of MQTT."""
    if (folder / STORE).is_dir():
        migrate(folder / STORE)
    broker = Broker(folder / STORE, config(folder), clock=clock)
    token = folder / TOKEN
    headers = {"Authorization": f"Bearer {token.read_text()}"} if token.exists() else {}
    with devices(broker=broker) as served, httpx.Client(base_url=served.url, timeout=60, headers=headers) as client:
        yield broker, client, served.port


def fill_store(folder: Path) -> None:
    """Leave a store in which every table that a client can fill has rows."""
    clock = ManualClock(START)
    with opened(folder, clock) as (broker, client, port):

        def send(method: str, path: str, body: Any = None) -> None:
            kind = "text/plain" if isinstance(body, str) else "application/json"
            content = body if isinstance(body, str) else None if body is None else json.dumps(body)
            answer = client.request(method, path, content=content, headers={"Content-Type": kind})
            assert answer.is_success, (path, answer.text)

        for name, policy in (("ann", "drop-oldest"), ("bob", "dead-letter")):
            send("PUT", f"/v1/subscribers/{name}", {"policy": policy, "limit": 50 if name == "ann" else 1})
        for name, text in SUBSCRIPTIONS.items():
            send("PUT", f"/v1/subscribers/ann/subscriptions/{name}", text)
        send("PUT", "/v1/subscribers/bob/subscriptions/warm", SUBSCRIPTIONS["warm"])
        send("PUT", "/v1/subscribers/bob/subscriptions/ended", "{x = 1}")
        send("DELETE", "/v1/subscribers/bob/subscriptions/ended")
        target = {"kind": "webhook", "url": "https://example.org/hook", "secret": "c2VjcmV0LXNlY3JldC1zZWNyZXQ="}
        send("PUT", "/v1/subscribers/ann/subscriptions/never/targets/hook", target)
        said = {"attributes": [{"name": "door", "values": ["open", "shut"]}], "controllable": True, "lease": 86_400}
        send("PUT", "/v1/sources/door%2F1/announcement", said)
        send("PUT", "/v1/sources/door%2F1/keep")
        send("POST", "/v1/corrections", {"attribute": "TempC_SHT", "means": "temperature", "unit": "degC"})
        for id, source, payload in _EVENTS:
            clock.advance(MINUTE)
            send("POST", "/v1/events", json.loads(event_to_json(lw.event(payload, id=id, source=source))))
        broker.wait_until_matched(300)
        send("DELETE", "/v1/events/e8")
        send("POST", "/v1/subscribers/ann/acknowledgements", {"sequence": 2})
        send("POST", "/v1/feedback", {"subscriber": "ann", "subscription": "alike", "event_id": "e7", "relevant": True})
        client.post("/v1/events", content=b"{", headers={"Content-Type": "application/json"})
        _use_mqtt(port)
        broker.wait_until_matched(300)
        assert broker.lake is not None
        assert broker.stream_log is not None
        broker.lake.wait_until_written()
        broker.stream_log.bring_up_to_date()
        assert not broker.troubles()
    command = ["admin", "token", str(folder / STORE), "--name", "keeper", "--scope", "admin", "--json"]
    made = CliRunner().invoke(app, command)
    (folder / TOKEN).write_text(json.loads(made.stdout)["token"])


def _use_mqtt(port: int) -> None:
    """Leave a session with a subscription and a message in flight, and a retained message."""
    properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
    properties.SessionExpiryInterval = 10**9

    def connected(id: str) -> mqtt.Client:
        client = mqtt.Client(CallbackAPIVersion.VERSION2, client_id=id, protocol=mqtt.MQTTv5)
        client.connect("127.0.0.1", port, clean_start=False, properties=properties)
        client.loop_start()
        _until(client.is_connected)
        return client

    device = connected("device")
    taken: list[int] = []
    device.on_subscribe = lambda client, data, packet, codes, said: taken.append(packet)
    device.subscribe("plant/+/alarm", qos=1)
    _until(lambda: taken)
    device.disconnect()
    device.loop_stop()
    sender = connected("sender")
    for topic, retain in (("plant/1/alarm", True), ("plant/2/alarm", False)):
        sender.publish(topic, b'{"pressure": 7}', qos=1, retain=retain).wait_for_publish(30)
    sender.disconnect()
    sender.loop_stop()


def _until(true: Any) -> None:
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def ask_store(folder: Path) -> dict[str, Any]:
    """Open the store and return what it answers, route by route, and what is in its tables."""
    clock = ManualClock(START)
    clock.advance((len(_EVENTS) + 1) * MINUTE)
    migrate(folder / STORE)
    answers: dict[str, Any] = {"verified": verify_store(folder / STORE)}
    with opened(folder, clock) as (broker, client, _):
        broker.wait_until_matched(300)
        # The stored session of MQTT is attached beside the start.
        _until(lambda: client.get("/v1/subscribers").json()[-1]["connected"])
        for route in ROUTES:
            answers[route] = client.get(route).raise_for_status().json()
        # Time goes on: the door has been open for five minutes, and a reading comes in.
        clock.advance(10 * MINUTE)
        for id, source, payload in (("e9", "roof/2", {"temperature": 27}), ("e10", "door/1", {"door": "open"})):
            body = event_to_json(lw.event(payload, id=id, source=source))
            client.post("/v1/events", content=body, headers={"Content-Type": "application/json"}).raise_for_status()
        broker.wait_until_matched(300)
        answers["afterwards"] = client.get("/v1/subscribers/ann/deliveries?replay=true").raise_for_status().json()
        assert broker.lake is not None
        broker.lake.wait_until_written()
        answers["lake afterwards"] = sorted(row["id"] for row in rows(folder / LAKE, "events"))
        answers["keys afterwards"] = client.get("/v1/subscribers/ann/subscriptions/open/keys").raise_for_status().json()
    return answers


def ask_lake(folder: Path) -> dict[str, Any]:
    """Return every row of the lake's tables, and what the change log holds."""
    answers: dict[str, Any] = {table: rows(folder / LAKE, table) for table in TABLES}
    held = ChangeLog.opened(folder / LOG / "default").snapshot()
    answers["change log"] = {
        "version": held.version,
        "subscriptions": {str(number): each for number, each in held.subscriptions.items()},
    }
    return _plain(answers)


def _plain(answers: dict[str, Any]) -> dict[str, Any]:
    """Return answers as they stand in a file of JSON."""
    plain: dict[str, Any] = json.loads(msgspec.json.encode(answers))
    return plain


def fill_matcher(folder: Path) -> None:
    """Save a matcher that holds every kind of subscription, windows and states of alerts among them."""
    matcher = lw.Matcher(space=lw.load_space())
    for name, text in (SUBSCRIPTIONS | _MORE).items():
        matcher.add(lw.parse(text, id=name), at=0)
    for position, (id, source, payload) in enumerate(_EVENTS):
        matcher.match(lw.event(payload, id=id, source=source), at=position * MINUTE)
    matcher.save(folder / MATCHER)


_MORE: Final = {
    "text": '{name contains cat, topic matches "a/+/c"}',
    "either": "{not mode = away, n in (1, 2, 3)}",
    "parts": "{some list (a = 1, b > 2)}",
    "themed": "({transport}, {vehicle~ = car~})",
}


def ask_matcher(folder: Path) -> dict[str, Any]:
    """Open the matcher and return what it holds and what further events match, alerts and windows among them."""
    matcher = lw.Matcher.load(folder / MATCHER, space=lw.load_space())
    further: list[dict[str, Any]] = [
        {"name": "a cat", "topic": "a/b/c"},
        {"n": 2, "mode": "home"},
        {"list": [{"a": 1, "b": 3}]},
        {"temperature": 22},
        {"temperature": 40, "city": "Galway"},
        {"door": "open"},
        {"smoke": True},
        {"vehicle": "automobile"},
        {"humidity_rel": 10},
        {"error": "again"},
    ]
    answers: dict[str, Any] = {"subscriptions": sorted(each.id for each in matcher.subscriptions())}
    for position, payload in enumerate(further):
        event = lw.event(payload, id=f"f{position}", source=("roof/1", "door/1")["door" in payload])
        found = matcher.match(event, at=(20 + position) * MINUTE)
        answers[f"f{position}"] = sorted((each.subscription_id, each.cause) for each in found)
    return _plain(answers)


def main(target: Path) -> None:
    """Make everything and pack it."""
    with tempfile.TemporaryDirectory(prefix="likewise-release-") as name:
        folder = Path(name)
        fill_store(folder)
        fill_matcher(folder)
        (folder / "edge").mkdir()
        entries = edge_transcript.record(folder / HUB, folder / EDGE)
        (folder / TRANSCRIPT).write_bytes(msgspec.json.encode(entries))
        with tempfile.TemporaryDirectory(prefix="likewise-release-") as copy:  # looking changes a store
            shutil.copytree(folder, copy, dirs_exist_ok=True)
            asked = {"lake": ask_lake, "store": ask_store, "matcher": ask_matcher}
            answers = {what: ask(Path(copy)) for what, ask in asked.items()}
        (folder / ANSWERS).write_bytes(msgspec.json.format(msgspec.json.encode(answers)))
        with tarfile.open(target, "w:xz", preset=9) as archive:
            for path in sorted(folder.iterdir()):
                archive.add(path, path.name)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
