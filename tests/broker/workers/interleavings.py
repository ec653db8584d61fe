"""One story told to two brokers: to one process, and to workers that split, merge and are killed meanwhile.

    python -m tests.broker.workers.interleavings --events 1000000 --kills 200 --state build/interleavings.json

goes through story after story until so many events have been compared and so many workers killed; it can be stopped
and goes on where it was. What both stored must be equal.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from likewise.broker.broker import Broker
from likewise.broker.config import Config, Matching
from likewise.broker.store.commits import wait_for
from likewise.broker.store.deliveries import read_between
from likewise.broker.store.entries import Resume, Tick
from likewise.broker.upkeep import housekeeping
from likewise.language import parse
from likewise.model import event

WORDS = ("no2", "pm10", "temperature", "humidity", "x")
PLACES = ("roof", "cellar", "hall", "yard")
TENANTS = ("a", "b")


class Step(NamedTuple):
    """Something that happens to a broker: its name, and what it needs."""

    what: str
    tenant: str = "a"
    arguments: tuple[object, ...] = ()


class Published(NamedTuple):
    """An event of a story."""

    id: str
    said: dict[str, object]
    source: str
    time: int | None
    ends: bool


def subscription(dice: random.Random, words: bool) -> str:
    name, value = dice.choice(WORDS), dice.randrange(60)
    near = f"{name}~" if words and dice.random() < 0.3 else name
    exact = f"{near} {dice.choice(['>', '<', '>=', '<='])} {value}"
    match dice.randrange(10):
        case 0:
            return f"{{{name} exists}} top {dice.randint(1, 3)} within {dice.randint(2, 20)} events by value({name})"
        case 1:
            return (
                f"{{{name} > {value}}} top {dice.randint(1, 3)} within {dice.randint(1, 40)} s by value({name}) highest"
            )
        case 2:
            return f"{{{name} > {value}}} for {dice.randint(1, 9)} s"
        case 3:
            return f"{{{name} > {value}}} once until false"
        case 4:
            return f"{{{name} > {value}}} per place at most every {dice.randint(2, 9)} s"
        case 5:
            return f"{{{exact}, place = {dice.choice(PLACES)}}}"
        case 6:
            return f"{{{exact}}} valid for {dice.randint(2, 60)} s"
        case 7:
            return f"{{({exact} or not place = {dice.choice(PLACES)})}}"
        case _:
            return f"{{{exact}}}"


def story(seed: int, length: int, words: bool = False) -> Iterator[Step]:
    """Steps of a story; the same for each who hears it."""
    dice, made, ids = random.Random(seed), 0, {tenant: list[str]() for tenant in TENANTS}
    for tenant in TENANTS:
        for name in ("ann", "bob", "eve"):
            yield Step("register", tenant, (name,))
    published = 0
    while published < length:
        tenant = dice.choice(TENANTS)
        chance = dice.random()
        if chance < 0.25:
            made += 1
            ids[tenant].append(f"s{made}")
            yield Step("subscribe", tenant, (dice.choice(("ann", "bob", "eve")), f"s{made}", subscription(dice, words)))
        elif chance < 0.33 and ids[tenant]:
            yield Step("unsubscribe", tenant, (ids[tenant].pop(dice.randrange(len(ids[tenant]))),))
        elif chance < 0.38:
            yield Step("tick", tenant)
        elif chance < 0.40:
            yield Step("resume", tenant, (dice.randrange(1, 5_000_000),))
        elif chance < 0.45 and published:
            yield Step("withdraw", tenant, (f"e{dice.randrange(published)}",))
        elif chance < 0.47:
            yield Step("clock", tenant, (dice.choice((-30_000_000, 20_000_000)),))
        elif chance < 0.50:
            yield Step("unregister", tenant, (dice.choice(("ann", "bob")),))
        else:
            batch = []
            for _ in range(dice.choice((1, 3, 40))):
                said: dict[str, object] = {name: dice.randrange(70) for name in WORDS if dice.random() < 0.4}
                said["place"] = dice.choice(PLACES)
                own = dice.randrange(40) * 1_000_000 if dice.random() < 0.1 else None
                batch.append(Published(f"e{published}", said, f"s{dice.randrange(3)}", own, dice.random() < 0.05))
                published += 1
            yield Step("publish", tenant, tuple(batch))
    yield Step("tick", "a")
    yield Step("tick", "b")


class Teller:
    """A broker that hears a story; time passes by the story alone."""

    def __init__(self, config: Config, data: Path | None = None) -> None:
        self.now = 1_700_000_000_000_000
        self.config = config
        self.data = data
        self.broker = Broker(data, config, clock=lambda: self.now)
        self.owner: dict[str, str] = {}

    def tell(self, step: Step) -> None:
        """Let a step happen, and wait until it is on disk; what is refused is refused to both."""
        broker, tenant = self.broker, self.broker.tenant(step.tenant)
        self.now += 100_000
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
                wait_for(lambda done: broker.command(tenant, Tick(), done))
            case "resume", (int(by),):
                wait_for(lambda done: broker.command(tenant, Resume(by), done))
            case "withdraw", (str(id),):
                with_id = [each for each in TENANTS if self._withdraw(each, id)]
                assert len(with_id) <= 1
            case "clock", (int(by),):
                self.now += by
            case "publish", batch:
                events = []
                for each in batch:
                    assert isinstance(each, Published)
                    time = None if each.time is None else 1_700_000_000_000_000 + each.time
                    expires = self.now + 1_500_000 if each.ends else None
                    events.append(event(each.said, id=each.id, source=each.source, time=time, expires=expires))
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
        self.broker = Broker(self.data, self.config, clock=lambda: self.now)

    def stored(self) -> dict[str, list[tuple[object, ...]]]:
        """What was delivered, in words that do not depend on how events were matched together."""
        self.broker.wait_until_matched(300.0)
        found: dict[str, list[tuple[object, ...]]] = {}
        for name in TENANTS:
            tenant = self.broker.tenant(name)
            with self.broker.store.reading() as tables:
                rows = read_between(tables, tenant.number, 0, 2**60, 2**30)
            found[name] = [
                (d.event, d.cause, tuple(d.recipients.tolist()), tuple(d.matched.tolist()), d.scores, d.said)
                for d in rows
            ]
        return found


def differences(one: Teller, other: Teller) -> list[str]:
    """What two brokers delivered differently: as sets, and arrivals in their order."""
    said, found = [], other.stored()
    for name, rows in one.stored().items():
        alone, extra = Counter(rows) - Counter(found[name]), Counter(found[name]) - Counter(rows)
        said += [f"{name}: missing {row}" for row in alone] + [f"{name}: extra {row}" for row in extra]
        if [row for row in rows if row[1] == 0] != [row for row in found[name] if row[1] == 0]:
            said.append(f"{name}: arrivals stand in another order")
    return said


def compare(
    seed: int, length: int, config: Matching, *, disturb: Callable[[random.Random, Teller], None], words: bool = False,
    data: Path | None = None,
) -> tuple[int, list[str]]:  # fmt: skip
    """Tell a story to one process and to workers; how many events it had, and what differs."""
    one = Teller(Config(), None if data is None else data / "one")
    other = Teller(Config(matching=config), None if data is None else data / "other")
    dice, events = random.Random(seed + 1), 0
    try:
        for step in story(seed, length, words):
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
    staff = teller.broker.staff
    alive = [] if staff is None else [w for w in list(staff.crew.workers.values()) if w.process.poll() is None]
    if not alive:
        return False
    os.kill(dice.choice(alive).process.pid, signal.SIGKILL)
    return True


def want_workers(teller: Teller, count: int) -> None:
    """Let there be so many workers from now on."""
    elastic = teller.broker.elastic
    assert elastic is not None
    elastic.settings = msgspec.structs.replace(elastic.settings, minimum=count, maximum=count)


def settle(teller: Teller, seconds: float = 60.0) -> None:
    """Wait until there are as many workers as are wanted, for a while."""
    staff, elastic, end = teller.broker.staff, teller.broker.elastic, time.monotonic() + seconds
    assert staff is not None
    assert elastic is not None
    while time.monotonic() < end:
        count = len(staff.crew.workers)
        if not staff.under_way and elastic.settings.minimum <= count <= elastic.settings.maximum:
            return
        time.sleep(0.02)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--events", type=int, default=1_000_000)
    asked.add_argument("--kills", type=int, default=200)
    asked.add_argument("--state", type=Path, default=Path("build/interleavings.json"))
    asked.add_argument("--minutes", type=float, default=55.0)
    said = asked.parse_args()
    vars(housekeeping).update(TICK_SECONDS=1e9, SWEEP_SECONDS=1e9)  # time passes by the story alone
    done = json.loads(said.state.read_text()) if said.state.exists() else {"events": 0, "kills": 0, "stories": 0}
    end = time.monotonic() + 60 * said.minutes
    while (done["events"] < said.events or done["kills"] < said.kills) and time.monotonic() < end:
        seed = done["stories"]
        architecture = ("replicated", "partitioned", "hierarchical")[seed % 3]
        kills = 0

        def disturb(dice: random.Random, teller: Teller) -> None:
            nonlocal kills
            if dice.random() < 0.02:
                kills += kill_one(dice, teller)
            elif dice.random() < 0.03:
                want_workers(teller, dice.randint(1, 3))
                if dice.random() < 0.5:
                    settle(teller)

        matching = Matching(workers=2, architecture=architecture)  # type: ignore[arg-type]
        events, differ = compare(seed, 2_000, matching, disturb=disturb, words=seed % 2 == 1)
        if differ:
            raise SystemExit(f"story {seed} ({architecture}): " + "\n".join(differ[:20]))
        done = {"events": done["events"] + events, "kills": done["kills"] + kills, "stories": seed + 1}
        said.state.parent.mkdir(parents=True, exist_ok=True)
        said.state.write_text(json.dumps(done))
        print(json.dumps(done | {"load": os.getloadavg()[0]}), flush=True)


if __name__ == "__main__":
    main()
