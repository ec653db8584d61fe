"""`likewise.Matcher`: one door to all the engines."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

import likewise as lw
from likewise.errors import (
    ArtefactDamaged,
    ArtefactMissing,
    ArtefactVersion,
    DuplicateId,
    InputError,
    LimitExceeded,
    StateError,
    UnknownId,
    UnsupportedSubscription,
)
from likewise.formats.arrow.event_batch import EventBatch
from likewise.matching.matcher import Matcher
from likewise.matching.oracle.engine import OracleEngine
from likewise.model import Condition, Event, Kind, Subscription, Triple
from likewise.testing import ManualClock, TableMeasure, generators
from likewise.testing.generators import SeededChoice

MEASURE = TableMeasure(seed=3)
KINDS: tuple[Kind, ...] = ("exact", "approximate", "top", "pattern", "interest")


def matcher() -> Matcher:
    """A matcher whose relatedness comes from a table."""
    return Matcher(measure=MEASURE, clock=ManualClock(0))


def drawn(seed: int, count: int) -> list[Subscription]:
    """Subscriptions of every kind that needs no space."""
    choice, oracle = SeededChoice(seed), OracleEngine(MEASURE)
    made: list[Subscription] = []
    while len(made) < count:
        subscription = generators.subscription(choice, KINDS[len(made) % len(KINDS)], f"s{len(made)}")
        if oracle.serves(subscription):  # a ranking of statements needs a space
            made.append(subscription)
    return made


def events(seed: int, count: int) -> list[Event]:
    """Events for them, with ids."""
    choice = SeededChoice(seed)
    made = [generators.event(choice, frozenset(KINDS), f"e{i}", i) for i in range(count)]
    return [msgspec.structs.replace(event, time=i, expires=None) for i, event in enumerate(made)]


def told(found: Sequence[lw.Match]) -> list[tuple[object, ...]]:
    return [
        (m.event_id, m.subscription_id, m.kind, round(m.score, 5), m.bindings, m.rank_value, m.cause) for m in found
    ]


def test_every_kind_is_matched_as_the_oracle_does_in_the_order_of_addition() -> None:
    """What the engines find together is what the oracle alone finds, subscriptions coming and going."""
    ours, oracle = matcher(), OracleEngine(MEASURE)
    choose = random.Random(1)
    held: dict[str, int] = {}
    for ordinal, subscription in enumerate(drawn(1, 120)):
        ours.add(subscription, at=0)
        oracle.add(ordinal, subscription, 0)
        held[subscription.id] = ordinal
        if choose.random() < 0.3:
            gone = choose.choice(sorted(held))
            ours.remove(gone)
            oracle.remove(held.pop(gone))
    for event in events(2, 120):
        assert told(ours.match(event)) == told([m for _, m in oracle.match(event, event.time or 0)])


@pytest.mark.parametrize("as_batch", [False, True])
def test_a_batch_is_equal_to_one_by_one(as_batch: bool) -> None:
    """`match_batch` of events, or of a table, gives what `match` gives, in order."""
    one, many = matcher(), matcher()
    for subscription in drawn(3, 80):
        one.add(subscription, at=0)
        many.add(subscription, at=0)
    sent = events(4, 100)
    batch = many.match_batch(EventBatch.from_events(sent) if as_batch else sent)
    expected: list[Any] = []
    promoted: list[Any] = []
    for index, event in enumerate(sent):
        for match in one.match(event):
            (expected if match.cause == "arrival" else promoted).append(
                (index, match.subscription_id, round(match.score, 5))
            )
    assert [(e, s, round(score, 5)) for e, s, score in batch.pairs()] == expected
    assert [(p.event_index, p.match.subscription_id, round(p.match.score, 5)) for p in batch.promoted] == promoted


def test_validity_ends_a_subscription_also_inside_a_batch() -> None:
    """`valid for` counts from the addition; events past their own validity match nothing."""
    ours = matcher()
    ours.add(lw.parse("{x exists} valid for 5 us", id="short"), at=0)
    ours.add(lw.parse("{x exists}", id="long"), at=0)
    sent = [lw.event({"x": 1}, time=t, expires=t if t == 3 else None) for t in (1, 3, 4, 5, 6)]
    found = [(e, s) for e, s, _ in ours.match_batch(sent).pairs()]
    assert found == [(0, "short"), (0, "long"), (2, "short"), (2, "long"), (3, "long"), (4, "long")]
    assert len(ours) == 1
    assert ours.explain(sent[1], "long").verdict == "expired"


@pytest.mark.parametrize("over", [0, 1, 2])
def test_an_event_past_its_validity_ends_subscriptions_in_a_batch_as_it_does_alone(over: int) -> None:
    """It matches nothing, and says how late it is, wherever in the batch it stands."""
    one, together = matcher(), matcher()
    for ours in (one, together):
        ours.add(lw.parse("{x exists} valid for 5 us", id="short"), at=0)
    sent = [lw.event({"x": 1}, time=9 if n == over else 1, expires=3 if n == over else None) for n in range(3)]
    expected = [(place, match.subscription_id) for place, each in enumerate(sent) for match in one.match(each)]
    assert expected == [(place, "short") for place in range(over)]
    assert [(e, s) for e, s, _ in together.match_batch(sent).pairs()] == expected
    assert len(one) == len(together) == 0


def test_ids_are_guarded_and_nothing_changes_on_an_error() -> None:
    """A duplicate id, an unknown id, feedback without relaxed parts: an error with a stable code."""
    ours = matcher()
    ours.add(lw.parse("{x = 1}", id="a"))
    with pytest.raises(DuplicateId):
        ours.add(lw.parse("{x = 2}", id="a"))
    for call in (ours.remove, lambda id: ours.explain(lw.event({"x": 1}), id)):
        with pytest.raises(UnknownId):
            call("b")
    with pytest.raises(UnsupportedSubscription):
        ours.feedback(lw.event({"x": 1}), "a", True)
    assert [m.subscription_id for m in ours.match(lw.event({"x": 1}))] == ["a"]
    assert "a" in ours
    assert "b" not in ours


def test_feedback_moves_scores_within_bounds_and_can_be_undone() -> None:
    """A judgement raises or lowers the pair it is about, is listed, and goes away without a trace."""
    ours = Matcher(measure=TableMeasure({("laptop", "computer"): 0.45}))
    ours.add(lw.parse("{device = laptop~}", id="s"))
    event = lw.event({"device": "computer"}, id="e")
    assert ours.match(event) == []
    judged = ours.feedback(event, "s", True)
    (match,) = ours.match(event)
    assert 0.45 < match.score < 1
    assert tuple(ours.interpretation.feedback) == (judged,)
    for _ in range(50):
        ours.feedback(event, "s", True)
    assert ours.match(event)[0].score < 1
    for judgement in tuple(ours.interpretation.feedback):
        ours.undo_feedback(judgement.number)
    assert ours.match(event) == []
    assert ours.explain(event, "s").score == pytest.approx(0.45)


def test_a_saved_matcher_goes_on_where_it_stood(tmp_path: Path) -> None:
    """Subscriptions, windows and order survive; no delivery is repeated."""
    going = Matcher(clock=ManualClock(0))
    for subscription in drawn(5, 120):
        if not (isinstance(subscription.body, Condition) and subscription.body.is_relaxed()):
            going.add(subscription, at=0)
    sent = events(6, 90)
    for event in sent[:60]:
        going.match(event)
    going.remove(going.subscriptions()[3].id)
    going.save(tmp_path / "saved")
    loaded = Matcher.load(tmp_path / "saved", clock=ManualClock(0))
    assert loaded.subscriptions() == going.subscriptions()
    for event in sent[60:]:
        assert told(loaded.match(event)) == told(going.match(event))
    going.save(tmp_path / "saved")  # a second time, over the first
    assert len(Matcher.load(tmp_path / "saved")) == len(going)


def test_a_matcher_with_a_measure_of_ones_own_loads_with_that_measure_and_no_other(tmp_path: Path) -> None:
    """It is named and asked for; with it, matches are as before; a measure that says otherwise is refused."""
    ours = Matcher(measure=TableMeasure({("laptop", "computer"): 0.75}))
    ours.add(lw.parse("{device~ = laptop~}", id="a"))
    event = lw.event({"device": "computer"})
    ours.save(tmp_path / "m")
    with pytest.raises(InputError, match=r"saved with the measure 'table'.*measure="):
        Matcher.load(tmp_path / "m")
    with pytest.raises(InputError, match=r"saved with the measure 'table'"):
        Matcher.load(tmp_path / "m", measure=TableMeasure({("laptop", "computer"): 0.5}))
    with pytest.raises(InputError, match=r"saved with the measure 'table'"):
        Matcher.load(tmp_path / "m", measure="combine")
    loaded = Matcher.load(tmp_path / "m", measure=TableMeasure({("laptop", "computer"): 0.75}))
    assert told(loaded.match(event)) == told(ours.match(event)) != []
    loaded.save(tmp_path / "again")
    assert len(Matcher.load(tmp_path / "again", measure=TableMeasure({("laptop", "computer"): 0.75}))) == 1


def test_a_measure_of_ones_own_is_not_taken_for_the_spaces_by_its_name(tmp_path: Path) -> None:
    """Even when it calls itself by a name that the space knows and has the same configuration."""

    class Impostor(TableMeasure):
        def configuration(self) -> dict[str, object]:
            return {"name": self.name}

    ours = Matcher(measure=Impostor({("laptop", "banana"): 0.9}, name="combine"))
    ours.add(lw.parse("{device~ = laptop~}", id="a"))
    ours.save(tmp_path / "m")
    with pytest.raises(InputError, match="measure="):
        Matcher.load(tmp_path / "m")
    with pytest.raises(InputError, match="measure="):
        Matcher.load(tmp_path / "m", measure="combine")
    loaded = Matcher.load(tmp_path / "m", measure=Impostor({("laptop", "banana"): 0.9}, name="combine"))
    assert len(loaded.match(lw.event({"device": "banana"}))) == 1


def test_a_matcher_with_a_measure_of_the_space_loads_alone_or_with_the_same_one(tmp_path: Path) -> None:
    """By its name or as an object; another one is refused."""
    space = lw.load_space()
    ours = Matcher(space=space, measure=space.measure("esa", metric="cosine"))
    ours.add(lw.parse("{device~ = laptop~}", id="a"))
    ours.save(tmp_path / "m")
    for again in (None, space.measure("esa", metric="cosine")):
        assert Matcher.load(tmp_path / "m", measure=again).subscriptions() == ours.subscriptions()
    with pytest.raises(InputError, match="saved with the measure 'esa'"):
        Matcher.load(tmp_path / "m", measure="thematic")
    named = Matcher(measure="names")
    named.add(lw.parse("{device~ = laptop~}", id="a"))
    named.save(tmp_path / "n")
    assert len(Matcher.load(tmp_path / "n", measure="names")) == 1
    plain = Matcher()
    plain.add(lw.parse("{x = 1}", id="a"))
    plain.save(tmp_path / "p")
    assert len(Matcher.load(tmp_path / "p", measure="names")) == 1  # nothing was measured before


def test_a_damaged_or_newer_folder_is_refused(tmp_path: Path) -> None:
    """Missing, truncated and newer files are told apart."""
    with pytest.raises(ArtefactMissing):
        Matcher.load(tmp_path)
    ours = Matcher()
    ours.add(lw.parse("{x = 1}", id="a"))
    ours.add(lw.parse("{x = 2}", id="b"))
    ours.save(tmp_path / "m")
    lines = tmp_path / "m" / "subscriptions.jsonl"
    whole = lines.read_bytes()
    lines.write_bytes(whole.splitlines(keepends=True)[0])
    with pytest.raises(ArtefactDamaged):
        Matcher.load(tmp_path / "m")
    lines.write_bytes(whole[:-9])
    with pytest.raises(ArtefactDamaged):
        Matcher.load(tmp_path / "m")
    manifest = tmp_path / "m" / "manifest.json"
    said = re.sub(rb'"v": \d+', b'"v": 99', manifest.read_bytes(), count=1)
    manifest.write_bytes(said)
    with pytest.raises(ArtefactVersion):
        Matcher.load(tmp_path / "m")


def test_matchers_share_an_interpretation_that_says_everything_itself() -> None:
    """Feedback given to one moves the other's scores; a part named beside it would contradict it and is refused."""
    ours = Matcher(measure=TableMeasure({("laptop", "computer"): 0.45}), threshold=0.7, clock=ManualClock(0))
    other = Matcher(interpretation=ours.interpretation, clock=ManualClock(0))
    event = lw.event({"device": "computer"}, id="e")
    for each in (ours, other):
        each.add(lw.parse("{device~ = laptop~}", id="s"))
        assert each.match(event) == []
    judged = ours.feedback(event, "s", True)
    assert tuple(other.interpretation.feedback) == (judged,)
    with pytest.raises(InputError, match="threshold"):
        Matcher(interpretation=ours.interpretation, threshold=0.3)
    with pytest.raises(AttributeError):
        ours.interpretation = other.interpretation  # type: ignore[misc]


