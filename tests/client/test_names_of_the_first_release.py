"""Programs written for release 0.1 import names that are called otherwise now."""

from __future__ import annotations

import pytest

import likewise.client
import likewise.errors


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Because", "MatchReason"),
        ("Email", "EmailSettings"),
        ("Met", "SubscriptionScore"),
        ("MqttTopic", "MqttTargetSettings"),
        ("TargetShown", "TargetDetails"),
        ("Webhook", "WebhookSettings"),
    ],
)
def test_a_name_of_the_client_is_still_imported(old: str, new: str) -> None:
    assert getattr(likewise.client, old) is getattr(likewise.client, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [("Circle", "RoutingLoop"), ("NotServed", "UnsupportedSubscription"), ("UnitMistake", "UnitSyntaxError")],
)
def test_a_name_of_an_error_is_still_imported(old: str, new: str) -> None:
    assert getattr(likewise.errors, old) is getattr(likewise.errors, new)


def test_a_name_that_never_was_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Webhok"):
        _ = likewise.client.Webhok
