"""Relaxed subscriptions that an edge decides by scores: what it decides is what one broker with a space decides."""

from __future__ import annotations

import random
from collections.abc import Iterator

import msgspec
import pytest

import likewise as lw
from likewise.api.edge_frames import LocalSubscriptionSpec, SourceGroupSpec, TermSpec
from likewise.broker.broker import Broker
from likewise.broker.config import Config, MatchingSettings, ServerSettings
from likewise.broker.edge_hub.identities import read_name
from likewise.edge.demand import ActiveDemand, ForwardDecision, LocalEvaluator, Undecided
from likewise.edge.outbox import VocabularyTracker
from likewise.model import Event, Subscription
from likewise.semantics.feedback import term_pair

FULL = Config(server=ServerSettings(port=0), matching=MatchingSettings(profile="full"))
ASKED = (
    "{{air temperature~ > {n} degC}}",
    "{{temperature~ > {n} degC, humidity~ < {m} %}}",
    "{{(warmth~ > {n} or moisture~ > {m})}}",
    "{{temperature~ > {n} degC, not humidity~ > {m}}}",
    "{{device = {text}~}}",
    "{{device~ = {text}~}}",
    "{{appliance~ = {text}~, temperature~ < {n}}}",
    '{{"door open"~ = {truth}}}',
    "{{state~ = open~}}",
    "{{battery voltage~ < {n} V}}",
    "{{temperature~ > {n} degC}} threshold 0.7",
    '{{room = "r{small}", heat~ > {n}}}',
)
TEXTS = ("laptop", "notebook", "heater", "radiator", "fridge", "lamp", "Light", "Laptop")
SEEN = (
    "temperature",
    "temp_celsius",
    "air_temp",
    "relativeHumidity",
    "humidity",
    "device",
    "appliance_name",
    "doorOpen",
    "doorClosed",
    "window_state",
    "BatV",
    "battery",
    "room",
    "note",
)


def subscriptions(chance: random.Random) -> Iterator[Subscription]:
    """Relaxed subscriptions of an edge, by the names that it gives them."""
    for number in range(1, 25):
        text = chance.choice(ASKED).format(
            n=chance.randrange(0, 35),
            m=chance.randrange(20, 80),
            text=chance.choice(TEXTS),
            truth=chance.choice(("true", "false")),
            small=chance.randrange(3),
        )
        yield lw.parse(text, id=f"h{number}@roof")


def event_of(number: int, chance: random.Random) -> Event:
    """An event with some of the names, in one of a few units."""
    payload: dict[str, object] = {}
    for name in chance.sample(SEEN, chance.randrange(1, 6)):
        if name in ("temperature", "air_temp"):
            payload[name] = {"value": chance.randrange(0, 40), "unit": chance.choice(("degC", "degF"))}
        elif name in ("device", "appliance_name", "note"):
            payload[name] = chance.choice(TEXTS)
        elif name in ("doorOpen", "doorClosed"):
            payload[name] = chance.choice((True, False, 0, 1))
        elif name == "window_state":
            payload[name] = chance.choice(("open", "closed", "shut", 1))
        elif name == "room":
            payload[name] = f"r{chance.randrange(3)}"
        else:
            payload[name] = chance.choice((chance.randrange(0, 90), round(chance.uniform(2.5, 4.2), 1)))
    return lw.event(payload, id=f"e{number}", source=f"roof/{number % 2}")


class Standing:
    """An edge's demand beside the hub that makes it, without a line between them."""

    def __init__(self, broker: Broker, held: list[Subscription]) -> None:
        self.broker, self.tenant = broker, broker.tenant("default")
        broker.register(self.tenant, "edge:roof")
        broker.subscribe(self.tenant, "edge:roof", held)
        broker.wait_until_matched()
        self._demands = broker.edges.demands(self.tenant)
        self._subscriptions = {_number(each): each for each in held}
        self.words = VocabularyTracker()
        self.ask()

    def ask(self) -> None:
        """Tell the hub the news, and go by what it asks then."""
        for each in self.words.take_pending():
            self._demands.see("roof", each)
        made = self._demands.of("roof")
        self.demand = ActiveDemand(
            "v", 2**60, tuple(made.filters.values()), tuple(made.groups.values()), lookup=self._subscriptions.get
        )

    def look(self, event: Event) -> ForwardDecision:
        found = self.demand.evaluate(event)
        if found.unjudged:
            self.words.observe(event, self.demand)
        return found

    def one_broker(self, event: Event) -> dict[int, float]:
        """What the hub itself decides."""
        found = self.tenant.stateless.match(1, event, 1)
        return {_number(self.tenant.subscriptions[each.number]): each.score for each in found}


