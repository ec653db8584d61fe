"""Covering, equality and intersection of conditions (sources.md C; CUPUS, section 4.4.1).

Covering: a covers b when every event that meets b meets a. Events may repeat an attribute, and each
predicate may be met by another tuple; so a covers b exactly when each predicate of a is implied by a single
predicate of b. (`x between 1 and 2` therefore does not cover `x >= 1, x <= 2`: two readings, 0 and 5, meet
the latter alone. The other way round it does cover.)

Intersection, for announcements: some publication could satisfy both. Here a publication gives an
attribute one value, as the paper's does, so `x = 9` does not intersect `x = 7`; an attribute only one side
mentions is open. Where one side alone asks for values no single one can have, and for attributes inside
lists (`tags[]`), repetition is meant and the attribute is open, too.

Exact for conjunctions (see `implication` and `compatibility` for mixed units); with `or` and `not`
covering never errs towards yes and intersection never towards no. A relaxed predicate, and an item of a
list, is covered by an equal condition only, and is open to intersection.
"""

from __future__ import annotations

from collections.abc import Iterable

from likewise.matching.covering.compatibility import compatible
from likewise.matching.covering.implication import implies
from likewise.model.condition import Conjunction
from likewise.model.predicate import Predicate
from likewise.model.subscription import Condition
from likewise.model.text import fold

Asked = Condition | Conjunction


def covers(a: Asked, b: Asked) -> bool:
    """Whether every event that meets b meets a; never errs towards yes.

    >>> wide, narrow = (Condition((Predicate("x", ">", n),)) for n in (1.0, 2.0))
    >>> covers(wide, narrow), covers(narrow, wide)
    (True, False)
    """
    wide, narrow = _conjunctions(a), _conjunctions(b)
    if any(_relaxed(c) for c in (*wide, *narrow)):
        return sorted(map(repr, wide)) == sorted(map(repr, narrow))  # `x~ = 1` and `x~ = true` are equal in Python
    return all(any(_conjunction_covers(w, n) for w in wide) for n in narrow)


def equivalent(a: Asked, b: Asked) -> bool:
    """Whether each covers the other; never errs towards yes.

    >>> from likewise.model.values import Interval
    >>> between = Predicate("x", "between", Interval(1, 2))
    >>> equivalent(Condition((between,)), Condition((Predicate("X", "between", Interval(1.0, 2.0)),)))
    True
    """
    return covers(a, b) and covers(b, a)


def intersects(a: Asked, b: Asked) -> bool:
    """Whether some publication could satisfy both; never errs towards no.

    >>> intersects(Condition((Predicate("x", "=", 9.0),)), Condition((Predicate("x", "=", 7.0),)))
    False
    >>> intersects(Condition((Predicate("x", "=", 9.0),)), Condition((Predicate("y", "=", 7.0),)))
    True
    """
    others = _conjunctions(b)
    return any(_conjunctions_intersect(one, other) for one in _conjunctions(a) for other in others)


def _conjunctions(asked: Asked) -> tuple[Conjunction, ...]:
    return asked.conjunctions() if isinstance(asked, Condition) else (asked,)


def _relaxed(conjunction: Conjunction) -> bool:
    return any(p.relaxed_parts for p in (*conjunction.positive, *conjunction.negative)) or bool(
        conjunction.some or conjunction.none
    )


def _conjunction_covers(wide: Conjunction, narrow: Conjunction) -> bool:
    """Each demand of `wide` follows from one of `narrow`, each prohibition from a wider prohibition."""
    return all(any(_follows(n, w) for n in narrow.positive) for w in wide.positive) and all(
        any(_follows(w, n) for n in narrow.negative) for w in wide.negative
    )


def _follows(narrow: Predicate, wide: Predicate) -> bool:
    return fold(narrow.attribute) == fold(wide.attribute) and implies(narrow, wide)


def _conjunctions_intersect(a: Conjunction, b: Conjunction) -> bool:
    mine, theirs = _by_attribute(a.positive), _by_attribute(b.positive)
    for predicate in _by_attribute((*a.negative, *b.negative)).items():
        attribute, forbidden = predicate
        asked = (*mine.get(attribute, ()), *theirs.get(attribute, ()))
        if any(implies(p, f) for p in asked for f in forbidden):
            return False
    return all(
        "[]" in attribute
        or compatible((*asked, *theirs[attribute]))
        or not compatible(asked)
        or not compatible(theirs[attribute])
        for attribute, asked in mine.items()
        if attribute in theirs
    )


def _by_attribute(predicates: Iterable[Predicate]) -> dict[str, list[Predicate]]:
    """Exact predicates by folded attribute; relaxed ones constrain nothing here."""
    found: dict[str, list[Predicate]] = {}
    for predicate in predicates:
        if not predicate.relaxed_parts:
            found.setdefault(fold(predicate.attribute), []).append(predicate)
    return found
