"""Promises of `likewise stream subscriptions`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from likewise.cli.main import run


def test_subscriptions_are_added_listed_removed_and_compacted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each command says the version it made; the list of an earlier version stays."""
    log = str(tmp_path / "log")
    many = tmp_path / "many.txt"
    many.write_text("cold: {temp < 0 degC}\n# no more\n")
    assert run(["stream", "subscriptions", "add", log, "warm: {temp > 25 degC}", "--file", str(many)]) == 0
    assert capsys.readouterr().out == "Version 1 holds 2 subscriptions.\n"
    assert run(["stream", "subscriptions", "remove", log, "cold", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"version": 2, "subscriptions": 1, "removed": ["cold"]}
    assert run(["stream", "subscriptions", "list", log, "--version", "1"]) == 0
    assert "cold" in capsys.readouterr().out
    assert run(["stream", "subscriptions", "compact", log]) == 0
    assert capsys.readouterr().out == "Version 2 has a snapshot; 0 files of old versions are gone.\n"
    assert run(["stream", "subscriptions", "list", log, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(each["number"], each["id"]) for each in found["subscriptions"]] == [(0, "warm")]


def test_a_wrong_subscription_changes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not even the folder appears."""
    assert run(["stream", "subscriptions", "add", str(tmp_path / "log"), "warm: {temp >}"]) == 2
    assert not (tmp_path / "log").exists()
    assert run(["stream", "subscriptions", "list", str(tmp_path / "log")]) == 3
    assert "there is no change log" in capsys.readouterr().err
