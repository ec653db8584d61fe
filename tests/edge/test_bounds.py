"""What may wait at an edge: bounds, policies, and what was dropped, visible at both ends."""

from __future__ import annotations

from pathlib import Path

import pytest

import likewise as lw
from likewise.edge.bounds import Bounds
from likewise.errors import InputError
from likewise.testing.clocks import ManualClock
from tests.edge.brokers import connected, edge, hub, until
from tests.edge.relay import free_port

NOWHERE = f"http://127.0.0.1:{free_port()}"  # where nobody answers
DAY = 86_400 * 1_000_000


def waits(below) -> list[str]:  # type: ignore[no-untyped-def]
    """The ids of the events that wait, in their order."""
    page = below.uplink.outbox.page(0, 10_000)
    entries = (next(below.broker.store.entries(each.item.position - 1, each.item.position)) for each in page)
    return [entry.id for entry in entries]


@pytest.mark.parametrize("policy", ["drop-oldest", "drop-newest", "thin"])
def test_what_is_beyond_the_bound_goes_by_the_policy_and_is_counted(policy: str) -> None:
    """The oldest, the newest, or every second event of each source."""
    with edge("roof", NOWHERE, bounds=Bounds(bytes=6_000, policy=policy)) as below:
        assert below.uplink is not None
        for n in range(100):
            below.broker.publish(
                below.tenant, [lw.event({"n": n, "text": "x" * 50}, id=f"e{n:02}", source=f"s{n % 2}")]
            )
        outbox = below.uplink.outbox
        until(lambda: outbox.position >= below.broker.store.position, "all were looked at")
        left = waits(below)
        assert outbox.bytes <= 6_000
        assert outbox.counts.dropped == 100 - len(left) > 0
        if policy == "drop-oldest":
            assert left == [f"e{n:02}" for n in range(100 - len(left), 100)]
        elif policy == "drop-newest":
            assert left[:20] == [f"e{n:02}" for n in range(20)]
        else:
            both = {source: sum(int(id[1:]) % 2 == source for id in left) for source in (0, 1)}
            assert abs(both[0] - both[1]) <= 1
            assert left[-1] == "e99"


def test_what_was_dropped_is_told_above(tmp_path: Path) -> None:
    """`GET /v1/edges` shows it with the policy; it is known after a restart of the edge, too."""
    with edge("roof", NOWHERE, tmp_path, bounds=Bounds(bytes=2_000)) as below:
        assert below.uplink is not None
        below.broker.publish(below.tenant, [lw.event({"n": n, "t": "x" * 50}, id=f"e{n}") for n in range(100)])
        outbox = below.uplink.outbox
        until(lambda: outbox.counts.dropped > 0, "some are dropped")
        until(lambda: outbox.position >= below.broker.store.position, "all were looked at")
        dropped = outbox.counts.dropped
    with hub() as above, edge("roof", above.address, tmp_path, bounds=Bounds(bytes=2_000)) as below:
        until(lambda: connected(below), "the line opens")
        until(lambda: above.broker.edges.one_shown(above.tenant, "roof").dropped == dropped, "it is told")
        assert above.broker.edges.one_shown(above.tenant, "roof").policy == "drop-oldest"
        until(lambda: above.broker.store.position > 0, "what was left goes up")


def test_a_day_without_a_line_is_made_up_for(tmp_path: Path) -> None:
    """24 hours by the clock: readings of every ten minutes go up when the line is back, and none is lost."""
    clock = ManualClock("2024-05-01T00:00:00Z")
    with edge("roof", NOWHERE, tmp_path, clock=clock) as below:
        for n in range(144):
            clock.advance(600 * 1_000_000)
            below.broker.publish(below.tenant, [lw.event({"no2": n}, id=f"e{n}", source="roof")])
        assert below.uplink is not None
        outbox = below.uplink.outbox
        until(lambda: outbox.position >= below.broker.store.position, "all were looked at")
        assert outbox.waiting == 144
    with hub(clock=clock) as above:
        above.broker.register(above.tenant, "ann")
        above.broker.subscribe(above.tenant, "ann", [lw.parse("{no2 >= 100}", id="high")])
        with edge("roof", above.address, tmp_path, clock=clock):
            wanted = {("high", f"e{n}") for n in range(100, 144)}
            until(lambda: above.got("ann") == wanted, "all that are wanted are there")


def test_what_waits_too_long_goes(tmp_path: Path) -> None:
    """After the span that the outbox keeps; what came since stays."""
    clock = ManualClock("2024-05-01T00:00:00Z")
    with edge("roof", NOWHERE, tmp_path, clock=clock, bounds=Bounds(keep="2 d")) as below:
        assert below.uplink is not None
        outbox = below.uplink.outbox
        below.broker.publish(below.tenant, [lw.event({"n": 1}, id="old")])
        until(lambda: outbox.waiting == 1, "it waits")
        clock.advance(3 * DAY)
        below.broker.publish(below.tenant, [lw.event({"n": 2}, id="new")])
        until(lambda: outbox.counts.dropped == 1, "the old one goes")
        until(lambda: waits(below) == ["new"], "the new one stays")


def test_a_policy_that_there_is_not_is_refused() -> None:
    """With what there is."""
    with pytest.raises(InputError, match="drop-oldest, drop-newest, thin"):
        Bounds(policy="some")
    with pytest.raises(lw.LikewiseError):
        Bounds(keep="for long")
