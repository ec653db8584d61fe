"""`likewise eval demand` in its quick form."""

from __future__ import annotations

import msgspec
import pytest
from typer.testing import CliRunner

from likewise.cli.main import app
from likewise_experiments.demand.experiment import evaluate_demand


@pytest.mark.parametrize("seed", [11, 12])
def test_demand_misses_no_match_and_asks_for_little_more(seed: int) -> None:
    """Over random subscriptions, announcements, corrections, feedback and events, a tenth of them outside."""
    found = evaluate_demand(160, 60, seed)
    assert (found.missed, found.examples) == (0, ())
    assert found.matches > 100
    assert found.outside > 5
    assert found.sent <= 2 * found.matched + 5


def test_the_command_says_it_as_json() -> None:
    """With its seed and sizes; an announcement for every pair, if that is asked for."""
    arguments = ["eval", "demand", "--pairs", "40", "--events", "20", "--seed", "3", "--beside", "10", "--json"]
    told = CliRunner().invoke(app, arguments)
    assert told.exit_code == 0, told.output
    said = msgspec.json.decode(told.stdout)
    assert (said["pairs"], said["events"], said["missed"], said["seed"]) == (40, 80, 0, 3)
