"""The thematic engine answers as the plain evaluation does, whatever is asked, forgotten or learned."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.formats.arrow.event_batch import EventBatch
from likewise.matching.engine import EngineBatchResult, EngineResult
from likewise.matching.oracle.engine import OracleEngine
from likewise.matching.thematic.engine import CHUNK, ThematicEngine
from likewise.matching.thematic.match_kernels import UNCONTESTED, assigned, best_assignment
from likewise.model import Condition, Event, EventTuple, Kind, Predicate, Quantity, Subscription, event
from likewise.semantics.feedback import Feedback, JudgedMeasure, judged_by, term_pair
from likewise.testing import OracleSettings, TableMeasure, check_engine, check_regressions, compare_bulk
from likewise.testing.generators import SeededChoice
from likewise.testing.generators import event as any_event
from likewise.testing.generators import subscription as any_subscription

LEVELS = [0.0, 0.2, 0.5, 0.7, 0.9, 1.0]
APPROXIMATE: frozenset[Kind] = frozenset({"approximate"})


def engine_at(threshold: float, cache_bytes: int = 2**26) -> ThematicEngine:
    """An engine with the measure of the tests' setting."""
    return ThematicEngine(OracleSettings().measure, threshold, cache_bytes)


def scores_of(found: EngineResult | EngineBatchResult) -> list[float]:
    """The scores as numbers."""
    assert found.scores is not None
    return [float(score) for score in found.scores]


@pytest.mark.parametrize("kind", ["approximate", "exact"])
def test_keeps_the_contract_of_engines(kind: str) -> None:
    """Add, remove, find, match, batch, explain, save and load in any order."""
    check_engine(lambda: engine_at(OracleSettings().threshold), kinds=[kind])  # type: ignore[list-item]


def test_has_none_of_the_originals_defects() -> None:
    """The named regressions of sources.md that concern its kinds."""
    check_regressions(lambda: engine_at(OracleSettings().threshold))


@pytest.mark.parametrize("threshold", [0.5, 0.0, 0.3, 0.9])
def test_answers_as_the_oracle_on_many_pairs_at_any_threshold(threshold: float) -> None:
    """At threshold 0 every related pair is ranked; at others weak ones are cut, none too many."""
    setting = OracleSettings(threshold=threshold)
    compared = compare_bulk(lambda: engine_at(threshold), ["approximate"], 60_000, setting=setting, subscriptions=150)
    assert compared.matches > 100


def test_answers_as_the_oracle_on_exact_subscriptions() -> None:
    """An exact condition is one without relaxed parts."""
    assert compare_bulk(lambda: engine_at(0.5), ["exact"], 60_000).matches > 100


def test_forgetting_under_a_tiny_cache_changes_no_answer() -> None:
    """Lists and rows are dropped all the time, and computed again."""
    engines: list[ThematicEngine] = []

    def tiny() -> ThematicEngine:
        engines.append(engine_at(0.5, cache_bytes=4_000))
        return engines[-1]

    compare_bulk(tiny, ["approximate"], 30_000, subscriptions=60)
    assert engines[0].lists.dropped > 100
    assert len(engines[0].lists) < 200


def test_memory_stays_bounded_whatever_streams_by() -> None:
    """Many distinct pairs pass; what is held does not grow past the bound."""
    engine = engine_at(0.5, cache_bytes=200_000)
    engine.add(0, Subscription(Condition((Predicate("room", "=", "office", True, True),)), "s"), 0)
    for start in range(0, 20_000, 500):
        part = [Event((EventTuple("room", f"r{n}"),)) for n in range(start, start + 500)]
        engine.match_batch(part, [0] * len(part))
        assert engine.lists.bytes < 600_000  # the bound and one batch's lists
    assert engine.lists.dropped > 10_000


def in_columns(events: list[Event]) -> EventBatch:
    """The same events as columns, none of them an object."""
    return EventBatch.from_arrow(EventBatch.from_events(events).to_arrow())


def test_columns_are_matched_as_events_while_lists_are_dropped() -> None:
    """More events than a chunk, under a cache that keeps next to nothing."""
    choice = SeededChoice(5)
    plain, tiny = engine_at(0.3), engine_at(0.3, cache_bytes=4_000)
    for ordinal in range(40):
        asked = any_subscription(choice, "approximate", f"s{ordinal}")
        for engine in (plain, tiny):
            engine.add(ordinal, asked, 0)
    events = [any_event(choice, APPROXIMATE, None, 0) for _ in range(3 * CHUNK + 7)]
    wanted = plain.match_batch(events, [0] * len(events))
    found = tiny.match_batch(in_columns(events), [0] * len(events))
    assert len(wanted.ordinals) > 100
    assert tiny.lists.dropped > 100
    assert found.event_index.tolist() == wanted.event_index.tolist()
    assert found.ordinals.tolist() == wanted.ordinals.tolist()


