"""`likewise eval vendor` runs without options on what may be shipped: labels and phrases, no maker's message."""

from __future__ import annotations

import csv
import json

import pytest

from likewise.cli import main
from likewise_experiments.vendor.benchmark import LABELS, PHRASES, attributes, read_benchmark


def test_the_command_ranks_names_without_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["eval", "vendor", "--measure", "sameness", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    ranking = {name: each["maximal_f1"] for name, each in report["ranking"].items()}
    assert ranking["sameness"] > 0.75 > 0.45 > ranking["character n-grams"]
    assert report["decisions"] == {}


def test_what_needs_messages_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["eval", "vendor", "--ablation"]) == 2
    assert "messages" in capsys.readouterr().err


def test_labels_are_shipped_without_values() -> None:
    with LABELS.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    assert set(rows[0]) == {"vendor", "path", "label", "unit", "kind"}
    assert {row["kind"] for row in rows} == {"number", "text", "boolean"}
    benchmark = read_benchmark()
    assert len(attributes(benchmark)) == len(rows) == len(benchmark.gold)
    assert {item.value for sent in benchmark.events for item in sent.event.tuples} == {1, "text"}  # true is 1
    with PHRASES.open(encoding="utf-8") as lines:
        assert next(lines) == "phenomenon\tsubscription\n"
