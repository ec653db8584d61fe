"""The broker against a plain model of lists, under random calls, crashes and restarts."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import DuplicateId
from likewise.testing.clocks import ManualClock

NAMES = st.sampled_from(["ann", "bob", "cy"])
LOWS = st.integers(0, 9)
Item = tuple[str, str, tuple[str, ...]]  # event, cause, subscriptions


@dataclass
class ModelSubscriber:
    """What a subscriber should get, and what its client, which keeps its cursor, has got."""

    subscriptions: dict[str, int] = field(default_factory=dict)
    due: list[Item] = field(default_factory=list)
    had: set[str] = field(default_factory=set)
    got: list[Item] = field(default_factory=list)
    expected: list[Item] = field(default_factory=list)
    cursor: int = 0


@dataclass
class ModelEvent:
    id: str
    x: int
    expires: int | None
    withdrawn: bool = False


class BrokerModel(RuleBasedStateMachine):
    """Every rule does the same to the broker and to the lists."""

    @initialize()
    def start(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="likewise-model-"))
        self.opened = 0
        self.clock = ManualClock(1_000_000)
        self.broker = Broker(self.root / "0", clock=self.clock)
        self.subscribers: dict[str, ModelSubscriber] = {}
        self.events: list[ModelEvent] = []

    def teardown(self) -> None:
        if hasattr(self, "broker"):
            try:
                for name in self.subscribers:
                    self.receive(name, acknowledge=False)
            finally:
                self.broker.close()
                shutil.rmtree(self.root)

    @property
    def tenant(self) -> Tenant:
        return self.broker.tenant("default")

    @rule(name=NAMES)
    def register(self, name: str) -> None:
        self.broker.register(self.tenant, name)
        self.subscribers.setdefault(name, ModelSubscriber())

    @precondition(lambda self: self.subscribers)
    @rule(data=st.data(), low=LOWS, id=st.sampled_from("pqr"))
    def subscribe(self, data: st.DataObject, low: int, id: str) -> None:
        name = data.draw(st.sampled_from(sorted(self.subscribers)))
        mine = self.subscribers[name]
        wanted = lw.parse(f"{{x >= {low}}}", id=id)
        if id in mine.subscriptions:
            with pytest.raises(DuplicateId):
                self.broker.subscribe(self.tenant, name, [wanted])
            return
        self.broker.subscribe(self.tenant, name, [wanted])
        mine.subscriptions[id] = low
        for event in self.events:
            valid = not event.withdrawn and (event.expires is None or event.expires > self.clock.now)
            if valid and event.x >= low and event.id not in mine.had:
                mine.had.add(event.id)
                mine.due.append((event.id, "initial", (id,)))

    @precondition(lambda self: any(s.subscriptions for s in self.subscribers.values()))
    @rule(data=st.data())
    def unsubscribe(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(n for n, s in self.subscribers.items() if s.subscriptions)))
        id = data.draw(st.sampled_from(sorted(self.subscribers[name].subscriptions)))
        self.broker.unsubscribe(self.tenant, name, id)
        del self.subscribers[name].subscriptions[id]

    @rule(xs=st.lists(LOWS, min_size=1, max_size=5), lives=st.sampled_from([None, 5, 50]))
    def publish(self, xs: list[int], lives: int | None) -> None:
        expires = None if lives is None else self.clock.now + lives
        new = [ModelEvent(f"e{len(self.events) + n}", x, expires) for n, x in enumerate(xs)]
        events = [lw.event({"x": e.x}, id=e.id, expires=e.expires) for e in new]
        receipts = self.broker.publish(self.tenant, events)
        assert not any(receipt.duplicate for receipt in receipts)
        self.events += new
        for event in new:
            for mine in self.subscribers.values():
                # in the order of addition, which is that of the dictionary
                met = tuple(id for id, low in mine.subscriptions.items() if event.x >= low)
                if met:
                    mine.had.add(event.id)
                    mine.due.append((event.id, "arrival", met))

    @precondition(lambda self: self.events)
    @rule(data=st.data())
    def publish_again(self, data: st.DataObject) -> None:
        event = data.draw(st.sampled_from(self.events))
        again = lw.event({"x": event.x}, id=event.id, expires=event.expires)
        assert self.broker.publish(self.tenant, [again])[0].duplicate

    @precondition(lambda self: any(not e.withdrawn for e in self.events))
    @rule(data=st.data())
    def withdraw(self, data: st.DataObject) -> None:
        event = data.draw(st.sampled_from([e for e in self.events if not e.withdrawn]))
        self.broker.withdraw(self.tenant, event.id)
        event.withdrawn = True
        for mine in self.subscribers.values():
            mine.due = [item for item in mine.due if item[0] != event.id]

    @rule(duration=st.sampled_from([1, 10, 100]))
    def let_time_pass(self, duration: int) -> None:
        self.broker.wait_until_matched()
        self.clock.advance(duration)
        over = {e.id for e in self.events if e.expires is not None and e.expires <= self.clock.now}
        for mine in self.subscribers.values():
            mine.due = [item for item in mine.due if item[0] not in over]

    @precondition(lambda self: self.subscribers)
    @rule(data=st.data(), acknowledge=st.booleans())
    def connect_and_receive(self, data: st.DataObject, acknowledge: bool) -> None:
        self.receive(data.draw(st.sampled_from(sorted(self.subscribers))), acknowledge)

    def receive(self, name: str, acknowledge: bool) -> None:
        self.broker.wait_until_matched()
        mine = self.subscribers[name]
        found = self.broker.page(self.tenant, self.tenant.subscriber(name), after=mine.cursor, limit=10_000)
        for number, frame in found:
            said = msgspec.json.decode(frame)
            assert said["sequence"] == number > mine.cursor
            mine.cursor = number
            mine.got.append((said["event"]["id"], said["cause"], tuple(s["id"] for s in said["subscriptions"])))
        if acknowledge and mine.cursor:
            self.broker.acknowledge(self.tenant, name, mine.cursor)
        mine.expected += mine.due
        mine.due = []
        assert mine.got == mine.expected

    @rule()
    def restart(self) -> None:
        self.broker.close()
        self.broker = Broker(self.root / str(self.opened), clock=self.clock)

    @rule(swept=st.booleans())
    def crash(self, swept: bool) -> None:
        """What is on disk between two commits, opened elsewhere: the process is gone at that moment."""
        if swept:
            self.broker.wait_until_matched()
            self.broker.sweep()
        self.opened += 1
        with self.broker.store._shared:
            shutil.copytree(self.root / str(self.opened - 1), self.root / str(self.opened))
        self.broker.close()
        self.broker = Broker(self.root / str(self.opened), clock=self.clock)


TestBrokerModel = BrokerModel.TestCase
TestBrokerModel.settings = settings(max_examples=max(8, settings().max_examples // 6), stateful_step_count=25)