def _number(each: object) -> int:
    name = read_name(each.id)  # type: ignore[attr-defined]
    assert name is not None
    return name.number


@pytest.mark.parametrize("seed", range(4))
def test_what_an_edge_decides_is_what_one_broker_decides(seed: int) -> None:
    """Over generated subscriptions and events, while words are learnt; and after feedback at the hub."""
    chance = random.Random(seed)
    decided = met = left = 0
    with Broker(None, FULL) as broker:
        standing = Standing(broker, list(subscriptions(chance)))
        for number in range(240):
            if number % 20 == 0:
                standing.ask()
            if number == 160:
                feedback = standing.tenant.stateless.interpretation.feedback
                feedback.judge("x", "y", True, [term_pair("attribute", "warmth", "humidity")])
                feedback.judge("x", "y", False, [term_pair("attribute", "air temperature", "temperature")])
                standing.tenant.stateless.forget_relatedness(lambda text: True)
                standing.ask()
            event = event_of(number, chance)
            found, expected = standing.look(event), standing.one_broker(event)
            if found.unjudged:
                assert found.forward, "what was not judged goes up"
                left += 1
                continue
            assert dict(found.matched).keys() == expected.keys(), event
            assert dict(found.matched) == pytest.approx(expected, abs=1e-6), event
            decided += 1
            met += len(expected)
    assert decided > left, "most of it is decided at the edge"
    assert met > 20, "and something is met"


def test_what_scores_cannot_decide_is_asked_of_the_edge() -> None:
    """Lists, a relaxed value after `not`, and other kinds stay the hub's: their filters are demand."""
    with Broker(None, FULL) as broker:
        texts = ("{t > 1, not device = laptop~}", "{temperature~ > 1} for 5 min", "{temperature~ > 3}")
        standing = Standing(broker, [lw.parse(text, id=f"h{n}@roof") for n, text in enumerate(texts)])
        for number in range(2):
            standing.look(lw.event({"t": 2, "device": "x", "temperature": 4}, id=f"e{number}", source="roof/1"))
            standing.ask()
        assert standing.demand.local_ids == {2}
        found = standing.look(lw.event({"t": 0, "device": "x", "temperature": 4}, id="e", source="roof/1"))
        assert found.forward
        assert [number for number, _ in found.matched] == [2]


@pytest.mark.parametrize("text", ["{device = computer~}", "{appliance~ = computer~}"])
def test_a_value_that_was_not_judged_is_decided_above(text: str) -> None:
    """Where a relaxed value looks for it; elsewhere it makes no difference."""
    terms = (TermSpec("device", kind="text"), TermSpec("note", kind="text"))
    group = SourceGroupSpec("g", (), terms=terms, values=(TermSpec("laptop", kind="text"),))
    attributes = ((0.9, 0.0),) if "~ =" in text else ()
    sent = LocalSubscriptionSpec(1, "f", (0.5, 0.4, 0.5), attributes, ((0.8,),))
    deciding = LocalEvaluator(lw.parse(text), sent, group)
    assert deciding.score(lw.event({"device": "laptop", "note": "tower"})) is not None
    assert deciding.score(lw.event({"note": "tower"})) is None
    with pytest.raises(Undecided):
        deciding.score(lw.event({"device": "tower"}))
    with pytest.raises(Undecided):  # scores of other terms than it asks about
        LocalEvaluator(lw.parse(text), msgspec.structs.replace(sent, values=()), group)
