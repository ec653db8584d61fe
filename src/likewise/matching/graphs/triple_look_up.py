"""One triple among many patterns: a dictionary for each kind of pattern, asked only where an answer is possible.

A dictionary leads from the constants of a pattern straight to its number; the numbers of further patterns with the same
constants stand aside, since most have none. About subjects that stand in no pattern nothing else is asked. Few objects
are touched, which counts more than the number of steps: with 10,000 patterns each one is far away in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final

_FEW: Final = 1_000  # keys that fit anywhere


class TripleLookUp:
    """Numbers by the constants of their pattern; "" is a variable, and a pattern has at least one constant.

    >>> known = TripleLookUp()
    >>> known.put("<a>", "", "", 1); known.put("<a>", "", "<o>", 2); known.put("", "<p>", "", 3)
    >>> known.find("<a>", "<p>", "<o>")
    [3, 1, 2]
    >>> known.put("<a>", "", "", 4); known.drop("", "<p>", "", 3)
    >>> known.with_alike(known.find("<a>", "<p>", "<x>"))
    [1, 4]
    """

    __slots__ = ("_o", "_p", "_packed", "_po", "_s", "_so", "_sp", "_spo", "_stands", "_subjects", "alike", "find")

    def __init__(self) -> None:
        self.alike: dict[int, list[int]] = {}  # by the number that is found: others with the same constants
        self._subjects: set[str] = set()
        self._stands: dict[str, int] = {}  # in how many keys a subject stands
        self._s: dict[str, int] = {}
        self._p: dict[str, int] = {}
        self._o: dict[str, int] = {}
        self._sp: dict[tuple[str, str], int] = {}
        self._so: dict[tuple[str, str], int] = {}
        self._po: dict[tuple[str, str], int] = {}
        self._spo: dict[tuple[str, str, str], int] = {}
        self._packed = _FEW  # keys there were when they were last packed
        self.find = _finder(self)

    def put(self, s: str, p: str, o: str, number: int) -> None:
        """Hold a pattern."""
        table, key = self._place(s, p, o)
        first = table.setdefault(key, number)
        if first != number:
            self.alike.setdefault(first, []).append(number)
            return
        if s:
            self._subjects.add(s)
            self._stands[s] = self._stands.get(s, 0) + 1
        if len(self) >= 2 * self._packed:
            self.pack()

    def drop(self, s: str, p: str, o: str, number: int) -> None:
        """Let it go."""
        table, key = self._place(s, p, o)
        first = table[key]
        others = self.alike.pop(first, None)
        if others is None:
            del table[key]
            if s:
                self._stands[s] -= 1
                if not self._stands[s]:
                    del self._stands[s]
                    self._subjects.remove(s)
            return
        if first == number:
            first = table[key] = others.pop(0)
        else:
            others.remove(number)
        if others:
            self.alike[first] = others

    def __len__(self) -> int:
        single = len(self._s) + len(self._p) + len(self._o)
        return single + len(self._sp) + len(self._so) + len(self._po) + len(self._spo)

    def pack(self) -> None:
        """Make the keys anew, beside each other: made one by one they are spread over the memory, and slower."""
        every: tuple[dict[Any, int], ...] = (self._sp, self._so, self._po, self._spo)
        for table in every:
            items = [((*key,), number) for key, number in table.items()]
            table.clear()
            table.update(items)
        self._packed = max(_FEW, len(self))

    def with_alike(self, numbers: list[int]) -> list[int]:
        """What was found, and those with the same constants."""
        return [*numbers, *(number for first in numbers for number in self.alike.get(first, ()))]

    def _place(self, s: str, p: str, o: str) -> tuple[dict[Any, int], Hashable]:
        """The dictionary of a pattern and its key there."""
        match bool(s), bool(p), bool(o):
            case True, False, False:
                return self._s, s
            case True, True, False:
                return self._sp, (s, p)
            case True, False, True:
                return self._so, (s, o)
            case True, True, True:
                return self._spo, (s, p, o)
            case False, True, False:
                return self._p, p
            case False, False, True:
                return self._o, o
            case _:
                return self._po, (p, o)


def _finder(known: TripleLookUp) -> Callable[[str, str, str], list[int]]:
    """The numbers of the patterns whose constants a triple has, one for each kind, in a list of its own.

    Made once, with all it asks bound; `in` before the value is read costs less than a call of `get` that finds nothing.
    """
    subjects, in_s, in_p, in_o = known._subjects, known._s, known._p, known._o
    in_sp, in_so, in_po, in_spo = known._sp, known._so, known._po, known._spo

    def find(s: str, p: str, o: str) -> list[int]:
        finders = []
        if p in in_p:
            finders.append(in_p[p])
        if o in in_o:
            finders.append(in_o[o])
        key: Any
        if (key := (p, o)) in in_po:
            finders.append(in_po[key])
        if s in subjects:
            if s in in_s:
                finders.append(in_s[s])
            if (key := (s, p)) in in_sp:
                finders.append(in_sp[key])
            if (key := (s, o)) in in_so:
                finders.append(in_so[key])
            if (key := (s, p, o)) in in_spo:
                finders.append(in_spo[key])
        return finders

    return find
