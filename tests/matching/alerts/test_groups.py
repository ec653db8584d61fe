"""Promises of alerts that share a condition: each speaks as if it were alone."""

from __future__ import annotations

import random

import pytest

import likewise as lw

SECOND = 1_000_000
WHOLE = "{t exists} at most every 12 s"  # holds by what the others are about
OTHERS = ["{t > 25} once until false", "{t > 15} for 8 s at most every 30 s", "{t > 20} for 5 s"]


def said(texts: list[str], remove: bool = False) -> list[tuple[str, str | None, str | None]]:
    """Return what is said of the last of some alerts."""
    chance, matcher = random.Random(4), lw.Matcher()
    found: list[lw.Match] = []
    matcher.add_many([lw.parse(text, id=text) for text in texts], 0)
    for number in range(60):
        if remove and number == 20:
            matcher.remove(texts[0])
        event = lw.event({"t": chance.randint(0, 30)}, id=f"e{number}", source=f"s{chance.randint(1, 2)}")
        found += matcher.match(event, at=number * 2 * SECOND)
    return [(each.subscription_id, each.cause, each.event_id) for each in found if each.subscription_id == texts[-1]]


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("remove", [False, True], ids=["stays", "goes"])
def test_an_alert_beside_one_that_holds_by_what_it_is_about_speaks_as_if_alone(other: str, remove: bool) -> None:
    """Whichever was added first, and when the one that shares its condition is removed."""
    alone = said([other])
    assert alone
    assert said([WHOLE, other], remove) == alone


def test_an_alert_that_holds_by_what_others_are_about_speaks_as_if_alone() -> None:
    """Whichever of them was added first."""
    assert said([OTHERS[0], WHOLE]) == said([WHOLE])
