"""Receivers that never finish: an attempt ends at its deadline with its socket, and nobody else notices."""

from __future__ import annotations

import asyncio
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from likewise.api.sinks import EmailSettings, MqttTargetSettings, TargetSettings, WebhookSettings
from likewise.broker.log.tokens import make_token
from likewise.broker.log.writer import Store
from likewise.broker.sinks.retry_queue import SinkDelivery
from likewise.matching.matcher import system_clock
from likewise.server.executors import TenantExecutor
from likewise.server.sinks.email import EmailTarget
from likewise.server.sinks.mqtt import MqttTarget
from likewise.server.sinks.networks import parse_networks
from likewise.server.sinks.resolver import Resolver
from likewise.server.sinks.sender import make_parcel
from likewise.server.sinks.target import Parcel, PermanentFailure, Target, TransientFailure
from likewise.server.sinks.webhook import WebhookTarget
from tests.server.sinks.stalling import (
    SILENT,
    Stalling,
    Talk,
    mail_greeting,
    replies,
    silence,
    stalling,
    web_header,
)

LOOPBACK = parse_networks(["127.0.0.0/8"])
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
EVENT = b'{"v":1,"tuples":[{"attribute":"no2","value":45}],"id":"e1","source":"/a"}'
MATCH = SinkDelivery("msg_1", 7, "arrival", "bad air", 3, 0.9, 1, EVENT, b'{"v":1,"sequence":7,"event":' + EVENT + b"}")
Run = Callable[[Coroutine[Any, Any, None]], None]
CONNACK = b"\x20\x03\x00\x00\x00"


def parcel(wanted: TargetSettings, size: int = 0) -> Parcel:
    made = make_parcel(MATCH, wanted, (), "default", "ann")
    return made._replace(body=made.body + b" " * size)


def made(kind: str, host: str, port: int, **more: Any) -> tuple[TargetSettings, Target]:
    """A target of a kind, and its settings: a second for everything."""
    if kind.startswith("smtp"):
        mail = EmailSettings(f"{kind}://{host}:{port}", "a@example.org", "b@example.org", timeout=1.0)
        return mail, EmailTarget(mail, LOOPBACK, **more)
    if kind == "mqtt":
        topic = MqttTargetSettings(f"mqtt://{host}:{port}", "alerts", timeout=1.0)
        return topic, MqttTarget(topic, "0" * 32, LOOPBACK, **more)
    hook = WebhookSettings(f"{kind}://{host}:{port}/", SECRET, timeout=1.0)
    return hook, WebhookTarget(hook, LOOPBACK, **more)


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    """Run on each event loop that a broker may have: they close connections in their own ways."""
    factory = None if request.param == "asyncio" else pytest.importorskip("uvloop").new_event_loop

    def run(work: Coroutine[Any, Any, None]) -> None:
        with asyncio.Runner(loop_factory=factory) as runner:
            runner.run(work)

    return run


def mail_until(*said: bytes) -> Talk:
    return replies(b"220 here\r\n", *said)


@pytest.mark.parametrize(
    ("kind", "talk"),
    [
        pytest.param("smtp", mail_greeting, id="mail: a greeting without end"),
        pytest.param("smtp", silence, id="mail: no greeting"),
        pytest.param("smtps", silence, id="mail: no TLS"),
        pytest.param("smtp", mail_until(), id="mail: no reply to EHLO"),
        pytest.param("smtp", mail_until(b"250-here\r\n250 STARTTLS\r\n", b"220 go on\r\n"), id="mail: no STARTTLS"),
        pytest.param("smtp", mail_until(*[b"250 ok\r\n"] * 3, b"354 go on\r\n"), id="mail: no reply to the message"),
        pytest.param("http", web_header, id="webhook: a header byte by byte"),
        pytest.param("http", silence, id="webhook: no answer"),
        pytest.param("https", silence, id="webhook: no TLS"),
        pytest.param("mqtt", silence, id="MQTT: no CONNACK"),
        pytest.param("mqtt", replies(b"", CONNACK), id="MQTT: no PUBACK"),
    ],
)
def test_one_deadline_ends_the_whole_exchange_and_closes_the_socket(run: Run, kind: str, talk: Talk) -> None:
    """Wherever the receiver stalls, and however often it says a little: `timeout` is for everything."""

    async def play() -> None:
        async with stalling(talk) as outside:
            wanted, target = made(kind, "127.0.0.1", outside.port)
            with pytest.raises(TransientFailure, match="within 1 s"):
                await asyncio.wait_for(target.send(parcel(wanted)), 60)
            assert outside.opened == 1
            await outside.until(lambda: not outside.open)
            await target.close()

    run(play())


