"""Alerts judged from the whole history at once, by the sentences of the language alone: no state, no steps.

For every key all that came about it is known; what must have been said follows from where runs begin and end, and from
the gaps between events. Ties count as said: at the moment a span is over, it is over before what comes then.
"""

from __future__ import annotations

import random
from typing import NamedTuple

import pytest

import likewise as lw

S = 1_000_000
SPAN, COOL_DOWN, END = 7, 31, 400


class Came(NamedTuple):
    at: int
    source: str
    room: str
    door: str  # open holds, closed fails, nothing is not about it


Told = tuple[str, str, int]  # cause, key, when


def _runs(history: list[Came]) -> list[tuple[int, int]]:
    """From when to when one of the key's sources holds."""
    found, holding, begin = [], set[str](), 0
    for came in history:
        if came.door == "open":
            begin = begin if holding else came.at
            holding.add(came.source)
        elif came.source in holding:
            holding.discard(came.source)
            if not holding:
                found.append((begin, came.at))
    return [*found, (begin, END + 1)] if holding else found


def _expected(clause: str, key: str, history: list[Came]) -> list[Told]:
    runs, opened = _runs(history), [came.at for came in history if came.door == "open"]
    match clause:
        case "for":
            return [("held", key, a + SPAN) for a, b in runs if b >= a + SPAN and a + SPAN <= END]
        case "for once":
            lasted = [(a + SPAN, b) for a, b in runs if b >= a + SPAN and a + SPAN <= END]
            ends = [("cleared", key, b) for _, b in lasted if b <= END]
            return [*(("held", key, a) for a, _ in lasted), *ends]
        case "once":
            ends = [("cleared", key, b) for _, b in runs if b <= END]
            return [*(("arrival", key, a) for a, _ in runs), *ends]
        case "seldom":
            said: list[int] = []
            waiting = False
            for at in opened:
                while said and waiting and said[-1] + SPAN <= at:
                    said, waiting = [*said, said[-1] + SPAN], False
                waiting = bool(said) and at < said[-1] + SPAN
                said += [] if waiting else [at]
            said += [said[-1] + SPAN] if waiting else []
            return [("arrival", key, at) for at in said]
        case "once seldom":
            return _seldom(key, [(a, b) for a, b in runs], "arrival", "cleared")
        case "for seldom":
            return _seldom(key, [(a + SPAN, b) for a, b in runs], "held", None)
        case _:
            first = next((place for place, each in enumerate(history) if each.door == "open"), len(history))
            about = [each.at for each in history[first:]]  # before it held once it is not watched
            silences = list(zip(about, [*about[1:], END + SPAN + 1], strict=True))
            if clause == "absent seldom":
                return _seldom(key, [(at + SPAN, following) for at, following in silences], "absent", "returned")
            found: list[Told] = []
            for at, following in silences:
                if following >= at + SPAN and at + SPAN <= END:
                    found.append(("absent", key, at + SPAN))
                    if following <= END:
                        found.append(("returned", key, following))
            return found


def _seldom(key: str, spans: list[tuple[int, int]], alarm: str, end: str | None) -> list[Told]:
    """What is sent of alarms that stand from when to when, with a cool-down: at its end, if they still stand."""
    found: list[Told] = []
    quiet = 0
    for stands, over in spans:
        at = max(stands, quiet)
        if at <= min(over, END):
            found.append((alarm, key, at))
            quiet = at + COOL_DOWN
            if end is not None and over <= END:
                found.append((end, key, over))
    return found


CLAUSES = {
    "for": f"for {SPAN} s",
    "for once": f"for {SPAN} s once until false",
    "once": "once until false",
    "seldom": f"at most every {SPAN} s",
    "absent": f"absent for {SPAN} s",
    "once seldom": f"once until false at most every {COOL_DOWN} s",
    "for seldom": f"for {SPAN} s at most every {COOL_DOWN} s",
    "absent seldom": f"absent for {SPAN} s at most every {COOL_DOWN} s",
}


@pytest.mark.parametrize("engine", ["alerts", "naive"])
@pytest.mark.parametrize("per", ["", "per room "])
@pytest.mark.parametrize("seed", range(6))
def test_what_is_said_follows_from_the_whole_history(seed: int, per: str, engine: str) -> None:
    chance = random.Random(seed)
    matcher = lw.Matcher(engines={"alert": engine})
    for name, clause in CLAUSES.items():
        matcher.add(lw.parse(f"{{door = open}} {per}{clause}", id=name), at=0)
    now, came, found = 0, list[Came](), dict[str, list[Told]]()

    def take(matches: list[lw.Match]) -> None:
        for match in matches:
            assert match.spoken is not None
            found.setdefault(match.subscription_id, []).append(
                (match.cause, match.spoken.key[0], match.spoken.moment // S)
            )

    while (now := now + chance.choice((0, 1, 2, 3, 7, 9))) < END - 20:
        each = Came(now, chance.choice("xyz"), chance.choice(("hall", "attic")), chance.choice(("open", "closed", "")))
        said = {"door": each.door, "room": each.room} if each.door else {"battery": 3, "room": each.room}
        take(list(matcher.match(lw.event(said, source=each.source), at=now * S)))
        if each.door:
            came.append(each)
        if chance.random() < 0.2:
            take(matcher.advance((now + 1) * S))
            now += 1
    take(matcher.advance(END * S))
    for name in CLAUSES:
        expected = [
            told
            for key in sorted({each.room if per else each.source for each in came})
            for told in _expected(name, key, [each for each in came if key == (each.room if per else each.source)])
        ]
        assert sorted(found.get(name, [])) == sorted(expected), name
