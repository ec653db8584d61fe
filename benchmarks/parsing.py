"""How fast subscriptions are parsed, against the bare LALR parser on the same grammar and texts.

    likewise bench parsing
    python benchmarks/parsing.py

The bare parser builds Lark's plain trees and nothing else. Ours makes checked subscriptions: with a given
id, and without one, when the id is a hash of the printed form. All run in turns in one process; the
figures are medians of rounds in CPU time. The exit code is 1 if ours falls under 40 % of the bare speed.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable

from likewise.language import parse, subscription_text
from likewise.language.parser import grammar

FLOOR = 0.40

ATTRIBUTES = ["type", "device~", "office", "temperature~", "humidity", "lat", "long", "no2", "pm10", "wind speed~"]
WORDS = ["increased energy usage event~", "laptop~", "room 112", "Galway", '"check in"~', "parking space~", "ST01"]
TAGS = ["power", "computers", "energy", "appliances", "land transport", "air quality"]


def predicate(rng: random.Random, attribute: str) -> str:
    match rng.randrange(8):
        case 0 | 1 | 2:
            return f"{attribute} = {rng.choice(WORDS)}"
        case 3:
            return f"{attribute} > {rng.randint(0, 40)} degC"
        case 4:
            low = rng.uniform(0, 50)
            return f"{low:.4f} <= {attribute} <= {low + 1:.4f}"
        case 5:
            low = rng.uniform(0, 50)
            return f"{attribute} between {low:.3f} and {low + 2:.3f}"
        case 6:
            return f"{attribute} in (ST01, ST02, {rng.randint(1, 99)})"
        case _:
            return f'{attribute} contains "cat {rng.randint(1, 99)}"'


def texts(count: int, seed: int = 7) -> dict[str, list[str]]:
    """Texts by kind: conditions of one to five predicates, conditions with themes and groups, other forms."""
    rng = random.Random(seed)
    plain = [
        "{" + ", ".join(predicate(rng, attribute) for attribute in rng.sample(ATTRIBUTES, rng.randint(1, 5))) + "}"
        for _ in range(count)
    ]
    themed = []
    for _ in range(count):
        tags = ", ".join(rng.sample(TAGS, rng.randint(1, 4)))
        first, second = rng.sample(ATTRIBUTES, 2)
        group = f"({predicate(rng, first)} or not status = off)"
        themed.append(f"{{{tags}}} {{{predicate(rng, second)}, {group}}} threshold 0.{rng.randint(1, 9)}")
    other = []
    for index in range(count):
        match index % 4:
            case 0:
                point = f"lat {rng.uniform(45, 46):.3f}, long {rng.uniform(15, 16):.3f}"
                other.append(f"{{no2 > {rng.randint(1, 60)}}} top 10 within 24 h by distance({point})")
            case 1:
                other.append(f'event type "Football Match {index}" . event team "Spain"')
            case 2:
                other.append(f"?e rdf:type dbo:Event{index} . ?e dbp:stadium ?x")
            case _:
                other.append("[" + ", ".join(rng.choice("01*") for _ in range(20)) + "]")
    return {"conditions": plain, "themes and groups": themed, "other forms": other}


def seconds(run: Callable[[str], object], cases: list[str]) -> float:
    started = time.process_time()
    for text in cases:
        run(text)
    return time.process_time() - started


def run(count: int = 2_000, rounds: int = 7) -> list[dict[str, object]]:
    """Rows by kind of text; `share` is ours by the bare parser's speed."""
    bare = grammar(bare=True)
    runs: dict[str, Callable[[str], object]] = {
        "bare": bare.parse,
        "id given": lambda text: parse(text, id="s"),
        "id hashed": parse,
    }
    rows: list[dict[str, object]] = []
    for kind, cases in texts(count).items():
        for text in cases[:200]:  # right before fast
            bare.parse(text)
            assert parse(subscription_text(parse(text))) == parse(text)
        taken: dict[str, list[float]] = {name: [] for name in runs}
        for _ in range(rounds):
            for name, one in runs.items():
                taken[name].append(seconds(one, cases))
        rate = {name: len(cases) / statistics.median(times) for name, times in taken.items()}
        share = {f"share, {name}": round(rate[name] / rate["bare"], 3) for name in ("id given", "id hashed")}
        rows.append({"texts": kind, **{f"{name}/s": round(value) for name, value in rate.items()}, **share})
    return rows


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--count", type=int, default=2_000, help="texts of each kind")
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = options.parse_args()
    rows = run(chosen.count, chosen.rounds)
    worst = min(float(str(row["share, id hashed"])) for row in rows)
    if chosen.json:
        print(json.dumps({"rows": rows, "worst share": worst}))
        return 0 if worst >= FLOOR else 1
    for row in rows:
        print("  ".join(f"{name}: {value}" for name, value in row.items()))
    print(f"worst share of the bare parser's speed: {worst:.0%} (at least {FLOOR:.0%} is promised)")
    return 0 if worst >= FLOOR else 1


if __name__ == "__main__":
    raise SystemExit(main())
