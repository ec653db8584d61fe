"""One triple among many patterns: a dictionary for each kind of pattern, asked only where an answer is possible.

The final states of a triple automaton by what leads to them. For each subject it is known which kinds of patterns it
stands in, as one small number; the others are not asked, and their keys not made. Few objects are touched, which counts
more than the number of steps: with 10,000 patterns each one is far away in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

Numbers = list[int]
NONE: tuple[int, ...] = ()
SUBJECT, WITH_PREDICATE, WITH_OBJECT, WITH_BOTH = 1, 2, 4, 8  # kinds of patterns with a subject
EVERY = SUBJECT | WITH_PREDICATE | WITH_OBJECT | WITH_BOTH


class TripleLookUp:
    """Lists of numbers by the constants of their pattern; "" is a variable. A list may change later.

    >>> known = TripleLookUp()
    >>> known.put("<a>", "", "", [1]); known.put("<a>", "", "<o>", [2]); known.put("", "<p>", "", [3])
    >>> known.find("<a>", "<p>", "<o>")
    [3, 1, 2]
    >>> known.drop("<a>", "", "")
    >>> known.find("<a>", "<p>", "<x>")
    [3]
    """

    __slots__ = ("_counts", "_kinds", "_o", "_p", "_po", "_s", "_so", "_sp", "_spo", "find")

    def __init__(self) -> None:
        self._kinds: dict[str, int] = {}  # of each subject
        self._counts: dict[tuple[str, int], int] = {}  # lists of a subject and a kind, where there are several
        self._s: dict[str, Numbers] = {}
        self._p: dict[str, Numbers] = {}
        self._o: dict[str, Numbers] = {}
        self._sp: dict[tuple[str, str], Numbers] = {}
        self._so: dict[tuple[str, str], Numbers] = {}
        self._po: dict[tuple[str, str], Numbers] = {}
        self._spo: dict[tuple[str, str, str], Numbers] = {}
        self.find = _finder(self)

    def put(self, s: str, p: str, o: str, numbers: Numbers) -> None:
        """Hold the list of a pattern that has at least one constant."""
        held, key, kind = self._place(s, p, o)
        held[key] = numbers
        if kind:
            if self._kinds.get(s, 0) & kind:
                self._counts[s, kind] = self._counts.get((s, kind), 1) + 1
            else:
                self._kinds[s] = self._kinds.get(s, 0) | kind

    def drop(self, s: str, p: str, o: str) -> None:
        """Let it go."""
        held, key, kind = self._place(s, p, o)
        del held[key]
        if kind:
            left = self._counts.pop((s, kind), 1) - 1
            if left > 1:
                self._counts[s, kind] = left
            elif not left:
                self._kinds[s] -= kind
                if not self._kinds[s]:
                    del self._kinds[s]

    def _place(self, s: str, p: str, o: str) -> tuple[dict[Any, Numbers], Hashable, int]:
        """The dictionary of a pattern, its key there, and its kind if it has a subject."""
        match bool(s), bool(p), bool(o):
            case True, False, False:
                return self._s, s, SUBJECT
            case True, True, False:
                return self._sp, (s, p), WITH_PREDICATE
            case True, False, True:
                return self._so, (s, o), WITH_OBJECT
            case True, True, True:
                return self._spo, (s, p, o), WITH_BOTH
            case False, True, False:
                return self._p, p, 0
            case False, False, True:
                return self._o, o, 0
            case _:
                return self._po, (p, o), 0


def _finder(known: TripleLookUp) -> Callable[[str, str, str], Numbers]:
    """The numbers of all patterns whose constants a triple has, in a list of its own.

    Made once, with all it asks bound: looking that up each time would cost as much as two of the dictionaries.
    """
    kinds_of = known._kinds.get
    by_s, by_p, by_o = known._s.get, known._p.get, known._o.get
    by_sp, by_so, by_po, by_spo = known._sp.get, known._so.get, known._po.get, known._spo.get

    def find(s: str, p: str, o: str) -> Numbers:
        kinds = kinds_of(s, 0)
        if kinds == EVERY:
            return [
                *by_p(p, NONE), *by_o(o, NONE), *by_po((p, o), NONE),
                *by_s(s, NONE), *by_sp((s, p), NONE), *by_so((s, o), NONE), *by_spo((s, p, o), NONE),
            ]  # fmt: skip
        found = [*by_p(p, NONE), *by_o(o, NONE), *by_po((p, o), NONE)]
        if kinds & SUBJECT:
            found += by_s(s, NONE)
        if kinds & WITH_PREDICATE:
            found += by_sp((s, p), NONE)
        if kinds & WITH_OBJECT:
            found += by_so((s, o), NONE)
        if kinds & WITH_BOTH:
            found += by_spo((s, p, o), NONE)
        return found

    return find