def test_the_socket_is_closed_although_the_receiver_does_not_read(run: Run) -> None:
    """What is written and not sent does not keep a connection open."""

    async def deaf(transport: asyncio.Transport, came: asyncio.Queue[bytes]) -> None:
        transport.pause_reading()
        while True:  # only who writes notices then that the other side is gone
            await asyncio.sleep(0.05)
            transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    async def play() -> None:
        async with stalling(deaf) as outside:
            wanted, target = made("http", "127.0.0.1", outside.port)
            with pytest.raises(TransientFailure, match="within 1 s"):
                await asyncio.wait_for(target.send(parcel(wanted, 32 * 2**20)), 60)
            await outside.until(lambda: not outside.open)

    run(play())


def test_a_receiver_that_continues_without_end_is_hung_up_on(run: Run) -> None:
    """Informational responses come before the answer; reading them for ever would leave no time for anybody else."""

    async def flood(transport: asyncio.Transport, came: asyncio.Queue[bytes]) -> None:
        await came.get()
        while not transport.is_closing():
            if transport.get_write_buffer_size() < 2**16:
                transport.write(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)
            await asyncio.sleep(0)

    async def play() -> None:
        async with stalling(flood) as outside:
            wanted, target = made("http", "127.0.0.1", outside.port)
            with pytest.raises(TransientFailure, match="informational responses"):
                await asyncio.wait_for(target.send(parcel(wanted)), 60)
            await outside.until(lambda: not outside.open)
            await target.close()

    run(play())


@pytest.mark.parametrize(("status", "fault"), [(200, None), (503, TransientFailure), (410, PermanentFailure)])
@pytest.mark.parametrize(
    ("part", "pause"),
    [
        pytest.param(b"y" * 65_536, 0.0, id="a flood"),
        pytest.param(b"y", 0.05, id="a trickle"),
        pytest.param(b"", 60.0, id="nothing more"),
        pytest.param(None, 0.0, id="an end too early"),
    ],
)
def test_the_status_decides_whatever_the_body_of_an_answer_is(
    run: Run, status: int, fault: type[Exception] | None, part: bytes | None, pause: float
) -> None:
    """A receiver that has said 200 has the match: it is not sent again because its body does not end."""

    async def answer(transport: asyncio.Transport, came: asyncio.Queue[bytes]) -> None:
        await came.get()
        transport.write(b"HTTP/1.1 %d OK\r\ncontent-length: 1000000000\r\n\r\n" % status)
        while part is not None and not transport.is_closing():
            if transport.get_write_buffer_size() < 2**20:
                transport.write(part)
            await asyncio.sleep(pause)
        transport.close()

    async def play() -> None:
        async with stalling(answer) as outside:
            wanted, target = made("http", "127.0.0.1", outside.port)
            with nullcontext() if fault is None else pytest.raises(fault, match=str(status)):
                await asyncio.wait_for(target.send(parcel(wanted)), 60)
            await outside.until(lambda: not outside.open)
            await target.close()

    run(play())


@pytest.mark.parametrize("first", [b"", CONNACK], ids=["instead of CONNACK", "after it"])
def test_a_broker_of_mqtt_that_sends_without_end_is_hung_up_on(run: Run, first: bytes) -> None:
    """A target is sent to, and reads acknowledgements alone: a packet of any length is not gathered in memory."""
    sent = 0

    async def flood(transport: asyncio.Transport, came: asyncio.Queue[bytes]) -> None:
        nonlocal sent
        await came.get()
        transport.write(first + b"\x30\xff\xff\x7f")  # a PUBLISH of 2 MB
        while sent < 64 * 2**20 and not transport.is_closing():
            if transport.get_write_buffer_size() < 2**20:
                transport.write(bytes(65_536))
                sent += 65_536
            await asyncio.sleep(0)

    async def play() -> None:
        async with stalling(flood) as outside:
            wanted, target = made("mqtt", "127.0.0.1", outside.port)
            with pytest.raises(TransientFailure):
                await asyncio.wait_for(target.send(parcel(wanted)), 60)
            await outside.until(lambda: not outside.open)
            assert outside.opened == 1
            assert sent < 32 * 2**20  # what the system's own buffers hold, and not what was there to be sent
            await target.close()

    run(play())


