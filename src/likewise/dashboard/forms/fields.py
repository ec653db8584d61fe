"""The fields of a form: what to know, where, and how often to hear of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from msgspec.structs import replace
from nicegui import ui

from likewise.dashboard.forms.form import (
    COMPARISONS,
    PLACES,
    REPEATING,
    SENDING,
    TRIGGER_MODES,
    WHERE,
    PlaceCondition,
    ReadingCondition,
    SubscriptionForm,
)

UNITS: Final = (
    "degC",
    "degF",
    "%",
    "dB",
    "hPa",
    "ug/m3",
    "ppm",
    "lx",
    "m/s",
    "km/h",
    "mm",
    "W",
    "kW",
    "kWh",
    "V",
    "A",
    "s",
    "min",
)
WITH_UNIT: Final = frozenset({">", ">=", "<", "<=", "=", "!=", "between"})
SPAN: Final = "for example 5 min, 2 h, 1 d"
# What is still being typed is said before the click is, so that it does not come back after it.
FLUSHED: Final = "() => { document.activeElement.blur(); setTimeout(() => emit()); }"


class FormFields:
    """Shows a form and keeps up with what is typed; `changed` is called after each change of it."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self.form = SubscriptionForm()
        self._changed = changed
        self._words: list[str] = []
        self._names: list[ui.input] = []
        self._note = ui.element("div").classes("lw-note").props("role=status").mark("unsayable")
        with self._note:
            self._reason = ui.label("")
            anew = ui.button("Start the form anew").props("flat dense no-caps size=sm")
            anew.on("click", self._reset, js_handler=FLUSHED)
        self._place = ui.column().classes("w-full gap-2").mark("form")
        self.show(self.form)

    def offer_words(self, words: Sequence[str]) -> None:
        """Offer the stream's own words where a reading is named."""
        self._words = list(dict.fromkeys(words))
        for each in self._names:
            each.set_autocomplete(self._words)

    def show(self, form: SubscriptionForm) -> None:
        """Fill the fields anew."""
        self.form = form
        self._names = []
        self._note.set_visibility(False)
        self._place.clear()
        with self._place:
            with _group("What"):
                for number in range(len(form.readings)):
                    self._reading_row(number)
                ui.button("And also", icon="add", on_click=self._add_reading).props(
                    "flat dense no-caps size=sm"
                ).classes("self-start")
            with _group("Where"):
                self._where(form.place)
            with _group("How often"):
                self._how_often(form)

    def show_unsupported(self, reason: str) -> None:
        """Say what of the text has no field; `Start the form anew` empties both."""
        self._names = []
        self._place.clear()
        self._reason.set_text(f"The form has no field for {reason}. Go on in the text below.")
        self._note.set_visibility(True)

    # -- what ------------------------------------------------------------------------------------------

    def _reading_row(self, number: int) -> None:
        reading = self.form.readings[number]
        which = "" if number == 0 else f" {number + 1}"

        def put(**fields: Any) -> None:
            every = list(self.form.readings)
            every[number] = replace(every[number], **fields)
            self._put(readings=tuple(every))
            shown(every[number].comparison)

        with ui.element("div").classes("lw-wish").props(f"role=group aria-label='Asked for{which}'"):
            name = ui.input(f"Reading{which}", value=reading.what, autocomplete=self._words, placeholder="temperature")
            name.props("dense outlined stack-label debounce=300").classes("lw-what").on_value_change(
                lambda e: put(what=_event_value(e))
            )
            self._names.append(name)
            comparison = ui.select(COMPARISONS, value=reading.comparison, label=f"Comparison{which}")
            comparison.props("dense outlined options-dense").on_value_change(lambda e: put(comparison=e.value))
            value = _input(f"Value{which}", reading.value, lambda text: put(value=text), "25")
            to = _input(f"To{which}", reading.to, lambda text: put(to=text), "30")
            unit = _input(f"Unit{which}", reading.unit, lambda text: put(unit=text), "degC", UNITS)
            with ui.row().classes("lw-alike items-center gap-3"):
                alike = ui.switch("in any words", value=reading.alike).props("dense size=xs")
                alike.on_value_change(lambda e: put(alike=bool(e.value)))
                value_alike = ui.switch("or what means the same", value=reading.value_alike).props("dense size=xs")
                value_alike.on_value_change(lambda e: put(value_alike=bool(e.value)))
                if len(self.form.readings) > 1:
                    ui.button("Leave out", icon="close", on_click=lambda: self._remove_reading(number)).props(
                        f"flat dense no-caps size=sm aria-label='Leave out reading{which or ' 1'}'"
                    )

        def shown(of: str) -> None:
            value.set_visibility(of != "exists")
            to.set_visibility(of == "between")
            unit.set_visibility(of in WITH_UNIT)
            value_alike.set_visibility(of == "=")

        shown(reading.comparison)

    def _add_reading(self) -> None:
        self.show(replace(self.form, readings=(*self.form.readings, ReadingCondition())))

    def _remove_reading(self, number: int) -> None:
        rest = tuple(each for place, each in enumerate(self.form.readings) if place != number)
        self.show(replace(self.form, readings=rest))
        self._changed()

    # -- where, and how often --------------------------------------------------------------------------

    def _where(self, place: PlaceCondition) -> None:
        def put(**fields: Any) -> None:
            self._put(place=replace(self.form.place, **fields))
            shown(self.form.place.kind)

        with ui.row().classes("w-full gap-2 items-center"):
            kind = ui.select(WHERE, value=place.kind, label="Place").props("dense outlined options-dense")
            kind.classes("w-44").on_value_change(lambda e: put(kind=e.value))
            named = ui.row().classes("gap-2 items-center")
            with named:
                _input("Kind of place", place.attribute, lambda text: put(attribute=text), "city", PLACES, "w-32")
                _input("is", place.name, lambda text: put(name=text), "Galway", (), "w-40")
            area = ui.row().classes("gap-2 items-center")
            with area:
                for field, hint in (("south", "53.26"), ("north", "53.29"), ("west", "-9.09"), ("east", "-9.02")):
                    set_field = lambda text, name=field: put(**{name: text})  # noqa: E731 - one for each field
                    _input(field.capitalize(), getattr(place, field), set_field, hint, (), "w-24")

        def shown(of: str) -> None:
            named.set_visibility(of == "named")
            area.set_visibility(of == "area")

        shown(place.kind)

    def _how_often(self, form: SubscriptionForm) -> None:
        with ui.element("div").classes("lw-thirds"):
            self._choice("Say it", TRIGGER_MODES, form.trigger, "trigger", form.trigger_span, {"held", "absent"})
            self._choice("Repeat it", REPEATING, form.repeating, "repeating", form.repeating_span, {"every"})
            self._choice("Send it", SENDING, form.sending, "sending", form.sending_span, {"gathered"})
            _input("In the sense of", form.senses, lambda text: self._put(senses=text), "parking")
            _input("For each", form.per, lambda text: self._put(per=text), "room")
            _input("Until after", form.valid_for, lambda text: self._put(valid_for=text), "7 d")

    def _choice(self, label: str, options: dict[Any, str], value: str, name: str, span: str, spans: set[str]) -> None:
        with ui.element("div").classes("lw-choice"):
            chosen = ui.select(options, value=value, label=label).props("dense outlined options-dense")
            length = _input(f"{label}: how long", span, lambda text: self._put(**{f"{name}_span": text}), SPAN)

        def put(e: Any) -> None:
            length.set_visibility(e.value in spans)
            self._put(**{name: e.value})

        length.set_visibility(value in spans)
        chosen.on_value_change(put)

    def _reset(self) -> None:
        self.show(SubscriptionForm())
        self._changed()
        self._names[0].run_method("focus")  # the button that had the focus is gone

    def _put(self, **fields: Any) -> None:
        changed = replace(self.form, **fields)
        if changed != self.form:
            self.form = changed
            self._changed()


def _input(
    label: str, value: str, put: Callable[[str], None], hint: str = "", words: Sequence[str] = (), width: str = ""
) -> ui.input:
    field = ui.input(label, value=value, placeholder=hint, autocomplete=list(words) or None)
    field.props("dense outlined stack-label debounce=300").classes(width)
    return field.on_value_change(lambda e: put(_event_value(e)))


def _event_value(e: Any) -> str:
    return str(e.value or "")


def _group(name: str) -> ui.element:
    """Return a group of fields under a name."""
    group = ui.element("fieldset").classes("lw-group")
    with group, ui.element("legend"):
        ui.label(name)
    return group
