"""Messages and topic maps that nobody would send: each is stored, passed over or refused as said, and nothing is lost.

    python -m tests.server.mqtt.malformed --messages 10000 --maps 10000 [--seed 1]

The messages go over a real Mosquitto to a bridge, half of them to topics of the presets; after them a good one must
come through. Each follows from the seed and its number. A map is one of the presets with something broken in it: it is
read, or refused with its line and in words.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from likewise.broker.log import dead_letters
from likewise.errors import LikewiseError
from likewise.server.mqtt import topic_maps
from likewise.server.mqtt.messages import MqttPublication
from likewise.server.mqtt.publisher import MqttPublisher
from likewise.server.mqtt.topic_maps import read_map
from tests.server.mqtt.conftest import Mosquitto
from tests.server.mqtt.test_bridge import bridged, stored, until

MAPS = sorted((Path(topic_maps.__file__).parent / "maps").glob("*.toml"))
TOPICS = (
    "zigbee2mqtt/attic",
    "zigbee2mqtt/a/b",
    "tele/plug/SENSOR",
    "stat/plug/RESULT",
    "shellies/x/sensor/temperature",
    "shellyplus/events/rpc",
    "application/1/device/2/event/up",
    "v3/app@ttn/devices/d/up",
    "telegraf/h/cpu",
    "homeassistant/sensor/n/t/config",
    "home/attic/temperature",
    "a",
    "/",
    "a//b",
    "\u00e9/\u20ac",
    "x" * 3_000,
)
GOOD = (
    b'{"temperature": 27.5, "humidity": 41}',
    b"21.5",
    b"ON",
    b'{"v":1,"payload":{"t":21},"id":"e1"}',
    b'[{"bn":"urn:x","n":"t","u":"Cel","v":21}]',
    b'{"AM2301":{"Temperature":70},"TempUnit":"F"}',
    b'{"specversion":"1.0","id":"1","source":"/x","type":"t","data":{"a":1}}',
    b'{"object":{"t":1},"deduplicationId":"d","time":"2024-05-01T12:00:00Z"}',
    b'{"fields":{"a":1},"tags":{"h":"x"},"timestamp":1700000000,"name":"m"}',
    b'{"state_topic":"s/t","device_class":"power"}',
)
ODD = (
    b"",
    b"\x00",
    b"\xff\xfe\x00",
    b"{",
    b"[[[[",
    b'{"a":' * 200,
    b"nan",
    b"1e999",
    b"-",
    b'{"a":1,"a":2}',
    b"[]",
    b"{}",
    b'{"a":null}',
    b'"\\ud800"',
    b'{"":1}',
    b"9" * 400,
    b'{"time":"yesterday"}',
    b"\xf0\x9f\x98\x80" * 50,
    b"[" + b"1," * 5_000 + b"1]",
    b'{"temperature":{"value":"hot","unit":7}}',
    b'{"v":1,"payload":[]}',
    b'{"v":99,"payload":{}}',
    b"true",
    b"null",
    b"\x89PNG\r\n\x1a\n" * 100,
)
KINDS = (
    "",
    "",
    "application/json",
    "application/senml+json",
    "application/cloudevents+json",
    "text/turtle",
    "a/b; c=d",
    "\u00e9",
)
LINES = (
    "read = 7",
    "[[topic]]",
    "topic = []",
    "units = 3",
    "nonsense = 1",
    "\x00",
    "[topic]",
    'topic = "#/a"',
)


class Ended(NamedTuple):
    """What became of the messages and the maps."""

    messages: int
    stored: int
    passed_over: int
    refused: int
    dead_letters: int
    maps: int
    maps_read: int
    maps_refused: int


def message(seed: int, number: int) -> MqttPublication:
    """The message of a number."""
    chance = random.Random(f"{seed} {number}")
    body = bytearray(chance.choice(GOOD if chance.random() < 0.6 else ODD))
    for _ in range(chance.choice((0, 0, 1, 2, 8))):
        at = chance.randrange(len(body) + 1)
        match chance.randrange(3):
            case 0:
                body[at:at] = bytes([chance.randrange(256)])
            case 1:
                del body[at : at + chance.randrange(1, 5)]
            case _:
                body[at : at + 1] = chance.choice((b'"', b"}", b"\\", b"\x00", b"9" * 30))
    named = (("id", chance.choice(("", "x", "e" * 500, f"m{number}"))),) if chance.random() < 0.3 else ()
    return MqttPublication(chance.choice(TOPICS), bytes(body), chance.choice(KINDS), named, qos=1)


def broken_map(seed: int, number: int) -> str:
    """A preset with something broken in it."""
    chance = random.Random(f"map {seed} {number}")
    lines = chance.choice(MAPS).read_text(encoding="utf-8").splitlines()
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(lines))
        match chance.randrange(5):
            case 0:
                lines[at] = lines[at].replace('"', chance.choice(("", "'", '""')), 1)
            case 1:
                lines.insert(
                    at,
                    chance.choice(
                        (
                            "read = 7",
                            "[[topic]]",
                            "topic = []",
                            "units = 3",
                            "nonsense = 1",
                            "\u0000",
                            "[topic]",
                            'topic = "#/a"',
                        )
                    ),
                )
            case 2:
                del lines[at]
                lines = lines or [""]
            case 3:
                lines[at] = lines[at].replace("{", chance.choice(("{{", "", "{}{")), 1)
            case _:
                cut = chance.randrange(len(lines[at]) + 1)
                lines[at] = lines[at][:cut] + chance.choice(("+", "#", "=", "\t\x01", "é")) + lines[at][cut:]
    return "\n".join(lines)


def try_maps(seed: int, count: int) -> tuple[int, int]:
    """How many were read, and refused with their line; anything else is an error."""
    read = refused = 0
    for number in range(count):
        text = broken_map(seed, number)
        try:
            read_map(text, "mine.toml")
        except LikewiseError as error:
            if not re.match(r"mine\.toml(, line \d+: | is no TOML: .* \(at (line \d+|end of document))", str(error)):
                raise AssertionError(f"map {number} is refused without its line") from error
            refused += 1
        else:
            read += 1
    return read, refused


async def run(messages: int, maps: int, seed: int, folder: Path) -> Ended:
    """Send everything, and count."""
    (folder / "mosquitto").mkdir(parents=True)
    mosquitto = Mosquitto(folder / "mosquitto")
    mosquitto.start()
    try:
        async with bridged(folder / "data", f"{mosquitto.url}/#") as (broker, bridge):
            made = [message(seed, number) for number in range(messages)]
            with MqttPublisher(mosquitto.url) as out:
                await asyncio.to_thread(out.publish, made)
                await asyncio.to_thread(out.publish, [MqttPublication("last", b'{"last": 1}', qos=1)])
            state = bridge.state
            await until(lambda: state.received == messages + 1, 1_800)
            await until(lambda: any(t.attribute == "last" for e in stored(broker)[-3:] for t in e.tuples), 600)
            with broker.store.reading() as tables:
                letters = len(dead_letters.listed(tables, broker.tenant("default").number, 0, messages + 1))
            read, refused = try_maps(seed, maps)
            return Ended(messages, len(stored(broker)), state.passed_over, state.refused, letters, maps, read, refused)
    finally:
        mosquitto.stop()


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--messages", type=int, default=10_000)
    arguments.add_argument("--maps", type=int, default=10_000)
    arguments.add_argument("--seed", type=int, default=1)
    said = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="likewise-malformed-") as name:
        ended = asyncio.run(run(said.messages, said.maps, said.seed, Path(name)))
    print(json.dumps(ended._asdict()))
    sys.exit(0 if ended.refused == ended.dead_letters else 1)


if __name__ == "__main__":
    main()
