"""A hub and two edges, killed again and again at every message of their protocol: deliveries as with one broker.

    python -m tests.edge.kills --kills 200 --events 100000 [--seed 1] [--folder DIR] [--minutes 5] [--profile full]

Publishers send to all three, and take some events back; subscribers stand at all three: some read all the time and keep
their cursor, some are away until the end, some come late. Others come and go, sources are announced and revoked, so
that every kind of message passes. Relays between the edges and the hub read along: when a chosen kind of message
passes, before or after it, the edge or the hub is killed (SIGKILL), or the line is cut; then what was killed is started
again. At the end the sets of deliveries are compared with those of one broker that was given the same: who was away or
came late has exactly these, with validity, initial matches and withdrawals; who read all the time has all of them, and
beyond them only what was withdrawn or was over later; nobody has one twice; nothing acknowledged is lost. With
`--folder`, a run goes on where it stopped, as it does by itself after so many `--minutes` (with the status 75).
Without kills, what went up is weighed against what was wanted.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.config import Config, MatchingSettings, StoreSettings
from likewise.defaults import MAX_QUEUE_LIMIT
from likewise.testing.clocks import ManualClock
from tests.edge.relay import Relay, free_port

PATIENCE = 300.0  # seconds that anything may take
SHORT = 1.5  # seconds that some events are valid
BATCH = 20
PAUSED = 75  # the status of a run that is to go on
WHERE = ("hub", "roof", "cellar")
KINDS = (
    "up hello",
    "down welcome",
    "up announce",
    "up revoke",
    "down demand",
    "up demand-ack",
    "down sense",
    "up events",
    "down events-ack",
    "up vocabulary",
    "up subscribe",
    "down subscribed",
    "up unsubscribe",
    "up withdraw",
    "down deliver",
    "up deliver-ack",
    "up health",
    "down health",
)
ASKED = {
    "hub": {"high": "{no2 > 60}", "low": "{no2 <= 3}", "cold": "{temperature < 2 degC}"},
    "roof": {"high": "{no2 > 62}", "mid": "{20 <= no2 <= 22}"},
    "cellar": {"cold": "{temperature < 1 degC}", "mine": '{source_name = "hub-3"}'},
}
BY_MEANING = {"roof": {"warm": "{air temperature~ > 38 degC}"}, "hub": {"warm": "{air temperature~ > 38 degC}"}}


# By place: what who is away has at the end, and beyond that what who reads all the time may have had.
Wanted = dict[str, tuple[set[tuple[str, str]], set[tuple[str, str]]]]


class Process:
    """`likewise serve` or `likewise edge` on one port, across kills."""

    def __init__(self, name: str, command: list[str], folder: Path) -> None:
        self.name = name
        self.port = free_port()
        self._command = [sys.executable, "-m", "likewise", *command, "--port", str(self.port), "--json"]
        self._log = folder / f"{name}.log"
        self._process: subprocess.Popen[bytes] | None = None
        self.environment = {"LIKEWISE_EDGES_INTERVAL": "2", "LIKEWISE_LOGGING_LEVEL": "warning"}
        self.lock = threading.Lock()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        with self.lock, self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
                env=os.environ | self.environment,
            )
            assert self._process.stdout is not None
            if not self._process.stdout.readline():
                raise RuntimeError(f"{self.name} did not start; it ended with {self._process.wait()}: see {self._log}")

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()

    def start_again(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        self._process.wait(60)
        self._process.stdout.close()
        self.start()

    def end(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(120)

    def leave_none(self) -> None:
        """End it for sure, whatever happened."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait(60)

    @property
    def memory(self) -> int:
        """What it has in memory, in KB."""
        assert self._process is not None
        said = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(said.split("VmRSS:")[1].split()[0])


class Journal:
    """What was done, in a file, so that a run can go on."""

    def __init__(self, path: Path) -> None:
        self.lines: list[dict[str, Any]] = []
        if path.exists():
            self.lines = [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]
        self._file = path.open("a")
        self._lock = threading.Lock()

    def write(self, **said: Any) -> None:
        with self._lock:
            self.lines.append(said)
            self._file.write(json.dumps(said) + "\n")
            self._file.flush()

    def of(self, what: str) -> list[dict[str, Any]]:
        return [line for line in list(self.lines) if line["what"] == what]


