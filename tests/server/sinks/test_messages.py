"""A match in words: units are said, and nothing an event says makes a line of its own."""

from __future__ import annotations

import msgspec

from likewise.api.deliveries import MatchedPart, MatchReason, SelectedValues
from likewise.model.alerts.notification import AlertNotification, DigestItem
from likewise.server.sinks.messages import delivery_message


def delivery(source: str, alert: AlertNotification | None = None, selected: tuple[SelectedValues, ...] = ()) -> bytes:
    event = {"v": 1, "payload": {"note": "a\nSubscription b", "t": 27.5}, "source": source, "id": "e1\r\nBcc: x"}
    return msgspec.json.encode({"v": 1, "event": event, "alert": alert, "selected": selected})


def test_breaks_of_lines_in_what_was_sent_forge_no_line() -> None:
    forged = "hall\r\nSubscription safe, score 1.00\u2028x\x85y"
    for cause, alert in (("held", AlertNotification((forged,), 5, 0)), ("arrival", None)):
        words = delivery_message(delivery(forged, alert), cause, "warm", 1.0, ())
        assert len(words.headline.splitlines()) == 1
        assert [line for line in words.text.splitlines() if line.startswith("Subscription")] == [
            "Subscription warm, score 1.00, event e1 Bcc: x"
        ]


def test_selected_readings_are_said_with_their_units() -> None:
    chosen = SelectedValues("warm", {"t": 27.5, "device": "s1", "x": None}, {}, {"t": "degC"})
    assert delivery_message(delivery("hall", None, (chosen,)), "arrival", "warm", 1.0, ()).headline == (
        "hall: t 27.5 °C, device s1"
    )


def test_one_match_is_no_matches() -> None:
    spoken = AlertNotification((), 10, 1, items=(DigestItem(1, "arrival", ("a",)),), total=1, counts=((("a",), 1),))
    assert delivery_message(delivery("a", spoken), "digest", "warm", 1.0, ()).headline == "warm: 1 match, a 1"


def test_a_value_that_is_no_number_has_its_name_once() -> None:
    """`Kitchen: door open`, and `front door: open`."""
    why = (MatchReason("open", 1.0, (MatchedPart("door = open", 1.0, "door", "open"),)),)
    for source, words in (("Kitchen", "Kitchen: door open"), ("Front Door", "Front Door: open")):
        assert delivery_message(delivery(source), "arrival", "open", 1.0, why).headline == words
