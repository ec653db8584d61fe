"""One session of an edge with its hub, recorded frame by frame, and replayed against either side.

The recording is made by a release (`tests.golden.release`). To replay, one side is the code of today and the other is
the recording: its frames are sent as they stand, and each frame that the live side sent then has to come again, with
the same meaning. What may differ: signs of life, how many events one frame carries, and order within one step.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import msgspec
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect as connect_sync

import likewise as lw
from likewise.broker.config import Config, EdgeSettings, MatchingSettings, ServerSettings
from likewise.testing.clocks import ManualClock
from tests.edge.brokers import Running, connected, edge, hub, until

Frame = dict[str, Any]
Entry = dict[str, Any]  # {"to": "hub" | "edge", "frame": {...}} or {"step": name}
CONFIG = Config(
    server=ServerSettings(port=0), matching=MatchingSettings(profile="small"), edges=EdgeSettings(interval=60.0)
)
EDGE = "roof"
START = "2026-05-01T12:00:00Z"  # both clocks stand still: a demand counts for some days only
_LARGEST = 2**24


def clock() -> ManualClock:
    """Return a clock that stands at the time of the recording."""
    return ManualClock(START)


def prepare_hub(at: Running) -> None:
    """Give the hub a subscriber who wants high readings."""
    at.broker.register(at.tenant, "ann")
    at.broker.subscribe(at.tenant, "ann", [lw.parse("{no2 > 40}", id="bad air")])


def prepare_edge(at: Running) -> None:
    """Give the edge a subscriber of its own, and a source that announces what it sends."""
    at.broker.register(at.tenant, "bob")
    at.broker.subscribe(at.tenant, "bob", [lw.parse("{no2 > 40}", id="too much")])
    body = {"attributes": [{"name": "no2", "unit": "µg/m3"}], "complete": True, "lease": 86_400}
    httpx.put(f"{at.address}/v1/sources/roof%2F1/announcement", json=body).raise_for_status()
    at.broker.wait_until_matched()


def publish(at: Running, *events: tuple[str, int], source: str) -> None:
    """Publish readings, each with its id."""
    at.broker.publish(at.tenant, [lw.event({"no2": no2}, id=id, source=source) for id, no2 in events])


# What is done at either side, by the name of the step.
STEPS: dict[str, Callable[[Running], object]] = {
    "edge publishes first": lambda at: publish(at, ("e1", 1), source="roof/1"),
    "edge publishes": lambda at: publish(at, ("e30", 30), ("e45", 45), ("e50", 50), source="roof/1"),
    "hub publishes": lambda at: publish(at, ("h50", 50), source="hub/1"),
    "edge withdraws": lambda at: at.broker.withdraw(at.tenant, "e45"),
    "hub withdraws": lambda at: at.broker.withdraw(at.tenant, "h50"),
    "edge unsubscribes": lambda at: at.broker.unsubscribe(at.tenant, "bob", "too much"),
}


class Recorder:
    """A relay between an edge and its hub that writes down every frame."""

    def __init__(self, upstream: str) -> None:
        self.entries: list[Entry] = []
        self._upstream = upstream.replace("http", "ws", 1)
        self._loop = asyncio.new_event_loop()
        ready: queue.Queue[int] = queue.Queue()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=lambda: self._loop.run_until_complete(self._run(ready)), daemon=True)
        self._thread.start()
        self.address = f"http://127.0.0.1:{ready.get(timeout=30)}"

    async def _run(self, ready: queue.Queue[int]) -> None:
        async with serve(self._relay, "127.0.0.1", 0, max_size=_LARGEST, ping_interval=None) as server:
            ready.put(next(iter(server.sockets)).getsockname()[1])
            await self._stop.wait()

    async def _relay(self, below: ServerConnection) -> None:
        assert below.request is not None
        async with connect(self._upstream + below.request.path, max_size=_LARGEST, ping_interval=None) as above:

            async def pass_on(to: str, source: Any, target: Any) -> None:
                with suppress(ConnectionClosed):
                    async for message in source:
                        self.entries.append({"to": to, "frame": msgspec.json.decode(message)})
                        await target.send(message)

            ways = [
                asyncio.create_task(pass_on("hub", below, above)),
                asyncio.create_task(pass_on("edge", above, below)),
            ]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for each in ways:
                each.cancel()
            await asyncio.gather(*ways, return_exceptions=True)

    def step(self, name: str, at: Running) -> None:
        self.entries.append({"step": name})
        STEPS[name](at)

    def saw(self, kind: str, to: str) -> bool:
        return any(each.get("to") == to and each["frame"]["type"] == kind for each in self.entries)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(timeout=30)
        self._loop.close()


def record(hub_data: Path, edge_data: Path) -> list[Entry]:
    """Let a hub and an edge of this code work together; return every frame and every step."""
    with hub(hub_data, CONFIG, clock=clock()) as above:
        prepare_hub(above)
        recorder = Recorder(above.address)
        with edge(EDGE, recorder.address, edge_data, config=CONFIG, clock=clock()) as below:
            prepare_edge(below)
            until(lambda: connected(below), "the edge connects")
            until(lambda: recorder.saw("subscribed", "edge"), "the hub takes the edge's subscription")
            assert below.uplink is not None
            outbox = below.uplink.outbox
            recorder.step("edge publishes first", below)
            until(lambda: outbox.demand.groups and outbox.demand.filters, "the edge knows what is wanted")
            until(lambda: recorder.saw("demand-ack", "hub"), "the edge acknowledges the demand")
            recorder.step("edge publishes", below)
            until(lambda: {("bad air", "e45"), ("bad air", "e50")} <= above.got("ann"), "they come up")
            until(lambda: recorder.saw("events-ack", "edge"), "they are acknowledged")
            recorder.step("hub publishes", above)
            until(lambda: ("too much", "h50") in below.got("bob"), "it comes down")
            until(lambda: recorder.saw("deliver-ack", "hub"), "it is acknowledged")
            recorder.step("edge withdraws", below)
            until(lambda: ("bad air", "e45") not in above.got("ann"), "it is gone above")
            recorder.step("hub withdraws", above)
            until(lambda: ("too much", "h50") not in below.got("bob"), "it is gone below")
            recorder.step("edge unsubscribes", below)
            until(lambda: not above.tenant.subscribers[f"edge:{EDGE}"].subscriptions, "the hub lets go of it")
            until(lambda: not outbox.waiting, "all is sent")
        until(lambda: recorder.saw("bye", "hub"), "the edge takes its leave")
        recorder.close()
    return recorder.entries


def essence(frame: Frame) -> set[tuple[str, ...]]:
    """Return what a frame brings about, one part each, so that frames that are cut otherwise compare equal."""
    kind = frame["type"]
    match kind:
        case "events":
            events = [*frame.get("events", ()), *(item[1] for item in frame.get("items", ()))]
            return {(kind, event["id"], event["source"], str(event["tuples"])) for event in events}
        case "withdraw":
            return {(kind, frame["source"], frame["event"])}
        case "deliver":
            found = {(kind, "withdrawn", *pair) for pair in frame.get("withdrawn", ())}
            for each in frame.get("deliveries", ()):
                event = each.get("event", {"id": each.get("id"), "source": each.get("source")})
                found |= {(kind, each["cause"], event["id"], event["source"], id) for id, _ in each["subscriptions"]}
            return found
        case "subscribe":
            return {(kind, each["id"], str(each["subscription"])) for each in frame["wanted"]}
        case "subscribed":
            return {(kind, each["id"], each.get("refused", "")) for each in frame["taken"]}
        case "unsubscribe":
            return {(kind, id) for id in frame["ids"]}
        case "announce":
            return {(kind, frame["announcement"]["source"], str(frame["announcement"]["attributes"]))}
        case "demand":  # a version is a hash, which the hub alone has to know again
            return {(kind, str(each["alternatives"])) for each in frame.get("add", ())} or {(kind,)}
        case "demand-ack":
            return {(kind, frame["version"])} if not frame.get("unknown") else {(kind, "unknown")}
        case "hello":
            return {(kind, frame["id"])}
        case "health" | "vocabulary" | "events-ack" | "deliver-ack":
            return set()  # when these come depends on timing; the test looks at their effect
        case _:
            return {(kind,)}


class Inbox:
    """The frames that the live side sent, read by a thread."""

    def __init__(self, receive: Callable[[], str | bytes]) -> None:
        self.frames: list[Frame] = []
        self.essence: set[tuple[str, ...]] = set()
        self._receive = receive
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        with suppress(ConnectionClosed, OSError):
            while True:
                frame = msgspec.json.decode(self._receive())
                self.frames.append(frame)
                self.essence |= essence(frame)

    def wait_for(self, frame: Frame, seconds: float = 30.0) -> None:
        """Wait until the live side has said what a recorded frame says."""
        wanted, deadline = essence(frame), time.monotonic() + seconds
        while not wanted <= self.essence:
            assert time.monotonic() < deadline, f"missing: {sorted(wanted - self.essence)}; there: {self.frames}"
            time.sleep(0.02)

    def last(self, kind: str, field: str) -> Any:
        return next((each[field] for each in reversed(self.frames) if each["type"] == kind), None)


def replay_edge(entries: list[Entry], above: Running) -> Inbox:
    """Be the recorded edge before a hub of today: send what it sent, and expect what it was sent."""
    address = above.address.replace("http", "ws", 1)
    with connect_sync(f"{address}/v1/edges/{EDGE}", max_size=_LARGEST) as socket:
        inbox = Inbox(socket.recv)
        for each in entries:
            if (step := each.get("step", "")).startswith("hub"):
                STEPS[step](above)
            elif each.get("to") == "edge":
                inbox.wait_for(each["frame"])
            elif each.get("to") == "hub":
                frame = each["frame"]
                if frame["type"] == "demand-ack":  # an edge acknowledges the version that it was sent
                    frame = frame | {"version": inbox.last("demand", "version")}
                socket.send(msgspec.json.encode(frame).decode())
        until(lambda: not above.tenant.subscribers[f"edge:{EDGE}"].subscriptions, "the hub lets go of it")
    return inbox


@contextmanager
def recorded_hub(entries: list[Entry]) -> Iterator[tuple[str, Callable[[Running], Inbox]]]:
    """Be the recorded hub: the address that an edge of today dials, and what plays the recording against it."""
    sockets: queue.Queue[ServerConnection] = queue.Queue()
    loop = asyncio.new_event_loop()
    stop, ready = asyncio.Event(), queue.Queue[int]()

    async def take(socket: ServerConnection) -> None:
        sockets.put(socket)
        await socket.wait_closed()

    async def run() -> None:
        async with serve(take, "127.0.0.1", 0, max_size=_LARGEST, ping_interval=None) as server:
            ready.put(next(iter(server.sockets)).getsockname()[1])
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(run()), daemon=True)
    thread.start()

    def play(below: Running) -> Inbox:
        socket = sockets.get(timeout=30)

        def receive() -> str | bytes:
            return asyncio.run_coroutine_threadsafe(socket.recv(), loop).result()

        inbox = Inbox(receive)
        for each in entries:
            if (step := each.get("step", "")).startswith("edge"):
                STEPS[step](below)
            elif each.get("to") == "hub" and each["frame"]["type"] != "bye":
                inbox.wait_for(each["frame"])
            elif each.get("to") == "edge":
                text = msgspec.json.encode(each["frame"]).decode()
                asyncio.run_coroutine_threadsafe(socket.send(text), loop).result(30)
        return inbox

    try:
        yield f"http://127.0.0.1:{ready.get(timeout=30)}", play
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(timeout=30)
        loop.close()
