"""A slice of what `python -m tests.server.mqtt.malformed` and `... .kills` do at length."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.server.mqtt import kills, malformed
from tests.server.mqtt.conftest import Mosquitto


def test_malformed_messages_and_maps_are_dealt_with_as_said(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """Every message arrives; what is refused is a dead letter; a good message comes through after all of them."""
    ended = asyncio.run(malformed.run(600, 600, seed=2, folder=tmp_path / "run"))
    assert ended.refused == ended.dead_letters
    assert ended.stored > 200
    assert ended.maps_read > 0
    assert ended.maps_refused > 100


@pytest.mark.timeout(900)
def test_nothing_acknowledged_is_lost_when_either_side_is_killed(mosquitto: Mosquitto, tmp_path: Path) -> None:
    """What says its id stands once; what does not, at most as often as it was sent."""
    ended = kills.run(4, seed=2, folder=tmp_path / "run")
    assert (ended.lost, ended.doubled) == (0, 0)
    assert ended.acknowledged > 10
