"""An event that was published twice is withdrawn as a whole."""

from __future__ import annotations

import pytest

import likewise as lw


@pytest.mark.parametrize("engine", ["topk", "naive"])
@pytest.mark.parametrize("window", ["within 1 min", "within 9 events"])
def test_an_event_that_was_published_twice_is_not_promoted_by_its_withdrawal(window: str, engine: str) -> None:
    matcher = lw.Matcher(engines={"top": engine})
    matcher.add(lw.parse(f"{{x exists}} top 1 {window} by value(x)", id="s"), at=0)
    sent: list[lw.Match] = []
    for at, (id, x) in enumerate([("twice", 1), ("twice", 5), ("other", 9)]):
        sent += matcher.match(lw.event({"x": x}, id=id), at=at)
    assert [match.event_id for match in sent] == ["twice"]
    assert [(match.event_id, match.cause) for match in matcher.withdraw("twice")] == [("other", "promoted")]
