"""Which rows of annotations hold for an event, by their keys: look-ups, whatever the number of rows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from likewise.matching.topics.trie import TopicTrie
from likewise.model.event import EventTuple
from likewise.model.text import attribute_names, fold
from likewise.model.values import Quantity, read_number
from likewise.semantics.enrichment.table import Annotations

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

    def __init__(self, table: Annotations) -> None:
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
            found = self._attributes.get(key)
            if found is not None:
                yield from found.get(_ANY, ())
                form = value_form(item.value)
                if form != _ANY:
                    yield from found.get(form, ())
            if key == "topic" and self._filtered:
                for number in self._topics.find(str(item.value)):
                    yield from self._filtered[number]


@lru_cache(maxsize=8)
def key_index(table: Annotations) -> KeyIndex:
    """The index of a table, shared by the matchers that use it."""
    return KeyIndex(table)
