"""What people who did not build it tried, and what was wrong then."""

from __future__ import annotations

import pytest

import likewise as lw


def meets(subscription: str, payload: dict[str, object]) -> bool:
    matcher = lw.Matcher()
    matcher.add(lw.parse(subscription, id="asked"))
    return bool(matcher.match(lw.event(payload)))


@pytest.mark.parametrize(
    ("subscription", "payload"),
    [
        ('{state~ = "ready"~}', {"state": "not yet ready"}),
        ('{state~ = "open"~}', {"state": "no longer open"}),
        ('{location~ = "level -1"~}', {"location": "level 1"}),
        ('{level~ = "floor -2"~}', {"level": "floor 2"}),
        ('{status~ = "water present"~}', {"status": "lack of water"}),
        ("{upload speed~ > 5}", {"download_speed": 10}),
        ("{sunrise~ exists}", {"sunset": "18:00"}),
        ("{arrival time~ exists}", {"departure_time": "18:00"}),
        ("{exit~ > 5}", {"entrance": 10}),
        ("{tx power~ > 5}", {"rx_power": 10}),
    ],
)
def test_what_differs_is_kept_apart(subscription: str, payload: dict[str, object]) -> None:
    """Each of these was met, some at a score of 1."""
    assert not meets(subscription, payload)


@pytest.mark.parametrize(
    ("subscription", "payload"),
    [
        ('{location~ = "level -1"~}', {"location": "Level -1"}),
        ('{state~ = "not ready"~}', {"state": "not yet ready"}),
        ("{upload speed~ > 5}", {"uploadSpeed": 10}),
        ("{transmit power~ > 5}", {"tx_power": 10}),
        ("{arrival time~ exists}", {"arrivalTime": "18:00"}),
    ],
)
def test_what_is_the_same_is_found(subscription: str, payload: dict[str, object]) -> None:
    """Keeping the others apart loses none of these."""
    assert meets(subscription, payload)
