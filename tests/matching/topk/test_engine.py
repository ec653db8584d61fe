"""The top-k engine keeps the windows the oracle recomputes (sources.md C, "Top-k/w subscription")."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import settings

import likewise as lw
from likewise.errors import UnsupportedSubscription
from likewise.language import parse
from likewise.matching.oracle.engine import OracleEngine
from likewise.matching.reference.triple_distance import TripleDistances
from likewise.matching.topk.engine import TopKEngine
from likewise.model import (
    Distance,
    Event,
    Match,
    NearbyTriple,
    Subscription,
    Top,
    Triple,
    ValueOf,
    WeightedSum,
    event,
)
from likewise.model.subscription import Relatedness
from likewise.testing import OracleSettings, check_engine, compare_bulk

CONDITION = parse("{x exists}").body
PICKY = parse("{x > 3, y exists}").body
RELAXED = parse("{x~ exists}").body


def engine_of(setting: OracleSettings) -> TopKEngine:
    """An engine with the measures of a setting."""
    return TopKEngine(
        setting.measure,
        setting.threshold,
        lateness=setting.lateness,
        named=setting.named,
        m=setting.m,
        meaning=setting.meaning,
    )


def hits(found: list[tuple[int, Match]]) -> list[tuple[object, ...]]:
    """What a delivery says, comparable between engines."""
    return [(o, m.event_id, m.cause, m.rank_value, round(m.score, 6)) for o, m in found]


def subscription(choose: random.Random, number: int, largest: int) -> Subscription:
    """A top-k subscription whose window is small enough to fill and large enough to overflow a list."""
    scoring: Any = choose.choice(
        [
            Distance((("x", float(choose.randrange(9))), ("y", float(choose.randrange(9))))),
            Distance((("x", float(choose.randrange(9))),)),
            ValueOf("x"),
            WeightedSum(((2.0, "x"), (-1.0, "y"))),
            Relatedness(),
        ]
    )
    window = choose.choice(
        [{"events": choose.choice([1, 5, 40, largest])}, {"duration": choose.choice([3, 20, largest])}, {}]
    )
    top = Top(choose.choice([1, 1, 2, 3, 8]), scoring, highest=choose.random() < 0.3, **window)
    body = choose.choice([CONDITION, CONDITION, PICKY, RELAXED, parse(f"{{x >= {choose.randrange(6)}}}").body])
    return Subscription(body, f"s{number}", top=top)


def publication(choose: random.Random, number: int, now: int) -> Event:
    """An event on a small grid, so that ranks tie; some lack an attribute, some carry their own time, some are late."""
    payload: dict[str, object] = {"x": choose.randrange(9)}
    if choose.random() < 0.9:
        payload["y"] = choose.randrange(9)
    if choose.random() < 0.05:
        payload = {"z": 1}
    time = now - choose.choice([0, 0, 1, 3, 9]) if choose.random() < 0.4 else None
    return event(payload, id=f"e{number}", time=time)


def ranked(choose: random.Random, number: int, largest: int) -> Subscription:
    """Statements or a near triple, of which the k best of a window count."""
    body = choose.choice(
        [
            parse('event home team "Spain"').body,
            parse('event place "Cape Town" . event type "Football Match"').body,
            parse(f"near (?m, <http://e.org/{choose.choice(WORDS)}>, ?t) radius 1.4 by spelling").body,
            parse(f'near (?m, ?p, "{choose.choice(WORDS)}") radius 0.9 by meaning').body,
        ]
    )
    window = choose.choice(
        [{"events": choose.choice([1, 5, 40, largest])}, {"duration": choose.choice([3, 20, largest])}, {}]
    )
    top = Top(choose.choice([1, 1, 2, 3, 8]), Relatedness(), highest=choose.random() < 0.8, **window)
    threshold = choose.choice([None, 0.0, 0.1618]) if isinstance(body, NearbyTriple) else choose.choice([0.0, 0.1618])
    return Subscription(body, f"s{number}", top=top, threshold=threshold)


WORDS = ("homeTeam", "home_teams", "visitors", "placeOfMatch", "matchPlace", "stadium", "city", "cities")


def match_report(choose: random.Random, number: int, now: int) -> Event:
    """An RDF event of a few triples."""
    triples = tuple(
        Triple("<x:match>", f"<http://e.org/{choose.choice(WORDS)}>", f'"{choose.choice(WORDS)}"')
        for _ in range(choose.randrange(4))
    )
    time = now - choose.choice([0, 0, 1, 3, 9]) if choose.random() < 0.4 else None
    return Event(id=f"e{number}", time=time, graph=triples, vector="" if triples else "1")


def interleave(
    seed: int,
    steps: int,
    *,
    lateness: int,
    largest: int = 120,
    subscription: Any = subscription,
    publication: Any = publication,
) -> int:
    """Random steps on both engines; how many deliveries were compared."""
    choose = random.Random(seed)
    setting = OracleSettings(lateness=lateness)
    fast = engine_of(setting)
    plain = setting.oracle()
    held: list[int] = []
    now = delivered = 0
    for number in range(steps):
        action = choose.random()
        if not held or (action < 0.02 and len(held) < 24):
            made = subscription(choose, number, largest)
            for engine in (fast, plain):
                engine.add(number, made, now)
            held.append(number)
        elif action < 0.03 and len(held) > 6:
            gone = held.pop(choose.randrange(len(held)))
            for engine in (fast, plain):
                engine.remove(gone)
        if action < 0.06:
            id = f"e{number - choose.choice([1, 2, 10, 50])}"
            assert hits(fast.withdraw(id)) == hits(plain.withdraw(id)), (seed, number)
        elif action < 0.15:
            now += choose.choice([1, 1, 2, 30])
            assert hits(fast.advance(now)) == hits(plain.advance(now)), (seed, number)
        elif action < 0.16:
            by = choose.choice([1_000, -min(now, 300)])
            now += by
            for engine in (fast, plain):
                engine.shift(by)
        now += choose.choice([0, 1])
        sent = publication(choose, number, now)
        expected = hits(plain.match(sent, now))
        assert hits(fast.match(sent, now)) == expected, (seed, number)
        delivered += len(expected)
    assert fast.refused_late == plain.refused_late
    return delivered


ROUNDS = 50 if settings.get_current_profile_name() == "deep" else 1  # the oracle slows down as windows without end fill


@pytest.mark.parametrize(("seed", "lateness"), [(0, 0), (1, 4)])
@pytest.mark.timeout(3_600)
def test_windows_equal_the_recomputed_ones_with_ties_withdrawals_and_late_events(seed: int, lateness: int) -> None:
    """Random steps give the same deliveries, in the same order, for the same reasons; 100,000 of them in `deep`."""
    for turn in range(ROUNDS):
        assert interleave(seed + 100 * turn, 1_000, lateness=lateness) > 300


@pytest.mark.parametrize(("seed", "lateness"), [(5, 0), (6, 4)])
@pytest.mark.timeout(3_600)
def test_rankings_of_statements_and_nearest_triples_equal_enumeration(seed: int, lateness: int) -> None:
    """With ties, withdrawals and late events; the oracle compares every event and sorts the window at each step."""
    for turn in range(ROUNDS):
        found = interleave(seed + 100 * turn, 1_000, lateness=lateness, subscription=ranked, publication=match_report)
        assert found > 100


def test_statements_need_measures_and_nearness_by_meaning_a_space() -> None:
    """An engine without them refuses the subscription, and holds nothing of it."""
    engine = TopKEngine()
    for text in ('event team "Spain" top 2 by relatedness', "near (?m, dbo:team, ?t) top 2 by meaning"):
        with pytest.raises(UnsupportedSubscription):
            engine.add(0, parse(text, id="s"), at=0)
    engine.add(0, parse("near (?m, dbo:team, ?t) top 2 by spelling", id="s"), at=0)
    assert len(engine) == 1


def test_the_contract_of_engines_holds() -> None:
    """Any interleaving of calls, save and load included, is answered like the oracle's."""
    setting = OracleSettings()
    check_engine(lambda: engine_of(setting), kinds=["top"], setting=setting)


