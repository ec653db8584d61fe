"""`likewise.Broker`: a broker inside a program, and mounted in an ASGI application."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from starlette.applications import Starlette
from starlette.routing import Mount

import likewise as lw
from likewise.client.messages import ClientDelivery
from likewise.errors import InputError, InvalidEvent, ParseError, Unavailable, UnknownId


def test_a_callback_gets_each_delivery_once_and_converted_by_meaning() -> None:
    """In the order of publishing."""
    received: list[ClientDelivery] = []
    with lw.Broker() as broker:
        broker.subscribe("{temperature~ > 25 degC}", received.append)
        receipts = broker.publish([{"air_temp_f": 81.2}, {"air_temp_f": 50}, {"TempC_SHT": 27.1}])
        broker.wait()
    assert len(receipts) == 3
    assert [each.event.tuples[0].attribute for each in received] == ["air_temp_f", "TempC_SHT"]


def test_what_was_published_is_there_after_a_restart(tmp_path: Path) -> None:
    """A subscriber that comes back under its name gets what it missed, and nothing twice."""
    first: list[ClientDelivery] = []
    with lw.Broker(tmp_path / "store") as broker:
        broker.subscribe("{x > 1}", first.append, name="ann")
        broker.publish({"x": 2})
        broker.wait()
    with lw.Broker(tmp_path / "store") as broker:
        broker.publish({"x": 3})  # nobody listens yet
        second: list[ClientDelivery] = []
        broker.subscribe("{x > 1}", second.append, name="ann")
        broker.wait()
    assert [each.event.tuples[0].value for each in first] == [2]
    assert [each.event.tuples[0].value for each in second] == [3]


def test_a_callback_that_fails_is_called_again_with_the_same_delivery(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was not acknowledged."""
    monkeypatch.setattr("likewise.server.embedded.RETRY_S", 0.01)
    calls: list[int] = []

    def fail_once(delivery: ClientDelivery) -> None:
        calls.append(delivery.sequence)
        if len(calls) == 1:
            raise RuntimeError("not now")

    with lw.Broker() as broker:
        broker.subscribe("{x > 1}", fail_once)
        broker.publish([{"x": 2}, {"x": 3}])
        broker.wait()
    assert calls == [1, 1, 2]


def test_a_callback_may_end_its_own_subscription() -> None:
    """It gets nothing after that."""
    received: list[int] = []
    ended = threading.Event()
    with lw.Broker() as broker:

        def once(delivery: ClientDelivery) -> None:
            received.append(delivery.sequence)
            broker.unsubscribe("once")
            ended.set()

        broker.subscribe("{x > 1}", once, name="once")
        broker.publish({"x": 2})
        assert ended.wait(30)
        broker.publish({"x": 3})
        broker.wait()
    assert received == [1]


def test_another_text_under_the_same_name_replaces_the_subscription(tmp_path: Path) -> None:
    """The old one ends."""
    with lw.Broker(tmp_path / "store") as broker:
        broker.subscribe("{x > 1}", print, name="ann")
    received: list[ClientDelivery] = []
    with lw.Broker(tmp_path / "store") as broker:
        broker.subscribe("{y > 1}", received.append, name="ann")
        broker.publish([{"x": 2}, {"y": 2}])
        broker.wait()
    assert [each.event.tuples[0].attribute for each in received] == ["y"]


def test_bad_input_is_refused_and_changes_nothing() -> None:
    """Events, texts, names."""
    with lw.Broker() as broker:
        with pytest.raises(InvalidEvent):
            broker.publish([{"x": 2}, {}])
        with pytest.raises(ParseError):
            broker.subscribe("{x >", print)
        broker.subscribe("{x > 1}", print, name="ann")
        with pytest.raises(InputError, match="has a callback"):
            broker.subscribe("{x > 2}", print, name="ann")
        with pytest.raises(UnknownId):
            broker.unsubscribe("bob")
        assert broker.explain({"x": 2}, "{x > 1}").verdict == "match"


def mounted_fastapi(broker: lw.Broker) -> Any:
    """A FastAPI application with the broker below a path."""
    app = FastAPI()
    app.mount("/lw", broker.app)
    return app


def mounted_starlette(broker: lw.Broker) -> Any:
    """The same with Starlette alone."""
    return Starlette(routes=[Mount("/lw", broker.app)])


@pytest.mark.parametrize("mounted", [mounted_fastapi, mounted_starlette])
def test_the_interface_is_served_below_a_path_of_another_application(mounted: Callable[[lw.Broker], Any]) -> None:
    """Publishing, subscribing, deliveries, a WebSocket, problems, the description."""
    with lw.Broker() as broker, TestClient(mounted(broker)) as client:
        assert client.get("/lw/healthz").status_code == 200
        assert client.put("/lw/v1/subscribers/ann").status_code in (200, 201)
        made = client.post("/lw/v1/subscribers/ann/subscriptions", json={"v": 1, "text": "{x > 1}"})
        assert made.status_code in (200, 201), made.text
        assert client.post("/lw/v1/events", json={"x": 2}).status_code in (200, 201, 202)
        broker.wait()
        pending = client.get("/lw/v1/subscribers/ann/deliveries")
        assert pending.status_code == 200, pending.text
        assert '"x":2' in pending.text.replace(" ", "")
        assert client.get("/lw/v1/nothing").status_code == 404
        assert client.get("/lw/openapi.json").json()["info"]["title"] == "Likewise"