def test_a_snapshot_knows_how_long_its_subscriptions_hold() -> None:
    """Those over at the moment asked about are not matched, and say so."""
    ours = Matcher(clock=ManualClock(1_000))
    ours.add(lw.parse("{x = 1} valid for 1 ms", id="short"))
    ours.add(lw.parse("{x = 1}", id="long"))
    taken = ours.snapshot()
    assert [m.subscription_id for m in taken.match(lw.event({"x": 1}), 1_999)] == ["short", "long"]
    assert [m.subscription_id for m in taken.match(lw.event({"x": 1}), 2_000)] == ["long"]
    assert taken.explain(lw.event({"x": 1}), "short", 2_000).verdict == "expired"
    assert taken.match(lw.event({"x": 1}, expires=5), 6) == []


def test_a_snapshot_does_not_change_with_its_matcher() -> None:
    """Other threads see what was held when the snapshot was taken."""
    ours = matcher()
    ours.add(lw.parse("{x = 1}", id="a"))
    taken = ours.snapshot()
    ours.remove("a")
    assert [m.subscription_id for m in taken.match(lw.event({"x": 1}))] == ["a"]
    assert taken.explain(lw.event({"x": 2}), "a").verdict == "exact_part_false"
    with pytest.raises(UnknownId):
        taken.explain(lw.event({"x": 2}), "b")