@given(st.integers(0, 2**32))
def test_single_events_batches_and_long_batches_agree(seed: int) -> None:
    """Blocks of events side by side give what one event at a time gives, in order."""
    choice = SeededChoice(seed)
    engine = engine_at(choice.pick((0.0, 0.5)))
    for ordinal in range(30):
        engine.add(ordinal, any_subscription(choice, "approximate", f"s{ordinal}"), 0)
    events = [any_event(choice, APPROXIMATE, None, 0) for _ in range(choice.integer(1, 80))]
    batch = engine.match_batch(events, [0] * len(events))
    single = [engine.find(one, 0) for one in events]
    assert batch.ordinals.tolist() == [o for found in single for o in found.ordinals.tolist()]
    singly = [score for found in single for score in scores_of(found)]
    assert scores_of(batch) == pytest.approx(singly, abs=1e-6)
    assert batch.event_index.tolist() == [i for i, found in enumerate(single) for _ in found.ordinals]
    columnar = engine.match_batch(in_columns(events), [0] * len(events))
    assert columnar.event_index.tolist() == batch.event_index.tolist()
    assert columnar.ordinals.tolist() == batch.ordinals.tolist()
    assert scores_of(columnar) == scores_of(batch)


def test_a_batch_longer_than_a_chunk_is_numbered_through() -> None:
    """Events are matched some at a time; their places in the batch are kept."""
    engine = engine_at(0.5)
    engine.add(3, Subscription(Condition((Predicate("a", "=", "b", True, True),)), "s"), 0)
    events = [event({"a": "b" if n % 1_000 == 0 else "c d e f"}) for n in range(CHUNK + 1_000)]
    found = engine.match_batch(events, [0] * len(events))
    wanted = [n for n, one in enumerate(events) if len(engine.find(one, 0).ordinals)]
    assert found.event_index.tolist() == wanted


@given(
    st.integers(2, 6).flatmap(
        lambda k: st.lists(st.lists(st.sampled_from(LEVELS), min_size=k, max_size=7), min_size=k, max_size=k)
    ),
    st.sampled_from([0.0, 0.01, 0.3]),
)
def test_the_search_finds_what_the_general_algorithm_finds(rows: list[list[float]], limit: float) -> None:
    """Small assignments are searched; the result is that of shortest augmenting paths."""
    width = min(map(len, rows))
    similarity = np.array([row[:width] for row in rows], np.float32)
    k = len(similarity)
    if k > width or (similarity.max(axis=1) == 0).any():
        return
    best, where = similarity.max(axis=1)[:, None], similarity.argmax(axis=1).astype(np.int32)[:, None]
    cost = np.where(similarity > 0, -np.log(np.maximum(similarity, 1e-9).astype(np.float64)), 1e9)
    total, _ = best_assignment(cost)
    wanted = float(np.exp(-total)) if total < 1e8 else 0.0
    near = np.ascontiguousarray(similarity[:, None, :])
    scratch = np.empty((3, k + 1)), np.empty((2, k + 1), np.int64)
    second = np.sort(similarity, axis=1)[:, -2:-1]
    product = float(best.astype(np.float64).prod())
    found = assigned(np.arange(k), k, 0, width, best, where, second, near, product, limit, *scratch)
    if found == UNCONTESTED:
        found = float(best.astype(np.float64).prod())
        assert len(set(where[:, 0].tolist())) == k
    if wanted > limit * (1 + 1e-6):
        assert found == pytest.approx(wanted, rel=1e-6)
    elif wanted < limit * (1 - 1e-6):
        assert found < limit


def test_feedback_is_learned_at_once() -> None:
    """What was kept about the judged terms is dropped; undoing brings the old answer back."""
    feedback = Feedback()
    engine = ThematicEngine(JudgedMeasure(TableMeasure({("laptop", "computer"): 0.52}), feedback), 0.5)
    engine.add(0, Subscription(Condition((Predicate("device", "=", "laptop", False, True),)), "s"), 0)
    computer = event({"device": "computer"})
    (before,) = scores_of(engine.find(computer, 0))
    pairs = [term_pair("value", "laptop", "computer")]
    judged = [feedback.judge("s", "", False, pairs) for _ in range(3)]
    assert len(engine.find(computer, 0).ordinals) == 1, "kept until it is told"
    engine.forget_relatedness(judged_by(pairs))
    assert len(engine.find(computer, 0).ordinals) == 0
    for judgement in judged:
        feedback.undo(judgement.number)
    engine.forget_relatedness(judged_by(pairs))
    assert scores_of(engine.find(computer, 0)) == [before]


