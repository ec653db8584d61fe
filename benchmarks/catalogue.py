"""What the catalogue costs: memory and CPU time of many sources, and what it takes of a broker that is published to.

    python -m benchmarks.catalogue --json
    likewise bench catalogue -- --sources 100000

Sources of eight attributes each are learnt twice over, in looks of 2,000 events; then saved and loaded. The second part
publishes the same events to a broker in memory with learning and without it. All figures are CPU time.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.catalogue.source_profiles import SourceProfiles, load_profiles, save_profiles
from likewise.broker.config import CatalogueSettings, Config
from likewise.formats.arrow.columns import columns_of
from likewise.model import Event

LOOK = 2_000


def resident() -> float:
    """The megabytes that this process has in memory."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def reading(n: int) -> Event:
    """An event of one of many alike sources."""
    return lw.event(
        {
            "temperature": 20 + n % 7,
            "humidity": 50.5,
            "battery": 87,
            "status": "on",
            "room": f"room {n % 50}",
            "linkquality": 100,
            "pressure": 1013.2,
            "voltage": 3.0,
        },
        source=f"device-{n}",
    )


def learning(sources: int) -> dict[str, float]:
    """Learn of every source twice, save, load, and list the words."""
    learnt, before = SourceProfiles(), resident()
    took = []
    for turn in range(2):
        spent = 0.0
        for low in range(0, sources, LOOK):
            events = [reading(n) for n in range(low, min(sources, low + LOOK))]
            begun = time.process_time()
            at = [turn * 60_000_000 + low + n for n in range(len(events))]
            learnt.add(columns_of(events), [str(event.source) for event in events], at)
            spent += time.process_time() - begun
        took.append(spent / sources * 1e6)
    used = resident() - before
    begun = time.process_time()
    words = len(list(learnt.words()))
    listed = time.process_time() - begun
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "catalogue" / "1.learnt"
        begun = time.process_time()
        size = save_profiles(path, learnt, 1)
        saved = time.process_time() - begun
        begun = time.process_time()
        assert load_profiles(path) is not None
        loaded = time.process_time() - begun
    return {
        "sources": sources,
        "megabytes": round(used, 1),
        "of_them_columns": round(learnt.nbytes / 1e6, 1),
        "microseconds_a_first_event": round(took[0], 1),
        "microseconds_a_further_event": round(took[1], 1),
        "milliseconds_to_list_words": round(listed * 1e3, 1),
        "words": words,
        "milliseconds_to_save": round(saved * 1e3, 1),
        "milliseconds_to_load": round(loaded * 1e3, 1),
        "megabytes_saved": round(size / 1e6, 1),
    }


def publishing(events: int, batch: int = 100) -> dict[str, float]:
    """CPU time of publishing and matching, with and without learning, the best of three each."""
    found: dict[str, float] = {}
    for learns in (False, True):
        best = float("inf")
        for _ in range(3):
            with Broker(None, Config(catalogue=CatalogueSettings(learn=learns))) as broker:
                tenant = broker.tenant("default")
                broker.register(tenant, "ann")
                broker.subscribe(tenant, "ann", [lw.parse("{temperature > 30}", id="hot")])
                made = [[reading(n % 1_000) for n in range(low, low + batch)] for low in range(0, events, batch)]
                begun = time.process_time()
                for each in made:
                    broker.publish(tenant, each)
                broker.wait_until_matched()
                broker.learning.wait_until_learnt()
                best = min(best, (time.process_time() - begun) / events * 1e6)
        found["microseconds_an_event_with" if learns else "microseconds_an_event_without"] = round(best, 1)
    return found


def main() -> None:
    """Run it."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sources", type=int, default=100_000)
    options.add_argument("--events", type=int, default=20_000)
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args()
    found = learning(chosen.sources) | publishing(chosen.events)
    print(json.dumps(found) if chosen.json else "\n".join(f"{name}: {value}" for name, value in found.items()))


if __name__ == "__main__":
    main()
