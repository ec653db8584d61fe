"""Kill a stream again and again, and see that its lake has the rows of a run that nobody killed.

    python -m tests.spark.streaming.kills --kills 30 --folder build/streams

Each start of `likewise stream run` is ended with SIGKILL at one of three points of a batch: after its plan was written,
after a part of it was written, after it was committed to the lake; the driver with its JVM, or Spark's Python workers.
Then it is started again with the same checkpoint. The folder says how many were made: started again, it goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq

import likewise as lw
from likewise.lake.change_log import ChangeLog
from likewise.lake.plain_commits import PlainCommits

EVENTS, FILES, BATCH = 12_000, 80, 100  # each file is a batch
PATIENCE = 600.0  # seconds until a point must be reached
POINTS = ("plan", "parts", "commit")
VICTIMS = ("driver", "workers")
COMMITS = "????????????-[0-9]*.json"  # of the query that matches
STATEFUL = (
    "{t > 60} for 5 s",
    "{t > 90} once until false",
    "{t exists} at most every 1 min per room",
    "{t > 95} digest every 2 min",
    "{t > 50} top 3 within 1 min by value(t) highest",
)


def prepare(folder: Path) -> None:
    """The same events and subscriptions for every run, from a seed."""
    if (folder / "ready").exists():
        return
    chance = random.Random(25)
    (folder / "in").mkdir(parents=True, exist_ok=True)
    for file in range(FILES):
        lines = [
            json.dumps(
                {
                    "v": 1,
                    "id": f"e{file}-{n}",
                    "source": f"s{n % 20}",
                    "time": (file * EVENTS // FILES + n) * 100_000,
                    "payload": {"t": chance.randint(0, 99), "room": chance.randint(1, 9)},
                }
            )
            for n in range(EVENTS // FILES)
        ]
        path = folder / "in" / f"{file:02}.jsonl"
        path.write_text("\n".join(lines) + "\n")
        os.utime(path, (1_700_000_000 + file, 1_700_000_000 + file))  # Spark takes files in the order of their times
    wanted = [
        lw.parse(f"{{t > {t}, room = {room}}}", id=f"s{t}-{room}") for t in range(0, 100, 9) for room in range(1, 10)
    ]
    wanted += [lw.parse(text, id=f"state{n}") for n, text in enumerate(STATEFUL)]
    ChangeLog(folder / "log").add(wanted, at=0)
    (folder / "ready").touch()


def start(folder: Path, name: str, *, batch: int = BATCH) -> subprocess.Popen[bytes]:
    """A query of its own session; what it says goes to a file."""
    command = [
        sys.executable,
        "-m",
        "likewise",
        "stream",
        "run",
        "--from",
        f"files:{folder / 'in'}",
        "--once",
        "--to",
        f"parquet:{folder / name / 'lake'}",
        "--subscriptions",
        str(folder / "log"),
        "--keep",
        "wanted",
        "--checkpoint",
        str(folder / name / "state"),
        "--max-events",
        str(batch),
        "--master",
        "local[2]",
    ]
    with (folder / f"{name}.log").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)


def newest(folder: Path, pattern: str) -> int:
    return len(list(folder.glob(pattern))) if folder.is_dir() else 0


def reached(place: Path, point: str, batches: int) -> bool:
    """Whether a batch after the first `batches` has come to a point."""
    if point == "plan":
        return newest(place / "state" / "matches" / "offsets", "[0-9]*") > batches
    if point == "commit":
        return newest(place / "lake" / "_commits", COMMITS) > batches
    return any((place / "lake" / "matches").rglob(f"*-{batches:010d}-*.parquet"))


def workers_of(driver: int) -> list[int]:
    """Spark's Python processes below a driver."""
    parents, names = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                stat = (entry / "stat").read_text()
                names[int(entry.name)] = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    found = []
    for process, name in names.items():
        above = process
        while above in parents and above != driver:
            above = parents[above]
        if above == driver and (b"pyspark.daemon" in name or b"pyspark.worker" in name):
            found.append(process)
    return found


def kill(folder: Path, number: int, batch: int) -> str:
    """Start the query, kill it at a point, and say what was done; `ended` if everything had been read before."""
    place, point, victim = folder / "killed", POINTS[number % 3], VICTIMS[number // 3 % 2]
    process = start(folder, "killed", batch=batch)
    batches = newest(place / "lake" / "_commits", COMMITS) + 1 + number % 2
    began = time.monotonic()
    while not reached(place, point, batches):
        if process.poll() is not None:
            return "ended" if process.returncode == 0 else f"failed before {point}"
        if time.monotonic() - began > PATIENCE:
            os.killpg(process.pid, signal.SIGKILL)
            raise SystemExit(f"{point} of batch {batches} was not reached in {PATIENCE:.0f} s; see {folder}/killed.log")
        time.sleep(0.001)
    if victim == "workers":
        for worker in workers_of(process.pid):
            try:
                os.kill(worker, signal.SIGKILL)
            except ProcessLookupError:
                continue
        try:
            process.wait(30)  # a task that lost its worker ends the driver, too
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
    else:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return f"{victim} after {point} of batch {batches}"


def rows(folder: Path, name: str, table: str) -> Counter[str]:
    """What a lake holds, without what a run decides for itself: its name, and how it cut the batches."""
    lake = folder / name / "lake"
    found: Counter[str] = Counter()
    for part in PlainCommits(lake).parts(table):
        for row in pq.read_table(lake / part.path, partitioning=None).to_pylist():
            for own in ("query", "batch", *(("place", "moment") if table == "said" else ())):
                row.pop(own, None)
            found[repr(sorted(row.items(), key=str))] += 1
    return found


def main() -> None:
    """Kill, go on, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--folder", type=Path, default=Path("build/streams"))
    parser.add_argument("--batch", type=int, default=BATCH, help="events of a batch")
    said = parser.parse_args()
    folder = said.folder.absolute()
    prepare(folder)
    if start(folder, "whole", batch=EVENTS).wait() != 0:
        raise SystemExit(f"the run without kills failed; see {folder}/whole.log")
    journal = folder / "kills.jsonl"
    done = len(journal.read_text().splitlines()) if journal.exists() else 0
    for number in range(done, said.kills):
        what = kill(folder, number, said.batch)
        print(f"{number + 1}/{said.kills}: {what}", flush=True)
        if what == "ended":
            break
        with journal.open("a") as out:
            out.write(json.dumps({"kill": number, "what": what}) + "\n")
    if start(folder, "killed", batch=said.batch).wait() != 0:
        raise SystemExit(f"the last run failed; see {folder}/killed.log")
    for table in ("matches", "events", "said"):
        whole, killed = rows(folder, "whole", table), rows(folder, "killed", table)
        if whole != killed:
            raise SystemExit(
                f"{table}: {sum((whole - killed).values())} rows lost, {sum((killed - whole).values())} too many"
            )
        print(f"{table}: {sum(whole.values())} rows, the same in both")


if __name__ == "__main__":
    main()
