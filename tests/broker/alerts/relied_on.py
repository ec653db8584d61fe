"""Run the stories that people rely on through a broker in a process of its own, over HTTP, with stops and kills.

    python -m tests.broker.alerts.relied_on --workers 2 --kills 0.3 --seed 1 --only smoke

The clock of the broker stands still between the steps of a story. With `--kills` the broker is killed and started again
before so many of the steps, while its clock stands: that may change nothing.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import httpx
import msgspec

from tests.matching.alerts.relied_on import MIDNIGHT, SECOND, STORIES, Sent, Step, Story, differences

PATIENCE: Final = 20.0  # seconds for what must be sent
NAME: Final = "ann"


class Served:
    """A broker in a process, whose clock says what a file says."""

    def __init__(self, folder: Path, workers: int = 0, lateness: int = 0, memory: str = "full") -> None:
        self._folder, self._settings = folder, [str(workers), str(lateness), memory]
        self._process: subprocess.Popen[bytes] | None = None
        self._client: httpx.Client | None = None
        self.sequence = 0
        self.move(0)

    def move(self, now: int) -> None:
        """Set the clock to a second of the story."""
        self.now = MIDNIGHT + now * SECOND
        with (self._folder / "clock").open("r+b" if (self._folder / "clock").exists() else "wb", buffering=0) as file:
            file.write(b"%020d" % self.now)

    def start(self) -> None:
        command = [sys.executable, "-m", __spec__.name if __spec__ else __name__, "--serve", str(self._folder)]
        self._process = subprocess.Popen([*command, *self._settings], stdout=subprocess.PIPE, start_new_session=True)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, f"the broker did not start; it ended with {self._process.wait()}"
        address = f"http://127.0.0.1:{msgspec.json.decode(line)['port']}"
        self._client = httpx.Client(base_url=address, timeout=60)

    def end(self, how: signal.Signals) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        assert self._client is not None
        self._client.close()
        self._process.send_signal(how)
        code = self._process.wait(timeout=60)
        self._process.stdout.close()
        assert code == (0 if how == signal.SIGTERM else -how), f"the broker ended with {code}"

    def send(self, method: str, path: str, body: Any = None) -> Any:
        assert self._client is not None
        answer = self._client.request(method, path, json=body)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def settle(self) -> None:
        """Wait until everything is matched and the broker's own work has seen the clock."""
        up, until = self._folder / "data" / "up", time.monotonic() + 1
        while (not up.is_file() or int(up.read_text() or 0) < self.now) and time.monotonic() < until:
            time.sleep(0.01)
        assert self._client is not None
        while (answer := self._client.get("/readyz")).status_code == 503 or answer.json()["behind"]:
            time.sleep(0.01)

    def deliveries(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.send(
            "GET", f"/v1/subscribers/{NAME}/deliveries?sequence={self.sequence}&limit=1000"
        )["deliveries"]
        if found:
            self.sequence = found[-1]["sequence"]
        return found


def run(told: Story, workers: int = 0, kills: float = 0.0, seed: int = 0) -> list[Sent]:
    """Run a story; what was sent, by the second of the step at which it came."""
    chance, sent = random.Random(seed), list[Sent]()
    with tempfile.TemporaryDirectory(prefix="likewise-relied-on-") as folder:
        served = Served(Path(folder), workers, told.lateness)
        served.start()
        try:
            served.send("PUT", f"/v1/subscribers/{NAME}")
            for name, text in told.alerts.items():
                served.send("PUT", f"/v1/subscribers/{NAME}/subscriptions/{name}", {"v": 1, "text": text})
            for step in told.steps:
                if chance.random() < kills:
                    served.end(signal.SIGKILL)
                    served.start()
                now = step.until if step.word in ("kill", "stop") else step.at
                served.move(step.at)
                _collect(served, told, step.at, sent, before=step)
                _act(served, step)
                _collect(served, told, now, sent)
            time.sleep(0.3)
            served.settle()
            _collect(served, told, now, sent)
        finally:
            served.end(signal.SIGTERM)
    return sent


def _act(served: Served, step: Step) -> None:
    if step.word == "event":
        own = {} if step.own is None else {"time": MIDNIGHT + step.own * SECOND}
        source = {"source": step.source} if step.source else {}
        served.send("POST", "/v1/events", {"v": 1, "id": step.id, "payload": dict(step.fields), **source, **own})
    elif step.word == "withdraw":
        served.send("DELETE", f"/v1/events/{step.id}?source={step.source}")
    elif step.word == "subscribe":
        path = f"/v1/subscribers/{NAME}/subscriptions/{step.id}"
        served.send("PUT", path, {"v": 1, "text": step.fields["text"]})
    elif step.word == "unsubscribe":
        served.send("DELETE", f"/v1/subscribers/{NAME}/subscriptions/{step.id}")
    elif step.word in ("kill", "stop"):
        served.end(signal.SIGKILL if step.word == "kill" else signal.SIGTERM)
        served.move(step.until)
        served.start()


def _collect(served: Served, told: Story, now: int, sent: list[Sent], before: Step | None = None) -> None:
    """Read what came; before an event, only what time sends is waited for."""
    served.settle()
    due = sum(each.at <= now for each in told.sent)
    if before is not None and before.word:
        due = min(due, len(sent) + sum(each.at < now for each in told.sent[len(sent) :]))
    until = time.monotonic() + PATIENCE
    while True:
        for each in served.deliveries():
            facts = each.get("alert", {})
            for subscription in each["subscriptions"]:
                sent.append(
                    Sent(
                        now,
                        each["cause"],
                        each["event"]["id"],
                        subscription["id"],
                        tuple(facts.get("key", ())),
                        facts.get("suppressed", 0),
                        tuple(facts.get("stale", ())),
                        facts.get("total"),
                    )
                )
        if len(sent) >= due or time.monotonic() > until:
            return
        time.sleep(0.05)


def serve_with_clock(folder: Path, workers: int, lateness: int, profile: Any) -> None:
    """Serve a broker whose clock stands where the file `clock` says; its own work is done every 20 ms."""
    from likewise.broker.broker import Broker
    from likewise.broker.config import AlertSettings, Config, LoggingSettings, MatchingSettings, ServerSettings
    from likewise.broker.maintenance import housekeeping
    from likewise.broker.telemetry.logging import log_to_stderr
    from likewise.server.http.server import serve

    setattr(housekeeping, "TICK_SECONDS", 0.02)  # noqa: B010
    setattr(housekeeping, "PAUSE", 100 * 365 * 86_400 * SECOND)  # noqa: B010 - the clock jumps; only a start finds an outage
    config = Config(
        server=ServerSettings(port=0),
        matching=MatchingSettings(workers=workers, compile=False, profile=profile),
        alerts=AlertSettings(lateness=f"{lateness} s"),
        logging=LoggingSettings(level="error", format="text"),
    )
    log_to_stderr(config.logging)
    clock = os.open(folder / "clock", os.O_RDONLY)

    def wall() -> int:
        return int(os.pread(clock, 20, 0))

    with Broker(folder / "data", config, clock=wall, steady=lambda: wall() / SECOND) as broker:
        serve(broker, on_ready=lambda taken: print(msgspec.json.encode({"port": taken}).decode(), flush=True))
    if not broker.ended:
        os._exit(0)


def main() -> None:
    """Run as a command."""
    if sys.argv[1:2] == ["--serve"]:
        serve_with_clock(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
        return
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--workers", type=int, default=0)
    given.add_argument("--kills", type=float, default=0.0)
    given.add_argument("--seed", type=int, default=0)
    given.add_argument("--only", default="")
    said = given.parse_args()
    failed = 0
    chosen = {name: told for name, told in STORIES.items() if said.only in name}
    for name, told in chosen.items():
        found = list(differences(run(told, said.workers, said.kills, said.seed), told.sent))
        failed += bool(found)
        print("FAIL" if found else "ok  ", name, flush=True)
        for line in found:
            print("      ", line, flush=True)
    print(f"{len(chosen)} stories, {failed} failed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
