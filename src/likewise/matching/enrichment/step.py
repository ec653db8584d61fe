"""The annotation step of one matcher: an event as it came, and as it is matched.

What one row does to an event's tuples: add one, state a unit, or say what an attribute means.

What an event says itself stays: an attribute it has is not added again, a unit beside a reading is not changed. A
replaced attribute is still found by the name it came with.

Rows whose key is relaxed: of those with one key, the row that is meant, found as a subscription would be.

Which rows of annotations hold for an event, by their keys: look-ups, whatever the number of rows.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from likewise.defaults import MAX_TUPLES
from likewise.errors import UnsupportedSubscription
from likewise.matching.engine import Engine
from likewise.matching.topics.topic_trie import TopicTrie
from likewise.model import Condition, Event, Explanation, Predicate, Subscription
from likewise.model.event import EventTuple
from likewise.model.text import attribute_names, fold
from likewise.model.values import Quantity, read_number
from likewise.semantics.enrichment.annotation import Annotation
from likewise.semantics.enrichment.table import NO_ANNOTATIONS, AnnotationTable
from likewise.units import find_unit, is_stated, units_in_name

if TYPE_CHECKING:
    from likewise.matching.registry import EngineSelection
    from likewise.semantics.interpretation import Interpretation


_Form = str | float
_ANY = ""  # the value of a key that holds whatever the event says; no folded text that is compared is empty


def value_form(value: str | int | float | bool) -> _Form:
    """A value as keys compare it: numbers by what they are, text folded.

    >>> value_form("Room  112") == value_form("room 112"), value_form("112.0") == value_form(112), value_form(True)
    (True, True, 'true')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        number = read_number(value)
        return fold(value) if number is None or isinstance(number, Quantity) else number
    return value


class KeyIndex:
    """The rows of one table whose keys are exact, by key and value; rows go by their place in the table."""

    def __init__(self, table: AnnotationTable) -> None:
        self._sources: dict[str, list[int]] = {}
        self._attributes: dict[str, dict[_Form, list[int]]] = {}
        self._topics = TopicTrie()
        self._filtered: list[list[int]] = []  # the rows of each topic filter
        for place, row in enumerate(table.rows):
            if row.relaxed:
                continue
            key = fold(row.key)
            if key == "source":
                self._sources.setdefault(row.equals or _ANY, []).append(place)
            elif key == "topic" and row.equals:
                self._filter(row.equals).append(place)
            else:
                form = value_form(row.equals) if row.equals else _ANY
                self._attributes.setdefault(key, {}).setdefault(form, []).append(place)

    def _filter(self, text: str) -> list[int]:
        number = self._topics.get(text)
        if number is None:
            number = len(self._filtered)
            self._topics.add(text, number)
            self._filtered.append([])
        return self._filtered[number]

    def of_source(self, source: str) -> Iterator[int]:
        """The rows that hold for a source."""
        yield from self._sources.get(source, ())
        yield from self._sources.get(_ANY, ())

    def of_tuple(self, name: str, item: EventTuple) -> Iterator[int]:
        """The rows that hold for an attribute of this name with this value; a name of a list with or without `[]`."""
        for key in attribute_names(name):
            rows_by_form = self._attributes.get(key)
            if rows_by_form is not None:
                yield from rows_by_form.get(_ANY, ())
                form = value_form(item.value)
                if form != _ANY:
                    yield from rows_by_form.get(form, ())
            if key == "topic" and self._filtered:
                for number in self._topics.find(str(item.value)):
                    yield from self._filtered[number]


@lru_cache(maxsize=8)
def key_index(table: AnnotationTable) -> KeyIndex:
    """The index of a table, shared by the matchers that use it."""
    return KeyIndex(table)


class AnnotationMatch(NamedTuple):
    """A row that is meant: by which of the event's tuples, and how probably."""

    row: Annotation
    place: int
    probability: float


class RelaxedAnnotations:
    """The relaxed rows of one table, each distinct key and value as a subscription `{key~ = value~}`.

    Where several rows of one key are related to the event, the best counts, and of equals the first.
    """

    def __init__(self, table: AnnotationTable, engine: Callable[[], Engine]) -> None:
        self._rows: list[list[Annotation]] = []
        positions: dict[tuple[str, str], int] = {}
        for row in table.rows:
            if not row.relaxed:
                continue
            place = positions.setdefault((fold(row.key), fold(row.equals)), len(self._rows))
            if place == len(self._rows):
                self._rows.append([])
            self._rows[place].append(row)
        self.engine: Engine | None = engine() if self._rows else None
        for ordinal, rows in enumerate(self._rows):
            assert self.engine is not None
            self.engine.add(ordinal, _row_subscription(rows[0], str(ordinal)), 0)

    def find(self, event: Event) -> list[AnnotationMatch]:
        """The rows that are meant, in the order of their lines."""
        if self.engine is None:
            return []
        best: dict[str, tuple[float, int, int, float]] = {}
        for ordinal, match in self.engine.match(event, 0):
            key = fold(self._rows[ordinal][0].key)
            if key not in best or match.score > best[key][0]:
                mapping = match.mapping
                assert mapping is not None
                best[key] = match.score, ordinal, mapping.correspondences[0].tuple, match.probability
        matches = [
            AnnotationMatch(row, place, likely) for _, n, place, likely in best.values() for row in self._rows[n]
        ]
        return sorted(matches, key=lambda meant: meant.row.line)


