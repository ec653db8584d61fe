"""Which of many text predicates on one attribute does a text meet? (sources.md C; topics and types of sources.md M.)

Each distinct (operator, text) is held once, however many subscriptions ask it. Equality, prefixes,
suffixes, topics and types are hash look-ups: one for each length or level in use. `contains` looks
up every window of the text for each length in use, or tries each pattern, whichever is less work,
so it is never worse than trying each pattern.
"""

from __future__ import annotations

from likewise.matching.reference.operators import SEPARATORS
from likewise.matching.topics.trie import TopicTrie
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.model.text import fold, fold_part


class TextIndex:
    """Text predicates on one attribute, each with a number of the caller's.

    >>> index = TextIndex()
    >>> index.add("contains", "cat", 1)
    >>> index.add("under", "Building/Floor 1/", 2)
    >>> index.find("a Cat"), index.find("building/floor 1/room 2"), index.find("building/floor 12")
    ([1], [2], [])
    """

    __slots__ = ("_lengths", "_tables", "_topics", "_types")

    def __init__(self, types: Hierarchy = NO_TYPES) -> None:
        self._types = types
        self._topics: TopicTrie | None = None
        self._tables: dict[str, dict[str, int]] = {}
        self._lengths: dict[str, dict[int, int]] = {}  # operator -> length -> how many patterns have it

    def __bool__(self) -> bool:
        return bool(self._tables) or self._topics is not None

    @staticmethod
    def key(operator: str, text: str) -> str:
        """The form in which a predicate's text is compared."""
        if operator in SEPARATORS:
            return fold(text).rstrip(SEPARATORS[operator])
        return fold(text) if operator == "=" else fold_part(text)

    def get(self, operator: str, text: str) -> int | None:
        """The number of a predicate that is held, else None."""
        if operator == "matches":
            return None if self._topics is None else self._topics.get(text)
        table = self._tables.get(operator)
        return None if table is None else table.get(self.key(operator, text))

    def add(self, operator: str, text: str, number: int) -> None:
        """Hold a predicate under a number."""
        if operator == "matches":
            self._topics = self._topics or TopicTrie()
            self._topics.add(text, number)
            return
        key = self.key(operator, text)
        self._tables.setdefault(operator, {})[key] = number
        lengths = self._lengths.setdefault(operator, {})
        lengths[len(key)] = lengths.get(len(key), 0) + 1

    def remove(self, operator: str, text: str) -> None:
        """Forget a predicate that is held."""
        if operator == "matches":
            assert self._topics is not None
            self._topics.remove(text)
            if not len(self._topics):
                self._topics = None
            return
        key = self.key(operator, text)
        table, lengths = self._tables[operator], self._lengths[operator]
        del table[key]
        lengths[len(key)] -= 1
        if not lengths[len(key)]:
            del lengths[len(key)]
        if not table:
            del self._tables[operator], self._lengths[operator]

    def find(self, text: str) -> list[int]:
        """The numbers of the predicates the text meets."""
        seen = fold(text)
        found: list[int] = [] if self._topics is None else self._topics.find(text)
        for operator, table in self._tables.items():
            match operator:
                case "=":
                    keys = {seen}
                case "starts with":
                    keys = {seen[:n] for n in self._lengths[operator] if n <= len(seen)}
                case "ends with":
                    keys = {seen[len(seen) - n :] for n in self._lengths[operator] if n <= len(seen)}
                case "contains":
                    keys = self._contained(seen, table)
                case "under":
                    keys = _ancestors(seen, SEPARATORS["under"])
                case _:
                    keys = _ancestors(seen, SEPARATORS["is-a"])
                    for wider in self._types.wider(text) if self._types else ():
                        keys |= _ancestors(wider, SEPARATORS["is-a"])
            found.extend(table[key] for key in keys if key in table)
        return found

    def _contained(self, seen: str, table: dict[str, int]) -> set[str]:
        lengths = self._lengths["contains"]
        if len(table) <= len(seen) * len(lengths):
            return {pattern for pattern in table if pattern in seen}
        return {seen[i : i + n] for n in lengths for i in range(len(seen) - n + 1)}


def _ancestors(seen: str, separators: str) -> set[str]:
    """The text itself and what stands before each separator: `a/b/c` gives `a`, `a/b`, `a/b/c`."""
    found = {seen[:i] for i, character in enumerate(seen) if character in separators}
    found.add(seen.rstrip(separators))
    return found
