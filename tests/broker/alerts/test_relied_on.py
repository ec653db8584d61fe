"""Alarms that people rely on are sent by a broker in a process of its own, over HTTP, whatever stops it in between.

`python -m tests.broker.alerts.relied_on` runs all of them, also with workers and with kills before any step.
"""

from __future__ import annotations

import pytest

from tests.broker.alerts.relied_on import run
from tests.matching.alerts.relied_on import STORIES, differences

CHOSEN = (
    "a cool-down that ended while the broker was off sends its alarm at the start",
    "a room's stale detector is remembered over a restart",
    "an outage of the broker is not the silence of a sensor",
    "smoke with a wrong clock alarms though the broker died in the minute it waits",
)


@pytest.mark.parametrize("name", CHOSEN)
def test_what_people_rely_on_is_sent_once_over_stops_and_kills(name: str) -> None:
    assert list(differences(run(STORIES[name]), STORIES[name].sent)) == []
