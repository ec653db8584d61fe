"""Kill queries of Structured Streaming again and again, and see that a lake has what one Matcher finds.

    python -m tests.spark.streaming.query_kills --kills 30 --folder build/queries

Queries run in one driver, `to_lake` with subscriptions and `alerts` into `to_lake`. The driver, its JVM and Spark's
Python workers are killed in turn with SIGKILL, at a random time after every query has committed a batch since the kill
before. A driver whose workers were killed starts its queries again. The change log changes while they are dead and
while they run; the pins say which version a batch saw, and so which rows must be there, each once. The folder says how
many kills were made: started again, it goes on.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pyarrow.parquet as pq

import likewise as lw
from likewise.lake.change_log import ChangeLog
from likewise.lake.plain_commits import PlainCommits
from likewise.spark.streaming.batch_pins import BatchPin
from tests.spark.streaming.kills import workers_of
from tests.spark.streaming.state.histories import SECOND, TEXTS, some_event

EVENTS = 60
PATIENCE = 900.0  # seconds until a start must have committed a batch
VICTIMS = ("driver", "jvm", "workers")
QUERIES = ("matches", "said")
JAVA = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"  # a start costs less


def prepare(folder: Path, files: int) -> None:
    """Write the events and the first subscriptions, from a seed."""
    if (folder / "ready").exists():
        return
    chance = random.Random(42)
    (folder / "in").mkdir(parents=True, exist_ok=True)
    now, number = 1_000, 0
    for file in range(files):
        lines = []
        for _ in range(EVENTS):
            now += chance.randint(0, 2)
            lines.append(json.dumps(some_event(chance, number, now * SECOND)))
            number += 1
        path = folder / "in" / f"{file:03}.txt"
        path.write_text("\n".join(lines) + "\n")
        os.utime(path, (1_700_000_000 + file, 1_700_000_000 + file))  # Spark takes files in the order of their times
    log = ChangeLog(folder / "log")
    log.add([lw.parse(text, id=f"state{n}") for n, text in enumerate(TEXTS[:-1])], at=0)
    log.add([lw.parse(f"{{t > {t}}}", id=f"plain{t}") for t in range(0, 30, 3)], at=0)
    (folder / "ready").touch()


def change(log: ChangeLog, chance: random.Random) -> None:
    """Remove a subscription of each kind and add others."""
    ids = [each.subscription.id for each in log.snapshot().subscriptions.values()]
    plain, stateful = ([id for id in ids if id.startswith(kind)] for kind in ("plain", "state"))
    log.remove([chance.choice(plain), chance.choice(stateful)])
    fresh = log.newest()
    log.add([lw.parse(f"{{t > {chance.randint(0, 29)}}}", id=f"plain-{fresh}")], at=0)
    log.add([lw.parse(chance.choice(TEXTS[:-1]), id=f"state-{fresh}")], at=0)


def run(folder: Path, queries: list[str]) -> None:
    """Run queries until everything is read; one whose worker was killed is started again. This is what is killed."""
    from pyspark.errors import StreamingQueryException

    from likewise.spark import alerts, to_lake
    from likewise.spark.session import spark_error_summary, spark_session

    log = str(folder / "log")
    settings = {
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.extraJavaOptions": JAVA,
        "spark.sql.streaming.minBatchesToRetain": "10000",  # by which is known what each batch read
    }
    with spark_session("local[2]", memory="512m", settings=settings) as spark:

        def read(name: str) -> None:
            failed: list[int] = []  # batches that were committed when it failed
            while True:
                frame = spark.readStream.option("maxFilesPerTrigger", 1).text(str(folder / "in"))
                if name == "matches":
                    sink = to_lake(folder / "lake", subscriptions=log, keep="wanted")
                else:
                    frame, sink = alerts(frame, log, buckets=2), to_lake(folder / "lake")
                writer = frame.writeStream.foreachBatch(sink).queryName(name).trigger(availableNow=True)
                try:
                    writer.option("checkpointLocation", str(folder / name)).start().awaitTermination()
                    return
                except StreamingQueryException as error:
                    print(f"{name} failed: {spark_error_summary(str(error))}", flush=True)
                    failed.append(committed(folder, name))
                    if failed.count(failed[-1]) == 12:  # more than workers that were killed and are still in the pool
                        raise

        with ThreadPoolExecutor(len(queries)) as pool:
            for done in [pool.submit(read, name) for name in queries]:
                done.result()


def start(folder: Path, queries: list[str]) -> subprocess.Popen[bytes]:
    """Start both queries in a session of their own."""
    command = [sys.executable, "-m", "tests.spark.streaming.query_kills", "--run", "--folder", str(folder)]
    command += ["--queries", *queries]
    with (folder / "queries.log").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)


def committed(folder: Path, name: str) -> int:
    """Return how many batches a query has behind it."""
    place = folder / name / "commits"
    return sum(file.name.isdecimal() for file in place.iterdir()) if place.is_dir() else 0


class Campaign:
    """The driver that runs, and the kills."""

    def __init__(self, folder: Path, queries: list[str]) -> None:
        self.folder = folder
        self.queries = queries
        self.log = ChangeLog(folder / "log")
        self.process: subprocess.Popen[bytes] | None = None

    def kill(self, number: int) -> str:
        """Start the queries unless they run, change the log, kill at a random time, and say what was done."""
        chance = random.Random(number)
        victim = VICTIMS[number % 3]
        keep_pins(self.folder)
        before, begun = {name: committed(self.folder, name) for name in self.queries}, time.monotonic()
        if self.process is None:
            self.process = start(self.folder, self.queries)
        process = self.process
        while any(committed(self.folder, name) < before[name] + 1 for name in self.queries):
            if process.poll() is not None:
                return "ended" if process.returncode == 0 else "failed"
            if time.monotonic() - begun > PATIENCE:
                os.killpg(process.pid, signal.SIGKILL)
                raise SystemExit(f"no batch was committed in {PATIENCE:.0f} s; see {self.folder}/queries.log")
            time.sleep(0.005)
        recovered = time.monotonic() - begun
        if number % 2:
            change(self.log, chance)
        time.sleep(chance.random() * 3)
        if process.poll() is not None:
            return "ended"
        pids = {"driver": [process.pid], "jvm": _jvm_of(process.pid), "workers": workers_of(process.pid)}[victim]
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if victim != "workers":
            self.stop()
        change(self.log, chance)
        done = ", ".join(f"{committed(self.folder, name)} batches of {name}" for name in self.queries)
        return f"{victim} ({len(pids)}) after {done}; a new batch {recovered:.0f} s after the kill before"

    def stop(self) -> None:
        """End what is left of a driver."""
        assert self.process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(2)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process = None


def _jvm_of(driver: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                session = int((entry / "stat").read_text().rpartition(")")[2].split()[3])
                name = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if session == driver and b"org.apache.spark.deploy.SparkSubmit" in name:
                found.append(int(entry.name))
    return found


def files_by_batch(folder: Path, name: str) -> dict[int, list[str]]:
    """Return the files that each batch of a query read, as Spark's checkpoint says: after a crash one may read two."""
    listed: dict[int, str] = {}
    for path in (folder / name / "sources" / "0").iterdir():
        if not path.name.startswith("."):
            for line in path.read_text().splitlines()[1:]:
                entry = json.loads(line)
                listed[entry["batchId"]] = entry["path"].rpartition("/")[2]
    found, read = {}, -1
    offsets = (path for path in (folder / name / "offsets").iterdir() if path.name.isdecimal())
    for path in sorted(offsets, key=lambda path: int(path.name)):
        upto = json.loads(path.read_text().splitlines()[-1])["logOffset"]
        found[int(path.name)] = [listed[number] for number in range(read + 1, upto + 1)]
        read = upto
    return found


