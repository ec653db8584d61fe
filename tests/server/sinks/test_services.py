"""A match as chat and home services take it: one sentence, and nothing that an event says escapes from it."""

from __future__ import annotations

from typing import Any, get_args
from urllib.parse import parse_qs

import msgspec
import pytest

from likewise.api.deliveries import MatchedPart, MatchReason
from likewise.api.sinks import FORMS_IN_WORDS, EmailSettings, Form, MqttTargetSettings, WebhookSettings
from likewise.broker.sinks.retry_queue import SinkDelivery
from likewise.dashboard.panels import targets as panel
from likewise.errors import InputError
from likewise.server.sinks.sender import make_parcel
from likewise.server.sinks.services import LIMITS, Service
from likewise.server.sinks.settings import check_target
from likewise.server.sinks.target import Parcel

SERVICES: tuple[Service, ...] = get_args(Service)
SINCE = 1_767_620_460_000_000  # 2026-01-05T13:41:00Z
HOSTILE = "<!channel> @everyone & \r\nSubscription safe"


def sent(form: Form, source: str = "Kitchen", settings: Any = None) -> Parcel:
    """What is sent of a door that was open for five minutes."""
    event = {
        "v": 1,
        "payload": {"tuer": "open", "air_temp_f": 81.2},
        "source": source[:1_000],
        "time": "2026-01-05T13:46:00Z",
    }
    facts = {"key": [source], "moment": SINCE + 300_000_000, "since": SINCE}
    frame = msgspec.json.encode({"v": 1, "event": event, "alert": facts})
    match = SinkDelivery("msg_1", 7, "held", "open", 3, 0.9, 1, msgspec.json.encode(event), frame)
    parts = (
        MatchedPart("door~ = open~", 0.9, "tuer", "open"),
        MatchedPart("temperature~ > 25 degC", 0.9, "air_temp_f", "81.2", "27.3333 degC"),
    )
    wanted = settings or WebhookSettings("http://x", form=form)
    return make_parcel(match, wanted, (MatchReason("open", 0.9, parts),), "default", "ann")


SENTENCE = "Kitchen: tuer open, 27.3333 °C for 5 min, since 13:41 UTC, because `tuer` is its door"


def test_a_sentence_says_who_what_since_when_and_why() -> None:
    """With the value in the unit that was asked for."""
    made = sent("plain")
    assert (made.body.decode(), made.media_type) == (SENTENCE, "text/plain; charset=utf-8")
    assert sent("ntfy").body.decode() == SENTENCE


def test_each_service_gets_the_sentence_in_its_own_form() -> None:
    """Slack, Discord, Telegram."""
    assert msgspec.json.decode(sent("slack").body) == {"text": SENTENCE}
    assert msgspec.json.decode(sent("discord").body) == {"content": SENTENCE, "allowed_mentions": {"parse": []}}
    telegram = sent("telegram")
    assert telegram.media_type == "application/x-www-form-urlencoded"
    assert parse_qs(telegram.body.decode()) == {"text": [SENTENCE]}


def test_home_assistant_gets_facts_beside_the_message() -> None:
    """Times in ISO 8601, readings with their converted values; the same over MQTT."""
    made = msgspec.json.decode(sent("home-assistant").body)
    assert made == {
        "title": "open",
        "message": SENTENCE,
        "cause": "held",
        "subscription": "open",
        "id": "msg_1",
        "source": "Kitchen",
        "time": "2026-01-05T13:46:00Z",
        "key": ["Kitchen"],
        "moment": "2026-01-05T13:46:00Z",
        "since": "2026-01-05T13:41:00Z",
        "readings": [
            {"attribute": "tuer", "value": "open", "converted": "open"},
            {"attribute": "air_temp_f", "value": "81.2", "converted": "27.3333 degC"},
        ],
    }
    over_mqtt = sent("home-assistant", settings=MqttTargetSettings("mqtt://x", "alerts", form="home-assistant"))
    assert msgspec.json.decode(over_mqtt.body) == made


@pytest.mark.parametrize("form", SERVICES)
def test_what_a_device_is_called_mentions_nobody_and_adds_no_line(form: Service) -> None:
    """A source is named by whoever publishes."""
    body = sent(form, HOSTILE).body.decode()
    assert "\n" not in body
    assert "\r" not in body
    if form == "slack":
        assert "<!channel>" not in body
    long = sent(form, "x" * 50_000).body.decode()
    assert form not in LIMITS or len(long) <= LIMITS[form] + 100


def test_templates_may_have_the_sentence_and_the_times_of_an_alert() -> None:
    """For services that are not listed."""
    template = {"summary": "{{@sentence}}", "since": "{{@since}}", "text": "{{@key}} at {{@moment}}"}
    made = sent("template", settings=WebhookSettings("http://x", form="template", template=template))
    assert msgspec.json.decode(made.body) == {
        "summary": SENTENCE,
        "since": "2026-01-05T13:41:00Z",
        "text": "Kitchen at 2026-01-05T13:46:00Z",
    }


def test_every_form_is_offered_and_mail_stays_text() -> None:
    """In the dashboard, too; and reasons are read for all that are in words."""
    assert set(SERVICES) < FORMS_IN_WORDS
    assert set(panel.FORMS) <= set(get_args(Form))
    assert set(SERVICES) <= set(panel.FORMS)
    with pytest.raises(InputError, match="mail is text"):
        check_target(EmailSettings("smtp://mail.example.org", "a@example.org", "b@example.org", form="slack"), ())
