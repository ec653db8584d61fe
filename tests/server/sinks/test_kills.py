"""A slice of `python -m tests.server.sinks.kills`, in every run of the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.server.sinks.kills import Run


@pytest.mark.timeout(900)
def test_a_killed_broker_loses_no_match_and_none_comes_twice_by_its_id(tmp_path: Path) -> None:
    """Among receivers that fail, stall and lose their answers; a run that was ended goes on where it was."""
    first = Run(tmp_path, 1, mqtt=False).go(1)
    assert first["kills"] == 1
    found = Run(tmp_path, 1, mqtt=False).go(2)
    assert found["kills"] == 2
    assert found["published"] >= first["published"] > 0
