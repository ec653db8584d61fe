"""A few kills of `python -m tests.server.mqtt.listener_kills`; the many are `make test-mqtt`'s."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.server.mqtt.listener_kills import run


@pytest.mark.parametrize("qos", [1, 2])
def test_nothing_acknowledged_is_lost_and_qos_2_comes_exactly_once(qos: int, tmp_path: Path) -> None:
    """Publishers and subscribers with sessions, the broker killed while they work."""
    ended = run(1, qos, seed=7, folder=tmp_path, publishers=1, subscribers=1)
    assert (ended.lost, ended.doubled, ended.forgotten) == (0, 0, 0)
    assert ended.acknowledged > 20
