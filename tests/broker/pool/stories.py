"""Generated stories of what happens to a broker: events of every form, subscriptions of every kind, time that is set.

A story is the same for each who hears it. `batches` are the numbers of events that come together; few large ones make
a story quick to tell, many small ones make it dense with changes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

WORDS = ("no2", "pm10", "temperature", "humidity", "x")
PLACES = ("roof", "cellar", "hall", "yard")
TENANTS = ("a", "b")
SUBSCRIBERS = ("ann", "bob", "eve")
BRIEF = (1, 3, 40)
LONG = (1, 3, 40, 400, 1_500)
MOST = 40  # subscriptions of a tenant; beyond, one goes for each that comes


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
    graph: tuple[tuple[str, str, str], ...] = ()


def subscription(dice: random.Random, words: bool) -> str:
    """A subscription of any kind; with relaxed parts among them if `words` are to be judged."""
    name, value = dice.choice(WORDS), dice.randrange(60)
    near = f"{name}~" if words and dice.random() < 0.3 else name
    exact = f"{near} {dice.choice(['>', '<', '>=', '<='])} {value}"
    span = f"{dice.randint(2, 9)} s"
    match dice.randrange(16):
        case 0:
            return f"{{{name} exists}} top {dice.randint(1, 3)} within {dice.randint(2, 20)} events by value({name})"
        case 1:
            return (
                f"{{{name} > {value}}} top {dice.randint(1, 3)} within {dice.randint(1, 40)} s by value({name}) highest"
            )
        case 2:
            return f"{{{name} > {value}}} for {span}"
        case 3:
            return f"{{{name} > {value}}} once until false"
        case 4:
            return f"{{{name} > {value}}} per place at most every {span}"
        case 5:
            return f"{{{name} > {value}}} per place absent for {span}"
        case 6:
            return f"{{{name} > {value}}} digest every {span}"
        case 7:
            return f"{{{exact}, place = {dice.choice(PLACES)}}}"
        case 8:
            return f"{{{exact}}} valid for {dice.randint(2, 60)} s"
        case 9:
            return f"{{({exact} or not place = {dice.choice(PLACES)})}}"
        case 10:
            return f"?s <http://e.org/{name}> {dice.choice(('?o', '<http://e.org/roof>'))}"
        case 11:
            return f"near (?s, <http://e.org/{name}>, ?o) radius 0.{dice.randint(2, 9)} by spelling"
        case 12:
            return f"[{', '.join(dice.choice('01*') for _ in range(2))}, 1]"
        case 13 if words:
            return f'event place "{dice.choice(PLACES)}"'
        case _:
            return f"{{{exact}}}"


def published(dice: random.Random, number: int, ends: float) -> Published:
    """An event: some readings and a place, now and then a vector, statements, a time of its own; some end soon."""
    said: dict[str, object] = {name: dice.randrange(70) for name in WORDS if dice.random() < 0.4}
    said["place"] = dice.choice(PLACES)
    if dice.random() < 0.1:
        said |= {f"p{n}": dice.random() < 0.5 for n in (1, 2, 3)}
    graph: tuple[tuple[str, str, str], ...] = ()
    if dice.random() < 0.1:
        graph = (
            (
                f"<http://e.org/s{number % 7}>",
                f"<http://e.org/{dice.choice(WORDS)}>",
                f"<http://e.org/{said['place']}>",
            ),
        )
    own = dice.randrange(40) * 1_000_000 if dice.random() < 0.1 else None
    return Published(f"e{number}", said, f"s{dice.randrange(3)}", own, dice.random() < ends, graph)


def story(seed: int, length: int, words: bool = False, batches: Sequence[int] = BRIEF) -> Iterator[Step]:
    """Steps of a story with so many events, at least."""
    dice, made, ids = random.Random(seed), 0, {tenant: list[str]() for tenant in TENANTS}
    for tenant in TENANTS:
        for name in SUBSCRIBERS:
            yield Step("register", tenant, (name,))
    count = 0
    while count < length:
        tenant = dice.choice(TENANTS)
        chance = dice.random()
        if chance < 0.25:
            made += 1
            ids[tenant].append(f"s{made}")
            yield Step("subscribe", tenant, (dice.choice(SUBSCRIBERS), f"s{made}", subscription(dice, words)))
            if len(ids[tenant]) > MOST:
                yield Step("unsubscribe", tenant, (ids[tenant].pop(dice.randrange(len(ids[tenant]))),))
        elif chance < 0.33 and ids[tenant]:
            yield Step("unsubscribe", tenant, (ids[tenant].pop(dice.randrange(len(ids[tenant]))),))
        elif chance < 0.38:
            yield Step("tick", tenant)
        elif chance < 0.40:
            yield Step("resume", tenant, (dice.randrange(1, 5_000_000),))
        elif chance < 0.45 and count:
            yield Step("withdraw", tenant, (f"e{dice.randrange(count)}",))
        elif chance < 0.47:
            yield Step("clock", tenant, (dice.choice((-30_000_000, 20_000_000)),))
        elif chance < 0.50:
            yield Step("unregister", tenant, (dice.choice(("ann", "bob")),))
        else:
            size = dice.choice(batches)
            ends = 0.05 if size <= 40 else 0.95  # else each new subscription would be shown tens of thousands
            batch = tuple(published(dice, number, ends) for number in range(count, count + size))
            yield Step("publish", tenant, batch)
            count += size
    yield Step("tick", "a")
    yield Step("tick", "b")
