"""Random subscriptions and events from small vocabularies, so that they meet often.

Each generator takes a `Choice`: seeded numbers for bulk comparisons, or hypothesis draws, which shrink.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final, Literal, Protocol, TypeVar

from likewise.errors import InputError
from likewise.model import (
    Alert,
    All,
    Condition,
    Distance,
    Event,
    EventTuple,
    GraphPattern,
    Interest,
    Interval,
    Kind,
    Moment,
    Near,
    Node,
    Not,
    Operator,
    Predicate,
    Quantity,
    Relatedness,
    Scoring,
    Some,
    Statement,
    Statements,
    Subscription,
    Top,
    Triple,
    TriplePattern,
    ValueOf,
    WeightedSum,
)
from likewise.model import Any as Either
from likewise.model.subscription import NearBy, Variant

T = TypeVar("T")


class Choice(Protocol):
    """Where chance comes from."""

    def integer(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included; the lower, the simpler."""
        ...

    def pick(self, options: Sequence[T]) -> T:
        """One of the options; the earlier, the simpler."""
        ...


class SeededChoice:
    """Choices from a seed: the same seed, the same choices.

    >>> SeededChoice(1).integer(0, 9) == SeededChoice(1).integer(0, 9)
    True
    """

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def integer(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + int(self._random.random() * (high - low + 1))

    def pick(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[int(self._random.random() * len(options))]


class DrawnChoice:
    """Choices drawn by hypothesis: pass the `draw` of a composite strategy or of `st.data()`."""

    def __init__(self, draw: Callable[[Any], Any]) -> None:
        self._draw = draw

    def integer(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        from hypothesis import strategies as st

        return int(self._draw(st.integers(low, high)))

    def pick(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[self.integer(0, len(options) - 1)]


ATTRIBUTES = ("a", "b", "c", "Temp", "device", "temp_c", "air_temp_f", "speed_kmh", "x[].name", "x[].value", "x.value",
              "when", "when_ms")  # fmt: skip
SPELLINGS = {"a": "A", "Temp": "  temp ", "device": "DEVICE"}
TEXTS = ("off", "on", "laptop", "computer", "room 112", "Room  112", "a/b", "a/b/c", "a.b", "concatenate", "cat", "27",
         "81.2 °F", "true", "", "2024-05-01", "2024-05-01T12:00:00Z", "2024-05-02T00:00",
         "9007199254740993")  # fmt: skip
UNITS = ("degC", "degF", "km/h", "m/s", "kg", "%", "s", "ms", "B", "kB")
MOMENTS = ("2024-05-01", "2024-05-01T12:00:00Z", "2024-05-02", "2024-05-01T12:00+02:00")
FILTERS = ("a/+", "a/#", "#", "a/b", "+/b/c", "A/b")
THEMES = ((), ("energy",), ("energy", "computers"), ("Computers",))
# No product of a few 64ths has a root that comes within 1e-6 of these, so windows never see a borderline case.
CLEAR_THRESHOLDS = (0.3141, 0.5772, 0.1618)


def number(choice: Choice) -> float:
    """A number that others hit: small whole numbers, a few halves, a few extremes."""
    kind = choice.integer(0, 20)
    if kind < 16:
        return float(choice.integer(-2, 30))
    if kind == 20:
        return choice.integer(-1, 1) * 2**53 + choice.integer(-2, 2)
    return choice.integer(-4, 60) / 2 if kind < 19 else choice.pick((0.0, 1e9, -1e9, 1e-9, 1e308, 1714564800000))


def predicate(choice: Choice, *, relaxed: bool) -> Predicate:
    """A predicate with any operator; its parts relaxed at times if `relaxed`."""
    attribute = choice.pick(ATTRIBUTES)
    attribute = SPELLINGS.get(attribute, attribute) if choice.integer(0, 4) == 4 else attribute
    loose = relaxed and choice.integer(0, 1) == 1
    if loose and choice.integer(0, 1) == 1:  # met by many tuples, so that predicates compete for them
        return Predicate(attribute, "exists", None, True)
    match choice.integer(0, 11):
        case 0 | 1 | 2:
            comparison: Operator = choice.pick((">", "<=", "<", ">="))
            asked = Moment(choice.pick(MOMENTS)) if attribute.startswith("when") else _amount(choice)
            return Predicate(attribute, comparison, asked, loose)
        case 3:
            low = number(choice)
            high = low + choice.integer(0, 20)
            open_ends = high > low and choice.integer(0, 1) == 1
            symbol = choice.pick(("", "", *UNITS))
            return Predicate(attribute, "between", Interval(low, high, open_ends, open_ends, symbol), loose)
        case 4 | 5:
            value_loose = relaxed and choice.integer(0, 1) == 1
            return Predicate(attribute, "=", choice.pick(TEXTS), loose, value_loose)
        case 6:
            return Predicate(attribute, "=", choice.pick((_amount(choice), True, False, _moment(choice))), loose)
        case 7:
            return Predicate(
                attribute, "!=", choice.pick((choice.pick(TEXTS), _amount(choice), True, _moment(choice))), loose
            )
        case 8:
            values = tuple(choice.pick((choice.pick(TEXTS), _amount(choice))) for _ in range(choice.integer(1, 3)))
            return Predicate(attribute, "in", values, loose)
        case 9:
            return Predicate(attribute, "exists", None, loose)
        case 10:
            topical: Operator = choice.pick(("under", "is-a", "matches"))
            if topical == "matches":
                return Predicate(attribute, topical, choice.pick(FILTERS), loose)
            return Predicate(attribute, topical, choice.pick(("a", "a/b", "a.b/")), loose)
        case _:
            textual: Operator = choice.pick(("contains", "starts with", "ends with"))
            return Predicate(attribute, textual, choice.pick(("cat", "o", "room", "112", "room ", " ")), loose)


def _moment(choice: Choice) -> Moment:
    return Moment(choice.pick(MOMENTS))


def _amount(choice: Choice) -> float | Quantity:
    value = number(choice)
    with_unit = choice.integer(0, 3) == 3 and abs(value) < 1e300  # beyond, it has no number in the base
    return Quantity(value, choice.pick(UNITS)) if with_unit else value


def node(choice: Choice, *, relaxed: bool, depth: int = 2) -> Node:
    """A predicate, or predicates under `or`, `and`, `not`."""
    kind = choice.integer(0, 10) if depth else 0
    if kind < 7:
        return predicate(choice, relaxed=relaxed)
    if kind == 10:
        fields = tuple(item_field(choice, relaxed=relaxed) for _ in range(choice.integer(1, 2)))
        return Some("x", fields, relaxed and choice.integer(0, 3) == 3)
    if kind == 7:
        return Not(node(choice, relaxed=relaxed, depth=depth - 1))
    items = tuple(node(choice, relaxed=relaxed, depth=depth - 1) for _ in range(choice.integer(2, 3)))
    return Either(items) if kind == 8 else All(items)


def item_field(choice: Choice, *, relaxed: bool) -> Node:
    """A predicate on a field of a list's item."""
    made = predicate(choice, relaxed=relaxed)
    field = Predicate(
        choice.pick(("name", "value")), made.operator, made.value, made.attribute_relaxed, made.value_relaxed
    )
    return Not(field) if choice.integer(0, 5) == 5 else field


def condition(choice: Choice, *, relaxed: bool) -> Condition:
    """A condition that can exist; of those drawn, ones with an empty interval or clashing units are put aside."""
    for _ in range(20):
        try:
            made = Condition(tuple(node(choice, relaxed=relaxed) for _ in range(choice.integer(1, 4))))
        except InputError:
            continue
        if made.is_relaxed() or not relaxed:
            return made
    plain = Predicate("a", "exists")
    return Condition((Predicate("device", "=", "laptop", True, True) if relaxed else plain,))


USING: Final[tuple[Variant | None, ...]] = (None, None, "jcn", "esa", "sameness", "hybrid")
BEST: Final = (None, None, 1, 3)


def subscription(choice: Choice, kind: Kind, id: str) -> Subscription:
    """A subscription of the kind asked for.

    >>> subscription(SeededChoice(3), "interest", "s").kind
    'interest'
    """
    themes = choice.pick(THEMES)
    match kind:
        case "exact":
            return Subscription(condition(choice, relaxed=False), id, themes)
        case "approximate":
            threshold = choice.pick((None, 0.25, 0.5, 0.75, 0.0, 1.0, *CLEAR_THRESHOLDS))
            return Subscription(condition(choice, relaxed=True), id, themes, threshold=threshold)
        case "top":
            simple = Condition((Predicate("a", "exists", None, choice.integer(0, 2) == 2),))
            body = simple if choice.integer(0, 2) < 2 else condition(choice, relaxed=choice.integer(0, 1) == 1)
            return Subscription(body, id, themes, top(choice), choice.pick(CLEAR_THRESHOLDS))
        case "statements":
            pairs = [(choice.pick(PROPERTIES), choice.pick(RESOURCES)) for _ in range(choice.integer(1, 3))]
            items = tuple(Statement(property, value) for property, value in pairs)
            threshold, using = choice.pick((None, 0.25, *CLEAR_THRESHOLDS)), choice.pick(USING)
            return Subscription(Statements(items), id, threshold=threshold, using=using, best=choice.pick(BEST))
        case "pattern":
            return Subscription(GraphPattern(tuple(_pattern(choice) for _ in range(choice.integer(1, 3)))), id)
        case "near":
            pattern = TriplePattern(
                choice.pick(("?x", "?x", *SUBJECTS)), choice.pick(NEAR_PREDICATES), choice.pick(("?x", "?y", *OBJECTS))
            )
            threshold = choice.pick((None, None, 0.25, *CLEAR_THRESHOLDS))
            by: tuple[NearBy, ...] = ("spelling", "meaning")
            return Subscription(Near(pattern, choice.pick(RADII), choice.pick(by)), id, threshold=threshold)
        case "interest":
            return Subscription(Interest("".join(choice.pick("*01") for _ in range(choice.pick(VECTOR_LENGTHS)))), id)
        case "alert":
            return alert(choice, id)


def alert(choice: Choice, id: str) -> Subscription:
    """An alert on a few attributes and keys, with spans of a few microseconds: runs, silences and ties are frequent."""
    relaxed = choice.integer(0, 5) == 5
    threshold = choice.pick(CLEAR_THRESHOLDS)
    confidence = choice.pick((None, None, 0.7)) if relaxed else None
    for _ in range(20):
        body = condition(choice, relaxed=relaxed) if choice.integer(0, 4) == 4 else _alarming(choice, relaxed=relaxed)
        asked = _alert(choice)
        try:
            return Subscription(body, id, (), None, threshold, None, confidence, alert=asked)
        except InputError:  # no event could fail it
            continue
    return Subscription(Condition((Predicate("a", ">", 4.0),)), id, alert=Alert(held_for=3))


def _alarming(choice: Choice, *, relaxed: bool) -> Condition:
    first = Predicate("a", choice.pick((">", "<=")), 4.0, relaxed)
    kinds: tuple[tuple[Node, ...], ...] = ((), (), (Not(Predicate("b", "=", 1.0)),), (Predicate("b", "exists"),))
    rest = choice.pick(kinds)
    return Condition((first, *rest))


def _alert(choice: Choice) -> Alert:
    def span(odds: int) -> int | None:
        return choice.integer(1, 9) if choice.integer(1, odds) == 1 else None

    per = choice.pick(((), (), ("room",), ("room", "b")))
    if choice.integer(0, 3) == 0:
        return Alert(per, absent_for=choice.integer(1, 12), at_most_every=span(4), digest_every=span(4))
    until: tuple[Literal["false"] | tuple[Node, ...] | None, ...] = (
        None, None, "false", "false", (Predicate("b", ">", 4.0),), (Predicate("a", "<", 2.0),),
    )  # fmt: skip
    held, once = span(2), choice.pick(until)
    often, digest = span(3), span(3)
    nothing = (held, once, often, digest) == (None,) * 4
    return Alert(per, 3 if nothing else held, once, often, None, digest)


def top(choice: Choice) -> Top:
    """A window over a few seconds or events, ranked by anything."""
    scorings: tuple[Scoring, ...] = (
        ValueOf("a"), Distance((("a", 3.0), ("b", 4.0))), WeightedSum(((2.0, "a"), (-1.0, "c"))), Relatedness(),
        ValueOf("Temp", "degF"), Distance((("a", 3.0), ("Temp", 20.0)), ("", "degC")),
        WeightedSum(((2.0, "a"), (1.0, "Temp")), ("kg", "degC")),
    )  # fmt: skip
    by = choice.pick(scorings)
    k, highest = choice.integer(1, 3), choice.integer(0, 1) == 1
    match choice.integer(0, 4):
        case 0:
            return Top(k, by, highest=highest)
        case 1 | 2:
            return Top(k, by, events=choice.integer(1, 6), highest=highest)
        case _:
            return Top(k, by, duration=choice.integer(1, 12), highest=highest)


PROPERTIES = ("type", "team", "homeTeam", "place", "date")
RESOURCES = ("Football Match", "football matches", "Spain", "race", "2012")
VECTOR_LENGTHS = (5, 5, 5, 4, 1)
RADII = (0.0, 0.41, 0.87, 1.13, 1.4)
SUBJECTS = ("<http://e.org/a>", "<http://e.org/b>", "_:n")
PREDICATES = ("<http://e.org/type>", "<http://e.org/homeTeams>", "<http://e.org/place_name>")
NEAR_PREDICATES = (*PREDICATES, "<http://e.org/home_team>", "<http://e.org/places>")
OBJECTS = (*SUBJECTS, '"Spain"@en', '"Spanien"@de', '"2012"^^<http://www.w3.org/2001/XMLSchema#integer>',
           "<http://e.org/Football_Match>")  # fmt: skip


def _pattern(choice: Choice) -> TriplePattern:
    variables = ("?x", "?y")
    return TriplePattern(
        choice.pick(variables) if choice.integer(0, 2) < 2 else choice.pick(SUBJECTS),
        choice.pick(PREDICATES) if choice.integer(0, 3) < 3 else choice.pick(("?p", "?x")),
        choice.pick(variables) if choice.integer(0, 2) < 2 else choice.pick(OBJECTS),
    )


def event(choice: Choice, kinds: frozenset[Kind], id: str | None, at: int, lateness: int = 0) -> Event:
    """An event that subscriptions of these kinds may meet; at times with a time of its own, within the lateness.

    >>> event(SeededChoice(1), frozenset({"interest"}), "e", 0).vector != ""
    True
    """
    tuples: tuple[EventTuple, ...] = ()
    graph: tuple[Triple, ...] = ()
    vector = ""
    if not kinds.isdisjoint({"exact", "approximate", "top"}) or kinds == {"statements"}:
        tuples = tuple(_tuple(choice) for _ in range(choice.integer(1, 6)))
        if "top" in kinds:  # what windows rank by, in most events
            scored = ("a", "b", "c")[: choice.pick((3, 3, 1, 0))]
            tuples = (*(EventTuple(name, choice.integer(0, 9)) for name in scored), *tuples)
    if not kinds.isdisjoint({"pattern", "statements", "near"}) and choice.integer(0, 7) < 7:
        graph = tuple(
            Triple(choice.pick(SUBJECTS), choice.pick(PREDICATES), choice.pick(OBJECTS))
            for _ in range(choice.integer(1, 6))
        )
    if "interest" in kinds or not (tuples or graph):
        vector = "".join(choice.pick("01") for _ in range(choice.pick(VECTOR_LENGTHS)))
    source = None
    if "alert" in kinds:
        near = [EventTuple(name, choice.integer(0, 9)) for name in ("a", "b") if choice.integer(0, 3) > 0]
        room = [EventTuple("room", choice.pick(("hall", "Hall", "attic")))] if choice.integer(0, 5) > 0 else []
        tuples = (*near, *room, *(tuples or ((EventTuple("battery", 3),) if not near else ())))
        source = choice.pick(("s1", "s1", "s2", None))
    time = at - choice.integer(0, lateness + 1) if choice.integer(0, 3) == 3 else None
    return Event(tuples, choice.pick(THEMES), id, source=source, time=time, graph=graph, vector=vector)


def _tuple(choice: Choice) -> EventTuple:
    attribute = choice.pick(ATTRIBUTES)
    attribute = SPELLINGS.get(attribute, attribute) if choice.integer(0, 4) == 4 else attribute
    group = choice.integer(1, 2) if attribute.startswith("x[]") else 0
    match choice.integer(0, 7):
        case 0 | 1 | 2:
            return EventTuple(attribute, choice.integer(-2, 30), group=group)
        case 3:
            return EventTuple(attribute, number(choice), group=group)
        case 4:
            return EventTuple(attribute, number(choice), choice.pick((*UNITS, "parsecs", "blorps", "FAH")), group)
        case 5:
            return EventTuple(attribute, choice.integer(0, 1) == 1, group=group)
        case _:
            return EventTuple(attribute, choice.pick(TEXTS), group=group)
