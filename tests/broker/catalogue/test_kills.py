"""A broker that is killed while sources announce and people correct: what was acknowledged holds, and once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.log.entries import EVENT
from likewise.model import Event

WORK = """
import sys
from pathlib import Path
from random import Random
from likewise.broker.broker import Broker
from likewise.model.announcements.announcement import AnnouncedAttribute, Announcement
from likewise.semantics.enrichment.corrections import Correction

data, seed = Path(sys.argv[1]), int(sys.argv[2])
chance = Random(seed)
with Broker(data) as broker:
    tenant = broker.tenant("default")
    print("ready", flush=True)
    for step in range(1_000_000):
        source = f"s{chance.randrange(4)}"
        if chance.random() < 0.3 and source in tenant.sources.announcements:
            broker.announcements.revoke(tenant, source)
            print("revoked", source, flush=True)
        else:
            said = Announcement(source, (AnnouncedAttribute(f"t{seed}x{step}"),), lease=86_400.0, controllable=True)
            broker.announcements.announce(tenant, said)
            print("announced", source, said.attributes[0].name, flush=True)
        [number] = broker.announcements.correct(tenant, [Correction("a", "source", source, means=f"m{seed}x{step}")])
        print("corrected", source, f"m{seed}x{step}", number, flush=True)
"""


def test_a_kill_in_the_middle_of_announcing_and_correcting_loses_nothing(tmp_path: Path) -> None:
    """Nor does it double anything: of each announcement that holds there is one event, of others none."""
    data, chance = tmp_path / "data", Random(5)
    announced: dict[str, str] = {}
    corrected: dict[str, str] = {}
    for seed in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", WORK, str(data), str(seed)], stdout=subprocess.PIPE, text=True, env=os.environ
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        lines = [process.stdout.readline().split() for _ in range(chance.randint(5, 40))]
        time.sleep(chance.random() * 0.02)
        process.send_signal(signal.SIGKILL)
        lines += [line.split() for line in process.stdout]
        process.stdout.close()
        process.wait(60)
        for said, source, *rest in lines:
            if said == "announced":
                announced[source] = rest[0]
            elif said == "revoked":
                announced.pop(source, None)
            else:
                corrected[source] = rest[0]
        last = lines[-1][1]  # what followed it may be on disk, and nobody was told
        with Broker(data) as broker:
            tenant = broker.tenant("default")
            broker.wait_until_matched()
            held = {
                source: each.announcement.attributes[0].name for source, each in tenant.sources.announcements.items()
            }
            means = {each.name: each.means for each in tenant.sources.corrections.values()}
            unsure = {source for source in {*held, *announced} if held.get(source) != announced.get(source)}
            assert len(unsure) <= 1, (unsure, last)
            assert len({source for source in means if means[source] != corrected.get(source)}) <= 1
            announced, corrected = dict(held), dict(means)
            live = [
                next(str(t.value) for t in entry.value.tuples if t.attribute == "announced[].name")
                for entry in broker.store.entries(0, broker.store.position)
                if entry.kind == EVENT
                and isinstance(entry.value, Event)
                and entry.position not in tenant.withdrawn
                and entry.value.tuples[0].value == "announcement"
            ]
            assert sorted(live) == sorted(held.values())
            broker.register(tenant, f"ann{seed}")
            broker.subscribe(tenant, f"ann{seed}", [lw.parse("{type = announcement}", id="new")])
            broker.wait_until_matched()
            assert len(broker.page(tenant, tenant.subscriber(f"ann{seed}"), after=0)) == len(held)
            broker.unregister(tenant, f"ann{seed}")
