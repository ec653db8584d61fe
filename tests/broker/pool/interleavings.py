"""One story told to two brokers: to one process, and to workers that split, merge and are killed meanwhile.

    python -m tests.broker.pool.interleavings --events 1000000 --kills 200 --state build/interleavings.json

goes through story after story until so many events have been compared and so many workers killed; it can be stopped
and goes on where it was. What both stored must be equal. A story that differs is written down beside the state, and
`--story N` tells that one again.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec

from likewise.broker.broker import Broker
from likewise.broker.config import Config, MatchingSettings
from likewise.broker.log.commits import wait_for
from likewise.broker.log.deliveries import ARRIVAL, INITIAL, NOTIFICATION_CAUSES, PROMOTED, read_between
from likewise.broker.log.entries import ResumeCommand, TickCommand
from likewise.broker.maintenance import housekeeping
from likewise.language import parse
from likewise.model import event
from likewise.testing.clocks import ManualClock
from tests.broker.pool.stories import BRIEF, LONG, TENANTS, Published, Step, story

Architecture = Literal["replicated", "partitioned", "hierarchical"]
ARCHITECTURES: tuple[Architecture, ...] = ("replicated", "partitioned", "hierarchical")
KINDS: dict[str, Sequence[int]] = {
    "arrivals": (ARRIVAL,),
    "earlier events": (INITIAL,),
    "promotions": (PROMOTED,),
    "sayings": tuple(NOTIFICATION_CAUSES.values()),
}
Disturb = Callable[[random.Random, "Teller"], None]


class Teller:
    """A broker that hears a story; time passes by the story alone."""

    def __init__(self, config: Config, data: Path | None = None) -> None:
        # Of the times that events state some are to come, too.
        self.clock = ManualClock(1_700_000_000_000_000 + 25_000_000)
        self.config = config
        self.data = data
        self.broker = Broker(data, config, clock=self.clock)
        self.owner: dict[str, str] = {}

    def tell(self, step: Step) -> None:
        """Let a step happen, and wait until it is on disk; what is refused is refused to both."""
        broker, tenant = self.broker, self.broker.tenant(step.tenant)
        self.clock.advance(100_000)
        match step.what, step.arguments:
            case "register", (str(name),):
                broker.register(tenant, name)
            case "unregister", (str(name),):
                broker.unregister(tenant, name)
                broker.register(tenant, name)
            case "subscribe", (str(name), str(id), str(text)):
                self.owner[id] = name
                broker.subscribe(tenant, name, [parse(text, id=id)])
            case "unsubscribe", (str(id),):
                if id in tenant.subscriber(self.owner[id]).subscriptions:
                    broker.unsubscribe(tenant, self.owner[id], id)
            case "tick", _:
                wait_for(lambda done: broker.command(tenant, TickCommand(), done))
            case "resume", (int(by),):
                wait_for(lambda done: broker.command(tenant, ResumeCommand(by), done))
            case "withdraw", (str(id),):
                with_id = [each for each in TENANTS if self._withdraw(each, id)]
                assert len(with_id) <= 1
            case "clock", (int(by),):
                self.clock.advance(by)
            case "publish", batch:
                events = []
                for each in batch:
                    assert isinstance(each, Published)
                    time = None if each.time is None else 1_700_000_000_000_000 + each.time
                    expires = self.clock() + 1_500_000 if each.ends else None
                    events.append(
                        event(each.said, id=each.id, source=each.source, time=time, expires=expires, graph=each.graph)
                    )
                broker.publish(tenant, events)
            case other:
                raise AssertionError(other)

    def _withdraw(self, tenant: str, id: str) -> bool:
        from likewise.errors import UnknownId

        try:
            self.broker.withdraw(self.broker.tenant(tenant), id)
        except UnknownId:
            return False
        return True

    def restart(self) -> None:
        """Close the broker and open it again on its folder."""
        assert self.data is not None
        self.broker.close()
        self.broker = Broker(self.data, self.config, clock=self.clock)

    def stored(self) -> dict[str, list[tuple[object, ...]]]:
        """What was delivered, in words that do not depend on how events were matched together."""
        self.broker.wait_until_matched(3_600.0)
        found: dict[str, list[tuple[object, ...]]] = {}
        for name in TENANTS:
            tenant = self.broker.tenant(name)
            with self.broker.store.reading() as tables:
                rows = read_between(tables, tenant.number, 0, 2**60, 2**30)
            found[name] = [
                (d.event, d.cause, tuple(d.recipients.tolist()), tuple(d.matched.tolist()), d.scores, d.notification)
                for d in rows
            ]
        return found


def differences(one: Teller, other: Teller) -> list[str]:
    """What two brokers delivered differently, or in another order among its kind."""
    said, found = [], other.stored()
    for name, rows in one.stored().items():
        alone, extra = Counter(rows) - Counter(found[name]), Counter(found[name]) - Counter(rows)
        said += [f"{name}: missing {row}" for row in alone] + [f"{name}: extra {row}" for row in extra]
        for kind, causes in KINDS.items():  # events matched together go out before what alerts say of them
            own = [row for row in rows if row[1] in causes]
            if not alone and not extra and own != [row for row in found[name] if row[1] in causes]:
                said.append(f"{name}: {kind} stand in another order")
    return said


def compare(
    seed: int,
    length: int,
    config: MatchingSettings | Config,
    *,
    disturb: Disturb,
    words: bool = False,
    data: Path | None = None,
    batches: Sequence[int] = BRIEF,
) -> tuple[int, list[str]]:
    """Tell a story to one process and to workers; how many events it had, and what differs."""
    one = Teller(Config(), None if data is None else data / "one")
    divided = config if isinstance(config, Config) else Config(matching=config)
    other = Teller(divided, None if data is None else data / "other")
    dice, events = random.Random(seed + 1), 0
    try:
        for step in story(seed, length, words, batches):
            one.tell(step)
            other.tell(step)
            events += len(step.arguments) if step.what == "publish" else 0
            disturb(dice, other)
        return events, differences(one, other)
    finally:
        one.broker.close()
        other.broker.close()


def kill_one(dice: random.Random, teller: Teller) -> bool:
    """Kill a worker; whether there was one."""
    staff = teller.broker.topology
    alive = [] if staff is None else [each.pid for each in list(staff.pool.workers.values()) if each.pid and each.alive]
    if not alive:
        return False
    with suppress(ProcessLookupError):  # it has just ended
        os.kill(dice.choice(alive), signal.SIGKILL)
    return True


def want_workers(teller: Teller, count: int) -> None:
    """Let there be so many workers from now on."""
    elastic = teller.broker.autoscaler
    assert elastic is not None
    elastic.settings = msgspec.structs.replace(elastic.settings, minimum=count, maximum=count)


def settle(teller: Teller, seconds: float = 60.0) -> None:
    """Wait until there are as many workers as are wanted, for a while."""
    staff, elastic, end = teller.broker.topology, teller.broker.autoscaler, time.monotonic() + seconds
    assert staff is not None
    assert elastic is not None
    while time.monotonic() < end:
        count = len(staff.pool.workers)
        if not staff.under_way and elastic.settings.minimum <= count <= elastic.settings.maximum:
            return
        time.sleep(0.02)


class Told(msgspec.Struct):
    """What has been compared so far, over all runs."""

    stories: int = 0
    events: int = 0
    kills: int = 0
    splits: int = 0
    merges: int = 0
    deaths: int = 0
    seconds: float = 0.0


def tell_one(seed: int, length: int, done: Told) -> list[str]:
    """One long story with kills, splits and merges at any moment; what differs."""
    teller: Teller | None = None

    def disturb(dice: random.Random, other: Teller) -> None:
        nonlocal teller
        teller = other
        chance = dice.random()
        if chance < 0.1:
            time.sleep(dice.random() * 0.05)  # into whatever is under way by then
            done.kills += kill_one(dice, other)
        elif chance < 0.13:
            want_workers(other, dice.randint(1, 3))
            if dice.random() < 0.5:
                settle(other)

    begun = time.monotonic()
    matching = MatchingSettings(workers=2, architecture=ARCHITECTURES[seed % 3])
    events, differ = compare(seed, length, matching, disturb=disturb, words=seed % 2 == 1, batches=LONG)
    assert teller is not None
    staff = teller.broker.topology
    assert staff is not None
    done.stories, done.events, done.seconds = seed + 1, done.events + events, done.seconds + time.monotonic() - begun
    done.splits, done.merges, done.deaths = (
        done.splits + staff.splits,
        done.merges + staff.merges,
        done.deaths + staff.pool.failover.deaths,
    )
    return differ


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--events", type=int, default=1_000_000)
    asked.add_argument("--kills", type=int, default=200)
    asked.add_argument("--length", type=int, default=40_000, help="events of a story, at least")
    asked.add_argument("--state", type=Path, default=Path("build/interleavings.json"))
    asked.add_argument("--minutes", type=float, default=55.0, help="after which no further story begins")
    asked.add_argument("--story", type=int, help="tell this one alone, and keep no state")
    said = asked.parse_args()
    vars(housekeeping).update(TICK_SECONDS=1e9, SWEEP_SECONDS=1e9)  # time passes by the story alone
    if said.story is not None:
        differ = tell_one(said.story, said.length, Told())
        raise SystemExit("\n".join(differ[:20]) if differ else 0)
    done = msgspec.json.decode(said.state.read_bytes(), type=Told) if said.state.exists() else Told()
    said.state.parent.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + 60 * said.minutes
    while (done.events < said.events or done.kills < said.kills) and time.monotonic() < end:
        seed = done.stories
        differ = tell_one(seed, said.length, done)
        if differ:
            said.state.with_suffix(f".{seed}.differs").write_text("\n".join(differ))
            raise SystemExit(f"story {seed} ({ARCHITECTURES[seed % 3]}): " + "\n".join(differ[:20]))
        said.state.write_bytes(msgspec.json.encode(done))
        print(msgspec.json.encode(done).decode(), f"load {os.getloadavg()[0]:.1f}", flush=True)


if __name__ == "__main__":
    main()
