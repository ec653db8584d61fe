"""The matches of the demo's city agree with what its simulator knows."""

from __future__ import annotations

from collections import Counter

import pytest

from likewise.demo import DEMO_SUBSCRIPTIONS, City, truth
from likewise.demo.dialects import DIALECTS

A_DAY = City(seed=1).between(0, 600)
A_SCREEN = 24  # matches on the terminal's first screen


@pytest.fixture(scope="module")
def matched() -> dict[str, set[str]]:
    return truth.matches(A_DAY)


def test_each_shipped_subscription_is_right_over_a_day_and_a_night() -> None:
    found = truth.assess(A_DAY)
    assert set(found) == {subscription.id for subscription in DEMO_SUBSCRIPTIONS} == {*truth.TRUTH, "worst-air"}
    for name, each in found.items():
        assert each.right >= 5, name
        assert each.precision >= 0.99, (name, each.false)
        assert each.recall >= 0.99, (name, each.missed)


def test_a_wrong_match_and_a_missed_one_are_counted_by_product(monkeypatch: pytest.MonkeyPatch) -> None:
    wider = [each._replace(text="{temperature~ > 5 degC}") for each in DEMO_SUBSCRIPTIONS if each.id == "heat"]
    monkeypatch.setattr(truth, "DEMO_SUBSCRIPTIONS", wider)
    monkeypatch.setitem(truth.TRUTH, "heat", lambda facts: "temperature" not in facts)
    found = truth.assess(City(seed=1).between(0, 60))["heat"]
    assert found.right == 0
    assert found.precision == found.recall == 0.0
    assert found.false["Northgale Gale 300"] > 0
    assert found.missed["Phonic SL-1"] > 0


def test_a_reading_is_known_in_one_unit_whatever_the_vendor_reports() -> None:
    for report in City(seed=1).between(0, 60):
        if "tempf" in report.payload:
            assert report.facts["temperature"] * 1.8 + 32 == pytest.approx(report.payload["tempf"])
        if "door_open" in report.payload:
            assert report.facts["open door"] == report.payload["door_open"]


def test_each_fact_of_a_dialect_is_true_at_some_time_and_false_at_another() -> None:
    seen: dict[tuple[str, str], set[float]] = {}
    for report in City(seed=1, devices=len(DIALECTS)).between(0, 600):
        for fact in report.device.dialect.facts:
            seen.setdefault((report.device.dialect.product, fact), set()).add(report.facts[fact])
    assert len(seen) >= 9
    assert all(values == {0.0, 1.0} for values in seen.values())


def test_no_subscription_dominates_the_first_screen(matched: dict[str, set[str]]) -> None:
    lines = [name for report in A_DAY for name, ids in matched.items() if report.id in ids]
    shown = Counter(lines[:A_SCREEN])
    assert len(shown) >= 6
    assert max(shown.values()) <= A_SCREEN / 3
    assert max(Counter(lines).values()) <= len(lines) / 4


def test_a_ranking_counts_each_device_once() -> None:
    """A device that is ranked twice would keep another one out."""
    posts = [report for report in A_DAY if "NO2" in report.payload]
    best = truth.true_matches(A_DAY)["worst-air"]
    assert len({report.device.id for report in posts}) == truth.RANKED + 1
    assert {report.device.id for report in posts if report.id in best} == {report.device.id for report in posts}
    assert len(best) < len(posts)
