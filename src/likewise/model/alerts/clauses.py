"""Clauses beside a condition: when an alert notifies, and what a delivery carries (docs/language.md).

`for`, `once until`, `at most every`, `absent for` and `digest every` make a subscription an alert, which has a state
for each key; `select` names what a delivery carries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, Literal, get_args

import msgspec

from likewise.defaults import MAX_COLUMNS, MAX_KEY_ATTRIBUTES, MAX_TERM_LENGTH
from likewise.errors import InvalidSubscription, LimitExceeded
from likewise.model.condition import All, Any, Conjunction, Node, Some
from likewise.model.predicate import Predicate
from likewise.model.text import fold
from likewise.units import unit

Fact = Literal["source", "id", "time", "score", "probability", "subscription", "payload"]
FACTS: Final[tuple[str, ...]] = get_args(Fact)
CLAUSES: Final = {  # what makes an alert, in the order in which they act and print, with the words that begin each
    "held_for": "for",
    "once_until": "once until",
    "at_most_every": "at most every",
    "absent_for": "absent for",
    "digest_every": "digest every",
}


def _refused(clause: str, problem: str) -> InvalidSubscription:
    return InvalidSubscription(problem, clause=clause)


class SelectColumn(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """One column of `select`: a reading by its attribute, with an optional unit, or a `fact` about the match.

    >>> SelectColumn("temperature", relaxed=True, unit="degC").label, SelectColumn(fact="source", name="device").label
    ('temperature', 'device')
    """

    attribute: str = ""
    relaxed: bool = False
    unit: str = ""
    name: str = ""
    fact: Fact | None = None

    def __post_init__(self) -> None:
        if self.fact is None and not self.attribute.strip():
            raise _refused("select", "a selected attribute is empty; give it some text")
        if self.fact is not None and (self.attribute or self.relaxed or self.unit):
            raise _refused("select", f"`@{self.fact}` is no attribute: it takes no `~` and no unit")
        if max(len(self.attribute), len(self.name)) > MAX_TERM_LENGTH:
            raise LimitExceeded("characters of a selected name", allowed=MAX_TERM_LENGTH)
        if self.unit and unit(self.unit).symbol != self.unit:
            raise _refused("select", f"`select` names the unit {self.unit!r}; write {unit(self.unit).symbol}")

    @property
    def label(self) -> str:
        """Name of the value in a delivery."""
        return self.name or self.attribute or str(self.fact)


class Alert(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """Notification policy of a subscription: spans in µs; `once_until` is `false`, or the items of a condition that
    re-arms it.

    `per` names the attributes whose values tell keys apart; without it the key is the source. After `stale`, an active
    source that is silent keeps no other source of its key from raising an alarm.

    >>> Alert(held_for=300_000_000, once_until="false").spans()
    (300000000,)
    """

    per: tuple[str, ...] = ()
    held_for: int | None = None
    once_until: Literal["false"] | tuple[Node, ...] | None = None
    at_most_every: int | None = None
    absent_for: int | None = None
    digest_every: int | None = None
    stale: int | None = None

    def __post_init__(self) -> None:
        if self.stale is not None:
            if self.stale <= 0:
                raise _refused("stale", "the span of `stale` must be longer than nothing: stale 24 h")
            if not self.per or (self.held_for is None and self.once_until is None):
                raise _refused(
                    "stale",
                    "`stale` says when a silent source of a key no longer blocks the others, so it goes with `per` and "
                    "`for` or `once until`; drop it, or add them",
                )
        if all(getattr(self, clause) is None for clause in CLAUSES):
            words = ", ".join(f"`{word}`" for word in CLAUSES.values())
            raise _refused("per", f"`per` tells the keys of an alert apart, and this is none; add one of {words}")
        for clause, words in CLAUSES.items():
            span = getattr(self, clause)
            if isinstance(span, int) and span <= 0:
                raise _refused(clause, f"the span of `{words}` must be longer than nothing: {words} 5 min")
        if self.absent_for is not None:
            for other in ("held_for", "once_until"):
                if getattr(self, other) is not None:
                    raise _refused(
                        "absent_for",
                        f"`absent for` cannot stand beside `{CLAUSES[other]}`: it speaks of silence, "
                        "the other of what comes; make two subscriptions of it",
                    )
        if len(self.per) > MAX_KEY_ATTRIBUTES:
            raise LimitExceeded("attributes of `per`", allowed=MAX_KEY_ATTRIBUTES, found=len(self.per))
        names = [fold(name) for name in self.per]
        for name in self.per:
            if not name.strip():
                raise _refused("per", "`per` names an empty attribute; give it some text")
            if len(name) > MAX_TERM_LENGTH:
                raise LimitExceeded("characters of an attribute", allowed=MAX_TERM_LENGTH, found=len(name))
            if names.count(fold(name)) > 1:
                raise _refused("per", f"`per` names {name[:40]!r} twice; name it once")

    def spans(self) -> tuple[int, ...]:
        """Return all spans that are set."""
        spans = (self.held_for, self.at_most_every, self.absent_for, self.digest_every)
        return tuple(span for span in spans if span is not None)

    def with_stale(self, default: int) -> Alert:
        """Return the alert with its effective `stale`: its own, else the default; none where a key has one source."""
        if self.stale is not None or not self.per or (self.held_for is None and self.once_until is None):
            return self
        return msgspec.structs.replace(self, stale=default)

    @property
    def follows_failing(self) -> bool:
        """Return whether events that fail the condition matter."""
        return self.held_for is not None or self.once_until == "false" or self.absent_for is not None


def check_columns(columns: tuple[SelectColumn, ...], *, condition: bool) -> None:
    """Refuse columns that share a name, are too many, or name attributes of a body without any."""
    if len(columns) > MAX_COLUMNS:
        raise LimitExceeded("columns of `select`", allowed=MAX_COLUMNS, found=len(columns))
    labels: set[str] = set()
    for column in columns:
        if column.label in labels:
            raise _refused("select", f"two columns of `select` are called {column.label[:40]!r}; name one with `as`")
        labels.add(column.label)
        if column.fact is None and not condition:
            raise _refused(
                "select", "`select` names attributes of a condition in braces only; elsewhere name facts: @id"
            )


def check_alert(alert: Alert, conjunctions: Iterable[Conjunction] | None, *, ranked: bool) -> None:
    """Refuse an alert that does not fit its body: no condition (None), a window, or a condition
    that no event can fail.
    """
    first = next(name for name in CLAUSES if getattr(alert, name) is not None)
    if ranked:
        raise _refused(
            first, f"`top` cannot stand beside `{CLAUSES[first]}`: a window says by itself who is new; drop one of them"
        )
    if conjunctions is None:
        raise _refused(
            first, f"`{CLAUSES[first]}` goes with a condition in braces only: {{t > 25}} {CLAUSES[first]} ..."
        )
    if not alert.follows_failing:
        return
    all_of_them = tuple(conjunctions)
    clause = next(name for name in ("held_for", "once_until", "absent_for") if getattr(alert, name) is not None)
    words = "once until false" if clause == "once_until" else CLAUSES[clause]
    if not all(any(_about(each)) for each in all_of_them):
        raise _refused(
            clause,
            f"`{words}` needs to know which events are about it, and a condition of `not` alone is about every one; "
            "add what there must be, as in {door exists, not door = closed}",
        )
    if alert.absent_for is None and not any(_can_fail(each) for each in all_of_them):
        raise _refused(
            clause,
            f"no event can fail a condition of `exists` alone, so `{words}` would never end; compare with a value, "
            "or ask for silence with `absent for`",
        )


def _can_fail(conjunction: Conjunction) -> bool:
    inside = [*conjunction.positive, *(p for item in conjunction.some for p in item.conjunction.positive)]
    negative = conjunction.negative or conjunction.none or any(i.conjunction.negative for i in conjunction.some)
    return bool(negative) or any(predicate.operator != "exists" for predicate in inside)


def about(conjunctions: Iterable[Conjunction]) -> tuple[Node, ...]:
    """Return the condition of all events that concern an alert: comparisons become `exists`, `not` is dropped.

    >>> door = Conjunction((Predicate("door", "=", "open"),), (Predicate("mode", "=", "away"),))
    >>> [(p.attribute, p.operator) for p in about([door])]
    [('door', 'exists')]
    """
    alternatives = tuple(dict.fromkeys(tuple(_about(each)) for each in conjunctions))
    if len(alternatives) == 1:
        return alternatives[0]
    return (Any(tuple(All(items) if len(items) > 1 else items[0] for items in alternatives)),)


def _about(conjunction: Conjunction) -> Iterator[Node]:
    yield from _existing(conjunction.positive)
    for item in conjunction.some:
        inside = tuple(_existing(item.conjunction.positive))
        if inside:
            yield Some(item.attribute, inside, item.attribute_relaxed)


def _existing(predicates: Iterable[Predicate]) -> Iterator[Predicate]:
    """Yield one `exists` per attribute text: `{t~ > 1, t~ < 5}` is about one reading, not two."""
    attributes: set[tuple[str, bool]] = set()
    for predicate in predicates:
        key = (fold(predicate.attribute), predicate.attribute_relaxed)
        if key not in attributes:
            attributes.add(key)
            yield Predicate(predicate.attribute, "exists", None, predicate.attribute_relaxed)
