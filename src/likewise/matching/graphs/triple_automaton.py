"""TP-automata: many triple patterns as one machine (sources.md L).

Qin, Y., Sheng, Q. Z., Falkner, N. J. G., Shemshadi, A. and Curry, E.: Towards efficient dissemination of
Linked Data in the Internet of Things, CIKM 2014, section 2.3. Every pattern is a chain of three
transitions, one each for subject, predicate and object, by a constant or by `?`; patterns share the
states of their common beginnings. A triple follows its constant and `?` at every active state, and the
final states it reaches list the patterns it meets.

Constants are numbered (labels). The transitions that every triple tries first need no search: lists by
label give the state after a subject, after `?` and a predicate, and after `?`, `?` and an object. The
pattern of three variables, which the paper leaves out, is kept aside and met by every triple. One triple alone
goes by `triple_look_up`, which holds the same patterns; many follow the machine in `triple_automaton_kernels`. A
variable that stands twice in a pattern is two `?` for the machine; that both are the same term is checked after it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from likewise.errors import DuplicateId, UnknownId
from likewise.matching.graphs import triple_states
from likewise.matching.graphs.triple_states import First, Second, State, Target
from likewise.model.rdf import TriplePattern, is_variable

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

    from likewise.matching.graphs.triple_automaton_table import AutomatonTable

NO_LABEL = 0  # of a constant that no pattern has
SUBJECT, PREDICATE, OBJECT = range(3)
_PAIRS = ((SUBJECT, PREDICATE), (SUBJECT, OBJECT), (PREDICATE, OBJECT))  # parts that may be one variable
Pairs = tuple[tuple[int, int], ...]


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
        """Return what was found, and those with the same constants."""
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


class AutomatonMatches(NamedTuple):
    """Triple `triples[i]` meets pattern `numbers[i]`; ordered by triple."""

    triples: NDArray[int64]
    numbers: NDArray[int64]


class TripleAutomaton:
    """Triple patterns by number, and the numbers a triple meets: exactly those whose every constant it has.

    >>> machine = TripleAutomaton()
    >>> machine.insert(TriplePattern("?e", "<type>", "<Event>"), 1)
    >>> machine.insert(TriplePattern("<a>", "?p", "?o"), 2)
    >>> sorted(machine.match("<a>", "<type>", "<Event>")), machine.match("<b>", "<type>", "<Event>")
    ([1, 2], [1])
    >>> machine.remove(1)
    >>> machine.match("<b>", "<type>", "<Event>")
    []
    """

    __slots__ = (
        "_after_object",
        "_after_predicate",
        "_after_subject",
        "_equal",
        "_everything",
        "_free_ids",
        "_free_labels",
        "_labels",
        "_look_up",
        "_patterns",
        "_states",
        "_table",
        "_uses",
        "match",
    )

    def __init__(self) -> None:
        self._patterns: dict[int, tuple[str, str, str]] = {}
        self._equal: dict[int, Pairs] = {}  # patterns in which a variable stands twice
        self._labels: dict[str, int] = {}
        self._uses: list[int] = [0]  # of each label, by patterns
        self._free_labels: list[int] = []
        self._free_ids: list[int] = []
        self._states = 1
        # By label: the state after a subject, after (?, predicate), after (?, ?, object), after (?, ?, ?).
        self._after_subject: list[First | None] = [None]
        self._after_predicate: list[Second | None] = [None]
        self._after_object: list[triple_states.Final | None] = [None]
        self._everything: triple_states.Final | None = None
        self._look_up = TripleLookUp()  # the same patterns, for one triple alone
        self._table: AutomatonTable | None = None
        # The numbers of the patterns a triple (subject, predicate, object) meets, in no particular order.
        self.match: Callable[[str, str, str], list[int]] = self._look_up.find

    def __len__(self) -> int:
        return len(self._patterns)

    def __contains__(self, number: object) -> bool:
        return number in self._patterns

    @property
    def states(self) -> int:
        """Return how many states there are, the initial one and those for `?` included."""
        return self._states - len(self._free_ids)

    # -- changing -------------------------------------------------------------------------------

    def insert(self, pattern: TriplePattern, number: int) -> None:
        """Add a pattern under a number of its own; it counts from the next triple on."""
        if number in self._patterns:
            raise DuplicateId(str(number))
        parts = (pattern.subject, pattern.predicate, pattern.object)
        self._patterns[number] = parts
        equal = tuple((i, j) for i, j in _PAIRS if is_variable(parts[i]) and parts[i] == parts[j])
        if equal:
            self._equal[number] = equal
        s, p, o = (NO_LABEL if is_variable(part) else self._label(part) for part in parts)
        final = self._final(s, p, o)
        if s or p or o:
            self._look_up.put(*_constants(parts), number)
        final.numbers.append(number)
        self._settle()
        if self._table is not None:
            self._table.touch(final)

    def _final(self, s: int, p: int, o: int) -> triple_states.Final:
        """The final state after three transitions, with what leads there made where it is not there yet."""
        if s:
            first = self._after_subject[s]
            if first is None:
                first = self._after_subject[s] = First(self._new_id())
                self._note_role(SUBJECT, s, first.id)
            second = first.next.get(p) if p else first.rest
            if second is None:
                second = Second(self._new_id())
                self._lead(first, p, second)
        elif p:
            second = self._after_predicate[p]
            if second is None:
                second = self._after_predicate[p] = Second(self._new_id())
                self._note_role(PREDICATE, p, second.id)
        elif o:
            final = self._after_object[o]
            if final is None:
                final = self._after_object[o] = triple_states.Final(self._new_id())
                self._note_role(OBJECT, o, final.id)
            return final
        else:
            if self._everything is None:
                self._everything = triple_states.Final(self._new_id())
                self._table = None
            return self._everything
        final = second.next.get(o) if o else second.rest
        if final is None:
            final = triple_states.Final(self._new_id())
            self._lead(second, o, final)
        return final

    def remove(self, number: int) -> None:
        """Take a pattern out, and every state and label that only it used."""
        parts = self._patterns.pop(number, None)
        if parts is None:
            raise UnknownId(str(number))
        self._equal.pop(number, None)
        s, p, o = (NO_LABEL if is_variable(part) else self._labels[part] for part in parts)
        final = self._final(s, p, o)
        final.numbers.remove(number)
        if self._table is not None:
            self._table.touch(final)
        if not final.numbers:
            self._prune(s, p, o, final)
        if s or p or o:
            self._look_up.drop(*_constants(parts), number)
        for part in parts:
            if not is_variable(part):
                self._release(part)
        self._settle()

    def _prune(self, s: int, p: int, o: int, final: triple_states.Final) -> None:
        """Drop a final state without patterns, and the states before it that lead nowhere else."""
        self._free_ids.append(final.id)
        first = self._after_subject[s]
        if first is not None:
            second = first.next[p] if p else first.rest
        elif p:
            second = self._after_predicate[p]
        else:
            if o:
                self._after_object[o] = None
                self._note_role(OBJECT, o, 0)
            else:
                self._everything = self._table = None
            return
        assert second is not None
        self._lead(second, o, None)
        if second.next or second.rest is not None:
            return
        self._free_ids.append(second.id)
        if first is None:
            self._after_predicate[p] = None
            self._note_role(PREDICATE, p, 0)
            return
        self._lead(first, p, None)
        if not first.next and first.rest is None:
            self._free_ids.append(first.id)
            self._after_subject[s] = None
            self._note_role(SUBJECT, s, 0)

    def _label(self, constant: str) -> int:
        label = self._labels.get(constant)
        if label is None:
            if self._free_labels:
                label = self._free_labels.pop()
            else:
                label = len(self._uses)
                self._uses.append(0)
                self._after_subject.append(None)
                self._after_predicate.append(None)
                self._after_object.append(None)
            self._labels[constant] = label
        self._uses[label] += 1
        return label

    def _release(self, constant: str) -> None:
        label = self._labels[constant]
        self._uses[label] -= 1
        if self._uses[label] == 0:
            del self._labels[constant]
            self._free_labels.append(label)

    def _new_id(self) -> int:
        if self._free_ids:
            return self._free_ids.pop()
        self._states += 1
        return self._states - 1

    def _lead(self, state: State[Target], label: int, target: Target | None) -> None:
        """Let a transition lead to another state, or nowhere."""
        if not label:
            state.rest = target
        elif target is None:
            del state.next[label]
        else:
            state.next[label] = target
        if self._table is not None:
            self._table.put(state.id, label, 0 if target is None else target.id, len(state.next))  # type: ignore[attr-defined]

    def _note_role(self, role: int, label: int, target: int) -> None:
        if self._table is not None:
            self._table.put_role(role, label, target)

    # -- matching -------------------------------------------------------------------------------

    def _settle(self) -> None:
        """Have `match` do no more than the patterns there are need: most are alone with their constants."""
        rare = self._equal or self._look_up.alike or self._everything is not None
        self.match = self._match_all if rare else self._look_up.find

    def _match_all(self, subject: str, predicate: str, object: str) -> list[int]:
        numbers = self._look_up.find(subject, predicate, object)
        if self._look_up.alike:
            numbers = self._look_up.with_alike(numbers)
        if self._everything is not None:
            numbers += self._everything.numbers
        if self._equal and numbers:
            parts = (subject, predicate, object)
            return [n for n in numbers if n not in self._equal or _agree(parts, self._equal[n])]
        return numbers

    def match_batch(self, triples: Sequence[tuple[str, str, str]]) -> AutomatonMatches:
        """`match` for many triples (subject, predicate, object) at once, as arrays.

        >>> machine = TripleAutomaton()
        >>> machine.insert(TriplePattern("?x", "<p>", "?x"), 5)
        >>> machine.match_batch([("<a>", "<p>", "<b>"), ("<b>", "<p>", "<b>")])
        AutomatonMatches(triples=array([1]), numbers=array([5]))
        """
        import numpy as np

        table = self._current_table()
        parts = map(self._labels.get, chain.from_iterable(triples), repeat(NO_LABEL))
        labels = np.fromiter(parts, np.int32, 3 * len(triples)).reshape(-1, 3)
        hits = AutomatonMatches(*table.follow(labels))
        if not self._equal:
            return hits
        doubtful = np.isin(hits.numbers, np.fromiter(self._equal, np.int64, len(self._equal)))
        keep = np.ones(len(doubtful), bool)
        for i in np.flatnonzero(doubtful).tolist():
            keep[i] = _agree(triples[int(hits.triples[i])], self._equal[int(hits.numbers[i])])
        return AutomatonMatches(hits.triples[keep], hits.numbers[keep])

    def _current_table(self) -> AutomatonTable:
        from likewise.matching.graphs.triple_automaton_table import AutomatonTable

        if self._table is None or self._table.is_behind(self.states):
            self._table = AutomatonTable(
                self._after_subject, self._after_predicate, self._after_object, self._everything, self._states
            )
        return self._table

    def extend(self, patterns: Iterable[TriplePattern], first: int = 0) -> None:
        """Insert many patterns, numbered on from `first`."""
        for number, pattern in enumerate(patterns, first):
            self.insert(pattern, number)
        self._look_up.pack()


def _agree(parts: tuple[str, str, str], equal: Pairs) -> bool:
    return all(parts[i] == parts[j] for i, j in equal)


def _constants(parts: tuple[str, str, str]) -> tuple[str, str, str]:
    """The parts with nothing in place of variables."""
    s, p, o = ("" if is_variable(part) else part for part in parts)
    return s, p, o
