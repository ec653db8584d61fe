"""Rows whose key is relaxed: of those with one key, the row that is meant, found as a subscription would be."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from likewise.matching.engine import Engine
from likewise.model import Condition, Event, Predicate, Subscription, fold
from likewise.model.values import Quantity, read_number
from likewise.semantics.enrichment.annotation import Annotation
from likewise.semantics.enrichment.table import Annotations


class Meant(NamedTuple):
    """A row that is meant: by which of the event's tuples, and how probably."""

    row: Annotation
    place: int
    probability: float


class MeantRows:
    """The relaxed rows of one table, each distinct key and value as a subscription `{key~ = value~}`.

    Where several rows of one key are related to the event, the best counts, and of equals the first.
    """

    def __init__(self, table: Annotations, engine: Callable[[], Engine]) -> None:
        self._rows: list[list[Annotation]] = []
        asked: dict[tuple[str, str], int] = {}
        for row in table.rows:
            if not row.relaxed:
                continue
            place = asked.setdefault((fold(row.key), fold(row.equals)), len(self._rows))
            if place == len(self._rows):
                self._rows.append([])
            self._rows[place].append(row)
        self.engine: Engine | None = engine() if self._rows else None
        for ordinal, rows in enumerate(self._rows):
            assert self.engine is not None
            self.engine.add(ordinal, _asking(rows[0], str(ordinal)), 0)

    def find(self, event: Event) -> list[Meant]:
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
        found = [Meant(row, place, likely) for _, n, place, likely in best.values() for row in self._rows[n]]
        return sorted(found, key=lambda meant: meant.row.line)


def _asking(row: Annotation, id: str) -> Subscription:
    if not row.equals:
        return Subscription(Condition((Predicate(row.key, "exists", attribute_relaxed=True),)), id)
    number = read_number(row.equals)
    if number is None or isinstance(number, Quantity):
        predicate = Predicate(row.key, "=", row.equals, attribute_relaxed=True, value_relaxed=True)
    else:
        predicate = Predicate(row.key, "=", number, attribute_relaxed=True)
    return Subscription(Condition((predicate,)), id)
