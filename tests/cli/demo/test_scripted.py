"""`likewise demo` shows what it claims to show."""

from __future__ import annotations

import json

import pytest

from likewise.cli import main
from likewise.cli.demo.scripted import scenes


def found(capsys: pytest.CaptureFixture[str]) -> set[tuple[str, str, str]]:
    """Each match of the demo: event, subscription, cause."""
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return {(m["event_id"], m["subscription_id"], m.get("cause", "arrival")) for m in told}


def test_the_matches_are_the_intended_ones(capsys: pytest.CaptureFixture[str]) -> None:
    """Every event meant to match does, and none of the others; the top-k promotion comes with time."""
    assert main.run(["demo", "--json"]) == 0
    assert found(capsys) == {
        ("e5", "energy", "arrival"),
        ("e1", "warm", "arrival"),
        ("e2", "warm", "arrival"),
        ("e3", "warm", "arrival"),
        ("e7", "box", "arrival"),
        ("e8", "box", "arrival"),
        ("e10", "home", "arrival"),
        ("e11", "home", "arrival"),
        ("e13", "home", "arrival"),
        ("e12", "home", "promoted"),
        ("e14", "final", "arrival"),
        ("e16", "S2", "arrival"),
        ("e16", "S3", "arrival"),
        ("e16", "S5", "arrival"),
    }


def test_people_see_every_scene_and_an_explanation(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each scene has its title and subscriptions; two events are explained; no line is wider than the screen."""
    monkeypatch.setenv("COLUMNS", "100")
    assert main.run(["demo"]) == 0
    shown = capsys.readouterr().out
    for scene in scenes():
        assert scene.title in shown
        assert all(id in shown for id in scene.subscriptions)
    assert "68 °F = 20 °C, not above 25 °C" in shown
    assert "It would match if" in shown
    assert shown.count("Why does") == 2
    assert max(map(len, shown.splitlines())) <= 100
