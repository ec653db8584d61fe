"""A slice of what `python -m tests.server.mqtt.mutated` does at length."""

from __future__ import annotations

from tests.fuzzing.run import stretch
from tests.server.mqtt.mutated import Tried


def test_mutated_packets_are_read_or_refused() -> None:
    """With a reason code and never with another error; `mqtt5` reads what we read as the same."""
    tried = Tried()
    assert stretch("packets", tried, 3, 0, 4_000) == []
    assert min(tried.ends[each] for each in ("read", "refused", "unfinished", "read by both")) > 200
