"""likewise.matching.registry: which engine serves which kind of a matcher."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import likewise as lw
from likewise.errors import InputError, UnsupportedSubscription
from likewise.matching.engine import BaseEngine, EngineResult
from likewise.matching.graphs.engine import GraphPatternEngine
from likewise.matching.graphs_nearby.exact_patterns import ExactPatterns
from likewise.matching.matcher import Matcher
from likewise.matching.oracle.engine import OracleEngine
from likewise.matching.registry import ENGINES, KINDS, PROFILES
from likewise.model import Event, Kind, Subscription
from likewise.semantics.interpretation import Interpretation
from likewise.testing import ManualClock, TableEngine, TableMeasure, check_engine, generators
from likewise.testing.generators import SeededChoice

MEASURE = TableMeasure(seed=3)
CHOICES = [(kind, name) for name, kinds in ENGINES.items() for kind in kinds if kind != "statements"]


class OneByOne(BaseEngine):
    """A user's engine: the oracle, asked for each subscription in turn."""

    kinds = frozenset({"exact"})
    made = 0

    def __init__(self) -> None:
        super().__init__()
        OneByOne.made += 1
        self._plain = OracleEngine()

    def add(self, ordinal: int, subscription: Subscription, at: int) -> None:
        self.register(ordinal, subscription)
        self._plain.add(ordinal, subscription, at)

    def remove(self, ordinal: int) -> None:
        self.unregister(ordinal)
        self._plain.remove(ordinal)

    def find(self, event: Event, at: int) -> EngineResult:
        return EngineResult(
            np.array([o for o in self.subscriptions if o in self._plain.find(event, at).ordinals], np.int64)
        )


def drawn(kind: Kind, seed: int, count: int) -> list[Subscription]:
    choice = SeededChoice(seed)
    return [generators.subscription(choice, kind, f"s{number}") for number in range(count)]


def events(seed: int, count: int) -> list[Event]:
    choice = SeededChoice(seed)
    return [generators.event(choice, frozenset(KINDS), f"e{number}", number) for number in range(count)]


@pytest.mark.parametrize(("kind", "name"), CHOICES, ids=lambda value: str(value))
def test_every_engine_by_name_answers_as_the_profile_s_own(kind: Kind, name: str, tmp_path: Path) -> None:
    """One by one, as a batch, in a snapshot, and after saving and loading."""
    usual = Matcher(measure=MEASURE, clock=ManualClock(0))
    chosen = Matcher(measure=MEASURE, clock=ManualClock(0), engines={kind: name})
    for subscription in drawn(kind, 7, 40):
        usual.add(subscription, at=0)
        chosen.add(subscription, at=0)
    usual.remove("s3")
    chosen.remove("s3")
    assert chosen.alike().add(drawn(kind, 7, 1)[0]) == "s0"
    sent = events(8, 25)
    told = [[(m.subscription_id, m.cause) for m in usual.match(event, at=n)] for n, event in enumerate(sent)]
    assert [[(m.subscription_id, m.cause) for m in chosen.match(event, at=n)] for n, event in enumerate(sent)] == told
    chosen.save(tmp_path / "m")
    loaded = Matcher.load(tmp_path / "m", measure=MEASURE, clock=ManualClock(0), engines={kind: name})
    later = events(9, 5)
    found = [[m.subscription_id for m in loaded.match(event, at=100)] for event in later]
    assert found == [[m.subscription_id for m in usual.match(event, at=100)] for event in later]


def test_every_kind_has_an_engine_in_profile_full() -> None:
    assert set(PROFILES["full"]) == set(KINDS)
    assert all(kind in ENGINES[name] for chosen in PROFILES.values() for kind, name in chosen.items())


@pytest.mark.parametrize("choice", [OneByOne, lambda _: OneByOne()], ids=["class", "function"])
def test_an_engine_of_the_user_s_own_serves_a_kind_of_a_real_matcher(choice: object) -> None:
    """The other kinds stay the profile's; copies of the matcher make engines of their own."""
    before = OneByOne.made
    ours = Matcher(engines={"exact": choice}, measure=MEASURE, clock=ManualClock(0))  # type: ignore[dict-item]
    ours.add(lw.parse("{x > 1}", id="exact"))
    ours.add(lw.parse("{device~ = laptop~}", id="relaxed"))
    assert OneByOne.made == before + 1
    assert [m.subscription_id for m in ours.match(lw.event({"x": 2, "device": "laptop"}))] == ["exact", "relaxed"]
    assert [id for _, id, _ in ours.match_batch([lw.event({"x": 2})]).pairs()] == ["exact"]
    assert [m.subscription_id for m in ours.snapshot().match(lw.event({"x": 2}))] == ["exact"]
    assert ours.explain(lw.event({"x": 0}), "exact").verdict == "exact_part_false"
    assert OneByOne.made == before + 2


