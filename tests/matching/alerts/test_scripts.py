"""Forty alarms that somebody relies on, written from the documentation alone: each is sent, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

import likewise as lw
from tests.matching.alerts.scripts import START, STORIES, read_sent, read_steps, write_time


def test_there_are_forty() -> None:
    assert len(STORIES) == 40


@pytest.mark.parametrize("engine", ["alerts", "naive"])
@pytest.mark.parametrize("name", STORIES)
def test_what_one_relies_on_is_sent(name: str, engine: str, tmp_path: Path) -> None:
    """In one matcher, which is saved and loaded where the story restarts."""
    story = STORIES[name]
    matcher = lw.Matcher(engines={"alert": engine})
    matcher.add(lw.parse(story.text, id="s"), at=START)
    matches: list[lw.Match] = []
    for number, step in enumerate(read_steps(story)):
        if step.event is not None:
            matches += matcher.match(step.event, at=step.at)
            continue
        matches += matcher.advance(step.at)
        if step.word == "withdraw":
            matches += matcher.withdraw(step.id)
        elif step.word == "restart" and engine != "naive":
            matcher.save(tmp_path / str(number))
            matcher = lw.Matcher.load(tmp_path / str(number), engines={"alert": engine})
            matches += matcher.advance(step.until or step.at)
    sent = [f"{write_time(m.spoken.moment)} {m.cause} {m.event_id}" for m in matches if m.spoken is not None]
    assert sent == read_sent(story)
