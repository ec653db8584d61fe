"""Near misses are explained by the reading that was asked about; the quick form of `likewise eval near-misses`."""

from __future__ import annotations

import json

import pytest

from likewise.cli.main import run
from likewise.demo.simulation import DEMO_SUBSCRIPTIONS
from likewise.matching.matcher import Matcher
from likewise.testing import TableMeasure
from likewise_experiments.near_misses.city import MISSED, near_misses
from likewise_experiments.near_misses.experiment import evaluate_near_misses
from likewise_experiments.near_misses.generated import generated_misses


def test_the_city_has_a_near_miss_for_every_subscription_that_compares() -> None:
    """And the reading that changes with what is asked about is in the event."""
    found = list(near_misses(devices=60))
    assert {miss.name for miss in found} == set(MISSED) <= {wanted.id for wanted in DEMO_SUBSCRIPTIONS}
    assert all(miss.right <= {item.attribute for item in miss.event.tuples} for miss in found)


def test_a_measure_that_relates_nothing_names_nothing() -> None:
    """So the count can fall short."""
    result = evaluate_near_misses(generated_misses(20), Matcher(measure=TableMeasure({})), "none")
    assert result.misses == result.named + result.another + result.nothing
    assert result.named < result.misses


def test_the_command_finds_the_right_reading(capsys: pytest.CaptureFixture[str]) -> None:
    """All of the city's and nearly all generated ones, and never advises a threshold that anything would reach."""
    assert run(["eval", "near-misses", "--quick", "--json"]) == 0
    city, generated = json.loads(capsys.readouterr().out)
    assert city["named"] == city["misses"] > 15
    assert generated["named"] >= 0.95 * generated["misses"]
    assert city["advised"] == generated["advised"] == 0