def _row_subscription(row: Annotation, id: str) -> Subscription:
    if not row.equals:
        return Subscription(Condition((Predicate(row.key, "exists", attribute_relaxed=True),)), id)
    number = read_number(row.equals)
    if number is None or isinstance(number, Quantity):
        predicate = Predicate(row.key, "=", row.equals, attribute_relaxed=True, value_relaxed=True)
    else:
        predicate = Predicate(row.key, "=", number, attribute_relaxed=True)
    return Subscription(Condition((predicate,)), id)


class AnnotationChange(NamedTuple):
    """Effect of a row, or the reason why it had none: `place` is the tuple concerned, `said` goes on after the row."""

    row: Annotation
    place: int
    note: str = ""


class EnrichedEvent:
    """An event's tuples while rows are laid over them, one after the other."""

    def __init__(self, tuples: Sequence[EventTuple]) -> None:
        self.tuples = list(tuples)
        self.names = [{*attribute_names(item.attribute)} for item in tuples]
        self.changes: list[AnnotationChange] = []
        self._settled: set[int] = set()
        self._came = frozenset(name for names in self.names for name in names)

    def named(self, attribute: str) -> list[int]:
        """The places of the tuples with this name, or that came with it."""
        folded = fold(attribute)
        return [place for place, names in enumerate(self.names) if folded in names]

    def apply(self, row: Annotation, places: Iterable[int] | None = None, note: str = "") -> int | None:
        """Do what a row says, to the tuples in `places` if it names no attribute; the place of a tuple it adds."""
        if row.value:
            return self._add(row, note)
        for place in self.named(row.target) if places is None or row.attribute else places:
            self._restate(row, place, note)
        return None

    def _add(self, row: Annotation, note: str) -> int | None:
        made = EventTuple(row.attribute, row.added_value(), row.unit)
        if fold(row.attribute) in self._came:
            place = self.named(row.attribute)[0]
            if self.tuples[place].value != made.value:
                self.changes.append(AnnotationChange(row, place, _with(note, "not added: the event says it itself")))
            return None
        if made in self.tuples:
            return None
        if len(self.tuples) >= MAX_TUPLES:
            self.changes.append(
                AnnotationChange(row, -1, _with(note, f"not added: an event has at most {MAX_TUPLES:,} tuples"))
            )
            return None
        self.tuples.append(made)
        self.names.append({*attribute_names(made.attribute)})
        self.changes.append(AnnotationChange(row, len(self.tuples) - 1, note))
        return len(self.tuples) - 1

    def _restate(self, row: Annotation, place: int, note: str) -> None:
        if place in self._settled:  # a person said it, of something narrower
            return
        if row.where:
            self._settled.add(place)
        item = self.tuples[place]
        reading = item.reading()
        unit = row.unit
        if unit and reading is None:
            unit, note = "", _with(note, "no unit: it is no number")
        elif unit and reading is not None and is_stated(reading[1]):
            stated = find_unit(reading[1])
            if stated is None or stated != find_unit(unit):
                note = _with(note, f"the unit {reading[1]} that the event states stays")
            unit = ""
        if not unit and row.means and reading is not None and not is_stated(reading[1]):
            unit = next((result.symbol for result, sure in units_in_name(item.attribute) if sure), "")
        attribute = item.attribute
        if row.means:
            listed = attribute.rfind("[].")
            attribute = attribute[: listed + 3 if listed >= 0 else 0] + row.means
        made = msgspec.structs.replace(item, attribute=attribute, unit=unit or item.unit)
        if made != item:
            self.names[place].update(attribute_names(attribute))
            self.tuples[place] = made
        if made != item or note:
            self.changes.append(AnnotationChange(row, place, note))


def _with(note: str, more: str) -> str:
    return f"{note}; {more}" if note else more


