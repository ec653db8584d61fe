"""Named regressions: the defects of the original engine (sources.md C), as checks any engine can be put through.

Each check takes `make_engine` and the kinds it may use; those that do not concern the kinds do nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from likewise.matching.engine import Engine
from likewise.model import Condition, Event, EventTuple, Interval, Kind, Predicate, Subscription, Top, ValueOf
from likewise.testing.contract import EnginePair, MakeEngine
from likewise.testing.generators import SeededChoice
from likewise.testing.oracle import Mismatch, OracleSettings

Check = Callable[[MakeEngine, frozenset[Kind], OracleSettings], None]


def removed_never_match(make_engine: MakeEngine, kinds: frozenset[Kind], setting: OracleSettings) -> None:
    """Check defect 1: after random removals no removed subscription matches and none of the others is lost."""
    choice = SeededChoice(11)
    pair = EnginePair(make_engine, kinds, setting)
    for _ in range(60):
        for _ in range(8):
            pair.add(choice)
        while len(pair.held) > 25:
            pair.remove(choice)
        drawn = [pair.draw_event(choice) for _ in range(10)]
        pair.compare_batch([event for event, _ in drawn], [at for _, at in drawn])


def grandchildren_stay(make_engine: MakeEngine, kinds: frozenset[Kind], setting: OracleSettings) -> None:
    """Check defect 2: in a chain of ever narrower intervals, removing any of them, the root too, hides no other."""
    if "exact" not in kinds:
        return
    engine = make_engine()
    for ordinal in range(6):
        engine.add(ordinal, _within("x", 0.0 + ordinal, 20.0 - ordinal, f"s{ordinal}"), 0)
    left = list(range(6))
    for removed in (0, 3, 1, 5):
        engine.remove(removed)
        left.remove(removed)
        _expect_matches(engine, Event((EventTuple("x", 10),)), left)


def between_equals_itself(make_engine: MakeEngine, kinds: frozenset[Kind], setting: OracleSettings) -> None:
    """Check defect 3: two identical `between` both match, and either stays when the other goes; 9 is not 7."""
    if "exact" not in kinds:
        return
    engine = make_engine()
    for ordinal in range(2):
        engine.add(ordinal, _within("x", 5.0, 8.0, f"s{ordinal}"), 0)
    engine.add(2, Subscription(Condition((Predicate("x", "=", 7.0),)), "seven"), 0)
    _expect_matches(engine, Event((EventTuple("x", 7),)), [0, 1, 2])
    _expect_matches(engine, Event((EventTuple("x", 9),)), [])
    engine.remove(0)
    _expect_matches(engine, Event((EventTuple("x", 7),)), [1, 2])


def many_recipients(make_engine: MakeEngine, kinds: frozenset[Kind], setting: OracleSettings) -> None:
    """Check defect 4: an event that 5,000 subscriptions match reaches every one of them."""
    if "exact" not in kinds:
        return
    engine = make_engine()
    for ordinal in range(5_000):
        engine.add(ordinal, _within("x", -1.0 - ordinal % 7, 1.0 + ordinal, f"s{ordinal}"), 0)
    _expect_matches(engine, Event((EventTuple("x", 0),)), list(range(5_000)))


def deep_covering(make_engine: MakeEngine, kinds: frozenset[Kind], setting: OracleSettings) -> None:
    """Check defect 8: a chain of 2,500 subscriptions, each covering the next, is added, matched and removed."""
    if "exact" not in kinds:
        return
    engine = make_engine()
    depth = 2_500
    for ordinal in range(depth):
        engine.add(ordinal, _within("x", float(ordinal), 10_000.0 - ordinal, f"s{ordinal}"), 0)
    _expect_matches(engine, Event((EventTuple("x", 5_000),)), list(range(depth)))
    for ordinal in range(0, depth, 2):
        engine.remove(ordinal)
    _expect_matches(engine, Event((EventTuple("x", 5_000),)), list(range(1, depth, 2)))


def top_k_forgets(make_engine: MakeEngine, kinds: frozenset[Kind], setting: OracleSettings) -> None:
    """Check defect 5: a removed top-k subscription is gone, windows expire, a missing attribute makes no candidate."""
    if "top" not in kinds:
        return
    engine = make_engine()
    best = Subscription(Condition((Predicate("x", "exists"),)), "best", top=Top(1, ValueOf("y"), duration=10))
    for ordinal in range(2):
        engine.add(ordinal, best, 0)
    _expect_matches(engine, Event((EventTuple("x", 1),), id="no y", expires=2**60), [], at=1)
    _expect_matches(engine, Event((EventTuple("x", 1), EventTuple("y", 1)), id="first"), [0, 1], at=1)
    _expect_matches(engine, Event((EventTuple("x", 1), EventTuple("y", 2)), id="second"), [], at=2)
    engine.remove(0)
    promoted = [(ordinal, match.event_id, match.cause) for ordinal, match in engine.advance(11)]
    if promoted != [(1, "second", "promoted")]:
        raise Mismatch(f"{type(engine).__name__}.advance: expected `second` promoted for 1 alone, found {promoted}")


REGRESSIONS: dict[str, Check] = {
    check.__name__: check
    for check in (
        removed_never_match,
        grandchildren_stay,
        between_equals_itself,
        many_recipients,
        deep_covering,
        top_k_forgets,
    )
}


def check_regressions(
    make_engine: MakeEngine, *, kinds: Iterable[Kind] | None = None, setting: OracleSettings | None = None
) -> None:
    """Put an engine through every named regression of its kinds; raises `Difference`.

    >>> from likewise.matching.oracle.engine import OracleEngine
    >>> check_regressions(OracleEngine, kinds=["interest"])
    """
    chosen: frozenset[Kind] = frozenset(make_engine().kinds if kinds is None else kinds)
    for check in REGRESSIONS.values():
        check(make_engine, chosen, OracleSettings() if setting is None else setting)


def _within(attribute: str, low: float, high: float, id: str) -> Subscription:
    return Subscription(Condition((Predicate(attribute, "between", Interval(low, high)),)), id)


def _expect_matches(engine: Engine, event: Event, ordinals: list[int], at: int = 0) -> None:
    actual = engine.find(event, at).ordinals.tolist()
    if actual != ordinals:
        lost, extra = sorted(set(ordinals) - set(actual))[:5], sorted(set(actual) - set(ordinals))[:5]
        raise Mismatch(f"{type(engine).__name__}.find: lost {lost}, wrongly found {extra} for {event}")
