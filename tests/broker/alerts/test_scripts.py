"""Forty alarms that somebody relies on, in a broker with a simulated clock: each is sent, and nothing else."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

import likewise as lw
from likewise.broker.broker import Broker
from likewise.model.time import microseconds
from likewise.testing.clocks import ManualClock
from tests.broker.alerts.test_alerts import tick
from tests.matching.alerts.scripts import START, STORIES, read_sent, read_steps, write_time

pytestmark = pytest.mark.usefixtures("no_chores")


@pytest.mark.parametrize("name", STORIES)
def test_what_one_relies_on_is_sent(name: str, tmp_path: Path) -> None:
    """With a restart of the broker where the story restarts."""
    story, clock = STORIES[name], ManualClock(START)
    broker = Broker(tmp_path / "data", clock=clock)
    try:
        broker.register(broker.tenant("default"), "ann")
        broker.subscribe(broker.tenant("default"), "ann", [lw.parse(story.text, id="s")])
        for step in read_steps(story):
            clock.set(step.at)
            tick(broker)
            tenant = broker.tenant("default")
            if step.event is not None:
                broker.publish(tenant, [step.event])
            elif step.word == "withdraw":
                broker.withdraw(tenant, step.id)
            elif step.word == "restart":
                broker.close()
                clock.set(step.until or step.at)
                broker = Broker(tmp_path / "data", clock=clock)
                tick(broker)
        tick(broker)
        tenant = broker.tenant("default")
        page = broker.page(tenant, tenant.subscriber("ann"), after=0, limit=1_000)
        found = [msgspec.json.decode(frame) for _, frame in page]
    finally:
        broker.close()
    sent = [f"{write_time(microseconds(d['alert']['moment']))} {d['cause']} {d['event']['id']}" for d in found]
    assert sent == read_sent(story)