class AnnotationStep:
    """Lays the annotations that hold now over events. One thread owns it, as it owns the matcher.

    Rows hold in the order of their lines, each on what came and what the rows before it made; then those whose relaxed
    key is meant, with the engine that serves relaxed conditions.
    """

    __slots__ = ("_choice", "_interpretation", "_known", "_meant", "_refused", "_table")

    def __init__(self, interpretation: Interpretation, choice: EngineSelection) -> None:
        self._interpretation = interpretation
        self._choice = choice
        self._known = interpretation.annotations
        self._table: AnnotationTable = NO_ANNOTATIONS
        self._meant: RelaxedAnnotations | None = None
        self._refused = ""  # why rows that can be read cannot be used

    @property
    def active(self) -> bool:
        """Return whether there are annotations at all."""
        return self._known is not NO_ANNOTATIONS and len(self._current()) > 0

    def annotate(self, event: Event) -> Event:
        """The event with what is known about it; the event itself if nothing is."""
        if self._known is NO_ANNOTATIONS:
            return event
        return self._enrich(event, self._current())[0]

    def annotate_with_changes(self, event: Event) -> tuple[Event, list[AnnotationChange]]:
        """The same, with what each row did."""
        if self._known is NO_ANNOTATIONS:
            return event, []
        return self._enrich(event, self._current())

    def with_changes(self, explanation: Explanation, changes: list[AnnotationChange]) -> Explanation:
        """An explanation that says what the annotations did, in all and to the tuple of each predicate."""
        problem = self._known.problem or self._refused
        if not changes and not problem:
            return explanation
        name = self._table.name
        texts = [(change.place, _change_text(change, name)) for change in changes]
        all_notes = [text for _, text in texts]
        if problem:
            all_notes.append(f"{name} has changed and cannot be used ({problem}); its rows of before hold")
        reports = tuple(
            msgspec.structs.replace(report, notes=(*report.notes, *notes))
            if report.tuple is not None and (notes := [text for place, text in texts if place == report.tuple])
            else report
            for report in explanation.predicates
        )
        return msgspec.structs.replace(explanation, predicates=reports, annotations=tuple(all_notes))

    def forget_relatedness(self, of: Callable[[str], bool]) -> None:
        """Drop what is kept about the seen texts that `of` names."""
        if self._meant is not None and self._meant.engine is not None:
            self._meant.engine.forget_relatedness(of)

    def check(self) -> None:
        """Refuse rows with relaxed keys where no engine serves them."""
        if self._known.current().relaxed:
            self._choice.check("approximate")

    def _current(self) -> AnnotationTable:
        """The rows that hold now; those of before if new ones need an engine that is not there."""
        table = self._known.current()
        if table is not self._table:
            try:
                self.check()
            except UnsupportedSubscription as error:
                self._refused = str(error)
                return self._table
            self._table, self._meant, self._refused = table, None, ""
        return table

    def _relaxed_annotations(self, table: AnnotationTable) -> RelaxedAnnotations:
        if self._meant is None:
            self._meant = RelaxedAnnotations(table, lambda: self._choice.make("approximate", self._interpretation))
        return self._meant

    def _enrich(self, event: Event, table: AnnotationTable) -> tuple[Event, list[AnnotationChange]]:
        if not len(table):
            return event, []
        over = EnrichedEvent(event.tuples)
        _apply_exact(event, table, key_index(table), over)
        made = _with_tuples(event, over)
        matches = self._relaxed_annotations(table).find(made) if table.relaxed else []
        for row, place, likely in matches:
            item = made.tuples[place]
            over.apply(row, (place,), f"meant by {item.attribute}: {item.value}, probability {likely:.2f}")
        return (_with_tuples(event, over) if matches else made), over.changes


def _apply_exact(event: Event, table: AnnotationTable, index: KeyIndex, over: EnrichedEvent) -> None:
    """Lay over the rows with exact keys, in the order of their lines; a row may hold because of one before it."""
    waiting: list[int] = [] if event.source is None else list(index.of_source(event.source))
    for item in event.tuples:
        waiting += index.of_tuple(item.attribute, item)
        if event.source is None and fold(item.attribute) == "source":
            waiting += index.of_source(str(item.value))
    if not waiting:
        return
    waiting = sorted(set(waiting))  # a sorted list is a heap
    last = -1
    while waiting:
        place = heapq.heappop(waiting)
        if place == last:
            continue
        last = place
        row = table.rows[place]
        before = len(over.changes)
        over.apply(row)
        for change in over.changes[before:]:
            if change.place < 0:
                continue
            item = over.tuples[change.place]
            for further in index.of_tuple(item.attribute, item):
                if further > place:
                    heapq.heappush(waiting, further)


def _with_tuples(event: Event, over: EnrichedEvent) -> Event:
    return msgspec.structs.replace(event, tuples=tuple(over.tuples)) if over.changes else event


def _change_text(change: AnnotationChange, name: str) -> str:
    suffix = f" ({change.note})" if change.note else ""
    where = f"{change.row.where} {change.row.line}" if change.row.where else f"{name}, line {change.row.line}"
    return f"{where}, {change.row}{suffix}"