def again(work: Any, stop: threading.Event | None = None, patience: float = PATIENCE) -> Any:
    """Ask until it is answered: a broker may be away."""
    deadline = time.monotonic() + patience
    while True:
        try:
            answer = work()
            if answer.status_code < 500 and answer.status_code != 429:
                return answer
        except httpx.HTTPError:
            pass
        if time.monotonic() > deadline:
            raise TimeoutError("a broker did not answer")
        if stop is not None and stop.is_set():
            time.sleep(0.05)
        time.sleep(0.05)


def event_of(number: int, where: str, chance: random.Random) -> dict[str, Any]:
    """An event: most are of nobody's interest, some are short, some will be taken back."""
    payload: dict[str, Any] = {"no2": number * 7919 % 66, "source_name": f"{where}-{number % 5}", "n": number}
    payload["temperature"] = {"value": number * 104729 % 40, "unit": "degC"}
    made = {"v": 1, "payload": payload, "id": f"{where}.{number}", "source": f"{where}/{number % 3}"}
    if number % 50 == 17:
        made["expires"] = int((time.time() + SHORT) * 1e6)
    return made


class Run:
    """The brokers, the load, and what came of it."""

    def __init__(self, folder: Path, seed: int, events: int, profile: str, pace: float) -> None:
        self.folder = folder
        self.chance = random.Random(seed)
        self.events = events
        self.pace = pace
        self.journal = Journal(folder / "journal.jsonl")
        self.asked = {where: dict(texts) for where, texts in ASKED.items()}
        if profile == "full":
            for where, texts in BY_MEANING.items():
                self.asked[where] |= texts
        self.profile = profile
        keep = ["--keep", "forever"]
        serve = ["serve", "--data", str(folder / "hub"), "--profile", profile, *keep]
        self.hub = Process("hub", serve, folder)
        self.relays = {name: Relay(self.hub.port) for name in ("roof", "cellar")}
        (folder / "keep.toml").write_text('[store]\nkeep = "forever"\n')
        self.edges = {
            name: Process(
                name,
                [
                    "edge",
                    "--upstream",
                    relay.address,
                    "--data",
                    str(folder / name),
                    "--id",
                    name,
                    "--config",
                    str(folder / "keep.toml"),
                ],
                folder,
            )
            for name, relay in self.relays.items()
        }
        self.processes = {"hub": self.hub, **self.edges}
        self.stop = threading.Event()
        self.failed: list[str] = []
        self.triggered: Counter[str] = Counter()
        self.kills = self.done = 0
        self.first_bytes = 0  # of events that went up because nothing was known about them yet

    def http(self, where: str) -> httpx.Client:
        return httpx.Client(base_url=self.processes[where].address, timeout=60)

    def guard(self, work: Any, *arguments: Any) -> threading.Thread:
        def run() -> None:
            try:
                work(*arguments)
            except Exception as error:
                self.failed.append(f"{work.__name__}{arguments}: {type(error).__name__}: {error}")
                raise

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        return thread

    # -- who does what ----------------------------------------------------------------------------

    def register(self, where: str, who: str, texts: dict[str, str]) -> None:
        """Register a subscriber and its subscriptions."""
        with self.http(where) as http:
            queue = {"policy": "dead-letter", "limit": MAX_QUEUE_LIMIT}
            assert again(lambda: http.put(f"/v1/subscribers/{who}", json=queue)).status_code == 200
            there = {each["id"] for each in again(lambda: http.get(f"/v1/subscribers/{who}/subscriptions")).json()}
            wanted = [{"v": 1, "text": text, "id": id} for id, text in texts.items() if id not in there]
            if wanted:  # together: what meets several is given once, for all of them
                said = again(lambda: http.post(f"/v1/subscribers/{who}/subscriptions", json=wanted))
                assert said.status_code in (201, 409), said.text

    def publish(self, where: str) -> None:
        """Publish, each batch until it is acknowledged; take some back at once."""
        mine = [line["last"] for line in self.journal.of("published") if line["where"] == where]
        number, share = (mine[-1] + 1 if mine else 0), self.events // len(WHERE)
        with self.http(where) as http:
            while not self.stop.is_set():
                if number >= share:
                    return
                if number >= share * (self.done + 1) / max(1, self.kills):  # as many for each kill
                    time.sleep(0.05)
                    continue
                batch = [event_of(n, where, self.chance) for n in range(number, min(share, number + BATCH))]
                said = again(lambda: http.post("/v1/events", json=batch), self.stop)  # noqa: B023
                assert said.status_code == 200, said.text
                short = [each["id"] for each in batch if "expires" in each]
                number += len(batch)
                for each in batch:
                    if int(each["id"].split(".")[1]) % 97 == 3:
                        path = f"/v1/events/{each['id']}?source={each['source']}"
                        gone = again(lambda: http.delete(path), self.stop)  # noqa: B023
                        assert gone.status_code in (204, 404), gone.text  # the answer may have been lost
                self.journal.write(what="published", where=where, last=number - 1, short=short)
                time.sleep(self.pace)

    def begin(self) -> None:
        """Publish a batch everywhere, and wait until its words are judged: from then on only what is wanted goes up."""
        if self.journal.of("published"):
            return
        for where in WHERE:
            with self.http(where) as http:
                batch = [event_of(n, where, self.chance) for n in range(BATCH)]
                assert again(lambda: http.post("/v1/events", json=batch)).status_code == 200  # noqa: B023
                short = [each["id"] for each in batch if "expires" in each]
                for each in batch:
                    if int(each["id"].split(".")[1]) % 97 == 3:
                        path = f"/v1/events/{each['id']}?source={each['source']}"
                        again(lambda: http.delete(path))  # noqa: B023
            self.journal.write(what="published", where=where, last=BATCH - 1, short=short)
        deadline = time.monotonic() + PATIENCE
        with self.http("hub") as http:
            while not all(
                each.get("filters") and each.get("demand") for each in again(lambda: http.get("/v1/edges")).json()
            ):
                assert time.monotonic() < deadline, "no demand comes"
                time.sleep(0.5)
        time.sleep(3)
        self.first_bytes = sum(relay.bytes["up events"] for relay in self.relays.values())

    def read(self, where: str, who: str) -> None:
        """Read all the time, with a cursor."""
        seen = [line for line in self.journal.of("read") if line["who"] == who]
        cursor = seen[-1]["cursor"] if seen else 0
        with self.http(where) as http:
            while not self.stop.is_set():
                path = f"/v1/subscribers/{who}/deliveries?sequence={cursor}&limit=200"
                said = again(lambda: http.get(path), self.stop)  # noqa: B023
                assert said.status_code == 200, said.text
                found = said.json()
                if not found["deliveries"]:
                    time.sleep(0.2)
                    continue
                got = [
                    [each["sequence"], met["id"], each["event"]["id"]]
                    for each in found["deliveries"]
                    for met in each["subscriptions"]
                ]
                cursor = found["sequence"]
                self.journal.write(what="read", who=who, cursor=cursor, got=got)
                settled = {"sequence": cursor}
                again(lambda: http.post(f"/v1/subscribers/{who}/acknowledgements", json=settled), self.stop)  # noqa: B023

    def churn(self) -> None:
        """Let others come and go: subscriptions at the hub and at the edges, sources announced and revoked."""
        chance, turn = random.Random(self.chance.random()), 0
        texts = {"content-type": "text/plain"}
        with self.http("hub") as hub, self.http("roof") as roof, self.http("cellar") as cellar:
            clients = {"hub": hub, "roof": roof, "cellar": cellar}
            for http in clients.values():
                again(lambda: http.put("/v1/subscribers/churn", json={"limit": 10}), self.stop)  # noqa: B023
            while not self.stop.is_set():
                turn += 1
                where = chance.choice(WHERE)
                http, name = clients[where], f"c{turn % 7}"
                path = f"/v1/subscribers/churn/subscriptions/{name}"
                text = f"{{no2 = {turn % 66}, n > 1000000}}"
                again(lambda: http.put(path, content=text, headers=texts), self.stop)  # noqa: B023
                edge = clients[chance.choice(("roof", "cellar"))]
                said = {"attributes": [{"name": "no2", "low": 0, "high": 100}], "controllable": True, "lease": 60}
                source = f"/v1/sources/s{turn % 5}/announcement"
                again(lambda: edge.put(source, json=said), self.stop)  # noqa: B023
                time.sleep(chance.uniform(0.1, 0.5))
                again(lambda: http.delete(path), self.stop)  # noqa: B023
                if chance.random() < 0.5:
                    again(lambda: edge.delete(source), self.stop)  # noqa: B023

    # -- killing ----------------------------------------------------------------------------------

    def kill(self, number: int) -> None:
        """Kill once, at a message of a kind."""
        names = list(self.relays)
        edge, how = self.chance.choice(names), self.chance.choice(("edge", "hub", "line", "both"))
        kind, when = KINDS[number % len(KINDS)], self.chance.choice(("before", "after"))
        relay, hit = self.relays[edge], threading.Event()

        def trigger(way: str, said: str) -> bool:
            if hit.is_set() or f"{way} {said}" != kind:
                return False
            hit.set()
            if how in ("edge", "both"):
                self.edges[edge].kill()
            if how in ("hub", "both"):
                self.hub.kill()
            return True

        setattr(relay, when, trigger)
        if kind in ("up hello", "down welcome", "up announce", "up vocabulary"):
            relay.cut()  # they are said at the beginning
        happened = hit.wait(20)
        relay.before = relay.after = lambda way, said: False
        if not happened:  # nothing of the kind passed: cut it wherever it is
            relay.cut()
            how = "line"
        self.triggered[f"{kind}{'' if happened else ' (not seen)'}"] += 1
        if how in ("edge", "both"):
            self.edges[edge].start_again()
        if how in ("hub", "both"):
            self.hub.start_again()
        self.journal.write(what="killed", kind=kind, how=how, when=when, edge=edge, seen=happened)

    # -- the whole --------------------------------------------------------------------------------

    def run(self, kills: int, minutes: float | None = None) -> dict[str, Any] | None:
        """All of it, or what fits into some minutes: then None, and the same folder goes on."""
        begun, cpu = time.monotonic(), os.times()
        end = begun + 60 * minutes if minutes is not None else float("inf")
        self.kills, self.done = kills, len(self.journal.of("killed"))
        done = self.done
        self.hub.start()
        for edge in self.edges.values():
            edge.start()
        for where in WHERE:
            for who in ("reader", "away"):
                self.register(where, f"{who}-{where}", self.asked[where])
        self.begin()
        work = [self.guard(self.publish, where) for where in WHERE]
        reading = [self.guard(self.read, where, f"reader-{where}") for where in WHERE]
        others = [self.guard(self.churn)] if kills else []
        while done < kills and not self.failed and time.monotonic() < end:
            self.kill(done)
            done += 1
            self.done = done
            if done % 10 == 0:
                told = sum(1 for _ in self.journal.of("published")) * BATCH
                print(
                    f"{done} of {kills} kills, {told:,} events, {time.monotonic() - begun:.0f} s",
                    file=sys.stderr,
                    flush=True,
                )
        while any(thread.is_alive() for thread in work) and not self.failed and time.monotonic() < end:
            time.sleep(0.2)
        if not self.failed and (done < kills or any(thread.is_alive() for thread in work)):
            self._pause([*work, *reading, *others])
            return None
        for thread in work:
            thread.join(PATIENCE)
        time.sleep(SHORT + 0.5)
        for where in WHERE:
            self.register(where, f"late-{where}", self.asked[where])
        wanted = self.expected()
        compared = self.settle(wanted)
        self.stop.set()
        for thread in (*reading, *others):
            thread.join(PATIENCE)
        memory = {name: each.memory for name, each in self.processes.items()}
        up: Counter[str] = Counter()
        for relay in self.relays.values():
            up.update(relay.bytes)
        for paused in self.journal.of("paused"):
            up.update(paused["bytes"])
            self.triggered.update(paused["triggered"])
            self.first_bytes += paused["first"]
        for each in self.processes.values():
            each.end()
        spent = os.times()
        return {
            "kills": done,
            "kinds": dict(self.triggered),
            "events": sum(line["last"] + 1 for line in self._last_published()),
            "profile": self.profile,
            **compared,
            "failed": self.failed,
            "bytes": dict(sorted(up.items())),
            "upstream": self.weigh(up, wanted),
            "memory_kb": memory,
            "seconds": round(time.monotonic() - begun, 1),
            "cpu_seconds": round(sum(spent[:4]) - sum(cpu[:4]), 1),
            "load": os.getloadavg(),
        }

    def _pause(self, threads: list[threading.Thread]) -> None:
        """Stop between two batches, and keep what was counted."""
        self.stop.set()
        for thread in threads:
            thread.join(PATIENCE)
        counted: Counter[str] = Counter()
        for relay in self.relays.values():
            counted.update(relay.bytes)
        self.journal.write(what="paused", bytes=counted, triggered=self.triggered, first=self.first_bytes)
        for each in self.processes.values():
            each.end()

    def _last_published(self) -> list[dict[str, Any]]:
        last = {line["where"]: line for line in self.journal.of("published")}
        return list(last.values())

    def expected(self) -> Wanted:
        """By place, what one broker delivers to who is away: and beyond it, what may have been read before."""
        short = {id for line in self.journal.of("published") for id in line["short"]}
        clock = ManualClock("2024-01-01T00:00:00Z")
        config = Config(matching=MatchingSettings(profile=self.profile), store=StoreSettings("forever"))  # type: ignore[arg-type]
        found: Wanted = {}
        with Broker(None, config, clock=clock) as broker:
            tenant = broker.tenant("default")
            for where in WHERE:
                for who in ("all", "away"):
                    broker.register(tenant, f"{who}-{where}", "dead-letter", MAX_QUEUE_LIMIT)
                    subscriptions = [lw.parse(text, id=id) for id, text in self.asked[where].items()]
                    broker.subscribe(tenant, f"{who}-{where}", subscriptions)
            back = []
            for line in self._last_published():
                where, share = line["where"], line["last"] + 1
                for first in range(0, share, 500):
                    events = []
                    for n in range(first, min(share, first + 500)):
                        made = event_of(n, where, self.chance)
                        if made["id"] in short:
                            made["expires"] = clock() + 1_000_000
                        else:
                            made.pop("expires", None)
                        if n % 97 == 3:
                            back.append((made["id"], made["source"]))
                        around: Any = {name: made.get(name) for name in ("id", "source", "expires")}
                        events.append(lw.event(made["payload"], **around))
                    broker.publish(tenant, events)
            broker.wait_until_matched(PATIENCE)
            for where in WHERE:
                found[where] = (set(), _delivered(broker, f"all-{where}"))
            for id, source in back:
                broker.withdraw(tenant, id, source)
            clock.advance(10_000_000)
            broker.wait_until_matched(PATIENCE)
            for where in WHERE:
                found[where] = (_delivered(broker, f"away-{where}"), found[where][1])
        return found

    def settle(self, wanted: Wanted) -> dict[str, Any]:
        """Compare until it is the same, or nothing changes any more."""
        deadline = time.monotonic() + PATIENCE
        while True:
            differences = self.compare(wanted)
            if not any(differences[name] for name in ("lost", "foreign", "twice")) or time.monotonic() > deadline:
                return differences
            time.sleep(2)

    def compare(self, wanted: Wanted) -> dict[str, Any]:
        lost: Counter[str] = Counter()
        foreign: Counter[str] = Counter()
        twice: Counter[str] = Counter()
        compared, examples = 0, []
        for where in WHERE:
            must, may = wanted[where]
            for who in ("reader", "away", "late"):
                name = f"{who}-{where}"
                got = self._read_by(name) if who == "reader" else self._waiting(where, name)
                pairs = Counter((id, event) for _, id, event in got)
                twice[name] += sum(times > 1 for times in pairs.values())
                numbers = Counter((sequence, id) for sequence, id, _ in got)
                twice[name] += sum(times > 1 for times in numbers.values())
                compared += len(pairs)
                lost[name] += len(must - set(pairs))
                foreign[name] += len(set(pairs) - (may if who == "reader" else must))
                examples += [(name, "lost", *each) for each in list(must - set(pairs))[:3]]
                extra = set(pairs) - (may if who == "reader" else must)
                examples += [(name, "foreign", *each) for each in list(extra)[:3]]
        return {
            "compared": compared,
            "lost": {k: v for k, v in lost.items() if v},
            "foreign": {k: v for k, v in foreign.items() if v},
            "twice": {k: v for k, v in twice.items() if v},
            "examples": examples[:12],
        }

    def _read_by(self, who: str) -> list[tuple[int, str, str]]:
        return [tuple(each) for line in self.journal.of("read") if line["who"] == who for each in line["got"]]

    def _waiting(self, where: str, who: str) -> list[tuple[int, str, str]]:
        found: list[tuple[int, str, str]] = []
        cursor = 0
        with self.http(where) as http:
            while True:
                path = f"/v1/subscribers/{who}/deliveries?sequence={cursor}&limit=2000"
                said = again(lambda: http.get(path)).json()  # noqa: B023
                if not said["deliveries"]:
                    return found
                cursor = said["sequence"]
                found += [
                    (each["sequence"], met["id"], each["event"]["id"])
                    for each in said["deliveries"]
                    for met in each["subscriptions"]
                ]

    def weigh(self, up: Counter[str], wanted: Wanted) -> dict[str, Any]:
        """What went up, against the events that somebody elsewhere wants."""
        size, count = 0, 0
        for edge in self.edges:
            elsewhere = {event for where in WHERE if where != edge for _, event in wanted[where][1]}
            if self.profile == "full":  # what is decided above is asked of the edge itself
                elsewhere |= {event for id, event in wanted[edge][1] if id == "warm"}
            own = [event for event in elsewhere if event.startswith(f"{edge}.")]
            own = [event for event in own if int(event.split(".")[1]) >= BATCH]  # the first batch is new words
            count += len(own)
            for event in own:
                made = event_of(int(event.split(".")[1]), edge, self.chance)
                size += len(json.dumps(made, separators=(",", ":")))
        sent = up["up events"] + up["up withdraw"] - self.first_bytes
        words = up["up vocabulary"]
        return {
            "wanted_events": count,
            "wanted_bytes": size,
            "sent_bytes": sent,
            "vocabulary_bytes": words + self.first_bytes,
            "ratio": round(sent / size, 3) if size else None,
        }


def _delivered(broker: Broker, who: str) -> set[tuple[str, str]]:
    tenant = broker.tenant("default")
    queue, after = tenant.subscriber(who), 0
    found: set[tuple[str, str]] = set()
    while page := broker.page(tenant, queue, after=after, limit=5_000):
        after = page[-1][0]
        for _, frame in page:
            said = json.loads(frame)
            found |= {(met["id"], said["event"]["id"]) for met in said["subscriptions"]}
    return found


def main() -> int:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pace", type=float, default=0.02, help="seconds between two batches of 20 at each broker")
    parser.add_argument("--profile", choices=("small", "full"), default="small", help="the hub's")
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--minutes", type=float, default=None, help="after which it stops, to go on with its folder")
    said = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="likewise-edge-") as made:
        folder = said.folder or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        made_run = Run(folder, said.seed, said.events, said.profile, said.pace)
        try:
            found = made_run.run(said.kills, said.minutes)
        finally:
            for each in made_run.processes.values():
                each.leave_none()
    if found is None:
        return PAUSED
    print(json.dumps(found, indent=1))
    return 1 if found["failed"] or found["lost"] or found["foreign"] or found["twice"] else 0


if __name__ == "__main__":
    sys.exit(main())
