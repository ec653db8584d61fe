"""Every subscription prints to text that parses to the same value."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given

from likewise.errors import ParseError
from likewise.language import parse, subscription_id, subscription_text
from likewise.model import Condition, Predicate, Quantity, Subscription
from likewise.units.table import EVERYDAY
from tests import strategies


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


@pytest.mark.parametrize(
    "text",
    [
        '{x exists} top 3 by sum(31*"in" + 29*"as") highest',
        '{x exists} top 3 by value("in" in degC)',
        '{x = 1} select ("a  b" as "c  d", "in" in degC as "as")',
        "near (?m, dbo:homeTeam, ?t) top 5 within 1 h by meaning threshold 0.2",
        "near (?m, dbo:homeTeam, ?t) radius 0.5 by spelling top 5 by relatedness",
        "near (?m, dbo:homeTeam, ?t) radius 1.4 by spelling top 5 within 3 events by relatedness lowest",
        'event type "Race" . event place "Zagreb" top 5 within 1 h by relatedness using sameness',
    ],
)
def test_words_of_clauses_blanks_and_rankings_stay(text: str) -> None:
    """Names that are words of the language, two blanks in a row, rankings of statements and near triples."""
    assert subscription_text(parse(text)) == text


def test_a_name_that_begins_with_an_exclamation_mark_is_quoted() -> None:
    """Bare it would read as a negation, which it is not: it is refused, and never met by what it seems to deny."""
    parsed = parse('{"!t" > 3, x = !y}')
    assert str(parsed) == '{"!t" > 3, x = "!y"}'
    assert parse(str(parsed)) == parsed
    with pytest.raises(ParseError, match="would be a part of the name"):
        parse("{!t > 3}")
