"""Each reading of an event under its common name and in its common unit, or why it is not certain what it is.

The measure compares a reading with every common name as it would with a subscription, so a reading is called what
subscriptions take it for. The best name counts if it is probable enough and nothing else is as probable; a number is
converted from the unit that it states or that is customary, a state becomes one of two words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from likewise.defaults import NAME_CACHE_ENTRIES
from likewise.matching.common_names.table import CommonName, CommonNames
from likewise.matching.explain.select import reading_in_unit
from likewise.matching.reference.polarity import meets_with_polarity
from likewise.matching.reference.terms import attribute_term, named_reading, value_term
from likewise.model import Event, EventTuple, Predicate
from likewise.model.text import fold
from likewise.semantics.concepts.customary import in_customary_unit, is_whole
from likewise.semantics.concepts.magnitudes import is_bare_battery, unit_by_size
from likewise.semantics.concepts.surroundings import event_contexts
from likewise.semantics.concepts.values.states import generic_sign
from likewise.semantics.interpretation import Interpretation
from likewise.semantics.measure import Term, opposed
from likewise.units import any_unit, is_stated, reading_unit, unit

CONFIDENCE: Final = 0.8  # the probability that a name needs
BY_ALIAS: Final = 0.93  # the probability of a name that the file gives to an attribute
AS_PROBABLE: Final = 0.02  # names of different units or words that are so close together are both possible
GUESSED: Final = 0.03  # less probable names are no guesses
GUESSES: Final = 5
SURE_STATE: Final = 0.6  # the score that the word of a state needs
SIGNIFICANT: Final = 8  # digits of a converted number
SAME_READING: Final = 0.006  # of its size: one reading in two units is rounded to tenths
LEAST_GUESS: Final = 0.5  # of a text: others say something that has no common name
TOPIC: Final = "topic"
PERCENT: Final = unit("%").symbol
Guess = tuple[str, float]


class NormalizedReading(NamedTuple):
    """A reading under its common name.

    `attribute` is what the device calls it, `place` the tuple, `taken` the reading in the unit that it was taken in.
    """

    name: CommonName
    value: float | str
    attribute: str
    probability: float
    place: int
    taken: EventTuple


class UncertainReading(NamedTuple):
    """A reading that nobody is sure of: the best guesses, and why none of them counts."""

    attribute: str
    value: str | int | float | bool
    unit: str
    guesses: tuple[Guess, ...]
    why: str


class _Fault(Exception):
    """Why a reading has no common value."""


class ReadingNormaliser:
    """Normalises events with one file of common names. One thread uses it at a time.

    Args:
        names: The common names.
        interpretation: Whose measure compares names.
        confidence: The probability that a name needs.
        customary: Units by common name that bare numbers are in where several are possible.

    >>> from likewise.matching.common_names.table import default_text, read_common_names
    >>> from likewise.model import event
    >>> normaliser = ReadingNormaliser(read_common_names(default_text()), Interpretation())
    >>> certain, uncertain = normaliser.read(event({"tempf": 71.6, "contact": False, "x9": 3}))
    >>> [(each.name.name, each.value, each.name.unit) for each in certain], [each.attribute for each in uncertain]
    ([('temperature', 22, '°C'), ('contact', 'open', '')], ['x9'])
    """

    def __init__(
        self,
        names: CommonNames,
        interpretation: Interpretation,
        confidence: float = CONFIDENCE,
        customary: Mapping[str, str] | None = None,
    ) -> None:
        self.names = names
        self._interpretation = interpretation
        self._confidence = confidence
        self._customary = customary or {}
        self._judged = 0
        self._candidates: dict[Term, tuple[tuple[float, int], ...]] = {}
        self._states: dict[tuple[int, Term], str] = {}

    def read(
        self, event: Event, units: Mapping[str, str] | None = None
    ) -> tuple[list[NormalizedReading], list[UncertainReading]]:
        """Return the readings that are certain, and those that are not.

        Args:
            event: The event, with its annotations.
            units: Units by attribute that the source announced.
        """
        contexts = event_contexts(event)
        # Behind the topic stands what a message states beside its payload: levels of the topic, the client.
        end = next((at for at, item in enumerate(event.tuples) if item.attribute == TOPIC), len(event.tuples))
        places = range(end)
        items = [_with_unit(named_reading(event.tuples[at], contexts[at]), units) for at in places]
        terms = [attribute_term(item, (), contexts[at]) for item, at in zip(items, places, strict=True)]
        self._compare(terms)
        certain: list[NormalizedReading] = []
        uncertain: list[UncertainReading] = []
        for at, item, term in zip(places, items, terms, strict=True):
            ranked = self._ranked(item, term)
            guesses = tuple((self.names.rows[place].name, round(p, 3)) for p, place in ranked if p >= GUESSED)
            try:
                probability, place = self._best(ranked)
                name = self.names.rows[place]
                value, taken = self._value(place, name, item, contexts[at])
            except _Fault as fault:
                is_text = isinstance(item.value, str) and item.reading() is None
                if not is_text or (guesses and guesses[0][1] >= LEAST_GUESS):
                    uncertain.append(
                        UncertainReading(item.attribute, item.value, item.unit, guesses[:GUESSES], str(fault))
                    )
                continue
            certain.append(NormalizedReading(name, value, event.tuples[at].attribute, probability, at, taken))
        return _without_repetition(certain), uncertain

    def kind_of(self, attribute: str, number: float) -> CommonName | None:
        """Return what a bare number under a name certainly is; None if that is not certain."""
        item = EventTuple(attribute, number)
        term = attribute_term(item, ())
        self._compare([term])
        try:
            return self.names.rows[self._best(self._ranked(item, term))[1]]
        except _Fault:
            return None

    def state_word(self, name: CommonName, item: EventTuple) -> str:
        """Return the word that a value of an attribute has under a common name; '' if it is not certain."""
        try:
            return str(self._value(self.names.rows.index(name), name, item, ())[0])
        except _Fault:
            return ""

    # -- which name -----------------------------------------------------------------------------

    def _compare(self, terms: Sequence[Term]) -> None:
        """Compare terms that are new with every common name."""
        interpretation = self._interpretation
        if (judged := len(interpretation.feedback)) != self._judged or len(self._candidates) > NAME_CACHE_ENTRIES:
            self._candidates, self._states, self._judged = {}, {}, judged
        fresh = [term for term in dict.fromkeys(terms) if term not in self._candidates]
        if not fresh:
            return
        scores = interpretation.measure.matrix(self.names.terms, fresh)
        curve = interpretation.probability_curve("conditions")
        for column, term in enumerate(fresh):
            likely = curve.each(scores[:, column]).tolist()
            for place in self.names.by_alias.get(fold(_last_part(term.text)), ()):
                likely[place] = max(likely[place], BY_ALIAS)
            order = sorted(range(len(likely)), key=lambda place: (-likely[place], place))[: 2 * GUESSES]
            self._candidates[term] = tuple((float(likely[place]), place) for place in order)

    def _ranked(self, item: EventTuple, term: Term) -> list[tuple[float, int]]:
        """Return the names that a value of this kind may have, the likeliest first."""
        is_number = item.reading() is not None
        may_be_state = not is_number or (item.value in (0, 1) and not item.unit)
        rows = self.names.rows
        return [
            (likely, place)
            for likely, place in self._candidates[term]
            if (may_be_state if rows[place].is_state else is_number)
            and (likely != BY_ALIAS or rows[place].true != "on" or _is_on_or_off(item.value))
        ]

    def _best(self, ranked: Sequence[tuple[float, int]]) -> tuple[float, int]:
        if not ranked or ranked[0][0] < self._confidence:
            raise _Fault("no common name is probable enough")
        best, rows = ranked[0], self.names.rows
        named = next(
            (each for each in ranked if each[0] == BY_ALIAS and _form(rows[each[1]]) == _form(rows[best[1]])), best
        )
        best = named  # of names that look alike the file says which one it is
        for likely, place in ranked[1:]:
            if likely < best[0] - AS_PROBABLE:
                break
            if _form(rows[place]) != _form(rows[best[1]]):
                raise _Fault(f"{rows[best[1]].name} and {rows[place].name} are equally probable")
        return best

    # -- which value ----------------------------------------------------------------------------

    def _value(
        self, place: int, name: CommonName, item: EventTuple, context: tuple[str, ...]
    ) -> tuple[float | str, EventTuple]:
        if name.is_state:
            return self._word(place, name, item, context), item
        predicate = name.predicate
        if not predicate.unit:
            number = stated_number(item)
            if not name.low <= number <= name.high:
                raise _Fault(f"{number:.6g} is not usual")
            return _rounded(number), item
        stated = item.reading()
        assert stated is not None
        if not is_stated(item.unit) and is_bare_battery(item.attribute) and not unit_by_size(item.attribute, stated[0]):
            raise _Fault(f"{stated[0]:.6g} of a battery may be in percent or in volts")
        taken = in_customary_unit(predicate, item)
        by_custom = taken is not item and predicate.unit == PERCENT and not is_whole(item.value)
        if by_custom and max(0.0, name.low) <= stated[0] <= 1 and stated[0]:
            raise _Fault(f"{stated[0]:.6g} may be a fraction or in percent; a unit that is stated would settle it")
        if taken is None:
            raise _Fault(f"{item.value} is not possible for {name.name}")
        known = reading_unit(item.attribute, stated[1], unit(predicate.unit)) if taken is item else None
        if taken is item and known is None:
            chosen = self._customary.get(name.name) or name.bare
            if not chosen:
                raise _Fault("its unit is not stated, and several are customary")
            taken = EventTuple(item.attribute, stated[0], unit(chosen).symbol)
        elif known is not None:
            taken = EventTuple(item.attribute, stated[0], known.symbol)
        converted, note = reading_in_unit(taken, predicate.unit)
        if not isinstance(converted, (int, float)):
            raise _Fault(note)
        if not is_stated(item.unit) and not name.low <= converted <= name.high:
            raise _Fault(f"{converted:.6g} {name.unit} is not usual; a unit that is stated would settle it")
        return _rounded(converted, taken.unit != predicate.unit), taken

    def _word(self, place: int, name: CommonName, item: EventTuple, context: tuple[str, ...]) -> str:
        value = value_term(item, (), context)
        if value is None:
            raise _Fault(f"{item.value} is no word of {name.name}")
        key = (place, value)
        word = self._states.get(key)
        if word is None:
            word = self._states[key] = self._state(name, item, value)
        if not word:
            raise _Fault(f"{str(item.value)[:40]!r} is neither {name.true} nor {name.false} for certain")
        return word

    def _state(self, name: CommonName, item: EventTuple, value: Term) -> str:
        measure = self._interpretation.measure
        words = [Term(text, "value", (), kind="text") for text in (name.true, name.false)]
        so, not_so = measure.matrix(words, [value])[:, 0].tolist()
        if max(so, not_so) >= SURE_STATE and min(so, not_so) < SURE_STATE / 2:
            return name.true if so > not_so else name.false
        sign = generic_sign(fold(str(value.text))) if not isinstance(item.value, (int, float)) else 0
        if isinstance(item.value, bool):
            asked = Predicate(name.means, "=", True, attribute_relaxed=True)
            sign = 1 if meets_with_polarity(asked, item, measure=measure) else -1
        elif sign and opposed(measure, name.means, item.attribute):
            sign = -sign
        return {1: name.true, -1: name.false}.get(sign, "")


def _last_part(attribute: str) -> str:
    return attribute.rpartition(".")[2].rpartition("/")[2]


def _form(name: CommonName) -> tuple[str, str]:
    """Return what a name's values look like: names of one form may be close to each other, as a room's temperature."""
    known = any_unit(name.unit) if name.unit else None
    return ("" if known is None else known.dimension), name.true


def _is_on_or_off(value: object) -> bool:
    return isinstance(value, bool) or (isinstance(value, str) and fold(value) in ("on", "off"))


def _with_unit(item: EventTuple, units: Mapping[str, str] | None) -> EventTuple:
    """Return a bare number with the unit that its source announced."""
    announced = units.get(item.attribute) if units else None
    if not announced or item.unit or isinstance(item.value, (str, bool)):
        return item
    return EventTuple(item.attribute, item.value, announced, item.group)


def stated_number(item: EventTuple) -> float:
    """Return the number of a reading, whatever its unit."""
    reading = item.reading()
    assert reading is not None
    return reading[0]


def _rounded(number: float, converted: bool = False) -> float:
    """Return a number as it is written; a converted one with as many digits as say something."""
    number = float(f"{number:.{SIGNIFICANT if converted else 15}g}")
    return int(number) if number.is_integer() and abs(number) < 1e15 else number


def _without_repetition(readings: list[NormalizedReading]) -> list[NormalizedReading]:
    """Return the readings without those that say another's in another unit: `tC` and `tF`."""
    if len(readings) == len({each.name.name for each in readings}):
        return readings
    out: list[NormalizedReading] = []
    for each in readings:
        twin = next((o for o in out if o.name is each.name and _same(o, each)), None)
        if twin is None:
            out.append(each)
    return out


def _same(one: NormalizedReading, other: NormalizedReading) -> bool:
    if isinstance(one.value, str) or isinstance(other.value, str) or one.taken.value == other.taken.value:
        return False
    return abs(one.value - other.value) <= SAME_READING * max(1.0, abs(one.value))