def test_an_engine_may_take_its_measure_from_the_matcher() -> None:
    """A class says by `serving` what it wants of the interpretation; feedback is laid over that measure."""

    class Measured(OracleEngine):
        @classmethod
        def serving(cls, interpretation: Interpretation) -> Measured:
            return cls(interpretation.measure, threshold=interpretation.threshold)

    ours = Matcher(engines={"approximate": Measured}, measure=TableMeasure({("laptop", "computer"): 0.75}))
    ours.add(lw.parse("{device~ = laptop~}", id="a"))
    assert ours.match(lw.event({"device": "computer"}))[0].score == pytest.approx(0.866, abs=1e-3)


@pytest.mark.parametrize(
    ("engines", "words"),
    [
        ({"exact": "thematic"}, "no engine named 'thematic' serves the kind 'exact'; there are bitmap, forest, sgim"),
        ({"exact": "forrest"}, "there are bitmap, forest, sgim, naive"),
        ({"exakt": "forest"}, "no kind of subscription is named 'exakt'; there are exact, "),
        ({"exact": OracleEngine()}, "cannot be shared by several matchers"),
    ],
)
def test_a_choice_that_cannot_be_is_refused_when_the_matcher_is_made(engines: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Matcher(engines=engines)  # type: ignore[arg-type]


def test_an_engine_that_does_not_serve_its_kind_is_refused_and_nothing_is_held() -> None:
    ours = Matcher(engines={"interest": OneByOne})
    with pytest.raises(InputError, match=r"OneByOne was chosen for the kind 'interest', but serves exact"):
        ours.add(drawn("interest", 1, 1)[0])
    assert len(ours) == 0


@pytest.mark.parametrize("choice", [object, lambda interpretation: 7])
def test_what_is_no_engine_is_refused_with_words(choice: object) -> None:
    ours = Matcher(engines={"exact": choice})  # type: ignore[dict-item]
    with pytest.raises(InputError, match="is no engine: it has no `kinds`; derive it from BaseEngine"):
        ours.add(lw.parse("{a = 1}", id="a"))
    assert len(ours) == 0


def test_an_unknown_profile_is_refused() -> None:
    with pytest.raises(InputError, match="no profile is named 'tiny'; there are full, small"):
        Matcher(profile="tiny")  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "exact"])
def test_profile_small_refuses_what_it_cannot_serve_and_says_what_is_missing(kind: Kind) -> None:
    ours = Matcher(profile="small")
    with pytest.raises(UnsupportedSubscription, match=r"profile 'small' does not serve .*likewise\[match\]"):
        ours.add(drawn(kind, 1, 1)[0])
    assert len(ours) == 0
    assert ours.state.engines == {}


def test_what_an_engine_keeps_is_not_read_by_another(tmp_path: Path) -> None:
    """Windows have each engine's own form."""
    ours = Matcher(clock=ManualClock(0), measure=MEASURE, engines={"top": "naive"})
    ours.add(lw.parse("{x exists} top 1 within 3 events by value(x)", id="low"))
    ours.match(lw.event({"x": 1}, id="e"))
    ours.save(tmp_path / "m")
    with pytest.raises(InputError, match=r"'naive' saved .* 'top', and 'topk' cannot read it"):
        Matcher.load(tmp_path / "m", measure=MEASURE)
    loaded = Matcher.load(tmp_path / "m", measure=MEASURE, engines={"top": "naive"})
    assert [place.event_id for place in loaded.board("low")] == ["e"]


@pytest.mark.parametrize("tree", ["mvr-tree", "r-tree"])
def test_the_trees_of_nearby_patterns_keep_the_contract_of_engines(tree: str) -> None:
    check_engine(lambda: GraphPatternEngine(ExactPatterns(tree)), examples=15)  # type: ignore[arg-type]


def test_a_table_stands_for_an_engine_in_tests() -> None:
    ours = Matcher(profile="small", engines={"approximate": lambda _: TableEngine({"e1": ["a", "b"]})})
    for id in ("b", "a", "c"):
        ours.add(lw.parse("{device~ = laptop~}", id=id))
    assert [m.subscription_id for m in ours.match(lw.event({"x": 1}, id="e1"))] == ["b", "a"]
    assert ours.match(lw.event({"x": 1}, id="e2")) == []
