"""Every alarm that people rely on is sent by a matcher, once, with its cause and its count, and nothing else is."""

from __future__ import annotations

import pytest

from tests.matching.alerts.relied_on import STORIES, differences, run


@pytest.mark.parametrize("name", [name for name, told in STORIES.items() if not told.broker_only])
def test_what_people_rely_on_is_sent_and_nothing_else(name: str) -> None:
    assert list(differences(run(STORIES[name]), STORIES[name].sent)) == []
