"""Whose the subscriptions of a delivery are: the same for few and many, and a look-up for each recipient."""

from __future__ import annotations

import random

import numpy as np
import pytest

import likewise as lw
from likewise.broker.log.deliveries import ARRIVAL, Delivery
from likewise.broker.tenants.tenant import FEW_MATCHED, StoredSubscription, Tenant


class Counted(dict[int, StoredSubscription]):
    """What is held, counting how often one is looked up."""

    looked_up = 0

    def get(self, number: int, default: object = None) -> StoredSubscription | None:  # type: ignore[override]
        self.looked_up += 1
        return super().get(number)


def tenant_of(owners: dict[int, int]) -> Tenant:
    tenant = Tenant(1, "t", lw.Matcher(profile="small"))
    asked = lw.parse("{a = 1}")
    tenant.subscriptions = Counted(
        (number, StoredSubscription(number, owner, f"s{number}", asked, 0)) for number, owner in owners.items()
    )
    return tenant


@pytest.mark.parametrize("count", [0, 1, FEW_MATCHED, FEW_MATCHED + 1, 500])
def test_every_recipient_gets_its_own_and_nobody_elses(count: int) -> None:
    """As by looking through all of them for each recipient; what is not known any more is nobody's."""
    chance = random.Random(count)
    numbers = sorted(chance.sample(range(1, 10_000), count))
    owners = {number: chance.randrange(1, 30) for number in numbers if chance.random() < 0.9}
    tenant = tenant_of(owners)
    delivery = Delivery(1, 1, ARRIVAL, np.array(sorted(set(owners.values()))), np.array(numbers, np.int64))
    for subscriber in range(31):
        wanted = [(place, f"s{n}") for place, n in enumerate(numbers) if owners.get(n) == subscriber]
        assert tenant.recipient_subscriptions(delivery, subscriber) == wanted


def test_many_recipients_cost_a_look_up_each() -> None:
    """Not a pass over everybody's subscriptions for each of them."""
    tenant = tenant_of({number: number for number in range(1, 2001)})
    delivery = Delivery(1, 1, ARRIVAL, np.arange(1, 2001), np.arange(1, 2001))
    assert all(
        tenant.recipient_subscriptions(delivery, number) == [(number - 1, f"s{number}")] for number in range(1, 2001)
    )
    assert isinstance(tenant.subscriptions, Counted)
    assert tenant.subscriptions.looked_up <= 2 * 2000
