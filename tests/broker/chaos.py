"""Kill a broker under load, start it again, and see that nothing was lost or doubled, and that every delivery is right.

    python -m tests.broker.chaos --kills 1000 --folder chaos

Publishers note what was acknowledged; subscribers keep their cursors and note what they got. The broker is killed
(SIGKILL) at random moments; between the kills it is stopped, its disk fills, its clock steps by years, it is copied.
At the end the oracle goes over the log: the deliveries of exact, relaxed and top-k subscriptions (by count and by time)
must be its own, in its order, with its scores. A subscription that is ended and made again all the time must have
brought every event once. With a folder, what was done is kept: the same command goes on where an earlier one was ended.
Ctrl-C ends it early, and looks all the same.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import msgspec
import stamina

import likewise as lw
from likewise.broker.admin import backup, verify_store
from likewise.broker.log.entries import Entry, TickCommand
from likewise.broker.log.writer import Store
from likewise.client import Subscriber
from likewise.defaults import INITIAL_EVENTS
from likewise.errors import LikewiseError
from likewise.matching.matcher import system_clock
from likewise.model import Event
from tests.broker.served import YEARS, Disk, ServedProcess

WATCHED = {
    "all": "{x >= 0}",
    "warm": "{temperature~ > 50, city~ = Zagreb~}",
    "last": "{x exists} top 3 within 20 events by value(y)",
    "minute": "{x exists} top 3 within 1 min by value(y)",
}
TOGGLED = {"now and then": "{x >= 0}"}
FAULTS = ("stop", "disk", "clock", "copy", "none", "none")
MINUTE = 60_000_000  # µs that arrivals may go back without the windows going back with them
PATIENCE = 300.0  # seconds without anything coming, at the end: kernels may have to be compiled first
TOLERANCE = 1e-5  # of a score, which travels with six digits


class Got(msgspec.Struct, frozen=True, array_like=True):
    """One delivery as a subscriber got it."""

    sequence: int
    event: str
    cause: str
    met: dict[str, float]


class Kept:
    """What happened, in memory and, line by line, in a folder, so that another run can go on."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.acknowledged: list[str] = list(self._read("acknowledged", str))
        self.got = {name: list(self._read(name, Got)) for name in ("watcher", "toggler")}
        self.turns: list[str] = list(self._read("turns", str))
        self.run = self.turns.count("run")
        self.note("turns", "run")
        self._lock = threading.Lock()

    def _read(self, name: str, type: Any) -> Iterator[Any]:
        path = self._folder / f"{name}.jsonl"
        lines = path.read_bytes().split(b"\n") if path.exists() else []
        return (msgspec.json.decode(line, type=type) for line in lines if line)

    def note(self, name: str, *said: object) -> None:
        with (self._folder / f"{name}.jsonl").open("ab") as out:
            out.write(b"".join(msgspec.json.encode(each) + b"\n" for each in said))

    def acknowledge(self, ids: list[str]) -> None:
        with self._lock:
            self.acknowledged += ids
            self.note("acknowledged", *ids)

    def receive(self, name: str, got: Got) -> None:
        self.got[name].append(got)
        self.note(name, got)

    def turn(self, what: str) -> None:
        self.turns.append(what)
        self.note("turns", what)

    @property
    def kills(self) -> int:
        return self.turns.count("kill")


def reading(chance: random.Random, number: int) -> dict[str, Any]:
    """What one event says."""
    name = chance.choice(("TempC", "temp", "temperature"))
    place = chance.choice(("Zagreb", "Galway"))
    return {"x": number, "y": chance.randrange(1000), name: chance.randrange(100), "city": place}


def publish_until(stop: threading.Event, served: ServedProcess, kept: Kept, source: str) -> None:
    """Publish, sending again what was not acknowledged, under the same ids."""
    number, chance = 0, random.Random(source)
    batch: list[dict[str, Any]] = []
    with httpx.Client(timeout=10) as http:
        while not stop.is_set():
            if not batch:
                now = system_clock()  # its own time, so that windows depend on nothing but the log
                batch = [
                    {"v": 1, "payload": reading(chance, number + n), "id": f"{source}{number + n}", "time": now + n}
                    for n in range(chance.choice((1, 1, 1, 20)))
                ]
            try:
                answer = http.post(f"{served.address}/v1/events", json=batch)
            except httpx.HTTPError:
                time.sleep(0.02)
                continue
            if answer.status_code == 200:
                kept.acknowledge([event["id"] for event in batch])
                number += len(batch)
                batch = []
            elif answer.status_code not in (429, 503):
                raise AssertionError(f"publishing was answered {answer.status_code}: {answer.text[:500]}")
            else:
                time.sleep(0.02)
            time.sleep(0.005)


