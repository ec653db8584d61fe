"""A match in plain words, for people: who, what, for how long, and because of which reading."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final, NamedTuple

import msgspec

from likewise.api.deliveries import DeliverySummary, MatchedPart, MatchReason
from likewise.formats.json.events import event_from_document
from likewise.model.alerts.clauses import FACTS
from likewise.model.text import fold
from likewise.model.time import duration_text as span_text
from likewise.server.sinks.target import Parcel

_SIGNS: Final = {"degC": "°C", "degF": "°F", "ug/m3": "µg/m³", "m3": "m³", "m2": "m²", "m/s2": "m/s²", "percent": "%"}
_BREAKS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_MOST: Final = 20  # attributes, or items of a digest, that are told one by one


class MessageText(NamedTuple):
    """One line that says it all, and the text that says the rest."""

    headline: str
    text: str


def match_message(parcel: Parcel) -> MessageText:
    """Return a match as text for people.

    >>> from likewise.broker.sinks.retry_queue import SinkDelivery
    >>> from likewise.api.deliveries import MatchReason
    >>> event = b'{"v":1,"tuples":[{"attribute":"tempC","value":27.3}],"source":"Kitchen"}'
    >>> facts = b'{"key":["Kitchen"],"moment":300000000,"since":0}'
    >>> frame = b'{"v":1,"event":' + event + b',"alert":' + facts + b"}"
    >>> why = MatchReason("warm", 1.0, (MatchedPart("temperature~ > 25 degC", 0.9, "tempC", "27.3", "27.3 degC"),))
    >>> delivery = SinkDelivery("m", 1, "held", "warm", 1, 1.0, 1, event, frame)
    >>> print(match_message(Parcel(delivery, b"", "", (why,))).headline)
    Kitchen: 27.3 °C for 5 min, since 00:00 UTC, because `tempC` is its temperature
    """
    match = parcel.match
    return delivery_message(match.delivery, match.cause, match.subscription, match.score, parcel.because)


def delivery_message(
    delivery: bytes, cause: str, subscription: str, score: float, because: tuple[MatchReason, ...]
) -> MessageText:
    """Return a delivery in JSON as text for people."""
    summary = msgspec.json.decode(delivery, type=DeliverySummary)
    parts = [part for why in because for part in why.parts if part.attribute]
    who = subscription if cause == "digest" else _source_name(summary) or subscription
    headline = _one_line(_headline(cause, who, summary, _readings(summary, parts, who), parts))
    lines = [headline]
    if parts or (summary.alert is not None and summary.alert.items):
        lines.append("")
    lines += [f"- {_part_text(part)}" for part in parts]
    if summary.alert is not None and summary.alert.items:
        lines += [f"- {_time_text(i.moment)}  {i.cause}  {_key(i.key)}" for i in summary.alert.items[-_MOST:]]
        lines += [f"  {count} × {_key(key)}" for key, count in summary.alert.counts[:_MOST]]
    lines += ["", "What was sent:"]
    for item in event_from_document(summary.event).tuples[:_MOST]:
        lines.append(f"  {item.attribute}: {_value_text(item.value)} {_sign(item.unit)}".rstrip())
    lines += ["", f"Subscription {subscription}, score {score:.2f}, event {summary.event.get('id', '?')}"]
    return MessageText(headline, "\n".join(map(_one_line, lines)) + "\n")


def _one_line(text: str) -> str:
    """Return text on one line: a name with a line break must not forge another line.

    >>> _one_line("hall\\r\\nSubscription safe")
    'hall Subscription safe'
    """
    return _BREAKS.sub(" ", text)


def _headline(cause: str, who: str, summary: DeliverySummary, readings: str, parts: list[MatchedPart]) -> str:
    alert = summary.alert
    lasted = ""
    if alert is not None and alert.since is not None:
        lasted = f"{span_text(max(0, alert.moment - alert.since))}, since {_clock_text(alert.since, alert.moment)}"
    match cause:
        case "held":
            text = f"{who}: {readings} for {lasted}"
        case "cleared":
            return f"{who}: over, {readings}"
        case "absent":
            return f"{who}: nothing was heard for {lasted}"
        case "returned":
            return f"{who}: is heard again, {readings}"
        case "digest" if alert is not None:
            return f"{who}: {_plural(alert.total, 'match', 'matches')}, {_digest_sources(alert.counts)}"
        case _:
            text = f"{who}: {readings}"
    if why := next(
        (p for p in parts if "~" in p.part and fold(p.attribute) != fold(_requested_attribute(p.part))), None
    ):
        text += f", because `{why.attribute}` is its {_requested_attribute(why.part)}"
    if alert is not None and alert.suppressed:
        text += f" ({alert.suppressed} more since the last message)"
    return text


def _digest_sources(counts: tuple[tuple[tuple[str, ...], int], ...]) -> str:
    """Return the keys of a digest, the most frequent first.

    >>> _digest_sources(((("fan",), 1), (("pump",), 7), (("lift",), 1), (("belt",), 1)))
    'pump 7, fan 1, lift 1 and 1 other'
    """
    most = sorted(counts, key=lambda each: -each[1])
    text = ", ".join(f"{_key(key)} {count}" for key, count in most[:3])
    return f"{text} and {_plural(len(most) - 3, 'other', 'others')}" if len(most) > 3 else text


def _plural(count: int, one: str, more: str) -> str:
    return f"{count} {one if count == 1 else more}"


def _source_name(summary: DeliverySummary) -> str:
    if summary.alert is not None and any(summary.alert.key):
        return _key(summary.alert.key)
    return str(summary.event.get("source") or "")


def _key(key: tuple[str, ...]) -> str:
    return " ".join(each for each in key if each) or "(no source)"


def _readings(summary: DeliverySummary, parts: list[MatchedPart], who: str) -> str:
    """Return the selected values, else the matched ones, else the first of the event."""
    for chosen in summary.selected:
        readings = [
            f"{name} {_value_text(value)} {_sign(chosen.units.get(name, ''))}".rstrip()
            for name, value in chosen.values.items()
            if name not in FACTS and isinstance(value, str | int | float)  # who and when is said anyway
        ]
        if readings:
            return ", ".join(readings)
    if parts:
        return ", ".join(dict.fromkeys(_reading(part, who) for part in parts))
    return ", ".join(f"{i.attribute} {_value_text(i.value)}" for i in event_from_document(summary.event).tuples[:3])


def _reading(part: MatchedPart, who: str) -> str:
    """Return a matched value; what is no number gets its name before it, unless the source has it: `door open`."""
    value = _with_sign(part.asked or part.value)
    if value in ("True", "False"):
        value = value.lower()
    named = value[:1] in "+-." or value[:1].isdigit() or fold(part.attribute) in fold(who)
    return value if named else f"{part.attribute} {value}"


def _value_text(value: object) -> str:
    """Return a value as people write it.

    >>> _value_text(27.3333333333), _value_text(True), _value_text(1794890063450031)
    ('27.3333', 'true', '1794890063450031')
    """
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _part_text(part: MatchedPart) -> str:
    value = _with_sign(part.value)
    stated = f"`{part.attribute}` says {value.lower() if value in ('True', 'False') else value}"
    if part.asked and part.asked != part.value:
        stated += f", which is {_with_sign(part.asked)}"
    return f"{stated}: {part.part}"


def _with_sign(value: str) -> str:
    number, _, unit = value.rpartition(" ")
    return f"{number} {_sign(unit)}" if number and unit in _SIGNS else value


def _sign(unit: str) -> str:
    return _SIGNS.get(unit, unit)


def _requested_attribute(part: str) -> str:
    """Return the attribute of a part as the subscription has it."""
    return part.partition("~")[0].strip('" ')


def _clock_text(at: int, now: int) -> str:
    """Return when something began: the time of day, with the date unless it was that very day.

    >>> _clock_text(49_260_000_000, 49_560_000_000), _clock_text(0, 86_400_000_000)
    ('13:41 UTC', '1970-01-01 00:00 UTC')
    """
    begin, today = datetime.fromtimestamp(at / 1e6, UTC), datetime.fromtimestamp(now / 1e6, UTC).date()
    return begin.strftime("%H:%M UTC" if begin.date() == today else "%Y-%m-%d %H:%M UTC")


def iso_time(at: int | None) -> str | None:
    """Return µs since 1970 in ISO 8601 and UTC.

    >>> iso_time(1_500_000), iso_time(None)
    ('1970-01-01T00:00:01.500000Z', None)
    """
    return None if at is None else datetime.fromtimestamp(at / 1e6, UTC).isoformat().replace("+00:00", "Z")


def _time_text(at: int) -> str:
    return datetime.fromtimestamp(at / 1e6, UTC).strftime("%Y-%m-%d %H:%M:%S")
