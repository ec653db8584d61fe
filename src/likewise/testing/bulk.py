"""Many pairs in little time: an engine compared with the oracle on seeded subscriptions and events."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from likewise.model import Event, Kind
from likewise.testing.contract import MakeEngine, Pair
from likewise.testing.generators import Choice, SeededChoice
from likewise.testing.oracle import Setting, compare_found

Call = Callable[[Choice], None]


class Compared(NamedTuple):
    """How much was compared: pairs of subscription and event, and how many of them matched."""

    pairs: int
    matches: int
    events: int


def compare_bulk(
    make_engine: MakeEngine,
    kinds: Iterable[Kind] | None = None,
    pairs: int = 1_000_000,
    *,
    seed: int = 0,
    setting: Setting | None = None,
    subscriptions: int = 400,
    batch: int = 64,
) -> Compared:
    """Compare an engine with the oracle on at least `pairs` pairs; raises `Difference` at the first that differs.

    Subscriptions come and go between batches. Batches go through `match_batch` and `find` in turn.

    >>> from likewise.matching.oracle.engine import NaiveEngine
    >>> done = compare_bulk(NaiveEngine, ["exact"], 2_000, subscriptions=40)
    >>> done.pairs >= 2_000, done.matches > 0
    (True, True)
    """
    choice = SeededChoice(seed)
    pair = Pair(make_engine, kinds, Setting() if setting is None else setting)
    compared = matches = events = turn = 0
    while compared < pairs:
        while pair.held and len(pair.held) > subscriptions * 2 // 3:
            pair.remove(choice)
        for _ in range(4 * subscriptions):  # an engine may serve only some of those drawn
            if len(pair.held) >= subscriptions:
                break
            pair.add(choice)
        drawn = [pair.draw_event(choice) for _ in range(batch)]
        pair.published.clear()
        batched, moments = [event for event, _ in drawn], [at for _, at in drawn]
        if turn % 2 and not pair.windows:
            matches += _by_find(pair, batched, moments)
        else:
            matches += pair.compare_batch(batched, moments)
        compared += len(pair.held) * batch
        events += batch
        turn += 1
    return Compared(compared, matches, events)


def compare_interleavings(
    make_engine: MakeEngine,
    kinds: Iterable[Kind] | None = None,
    calls: int = 2_000,
    *,
    seed: int = 0,
    setting: Setting | None = None,
    subscriptions: int = 12,
) -> None:
    """Seeded random calls of every sort on an engine and the oracle; raises `Difference` at the first that differs.

    It covers what `check_engine` covers, deeper and faster, but does not shrink what it finds.

    >>> from likewise.matching.oracle.engine import NaiveEngine
    >>> compare_interleavings(NaiveEngine, ["exact"], 100)
    """
    choice = SeededChoice(seed)
    pair = Pair(make_engine, kinds, Setting() if setting is None else setting)
    publish: tuple[Call, ...] = (pair.find, pair.match, pair.match_batch)
    others: tuple[Call, ...] = (pair.advance, pair.withdraw, lambda _: pair.refuse(), lambda _: pair.save_and_load())
    for _ in range(calls):
        turn = choice.integer(0, 19)
        if not pair.held or (turn < 5 and len(pair.held) < subscriptions):
            pair.add(choice)
        elif turn < 5 or turn == 5:
            pair.remove(choice)
        elif turn < 15:
            choice.pick(publish)(choice)
        elif turn < 17:
            pair.explain(choice)
        else:
            choice.pick(others)(choice)


def _by_find(pair: Pair, events: list[Event], moments: list[int]) -> int:
    found = 0
    for event, at in zip(events, moments, strict=True):
        expected, actual = pair.oracle.find(event, at), pair.engine.find(event, at)
        compare_found(pair.setting, pair.oracle, event, expected, actual, f"{pair.name}.find")
        found += len(expected.ordinals)
    return found