def receive_until(stop: threading.Event, served: ServedProcess, kept: Kept, name: str) -> None:
    """Stream with a cursor, acknowledging now and then, connecting again when the broker is gone."""
    got, chance = kept.got[name], random.Random(name)
    while not stop.is_set():
        try:
            with Subscriber(name, served.address, cursor=got[-1].sequence if got else 0, patience=1.0) as inbox:
                for delivery in inbox:
                    met = {each.id: each.score for each in delivery.subscriptions}
                    kept.receive(name, Got(delivery.sequence, str(delivery.event.id), delivery.cause, met))
                    if chance.random() < 0.1:
                        inbox.acknowledge(delivery)
                    if stop.is_set():
                        return
        except (OSError, LikewiseError):
            time.sleep(0.02)


def toggle_until(stop: threading.Event, served: ServedProcess) -> None:
    """End a subscription and make it again, all the time; at the end it holds."""
    chance, [(id, text)] = random.Random(3), TOGGLED.items()
    with httpx.Client(timeout=10) as http:
        while True:
            wanted = f"{served.address}/v1/subscribers/toggler/subscriptions/{id}"
            over = stop.is_set()
            try:
                if not over:
                    http.delete(wanted)
                    time.sleep(chance.uniform(0, 0.3))
                if http.put(wanted, json={"v": 1, "text": text, "id": id}).is_success and over:
                    return
            except httpx.HTTPError:
                time.sleep(0.02)
            time.sleep(0.02 if over else chance.uniform(0, 1.0))


def prepare(served: ServedProcess) -> None:
    """The subscribers and what they want; doing it again changes nothing."""
    with httpx.Client(base_url=served.address, timeout=120) as http:
        for name, texts in (("watcher", WATCHED), ("toggler", TOGGLED)):
            if http.get(f"/v1/subscribers/{name}").is_success:
                continue
            http.put(f"/v1/subscribers/{name}", json={"limit": 1_000_000}).raise_for_status()
            for id, text in texts.items():
                said = {"v": 1, "text": text, "id": id}
                http.put(f"/v1/subscribers/{name}/subscriptions/{id}", json=said).raise_for_status()


def await_more(got: list[Got], seconds: float = 15.0) -> None:
    """Let a broker live until something more was received, so that kills fall into streams that are under way, too."""
    before, deadline = len(got), time.monotonic() + seconds
    while len(got) == before and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(random.uniform(0, 0.05))


def suffer(fault: str, served: ServedProcess, disk: Disk, copies: Path, chance: random.Random) -> bool:
    """Let something go wrong beside the kills; whether the broker was ended by it, and started again."""
    pause = chance.uniform(0.05, 0.6)
    match fault:
        case "stop":
            code = served.stop()
            assert code == 0, f"a broker that was stopped ended with {code}"
            served.start()
            return True
        case "disk":
            disk.fill()
            time.sleep(pause)
            if chance.random() < 0.7:
                disk.make_room()  # else it is killed with its disk full
        case "clock":
            served.set_clock(chance.choice((1, -1)) * chance.choice((YEARS, 3_600_000_000, 20_000_000)))
            time.sleep(pause)
            if chance.random() < 0.7:
                served.set_clock(0)  # else it is killed, and starts, with the wrong clock
        case "copy":
            shutil.rmtree(copies / "older", ignore_errors=True)
            if (copies / "newest").exists():
                (copies / "newest").rename(copies / "older")
            backup(disk.path / "data", copies / "newest")
    return False


class Ended(NamedTuple):
    """How it went."""

    kills: int
    stops: int
    full_disks: int
    clock_steps: int
    copies: int
    acknowledged: int
    received: int
    promoted: int
    toggled: int
    lost: int
    doubled: int
    longest_start_seconds: float
    seconds: float


def run(
    kills: int,
    seed: int = 0,
    *,
    seconds: float = 0.7,
    tell: Callable[[str], None] = lambda line: None,
    enough: threading.Event | None = None,
    folder: Path | None = None,
) -> Ended:
    """Kill that many times, or until it is enough, those of earlier runs in the folder counted; what came of it.

    Raises if anything was lost, doubled, out of order or wrong.
    """
    place = Path(tempfile.mkdtemp(prefix="likewise-chaos-")) if folder is None else folder
    disk = Disk(place, megabytes=1024)
    if not disk.can_fill:
        tell("no file system can be mounted here, so the disk never fills")
    try:
        return _run(kills, seed, seconds, tell, enough or threading.Event(), place, disk)
    finally:
        disk.close()
        if folder is None:
            shutil.rmtree(place, ignore_errors=True)


