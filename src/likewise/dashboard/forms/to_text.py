"""A form as the language's text."""

from __future__ import annotations

from likewise.dashboard.forms.form import PlaceCondition, ReadingCondition, SubscriptionForm
from likewise.errors import InputError
from likewise.language.literals import bare_value
from likewise.language.printer import term
from likewise.language.rdf_terms import quote


def form_to_text(form: SubscriptionForm) -> str:
    """The text of a subscription that asks for what a form says; '' while it says nothing.

    What cannot be parsed, such as a comparison without a value, is written as it stands: the parser says what is wrong.

    >>> write(Form((Wish("temperature", value="25", unit="degC"),), Place("named", "city", "Galway")))
    '{temperature~ > 25 degC, city = Galway}'
    >>> write(Form((Wish("door", False, "=", "open"),), saying="held", repeating="once"))
    '{door = open} for 5 min once until false'
    """
    items = [_reading_text(wish) for wish in form.readings if wish.what.strip()]
    if not items:
        return ""
    items += _place(form.place)
    text = f"{{{', '.join(items)}}}"
    if senses := _split_list(form.senses):
        text = f"{{{', '.join(term(each) for each in senses)}}} {text}"
    clauses = [f"valid for {form.valid_for.strip()}"] if form.valid_for.strip() else []
    told = _how_often(form)
    if told and (names := _split_list(form.per)):
        clauses.append(f"per {', '.join(_name(each) for each in names)}")
    return " ".join([text, *clauses, *told])


def _how_often(form: SubscriptionForm) -> list[str]:
    told = []
    if form.saying == "held":
        told.append(f"for {form.saying_span.strip()}")
    if form.repeating == "once":
        told.append("once until false")
    if form.repeating == "every":
        told.append(f"at most every {form.repeating_span.strip()}")
    if form.saying == "absent":
        told.append(f"absent for {form.saying_span.strip()}")
    if form.sending == "gathered":
        told.append(f"digest every {form.sending_span.strip()}")
    return told


def _reading_text(wish: ReadingCondition) -> str:
    name = _text(wish.what) + ("~" if wish.alike else "")
    unit = f" {wish.unit.strip()}" if wish.unit.strip() else ""
    match wish.comparison:
        case "exists":
            return f"{name} exists"
        case "between":
            return f"{name} between {wish.value.strip()} and {wish.to.strip()}{unit}"
        case "in":
            return f"{name} in ({wish.value.strip()})"
        case "matches":
            given = wish.value.strip()
            return f"{name} matches {given if _quoted(given) else quote(given)}"
        case comparison:
            return f"{name} {comparison} {_value(wish.value)}{unit}{'~' if wish.value_alike else ''}"


def _place(place: PlaceCondition) -> list[str]:
    if place.kind == "named" and place.name.strip():
        return [f"{_text(place.attribute)} = {_value(place.name)}{'~' if place.alike else ''}"]
    if place.kind == "area":
        return [
            f"{_text(place.latitude)} between {place.south.strip()} and {place.north.strip()}",
            f"{_text(place.longitude)} between {place.west.strip()} and {place.east.strip()}",
        ]
    return []


def _text(given: str) -> str:
    given = given.strip()
    return given if _quoted(given) else term(given)


def _name(given: str) -> str:
    return given if _quoted(given) or given.isidentifier() else quote(given)


def _value(given: str) -> str:
    """A value as the language takes it: numbers, dates and truth as they stand, other text quoted where it must be."""
    given = given.strip()
    if not given or _quoted(given):
        return given
    try:
        said = bare_value(given)
    except InputError:
        return given
    return term(given) if isinstance(said, str) else given


def _quoted(given: str) -> bool:
    return len(given) > 1 and given[0] == given[-1] == '"'


def _split_list(given: str) -> list[str]:
    return [each.strip() for each in given.split(",") if each.strip()]
