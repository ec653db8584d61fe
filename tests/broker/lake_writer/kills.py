"""A broker that keeps a lake, killed again and again while it is published to.

    python -m tests.broker.lake_writer.kills --kills 20 [--format delta] [--keep all]

Prints what was published and found as JSON. At the end the lake must hold each match of the oracle, and each wanted
reading, once; what nobody acknowledged may be there or not, but never twice.
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
import time
from pathlib import Path

import likewise as lw
from tests.broker.lake_writer.kept import event_ids, matches, opened

TEXTS = {"warm": "{t > 10}", "hot": "{t > 40}", "galway": "{city = Galway}"}


def event(number: int) -> lw.Event:
    chance = random.Random(number)
    said = {"t": chance.randint(0, 50), "city": chance.choice(["Galway", "Cork", "Sligo"])}
    return lw.event(said, id=f"e{number}", time=number * 3_600_000_000)


def serve(data: Path, lake: Path, kind: str, keep: str, first: int) -> None:
    """Publish until somebody ends this process; each line says up to where it is on disk."""
    with opened(data, lake, format=kind, keep=keep) as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        if not tenant.subscriptions:
            broker.subscribe(tenant, "ann", [lw.parse(text, id=id) for id, text in TEXTS.items()])
        print("ready", flush=True)
        while True:
            broker.publish(tenant, [event(number) for number in range(first, first + 7)])
            first += 7
            print(first, flush=True)


def run(kills: int, kind: str, keep: str, folder: Path, seed: int, longest: float = 1.5) -> dict[str, int]:
    """Kill it so often; what the lake holds at the end is checked here."""
    chance, first = random.Random(seed), 0
    for _ in range(kills):
        said = [str(folder / "data"), str(folder / "lake"), kind, keep, str(first)]
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.broker.lake_writer.kills", "--serve", *said],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", "it did not start"
        first = max(first, int(process.stdout.readline()))
        time.sleep(chance.uniform(0.0, longest))
        os.kill(process.pid, signal.SIGKILL)
        told = process.stdout.read().splitlines()
        process.wait(60)
        process.stdout.close()
        first = max([first, *(int(line) for line in told if line.isdecimal())])
    with opened(folder / "data", folder / "lake", format=kind, keep=keep) as broker:
        assert broker.lake is not None
        broker.wait_until_matched(300)
        broker.lake.wait_until_written(300)
        assert broker.troubles() == []
        tenant = broker.tenant("default")
        numbers = {held.id: held.number for held in tenant.live()}
        end = max(int(entry.id[1:]) for entry in broker.store.entries(0, broker.store.position) if entry.id)
    oracle = lw.Matcher(engines={"exact": "naive"})
    for id, text in TEXTS.items():
        oracle.add(lw.parse(text, id=id))
    expected = {(f"e{n}", numbers[found.subscription_id]) for n in range(end + 1) for found in oracle.match(event(n))}
    found = matches(folder / "lake")
    assert set(found) == expected, "matches are missing, or nobody's"
    assert set(found.values()) <= {1}, "matches are there twice"
    kept = event_ids(folder / "lake")
    wanted = {id for id, _ in expected} if keep == "wanted" else {f"e{n}" for n in range(end + 1)}
    assert kept == dict.fromkeys(wanted, 1), "readings are missing, or there twice"
    return {"kills": kills, "events": end + 1, "matches": len(found), "kept": len(kept)}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        data, lake, kind, keep, number = sys.argv[2:]
        serve(Path(data), Path(lake), kind, keep, int(number))
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--format", default="parquet")
    parser.add_argument("--keep", default="wanted")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        result = run(chosen.kills, chosen.format, chosen.keep, Path(temporary), chosen.seed)
    print(json.dumps(vars(chosen) | result))