@pytest.mark.parametrize("answer", [b"", CONNACK], ids=["before CONNACK", "after it"])
def test_a_broker_of_mqtt_that_hangs_up_is_not_dialled_again_at_once(run: Run, answer: bytes) -> None:
    """An attempt is one connection; the next follows after the pause, and none while nothing is to be sent."""

    async def leave(transport: asyncio.Transport, came: asyncio.Queue[bytes]) -> None:
        await came.get()
        transport.write(answer)
        transport.close()

    async def play() -> None:
        async with stalling(leave) as outside:
            wanted, target = made("mqtt", "127.0.0.1", outside.port)
            with pytest.raises(TransientFailure):
                await asyncio.wait_for(target.send(parcel(wanted)), 60)
            await outside.until(lambda: not outside.open)
            await asyncio.sleep(0.2)  # for whoever would
            assert outside.opened == 1
            await target.close()

    run(play())


@pytest.mark.parametrize("kind", ["smtp", "http", "mqtt"])
def test_a_name_that_nobody_resolves_costs_no_thread_of_anybody_else(kind: str) -> None:
    """The deadline holds for the resolver too. Its thread cannot be ended, but no other tenant waits for it."""
    free = threading.Event()

    def lookup(host: str, port: int) -> list[str]:
        if host.endswith(SILENT):
            assert free.wait(120)
        return ["127.0.0.1"]

    async def play() -> None:
        pool = TenantExecutor("test", threads=3, per_tenant=2)
        resolver = Resolver(lookup, pool)
        for n in range(4):  # more than threads
            wanted, target = made(kind, f"n{n}{SILENT}", 9, resolve=resolver.of("noisy"))
            with pytest.raises(TransientFailure, match="within 1 s"):
                await asyncio.wait_for(target.send(parcel(wanted)), 60)
        assert pool.busy() == 2
        async with stalling(silence) as outside:
            wanted, target = made(kind, "fine.example", outside.port, resolve=resolver.of("quiet"))
            with pytest.raises(TransientFailure, match="within 1 s"):
                await asyncio.wait_for(target.send(parcel(wanted)), 60)
            assert outside.opened == 1
        assert await asyncio.get_running_loop().run_in_executor(None, lambda: "free") == "free"
        free.set()
        pool.close()

    asyncio.run(play())


