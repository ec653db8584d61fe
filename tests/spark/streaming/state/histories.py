"""Generated histories of events, and what one Matcher says of them: what state on Spark is compared with."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import likewise as lw
from likewise.lake.change_log import ChangeLog

SECOND = 1_000_000
TEXTS = [
    "{t > 20} for 20 s",
    "{t > 15} for 8 s at most every 30 s",
    "{t > 25} once until false",
    "{t > 10} once until {t < 5}",
    "{t exists} at most every 12 s",
    "{t exists} absent for 15 s",
    "{t > 18} for 10 s per room",
    "{door = open} once until false per room, floor",
    "{t > 12} digest every 20 s",
    "{door = open} for 5 s digest every 30 s",
    "{t exists} top 2 within 15 s by value(t)",
    "{t > 5} top 3 within 6 events by value(t) highest",
    "{t > 22}",
]
Said = tuple[int, str, str | None, tuple[str, ...] | None, int | None, int]


def some_event(chance: random.Random, number: int, now: int) -> dict[str, Any]:
    payload: dict[str, Any] = {"t": chance.randint(0, 30)} if chance.random() < 0.8 else {"battery": 3}
    if chance.random() < 0.7:
        payload["room"] = chance.choice(["a", "b", "c"])
    if chance.random() < 0.4:
        payload |= {"door": chance.choice(["open", "closed"]), "floor": chance.randint(1, 2)}
    when, source = now + chance.randint(-3, 3) * SECOND, f"s{chance.randint(1, 4)}"
    return {"v": 1, "payload": payload, "id": f"e{number}", "time": when, "source": source}


class Oracle:
    """One matcher over the same log, in the order of batches, event time and offset."""

    def __init__(self, lateness: int = 0) -> None:
        self.matcher = lw.Matcher(lateness=lateness)
        self.said: Counter[Said] = Counter()
        self.held: dict[int, str] = {}

    def batch(self, log: ChangeLog, events: list[dict[str, Any]]) -> None:
        held = log.snapshot()
        wanted = {n: each.subscription for n, each in held.subscriptions.items()}
        for number, id in self.matcher.state.numbers().items():
            if number not in wanted:
                self.matcher.remove(id)
        here = self.matcher.state.numbers()
        new = [n for n in wanted if n not in here]
        self.matcher.add_many([wanted[n] for n in new], 0, numbers=new)
        newest = 0
        moments = [each["came"] if "gone" in each else each["time"] for each in events]
        # A stable sort keeps files and offsets; what is taken back comes after the events of its moment.
        for _, _, place in sorted((moment, "gone" in events[n], n) for n, moment in enumerate(moments)):
            each = events[place]
            newest = max(newest, moments[place])
            if "gone" in each:
                self._say(self.matcher.advance(each["came"]), held)
                self._say(self.matcher.withdraw(each["gone"]), held)
                continue
            made = lw.event(each["payload"], id=each["id"], time=each["time"], source=each.get("source"))
            self._say(self.matcher.match(made, at=each["time"]), held)
        self._say(self.matcher.advance(newest), held)

    def _say(self, matches: Any, held: Any) -> None:
        for match in matches:
            if match.kind not in ("top", "alert"):
                continue
            spoken = match.spoken
            total = 0 if spoken is None else (spoken.total or spoken.suppressed)
            key, since = (None, None) if spoken is None else (spoken.key, spoken.since)
            self.said[held.number(match.subscription_id), match.cause, match.event_id, key, since, total] += 1