def test_lateness_is_stated_kept_and_what_comes_later_is_counted(tmp_path: Path) -> None:
    """An event within the lateness enters windows; one beyond it is refused visibly."""
    ours = Matcher(clock=ManualClock(0), lateness=10)
    ours.add(lw.parse("{x exists} top 1 within 100 us by value(x)", id="s"), at=0)
    ours.match(lw.event({"x": 5}, time=50))
    assert [m.subscription_id for m in ours.match(lw.event({"x": 4}, time=45), at=50)] == ["s"]
    assert ours.match(lw.event({"x": 3}, time=39), at=50) == []
    assert ours.state.refused_late == 1
    ours.save(tmp_path / "m")
    assert Matcher.load(tmp_path / "m").interpretation.lateness == 10


def test_a_dry_run_finds_what_matching_would_and_changes_nothing() -> None:
    """Validity ends, and windows move, for real events alone."""
    ours, twin = matcher(), matcher()
    for subscription in drawn(5, 60):
        ours.add(subscription, at=0)
        twin.add(subscription, at=0)
    ours.add(lw.parse("{x exists} valid for 1 s", id="short"), at=0)
    later = 3_600_000_000
    for event in events(5, 40):
        tried = ours.would_match(event, event.time)
        ours.would_match(msgspec.structs.replace(event, time=later), later)
        arrived = [match for match in twin.match(event) if match.cause == "arrival"]
        assert [(m.subscription_id, round(m.score, 5)) for m in tried if m.subscription_id != "short"] == [
            (m.subscription_id, round(m.score, 5)) for m in arrived
        ]
        ours.match(event)
    assert "short" in ours
    assert ours.would_match(lw.event({"x": 1}), later) == [
        m for m in ours.would_match(lw.event({"x": 1}), later) if m.subscription_id != "short"
    ]
    assert "short" in [m.subscription_id for m in ours.would_match(lw.event({"x": 1}), 1)]


