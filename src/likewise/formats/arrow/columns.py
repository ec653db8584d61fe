"""Tuples of many events as flat arrays, the input of fast engines instead of Event objects.

Event i has the tuples `offsets[i]` to `offsets[i + 1]`. Words are numbered: `attributes[attribute[j]]` is
the attribute of tuple j, and a negative code means that there is none. Equal words have equal codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from likewise.model.event import Event
from likewise.model.timestamps import parse_timestamp

if TYPE_CHECKING:
    from numpy.typing import NDArray

TEXT: Final = 0
NUMBER: Final = 1
BOOLEAN: Final = 2
WHOLE: Final = 3  # a number that is whole, to the last of 64 bits
NO_TIME: Final = int(np.iinfo(np.int64).min)  # a moment nobody means: the year -290308
EXACT: Final = 2**53  # up to here every whole number is a double


class EventColumns(NamedTuple):
    """Arrays over tuples, and `time` and `expires` (µs, `NO_TIME` if absent) over events.

    `number` is NaN for text, 1 or 0 for a Boolean, the nearest double for a whole number, which `whole` gives exactly
    (0 for all else). `text` indexes `texts`; `moment` is the first microsecond a text says as a time, else `NO_TIME`.
    `unit` is the unit stated beside the value, as written.
    """

    offsets: NDArray[np.int64]
    attribute: NDArray[np.int32]
    attributes: list[str]
    kind: NDArray[np.int8]
    number: NDArray[np.float64]
    whole: NDArray[np.int64]
    text: NDArray[np.int32]
    texts: list[str]
    moment: NDArray[np.int64]
    unit: NDArray[np.int32]
    units: list[str]
    group: NDArray[np.int32]
    time: NDArray[np.int64]
    expires: NDArray[np.int64]

    def slice(self, start: int, stop: int) -> EventColumns:
        """Return the events from `start` to `stop`; the word lists are shared."""
        low, high = int(self.offsets[start]), int(self.offsets[stop])
        return self._replace(
            offsets=self.offsets[start : stop + 1] - low,
            attribute=self.attribute[low:high],
            kind=self.kind[low:high],
            number=self.number[low:high],
            whole=self.whole[low:high],
            text=self.text[low:high],
            moment=self.moment[low:high],
            unit=self.unit[low:high],
            group=self.group[low:high],
            time=self.time[start:stop],
            expires=self.expires[start:stop],
        )

    def take(self, places: NDArray[np.int64]) -> EventColumns:
        """Return the events at these indices, in this order; the word lists are shared.

        >>> from likewise.model import event
        >>> made = columns_of([event({"t": 21, "on": True}), event({"t": "warm"}), event({"t": 3})])
        >>> made.take(np.array([2, 0])).whole.tolist()
        [3, 21, 0]
        """
        lengths = self.offsets[places + 1] - self.offsets[places]
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        at = np.repeat(self.offsets[places] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return self._replace(
            offsets=offsets,
            attribute=self.attribute[at],
            kind=self.kind[at],
            number=self.number[at],
            whole=self.whole[at],
            text=self.text[at],
            moment=self.moment[at],
            unit=self.unit[at],
            group=self.group[at],
            time=self.time[places],
            expires=self.expires[places],
        )


def parse_number(text: str) -> int | float:
    """Parse the number that a spelling stands for. Raises ValueError for other text."""
    return int(text) if text.lstrip("-").isdecimal() else float(text)


def timestamps_of(text: NDArray[np.int32], texts: list[str]) -> NDArray[np.int64]:
    """Return for each text its first microsecond as a timestamp, else `NO_TIME`; negative codes are no text.

    >>> timestamps_of(np.array([0, -1], np.int32), ["1970-01-01T00:00:01Z"]).tolist() == [1_000_000, NO_TIME]
    True
    """
    known = np.full(len(texts) + 1, NO_TIME, np.int64)
    for code, word in enumerate(texts):
        span = parse_timestamp(word) if word[:1].isdigit() else None
        if span is not None:
            known[code] = span.first
    timestamps: NDArray[np.int64] = known[text]
    return timestamps


def columns_of(events: Sequence[Event]) -> EventColumns:
    """Convert events to columns, in one pass.

    >>> from likewise.model import event
    >>> made = columns_of([event({"t": 21, "on": True}), event({"t": "warm"})])
    >>> made.offsets.tolist(), made.attribute.tolist(), made.attributes, made.kind.tolist()
    ([0, 2, 3], [0, 1, 0], ['t', 'on'], [3, 2, 0])
    """
    attributes: dict[str, int] = {}
    texts: dict[str, int] = {}
    units: dict[str, int] = {}
    offsets, attribute, kind, number = [0], [], [], []
    whole, text, unit, group = [], [], [], []
    nan = float("nan")
    for event in events:
        for item in event.tuples:
            attribute.append(attributes.setdefault(item.attribute, len(attributes)))
            value = item.value
            word = -1
            exact = 0
            if isinstance(value, str):
                kind.append(TEXT)
                number.append(nan)
                word = texts.setdefault(value, len(texts))
            elif isinstance(value, bool):
                kind.append(BOOLEAN)
                number.append(1.0 if value else 0.0)
            else:
                number.append(float(value))
                if isinstance(value, int):
                    kind.append(WHOLE)
                    exact = value
                else:
                    kind.append(NUMBER)
            text.append(word)
            whole.append(exact)
            unit.append(units.setdefault(item.unit, len(units)) if item.unit else -1)
            group.append(item.group)
        offsets.append(len(attribute))
    return EventColumns(
        np.array(offsets, np.int64),
        np.array(attribute, np.int32),
        list(attributes),
        np.array(kind, np.int8),
        np.array(number, np.float64),
        np.array(whole, np.int64),
        np.array(text, np.int32),
        list(texts),
        timestamps_of(np.array(text, np.int32), list(texts)),
        np.array(unit, np.int32),
        list(units),
        np.array(group, np.int32),
        np.array([NO_TIME if e.time is None else e.time for e in events], np.int64),
        np.array([NO_TIME if e.expires is None else e.expires for e in events], np.int64),
    )


def join_columns(parts: Sequence[EventColumns]) -> EventColumns:
    """Concatenate the columns of several batches.

    >>> from likewise.model import event
    >>> one, other = columns_of([event({"t": "warm"})]), columns_of([event({"h": "dry"}), event({"t": "warm"})])
    >>> made = join_columns([one, other])
    >>> made.offsets.tolist(), made.attribute.tolist(), made.texts, made.text.tolist()
    ([0, 1, 2, 3], [0, 1, 0], ['warm', 'dry'], [0, 1, 0])
    """
    if len(parts) == 1:
        return parts[0]
    attribute, attributes = _joined_codes([(each.attribute, each.attributes) for each in parts])
    text, texts = _joined_codes([(each.text, each.texts) for each in parts])
    unit, units = _joined_codes([(each.unit, each.units) for each in parts])
    sizes = np.concatenate([np.zeros(1, np.int64), *(np.diff(each.offsets) for each in parts)])
    kind, number, whole, moment, group, time, expires = (
        np.concatenate([getattr(each, name) for each in parts])
        for name in ("kind", "number", "whole", "moment", "group", "time", "expires")
    )
    return EventColumns(
        np.cumsum(sizes),
        attribute,
        attributes,
        kind,
        number,
        whole,
        text,
        texts,
        moment,
        unit,
        units,
        group,
        time,
        expires,
    )


def _joined_codes(parts: Sequence[tuple[NDArray[np.int32], list[str]]]) -> tuple[NDArray[np.int32], list[str]]:
    """Return codes of words renumbered in one numbering; a negative code stays."""
    known: dict[str, int] = {}
    renumbered = [
        np.array([*(known.setdefault(word, len(known)) for word in words), -1], np.int32)[codes]
        for codes, words in parts
    ]
    return np.concatenate(renumbered), list(known)
