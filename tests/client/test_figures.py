"""The sequences of CUPUS's figures (sources.md C), through clients and a broker that is served."""

from __future__ import annotations

import queue
import shutil
from itertools import islice
from pathlib import Path

import pytest

from likewise.broker.broker import Broker
from likewise.broker.config import Config, ServerSettings
from likewise.client import ClientDelivery, Publisher, Subscriber
from likewise.errors import LikewiseError
from tests.server.conftest import address, serving

__all__ = ["address"]


def numbers(deliveries: list[ClientDelivery]) -> list[object]:
    return [delivery.event.tuples[0].value for delivery in deliveries]


def test_figure_6_a_publication_goes_to_each_interested_subscriber_once(address: str) -> None:
    """Publish, match, deliver: those whose subscriptions match are told, others are not; several subscriptions of one
    subscriber share one delivery."""
    with (
        Publisher(address, source="/f6").connect() as out,
        Subscriber("f6 ann", address) as ann,
        Subscriber("f6 bob", address) as bob,
        Subscriber("f6 eve", address) as eve,
    ):
        ann.subscribe("{n > 10, town = F6}", "high")
        ann.subscribe("{n > 20, town = F6}", "higher")
        bob.subscribe("{n < 40, town = F6}", "low")
        eve.subscribe("{n > 90, town = F6}", "none")
        out.publish({"n": 30, "town": "F6"})
        assert [[s.id for s in d.subscriptions] for d in islice(ann, 1)] == [["high", "higher"]]
        assert [[s.id for s in d.subscriptions] for d in islice(bob, 1)] == [["low"]]
        out.publish({"n": 99, "town": "F6"})
        assert numbers(list(islice(eve, 1))) == [99]  # so the first one was not meant for it
        assert not bob.pending()


def test_figure_9_a_new_subscription_first_gets_the_valid_earlier_publications(address: str) -> None:
    """Those that match, are still valid, and that this subscriber has not had; then what comes (no announcements)."""
    with Publisher(address, source="/f9") as out, Subscriber("f9", address) as inbox:
        _, _, gone = out.publish_all({"n": n, "town": "F9"} for n in (1, 25, 30))
        out.unpublish(gone.id)
        out.publish_all([{"n": 40, "town": "F9"}, {"n": 50, "town": "elsewhere"}])
        inbox.subscribe("{n > 20, town = F9}", "high")
        out.publish({"n": 60, "town": "F9"})
        assert numbers(list(islice(inbox, 3))) == [25, 40, 60]
        inbox.subscribe("{n > 0, town = F9}", "any")
        assert numbers(list(islice(inbox, 1))) == [1]  # the others it has had
        assert not inbox.pending()


def test_figure_18_a_publisher_connects_publishes_unpublishes_and_disconnects(address: str) -> None:
    """Each step is confirmed; after it a publisher may come back as the same one."""
    with Subscriber("f18", address) as inbox:
        out = Publisher(address, source="/f18").connect()
        first, second = out.publish_all({"n": n, "town": "F18"} for n in (1, 2))
        assert first.id != second.id
        out.unpublish(first.id)
        out.disconnect()
        out.connect()
        out.publish({"n": 3, "town": "F18"})
        out.close()
        inbox.subscribe("{town = F18}")
        assert numbers(list(islice(inbox, 2))) == [2, 3]


def test_figure_19_a_subscriber_registers_subscribes_is_notified_and_unregisters(address: str) -> None:
    """The notification listener gets each delivery; after unsubscribe nothing, after unregister it is forgotten."""
    told: queue.Queue[ClientDelivery] = queue.Queue()
    with Publisher(address) as out, Subscriber("f19", address).connect() as inbox:
        id = inbox.subscribe("{n exists, town = F19}")
        with inbox.listen(told.put):
            out.publish_all({"n": n, "town": "F19"} for n in range(3))
            assert numbers([told.get(timeout=60) for _ in range(3)]) == [0, 1, 2]
        inbox.unsubscribe(id)
        out.publish({"n": 3, "town": "F19"})
        assert not inbox.pending()
        inbox.unregister()
    with Subscriber("f19", address) as again:
        again.subscribe("{n > 1, town = F19}")
        assert numbers(list(islice(again, 2))) == [2, 3]  # as one that never was here


def test_figure_20_a_subscriber_that_was_away_gets_what_it_missed_wherever_it_reconnects(tmp_path: Path) -> None:
    """Disconnect, publications, reconnect elsewhere: what it missed, in order, once, less what was taken back."""
    with (
        Broker(tmp_path / "data", Config(server=ServerSettings(port=0))) as broker,
        serving(broker=broker) as one,
        Publisher(one) as out,
    ):
        inbox = Subscriber("f20", one).connect()
        inbox.subscribe("{n exists}")
        out.publish_all({"n": n} for n in (0, 1))
        assert numbers(list(islice(inbox, 2))) == [0, 1]
        inbox.disconnect()
        receipts = out.publish_all({"n": n} for n in (2, 3, 4))
        out.unpublish(receipts[1].id)
        broker.wait_until_matched()
    shutil.copytree(tmp_path / "data", tmp_path / "copy")
    with (
        Broker(tmp_path / "copy", Config(server=ServerSettings(port=0))) as moved,
        serving(broker=moved) as other,
        Publisher(other) as out,
    ):
        with pytest.raises(LikewiseError):
            inbox.reconnect(one, patience=0)  # nobody is there any more
        inbox.reconnect(other)
        out.publish({"n": 5})
        assert numbers(list(islice(inbox, 3))) == [2, 4, 5]
        inbox.close()