def test_a_name_is_looked_up_once_at_a_time() -> None:
    """However many attempts wait for it; whoever leaves does not take the answer from the others."""
    free, asked = threading.Event(), []

    def lookup(host: str, port: int) -> list[str]:
        asked.append(host)
        assert free.wait(60)
        return ["192.0.2.1"]

    async def play() -> None:
        pool = TenantExecutor("test", threads=4, per_tenant=4)
        resolve = Resolver(lookup, pool).of("ann")
        waiting = [asyncio.ensure_future(resolve("a.example", 80)) for _ in range(5)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        free.set()
        found = await asyncio.gather(*waiting, return_exceptions=True)
        assert found[1:] == [["192.0.2.1"]] * 4
        assert asked == ["a.example"]
        assert await resolve("192.0.2.7", 80) == ["192.0.2.7"], "an address needs no resolver"
        assert asked == ["a.example"]
        pool.close()

    asyncio.run(play())


# -- a whole broker -------------------------------------------------------------------------------


@asynccontextmanager
async def broker_with_small_pools(data: Path) -> AsyncIterator[tuple[subprocess.Popen[bytes], str]]:
    process = await asyncio.to_thread(
        subprocess.Popen,
        [sys.executable, "-m", "tests.server.sinks.stalling", str(data)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    try:
        line = await asyncio.wait_for(asyncio.to_thread(process.stdout.readline), 120)
        yield process, msgspec.json.decode(line)["listening"]
    finally:
        process.kill()
        await asyncio.to_thread(process.wait)
        process.stdout.close()


async def set_stalled_targets(noisy: httpx.AsyncClient, ports: dict[str, int]) -> int:
    """Several targets of each kind, more than any pool has threads."""
    mail = {"to": "a@example.org", "sender": "b@example.org", "timeout": 60}
    wanted: list[dict[str, Any]] = []
    for n in range(3):
        wanted.append({"kind": "email", "url": f"smtp://127.0.0.1:{ports['smtp']}", **mail})
        wanted.append({"kind": "webhook", "url": f"http://127.0.0.1:{ports['http']}/", "timeout": 60})
        wanted.append({"kind": "mqtt", "url": f"mqtt://127.0.0.1:{ports['mqtt']}", "topic": "t", "timeout": 60})
        wanted.append({"kind": "email", "url": f"smtp://m{n}{SILENT}", **mail})
        wanted.append({"kind": "webhook", "url": f"http://w{n}{SILENT}/", "timeout": 60})
    (await noisy.put("/v1/subscribers/ann")).raise_for_status()
    for n, each in enumerate(wanted):
        path = f"/v1/subscribers/ann/subscriptions/s{n // 10}"
        (await noisy.put(f"{path}/targets/t{n}", json=each)).raise_for_status()
    for n in range(-(-len(wanted) // 10)):
        path = f"/v1/subscribers/ann/subscriptions/s{n}"
        (await noisy.put(path, json={"v": 1, "text": "{x > 1}"})).raise_for_status()
    (await noisy.post("/v1/events", json={"x": 5})).raise_for_status()
    return len(wanted)


async def asks_everything(quiet: httpx.AsyncClient) -> list[float]:
    """Another tenant's reads, figures, larger publishes and readiness, several times; how long each answer took."""
    large = [{"x": n, "filler": "f" * 100} for n in range(300)]
    (await quiet.put("/v1/subscribers/ben")).raise_for_status()
    (await quiet.put("/v1/subscribers/ben/subscriptions/s", json={"v": 1, "text": "{x > 1}"})).raise_for_status()
    took = []
    for _ in range(5):
        for method, path, body in (
            ("POST", "/v1/events", large),
            ("GET", "/v1/stats", None),
            ("GET", "/v1/subscribers/ben/deliveries?limit=10", None),
            ("GET", "/v1/activity?limit=10", None),
            ("GET", "/v1/events?limit=10", None),
            ("GET", "/v1/targets", None),
            ("GET", "/readyz", None),
        ):
            begun = time.monotonic()
            (await quiet.request(method, path, json=body)).raise_for_status()
            took.append(time.monotonic() - begun)
    return took


def test_stalled_targets_hold_up_nobody_and_a_stop_does_not_wait_for_them(tmp_path: Path) -> None:
    """Two threads in each pool, fifteen targets of one tenant that stall: everybody else is answered, SIGTERM ends it.

    The promise is 1 s for an answer and 10 s for a stop. A machine that is busy may be late once, so the median is held
    against the first; without the promise nothing is answered at all.
    """
    data = tmp_path / "data"
    store = Store(data, clock=system_clock)
    scopes = ("admin", "publish", "subscribe")
    tokens = {
        tenant: store.commit(lambda tables, who=tenant: make_token(tables, who, who, scopes, system_clock(), None))  # type: ignore[misc]
        for tenant in ("noisy", "quiet")
    }
    store.close()

    async def play() -> None:
        async with AsyncExitStack() as stack:
            outside: dict[str, Stalling] = {
                kind: await stack.enter_async_context(stalling(talk))
                for kind, talk in (("smtp", mail_greeting), ("http", web_header), ("mqtt", silence))
            }
            process, address = await stack.enter_async_context(broker_with_small_pools(data))
            noisy, quiet = [
                await stack.enter_async_context(
                    httpx.AsyncClient(base_url=address, headers={"Authorization": f"Bearer {token}"}, timeout=20)
                )
                for token in tokens.values()
            ]
            await set_stalled_targets(noisy, {kind: each.port for kind, each in outside.items()})
            for each in outside.values():
                await each.until(lambda each=each: each.open == 3)  # type: ignore[misc]
            took = await asks_everything(quiet)
            assert statistics.median(took) < 1.0
            assert max(took) < 10.0
            assert all(each.open for each in outside.values()), "nothing stalls any more: this showed nothing"
            begun = time.monotonic()
            process.send_signal(signal.SIGTERM)
            assert await asyncio.to_thread(process.wait, 60) == 0
            assert time.monotonic() - begun < 10.0

    asyncio.run(play())
