"""Random subscriptions and events from small vocabularies, so that they meet often.

Each generator takes a `Choice`: seeded numbers for bulk comparisons, or hypothesis draws, which shrink. It draws its
words from a `GeneratorVocabulary`: `FIXED` unless another is given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeVar

import msgspec

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
    NearbyTriple,
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
    TimestampValue,
    Top,
    Triple,
    TriplePattern,
    ValueOf,
    WeightedSum,
)
from likewise.model import Any as Either
from likewise.model.subscription import FARTHEST, NearBy, Variant
from likewise.units import LARGEST_WHOLE

T = TypeVar("T")


class Choice(Protocol):
    """A source of random choices."""

    def integer(self, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`, both included; the lower, the simpler."""

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options; the earlier, the simpler."""


class SeededChoice:
    """Choices from a seed: the same seed, the same choices.

    >>> SeededChoice(1).integer(0, 9) == SeededChoice(1).integer(0, 9)
    True
    """

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def integer(self, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`, both included."""
        return low + int(self._random.random() * (high - low + 1))

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options."""
        return options[int(self._random.random() * len(options))]


class DrawnChoice:
    """Choices drawn by hypothesis: pass the `draw` of a composite strategy or of `st.data()`."""

    def __init__(self, draw: Callable[[Any], Any]) -> None:
        self._draw = draw

    def integer(self, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`, both included."""
        from hypothesis import strategies as st

        return int(self._draw(st.integers(low, high)))

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options."""
        return options[self.integer(0, len(options) - 1)]


# No product of a few 64ths has a root that comes within 1e-6 of these, so windows never see a borderline case.
CLEAR_THRESHOLDS = (0.3141, 0.5772, 0.1618)
RADII = (0.0, 0.41, 0.87, 1.13, 1.4)


class GeneratorVocabulary(NamedTuple):
    """The words that generators draw from; the defaults are few, so that subscriptions and events meet often."""

    attributes: tuple[str, ...] = (
        "a",
        "b",
        "c",
        "Temp",
        "device",
        "temp_c",
        "air_temp_f",
        "speed_kmh",
        "x[].name",
        "x[].value",
        "x.value",
        "when",
        "when_ms",
    )
    spellings: tuple[tuple[str, str], ...] = (("a", "A"), ("Temp", "  temp "), ("device", "DEVICE"))
    list_attribute: str = "x"
    fields: tuple[str, ...] = ("name", "value")  # of the items of a list
    ranked: tuple[str, str, str, str] = ("a", "b", "c", "Temp")  # attributes that windows rank by; the last has a unit
    texts: tuple[str, ...] = (
        "off",
        "on",
        "laptop",
        "computer",
        "room 112",
        "Room  112",
        "a/b",
        "a/b/c",
        "a.b",
        "concatenate",
        "cat",
        "27",
        "81.2 °F",
        "true",
        "",
        "2024-05-01",
        "2024-05-01T12:00:00Z",
        "2024-05-02T00:00",
        "9007199254740993",
        "100000000000000000001",
        "-36893488147419103233",
    )
    fragments: tuple[str, ...] = ("cat", "o", "room", "112", "room ", " ")  # of texts
    units: tuple[str, ...] = ("degC", "degF", "km/h", "m/s", "kg", "%", "s", "ms", "B", "kB")
    unknown_units: tuple[str, ...] = ("parsecs", "blorps", "FAH")  # that events state nevertheless
    moments: tuple[str, ...] = ("2024-05-01", "2024-05-01T12:00:00Z", "2024-05-02", "2024-05-01T12:00+02:00")
    topics: tuple[str, ...] = ("a", "a/b", "a.b/")
    filters: tuple[str, ...] = ("a/+", "a/#", "#", "a/b", "+/b/c", "A/b")
    themes: tuple[tuple[str, ...], ...] = ((), ("energy",), ("energy", "computers"), ("Computers",))
    properties: tuple[str, ...] = ("type", "team", "homeTeam", "place", "date")
    resources: tuple[str, ...] = ("Football Match", "football matches", "Spain", "race", "2012")
    subjects: tuple[str, ...] = ("<http://e.org/a>", "<http://e.org/b>", "_:n")
    predicates: tuple[str, ...] = ("<http://e.org/type>", "<http://e.org/homeTeams>", "<http://e.org/place_name>")
    near_predicates: tuple[str, ...] = ("<http://e.org/home_team>", "<http://e.org/places>")
    objects: tuple[str, ...] = (
        '"Spain"@en',
        '"Spanien"@de',
        '"2012"^^<http://www.w3.org/2001/XMLSchema#integer>',
        "<http://e.org/Football_Match>",
    )
    vector_lengths: tuple[int, ...] = (5, 5, 5, 4, 1)
    rooms: tuple[str, ...] = ("hall", "Hall", "attic")  # values of the attribute that alerts are kept apart by
    sources: tuple[str | None, ...] = ("s1", "s1", "s2", None)
    offset: int = 0  # added to most numbers
    variables: int = 2  # how many of three subjects, and of three objects, of a pattern are variables

    def spelled(self, choice: Choice, attribute: str) -> str:
        """Return an attribute, at times in another spelling of the same name."""
        return dict(self.spellings).get(attribute, attribute) if choice.integer(0, 4) == 4 else attribute


FIXED: Final = GeneratorVocabulary()
LONGEST_VECTOR: Final = 200  # properties: four words of 64 bits


def number(choice: Choice, words: GeneratorVocabulary = FIXED) -> float:
    """Return a number that others hit: small whole numbers, a few halves, a few extremes."""
    kind = choice.integer(0, 20)
    if kind < 16:
        return float(choice.integer(-2, 30) + words.offset)
    if kind == 20:
        if choice.integer(0, 1):
            return choice.pick((2.0**63, -(2.0**63), 2**63 - 1, 1e20, -1e20))
        return choice.integer(-1, 1) * 2**53 + choice.integer(-2, 2)
    return choice.integer(-4, 60) / 2 if kind < 19 else choice.pick((0.0, 1e9, -1e9, 1e-9, 1e308, 1714564800000))


def predicate(choice: Choice, words: GeneratorVocabulary = FIXED, *, relaxed: bool) -> Predicate:
    """Return a predicate with any operator; its parts relaxed at times if `relaxed`."""
    attribute = words.spelled(choice, choice.pick(words.attributes))
    loose = relaxed and choice.integer(0, 1) == 1
    if loose and choice.integer(0, 1) == 1:  # met by many tuples, so that predicates compete for them
        return Predicate(attribute, "exists", None, True)
    match choice.integer(0, 11):
        case 0 | 1 | 2:
            comparison: Operator = choice.pick((">", "<=", "<", ">="))
            bound = _moment(choice, words) if attribute.startswith("when") else _amount(choice, words)
            return Predicate(attribute, comparison, bound, loose)
        case 3:
            low = number(choice, words)
            high = low + choice.integer(0, 20)
            if high > LARGEST_WHOLE:  # as a number of 64 bits; a float is not bounded by them
                low = high = float(low)
            open_ends = high > low and choice.integer(0, 1) == 1
            symbol = choice.pick(("", "", *words.units)) if abs(low) < 1e300 else ""  # else the base unit has no number
            return Predicate(attribute, "between", Interval(low, high, open_ends, open_ends, symbol), loose)
        case 4 | 5:
            value_loose = relaxed and choice.integer(0, 1) == 1
            return Predicate(attribute, "=", choice.pick(words.texts), loose, value_loose)
        case 6:
            return Predicate(
                attribute, "=", choice.pick((_amount(choice, words), True, False, _moment(choice, words))), loose
            )
        case 7:
            return Predicate(
                attribute,
                "!=",
                choice.pick((choice.pick(words.texts), _amount(choice, words), True, _moment(choice, words))),
                loose,
            )
        case 8:
            values = tuple(
                choice.pick((choice.pick(words.texts), _amount(choice, words))) for _ in range(choice.integer(1, 3))
            )
            return Predicate(attribute, "in", values, loose)
        case 9:
            return Predicate(attribute, "exists", None, loose)
        case 10:
            topical: Operator = choice.pick(("under", "is-a", "matches"))
            if topical == "matches":
                return Predicate(attribute, topical, choice.pick(words.filters), loose)
            return Predicate(attribute, topical, choice.pick(words.topics), loose)
        case _:
            textual: Operator = choice.pick(("contains", "starts with", "ends with"))
            return Predicate(attribute, textual, choice.pick(words.fragments), loose)


def _moment(choice: Choice, words: GeneratorVocabulary) -> TimestampValue:
    return TimestampValue(choice.pick(words.moments))


def _amount(choice: Choice, words: GeneratorVocabulary) -> float | Quantity:
    value = number(choice, words)
    with_unit = choice.integer(0, 3) == 3 and abs(value) < 1e300  # beyond, it has no number in the base
    return Quantity(value, choice.pick(words.units)) if with_unit else value


def node(choice: Choice, words: GeneratorVocabulary = FIXED, *, relaxed: bool, depth: int = 2) -> Node:
    """Return a predicate, or predicates under `or`, `and`, `not`."""
    kind = choice.integer(0, 10) if depth else 0
    if kind < 7:
        return predicate(choice, words, relaxed=relaxed)
    if kind == 10:
        fields = tuple(item_field(choice, words, relaxed=relaxed) for _ in range(choice.integer(1, 2)))
        return Some(words.list_attribute, fields, relaxed and choice.integer(0, 3) == 3)
    if kind == 7:
        return Not(node(choice, words, relaxed=relaxed, depth=depth - 1))
    items = tuple(node(choice, words, relaxed=relaxed, depth=depth - 1) for _ in range(choice.integer(2, 3)))
    return Either(items) if kind == 8 else All(items)


def item_field(choice: Choice, words: GeneratorVocabulary = FIXED, *, relaxed: bool) -> Node:
    """Return a predicate on a field of a list's item."""
    made = predicate(choice, words, relaxed=relaxed)
    field = Predicate(choice.pick(words.fields), made.operator, made.value, made.attribute_relaxed, made.value_relaxed)
    return Not(field) if choice.integer(0, 5) == 5 else field


