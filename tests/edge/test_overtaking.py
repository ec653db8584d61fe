"""What is said of the log before it is applied: nothing that was seen too early is left unsaid."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import likewise as lw
from likewise.broker.edge_hub.demands import EdgeDemands
from likewise.broker.tenants.tenant import StoredSubscription
from likewise.edge.outbox import Outbox
from likewise.model.announcements.announcement import AnnouncedAttribute, Announcement
from tests.edge.brokers import Running, connected, edge, hub, until


@contextmanager
def applied_late(at: Running, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Let subscriptions at a broker be applied only when what is yielded is called."""
    let, own = threading.Event(), at.tenant.add_subscription

    def hold(held: StoredSubscription) -> None:
        assert let.wait(60)
        own(held)

    monkeypatch.setattr(at.tenant, "add_subscription", hold)
    try:
        yield let.set
    finally:
        let.set()


def test_a_subscription_that_is_seen_before_it_is_applied_is_told_above(monkeypatch: pytest.MonkeyPatch) -> None:
    """The outbox sees it, and wakes the line, before its own position is written, and before it is held here."""
    with hub() as above, edge("roof", above.address) as below:
        until(lambda: connected(below), "the line opens")
        below.broker.register(below.tenant, "bob")
        assert below.uplink is not None
        looked, held = threading.Event(), threading.Event()
        news, write = below.uplink.subscriptions.diff, Outbox._write

        def look() -> Any:
            found = news()
            looked.set()
            return found

        def write_late(outbox: Outbox, items: Any, position: int) -> None:
            assert held.wait(60)
            write(outbox, items, position)

        with applied_late(below, monkeypatch) as apply:
            until(lambda: below.uplink.outbox.position >= below.tenant.appended, "all is said")  # type: ignore[union-attr]
            monkeypatch.setattr(below.uplink.subscriptions, "diff", look)
            monkeypatch.setattr(Outbox, "_write", write_late)
            done: list[object] = []
            subscription = lw.parse("{no2 > 40}", id="bad air")
            below.broker.start_subscribe(below.tenant, "bob", [subscription], False, done.append)
            assert looked.wait(60), "the line looks for it, and does not find it"
            assert not below.tenant.subscriber("bob").subscriptions
            apply()
            until(lambda: below.tenant.matched >= below.tenant.appended, "it is applied")
            held.set()
            until(lambda: above.tenant.subscribers["edge:roof"].subscriptions, "the hub holds bob's")


def test_a_subscription_that_is_applied_late_is_asked_for_below(monkeypatch: pytest.MonkeyPatch) -> None:
    """The demand begins while it is on disk and not applied: it counts as soon as it is."""
    with hub() as above:
        above.broker.register(above.tenant, "ann")
        above.broker.wait_until_matched()
        with applied_late(above, monkeypatch) as apply:
            subscription = lw.parse("{no2 > 40}", id="bad air")
            above.broker.start_subscribe(above.tenant, "ann", [subscription], False, lambda result: None)
            until(lambda: above.tenant.appended > above.tenant.matched, "it is on disk")
            demands = above.broker.edges.demands(above.tenant)
            demands.announce("roof", Announcement("roof/1", (AnnouncedAttribute("no2"),)))
            assert not demands.of("roof").filters
            apply()
            until(lambda: demands.of("roof").filters, "it is asked for")


def test_a_subscription_that_is_applied_while_it_is_looked_for_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not held when it is looked up, and applied a moment later: it stays among those that are waited for."""
    with hub() as above:
        above.broker.register(above.tenant, "ann")
        demands = above.broker.edges.demands(above.tenant)
        demands.announce("roof", Announcement("roof/1", (AnnouncedAttribute("no2"),)))
        assert not demands.of("roof").filters
        with applied_late(above, monkeypatch) as apply:
            subscription = lw.parse("{no2 > 40}", id="bad air")
            above.broker.start_subscribe(above.tenant, "ann", [subscription], False, lambda result: None)
            until(lambda: above.tenant.appended > above.tenant.matched, "it is on disk")
            until(lambda: _waiting(demands), "it is waited for")

            class Moment(dict[int, StoredSubscription]):
                """Those held, looked at just before the newest is applied."""

                def get(self, number: int, default: Any = None) -> Any:
                    found = super().get(number, default)
                    apply()
                    until(lambda: above.tenant.matched >= above.tenant.appended, "it is applied meanwhile")
                    return found

            monkeypatch.setattr(above.tenant, "subscriptions", Moment(above.tenant.subscriptions))
            demands.of("roof")
            until(lambda: demands.of("roof").filters, "it is asked for")


def test_what_was_forgotten_meanwhile_is_asked_for_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looked at the demand while a subscription ended and was forgotten."""
    monkeypatch.setattr("likewise.broker.edge_hub.demands.COMPARED_SECONDS", 0.0)
    with hub() as above:
        above.broker.register(above.tenant, "ann")
        demands = above.broker.edges.demands(above.tenant)
        demands.announce("roof", Announcement("roof/1", (AnnouncedAttribute("no2"),)))
        above.broker.subscribe(above.tenant, "ann", [lw.parse("{no2 > 40}", id="bad air")])
        until(lambda: demands.of("roof").filters, "it is asked for")
        above.broker.unsubscribe(above.tenant, "ann", "bad air")
        above.broker.wait_until_matched()
        for number in list(above.tenant.ended):
            del above.tenant.subscriptions[number]
            above.tenant.ended.discard(number)
        assert not demands.of("roof").filters


def _waiting(demands: EdgeDemands) -> bool:
    return bool(demands._waiting)
