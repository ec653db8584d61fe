"""The annotation step of one matcher: an event as it came, and as it is matched."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from likewise.errors import NotServed
from likewise.matching.enrichment.enriched_event import Change, LaidOver
from likewise.matching.enrichment.interpretations import MeantRows
from likewise.matching.enrichment.keys import KeyIndex, key_index
from likewise.model import Event, Explanation, fold
from likewise.semantics.enrichment.table import NO_ANNOTATIONS, Annotations

if TYPE_CHECKING:
    from likewise.matching.registry import Engines
    from likewise.semantics.interpretation import Interpretation


class AnnotationStep:
    """Lays the annotations that hold now over events. One thread owns it, as it owns the matcher.

    Rows hold in the order of their lines, each on what came and what the rows before it made; then those whose relaxed
    key is meant, with the engine that serves relaxed conditions.
    """

    __slots__ = ("_choice", "_interpretation", "_known", "_meant", "_refused", "_table")

    def __init__(self, interpretation: Interpretation, choice: Engines) -> None:
        self._interpretation = interpretation
        self._choice = choice
        self._known = interpretation.annotations
        self._table: Annotations = NO_ANNOTATIONS
        self._meant: MeantRows | None = None
        self._refused = ""  # why rows that can be read cannot be used

    @property
    def active(self) -> bool:
        """Whether there are annotations at all."""
        return self._known is not NO_ANNOTATIONS and len(self._current()) > 0

    def annotated(self, event: Event) -> Event:
        """The event with what is known about it; the event itself if nothing is."""
        if self._known is NO_ANNOTATIONS:
            return event
        return self._lay(event, self._current())[0]

    def explained(self, event: Event) -> tuple[Event, list[Change]]:
        """The same, with what each row did."""
        if self._known is NO_ANNOTATIONS:
            return event, []
        return self._lay(event, self._current())

    def with_changes(self, explanation: Explanation, changes: list[Change]) -> Explanation:
        """An explanation that says what the annotations did, in all and to the tuple of each predicate."""
        problem = self._known.problem or self._refused
        if not changes and not problem:
            return explanation
        name = self._table.name
        told = [(change.place, _told(change, name)) for change in changes]
        everything = [text for _, text in told]
        if problem:
            everything.append(f"{name} has changed and cannot be used ({problem}); its rows of before hold")
        reports = tuple(
            msgspec.structs.replace(report, notes=(*report.notes, *notes))
            if report.tuple is not None and (notes := [text for place, text in told if place == report.tuple])
            else report
            for report in explanation.predicates
        )
        return msgspec.structs.replace(explanation, predicates=reports, annotations=tuple(everything))

    def forget_relatedness(self, of: Callable[[str], bool]) -> None:
        """Drop what is kept about the seen texts that `of` names."""
        if self._meant is not None and self._meant.engine is not None:
            self._meant.engine.forget_relatedness(of)

    def check(self) -> None:
        """Refuse rows with relaxed keys where no engine serves them."""
        if self._known.current().relaxed:
            self._choice.check("approximate")

    def _current(self) -> Annotations:
        """The rows that hold now; those of before if new ones need an engine that is not there."""
        table = self._known.current()
        if table is not self._table:
            try:
                self.check()
            except NotServed as error:
                self._refused = str(error)
                return self._table
            self._table, self._meant, self._refused = table, None, ""
        return table

    def _meant_rows(self, table: Annotations) -> MeantRows:
        if self._meant is None:
            self._meant = MeantRows(table, lambda: self._choice.make("approximate", self._interpretation))
        return self._meant

    def _lay(self, event: Event, table: Annotations) -> tuple[Event, list[Change]]:
        if not len(table):
            return event, []
        over = LaidOver(event.tuples)
        _lay_exact(event, table, key_index(table), over)
        made = _with_tuples(event, over)
        meant = self._meant_rows(table).find(made) if table.relaxed else []
        for row, place, likely in meant:
            seen = made.tuples[place]
            over.lay(row, (place,), f"meant by {seen.attribute}: {seen.value}, probability {likely:.2f}")
        return (_with_tuples(event, over) if meant else made), over.changes


def _lay_exact(event: Event, table: Annotations, index: KeyIndex, over: LaidOver) -> None:
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
        over.lay(row)
        for change in over.changes[before:]:
            if change.place < 0:
                continue
            item = over.tuples[change.place]
            for further in index.of_tuple(item.attribute, item):
                if further > place:
                    heapq.heappush(waiting, further)


def _with_tuples(event: Event, over: LaidOver) -> Event:
    return msgspec.structs.replace(event, tuples=tuple(over.tuples)) if over.changes else event


def _told(change: Change, name: str) -> str:
    said = f" ({change.said})" if change.said else ""
    where = f"{change.row.where} {change.row.line}" if change.row.where else f"{name}, line {change.row.line}"
    return f"{where}, {change.row}{said}"