def test_numbers_under_a_relaxed_attribute_are_compared_in_their_units() -> None:
    """`temperature~ > 25 degC` meets `air_temp_f: 81.2`; a unit that cannot be a temperature excludes."""
    table = {("temperature", "air_temp_f"): 0.9, ("temperature", "t"): 0.9}
    engine = ThematicEngine(TableMeasure(table), 0.5)
    engine.add(0, Subscription(Condition((Predicate("temperature", ">", Quantity(25.0, "degC"), True),)), "s"), 0)
    met = [
        len(engine.find(one, 0).ordinals)
        for one in (
            event({"air_temp_f": 81.2}),
            event({"air_temp_f": 70}),
            event({"t": {"value": 299.5, "unit": "K"}}),
            event({"t": {"value": 30, "unit": "kPa"}}),
        )
    ]
    assert met == [1, 0, 1, 0]


def test_or_takes_the_best_conjunction_and_not_rules_out() -> None:
    """The same scores as the plain evaluation, which reads the condition as a tree."""
    import likewise as lw

    table = TableMeasure({("laptop", "computer"): 0.6, ("laptop", "notebook"): 0.9, ("off", "down"): 0.8})
    engine, naive = ThematicEngine(table, 0.5), OracleEngine(table, threshold=0.5)
    for ordinal, text in enumerate(
        ["{(device = laptop~ or device = notebook)}", "{device = laptop~, not status = off~}"]
    ):
        for each in (engine, naive):
            each.add(ordinal, lw.parse(text, id=f"s{ordinal}"), 0)
    for device in ("computer", "notebook", "desk"):
        for status in ("on", "down", "off"):
            seen = event({"device": device, "status": status})
            ours, plain = engine.find(seen, 0), naive.find(seen, 0)
            assert ours.ordinals.tolist() == plain.ordinals.tolist()
            assert scores_of(ours) == pytest.approx(scores_of(plain), abs=1e-6)


def test_an_engine_without_subscriptions_finds_nothing() -> None:
    """Also after its last one is removed."""
    engine = engine_at(0.5)
    seen = event({"a": "b", "n": 3})
    assert len(engine.find(seen, 0).ordinals) == 0
    engine.add(0, Subscription(Condition((Predicate("a", "=", "b", True, True),)), "s"), 0)
    assert len(engine.find(seen, 0).ordinals) == 1
    engine.remove(0)
    assert len(engine.match_batch([seen, seen], [0, 0]).ordinals) == 0
    assert len(engine.match_batch([], []).ordinals) == 0


NAMES = ["door_open", "doorClosed", "online", "offline", "leak", "no_leak", "battery", "BatV", "motion"]
SAID = [True, False, "true", "false", 0, 1, 3.6, 87, 3300, "open", "closed"]
ASKED = [True, False, "open", 3.6, Quantity(50.0, "%"), Quantity(4.0, "V")]


@given(
    seed=st.integers(0, 2**32),
    payloads=st.lists(
        st.dictionaries(st.sampled_from(NAMES), st.sampled_from(SAID), min_size=1), min_size=1, max_size=4
    ),
)
def test_what_booleans_and_sizes_mean_is_the_same_for_the_oracle(seed: int, payloads: list[dict[str, object]]) -> None:
    """Names that say the opposite turn what is true, and the size of a number says its unit: in every engine alike."""
    from likewise.semantics.library import load_space

    choice = SeededChoice(seed)
    measure = load_space().measure("sameness")
    fast, plain = ThematicEngine(measure, 0.5), OracleEngine(measure=measure, threshold=0.5)
    for number in range(4):
        operator = choice.pick(("=", "!="))
        asked = Predicate(choice.pick(NAMES), operator, choice.pick(ASKED), attribute_relaxed=True)  # type: ignore[arg-type]
        for engine in (fast, plain):
            engine.add(number, Subscription(Condition((asked,)), str(number)), 0)
    for payload in payloads:
        sent = event(payload)
        assert fast.find(sent, 0).ordinals.tolist() == plain.find(sent, 0).ordinals.tolist()