def _run(
    kills: int, seed: int, seconds: float, tell: Callable[[str], None], enough: threading.Event, place: Path, disk: Disk
) -> Ended:
    kept, copies = Kept(place / "kept"), place / "copies"
    copies.mkdir(exist_ok=True)
    chance, begun, longest = random.Random(f"{seed}-{kept.run}"), time.monotonic(), 0.0
    served = ServedProcess(disk.path / "data", place / "clock")
    disk.make_room()
    served.start()
    stop, ended = threading.Event(), threading.Event()
    try:
        prepare(served)
        sources = [f"r{kept.run}p{n}-" for n in range(2)]
        work = [_daemon(publish_until, stop, served, kept, source) for source in sources]
        work.append(_daemon(toggle_until, stop, served))
        for name in kept.got:
            _daemon(receive_until, ended, served, kept, name).start()
        for thread in work:
            thread.start()
        try:
            first = kept.kills
            while kept.kills < kills and not enough.is_set():
                time.sleep(chance.uniform(0.05, seconds))
                if kept.kills % 4 == 0:
                    await_more(kept.got["watcher"])
                fault = chance.choice(FAULTS)
                if fault != "disk" or disk.can_fill:
                    suffer(fault, served, disk, copies, chance)
                    kept.turn(fault)
                served.kill()
                disk.make_room()
                down = time.monotonic()
                served.start()
                longest = max(longest, time.monotonic() - down)
                if chance.random() < 0.5:
                    served.set_clock(0)
                kept.turn("kill")
                if kept.kills % 10 == 0 or kept.kills == kills:
                    rate = 60 * (kept.kills - first) / (time.monotonic() - begun)
                    said = f"{len(kept.acknowledged):,} acknowledged, {len(kept.got['watcher']):,} received"
                    tell(f"{kept.kills:,} of {kills:,} kills ({rate:.0f} a minute): {said}")
        finally:
            served.set_clock(0)
            stop.set()
            for thread in work:
                thread.join(timeout=120)
        await_all(served, kept)
    finally:
        ended.set()
        served.stop()
    check(kept, disk.path / "data", copies / "newest")
    counted = Counter(kept.turns)
    promoted = sum(each.cause == "promoted" for each in kept.got["watcher"])
    return Ended(
        kept.kills,
        counted["stop"],
        counted["disk"],
        counted["clock"],
        counted["copy"],
        len(kept.acknowledged),
        len(kept.got["watcher"]),
        promoted,
        len(kept.got["toggler"]),
        0,
        0,
        round(longest, 2),
        round(time.monotonic() - begun, 1),
    )


def _daemon(work: Callable[..., None], *given: object) -> threading.Thread:
    """A thread that does not outlive the run, whatever it still waits for."""
    return threading.Thread(target=work, args=given, daemon=True)


def await_all(served: ServedProcess, kept: Kept) -> None:
    """Wait until the broker has nothing left to give; as long as something comes, it may take."""
    deadline, seen = time.monotonic() + PATIENCE, -1
    with httpx.Client(base_url=served.address, timeout=120) as http:
        while time.monotonic() < deadline:
            count = sum(map(len, kept.got.values()))
            if count > seen:
                seen, deadline = count, time.monotonic() + PATIENCE
            behind = http.get("/readyz").json().get("behind")
            waiting = 0
            for name, got in kept.got.items():
                after = {"sequence": got[-1].sequence if got else 0, "limit": 1}
                page = http.get(f"/v1/subscribers/{name}/deliveries", params=after).raise_for_status().json()
                waiting += len(page["deliveries"])
            if behind == 0 and not waiting:
                return
            time.sleep(0.2)


class WindowTime:
    """The time of windows by the broker's rule: an event counts at its own time, but never later than it came.

    One whose own time is later counts at its arrival. Arrivals follow the broker's clock, which may be years behind:
    where they go back by over a minute, what the windows hold goes back with them.
    """

    def __init__(self, oracle: lw.Matcher) -> None:
        self._oracle, self._newest = oracle, 0

    def of(self, entry: Entry) -> int:
        """When an event or a tick counts."""
        stated = entry.value.time if isinstance(entry.value, Event) else None
        if stated is not None and stated <= entry.arrival:
            return stated
        if entry.arrival < self._newest - MINUTE:
            self._oracle.state.shift(entry.arrival - self._newest)
            self._newest = entry.arrival
        self._newest = max(self._newest, entry.arrival)
        return self._newest


class Expected(NamedTuple):
    """A delivery that the oracle makes, and the position of the entry that it comes of."""

    position: int
    event: str
    cause: str
    met: dict[str, float]


