"""Every engine answers as exact arithmetic does; the quick form of `likewise eval units`."""

from __future__ import annotations

import json

import pytest

from likewise.cli.main import run
from likewise.model import unit
from likewise.units import units_of_dimension
from likewise_experiments.units.experiment import evaluate_units, subscription_of
from likewise_experiments.units.yardstick import PINT_NAMES, Question, Reading, answers, definition


def test_no_engine_differs_from_exact_arithmetic() -> None:
    """In any way of asking: one by one, in batches, as columns, through Arrow."""
    result = evaluate_units(8_000, seed=5)
    assert result.differences == 0, result.examples[:3]
    assert result.comparisons >= 8_000
    assert 0.1 < result.met / result.comparisons < 0.9  # the yardstick says both yes and no
    assert len(result.engines) == 20


def test_the_yardstick_would_see_a_wrong_answer() -> None:
    """One off in the last digit, one microsecond, one unit: it tells them apart."""
    assert answers(Question(">", ("9007199254740992",)), [Reading("9007199254740993")])
    assert not answers(Question("=", ("25",), "degC"), [Reading("77.0000001", "degF")])
    assert answers(Question("<", ("2024-05-01",), time=True), [Reading("2024-04-30T23:59:59.999999Z", time=True)])
    assert not answers(Question("!=", ("5",), "degC"), [Reading("5", "?")])
    assert answers(Question("=", ("5",), negated=True), [Reading("4"), Reading("6")])


@pytest.mark.parametrize("symbol", PINT_NAMES)
def test_the_yardstick_knows_the_same_units(symbol: str) -> None:
    """What it can compare, the tables can."""
    found = unit(symbol)
    assert found.symbol == symbol
    for other in PINT_NAMES:
        same = definition(symbol)[0] == definition(other)[0]
        assert (unit(other) in units_of_dimension(found.dimension)) is same, other


def test_an_empty_range_is_no_question() -> None:
    """Days that end before they begin."""
    assert subscription_of(Question("between", ("2024-05-02", "2024-05-01"), time=True), "s") is None


def test_the_command_prints_figures_with_seed_and_versions(capsys: pytest.CaptureFixture[str]) -> None:
    """As JSON; it ends with 0 if nothing differs."""
    assert run(["eval", "units", "--comparisons", "1000", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["differences"] == 0
    assert found["seed"] == 1
    assert "likewise" in found["versions"]
