"""Messages as chat and home services take them: one sentence, wrapped as each of them wants it.

| form | what is sent | the address |
|---|---|---|
| `plain` | the sentence as text | any |
| `slack` | `{"text": ...}`, with `&`, `<` and `>` escaped | an incoming webhook, of Mattermost and Rocket.Chat, too |
| `discord` | `{"content": ...}`, at most 2,000 characters, nobody is mentioned | a webhook of a channel |
| `ntfy` | the sentence as text | `https://ntfy.sh/TOPIC`; a title or a priority are headers of the target |
| `telegram` | the field `text` of a form | `https://api.telegram.org/botTOKEN/sendMessage?chat_id=ID` |
| `home-assistant` | title, message and facts as JSON | `http://homeassistant:8123/api/webhook/ID`, or a topic of MQTT |
"""

from __future__ import annotations

from typing import Any, Final, Literal
from urllib.parse import urlencode

import msgspec

from likewise.api.deliveries import DeliverySummary
from likewise.server.sinks.messages import iso_time, match_message
from likewise.server.sinks.target import Parcel

Service = Literal["plain", "slack", "discord", "ntfy", "telegram", "home-assistant"]
LIMITS: Final = {"discord": 2_000, "telegram": 4_096, "ntfy": 4_000, "slack": 40_000}  # characters; ntfy counts bytes
_JSON: Final = "application/json"
_TEXT: Final = "text/plain; charset=utf-8"


def service_message(service: Service, parcel: Parcel) -> tuple[bytes, str]:
    """Return the body of a match for a service, and its media type.

    Args:
        service: The form of the target.
        parcel: The match, with its reasons.
    """
    sentence = _shortened(match_message(parcel).headline, service)
    match service:
        case "slack":
            for sign, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
                sentence = sentence.replace(sign, entity)
            return msgspec.json.encode({"text": sentence}), _JSON
        case "discord":
            return msgspec.json.encode({"content": sentence, "allowed_mentions": {"parse": []}}), _JSON
        case "telegram":
            return urlencode({"text": sentence}).encode(), "application/x-www-form-urlencoded"
        case "home-assistant":
            return msgspec.json.encode(_home_assistant(sentence, parcel)), _JSON
    return sentence.encode(), _TEXT


def _shortened(sentence: str, service: Service) -> str:
    limit = LIMITS.get(service, len(sentence))
    if service == "ntfy":
        while len(sentence.encode()) > limit:
            sentence = sentence[: limit // 4 - 1] + "…"
        return sentence
    return sentence if len(sentence) <= limit else sentence[: limit - 1] + "…"


def _home_assistant(sentence: str, parcel: Parcel) -> dict[str, Any]:
    """Return what an automation reads as `trigger.json`: times are ISO 8601 in UTC."""
    match = parcel.match
    summary = msgspec.json.decode(match.delivery, type=DeliverySummary)
    facts: dict[str, Any] = {
        "title": match.subscription,
        "message": sentence,
        "cause": match.cause,
        "subscription": match.subscription,
        "id": match.id,
        "source": summary.event.get("source"),
        "time": summary.event.get("time"),
    }
    if (alert := summary.alert) is not None:
        facts |= {
            "key": list(alert.key),
            "moment": iso_time(alert.moment),
            "since": iso_time(alert.since),
        }
    facts["readings"] = [
        {"attribute": part.attribute, "value": part.value, "converted": part.asked or part.value}
        for why in parcel.because
        for part in why.parts
        if part.attribute
    ]
    return facts
