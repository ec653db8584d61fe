"""Stored events and matches as files: CSV for a table, JSON lines for a program."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final

import msgspec

from likewise.api.history import StoredEvent
from likewise.dashboard.labels import event_line

EVENT_COLUMNS: Final = ("arrival", "source", "id", "themes", "attribute", "value", "unit", "met")
MATCH_COLUMNS: Final = ("arrival", "subscriber", "subscription", "score", "source", "id", "readings")
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet takes for the beginning of a formula


def events_csv(events: Iterable[StoredEvent]) -> str:
    """One row for each reading.

    >>> one = StoredEvent(1, 0, {"id": "e1", "source": "roof", "tuples": [{"attribute": "no2", "value": 45}]})
    >>> print(events_csv([one]).splitlines()[1])
    1970-01-01T00:00:00.000000Z,roof,e1,,no2,45,,
    """
    return _csv(EVENT_COLUMNS, (row for event in events for row in _readings(event)))


def matches_csv(events: Iterable[StoredEvent]) -> str:
    """One row for each subscription that an event met."""
    return _csv(MATCH_COLUMNS, (list(row.values()) for event in events for row in _matches(event)))


def events_lines(events: Iterable[StoredEvent]) -> str:
    """One event a line, as it was published, with its arrival and what it met."""
    return _lines(
        {
            "arrival": moment(each.arrival),
            "event": each.event,
            "met": [f"{m.subscriber}/{m.subscription}" for m in each.met],
        }
        for each in events
    )


def matches_lines(events: Iterable[StoredEvent]) -> str:
    """One match a line."""
    return _lines(row for event in events for row in _matches(event))


def moment(microseconds: int) -> str:
    """A time as ISO 8601 in UTC."""
    return datetime.fromtimestamp(microseconds / 1e6, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _readings(event: StoredEvent) -> Iterator[list[object]]:
    envelope = event.event
    themes = envelope.get("themes")
    about = [
        moment(event.arrival),
        envelope.get("source", ""),
        envelope.get("id", ""),
        "; ".join(map(str, themes)) if isinstance(themes, list) else "",
    ]
    met = "; ".join(f"{m.subscriber}/{m.subscription}" for m in event.met)
    items = envelope.get("tuples")
    for item in items if isinstance(items, list) else []:
        yield [*about, item.get("attribute"), item.get("value"), item.get("unit", ""), met]


def _matches(event: StoredEvent) -> Iterator[dict[str, object]]:
    for met in event.met:
        yield dict(
            zip(
                MATCH_COLUMNS,
                (
                    moment(event.arrival),
                    met.subscriber,
                    met.subscription,
                    met.score,
                    event.event.get("source", ""),
                    event.event.get("id", ""),
                    event_line(event.event, 10_000),
                ),
                strict=True,
            )
        )


def _csv(columns: tuple[str, ...], rows: Iterable[Iterable[object]]) -> str:
    written = io.StringIO()
    writer = csv.writer(written)
    writer.writerow(columns)
    writer.writerows([_safe(cell) for cell in row] for row in rows)
    return written.getvalue()


def _safe(cell: object) -> object:
    """A cell that no spreadsheet runs: text that looks like a formula begins with an apostrophe.

    >>> _safe("=1+1"), _safe(-3.5), _safe("roof")
    ("'=1+1", -3.5, 'roof')
    """
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def _lines(rows: Iterable[object]) -> str:
    return "".join(f"{msgspec.json.encode(row).decode()}\n" for row in rows)
