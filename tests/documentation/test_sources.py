"""docs/explanation/sources.md says where each part of CUPUS lives: every name exists, and no part is left out."""

from __future__ import annotations

import re

import pytest

from tests.documentation.test_life_of_an_event import FULL, QUOTED, ROOT, has, module_of

PAGE = (ROOT / "docs" / "explanation" / "sources.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.partition("### Every component, message and method")[2].partition("\n## ")[0].splitlines()
    if line.startswith("|") and not line.startswith("|---")
]
NAMES = sorted({quoted for _, here in ROWS for quoted in QUOTED.findall(here) if FULL.fullmatch(quoted)})
PARTS = [
    "MessageReceiver",
    "Coordinator",
    "DeliveryService",
    "RootMatcher",
    "ChildMatcher",
    "proxy",
    "PublisherForBroker",
    "SubscriberForBroker",
    "MobileBrokerForBroker",
    "Mobile Sensor Controller",
    "PublisherRegister",
    "PublisherDisconnect",
    "Publish",
    "SubscriberRegister",
    "SubscriberDisconnect",
    "SubscriberUnregister",
    "Subscribe",
    "InitialMatches",
    "LeafMatcher",
    "MatcherMerging",
    "MatcherRemoved",
    "connect",
    "disconnect",
    "reconnect",
    "publish",
    "unpublish",
    "subscribe",
    "unsubscribe",
    "listener",
    "broker to broker",
    "constructor",
    "run",
    "shutdown",
    "connectToBroker",
    "disconnectFromBroker",
    "setNotificationListener",
]


@pytest.mark.parametrize("name", NAMES)
def test_what_stands_for_a_part_exists(name: str) -> None:
    """A function or class that moved is found here, not by a reader."""
    found = FULL.fullmatch(name)
    assert found is not None
    owner: object = module_of(found[1])
    for part in found[2].split("."):
        assert has(owner, part), f"{found[1]} has no {found[2]}"
        owner = getattr(owner, part, None)


@pytest.mark.parametrize("part", PARTS)
def test_no_part_of_the_original_is_left_out(part: str) -> None:
    """Each component, message and verb has a row that names ours, says why there is none, or that it is missing."""
    word = re.compile(rf"\b{part}\b")
    rows = [here for original, here in ROWS if word.search(original)]
    assert rows
    assert all("not built yet" in here or here.startswith("none:") or FULL.search(here) for here in rows)


def test_every_row_says_something() -> None:
    """Two cells each, and a good part of the names is ours."""
    assert all(len(row) == 2 and all(row) for row in ROWS if row[1] != "here")
    assert len(NAMES) > 25
