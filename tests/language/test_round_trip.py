"""Every subscription prints to text that parses to the same value."""

from __future__ import annotations

import msgspec
from hypothesis import given

from likewise.language import parse, subscription_id, subscription_text
from likewise.model import Condition, Predicate, Quantity, Subscription
from likewise.testing import strategies
from likewise.units.table import EVERYDAY


@given(strategies.written_subscriptions())
def test_every_subscription_prints_to_text_that_parses_to_the_same_value(subscription: Subscription) -> None:
    """All forms, any text, any number."""
    text = subscription_text(subscription)
    assert parse(text, id=subscription.id) == subscription
    assert subscription_text(parse(text)) == text


@given(strategies.subscriptions(kinds=("exact", "approximate", "top", "statements", "interest")))
def test_what_the_contract_suite_draws_can_be_written(subscription: Subscription) -> None:
    """The subscriptions engines are compared on are subscriptions of the language."""
    assert parse(subscription_text(subscription), id=subscription.id) == subscription


@given(strategies.written_subscriptions())
def test_the_default_id_depends_on_what_is_asked_alone(subscription: Subscription) -> None:
    """Two subscriptions that print alike have one id, whatever their own ids are."""
    parsed = parse(subscription_text(subscription))
    assert parsed.id == subscription_id(subscription) == subscription_id(msgspec.structs.replace(subscription, id=""))
    assert len(parsed.id) == 16
    assert int(parsed.id, 16) >= 0


def test_every_unit_of_the_table_can_be_written() -> None:
    """No unit's symbol is mistaken for an operator."""
    for symbol, *_ in EVERYDAY:
        subscription = Subscription(Condition((Predicate("x", ">", Quantity(2.5, symbol)),)), id="s")
        assert parse(subscription_text(subscription), id="s") == subscription
