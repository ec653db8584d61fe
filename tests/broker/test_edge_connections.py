"""What a hub remembers of a connected edge."""

from __future__ import annotations

from likewise.api.edge_frames import HealthFrame
from likewise.broker.edge_hub import connections
from likewise.broker.edge_hub.connections import EdgeConnection


def test_a_sign_of_life_is_bounded_and_wakes_as_before() -> None:
    """Of the sources that an edge ever named, those read last are remembered."""
    woken: list[int] = []
    edge = EdgeConnection("roof", "address", 0, lambda: None)
    edge.wake()  # there from the start, and not undone by a sign of life
    edge.wake = lambda: woken.append(1)
    for first in range(0, 3 * connections.MOST_READINGS, connections.MOST_READINGS):
        edge.report(HealthFrame(sources={f"s{n}": n for n in range(first, first + connections.MOST_READINGS)}))
    assert len(edge.readings) == connections.MOST_READINGS
    assert min(edge.readings.values()) == 2 * connections.MOST_READINGS
    edge.wake()
    assert woken == [1]
