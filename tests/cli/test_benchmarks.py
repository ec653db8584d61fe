"""Every benchmark runs: here in a quick form, or by the test that is named beside it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from likewise.cli.bench import benchmark_names, benchmarks_folder

QUICK = {
    "catalogue": ("--sources", "200", "--events", "200"),
    "columns": ("--rows", "1000"),
    "hard_cases": ("--subscriptions", "50", "--events", "5"),
    "interests": ("--sizes", "250", "--events", "3", "--rounds", "1"),
    "json_reading": ("--subscriptions", "100", "--rounds", "1"),
    "matcher": ("--quick",),
    "parsing": ("--count", "20", "--rounds", "1"),
    "topk": ("--subscriptions", "50", "--window", "50", "--no-yardsticks"),
    "triples": ("--patterns", "100", "--sample", "50", "--rounds", "1"),
}
ELSEWHERE = {  # what runs the same code, or what is missing here
    "ablation": "tests/experiments/report/test_everything.py runs what it sums up",
    "alerts": "tests/matching/alerts/test_cost.py",
    "approximate": "it compares 10 million pairs with other libraries",
    "backtest": "it needs Spark for minutes",
    "broker": "it measures a broker for minutes",
    "broker_path": "tests/broker/test_path.py",
    "elastic": "tests/broker/pool/test_bench.py",
    "exact": "it needs a generated workload in a folder",
    "measures": "it needs an embedding model",
    "mqtt": "it needs Mosquitto",
    "mqtt_hostile": "it measures a broker for minutes",
    "mqtt_listener": "it measures a broker for minutes",
    "neighbours": "it measures a broker for minutes",
    "normalize": "it prints for people what was right; tests/server/mqtt/test_normalizer.py runs the same code",
    "portable_kernels": "it compiles kernels for minutes",
    "small_memory": "it measures processes that are started for it",
    "space": "it needs a space of articles",
    "streaming": "it needs Spark for minutes",
    "streaming_engines": "it needs Spark for minutes",
    "streaming_scale": "it needs Spark for minutes",
}


def test_no_benchmark_is_forgotten() -> None:
    assert sorted([*QUICK, *ELSEWHERE]) == benchmark_names(benchmarks_folder())


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", QUICK)
def test_a_benchmark_runs_and_prints_json(name: str) -> None:
    """Its promises about speed are for a quiet machine, so that the exit code may be 1."""
    command = [sys.executable, "-m", "likewise", "bench", name, "--json", "--", *QUICK[name]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=580, check=False)
    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr
    assert json.loads(done.stdout)
