"""Top-k windows over readings in mixed units, against an oracle of its own that computes in exact fractions."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import groupby
from random import Random
from typing import Literal, NamedTuple

import pytest

import likewise as lw
from likewise.formats.arrow.event_batch import EventBatch
from likewise.model import Event, EventTuple

# Symbol: (what it measures, factor, offset), so that base = number * factor + offset.
UNITS = {
    "degC": ("temperature", Fraction(1), Fraction(27315, 100)),
    "degF": ("temperature", Fraction(5, 9), Fraction(45967, 100) * Fraction(5, 9)),
    "K": ("temperature", Fraction(1), Fraction(0)),
    "m": ("length", Fraction(1), Fraction(0)),
    "cm": ("length", Fraction(1, 100), Fraction(0)),
    "ft": ("length", Fraction(3048, 10000), Fraction(0)),
    "kg": ("mass", Fraction(1), Fraction(0)),
}
By = Literal["value", "sum", "distance"]
SAME = {"t": ("degC", "degF", "K"), "h": ("m", "cm", "ft")}


class Said(NamedTuple):
    """A reading as it is written: its digits, and its unit ('' if none, '?' for one in no table)."""

    digits: str
    unit: str

    def brought_to(self, symbol: str) -> Fraction | None:
        """The number in a unit; as it is written if none is asked for or stated; None if it does not fit."""
        number = Fraction(self.digits)
        if not symbol or not self.unit:
            return number
        if self.unit == "?" or UNITS[self.unit][0] != UNITS[symbol][0]:
            return None
        _, factor, offset = UNITS[self.unit]
        _, asked, shift = UNITS[symbol]
        return (number * factor + offset - shift) / asked


class Asked(NamedTuple):
    """A top-k subscription: what it asks first, and what it ranks by, as (weight or centre, attribute, unit)."""

    id: str
    least: tuple[str, str, str] | None  # attribute > digits unit
    k: int
    duration: int | None
    events: int | None
    by: By
    terms: tuple[tuple[int, str, str], ...]
    highest: bool

    def text(self) -> str:
        condition = f"{self.least[0]} > {self.least[1]} {self.least[2]}".strip() if self.least else "t exists"
        window = (
            f" within {self.duration} us" if self.duration else f" within {self.events} events" if self.events else ""
        )
        named = [f"{attribute} in {unit}" if unit else attribute for _, attribute, unit in self.terms]
        if self.by == "value":
            inside = named[0]
        elif self.by == "sum":
            weighed = zip((weight for weight, _, _ in self.terms), named, strict=True)
            inside = "".join(f" {'-' if weight < 0 else '+'} {abs(weight)} * {name}" for weight, name in weighed)
            inside = inside.removeprefix(" + ").removeprefix(" ")
        else:
            inside = ", ".join(f"{attribute} {centre} {unit}".strip() for centre, attribute, unit in self.terms)
        order = "highest" if self.highest else "lowest"
        return f"{{{condition}}} top {self.k}{window} by {self.by}({inside}) {order}"

    def passes(self, readings: dict[str, Said]) -> bool:
        if self.least is None:
            return "t" in readings
        attribute, digits, unit = self.least
        if attribute not in readings:
            return False
        found = readings[attribute].brought_to(unit)
        return found is not None and found > Fraction(digits)

    def rank(self, readings: dict[str, Said]) -> Fraction | None:
        """What it ranks by; of a distance its square, which orders the same."""
        total = Fraction(0)
        for weight, attribute, unit in self.terms:
            number = readings[attribute].brought_to(unit) if attribute in readings else None
            if number is None:
                return None
            total += {"value": number, "sum": weight * number, "distance": (number - weight) ** 2}[self.by]
        return total


class Place(NamedTuple):
    arrived: int
    time: int
    id: str
    rank: Fraction | None


class Oracle:
    """One window as a list that is sorted anew at every step."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.window: list[Place] = []
        self.gone: set[str] = set()
        self.told: set[str] = set()

    def _best(self, now: int) -> list[str]:
        """Who is among the k best for the first time."""
        if self.asked.duration is not None:
            self.window = [p for p in self.window if now - p.time < self.asked.duration]
        ranked = sorted(
            (
                (-p.rank if self.asked.highest else p.rank, -p.arrived, p.id)
                for p in self.window
                if p.rank is not None and p.id not in self.gone
            ),
        )
        fresh = [id for _, _, id in ranked[: self.asked.k] if id not in self.told]
        self.told.update(fresh)
        return fresh

    def advance(self, now: int) -> list[str]:
        ends = sorted({p.time + self.asked.duration for p in self.window}) if self.asked.duration is not None else []
        return [id for end in ends if end <= now for id in self._best(end)]

    def match(self, number: int, id: str, readings: dict[str, Said], now: int) -> list[str]:
        found = self.advance(now)
        if self.asked.passes(readings):
            self.window.append(Place(number, now, id, self.asked.rank(readings)))
            if self.asked.events is not None:
                self.window = self.window[-self.asked.events :]
        return found + self._best(now)

    def withdraw(self, id: str, now: int) -> list[str]:
        found = self.advance(now)
        self.gone.add(id)
        return found + self._best(now)