def expected_of(entries: Iterable[Entry]) -> Iterator[Expected]:
    """What the oracle would deliver to the watcher: arrivals in the order of the log, each before what it promotes.

    A tick of the broker may promote, too; it is in the log until the windows that it moved are saved.
    """
    oracle = lw.Matcher(engines={"exact": "naive", "approximate": "naive", "top": "naive"})
    for id, text in WATCHED.items():
        oracle.add(lw.parse(text, id=id), at=0)
    time = WindowTime(oracle)
    for entry in entries:
        if isinstance(entry.value, TickCommand):
            found = list(oracle.advance(time.of(entry)))
        elif isinstance(entry.value, Event):
            found = list(oracle.match(entry.value, time.of(entry)))
        else:
            continue
        arrived = {match.subscription_id: match.score for match in found if match.cause == "arrival"}
        if arrived:
            yield Expected(entry.position, str(entry.id), "arrival", arrived)
        promoted: dict[str, dict[str, float]] = {}
        for match in found:
            if match.cause == "promoted":
                promoted.setdefault(str(match.event_id), {})[match.subscription_id] = match.score
        for id, met in promoted.items():
            yield Expected(entry.position, id, "promoted", met)


def check(kept: Kept, data: Path, copy: Path) -> None:
    """Nothing acknowledged is lost, nothing came twice, everything came in order with its scores; copies are whole."""
    verify_store(data)
    entries = stored_in(data)
    ids = ids_of(entries)
    missing = set(kept.acknowledged) - set(ids)
    assert not missing, f"{len(missing)} acknowledged events are not in the log, such as {sorted(missing)[:5]}"
    assert len(ids) == len(set(ids)), "an event is in the log twice"
    for prefix in {id.partition("-")[0] for id in ids}:
        own = [int(id.partition("-")[2]) for id in ids if id.startswith(prefix + "-")]
        assert own == sorted(own), "events of one publisher came out of order"
    for name, got in kept.got.items():
        numbers = [each.sequence for each in got]
        assert numbers == sorted(set(numbers)), f"sequence numbers of {name} did not ascend"
    came = Counter(each.event for each in kept.got["toggler"])
    given = set(ids[-INITIAL_EVENTS:])  # a new subscription looks no further back: what was matched long after it came
    assert given <= came.keys() <= set(ids), f"the toggled subscription missed {sorted(given - came.keys())[:5]}"
    assert max(came.values(), default=1) == 1, f"the toggled one had {came.most_common(3)} more than once"
    expected = list(expected_of(entries))
    last = next((entry.position for entry in reversed(entries) if isinstance(entry.value, Event)), 0)
    # What ticks promoted after the last event may have come after the subscribers left.
    compare(kept.got["watcher"], expected, least=sum(each.position <= last for each in expected))
    if copy.exists():
        verify_store(copy)
        copied = ids_of(stored_in(copy))
        assert copied == ids[: len(copied)], "a copy is no earlier moment"


def compare(got: list[Got], expected: list[Expected], least: int) -> None:
    """What was received is what the oracle says, at least the first deliveries.

    Arrivals stand in its order, and so do promotions. A promotion may come before arrivals that the oracle has first:
    a tick made it, and ticks leave the log once the windows that they moved are saved.
    """
    assert least <= len(got) <= len(expected), f"{least} to {len(expected)} deliveries were expected, {len(got)} came"
    for cause in ("arrival", "promoted"):
        came = [(place, each) for place, each in enumerate(got) if each.cause == cause]
        due = [(place, each) for place, each in enumerate(expected) if each.cause == cause]
        for (at, each), (place, (_, event, _, met)) in zip(came, due, strict=False):
            said = f"delivery {at} of {len(expected)}: expected {event} {cause} {met}, got {each}"
            assert (each.event, each.met.keys()) == (event, met.keys()), said
            assert all(abs(each.met[id] - score) <= TOLERANCE for id, score in met.items()), said
            assert cause == "arrival" or at <= place, f"{said}, later than that"
    assert Counter(each.cause for each in got).keys() <= {"arrival", "promoted"}
    arrivals = sum(each.cause == "arrival" for each in expected)
    assert sum(each.cause == "arrival" for each in got) == arrivals, "an arrival is missing"


def stored_in(data: Path) -> list[Entry]:
    """The events and ticks of a store, in the order of its log."""
    store = Store(data, clock=system_clock)
    try:
        return [each for each in store.entries(0, store.position) if isinstance(each.value, Event | TickCommand)]
    finally:
        store.close()


def ids_of(entries: list[Entry]) -> list[str]:
    """The ids of the events among them."""
    return [str(entry.value.id) for entry in entries if isinstance(entry.value, Event)]


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--kills", type=int, default=100)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--folder", type=Path, help="where to keep what was done; a new one by default")
    given = arguments.parse_args()
    stamina.instrumentation.set_on_retry_hooks([])  # it is the broker's absence that is wanted
    over = threading.Event()
    for wanted in (signal.SIGINT, signal.SIGTERM):  # ends it after this kill, and looks at what was received so far
        signal.signal(wanted, lambda *_: over.set())
    found = run(given.kills, given.seed, tell=lambda line: print(line, flush=True), enough=over, folder=given.folder)
    print(", ".join(f"{name.replace('_', ' ')} {value:,}" for name, value in found._asdict().items()))
    sys.exit(0)
