"""Portable kernels beside those for this very processor: the same matches, and what they cost.

    make kernels; likewise bench portable_kernels --json

Two processes match the same events with the same subscriptions, one with code for this processor and one with the
portable code of `make kernels` (build/kernels) or of an installed wheel. Each round gives both one turn; a figure is
the least CPU of an event over the rounds. The exit code is 1 if a match or a score differs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from random import Random

from likewise.kernels.cache import PORTABLE

BUILT = Path(__file__).resolve().parent.parent / "build" / "kernels"
WORDS = ("temperature", "humidity", "noise", "speed", "power", "pressure", "voltage", "level", "wind", "rain")


def workloads(seed: int, size: int) -> dict[str, tuple[list[str], list[dict[str, object]]]]:
    """Return subscriptions and events by kind."""
    choice = Random(seed)
    exact = [
        f"{{a{choice.randrange(60)} > {100 * choice.random():.1f}, b{choice.randrange(20)} < "
        f"{100 * choice.random():.1f}, city = c{choice.randrange(50)}}}"
        for _ in range(20 * size)
    ]
    readings = [
        {
            f"{letter}{number}": 100 * choice.random()
            for letter, count in (("a", 60), ("b", 20))
            for number in range(count)
        }
        | {"city": f"c{choice.randrange(50)}"}
        for _ in range(200)
    ]
    near = [
        f"{{x > {choice.randrange(50)}}} top {choice.randrange(2, 6)} within 200 events "
        f"by distance(lat {45 + choice.random()}, long {15 + choice.random()})"
        for _ in range(size // 4)
    ]
    places = [
        {"x": 100 * choice.random(), "lat": 45 + choice.random(), "long": 15 + choice.random()} for _ in range(1000)
    ]
    relaxed = [
        f"{{{choice.choice(('outdoor', 'indoor', 'water', 'car'))} {choice.choice(WORDS)}~ > {choice.randrange(90)}}}"
        for _ in range(2 * size)
    ]
    devices = [
        {f"{choice.choice(('outdoor', 'room', 'water'))}_{word}": 100 * choice.random() for word in WORDS}
        for _ in range(200)
    ]
    return {"exact": (exact, readings), "top k": (near, places), "by meaning": (relaxed, devices)}


def serve(seed: int, size: int) -> None:
    """Match a workload for each line on standard input; print the CPU of an event and a digest of all matches."""
    import likewise as lw

    made = {}
    for name, (texts, payloads) in workloads(seed, size).items():
        matcher = lw.Matcher(clock=lambda: 0)
        for number, text in enumerate(texts):
            matcher.add(lw.parse(text, id=f"s{number}"))
        made[name] = matcher, [lw.event(payload) for payload in payloads]
    for line in sys.stdin:
        matcher, events = made[line.strip()]
        begun = time.thread_time()
        found = [[(match.subscription_id, match.score) for match in matcher.match(each)] for each in events]
        took = (time.thread_time() - begun) / len(events)
        digest = blake2b(repr(found).encode(), digest_size=8).hexdigest()
        print(json.dumps([took, digest, sum(map(len, found))]), flush=True)


def compare(rounds: int, ask: Callable[[str, str], tuple[float, str, int]], names: list[str]) -> dict[str, object]:
    """Return the figures of each workload."""
    figures: dict[str, object] = {}
    for name in names:
        turns = [{side: ask(side, name) for side in ("host", "portable")} for _ in range(rounds)]
        cost = {side: min(turn[side][0] for turn in turns) * 1e6 for side in ("host", "portable")}
        figures[name] = {
            "host_us": round(cost["host"], 1),
            "portable_us": round(cost["portable"], 1),
            "ratio": round(cost["portable"] / cost["host"], 3),
            "matches": turns[0]["host"][2],
            "same": all(turn["host"][1:] == turn["portable"][1:] for turn in turns),
        }
    return figures


def main() -> int:
    """Run both, print the figures."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--size", type=int, default=1000, help="subscriptions of a kind, about")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--quick", action="store_true", help="fewer of everything")
    options.add_argument("--json", action="store_true")
    options.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    rounds, size = (2, 100) if chosen.quick else (chosen.rounds, chosen.size)
    if chosen.serve:
        serve(chosen.seed, chosen.size)
        return 0
    with tempfile.TemporaryDirectory() as empty:
        portable = {"NUMBA_CACHE_DIR": empty, **({PORTABLE: str(BUILT)} if BUILT.is_dir() else {})}
        command = [sys.executable, "-m", "benchmarks.portable_kernels", "--serve"]
        command += ["--seed", str(chosen.seed), "--size", str(size)]
        processes = {
            side: subprocess.Popen(
                command, env={**os.environ, **extra}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            for side, extra in (("host", {PORTABLE: ""}), ("portable", portable))
        }

        def ask(side: str, name: str) -> tuple[float, str, int]:
            process = processes[side]
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(name + "\n")
            process.stdin.flush()
            took, digest, count = json.loads(process.stdout.readline())
            return took, digest, count

        figures = compare(rounds, ask, list(workloads(chosen.seed, 8)))
        compiled = sorted(path.name.rpartition("-")[0] for path in Path(empty).glob("*.kernel"))
        for process in processes.values():
            process.communicate()
    result = {"seed": chosen.seed, "size": size, "compiled": compiled, "load": os.getloadavg()[0], **figures}
    print(json.dumps(result, indent=None if chosen.json else 2))
    return 0 if all(figure["same"] for figure in figures.values() if isinstance(figure, dict)) else 1


if __name__ == "__main__":
    sys.exit(main())