def keep_pins(folder: Path) -> None:
    """Copy the pins, of which a stream itself keeps the last 200."""
    for path in (folder / "log" / "pins").rglob("*.json"):
        copy = folder / "pins" / path.relative_to(folder / "log" / "pins")
        if not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())


def pins(folder: Path, name: str) -> dict[int, BatchPin]:
    """Return what each batch of a query saw."""
    keep_pins(folder)
    id = json.loads((folder / name / "metadata").read_text())["id"]
    found = (folder / "pins" / id).rglob("*.json")
    return {int(path.stem): msgspec.json.decode(path.read_bytes(), type=BatchPin) for path in found}


def expected(folder: Path, name: str) -> Counter[Any]:
    """Return the rows that must be there: what one Matcher finds with the versions that batches saw."""
    log, wanted = ChangeLog(folder / "log"), Counter[Any]()
    seen, matcher = pins(folder, name), lw.Matcher()
    for batch, files in sorted(files_by_batch(folder, name).items()):
        snapshot = log.snapshot(seen[batch].version)
        stateful = name == "said"
        serves = {
            n: each.subscription
            for n, each in snapshot.subscriptions.items()
            if (each.subscription.kind in ("top", "alert")) == stateful
        }
        here = matcher.state.numbers()
        for number in here.keys() - serves.keys():
            matcher.remove(here[number])
        new = sorted(serves.keys() - here.keys())
        matcher.add_many([serves[n] for n in new], 0, numbers=new)
        numbers = {id: number for number, id in matcher.state.numbers().items()}
        lines = [line for file in files for line in (folder / "in" / file).read_text().splitlines()]
        events = [json.loads(line) for line in lines]
        newest = max(each["time"] for each in events)
        found: list[Any] = []
        for each in sorted(events, key=lambda event: event["time"]):
            made = lw.event(each["payload"], id=each["id"], time=each["time"], source=each["source"])
            matches = matcher.match(made, at=each["time"])
            found += matches
            if not stateful and matches:
                wanted[each["id"], tuple(sorted(numbers[match.subscription_id] for match in matches))] += 1
        if stateful:
            for match in [*found, *matcher.advance(newest)]:
                key = None if match.spoken is None else match.spoken.key
                wanted[numbers[match.subscription_id], match.cause, match.event_id, key] += 1
    return wanted