def test_the_application_serves_alone_too() -> None:
    """With the lifespan of a server."""
    with lw.Broker() as broker, TestClient(broker.app) as client:
        assert client.get("/healthz").status_code == 200


def test_a_broker_is_closed_once_and_closing_ends_the_mounted_application() -> None:
    """In whatever order."""
    broker = lw.Broker()
    with TestClient(mounted_fastapi(broker)) as client:
        assert client.get("/lw/healthz").status_code == 200
        broker.close()
        broker.close()


def test_callbacks_may_subscribe_while_another_thread_waits() -> None:
    """The wait is for the callbacks that were there when it began."""
    received: list[ClientDelivery] = []
    with lw.Broker() as broker:
        for number in range(5):

            def subscribes(delivery: ClientDelivery, number: int = number) -> None:
                broker.subscribe("{y > 1}", received.append, name=f"y{number}")

            broker.subscribe("{x > 1}", subscribes, name=f"x{number}")
        broker.publish({"x": 2})
        broker.wait()
        broker.publish({"y": 2})
        broker.wait()
    assert len(received) == 5


def test_a_callback_that_exits_is_called_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its thread goes on: without it nobody would read the queue."""
    monkeypatch.setattr("likewise.server.embedded.RETRY_S", 0.01)
    calls: list[int] = []

    def exits_once(delivery: ClientDelivery) -> None:
        calls.append(delivery.sequence)
        if len(calls) == 1:
            raise SystemExit

    with lw.Broker() as broker:
        broker.subscribe("{x > 1}", exits_once)
        broker.publish({"x": 2})
        broker.wait()
    assert calls == [1, 1]


def test_what_could_never_be_called_is_no_callback() -> None:
    """Above all a coroutine function: each delivery would be acknowledged, and nothing would run."""

    async def later(delivery: ClientDelivery) -> None:
        raise AssertionError

    with lw.Broker() as broker:
        for callback in (later, 5):
            with pytest.raises(InputError, match="a callback is a plain function"):
                broker.subscribe("{x > 1}", callback)  # type: ignore[arg-type]
        for name in ("", "a\n", 5):
            with pytest.raises(InputError, match="name of a subscriber"):
                broker.subscribe("{x > 1}", print, name=name)  # type: ignore[arg-type]
        for events in (None, 5):
            with pytest.raises(InputError, match="events are"):
                broker.publish(events)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="unknown field"):
        lw.Broker(config={"nothing": {}})


def test_a_delivery_whose_coroutine_was_not_awaited_is_not_acknowledged(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lambda may hide a coroutine function."""
    monkeypatch.setattr("likewise.server.embedded.RETRY_S", 0.01)

    async def later() -> None:
        raise AssertionError

    with lw.Broker() as broker:
        broker.subscribe("{x > 1}", lambda delivery: later())
        broker.publish({"x": 2})
        with pytest.raises(Unavailable):
            broker.wait(0.2)


def test_a_callback_that_waits_for_itself_is_told_so() -> None:
    """It would wait until the time is over."""
    refused: list[str] = []
    with lw.Broker() as broker:

        def waits(delivery: ClientDelivery) -> None:
            try:
                broker.wait()
            except InputError as error:
                refused.append(str(error))

        broker.subscribe("{x > 1}", waits)
        broker.publish({"x": 2})
        broker.wait()
    assert len(refused) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_is_refused_and_leaves_the_store_alone(tmp_path: Path) -> None:
    """Its threads are not there: a publish would wait for ever."""
    program = (
        "import os, sys, signal, likewise as lw\n"
        "broker = lw.Broker(sys.argv[1])\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    signal.alarm(60)\n"
        "    try:\n"
        "        broker.publish({'x': 2})\n"
        "    except lw.errors.StateError:\n"
        "        broker.close()\n"
        "        os._exit(7)\n"
        "    os._exit(1)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), len(broker.publish({'x': 3})))\n"
        "broker.close()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "store")], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.split() == ["7", "1"], done.stderr


@pytest.mark.parametrize("path", ["/lw/v1/subscribers/ann/stream", "/lw/v1/events/stream", "/lw/mqtt"])
def test_a_mounted_stream_that_its_application_cancels_ends_quietly(
    path: str, caplog: pytest.LogCaptureFixture
) -> None:
    """With the application's own cancellation, and without a task that goes on."""
    with lw.Broker() as broker, TestClient(mounted_fastapi(broker)) as client:
        client.put("/lw/v1/subscribers/ann")
        assert client.portal is not None
        running = []
        for _ in range(3):
            with client.websocket_connect(path, subprotocols=["mqtt"]):
                pass  # the end of the block cancels the connection
            client.portal.call(asyncio.sleep, 0.05)
            running.append(client.portal.call(lambda: len(asyncio.all_tasks())))
        assert running[-1] <= running[0]
        gc.collect()
    assert "never retrieved" not in caplog.text


def test_what_comes_after_the_broker_was_closed_is_refused() -> None:
    """The application around it goes on; a stream ends with 1001."""
    broker = lw.Broker()
    with TestClient(mounted_fastapi(broker)) as client:
        client.put("/lw/v1/subscribers/ann")
        with client.websocket_connect("/lw/v1/subscribers/ann/stream") as socket:
            broker.close()
            assert socket.receive()["code"] == 1001
        refused = client.get("/lw/v1/subscribers/ann/deliveries")
        assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")
        with client.websocket_connect("/lw/v1/subscribers/ann/stream") as socket:
            assert socket.receive()["code"] == 1001
