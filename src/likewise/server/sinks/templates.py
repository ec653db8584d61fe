"""Templates: what is sent, in a form of the user's own, with `{{...}}` where a match says something.

A name in braces is an attribute of the event; one with `@` is what is no attribute: `@id @source @time @score
@subscription @cause @sequence @payload @event @because`, `@sentence` for people, and of an alert `@key`, `@moment` and
`@since` (ISO 8601). A template that is JSON stays JSON whatever the event says: a
text that is one name alone becomes that value, within a longer text it is written out. What an event does not say is
null, or nothing within a text. A template is checked when it is saved.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from likewise.api.deliveries import DeliverySummary, MatchReason
from likewise.errors import FormatError
from likewise.formats.json.events import event_from_document
from likewise.server.mqtt.messages import topic_level
from likewise.server.sinks.messages import iso_time, match_message
from likewise.server.sinks.target import Parcel

_NAME: Final = re.compile(r"\{\{\s*([^{}]+?)\s*\}\}")
KNOWN: Final = frozenset(
    {
        "@id",
        "@source",
        "@time",
        "@score",
        "@subscription",
        "@cause",
        "@sequence",
        "@payload",
        "@event",
        "@because",
        "@sentence",
        "@key",
        "@moment",
        "@since",
    }
)
_LONGEST: Final = 65_536  # bytes of a template
_DEEPEST: Final = 32  # lists and objects within each other
Values = Callable[[str], object]


def check_template(template: object, *, topic: bool = False) -> None:
    """Refuse a template that names what is not known, or whose braces do not fit.

    >>> check_template({"text": "{{@subscription}}: {{temperature}} in {{city}}"})
    >>> check_template("{{@sorce}}")
    Traceback (most recent call last):
    likewise.errors.FormatError: '@sorce' is nothing a template can name; known are @because, @cause, @event, @id, ...
    """
    if template is None:
        raise FormatError("a target of the form `template` needs a `template`: a text, or JSON with texts in it")
    if len(msgspec.json.encode(template)) > _LONGEST:
        raise FormatError(f"a template has at most {_LONGEST} bytes as JSON")
    if _depth(template) > _DEEPEST:
        raise FormatError(f"a template is nested at most {_DEEPEST} deep")
    _walk(template, _check_text)
    if topic:
        assert isinstance(template, str)
        bare = _NAME.sub("x", template)
        if (
            not bare
            or topic_level(plain := bare.replace("/", "")) != plain
            or bare.startswith("$")
            or len(template) > 1_024
        ):
            raise FormatError(
                f"{template[:80]!r} is no topic to publish to; write it like alerts/{{{{@subscription}}}}/{{{{place}}}}"
            )


def _depth(template: object) -> int:
    """Return the nesting depth of a template, level by level, and no further than needed.

    >>> _depth("x"), _depth({"a": [1, {"b": 2}]})
    (0, 3)
    """
    level, depth = [template], 0
    while depth <= _DEEPEST:
        inner = [each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list)]
        if not inner:
            break
        level, depth = [value for values in inner for value in values], depth + 1
    return depth


def _check_text(text: str) -> object:
    for name in _NAME.findall(text):
        if name.startswith("@") and name not in KNOWN:
            known = ", ".join(sorted(KNOWN))
            raise FormatError(f"{name!r} is nothing a template can name; known are {known}, and the event's attributes")
    rest = _NAME.sub("", text)
    if "{{" in rest or "}}" in rest:
        raise FormatError(f"the braces of {text[:80]!r} do not fit; a name stands between two: {{{{city}}}}")
    return text


def _walk(template: object, change: Callable[[str], object]) -> object:
    match template:
        case str():
            return change(template)
        case list():
            return [_walk(each, change) for each in template]
        case dict():
            return {name: _walk(each, change) for name, each in template.items()}
    return template


def fill(template: object, values: Values) -> tuple[bytes, str]:
    """Fill a template; return the body and its media type: text for a text, JSON for anything else.

    >>> fill({"text": "{{city}}: {{t}}", "value": "{{t}}", "gone": "{{x}}"}, {"city": '"Galway"', "t": 27.5}.get)
    (b'{"text":"\\\\"Galway\\\\": 27.5","value":27.5,"gone":null}', 'application/json')
    """
    if isinstance(template, str):
        return fill_text(template, values).encode(), "text/plain; charset=utf-8"

    def change(text: str) -> object:
        alone = _NAME.fullmatch(text.strip())
        return values(alone[1]) if alone else fill_text(text, values)

    return msgspec.json.encode(_walk(template, change)), "application/json"


def fill_text(text: str, values: Values) -> str:
    """Fill a text with the values of a match."""
    return _NAME.sub(lambda found: _value_text(values(found[1])), text)


def fill_topic(topic: str, values: Values) -> str:
    """Fill a topic with the values of a match: no value adds a level or a wildcard, or is empty.

    >>> fill_topic("alerts/{{place}}/{{@source}}", {"place": "hall/+", "@source": None}.get)
    'alerts/hall__/_'
    """
    return _NAME.sub(lambda found: topic_level(_value_text(values(found[1]))), topic)


def _value_text(value: object) -> str:
    match value:
        case None:
            return ""
        case str():
            return value
        case bool() | int() | float():
            return msgspec.json.encode(value).decode()
    return msgspec.json.encode(value).decode()


def match_values(parcel: Parcel) -> Values:
    """Return the lookup of the values that a template may name."""
    match = parcel.match
    event: Mapping[str, Any] = msgspec.json.decode(match.event)
    payload = _attribute_values(event)
    alert = msgspec.json.decode(match.delivery, type=DeliverySummary).alert
    reasons: tuple[MatchReason, ...] = parcel.because
    known: dict[str, object] = {
        "@id": event.get("id"),
        "@source": event.get("source"),
        "@time": event.get("time"),
        "@score": match.score,
        "@subscription": match.subscription,
        "@cause": match.cause,
        "@sequence": match.sequence,
        "@payload": payload,
        "@event": event,
        "@because": reasons,
        "@key": None if alert is None else " ".join(alert.key),
        "@moment": None if alert is None else iso_time(alert.moment),
        "@since": None if alert is None else iso_time(alert.since),
    }

    def value(name: str) -> object:
        if name == "@sentence":
            return match_message(parcel).headline
        return known[name] if name in known else payload.get(name)

    return value


def _attribute_values(event: Mapping[str, Any]) -> dict[str, object]:
    """Return the attributes of an event with their values; a repeated one has a list.

    >>> _attribute_values({"v": 1, "payload": {"room": {"temp": 21.5}, "tags": ["a", "b"]}})
    {'room.temp': 21.5, 'tags[]': ['a', 'b']}
    """
    by_name: dict[str, list[object]] = {}
    for item in event_from_document(dict(event)).tuples:
        by_name.setdefault(item.attribute, []).append(item.value)
    return {name: values[0] if len(values) == 1 else values for name, values in by_name.items()}
