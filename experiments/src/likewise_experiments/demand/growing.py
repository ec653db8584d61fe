"""How the index of demand grows: time and memory with many subscriptions and many announcements."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from random import Random

import msgspec

from likewise.language import parse
from likewise.matching.demand.index import DemandIndex
from likewise.matching.matcher import Matcher
from likewise.model import Subscription
from likewise.model.announcements.announcement import AnnouncedAttribute, Announcement, Area
from likewise_experiments.demand.generating import QUANTITIES

ROOMS = 1_000


class Grown(msgspec.Struct, frozen=True):
    """What so many cost, in CPU time: a subscription, an announcement, one more of each at the end; memory in all.

    `wanted` is how many subscriptions a source is asked for, on average.
    """

    subscriptions: int
    announcements: int
    microseconds_a_subscription: float
    milliseconds_an_announcement: float
    milliseconds_of_one_more_subscription: float
    megabytes: float
    wanted: float


def grow(
    sizes: Sequence[tuple[int, int]], seed: int = 1, progress: Callable[[str], None] = lambda said: None
) -> list[Grown]:
    """Fill an index of each size: subscriptions of a room, of a place, and relaxed ones; announcements of rooms."""
    found = []
    for subscriptions, announcements in sizes:
        progress(f"{subscriptions:,} subscriptions, {announcements:,} announcements")
        found.append(_grow(Random(seed), subscriptions, announcements))
    return found


def _grow(chance: Random, subscriptions: int, announcements: int) -> Grown:
    index = DemandIndex(Matcher().interpretation)
    wanted = [_subscription(chance, f"s{n}") for n in range(subscriptions)]
    index.add(-1, parse("{temperature~ > 1 degC}", id="opens the space"))
    index.announce(Announcement("opens the space", (AnnouncedAttribute("temp"),)))
    before = _resident()
    begun = time.process_time()
    for number, each in enumerate(wanted):
        index.add(number, each)
    added = time.process_time() - begun
    begun = time.process_time()
    for n in range(announcements):
        index.announce(_announcement(chance, f"source {n}"))
    announced = time.process_time() - begun
    more = [_subscription(chance, f"more{n}") for n in range(20)]
    begun = time.process_time()
    for number, each in enumerate(more, subscriptions):
        index.add(number, each)
    one_more = (time.process_time() - begun) / len(more)
    used = max(0.0, _resident() - before)
    asked = sum(len(index.subscriptions_of(source)) for source in index.sources()) / max(1, len(index.sources()))
    return Grown(
        subscriptions,
        announcements,
        round(added / max(1, subscriptions) * 1e6, 1),
        round(announced / max(1, announcements) * 1e3, 2),
        round(one_more * 1e3, 2),
        round(used, 1),
        round(asked, 1),
    )


def _resident() -> float:
    """The megabytes that this process has in memory."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def _subscription(chance: Random, id: str) -> Subscription:
    quantity = chance.choice(QUANTITIES)
    level = f"{quantity.low + (quantity.high - quantity.low) * chance.random():.3g}"
    kind = chance.random()
    if kind < 0.6:
        return parse(f'{{room = room {chance.randrange(ROOMS)}, "{quantity.asked[0]}"~ > {level}}}', id=id)
    if kind < 0.95:
        lat, long = 45 + 5 * chance.random(), 15 + 5 * chance.random()
        return parse(
            f"{{{quantity.names[0]} > {level}, {lat:.4f} <= lat <= {lat + 0.01:.4f}, "
            f"{long:.4f} <= long <= {long + 0.01:.4f}}}",
            id=id,
        )
    return parse(f'{{"{quantity.asked[0]}"~ > {level}, owner = owner {chance.randrange(ROOMS)}}}', id=id)


def _announcement(chance: Random, source: str) -> Announcement:
    quantities = chance.sample(QUANTITIES, 3)
    attributes = [AnnouncedAttribute(chance.choice(q.names), low=q.low, high=q.high) for q in quantities]
    attributes.append(AnnouncedAttribute("room", values=(f"room {chance.randrange(ROOMS)}",)))
    lat, long = 45 + 5 * chance.random(), 15 + 5 * chance.random()
    return Announcement(source, tuple(attributes), area=Area((lat, lat + 0.02), (long, long + 0.02)))
