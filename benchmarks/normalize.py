"""How well readings are put under common names, and what that costs beside the plain bridge.

    python -m benchmarks.normalize [--messages 500] [--seed 1] [--cost] [--wrong]

Messages of the devices in `normalize_devices` are read as the bridge reads them and normalised. A reading is right if
its common name and value are; withheld if it is not sent, which is right for one without a common name; wrong else.
A second probe of a name, `room_temperature` for a `temperature`, and the like are no excuse. `--cost` measures the CPU
per message of reading alone, and of reading and normalising.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from math import isclose
from typing import Any, Final, NamedTuple

import likewise as lw
from benchmarks.normalize_devices import DEVICES, OTHERS
from likewise.matching.common_names.normaliser import ReadingNormaliser
from likewise.matching.common_names.table import default_text, read_common_names
from likewise.semantics.interpretation import Interpretation
from likewise.server.mqtt.messages import MqttPublication
from likewise.server.mqtt.payloads import MessageReader
from likewise.server.mqtt.topic_maps import load_maps


class Expected(NamedTuple):
    """A message, and for the last part of each attribute its common name and value; None if it has none."""

    message: MqttPublication
    readings: dict[str, tuple[str, Any] | None]


def messages(count: int, seed: int, devices: str = DEVICES) -> list[Expected]:
    """Return messages of devices in turn."""
    chance = random.Random(seed)
    blocks = [block.splitlines() for block in devices.strip().split("\n\n")]
    return [_message(blocks[number % len(blocks)], chance) for number in range(count)]


def _message(block: list[str], chance: random.Random) -> Expected:
    topic, *rows = block
    payload: Any = {}
    readings: dict[str, tuple[str, Any] | None] = {}
    for row in rows:
        path, _, rest = row.partition("=")
        values, _, meaning = rest.partition("->")
        name, *how = meaning.split()
        raw, expected = _drawn(values.split(), chance)
        if how:
            by = float(how[0][1:] or 1)
            expected = {"f": (raw - 32) / 1.8, "*": raw * by, "/": raw / by}[how[0][0]]
        *outer, last = path.strip().split(".") if path.strip() else [""]
        readings[path.strip()] = None if name == "-" else (name, expected)
        if not path.strip():
            payload = raw
            continue
        inner = payload
        for key in outer:
            inner = inner.setdefault(key, {})
        inner[last] = raw
    body = payload if isinstance(payload, str) else json.dumps(payload)
    return Expected(MqttPublication(topic, body.encode(), qos=1), readings)


def _drawn(values: list[str], chance: random.Random) -> tuple[Any, Any]:
    if ".." in values[0]:
        low, high = (float(each) for each in values[0].split(".."))
        whole = "." not in values[0].replace("..", "") and high - low > 30
        number = chance.randint(int(low), int(high)) if whole else round(chance.uniform(low, high), 2)
        return number, number
    raw, _, word = chance.choice(values).partition(":")
    return {"true": True, "false": False, "1": 1, "0": 0}.get(raw, raw), word


def judged(expected: list[Expected]) -> Iterator[tuple[str, str, str, object]]:
    """Yield right, withheld, spared or wrong for each reading, with topic, attribute and what was said."""
    reader, normaliser = MessageReader(load_maps()), _normaliser()
    for each in expected:
        [event] = reader.read(each.message, now=0)
        certain, _ = normaliser.read(event)
        said = {event.tuples[reading.place].attribute: reading for reading in certain}
        for path, truth in each.readings.items():
            own = [r for a, r in said.items() if not path or path == "value" or path == a or path.endswith(f".{a}")]
            found = own[0] if own else None
            if found is None:
                yield ("withheld" if truth else "spared"), each.message.topic, path, truth
            elif truth and found.name.name == truth[0] and _same(found.value, truth[1]):
                yield "right", each.message.topic, path, truth
            else:
                yield "wrong", each.message.topic, path, (found.name.name, found.value, truth)


def _same(one: object, other: object) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return isclose(float(str(one)), float(str(other)), rel_tol=1e-4, abs_tol=1e-6)


def _normaliser() -> ReadingNormaliser:
    return ReadingNormaliser(read_common_names(default_text()), Interpretation())


# Five subscriptions of a house, with the common names that each asks for, and what their values must be.
ASKED: Final[dict[str, tuple[frozenset[str], Callable[[Any], bool]]]] = {
    "{room temperature~ > 22 degC}": (frozenset({"temperature", "room_temperature"}), lambda value: float(value) > 22),
    "{leak~ = true}": (frozenset({"leak"}), lambda value: bool(value == "detected")),
    "{battery level~ < 40 %}": (frozenset({"battery"}), lambda value: float(value) < 40),
    "{grid power~ > 2.5 kW}": (frozenset({"grid_power"}), lambda value: float(value) > 2_500),
    "{door~ = open~}": (frozenset({"contact", "door", "garage_door"}), lambda value: bool(value == "open")),
}


def house(expected: list[Expected]) -> tuple[float, float]:
    """Return precision and recall of `ASKED` over messages."""
    reader, matcher = MessageReader(load_maps()), lw.Matcher()
    for text in ASKED:
        matcher.add(lw.parse(text, id=text))
    right = matched = wanted = 0
    for each in expected:
        [event] = reader.read(each.message, now=0)
        found = {match.subscription_id for match in matcher.match(event)}
        truths = [truth for truth in each.readings.values() if truth]
        meant = {
            text for text, (names, holds) in ASKED.items() if any(n in names and holds(value) for n, value in truths)
        }
        right, matched, wanted = right + len(found & meant), matched + len(found), wanted + len(meant)
        for text in found ^ meant:
            print(
                f"  {'false' if text in found else 'missed'} {text} {each.message.topic} {each.message.payload[:80]!r}"
            )
    return right / max(1, matched), right / max(1, wanted)


def cost(expected: list[Expected], rounds: int = 5) -> tuple[float, float]:
    """Return µs of CPU per message: of reading alone, and of reading and normalising."""
    reader, normaliser = MessageReader(load_maps()), _normaliser()
    for each in expected:  # names are compared once
        normaliser.read(reader.read(each.message, now=0)[0])
    spent = []
    for normalises in (False, True):
        begun = time.process_time()
        for _ in range(rounds):
            for each in expected:
                [event] = reader.read(each.message, now=0)
                if normalises:
                    normaliser.read(event)
        spent.append((time.process_time() - begun) / rounds / len(expected) * 1e6)
    return spent[0], spent[1]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--messages", type=int, default=500)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--others", action="store_true", help="devices of ecosystems that nothing was tried with")
    arguments.add_argument("--house", action="store_true", help="match the messages with five subscriptions instead")
    arguments.add_argument("--cost", action="store_true")
    arguments.add_argument("--wrong", action="store_true", help="show what was wrong or withheld")
    said = arguments.parse_args()
    expected = messages(said.messages, said.seed, OTHERS if said.others else DEVICES)
    if said.house:
        precision, recall = house(expected)
        print(f"{len(expected)} messages, {len(ASKED)} subscriptions: precision {precision:.3f}, recall {recall:.3f}")
        return
    verdicts = list(judged(expected))
    counts = Counter(verdict for verdict, *_ in verdicts)
    total = len(verdicts)
    print(f"{len(expected)} messages, {len({e.message.topic for e in expected})} topics, {total} readings")
    for verdict in ("right", "withheld", "spared", "wrong"):
        print(f"{verdict:10} {counts[verdict]:6} {counts[verdict] / total:7.1%}")
    if said.wrong:
        shown = Counter(
            (verdict, topic, path, str(what)[:60] if verdict == "wrong" else "")
            for verdict, topic, path, what in verdicts
        )
        for (verdict, topic, path, what), number in shown.most_common():
            if verdict in ("wrong", "withheld"):
                print(f"  {verdict:9} {number:4} {topic} {path} {what}")
    if said.cost:
        alone, both = cost(expected)
        print(f"reading {alone:.0f} µs a message, reading and normalising {both:.0f} µs")


if __name__ == "__main__":
    main()
