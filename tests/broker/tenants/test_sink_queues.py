"""The queues of targets: which deliveries wait for which."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from likewise.api.sinks import WebhookSettings
from likewise.broker.log.deliveries import ARRIVAL, Delivery
from likewise.broker.log.sink_rows import StoredTarget, TargetRow
from likewise.broker.tenants.sink_queues import SinkQueue, SinkQueues


class NeverListed(dict[int, list[SinkQueue]]):
    """Numbers that are looked up one by one."""

    def __iter__(self) -> Iterator[int]:
        raise AssertionError("all numbers were listed")


def delivery(number: int, *matched: int) -> Delivery:
    return Delivery(number, number, ARRIVAL, np.array([1], np.int64), np.array(matched, np.int64), b"", b"", None)


def queues(*numbers: int) -> tuple[SinkQueues, dict[int, SinkQueue]]:
    """A target for each of some subscriptions."""
    sinks, made = SinkQueues(), {}
    for number in numbers:
        setting = StoredTarget("uid", 0, WebhookSettings("https://example.org"))
        made[number] = SinkQueue(TargetRow(number, 1, str(number), "t", setting))
        sinks.add(made[number], [number])
    return sinks, made


@pytest.mark.parametrize("matched", [(3, 12), tuple(range(100))])
def test_a_delivery_waits_for_the_targets_of_what_it_matched(matched: tuple[int, ...]) -> None:
    """Few matches among many targets, and many matches among few."""
    sinks, made = queues(3, 9, 12)
    updated = sinks.offer([delivery(1, *matched)])
    assert {each.number for each in updated} == {3, 9, 12} & set(matched)
    assert all(list(each.pending) == [1] for each in updated)
    assert made[3].pending


def test_offering_a_delivery_looks_only_at_what_it_matched() -> None:
    """However many targets there are."""
    sinks, made = queues(3, 9, 12)
    sinks._by_subscription = NeverListed(sinks._by_subscription)
    assert sinks.offer([delivery(1, 9), delivery(2, 4, 9)]) == [made[9]]