def draw_asked(chance: Random, number: int) -> Asked:
    by: By = chance.choice(("value", "sum", "distance"))
    attributes = ["t"] if by == "value" else chance.choice((["t"], ["h"], ["t", "h"]))
    terms = tuple(
        (chance.randint(-3, 3) * 5 or 1, attribute, chance.choice((*SAME[attribute], SAME[attribute][0])))
        for attribute in attributes
    )
    if chance.random() < 0.15:  # numbers as they are written
        terms = tuple((weight, attribute, "") for weight, attribute, _ in terms)
    sizes = ((chance.randint(3, 25), None), (None, chance.choice((1, 4, 15))), (None, None))
    duration, events = chance.choice(sizes)
    least = ("t", str(chance.randrange(-20, 20)), "degC") if chance.random() < 0.4 else None
    return Asked(f"s{number}", least, chance.choice((1, 1, 2, 4)), duration, events, by, terms, chance.random() < 0.4)


def draw_said(chance: Random, attribute: str) -> Said:
    """One of few values, in any unit, so that readings in different units are often exactly alike."""
    if attribute == "t":
        celsius = chance.randrange(-6, 8) * 5
        unit = chance.choice(("degC", "degF", "K", "", "?", "kg"))
        digits = {"degF": str(celsius * 9 // 5 + 32), "K": str(Fraction(27315, 100) + celsius)}.get(unit, str(celsius))
        digits = f"{float(Fraction(digits)):.2f}" if unit == "K" else digits
    else:
        feet = chance.randrange(0, 6) * 25
        unit = chance.choice(("m", "cm", "ft", "", "m"))
        metres = Fraction(feet) * Fraction(3048, 10000)
        digits = {"ft": str(feet), "cm": f"{float(metres * 100):g}"}.get(unit, f"{float(metres):g}")
    return Said(digits, unit)


def event_of(readings: dict[str, Said], id: str, chance: Random) -> Event:
    tuples = []
    for name, said in readings.items():
        unit = "blorps" if said.unit == "?" else said.unit
        number = int(said.digits) if said.digits.lstrip("-").isdigit() else float(said.digits)
        as_text = chance.random() < 0.2
        tuples.append(EventTuple(name, said.digits if as_text else number, unit))
    return Event(tuple(tuples), id=id)


class Step(NamedTuple):
    what: Literal["match", "withdraw", "advance"]
    now: int
    id: str = ""
    event: Event | None = None
    expected: frozenset[tuple[str, str, str]] = frozenset()  # subscription, event, cause


def draw_steps(asked: list[Asked], steps: int, chance: Random) -> Iterator[Step]:
    windows = [Oracle(one) for one in asked]
    now = 0
    for number in range(steps):
        now += chance.choice((0, 1, 1, 2, 9))
        what = chance.random()
        if what < 0.08 and number:
            id = f"e{chance.randrange(number)}"
            told = {(w.asked.id, found, "promoted") for w in windows for found in w.withdraw(id, now)}
            yield Step("withdraw", now, id, None, frozenset(told))
        elif what < 0.14:
            told = {(w.asked.id, found, "promoted") for w in windows for found in w.advance(now)}
            yield Step("advance", now, expected=frozenset(told))
        else:
            names = ["t", "h"] if chance.random() < 0.9 else [chance.choice(("t", "h"))]
            readings = {name: draw_said(chance, name) for name in names}
            id = f"e{number}"
            told = {
                (w.asked.id, found, "arrival" if found == id else "promoted")
                for w in windows
                for found in w.match(number, id, readings, now)
            }
            yield Step("match", now, id, event_of(readings, id, chance), frozenset(told))


def told_by(matches: list[lw.Match]) -> frozenset[tuple[str, str, str]]:
    return frozenset((m.subscription_id, str(m.event_id), m.cause) for m in matches)


@pytest.mark.parametrize("seed", range(4))
def test_mixed_units_rank_as_exact_fractions_do(seed: int) -> None:
    """Every delivery and promotion of every step, one by one, in batches and as columns; the oracle's engine, too."""
    chance = Random(seed)
    asked = [draw_asked(chance, number) for number in range(24)]
    steps = list(draw_steps(asked, 300, chance))
    assert sum(len(step.expected) for step in steps) > 200
    assert any(cause == "promoted" for step in steps for _, _, cause in step.expected)
    for engine, ways in (("topk", ("single", "batch", "columns")), ("naive", ("single",))):
        for way in ways:
            matcher = lw.Matcher(engines={"top": engine})
            for one in asked:
                matcher.add(lw.parse(one.text(), id=one.id), at=0)
            for what, group in groupby(steps, key=lambda step: step.what):
                run = list(group)
                if what == "match" and way != "single":
                    _check_batch(matcher, run, way, seed)
                    continue
                for step in run:
                    if what == "advance":
                        found = matcher.advance(step.now)
                    elif what == "withdraw":
                        found = matcher.advance(step.now) + matcher.withdraw(step.id)
                    else:
                        assert step.event is not None
                        found = list(matcher.match(step.event, at=step.now))
                    assert told_by(found) == step.expected, (seed, engine, way, step)


def _check_batch(matcher: lw.Matcher, run: list[Step], way: str, seed: int) -> None:
    events = [step.event for step in run if step.event is not None]
    given = EventBatch.from_events(events) if way == "columns" else events
    batch = matcher.match_batch(given, at=[step.now for step in run])
    told: list[set[tuple[str, str, str]]] = [set() for _ in run]
    for place, index in zip(batch.event_index.tolist(), batch.subscription_index.tolist(), strict=True):
        told[place].add((batch.subscription_ids[index], str(events[place].id), "arrival"))
    for promotion in batch.promoted:
        match = promotion.match
        told[promotion.event_index].add((match.subscription_id, str(match.event_id), match.cause))
    for step, found in zip(run, told, strict=True):
        assert frozenset(found) == step.expected, (seed, way, step)