def condition(choice: Choice, words: GeneratorVocabulary = FIXED, *, relaxed: bool) -> Condition:
    """Return a valid condition; ones with an empty interval or clashing units are drawn again."""
    for _ in range(20):
        try:
            made = Condition(tuple(node(choice, words, relaxed=relaxed) for _ in range(choice.integer(1, 4))))
        except InputError:
            continue
        if made.is_relaxed() or not relaxed:
            return made
    plain = Predicate("a", "exists")
    return Condition((Predicate("device", "=", "laptop", True, True) if relaxed else plain,))


USING: Final[tuple[Variant | None, ...]] = (None, None, "jcn", "esa", "sameness", "hybrid", "background")
BEST: Final = (None, None, 1, 3)


def subscription(choice: Choice, kind: Kind, id: str, words: GeneratorVocabulary = FIXED) -> Subscription:
    """Return a random subscription of a kind.

    >>> subscription(SeededChoice(3), "interest", "s").kind
    'interest'
    """
    themes = choice.pick(words.themes)
    match kind:
        case "exact":
            return Subscription(condition(choice, words, relaxed=False), id, themes)
        case "approximate":
            threshold = choice.pick((None, 0.25, 0.5, 0.75, 0.0, 1.0, *CLEAR_THRESHOLDS))
            return Subscription(condition(choice, words, relaxed=True), id, themes, threshold=threshold)
        case "top":
            if choice.integer(0, 3) == 0:
                return _ranked(choice, id, words)
            simple = Condition((Predicate(words.ranked[0], "exists", None, choice.integer(0, 2) == 2),))
            body = simple if choice.integer(0, 2) < 2 else condition(choice, words, relaxed=choice.integer(0, 1) == 1)
            return Subscription(body, id, themes, top(choice, words), choice.pick(CLEAR_THRESHOLDS))
        case "statements":
            pairs = [(choice.pick(words.properties), choice.pick(words.resources)) for _ in range(choice.integer(1, 3))]
            items = tuple(Statement(property, value) for property, value in pairs)
            threshold, using = choice.pick((None, 0.25, *CLEAR_THRESHOLDS)), choice.pick(USING)
            return Subscription(Statements(items), id, threshold=threshold, using=using, best=choice.pick(BEST))
        case "pattern":
            return Subscription(GraphPattern(tuple(_pattern(choice, words) for _ in range(choice.integer(1, 3)))), id)
        case "near":
            pattern = TriplePattern(
                choice.pick(("?x", "?x", *words.subjects)),
                choice.pick((*words.predicates, *words.near_predicates)),
                choice.pick(("?x", "?y", *_objects(words))),
            )
            threshold = choice.pick((None, None, 0.25, *CLEAR_THRESHOLDS))
            by: tuple[NearBy, ...] = ("spelling", "meaning")
            return Subscription(NearbyTriple(pattern, choice.pick(RADII), choice.pick(by)), id, threshold=threshold)
        case "interest":
            length = choice.pick(words.vector_lengths)
            signs = "*01" if length < 8 else "*" * (length // 2) + "01"  # so many properties would never all agree
            return Subscription(Interest("".join(choice.pick(signs) for _ in range(length))), id)
        case "alert":
            return alert(choice, id, words)


def _ranked(choice: Choice, id: str, words: GeneratorVocabulary) -> Subscription:
    """Return statements or a near triple of which the k best count."""
    other = subscription(choice, choice.pick(("statements", "near")), id, words)
    k, events = choice.integer(1, 3), choice.integer(1, 6)
    window = choice.pick(({}, {"events": events}, {"duration": choice.integer(1, 12)}))
    body = other.body
    if isinstance(body, NearbyTriple) and choice.integer(0, 1):
        body = NearbyTriple(body.pattern, FARTHEST, body.by)
    best = Top(k, Relatedness(), highest=choice.integer(0, 3) > 0, **window)
    threshold = choice.pick((0.0, *CLEAR_THRESHOLDS))
    return msgspec.structs.replace(other, body=body, top=best, threshold=threshold)


def alert(choice: Choice, id: str, words: GeneratorVocabulary = FIXED) -> Subscription:
    """Return an alert on a few attributes and keys, with spans of a few microseconds: runs, silences and ties are
    frequent.
    """
    relaxed = choice.integer(0, 5) == 5
    threshold = choice.pick(CLEAR_THRESHOLDS)
    confidence = choice.pick((None, None, 0.7)) if relaxed else None
    for _ in range(20):
        body = (
            condition(choice, words, relaxed=relaxed)
            if choice.integer(0, 4) == 4
            else _alarming(choice, relaxed=relaxed)
        )
        clauses = _alert(choice)
        try:
            return Subscription(body, id, (), None, threshold, None, confidence, alert=clauses)
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
    often = choice.integer(1, 40) if choice.integer(0, 1) else None
    if choice.integer(0, 3) == 0:
        return Alert(per, absent_for=choice.integer(1, 12), at_most_every=often, digest_every=span(4))
    until: tuple[Literal["false"] | tuple[Node, ...] | None, ...] = (
        None,
        None,
        "false",
        "false",
        (Predicate("b", ">", 4.0),),
        (Predicate("a", "<", 2.0),),
    )
    held_for, once = span(2), choice.pick(until)
    digest = span(3)
    held_for = 3 if (held_for, once, often, digest) == (None,) * 4 else held_for
    stale = span(2) if per and (held_for is not None or once is not None) else None
    return Alert(per, held_for, once, often, None, digest, stale)


def top(choice: Choice, words: GeneratorVocabulary = FIXED) -> Top:
    """Return a window over a few seconds or events, ranked by anything."""
    a, b, c, warmth = words.ranked
    scorings: tuple[Scoring, ...] = (
        ValueOf(a),
        Distance(((a, 3.0), (b, 4.0))),
        WeightedSum(((2.0, a), (-1.0, c))),
        Relatedness(),
        ValueOf(warmth, "degF"),
        Distance(((a, 3.0), (warmth, 20.0)), ("", "degC")),
        WeightedSum(((2.0, a), (1.0, warmth)), ("kg", "degC")),
    )
    by = choice.pick(scorings)
    k, highest = choice.integer(1, 3), choice.integer(0, 1) == 1
    match choice.integer(0, 4):
        case 0:
            return Top(k, by, highest=highest)
        case 1 | 2:
            return Top(k, by, events=choice.integer(1, 6), highest=highest)
        case _:
            return Top(k, by, duration=choice.integer(1, 12), highest=highest)


def _objects(words: GeneratorVocabulary) -> tuple[str, ...]:
    return (*words.subjects, *words.objects)


def _pattern(choice: Choice, words: GeneratorVocabulary) -> TriplePattern:
    variables = ("?x", "?y")
    return TriplePattern(
        choice.pick(variables) if choice.integer(0, 2) < words.variables else choice.pick(words.subjects),
        choice.pick(words.predicates) if choice.integer(0, 3) < 3 else choice.pick(("?p", "?x")),
        choice.pick(variables) if choice.integer(0, 2) < words.variables else choice.pick(_objects(words)),
    )


def event(
    choice: Choice,
    kinds: frozenset[Kind],
    id: str | None,
    at: int,
    lateness: int = 0,
    words: GeneratorVocabulary = FIXED,
) -> Event:
    """Return an event that subscriptions of these kinds may match; at times with a time of its own, within the
    lateness.

    >>> event(SeededChoice(1), frozenset({"interest"}), "e", 0).vector != ""
    True
    """
    tuples: tuple[EventTuple, ...] = ()
    graph: tuple[Triple, ...] = ()
    vector = ""
    if not kinds.isdisjoint({"exact", "approximate", "top"}) or kinds == {"statements"}:
        tuples = tuple(_tuple(choice, words) for _ in range(choice.integer(1, 6)))
        if "top" in kinds:  # what windows rank by, in most events
            scored = words.ranked[:3][: choice.pick((3, 3, 1, 0))]
            tuples = (*(EventTuple(name, choice.integer(0, 9)) for name in scored), *tuples)
    if not kinds.isdisjoint({"pattern", "statements", "near", "top"}) and choice.integer(0, 7) < 7:
        graph = tuple(
            Triple(choice.pick(words.subjects), choice.pick(words.predicates), choice.pick(_objects(words)))
            for _ in range(choice.integer(1, 6))
        )
    if "interest" in kinds or not (tuples or graph):
        vector = "".join(choice.pick("01") for _ in range(choice.pick(words.vector_lengths)))
    source = None
    if "alert" in kinds:
        near = [EventTuple(name, choice.integer(0, 9)) for name in ("a", "b") if choice.integer(0, 3) > 0]
        room = [EventTuple("room", choice.pick(words.rooms))] if choice.integer(0, 5) > 0 else []
        tuples = (*near, *room, *(tuples or ((EventTuple("battery", 3),) if not near else ())))
        source = choice.pick(words.sources)
    time = at - choice.integer(0, lateness + 1) if choice.integer(0, 3) == 3 else None
    return Event(tuples, choice.pick(words.themes), id, source=source, time=time, graph=graph, vector=vector)


def _tuple(choice: Choice, words: GeneratorVocabulary) -> EventTuple:
    attribute = words.spelled(choice, choice.pick(words.attributes))
    group = choice.integer(1, 2) if "[]" in attribute else 0
    match choice.integer(0, 7):
        case 0 | 1 | 2:
            return EventTuple(attribute, choice.integer(-2, 30) + words.offset, group=group)
        case 3:
            return EventTuple(attribute, number(choice, words), group=group)
        case 4:
            units = (*words.units, *words.unknown_units)
            return EventTuple(attribute, number(choice, words), choice.pick(units), group)
        case 5:
            return EventTuple(attribute, choice.integer(0, 1) == 1, group=group)
        case _:
            return EventTuple(attribute, choice.pick(words.texts), group=group)
