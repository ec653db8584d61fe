"""Numbers for what subscriptions ask: attributes, axes of numbers, and yes-or-no questions about a value.

An exact condition asks three kinds of things of an attribute: that it is there, that its number lies
in a range (an axis for each unit, since a reading without a unit is taken in the unit asked for), and
questions with a plain answer (a *token*): equality, prefixes, topics, ... Each is interned to a code,
counted, and given back when no subscription asks it any more. An event is written as *points*:
`code * 4 + what`, where `what` is HEAD (the attribute is there), NUMBER or TOKEN.

Which of many text predicates on one attribute does a text meet? (sources.md C; topics and types of sources.md M.)

Each distinct (operator, text) is held once, however many subscriptions ask it. Equality, prefixes,
suffixes, topics and types are hash look-ups: one for each length or level in use. `contains` looks
up every window of the text for each length in use, or tries each pattern, whichever is less work,
so it is never worse than trying each pattern.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

import numpy as np

from likewise.matching.reference.operators import SEPARATORS
from likewise.matching.topics.topic_trie import TopicTrie
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.model.predicate import Predicate
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
        folded = fold(text)
        numbers: list[int] = [] if self._topics is None else self._topics.find(text)
        for operator, table in self._tables.items():
            match operator:
                case "=":
                    keys = {folded}
                case "starts with":
                    keys = {folded[:n] for n in self._lengths[operator] if n <= len(folded)}
                case "ends with":
                    keys = {folded[len(folded) - n :] for n in self._lengths[operator] if n <= len(folded)}
                case "contains":
                    keys = self._contained(folded, table)
                case "under":
                    keys = _ancestors(folded, SEPARATORS["under"])
                case _:
                    keys = _ancestors(folded, SEPARATORS["is-a"])
                    for wider in self._types.wider(text) if self._types else ():
                        keys |= _ancestors(wider, SEPARATORS["is-a"])
            numbers.extend(table[key] for key in keys if key in table)
        return numbers

    def _contained(self, text: str, table: dict[str, int]) -> set[str]:
        lengths = self._lengths["contains"]
        if len(table) <= len(text) * len(lengths):
            return {pattern for pattern in table if pattern in text}
        return {text[i : i + n] for n in lengths for i in range(len(text) - n + 1)}


def _ancestors(text: str, separators: str) -> set[str]:
    """The text itself and what stands before each separator: `a/b/c` gives `a`, `a/b`, `a/b/c`."""
    ancestors = {text[:i] for i, character in enumerate(text) if character in separators}
    ancestors.add(text.rstrip(separators))
    return ancestors


HEAD, NUMBER, TOKEN = 0, 1, 2
MAX_REMEMBERED = 65_536  # names and texts whose points are remembered; past it they are worked out anew

TextPoints = tuple[tuple[int, ...], tuple[int, ...]]  # the tokens a text makes true, the `!=` it fails
Asked = Literal["attribute", "axis", "whole", "text", "boolean", "different", "unindexed"]
Axis = tuple[str, bool, int]  # the unit numbers are brought to, whether the last one of a span counts, the point


class AttributeCodes:
    """All that is asked of one attribute (folded); every number here is a point."""

    __slots__ = (
        "axis",
        "booleans",
        "code",
        "different",
        "head",
        "name",
        "only_numbers",
        "remembered",
        "seen",
        "texts",
        "unindexed",
        "unit_axes",
        "used",
        "wholes",
    )

    def __init__(self, name: str, code: int, types: Hierarchy = NO_TYPES) -> None:
        self.name = name
        self.code = code
        self.head = code * 4 + HEAD
        self.axis = -1  # numbers compared without a unit
        self.unit_axes: dict[tuple[str, bool], Axis] = {}
        self.wholes: dict[float, int] = {}  # `=` with numbers next to which whole ones are no floats
        self.texts = TextIndex(types)
        self.booleans: dict[bool, int] = {}
        self.different: dict[tuple[type, object], int] = {}  # `!=`: what a value must not equal
        self.unindexed: dict[Predicate, int] = {}  # evaluated one by one
        self.remembered: dict[str, TextPoints] = {}
        self.only_numbers = True  # nothing numeric is asked but ranges without a unit
        self.used = 0
        self.seen = 0  # number of the event it was last met in

    def settle(self) -> None:
        """Forget remembered answers after a question came or went."""
        self.remembered.clear()
        self.only_numbers = not (self.unit_axes or self.different or self.unindexed or self.wholes)


class CodeEntry(NamedTuple):
    """Meaning of a code: a requirement on an attribute, by the key it is found under."""

    attribute: AttributeCodes
    kind: Asked
    key: Any = None

    def forget(self) -> None:
        """Let the attribute no longer know it."""
        attribute, entry, key = self
        match entry:
            case "axis" if not key[0]:
                attribute.axis = -1
            case "axis":
                del attribute.unit_axes[key]
            case "text":
                attribute.texts.remove(*key)
            case "attribute":
                pass
            case _:
                del self.table()[key]

    def table(self) -> dict[Any, int]:
        """Where the attribute keeps single values that are asked so."""
        attribute = self.attribute
        match self.kind:
            case "whole":
                return attribute.wholes
            case "boolean":
                return attribute.booleans
            case "different":
                return attribute.different
            case _:
                return attribute.unindexed


UNASKED = AttributeCodes("", -1)  # stands for every attribute nobody asks about
SEVERAL = AttributeCodes("", 0)  # stands for one of a list that is asked for by both of its names
SEVERAL.only_numbers = False


class CodeBook:
    """Codes in use, how often, and the attribute each belongs to.

    >>> book = CodeBook()
    >>> lat = book.attribute("lat")
    >>> axis = book.axis(lat, "")
    >>> book.hold(axis), book.axis(lat, "") == axis, book.release(axis), len(book)
    (None, True, None, 0)
    """

    def __init__(self, types: Hierarchy = NO_TYPES) -> None:
        self.types = types
        self.attributes: dict[str, AttributeCodes] = {}
        self.names: dict[str, AttributeCodes] = {}  # as events write them, filled by whoever reads events
        self.owner = np.zeros(64, np.int32)  # code -> code of its attribute
        self.where = np.full(64, -1, np.int32)  # scratch of the kernels: code -> where the event says it
        self.remembered = 0
        self._uses: list[int] = []
        self._holders: list[CodeEntry | None] = []
        self._free: list[int] = []
        self._fresh: list[int] = []

    def __len__(self) -> int:
        return len(self._uses) - len(self._free)

    def attribute(self, folded: str) -> AttributeCodes:
        """The codes of an attribute, made if need be."""
        cached = self.attributes.get(folded)
        if cached is None:
            code = self._take()
            cached = self.attributes[folded] = AttributeCodes(folded, code, self.types)
            self.names.clear()
            self._settle(code, CodeEntry(cached, "attribute"))
        return cached

    def axis(self, attribute: AttributeCodes, symbol: str, last: bool = False) -> int:
        """The code of the axis of numbers in a unit ('' for numbers without one); `last`: of the ends of spans."""
        if not symbol:
            if attribute.axis < 0:
                attribute.axis = self._point(NUMBER, CodeEntry(attribute, "axis", ("", False)))
            return attribute.axis >> 2
        key = (symbol, last)
        code = attribute.unit_axes.get(key)
        if code is None:
            point = self._point(NUMBER, CodeEntry(attribute, "axis", key))
            code = attribute.unit_axes[key] = (symbol, last, point)
            attribute.settle()
        return code[2] >> 2

    def whole(self, attribute: AttributeCodes, number: float) -> int:
        """The code of equality with a number next to which whole ones are no floats."""
        return self._entry(CodeEntry(attribute, "whole", number))

    def text(self, attribute: AttributeCodes, operator: str, text: str) -> int:
        """The code of a text predicate."""
        point = attribute.texts.get(operator, text)
        if point is None:
            point = self._point(TOKEN, CodeEntry(attribute, "text", (operator, text)))
            attribute.texts.add(operator, text, point)
            attribute.settle()
        return point >> 2

    def boolean(self, attribute: AttributeCodes, value: bool) -> int:
        """The code of equality with a Boolean."""
        return self._entry(CodeEntry(attribute, "boolean", value))

    def different(self, attribute: AttributeCodes, kind: type, value: object) -> int:
        """The code that says every value equals this one, which is what fails `!=`."""
        return self._entry(CodeEntry(attribute, "different", (kind, value)))

    def unindexed(self, attribute: AttributeCodes, predicate: Predicate) -> int:
        """The code of a predicate that is evaluated as it stands."""
        return self._entry(CodeEntry(attribute, "unindexed", predicate))

    def _entry(self, question: CodeEntry) -> int:
        table = question.table()
        point = table.get(question.key)
        if point is None:
            point = table[question.key] = self._point(TOKEN, question)
            question.attribute.settle()
        return point >> 2

    def hold(self, code: int) -> None:
        """Count one more use of a code."""
        self._uses[code] += 1

    def release(self, code: int) -> None:
        """Count one use less; a code nobody uses is given back, and so is an attribute without codes."""
        self._uses[code] -= 1
        if self._uses[code] <= 0:
            self._drop(code)

    def keep(self) -> None:
        """The codes made since the last call are in use."""
        self._fresh.clear()

    def give_up(self) -> None:
        """Give back codes made since `keep` that nobody holds: what was being added was refused."""
        for code in reversed(self._fresh):
            if self._holders[code] is not None and not self._uses[code]:
                self._drop(code)
        self._fresh.clear()

    def questions(self) -> Iterator[tuple[int, CodeEntry, int]]:
        """Every code in use, what it stands for and how often it is used; attributes before what is asked of them."""
        used = [(code, holder) for code, holder in enumerate(self._holders) if holder is not None]
        for code, holder in sorted(used, key=lambda each: (each[1].kind != "attribute", each[0])):
            yield code, holder, self._uses[code]

    def restore(self, size: int, questions: Iterable[tuple[int, int, Asked, Any, int]]) -> None:
        """Take up the questions of a saved book, as code, code of the attribute, what is asked, key and uses."""
        while len(self.owner) < size:
            self.owner = np.concatenate([self.owner, np.zeros_like(self.owner)])
        self.where = np.full(len(self.owner), -1, np.int32)
        self._uses, self._holders = [0] * size, [None] * size
        known: dict[int, AttributeCodes] = {}
        for code, of, entry, key, uses in questions:
            if entry == "attribute":
                known[code] = self.attributes[key] = AttributeCodes(key, code, self.types)
            attribute = known[of]
            question = CodeEntry(attribute, entry, None if entry == "attribute" else key)
            self._uses[code], self._holders[code], self.owner[code] = uses, question, of
            attribute.used += entry != "attribute"
            point = code * 4 + (NUMBER if entry == "axis" else TOKEN)
            match entry:
                case "attribute":
                    pass
                case "axis" if not key[0]:
                    attribute.axis = point
                case "axis":
                    attribute.unit_axes[key] = (*key, point)
                case "text":
                    attribute.texts.add(key[0], key[1], point)
                case _:
                    question.table()[key] = point
        self._free = [code for code, holder in enumerate(self._holders) if holder is None]
        for attribute in known.values():
            attribute.settle()

    def _point(self, what: int, question: CodeEntry) -> int:
        code = self._take()
        question.attribute.used += 1
        self._settle(code, question)
        return code * 4 + what

    def _take(self) -> int:
        if self._free:
            return self._free.pop()
        code = len(self._uses)
        self._uses.append(0)
        self._holders.append(None)
        if code >= len(self.owner):
            self.owner = np.concatenate([self.owner, np.zeros_like(self.owner)])
            self.where = np.full(len(self.owner), -1, np.int32)
        return code

    def _settle(self, code: int, question: CodeEntry) -> None:
        self._uses[code] = 0
        self._holders[code] = question
        self.owner[code] = question.attribute.code
        self._fresh.append(code)

    def _drop(self, code: int) -> None:
        question = self._holders[code]
        if question is None:
            return
        attribute = question.attribute
        if code != attribute.code:
            question.forget()
            attribute.settle()
            self._holders[code] = None
            self._free.append(code)
            attribute.used -= 1
        if not attribute.used and not self._uses[attribute.code] and self._holders[attribute.code] is not None:
            self._holders[attribute.code] = None
            self._free.append(attribute.code)
            del self.attributes[attribute.name]
            self.names.clear()