def test_many_generated_pairs_give_no_difference() -> None:
    """Seeded subscriptions of all forms agree with the oracle."""
    setting = OracleSettings()
    done = compare_bulk(lambda: engine_of(setting), ["top"], 6_000, setting=setting, subscriptions=40)
    assert done.matches > 0


def test_defect_5_a_removed_subscription_gets_nothing_more() -> None:
    """sources.md C, defect 5: top-k unsubscribe removes."""
    engine = TopKEngine()
    engine.add(0, parse("{x exists} top 1 within 3 events by value(x)", id="a"), 0)
    engine.add(1, parse("{x exists} top 2 within 3 events by value(x)", id="b"), 0)
    engine.match(event({"x": 2}, id="e1"), 0)
    engine.remove(0)
    assert [ordinal for ordinal, _ in engine.match(event({"x": 1}, id="e2"), 0)] == [1]


def test_defect_5_a_window_moves_although_publications_are_valid_forever() -> None:
    """sources.md C, defect 5: unlimited validity does not keep a publication in a window of time."""
    engine = TopKEngine()
    engine.add(0, parse("{x exists} top 1 within 10 s by value(x)", id="a"), 0)
    engine.match(event({"x": 1}, id="best", time=0), 0)
    assert hits(engine.match(event({"x": 5}, id="worse", time=1_000_000), 1_000_000)) == []
    assert hits(engine.advance(10_000_000)) == [(0, "worse", "promoted", 5.0, 1.0)]