def actual(folder: Path, name: str) -> Counter[Any]:
    """Return the rows of a lake's table."""
    found: Counter[Any] = Counter()
    lake = folder / "lake"
    for part in PlainCommits(lake).parts(name):
        for row in pq.read_table(lake / part.path, partitioning=None).to_pylist():
            if name == "matches":
                found[row["event_id"], tuple(sorted(row["subscriptions"]))] += 1
            else:
                key = None if row["key"] is None else tuple(row["key"])
                found[row["subscription"], row["cause"], row["event_id"], key] += 1
    return found


def main() -> None:
    """Kill, go on, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--files", type=int, default=300, help="files of events, each a batch")
    parser.add_argument("--folder", type=Path, default=Path("build/queries"))
    parser.add_argument("--queries", nargs="+", choices=QUERIES, default=list(QUERIES))
    parser.add_argument("--run", action="store_true", help="run the queries, as each start does")
    options = parser.parse_args()
    folder = options.folder.absolute()
    if options.run:
        run(folder, options.queries)
        return
    prepare(folder, options.files)
    campaign, journal = Campaign(folder, options.queries), folder / "kills.jsonl"
    done = len(journal.read_text().splitlines()) if journal.exists() else 0
    for number in range(done, options.kills):
        what = campaign.kill(number)
        print(f"{number + 1}/{options.kills}: {what}", flush=True)
        if what == "failed":
            raise SystemExit(f"a query failed; see {folder}/queries.log")
        if what == "ended":
            break
        with journal.open("a") as out:
            out.write(json.dumps({"kill": number, "what": what}) + "\n")
    process = campaign.process or start(folder, options.queries)
    if process.wait() != 0:
        raise SystemExit(f"the last run failed; see {folder}/queries.log")
    for name in options.queries:
        wanted, found = expected(folder, name), actual(folder, name)
        versions = len({pin.version for pin in pins(folder, name).values()})
        if wanted != found:
            lost, extra = (wanted - found).total(), (found - wanted).total()
            raise SystemExit(f"{name}: {lost} rows lost, {extra} too many")
        print(f"{name}: {found.total()} rows with {versions} versions of the subscriptions, as one Matcher finds")


if __name__ == "__main__":
    main()
