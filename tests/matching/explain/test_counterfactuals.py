"""Every `It would match if ...` is true: the change is made as a reader would make it, and matched."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable

import msgspec
import pytest

import likewise as lw
from likewise.language import parse
from likewise.matching.oracle.engine import OracleEngine
from likewise.model import Event, EventTuple, Kind, Subscription, Triple, event
from likewise.model.subscription import GraphPattern, NearbyTriple
from likewise.testing.generators import SeededChoice
from likewise.testing.generators import alert as random_alert
from likewise.testing.generators import event as random_event
from likewise.testing.generators import subscription as random_subscription
from likewise.testing.oracle import ESA, JCN, MEASURE, vectors

PROMISES = ("It would match", "Its condition would hold")
AT_LEAST = {"exact": 60, "approximate": 60, "interest": 20, "pattern": 20, "near": 10, "statements": 10, "top": 15}
QUOTED = r"`([^`]*)`"
EDIT = re.compile(
    rf"(?P<value>{QUOTED} said {QUOTED} instead of {QUOTED})"
    rf"|(?P<both>the event said {QUOTED} instead of {QUOTED})"
    rf"|(?P<new>the event also said {QUOTED}(?: and {QUOTED})?)"
    rf"|(?P<name>{QUOTED} were called {QUOTED})"
    rf"|(?P<gone>the event did not say {QUOTED})"
    rf"|(?P<vector>the event's vector were \[([01, ]*)\] instead of \[[01, ]*\])"
    rf"|(?P<triples>the event also had the triples? {QUOTED}(?: and {QUOTED})?)"
)


def typed(text: str) -> str | int | float | bool:
    """What an event says if this is typed."""
    try:
        return json.loads(text)  # type: ignore[no-any-return]
    except ValueError:
        return text


def shown(item: EventTuple) -> tuple[str, str, str]:
    return item.attribute, str(item.value).casefold(), item.unit


def reading(text: str) -> EventTuple:
    attribute, _, value = text.partition(": ")
    return EventTuple(attribute, typed(value))


def place_of(told: Event, text: str) -> int:
    """Where the event says `attribute: value`."""
    for place, item in enumerate(told.tuples):
        written = {str(item.value), json.dumps(item.value)}
        if isinstance(item.value, float):
            written.add(f"{item.value:.0f}")
        if any(f"{item.attribute}: {value} {item.unit}".rstrip() == text for value in written):
            return place
    raise AssertionError(f"the event does not say {text}")


def mended(told: Event, subscription: Subscription, sentence: str) -> tuple[Event, Subscription]:
    """The event and the subscription after a sentence was obeyed, word by word."""
    rest, tuples, removed = sentence, list(told.tuples), set()
    for edit in EDIT.finditer(sentence):
        parts = [part for part in edit.groups() if part is not None][1:]
        rest = rest.replace(edit.group(), "", 1)
        match edit.lastgroup:
            case "value":
                place = place_of(told, f"{parts[0]}: {parts[2]}")
                tuples[place] = EventTuple(parts[0], typed(parts[1]), group=tuples[place].group)
            case "both":
                place = place_of(told, parts[1])
                tuples[place] = msgspec.structs.replace(reading(parts[0]), group=tuples[place].group)
            case "new":
                tuples += [reading(part) for part in parts]
            case "name":
                place = next(place for place, item in enumerate(told.tuples) if item.attribute == parts[0])
                tuples[place] = msgspec.structs.replace(tuples[place], attribute=parts[1])
            case "gone":
                removed.add(place_of(told, parts[0]))
            case "vector":
                told = msgspec.structs.replace(told, vector=parts[0].replace(", ", ""))
            case "triples":
                patterns = [parse(part).body for part in parts]
                assert all(isinstance(each, GraphPattern) for each in patterns)
                new = [Triple(*msgspec.structs.astuple(each.patterns[0])) for each in patterns]  # type: ignore[union-attr]
                told = msgspec.structs.replace(told, graph=(*told.graph, *new))
    for key, words in (("threshold", "threshold of at most"), ("radius", "radius of at least")):
        if found := re.search(rf"(?:with| and) a {words} ([\d.]+\d)", rest):
            rest = rest.replace(found.group(), "", 1)
            if key == "radius":
                assert isinstance(subscription.body, NearbyTriple)
                body = msgspec.structs.replace(subscription.body, radius=float(found.group(1)))
                subscription = msgspec.structs.replace(subscription, body=body)
            else:
                subscription = msgspec.structs.replace(subscription, threshold=float(found.group(1)))
    assert re.fullmatch(rf"({'|'.join(PROMISES)})( if)?[ ,]*( and )?[ ,]*(: .*)?\.?(:.*)?", rest), rest
    left = tuple(item for place, item in enumerate(tuples) if place not in removed)
    if sentence.startswith(PROMISES[1]):
        subscription = msgspec.structs.replace(subscription, top=None, alert=None)
    return msgspec.structs.replace(told, tuples=left), subscription


class OracleSeam:
    """The oracle, asked as a `Matcher` is."""

    def __init__(self) -> None:
        self._engine, self._texts = OracleEngine(MEASURE, jcn=JCN, esa=ESA, meaning=vectors), 0

    def add(self, subscription: Subscription) -> None:
        self._engine.add(0, subscription, 0)

    def match(self, told: Event, at: int = 0) -> object:
        return self._engine.match(told, at)

    def explain(self, told: Event, id: str, at: int = 0) -> lw.Explanation:
        return self._engine.explain(told, 0, at)


def count_untrue(make: Callable[[], object], kind: str, enough: int, seed: int) -> tuple[Counter[str], list[str]]:
    """How many sentences were promises and how many not, and those that are untrue."""
    counts: Counter[str] = Counter()
    untrue: list[str] = []
    for number in range(40 * enough):
        choice = SeededChoice(seed + number)
        asked = random_alert(choice, "s") if kind == "alert" else random_subscription(choice, kind, "s")  # type: ignore[arg-type]
        told = random_event(choice, frozenset({"exact" if kind == "alert" else kind}), "e", 0)  # type: ignore[arg-type]
        matcher = make()
        matcher.add(asked)  # type: ignore[attr-defined]
        change = matcher.explain(told, "s", at=0).change  # type: ignore[attr-defined]
        if not change.startswith(PROMISES):
            counts["no promise" if change else "match"] += 1
            continue
        counts["promise"] += 1
        again, wider = mended(told, asked, change)
        another = make()
        another.add(wider)  # type: ignore[attr-defined]
        if not another.match(again, at=0):  # type: ignore[attr-defined]
            untrue.append(f"{asked} | {told} | {change}")
        if counts["promise"] == enough:
            break
    return counts, untrue


@pytest.mark.parametrize("kind", [*AT_LEAST, "alert"])
def test_no_promise_of_an_explanation_is_untrue(kind: Kind) -> None:
    """At least 200 over all kinds, with the reference."""
    enough = AT_LEAST.get(kind, 20)
    counts, untrue = count_untrue(OracleSeam, kind, enough, 1_000_000)
    assert not untrue, untrue[:3]
    assert counts["promise"] == enough, counts


@pytest.mark.parametrize("kind", ["exact", "approximate", "interest", "pattern", "top", "alert"])
def test_no_promise_of_a_matcher_is_untrue(kind: Kind) -> None:
    """Of the engines that run, with the space of meaning that is shipped."""
    counts, untrue = count_untrue(lambda: lw.Matcher(clock=lambda: 0), kind, 25, 2_000_000)
    assert not untrue, untrue[:3]
    assert counts["promise"] == 25, counts


PEOPLE = (
    ("{traffic} {vehicle speed~ < 15 km/h} threshold 0.8", {"avg_vehicle_speed_mph": 30.7}),
    ("{temperature~ > 25 degC, city = Galway}", {"air_temp_f": 68, "city": "Galway"}),
    ("{temperature~ > 25 degC, city = Galway}", {"air_temp_f": 68, "city": "Dublin"}),
    ("{temperature~ > 25 degC, city = Galway}", {"battery_level": 81}),
    ("{t > 25 degC}", {"t": {"value": 30, "unit": "kg"}}),
    ("{condition~ = broken~}", {"condition": "working"}),
    ("{condition~ = broken~}", {"luminaire": {"state": "broken"}}),
    ("{not status = off, t exists}", {"status": "OFF", "t": 1}),
    ("{wind speed~ > 20 km/h}", {"car": {"speed": 30}}),
    ('{"active power"~ > 2 kW}', {"apower": 1250.5}),
    ("{10 <= noise~ < 15}", {"soundLevel_dB": 70}),
    ("{humidity~ between 20 % and 40 %}", {"Hum_SHT": "61 %"}),
    ("{door~ = open~, battery~ < 20 %}", {"door": "shut", "battery_level": 90}),
    ("{name starts with gal}", {"name": "Dublin"}),
    ("{room in (r1, r2)}", {"room": "r3"}),
    ('{topic matches "a/+/b/#"}', {"topic": "a/b"}),
    ("{time < 2024-05-01}", {"time": "2024-06-01T10:00:00Z"}),
    ("{t~ > 25} confidence 0.99", {"temp": 26}),
)


@pytest.mark.parametrize(("text", "obj"), PEOPLE)
def test_what_people_read_is_true(text: str, obj: dict[str, object]) -> None:
    asked, told = parse(text, id="s"), event(obj, id="e")
    matcher = lw.Matcher()
    matcher.add(asked)
    change = matcher.explain(told, "s").change
    assert change
    if change.startswith(PROMISES):
        again, wider = mended(told, asked, change)
        another = lw.Matcher()
        another.add(wider)
        assert another.match(again), change


@pytest.mark.parametrize(
    ("text", "obj", "value"),
    [
        ("{battery~ < 20 %}", {"battery": 55}, "18"),
        ("{battery~ < 20 %}", {"battery": 0.55}, "0.18"),
        ('{"people count"~ > 5}', {"people_count": 3}, "6"),
        ('{"free parking spaces"~ <= 3}', {"free_spaces": 12}, "2"),
        ("{temperature~ != 20 degC}", {"temp": 20}, "1"),
        ("{temperature~ < 10 degF}", {"temps": [10, 12]}, "-12.8"),
    ],
)
def test_the_value_proposed_is_one_that_the_device_could_send(text: str, obj: dict[str, object], value: str) -> None:
    """Percent stays percent, a count is whole, a temperature is a number, and nothing has sixteen digits."""
    matcher = lw.Matcher()
    matcher.add(parse(text, id="s"))
    assert f"said `{value}` instead" in matcher.explain(event(obj), "s").change


def test_a_promise_is_made_wherever_a_reading_and_a_threshold_can_keep_it() -> None:
    matcher = lw.Matcher()
    promised = 0
    for text, obj in PEOPLE:
        matcher.add(parse(text, id="s"))
        promised += matcher.explain(event(obj), "s").change.startswith(PROMISES)
        matcher.remove("s")
    assert promised >= len(PEOPLE) - 3