def test_a_board_is_the_k_best_of_the_window_now() -> None:
    """Best first, ties to the more recent; what leaves the window leaves the board."""
    ours = matcher()
    ours.add(lw.parse("{x exists} top 2 within 3 events by value(x)", id="low"), at=0)
    ours.add(lw.parse("{x exists}", id="plain"), at=0)
    for number, x in enumerate((1, 5, 3, 5)):
        ours.match(lw.event({"x": x}, id=f"e{number}", time=number))
    assert [(p.rank, p.event_id, p.value, p.time) for p in ours.board("low")] == [(1, "e2", 3.0, 2), (2, "e3", 5.0, 3)]
    with pytest.raises(StateError, match="no board"):
        ours.board("plain")


def test_caches_count_what_was_there_and_what_had_to_be_computed() -> None:
    """A tuple seen before costs no posting list; a term seen before costs no relatedness."""
    ours = matcher()
    ours.add(lw.parse("{device~ = laptop~}", id="s"), at=0)
    ours.match(lw.event({"device": "computer", "room": "r1"}))
    first = ours.state.caches()
    assert (first["posting_lists"].hits, first["posting_lists"].misses) == (0, 2)
    assert first["relatedness"].hits == 0
    assert first["relatedness"].misses == 4  # two attributes and two values
    ours.match(lw.event({"device": "computer", "room": "r2"}))
    again = ours.state.caches()
    assert (again["posting_lists"].hits, again["posting_lists"].misses) == (1, 3)
    assert (again["relatedness"].hits, again["relatedness"].misses) == (1, 5)  # "room" was known, "r2" was not


