"""A form and the text of a subscription say the same, both ways."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.dashboard.forms.form import COMPARISONS, PlaceCondition, ReadingCondition, SubscriptionForm
from likewise.dashboard.forms.from_subscription import UnsupportedByForm, form_from_subscription
from likewise.dashboard.forms.to_text import form_to_text
from likewise.errors import LikewiseError
from likewise.language import parse, subscription_text
from likewise.model import Subscription
from tests.strategies import subscriptions

SAYABLE = (
    "{temperature~ > 25 degC}",
    "{parking} {free spaces~ < 20, city = Galway}",
    "{air, traffic} {no2 between 20 and 40 ug/m3, 45.81 <= lat <= 45.82, long between 15.96 and 15.98}",
    '{name = "O\'Brien, \\"Bob\\""~, code = "25", on = true}',
    '{when > 2024-05-01T12:00:00Z, station in (ST01, ST02), topic matches "a/+/c/#"}',
    "{door = open} valid for 7 d per room, floor for 5 min once until false digest every 1 d",
    "{temperature~ exists, city = Galway} absent for 1 h at most every 2 h",
)
UNSAYABLE = {
    "{no2 exists} top 3 by value(no2)": "ranking",
    "{not status = off}": "not",
    "{device~ = laptop~} threshold 0.6": "threshold",
    "{temperature~ > 30 degC} once until {temperature~ < 28 degC}": "condition of its own",
    "{10 km/h < speed <= 50 km/h}": "ends",
    'event type "Football Match"': "statements",
}


@pytest.mark.parametrize("text", SAYABLE)
def test_a_form_says_what_the_text_says(text: str) -> None:
    """Text to form to text leads to the same subscription."""
    asked = parse(text)
    assert subscription_text(parse(form_to_text(form_from_subscription(asked)))) == subscription_text(asked)


@pytest.mark.parametrize(("text", "why"), UNSAYABLE.items())
def test_what_a_form_cannot_say_is_named(text: str, why: str) -> None:
    """The reason names the part that has no field."""
    with pytest.raises(UnsupportedByForm, match=why):
        form_from_subscription(parse(text))


@settings(max_examples=150)
@given(subscriptions())
def test_reading_never_changes_what_is_asked(asked: Subscription) -> None:
    """Whatever subscription: a form says exactly it, or says that it cannot."""
    try:
        form = form_from_subscription(asked)
    except UnsupportedByForm:
        return
    assert parse(form_to_text(form), id=asked.id) == asked


_WORDS = st.text(st.sampled_from('abc 12.,"{}()~=<>:\\é'), max_size=8)
_WISHES = st.builds(
    ReadingCondition,
    _WORDS,
    st.booleans(),
    st.sampled_from(list(COMPARISONS)),
    _WORDS,
    _WORDS,
    st.sampled_from(["", "degC", "celsius", "nonsense"]),
    st.booleans(),
)
_FORMS = st.builds(
    SubscriptionForm,
    st.lists(_WISHES, max_size=3).map(tuple),
    st.builds(PlaceCondition, st.sampled_from(["anywhere", "named", "area"]), _WORDS, _WORDS, st.booleans(), _WORDS),
    _WORDS,
    st.sampled_from(["holds", "held", "absent"]),
    st.sampled_from(["5 min", "soon", ""]),
)


@settings(max_examples=150)
@given(_FORMS)
def test_whatever_is_typed_is_understood_or_refused_with_words(form: SubscriptionForm) -> None:
    """No form makes anything but a subscription, nothing at all, or a mistake that the parser explains."""
    text = form_to_text(form)
    if not text:
        return
    try:
        asked = parse(text)
    except LikewiseError:
        return
    assert parse(subscription_text(asked)) == asked


def test_text_that_looks_like_syntax_is_quoted() -> None:
    """A value with signs of the language stays one text."""
    form = SubscriptionForm((ReadingCondition("name", False, "=", "a, b = {c}"),))
    [item] = parse(form_to_text(form)).body.items  # type: ignore[union-attr]
    assert item.value == "a, b = {c}"  # type: ignore[union-attr]
