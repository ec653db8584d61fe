"""Subscriptions as JSON: their text, their structure, and what is refused."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from likewise.errors import (
    FormatError,
    InputError,
    InvalidSubscription,
    LikewiseError,
    LimitExceeded,
    ParseError,
    UnitError,
)
from likewise.formats.json import read_subscriptions, schema, subscription_from_json, subscription_to_json
from likewise.formats.json.subscriptions import is_json
from likewise.language import parse, subscription_id, subscription_text
from likewise.model import GraphPattern, Subscription, TriplePattern
from tests import strategies

VALIDATOR = Draft202012Validator(schema("subscription"))


@given(strategies.written_subscriptions())
def test_a_subscription_written_and_read_again_is_the_same(subscription: Subscription) -> None:
    """As structure and as text; both follow the schema."""
    structure = subscription_to_json(subscription)
    VALIDATOR.validate(json.loads(structure))
    again = subscription_from_json(structure)
    assert again == (subscription if subscription.id else again)
    assert again.body == subscription.body
    as_text = {"v": 1, "text": subscription_text(subscription), **({"id": subscription.id} if subscription.id else {})}
    VALIDATOR.validate(as_text)
    assert subscription_from_json(json.dumps(as_text)) == again


@given(strategies.subscriptions())
def test_every_kind_is_written(subscription: Subscription) -> None:
    """Those the engines are compared on."""
    assert subscription_from_json(subscription_to_json(subscription)) == subscription


def test_a_missing_id_is_the_hash_of_the_printed_form() -> None:
    """The same for text and structure."""
    plain = parse("{temperature~ > 25 degC}")
    without = Subscription(plain.body)
    assert subscription_from_json(subscription_to_json(without)).id == subscription_id(without)
    assert subscription_from_json('{"v": 1, "text": "{temperature~ > 25 degC}"}').id == subscription_id(without)


def test_order_blanks_and_written_defaults_do_not_matter() -> None:
    """Only what it says does."""
    text = """{"id" : "s", "themes": [], "body": {"items": [
        {"operator": ">", "value": 25, "attribute_relaxed": false, "attribute": "t", "kind": "predicate"}],
        "kind": "condition"}, "top": null, "v": 1}"""
    assert subscription_from_json(text) == parse("{t > 25}", id="s")


def test_terms_of_patterns_become_canonical() -> None:
    """So that they equal the terms of events."""
    body = {"kind": "pattern", "patterns": [["?e", "<http://e.org/p>", '"caf\\u00e9"@EN']]}
    made = subscription_from_json(json.dumps({"v": 1, "id": "s", "body": body}))
    assert made.body == GraphPattern((TriplePattern("?e", "<http://e.org/p>", '"café"@en'),))


def predicate(value: str, operator: str = "=", extra: str = "") -> str:
    item = f'{{"kind": "predicate", "attribute": "a", "operator": "{operator}", "value": {value}{extra}}}'
    return f'{{"v": 1, "id": "s", "body": {{"kind": "condition", "items": [{item}]}}}}'


NOT = '{"kind": "not", "item": '
EXISTS = '{"kind": "predicate", "attribute": "a", "operator": "exists"}'
INTEREST = '"body": {"kind": "interest", "vector": "1"}'
BAD: list[tuple[str, Any, type[LikewiseError]]] = [
    ("not JSON", "{", FormatError),
    ("an array", "[]", FormatError),
    ("no version", "{" + INTEREST + "}", FormatError),
    ("a newer version", '{"v": 2, ' + INTEREST + "}", FormatError),
    ("neither text nor body", '{"v": 1, "id": "s"}', FormatError),
    ("text and body", '{"v": 1, "text": "{a = 1}", ' + INTEREST + "}", FormatError),
    ("text and themes", '{"v": 1, "text": "{a = 1}", "themes": ["x"]}', FormatError),
    ("wrong text", '{"v": 1, "text": "{a = }"}', ParseError),
    ("an unknown field", '{"v": 1, "id": "s", "priority": 1, ' + INTEREST + "}", FormatError),
    ("an unknown field, deep", predicate("1", extra=', "weight": 2'), FormatError),
    ("an unknown kind", '{"v": 1, "body": {"kind": "regex", "pattern": "x"}}', FormatError),
    ("an unknown operator", predicate("1", "=="), FormatError),
    ("an unknown unit", predicate('{"kind": "quantity", "value": 1, "unit": "pm"}'), UnitError),
    ("an empty interval", predicate('{"kind": "interval", "low": 2, "high": 1}', "between"), InvalidSubscription),
    ("an empty condition", '{"v": 1, "body": {"kind": "condition", "items": []}}', InvalidSubscription),
    ("NaN", predicate("NaN"), FormatError),
    ("beyond floating point", predicate("1e999"), FormatError),
    ("a whole number of 400 digits", predicate("9" * 400), InputError),
    ("null where a value must be", predicate("null"), InvalidSubscription),
    ("a list where none fits", predicate("[1]"), InvalidSubscription),
    ("a value of 10 MB", predicate('"' + "x" * 10_000_000 + '"'), LimitExceeded),
    ("a value of 2,000 characters", predicate('"' + "x" * 2_000 + '"'), LimitExceeded),
    ("nesting 10,000 deep", predicate("1").replace('{"kind": "pred', NOT * 10_000 + '{"kind": "pred'), LimitExceeded),
    (
        "nesting 100 deep",
        '{"v":1,"body":{"kind":"condition","items":[' + NOT * 100 + EXISTS + "}" * 100 + "]}}",
        LimitExceeded,
    ),
    ("values 10,000 deep", predicate("[" * 10_000 + "]" * 10_000), InputError),
    ("invalid UTF-8", predicate('"x"').encode().replace(b"x", b"\xff"), FormatError),
    ("half a surrogate pair", predicate('"\\ud800"'), FormatError),
    ("a key twice", '{"v": 1, "id": "s", "id": "t", ' + INTEREST + "}", FormatError),
    ("a key twice, deep", predicate("1", extra=', "value": 2'), FormatError),
    ("a key twice, once escaped", predicate("1", extra=', "v\\u0061lue": 2'), FormatError),
    ("a wrong term", '{"v": 1, "body": {"kind": "pattern", "patterns": [["?e", "p", "?o"]]}}', FormatError),
    ("a wrong variable", '{"v": 1, "body": {"kind": "pattern", "patterns": [["?", "?p", "?o"]]}}', FormatError),
    ("a threshold of text", '{"v": 1, "threshold": "high", ' + INTEREST + "}", FormatError),
]


@pytest.mark.parametrize(("data", "error"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_bad_input_is_an_error_of_the_tree(data: Any, error: type[LikewiseError]) -> None:
    """With a stable code and a message of readable length."""
    with pytest.raises(error) as caught:
        subscription_from_json(data)
    assert caught.value.code in {"format", "input", "limit", "unit", "syntax", "invalid_subscription"}
    assert len(str(caught.value)) < 1_000


@given(strategies.written_subscriptions(), st.data())
def test_a_damaged_subscription_is_one_or_an_error_of_the_tree(subscription: Subscription, data: st.DataObject) -> None:
    """A byte changed, taken out or put in anywhere."""
    document = bytearray(subscription_to_json(subscription))
    place = data.draw(st.integers(0, len(document) - 1))
    document[place : place + data.draw(st.integers(0, 1))] = data.draw(st.binary(max_size=1))
    with suppress(LikewiseError):
        subscription_from_json(bytes(document))


def test_lines_may_be_json_or_text() -> None:
    """Text that begins with a quoted attribute is not taken for JSON."""
    lines: list[bytes | str] = ['{"v": 1, "text": "{a = 1}", "id": "x"}', "", '{"check in time"~ exists}', b"{a = 1}"]
    found = list(read_subscriptions(lines))
    assert [s.kind for s in found] == ["exact", "approximate", "exact"]
    assert found[0].id == "x"
    assert found[2].id == subscription_id(found[2])
    assert is_json(b' { "body" :')
    assert not is_json('{"bodyweight": 5}')
    with pytest.raises(ParseError, match=r"^line 2: ") as caught:
        list(read_subscriptions(["{a = 1}", "{a = "]))
    assert vars(caught.value)["input_line"] == 2