def test_defect_5_a_publication_without_the_scored_attribute_is_no_candidate() -> None:
    """sources.md C, defect 5: lacking the attribute is not the best value of it."""
    engine = TopKEngine()
    engine.add(0, parse("{y exists} top 1 within 3 events by value(x)", id="a"), 0)
    assert engine.match(event({"y": 1}, id="e1"), 0) == []
    assert [m.event_id for _, m in engine.match(event({"y": 1, "x": 9}, id="e2"), 0)] == ["e2"]


def test_an_endless_window_without_a_bound_on_k_is_a_boolean_subscription() -> None:
    """With k beyond what is published and no window, exactly what meets the condition is delivered, once."""
    choose = random.Random(5)
    engine, plain = TopKEngine(), OracleEngine()
    engine.add(0, Subscription(PICKY, "s", top=Top(1_000, ValueOf("x"))), 0)
    plain.add(0, Subscription(PICKY, "s"), 0)
    for number in range(300):
        sent = event({"x": choose.randrange(9), "y": 1} if choose.random() < 0.8 else {"x": 5}, id=str(number))
        assert [o for o, _ in engine.match(sent, 0)] == [o for o, _ in plain.match(sent, 0)]


def test_saving_in_the_middle_changes_no_delivery(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """A loaded engine goes on exactly where the saved one stood."""
    choose = random.Random(3)
    made = [subscription(choose, number, 60) for number in range(10)]
    going, now = TopKEngine(), 0
    for ordinal, one in enumerate(made):
        going.add(ordinal, one, 0)
    for number in range(600):
        now += choose.choice([0, 1])
        if number % 97 == 96:
            going.save(tmp_path)
            loaded = TopKEngine()
            for ordinal, one in enumerate(made):
                loaded.add(ordinal, one, now)
            loaded.load(tmp_path)
        sent = publication(choose, number, now)
        found = hits(going.match(sent, now))
        if number >= 96:
            assert hits(loaded.match(sent, now)) == found, number


@pytest.mark.parametrize("engine", ["topk", "naive"])
def test_the_nearest_triples_are_told_apart_beyond_a_distance_of_one(engine: str) -> None:
    """Their scores are 0 alike; the nearer one is the nearer one all the same, whichever comes last."""
    event = [Event(id=w, graph=(Triple("<x:m>", f"<http://e.org/{w}>", '"x"'),)) for w in ("teamwork", "aeroplane")]
    matcher = lw.Matcher(engines={"top": engine})
    matcher.add(parse("near (?m, <http://e.org/matches>, ?t) top 1 by spelling", id="s"), at=0)
    distance = [TripleDistances().distance("spelling", "<http://e.org/matches>", e.graph[0].predicate) for e in event]
    assert 1 < distance[0] < distance[1] < 1.4
    for now, e in enumerate(event):
        matcher.match(e, at=now)
    assert [entry.event_id for entry in matcher.board("s")] == ["teamwork"]
