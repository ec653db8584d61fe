"""The contract every engine keeps: under any interleaving of calls it answers as the oracle does.

`check_engine` searches interleavings of add, remove, find, match, match_batch, advance, withdraw, explain,
save and load with hypothesis, which shrinks what it finds. `likewise.testing.compare_bulk` compares many
more pairs in less time.

Many pairs in little time: an engine compared with the oracle on seeded subscriptions and events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from likewise.errors import DuplicateId, MissingDependency, UnknownId
from likewise.formats.arrow.event_batch import EventBatch
from likewise.matching.engine import Addition, BaseEngine, Engine, EngineBatchResult, EngineResult
from likewise.model import Condition, Event, EventTuple, Interval, Kind, Match, Predicate, Subscription, Top, ValueOf
from likewise.testing.generators import FIXED, Choice, DrawnChoice, GeneratorVocabulary, SeededChoice
from likewise.testing.generators import event as random_event
from likewise.testing.generators import subscription as random_subscription
from likewise.testing.oracle import (
    Mismatch,
    OracleSettings,
    compare_explanations,
    compare_matches,
    compare_results,
    engine_name,
)

if TYPE_CHECKING:
    from hypothesis.stateful import RuleBasedStateMachine

MakeEngine = Callable[[], Engine]


class EnginePair:
    """An engine and the oracle side by side: each call goes to both, and their answers are compared."""

    def __init__(self, make_engine: MakeEngine, kinds: Iterable[Kind] | None, setting: OracleSettings) -> None:
        self.make_engine = make_engine
        self.setting = setting
        self.engine = make_engine()
        self.oracle = setting.oracle()
        self.name = engine_name(self.engine)
        self.kinds: frozenset[Kind] = frozenset(self.engine.kinds if kinds is None else kinds)
        self.windows = not self.kinds.isdisjoint({"top", "alert"})
        self.held: dict[int, tuple[Subscription, int]] = {}
        self.next_ordinal = 0
        self.now = 0
        self.published: list[Event] = []

    def vocabulary(self, choice: Choice) -> GeneratorVocabulary:
        """Return the vocabulary of the next subscription or event."""
        return FIXED

    def _draw_addition(self, choice: Choice) -> Addition | None:
        """Draw a random subscription under the next ordinal; return None if the engine does not serve it."""
        kind = choice.pick(sorted(self.kinds))
        subscription = random_subscription(choice, kind, f"s{self.next_ordinal}", self.vocabulary(choice))
        if not self.engine.serves(subscription):
            return None
        addition = Addition(self.next_ordinal, subscription, self.now)
        self.next_ordinal += 1 + choice.integer(0, 1)
        return addition

    def add(self, choice: Choice) -> None:
        """Add a random subscription; one the engine does not serve is left out."""
        drawn = self._draw_addition(choice)
        if drawn is None:
            return
        self.engine.add(*drawn)
        self.oracle.add(*drawn)
        self.held[drawn.ordinal] = (drawn.subscription, drawn.at)
        self.check_size()

    def add_many(self, choice: Choice, count: int) -> None:
        """Add random subscriptions together."""
        drawn = [a for a in (self._draw_addition(choice) for _ in range(count)) if a is not None]
        for engine in (self.engine, self.oracle):
            assert isinstance(engine, BaseEngine)  # which alone adds many at once
            engine.add_many(drawn)
        self.held |= {ordinal: (subscription, at) for ordinal, subscription, at in drawn}
        self.check_size()

    def remove(self, choice: Choice) -> None:
        """Remove one of the subscriptions; it is gone at once and for good."""
        ordinal = choice.pick(list(self.held))
        self.forget(ordinal)
        self.check_size()

    def forget(self, ordinal: int) -> None:
        """Remove a subscription from both."""
        self.engine.remove(ordinal)
        self.oracle.remove(ordinal)
        del self.held[ordinal]

    def check_size(self) -> None:
        """Check that the engine has as many subscriptions as were added."""
        if len(self.engine) != len(self.held):
            raise Mismatch(f"{self.name}: holds {len(self.engine)} subscriptions, was given {len(self.held)}")

    def refuse(self) -> None:
        """Check that adding an ordinal twice and removing an unknown one are refused, and change nothing."""
        if self.held:
            ordinal, (subscription, at) = next(iter(self.held.items()))
            _expect(DuplicateId, lambda: self.engine.add(ordinal, subscription, at), self.name)
        _expect(UnknownId, lambda: self.engine.remove(self.next_ordinal + 7), self.name)
        self.check_size()

    def draw_event(self, choice: Choice) -> tuple[Event, int]:
        """Draw a random event and its arrival, which may be a little in the past."""
        self.now += choice.integer(0, 4)
        number = len(self.published)
        id = choice.pick((f"e{number}", f"e{number}", f"e{number}", None, f"e{max(0, number - 1)}"))
        at = self.now - choice.integer(0, 1) if choice.integer(0, 5) == 5 else self.now
        event = random_event(choice, self.kinds, id, at, self.setting.lateness, self.vocabulary(choice))
        self.published.append(event)
        return event, at

    def find(self, choice: Choice) -> None:
        """Compare `find`."""
        event, at = self.draw_event(choice)
        expected, actual = self.oracle.find(event, at), self.engine.find(event, at)
        compare_results(self.setting, self.oracle, event, expected, actual, f"{self.name}.find")

    def match(self, choice: Choice) -> None:
        """Compare `match`."""
        event, at = self.draw_event(choice)
        expected, actual = self.oracle.match(event, at), self.engine.match(event, at)
        self._compare(event, expected, actual, "match")

    def match_batch(self, choice: Choice) -> None:
        """Compare `match_batch`, of events or of a table of them."""
        drawn = [self.draw_event(choice) for _ in range(choice.integer(0, 4))]
        table = choice.integer(0, 1) == 1
        self.compare_batch([event for event, _ in drawn], [when for _, when in drawn], as_table=table)

    def compare_batch(self, events: list[Event], at: list[int], *, as_table: bool = False) -> int:
        """Compare a batch: arrivals and promotions; return how many matched on arrival."""
        batch = EventBatch.from_events(events) if as_table else events
        expected, actual = self.oracle.match_batch(events, at), self.engine.match_batch(batch, at)
        if len(actual.counts) != len(events) or actual.counts.sum() != len(actual.ordinals):
            raise Mismatch(f"{self.name}.match_batch: counts do not fit the batch: {actual.counts.tolist()}")
        for index, event in enumerate(events):
            a, b = _part(expected, index), _part(actual, index)
            compare_results(self.setting, self.oracle, event, a, b, f"{self.name}.match_batch")
        promoted = [[(p.event_index, p.match) for p in results.promoted] for results in (expected, actual)]
        self._compare(None, promoted[0], promoted[1], "match_batch, promoted")
        return len(expected.ordinals)

    def advance(self, choice: Choice) -> None:
        """Compare `advance`, at times by nothing, at times far."""
        self.now += choice.pick((1, 3, 0, 20))
        self._compare(None, self.oracle.advance(self.now), self.engine.advance(self.now), "advance")

    def withdraw(self, choice: Choice) -> None:
        """Compare `withdraw`, of an event that was published, or of none."""
        id = choice.pick(self.published[-6:]).id if self.published else None
        id = id or "never published"
        self._compare(None, self.oracle.withdraw(id), self.engine.withdraw(id), "withdraw")

    def explain(self, choice: Choice) -> None:
        """Compare `explain`; that nothing changed shows in the calls after it."""
        ordinal = choice.pick(list(self.held))
        event = random_event(choice, self.kinds, None, self.now, words=self.vocabulary(choice))
        expected, actual = (e.explain(event, ordinal, self.now) for e in (self.oracle, self.engine))
        subscription = self.held[ordinal][0]
        compare_explanations(self.setting, subscription, event, expected, actual, f"{self.name}.explain")
        if not self.windows:  # where nothing is remembered, finding once more changes nothing
            matches = ordinal in self.oracle.find(event, self.now).ordinals.tolist()
            if matches != (expected.verdict == "match"):
                raise Mismatch(f"match: {matches}, but explained as {expected}\n  {subscription}\n  {event}")

    def save_and_load(self) -> None:
        """Save the engine, make a new one, give it the same subscriptions and load; go on with that one."""
        with TemporaryDirectory() as folder:
            self.engine.save(Path(folder))
            fresh = self.make_engine()
            for ordinal, (subscription, at) in sorted(self.held.items()):
                fresh.add(ordinal, subscription, at)
            fresh.load(Path(folder))
        self.engine = fresh
        self.check_size()

    def _compare(
        self, event: Event | None, expected: list[tuple[int, Match]], actual: list[tuple[int, Match]], call: str
    ) -> None:
        compare_matches(self.setting, self.oracle, event, expected, actual, f"{self.name}.{call}")


Call = Callable[[Choice], None]


class ComparisonCounts(NamedTuple):
    """The number of pairs of subscription and event that were compared, and of those that matched."""

    pairs: int
    matches: int
    events: int


def compare_bulk(
    make_engine: MakeEngine,
    kinds: Iterable[Kind] | None = None,
    pairs: int = 1_000_000,
    *,
    seed: int = 0,
    setting: OracleSettings | None = None,
    subscriptions: int = 400,
    batch: int = 64,
) -> ComparisonCounts:
    """Compare an engine with the oracle on at least `pairs` pairs; raises `Difference` at the first that differs.

    Subscriptions come and go between batches. Batches go through `match_batch` and `find` in turn.

    >>> from likewise.matching.oracle.engine import OracleEngine
    >>> done = compare_bulk(OracleEngine, ["exact"], 2_000, subscriptions=40)
    >>> done.pairs >= 2_000, done.matches > 0
    (True, True)
    """
    choice = SeededChoice(seed)
    pair = EnginePair(make_engine, kinds, OracleSettings() if setting is None else setting)
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
    return ComparisonCounts(compared, matches, events)


def compare_interleavings(
    make_engine: MakeEngine,
    kinds: Iterable[Kind] | None = None,
    calls: int = 2_000,
    *,
    seed: int = 0,
    setting: OracleSettings | None = None,
    subscriptions: int = 12,
) -> None:
    """Compare seeded random calls of every sort on an engine and the oracle; raise `Mismatch` at the first that
    differs.

    It covers what `check_engine` covers, deeper and faster, but does not shrink what it finds.

    >>> from likewise.matching.oracle.engine import OracleEngine
    >>> compare_interleavings(OracleEngine, ["exact"], 100)
    """
    choice = SeededChoice(seed)
    pair = EnginePair(make_engine, kinds, OracleSettings() if setting is None else setting)
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


def _by_find(pair: EnginePair, events: list[Event], moments: list[int]) -> int:
    matches = 0
    for event, at in zip(events, moments, strict=True):
        expected, actual = pair.oracle.find(event, at), pair.engine.find(event, at)
        compare_results(pair.setting, pair.oracle, event, expected, actual, f"{pair.name}.find")
        matches += len(expected.ordinals)
    return matches


def _part(batch: EngineBatchResult, index: int) -> EngineResult:
    chosen = batch.event_index == index
    return EngineResult(batch.ordinals[chosen], None if batch.scores is None else batch.scores[chosen])


def _expect(error: type[Exception], call: Callable[[], None], name: str) -> None:
    try:
        call()
    except error:
        return
    raise Mismatch(f"{name}: expected {error.__name__}, nothing was raised")


def engine_machine(
    make_engine: MakeEngine, *, kinds: Iterable[Kind] | None = None, setting: OracleSettings | None = None
) -> type[RuleBasedStateMachine]:
    """Return a hypothesis state machine over the engine, for `run_state_machine_as_test` or as a `TestCase`."""
    try:
        from hypothesis import strategies as st
        from hypothesis.stateful import RuleBasedStateMachine, precondition, rule
    except ImportError:
        raise MissingDependency("hypothesis", "dev") from None

    chosen = OracleSettings() if setting is None else setting

    def compared(call: str) -> Any:
        """Return a rule that draws what a call of the pair needs."""

        def run(self: EngineContract, data: Any) -> None:
            getattr(self.pair, call)(DrawnChoice(data.draw))

        run.__name__ = call  # as a step that is printed
        return rule(data=st.data())(run)

    def compared_while_held(call: str) -> Any:
        """Return the same for a call that needs a subscription."""
        return precondition(lambda self: self.pair.held)(compared(call))

    class EngineContract(RuleBasedStateMachine):
        """Random calls, each compared with the oracle."""

        def __init__(self) -> None:
            super().__init__()
            self.pair = EnginePair(make_engine, kinds, chosen)

        add, find, match, match_batch = map(compared, ("add", "find", "match", "match_batch"))
        advance, withdraw = compared("advance"), compared("withdraw")
        remove, explain = compared_while_held("remove"), compared_while_held("explain")

        # Several rules may do the same: the more of them, the more often it is done.
        @rule(data=st.data())
        def add_some(self, data: Any) -> None:
            for _ in range(3):
                self.pair.add(DrawnChoice(data.draw))

        @rule()
        def refuse(self) -> None:
            self.pair.refuse()

        @rule()
        def save_and_load(self) -> None:
            self.pair.save_and_load()

    return EngineContract


def check_engine(
    make_engine: MakeEngine,
    *,
    kinds: Iterable[Kind] | None = None,
    setting: OracleSettings | None = None,
    examples: int | None = None,
    steps: int = 30,
    shrink: bool = True,
) -> None:
    """Search interleavings of calls for one that the engine answers otherwise than the oracle; raise `Mismatch`.

    `kinds` are the engine's own unless named. The engine must be made with the measures, threshold and
    lateness of `setting`. `examples` follows the loaded hypothesis profile. Shrinking what was found takes
    a minute or two and may be left out.

    >>> from likewise.matching.oracle.engine import OracleEngine
    >>> check_engine(lambda: OracleEngine(), kinds=["interest"], examples=3)
    """
    machine = engine_machine(make_engine, kinds=kinds, setting=setting)
    from hypothesis import HealthCheck, Phase, settings
    from hypothesis.stateful import run_state_machine_as_test

    chosen = settings(
        deadline=None,
        stateful_step_count=steps,
        suppress_health_check=list(HealthCheck),
        max_examples=settings().max_examples if examples is None else examples,
        phases=list(Phase) if shrink else [Phase.generate],
        report_multiple_bugs=False,
    )
    run_state_machine_as_test(machine, settings=chosen)


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