def test_a_batch_names_the_right_subscriptions_however_many_match() -> None:
    """Indices fit their list of ids with few matches and with many, with gaps after removals, and after additions."""
    ours = lw.Matcher()
    for n in range(20):
        ours.add(lw.parse(f"{{x >= {n}}}", id=f"s{n}"))
    for gone in (0, 7, 13):
        few = {id for _, id, _ in ours.match_batch([lw.event({"x": 2})]).pairs()}
        many = {id for _, id, _ in ours.match_batch([lw.event({"x": 19})] * 2).pairs()}
        assert many == {s.id for s in ours.subscriptions()}
        assert few == {id for id in many if int(id[1:]) <= 2}
        ours.remove(f"s{gone}")
    ours.add(lw.parse("{x = 19}", id="s19b"))
    assert [id for _, id, _ in ours.match_batch([lw.event({"x": 19})]).pairs()][-2:] == ["s19", "s19b"]


def test_additions_are_bounded() -> None:
    """Ordinals have 32 bits: past the last one an addition is refused and nothing changes."""
    ours = lw.Matcher()
    ours.state.next_ordinal = 2**31 - 1
    with pytest.raises(LimitExceeded):
        ours.add(lw.parse("{x = 1}", id="a"))
    assert len(ours) == 0


def test_nothing_of_the_users_is_replaced_by_a_saved_matcher(tmp_path: Path) -> None:
    """A file, or a folder that holds something else, stays as it is."""
    (tmp_path / "wanted.txt").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "letter.txt").write_text("mine")
    for name in ("wanted.txt", "folder"):
        with pytest.raises(lw.LikewiseError, match="not replaced"):
            Matcher().save(tmp_path / name)
    assert (tmp_path / "wanted.txt").read_text() == (tmp_path / "folder" / "letter.txt").read_text() == "mine"
    (tmp_path / "empty").mkdir()
    Matcher().save(tmp_path / "empty")


def test_engines_that_are_not_chosen_by_kind_are_refused() -> None:
    """With words, not by a mistake of ours."""
    with pytest.raises(lw.LikewiseError, match="by kind"):
        Matcher(engines=["forest"])  # type: ignore[arg-type]


@pytest.mark.parametrize("one", [{"t": 1}, '{"t": 1}', b'{"t": 1}'])
def test_one_event_where_many_are_expected_is_refused_with_words(one: object) -> None:
    """A mapping is an event, not many of them."""
    with pytest.raises(lw.LikewiseError, match="use `match`"):
        lw.Matcher().match_batch(one)  # type: ignore[arg-type]


def test_many_events_may_be_a_tuple_of_mappings() -> None:
    """Like a list of them."""
    matcher = lw.Matcher()
    matcher.add(lw.parse("{t > 1}", id="s"))
    assert list(matcher.match_batch(({"t": 1}, {"t": 2})).pairs()) == [(1, "s", 1.0)]


@pytest.mark.parametrize("wrong", ["x", 2, -0.1, float("nan")])
def test_a_threshold_that_is_none_is_refused_at_once(wrong: object) -> None:
    """Also one that is no number."""
    with pytest.raises(lw.LikewiseError, match="between 0 and 1"):
        lw.Matcher(threshold=wrong)  # type: ignore[arg-type]


def test_patterns_added_to_a_matcher_that_has_matched_count_in_the_next_batch() -> None:
    """Every batch brings constants that no table of the batch before had room for."""
    m = Matcher(clock=ManualClock(0))
    m.add(lw.parse("<http://x/s> <http://x/p> <http://x/o>", id="first"))
    graphs = [Event(graph=(Triple("<http://x/s>", f"<http://x/p{n}>", f"<http://x/o{n}>"),)) for n in range(10)]
    for n in range(10):
        m.add(lw.parse(f"<http://x/s> <http://x/p{n}> <http://x/o{n}>", id=f"s{n}"))
        found = m.match_batch(graphs)
        pairs = zip(found.event_index.tolist(), found.subscription_index.tolist(), strict=True)
        assert [(event, found.subscription_ids[place]) for event, place in pairs] == [
            (i, f"s{i}") for i in range(n + 1)
        ]
