"""Whatever text comes in, a subscription or a LikewiseError comes out."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import LikewiseError
from likewise.language import parse, subscription_text
from likewise.model import Subscription
from tests import strategies

SEEDS = [
    "{power, computers} {type = increased energy usage event~, device~ = laptop~, office = room 112}",
    "({power}, {type: x~, y})",
    "{temperature~ > 25 degC, 45.81 <= lat <= 45.82, long between 15.96 and 15.98}",
    '{name contains "cat", station in (ST01, ST02), humidity exists, not status = off, (a = 1, b = 2 or c = 3)}',
    '{"check in \\"time\\" \\u00e9"~ exists} valid for 7 d',
    "{no2 > 40} top 10 within 24 h by distance(lat 45.815, long 15.977) lowest",
    "{no2 > 40} top 3 within 500 events by sum(2*pm10 + no2 - 0.5*x) highest threshold 0.6",
    "{a~ = b~} top 3 by relatedness",
    '{topic under "building/floor 1", type is-a measurement, x starts with a, y ends with b}',
    'event type "Football Match" . event team "Spain"',
    'PREFIX ex: <http://e.org/> ?e rdf:type dbo:Event ; ex:p "x"@en, 5.0, true . <http://e.org/a> a ?x',
    "[1, 0, *, 1]",
]
SPLICES = [
    "{",
    "}",
    "(",
    ")",
    ",",
    "~",
    "=",
    ":",
    "<",
    ">=",
    "!=",
    '"',
    "\\",
    "'",
    ".",
    ";",
    "*",
    "+",
    "-",
    "[",
    "]",
    "?",
    " or ",
    " not ",
    " in ",
    " and ",
    " between ",
    " exists",
    " contains ",
    "is-a",
    "top ",
    "within",
    " by ",
    "@",
    "threshold ",
    "valid for ",
    "PREFIX ",
    "event ",
    "\n",
    "\0",
    "\ud800",
    "\u2028",
    "é",
    "東",
    "1e999",
    "nan",
    "^^",
    "25 blorps",
    "\\u12",
    "\\uD800",
    "(((((",
    "99999999999999999999",
    "_:b",
    "a:b",
    "<>",
    "%",
    "#",
    "\t",
    "\x1c",
]


def check(text: str) -> Subscription | None:
    """Parse; what parses prints and parses to the same."""
    try:
        found = parse(text)
    except LikewiseError:
        return None
    assert parse(subscription_text(found)) == found
    return found


def mutate(rng: random.Random, text: str) -> str:
    """One to four small changes: splice, drop, repeat, swap, cut, join."""
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(text) + 1)
        end = min(len(text), at + rng.randint(1, 6))
        match rng.randrange(6):
            case 0 | 1:
                text = text[:at] + rng.choice(SPLICES) + text[at:]
            case 2:
                text = text[:at] + text[end:]
            case 3:
                text = text[:end] + text[at:end] + text[end:]
            case 4:
                text = text[:at] + chr(rng.randrange(1, 0x250)) + text[at + 1 :]
            case _:
                other = rng.choice(SEEDS)
                text = text[:at] + other[rng.randrange(len(other)) :][: rng.randint(1, 40)]
    return text


@pytest.mark.parametrize("part", range(4))
def test_a_hundred_thousand_mutated_texts_break_nothing(part: int) -> None:
    """Four parts of 25,000 texts each; some still parse, most do not."""
    rng = random.Random(f"likewise {part}")
    parsed = sum(check(mutate(rng, rng.choice(SEEDS))) is not None for _ in range(25_000))
    assert 500 < parsed < 24_500


@given(st.text(max_size=60))
def test_any_text_breaks_nothing(text: str) -> None:
    """Characters of every kind."""
    check(text)


@given(st.lists(st.sampled_from([*SPLICES, "a", "1", "x y", "5 degC"]), max_size=14).map("".join))
def test_any_sequence_of_the_languages_own_pieces_breaks_nothing(text: str) -> None:
    """Pieces that mean something, in an order that need not."""
    check(text)


@given(strategies.written_subscriptions(), st.data())
def test_a_cut_subscription_breaks_nothing(subscription: Subscription, data: st.DataObject) -> None:
    """Every beginning and end of a good text."""
    text = subscription_text(subscription)
    at = data.draw(st.integers(0, len(text)))
    check(text[:at])
    check(text[at:])
