"""The oracle an engine is compared with, and what counts as the same answer.

Scores may differ by 1e-6, and a pair whose answer changes when the threshold moves by 1e-6 may be
answered either way: engines may multiply in another order, or add logarithms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from likewise.defaults import HYBRID_M, LATENESS, THRESHOLD
from likewise.matching.engine import Engine, EngineResult
from likewise.matching.oracle.engine import OracleEngine
from likewise.matching.reference.locality import LexicalLocality, Locality
from likewise.model import Condition, Event, Explanation, Match, Subscription
from likewise.model.alerts.notification import AlertNotification
from likewise.testing.tables import TableMeasure

if TYPE_CHECKING:
    from likewise.semantics.measure import Measure

TOLERANCE = 1e-6

MEASURE = TableMeasure(seed=7)
JCN = TableMeasure(seed=8, name="jcn")
ESA = TableMeasure(seed=9, name="esa")
BACKGROUND = TableMeasure(seed=10, name="background")


def vectors() -> Locality:
    """Return vectors that replace meaning where there is no space: spelling, in fewer dimensions."""
    return LexicalLocality(64)


class OracleSettings(msgspec.Struct, frozen=True):
    """The settings of the oracle; the engine under test must be made with the same."""

    measure: Measure = MEASURE
    jcn: Measure = JCN
    esa: Measure = ESA
    m: int = HYBRID_M
    threshold: float = THRESHOLD
    lateness: int = LATENESS
    meaning: Callable[[], Locality] = vectors

    def named(self, name: str) -> Measure:
        """Return the measure of statements that has a name."""
        return {"jcn": self.jcn, "esa": self.esa, "sameness": self.measure, "background": BACKGROUND}[name]

    def oracle(self) -> OracleEngine:
        """Return a fresh reference engine."""
        return OracleEngine(
            self.measure,
            jcn=self.jcn,
            esa=self.esa,
            background=BACKGROUND,
            m=self.m,
            threshold=self.threshold,
            lateness=self.lateness,
            meaning=self.meaning,
        )

    def is_borderline(self, subscription: Subscription, event: Event) -> bool:
        """Return whether the answer changes when the threshold moves by the tolerance."""
        if subscription.kind not in ("approximate", "statements"):
            return False
        level = self.threshold if subscription.threshold is None else subscription.threshold
        plain = self.oracle()
        for ordinal, moved in enumerate((level - TOLERANCE, level, level + TOLERANCE)):
            plain.add(ordinal, msgspec.structs.replace(subscription, threshold=min(1.0, max(0.0, moved))), 0)
        results = plain.find(event, 0)
        assert results.scores is not None
        if len(results.ordinals) in (1, 2):
            return True
        return bool(results.scores.max(initial=0) - results.scores.min(initial=1) > TOLERANCE)


class Mismatch(AssertionError):
    """An engine answered otherwise than the oracle."""


def compare_results(
    setting: OracleSettings, oracle: OracleEngine, event: Event, expected: EngineResult, actual: EngineResult, name: str
) -> None:
    """Check that both found the same subscriptions with the same scores."""
    ordinals = actual.ordinals.tolist()
    if ordinals != sorted(set(ordinals)):
        raise Mismatch(f"{name}: ordinals must ascend, each once; found {ordinals} for {event}")
    scores = [1.0] * len(ordinals) if actual.scores is None else actual.scores.tolist()
    assert expected.scores is not None
    expected_scores = dict(zip(expected.ordinals.tolist(), expected.scores.tolist(), strict=True))
    got = dict(zip(ordinals, scores, strict=True))
    if expected_scores.keys() == got.keys() and all(
        abs(expected_scores[o] - got[o]) <= TOLERANCE for o in expected_scores
    ):
        return
    for ordinal in sorted(expected_scores.keys() | got.keys()):
        a, b = expected_scores.get(ordinal), got.get(ordinal)
        if a is not None and b is not None and abs(a - b) <= TOLERANCE:
            continue
        subscription = oracle.subscriptions.get(ordinal)
        if subscription is None:
            raise Mismatch(f"{name}: found ordinal {ordinal}, which it does not hold, for {event}")
        if not setting.is_borderline(subscription, event):
            raise Mismatch(f"{name}: expected score {a}, found {b} (None: no match)\n  {subscription}\n  {event}")


def compare_matches(
    setting: OracleSettings,
    oracle: OracleEngine,
    event: Event | None,
    expected: Sequence[tuple[int, Match]],
    actual: Sequence[tuple[int, Match]],
    name: str,
) -> None:
    """Check that both gave the same matches in the same order, except for borderline pairs."""
    if event is not None:
        odd = {ordinal for ordinal, _ in expected} ^ {ordinal for ordinal, _ in actual}
        subscriptions = oracle.subscriptions
        skip = {o for o in odd if o in subscriptions and setting.is_borderline(subscriptions[o], event)}
        expected = [hit for hit in expected if hit[0] not in skip]
        actual = [hit for hit in actual if hit[0] not in skip]
    same = len(expected) == len(actual) and all(
        ordinal == other and _same_match(a, b, oracle.subscriptions.get(ordinal))
        for (ordinal, a), (other, b) in zip(expected, actual, strict=True)
    )
    if not same:
        notifications = [[match.spoken for _, match in matches if match.spoken] for matches in (expected, actual)]
        extra = f"\n  said {notifications[0]}\n  and  {notifications[1]}" if any(notifications) else ""
        raise Mismatch(f"{name}: expected {expected}\n  found {actual}\n  for {event}{extra}")


def _same_match(a: Match, b: Match, subscription: Subscription | None) -> bool:
    if (a.event_id, a.subscription_id, a.kind, a.cause) != (b.event_id, b.subscription_id, b.kind, b.cause):
        return False
    if _without_scores(a.spoken) != _without_scores(b.spoken):
        return False
    if abs(a.score - b.score) > TOLERANCE or a.bindings != b.bindings or not _close(a.rank_value, b.rank_value):
        return False
    body = None if subscription is None else subscription.body
    if a.kind != "approximate" or (isinstance(body, Condition) and len(body.conjunctions()) > 1):
        return True  # of conjunctions that score alike, rounding may choose another
    if abs(a.product - b.product) > TOLERANCE:
        return False
    return a.mapping is None or (b.mapping is not None and abs(b.mapping.product - a.mapping.product) <= TOLERANCE)


def _without_scores(spoken: AlertNotification | None) -> AlertNotification | None:
    if spoken is None:
        return None
    items = tuple(msgspec.structs.replace(item, score=round(item.score, 4)) for item in spoken.items)
    return msgspec.structs.replace(spoken, items=items)


def _close(a: float | None, b: float | None) -> bool:
    if a is None or b is None:
        return a is b
    return abs(a - b) <= TOLERANCE * max(1.0, abs(a))


def compare_explanations(
    setting: OracleSettings,
    subscription: Subscription,
    event: Event,
    expected: Explanation,
    actual: Explanation,
    name: str,
) -> None:
    """Check that both gave the same verdict, and that an explanation of no match states what would make it one."""
    if subscription.top is not None and "match" in (expected.verdict, actual.verdict):
        return  # an engine's explanation need not know the window
    if setting.is_borderline(subscription, event):
        return
    same = expected.verdict == actual.verdict and abs(expected.score - actual.score) <= TOLERANCE
    if not same or (actual.verdict == "match") == bool(actual.change):
        raise Mismatch(f"{name}: expected {expected}\n  found {actual}\n  {subscription}\n  {event}")


def engine_name(engine: Engine) -> str:
    """Return the name of an engine in messages."""
    return type(engine).__name__
