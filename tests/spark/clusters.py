"""Every command that runs on Spark: on this machine, on a cluster of two workers, over Spark Connect; equal results.

    python -m tests.spark.clusters --folder build/cluster

The cluster is started on loopback, and ended. Paths are said relative to a folder. Steps that were done are not done
again with the same folder.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import likewise as lw
from likewise.lake.change_log import ChangeLog
from likewise.lake.plain_commits import PlainCommits
from tests.spark.loopback_cluster import LoopbackCluster

WORDS = ["sea", "wind", "station", "river", "power", "meter", "room", "lamp", "train", "bridge", "storm", "pump"]
ONTOLOGY = """@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix ex: <http://example.org/> .
ex:waterLevel a owl:DatatypeProperty ; rdfs:label "water level" ; rdfs:comment "The level of water in m." .
ex:lampState a owl:DatatypeProperty ; rdfs:label "lamp state" .
"""
SUBSCRIPTIONS = [
    "{t > 80}",
    "{room = 3, t < 20}",
    "{temperature~ > 90}",
    "{t > 60} for 30 s",
    "{t exists} at most every 1 min per room",
    "{t > 1} top 2 within 1 min by value(t) highest",
]
WAYS = ("local", "cluster", "connect")
TIMEOUT = 1800.0


def prepare(folder: Path) -> None:
    """The same inputs for every way, from a seed."""
    if (folder / "ready").exists():
        return
    chance = random.Random(25)
    (folder / "in").mkdir(parents=True, exist_ok=True)
    documents = [{"title": f"d{n}", "text": " ".join(chance.choices(WORDS, k=30))} for n in range(400)]
    (folder / "documents.jsonl").write_text("".join(json.dumps(each) + "\n" for each in documents))
    statements = [
        f'<http://x.org/e{n}> <http://x.org/{chance.choice(WORDS)}> "{chance.choice(WORDS)}" .\n'
        for n in range(200)
        for _ in range(4)
    ]
    (folder / "statements.nt").write_text("".join(statements))
    (folder / "vocabulary.ttl").write_text(ONTOLOGY)
    for file in range(3):
        lines = [
            json.dumps(
                {
                    "v": 1,
                    "id": f"e{file}-{n}",
                    "source": f"s{n % 7}",
                    "time": (file * 400 + n) * 500_000,
                    "payload": {"t": chance.randint(0, 99), "room": chance.randint(1, 5)},
                }
            )
            for n in range(400)
        ]
        (folder / "in" / f"{file}.jsonl").write_text("\n".join(lines) + "\n")
    wanted = [lw.parse(text, id=f"s{n}") for n, text in enumerate(SUBSCRIPTIONS)]
    ChangeLog(folder / "log").add(wanted, at=0)
    ChangeLog(folder / "plain").add([each for each in wanted if each.kind not in ("top", "alert")], at=0)
    (folder / "ready").touch()


def commands(out: str) -> dict[str, list[str]]:
    """What is run, with paths as a person types them."""
    stream = ["stream", "run", "--from", "files:in", "--to", f"parquet:{out}/lake", "-s", "log", "--checkpoint"]
    return {
        "space build": ["space", "build", "documents.jsonl", "--out", f"{out}/space", "--partitions", "3"],
        "ingest": ["ingest", "statements.nt", "--out", f"{out}/ingested", "--partitions", "3"],
        "concepts build": ["concepts", "build", "--ontology", "vocabulary.ttl=own", "--out", f"{out}/concepts.csv"],
        "eval": [
            "eval",
            "thematic",
            "--cells",
            "2x2x1",
            "--events",
            "60",
            "--subscriptions",
            "6",
            "--throughput",
            "0",
            "--out",
            f"{out}/eval",
        ],
        "stream": [*stream, f"{out}/state", "--keep", "wanted", "--once", "--max-events", "500"],
        "backtest": ["backtest", "in", "-s", "plain", "--out", f"{out}/backtest"],
    }


def _rows(lake: Path, table: str) -> list[str]:
    found = []
    for part in PlainCommits(lake).parts(table):
        for row in pq.read_table(lake / part.path, partitioning=None).to_pylist():
            row.pop("query", None)
            found.append(repr(sorted(row.items(), key=str)))
    return sorted(found)


def results(folder: Path, out: str) -> dict[str, Callable[[], Any]]:
    """What must be equal, of each command."""
    place = folder / out

    def space() -> Any:
        return {path.name: path.read_bytes() for path in sorted((place / "space").glob("*.npy"))}

    def ingested() -> Any:
        files = sorted((place / "ingested").glob("*.jsonl"))
        return sorted(line for file in files for line in file.read_text().splitlines())

    def backtest() -> Any:
        told = json.loads((place / "backtest" / "summary.json").read_text())
        return {k: v for k, v in told.items() if k not in ("seconds", "folder")}, sorted(
            map(str, pq.read_table(place / "backtest" / "subscriptions.parquet").to_pylist())
        )

    return {
        "space build": space,
        "ingest": ingested,
        "concepts build": lambda: (place / "concepts.csv").read_bytes(),
        "eval": lambda: sorted((place / "eval" / "results.jsonl").read_text().splitlines()),
        "stream": lambda: {table: _rows(place / "lake", table) for table in ("matches", "events", "said")},
        "backtest": backtest,
    }


def run(folder: Path, way: str, environment: dict[str, str], master: str | None) -> None:
    """Run every command one way; what was done before is passed over."""
    for name, command in commands(way).items():
        mark = folder / f"{way}.{name.replace(' ', '-')}.done"
        if mark.exists():
            continue
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "likewise", *command, *(["--master", master] if master else [])],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
        )
        if done.returncode or "Traceback" in done.stderr:
            raise SystemExit(
                f"{name}, {way}: exit code {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
            )
        print(f"{name}, {way}: {time.monotonic() - began:.0f} s", flush=True)
        mark.touch()


def refused(folder: Path) -> None:
    """What cannot be reached is one line."""
    for said in ({"SPARK_REMOTE": "sc://127.0.0.1:1"}, {"SPARK_REMOTE": "http://127.0.0.1"}):
        done = subprocess.run(
            [sys.executable, "-m", "likewise", "space", "build", "documents.jsonl", "--out", "never"],
            cwd=folder,
            env=os.environ | said,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
        )
        if not done.returncode or "Traceback" in done.stderr or "SPARK_REMOTE" not in done.stderr:
            raise SystemExit(f"a wrong SPARK_REMOTE should be one line: {done.stderr[-2000:]}")


def main() -> None:
    """Run, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("build/cluster"))
    folder = parser.parse_args().folder.absolute()
    prepare(folder)
    plain = {key: value for key, value in os.environ.items() if key != "SPARK_REMOTE"}
    refused(folder)
    run(folder, "local", plain, "local[2]")
    with LoopbackCluster(folder / "spark") as cluster:
        run(folder, "cluster", cluster.environment(), cluster.master)
        run(folder, "connect", cluster.environment() | {"SPARK_REMOTE": cluster.connect()}, None)
    for name in commands("local"):
        here, *others = (results(folder, way)[name]() for way in WAYS)
        if not here or any(other != here for other in others):
            raise SystemExit(f"{name}: the results differ, or there are none")
        print(f"{name}: equal on this machine, on the cluster and over Connect")


if __name__ == "__main__":
    main()
