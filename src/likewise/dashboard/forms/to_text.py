"""A form as the language's text."""

from __future__ import annotations

from likewise.dashboard.forms.form import PlaceCondition, ReadingCondition, SubscriptionForm
from likewise.errors import InputError
from likewise.language.literals import bare_value
from likewise.language.printer import term
from likewise.language.rdf_terms import quote


def form_to_text(form: SubscriptionForm) -> str:
    """Write a form as the text of a subscription; '' while it is empty.

    What cannot be parsed, such as a comparison without a value, is written as it stands: the parser says what is wrong.

    >>> warm = ReadingCondition("temperature", value="25", unit="degC")
    >>> form_to_text(SubscriptionForm((warm,), PlaceCondition("named", "city", "Galway")))
    '{temperature~ > 25 degC, city = Galway}'
    >>> door = ReadingCondition("door", False, "=", "open")
    >>> form_to_text(SubscriptionForm((door,), trigger="held", repeating="once"))
    '{door = open} for 5 min once until false'
    """
    items = [_reading_text(reading) for reading in form.readings if reading.what.strip()]
    if not items:
        return ""
    items += _place(form.place)
    text = f"{{{', '.join(items)}}}"
    if senses := _split_list(form.senses):
        text = f"{{{', '.join(term(each) for each in senses)}}} {text}"
    clauses = [f"valid for {form.valid_for.strip()}"] if form.valid_for.strip() else []
    alert_clauses = _how_often(form)
    if alert_clauses and (names := _split_list(form.per)):
        clauses.append(f"per {', '.join(_name(each) for each in names)}")
    return " ".join([text, *clauses, *alert_clauses])


def _how_often(form: SubscriptionForm) -> list[str]:
    clauses = []
    if form.trigger == "held":
        clauses.append(f"for {form.trigger_span.strip()}")
    if form.repeating == "once":
        clauses.append("once until false")
    if form.repeating == "every":
        clauses.append(f"at most every {form.repeating_span.strip()}")
    if form.trigger == "absent":
        clauses.append(f"absent for {form.trigger_span.strip()}")
    if form.sending == "gathered":
        clauses.append(f"digest every {form.sending_span.strip()}")
    return clauses


def _reading_text(reading: ReadingCondition) -> str:
    name = _text(reading.what) + ("~" if reading.alike else "")
    unit = f" {reading.unit.strip()}" if reading.unit.strip() else ""
    match reading.comparison:
        case "exists":
            return f"{name} exists"
        case "between":
            return f"{name} between {reading.value.strip()} and {reading.to.strip()}{unit}"
        case "in":
            return f"{name} in ({reading.value.strip()})"
        case "matches":
            pattern = reading.value.strip()
            return f"{name} matches {pattern if _quoted(pattern) else quote(pattern)}"
        case comparison:
            return f"{name} {comparison} {_value(reading.value)}{unit}{'~' if reading.value_alike else ''}"


def _place(place: PlaceCondition) -> list[str]:
    if place.kind == "named" and place.name.strip():
        return [f"{_text(place.attribute)} = {_value(place.name)}{'~' if place.alike else ''}"]
    if place.kind == "area":
        return [
            f"{_text(place.latitude)} between {place.south.strip()} and {place.north.strip()}",
            f"{_text(place.longitude)} between {place.west.strip()} and {place.east.strip()}",
        ]
    return []


def _text(text: str) -> str:
    text = text.strip()
    return text if _quoted(text) else term(text)


def _name(text: str) -> str:
    return text if _quoted(text) or text.isidentifier() else quote(text)


def _value(text: str) -> str:
    """Write a value as the language takes it: numbers, dates and Booleans as they are, other text quoted."""
    text = text.strip()
    if not text or _quoted(text):
        return text
    try:
        value = bare_value(text)
    except InputError:
        return text
    return term(text) if isinstance(value, str) else text


def _quoted(text: str) -> bool:
    return len(text) > 1 and text[0] == text[-1] == '"'


def _split_list(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]
