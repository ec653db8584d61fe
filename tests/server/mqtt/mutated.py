"""Packets that nobody would send: each is read or refused with its reason code, however it is cut.

    python -m tests.server.mqtt.mutated --packets 1000000 [--seed 1] [--folder build/mutated]

Each follows from the seed and its number: a packet of 3.1.1 or 5 in which bytes were changed, put in, taken out. What
is read is encoded and read as the same again, and where `mqtt5` reads it, too, both have read the same. How far a run
has come is kept in the folder, so it goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from likewise.errors import PacketError
from likewise.server.mqtt.codec import (
    MQTT_3_1_1,
    MQTT_5,
    NO_PROPERTIES,
    Auth,
    Connack,
    Connect,
    Decoder,
    Disconnect,
    FilterRequest,
    Packet,
    Pingreq,
    Pingresp,
    Properties,
    Puback,
    Pubcomp,
    Publish,
    Pubrec,
    Pubrel,
    Suback,
    Subscribe,
    Unsuback,
    Unsubscribe,
    Will,
    encode,
)
from likewise.server.mqtt.codec.packet_types import BY_A_CLIENT, BY_A_SERVER
from likewise.server.mqtt.codec.packet_types import PacketType as k
from likewise.server.mqtt.codec.property_bytes import PROPERTIES
from likewise.server.mqtt.codec.reasons import REASONS
from tests.fuzzing.run import Run
from tests.server.mqtt.codec import oracles

TEXTS = ("", "a", "home/attic", "$likewise/hot", "é/€", "x" * 130, "application/json", "$share/g/a/#", "roof 😀")
FILTERS = ("a", "#", "+/b", "home/+/#", "$share/g/a/+", "$likewise/q/%7Bt~%20%3E%201%7D", "é", "/")
ODD = (b"\x00", b"\xff", b"\x80", b"\x7f", b"\xed\xa0\x80", b"#", b"+", b"$share/", b"\x00\x00", b"\xff\xff", b"MQTT")


def properties(chance: random.Random, packet: int, version: int) -> Properties:
    """Some of the properties that a packet may have."""
    if version == MQTT_3_1_1 or chance.random() < 0.4:
        return NO_PROPERTIES
    found: dict[str, Any] = {}
    for each in PROPERTIES:
        if packet not in each.packets or chance.random() < 0.6:
            continue
        match each.name:
            case "user":
                found["user"] = ((chance.choice(TEXTS), chance.choice(TEXTS)),) * chance.randrange(1, 3)
            case "subscription_identifiers":
                found[each.name] = (chance.choice((1, 127, 128, 268_435_455)),)
            case "correlation_data" | "authentication_data":
                found[each.name] = chance.randbytes(chance.randrange(9))
            case "response_topic":
                found[each.name] = "answers/é"
            case name if name in ("payload_format", "maximum_qos") or name.endswith(("_available", "_information")):
                found[name] = "cluster" if name == "response_information" else chance.randrange(2)
            case "message_expiry" | "session_expiry" | "will_delay" | "maximum_packet_size":
                found[each.name] = chance.choice((1, 60, 2**32 - 1))
            case "server_keep_alive" | "receive_maximum" | "topic_alias_maximum" | "topic_alias":
                found[each.name] = chance.choice((1, 2, 65_535))
            case name:
                found[name] = chance.choice(TEXTS)
    return Properties(**found)


def packet(chance: random.Random, kind: int, version: int) -> Packet:
    """A packet that can be."""
    said, number = properties(chance, kind, version), chance.choice((1, 2, 258, 65_535))
    reasons = sorted(REASONS.get(kind, ()))
    reason = chance.choice(reasons) if reasons and version == MQTT_5 else 0
    qos, flag = chance.randrange(3), chance.random() < 0.5
    several = chance.randrange(1, 4)
    match kind:
        case k.CONNECT:
            will = Will("w/1", b"gone", qos, flag, properties(chance, k.WILL, version)) if flag else None
            name = chance.choice((None, "ann"))
            word = b"secret" if name else None
            return Connect(chance.choice(TEXTS), version, flag, chance.randrange(99), name, word, will, said)
        case k.CONNACK:
            return Connack(flag, reason, said)
        case k.PUBLISH:
            topic = chance.choice(("t", "home/attic", "é/€/😀", "x" * 200))
            return Publish(topic, chance.randbytes(chance.randrange(40)), qos, flag, qos > 0, number * (qos > 0), said)
        case k.SUBSCRIBE:
            wish = FilterRequest(chance.choice(FILTERS), qos)
            if version == MQTT_5:
                wish = FilterRequest(wish.filter, qos, retain_as_published=flag, retain_handling=qos)
            return Subscribe(number, (wish,) * several, said)
        case k.SUBACK:
            return Suback(number, (reason,) * several, said)
        case k.UNSUBSCRIBE:
            return Unsubscribe(number, tuple(chance.choices(FILTERS, k=several)), said)
        case k.UNSUBACK:
            return Unsuback(number, (reason,) * several if version == MQTT_5 else (), said)
        case k.PINGREQ:
            return Pingreq()
        case k.PINGRESP:
            return Pingresp()
        case k.DISCONNECT:
            return Disconnect(reason, said)
        case k.AUTH:
            return Auth(reason, said)
        case _:
            made: Any = {k.PUBACK: Puback, k.PUBREC: Pubrec, k.PUBREL: Pubrel, k.PUBCOMP: Pubcomp}[k(kind)]
            answer: Packet = made(number, reason, said)
            return answer


def mutated(chance: random.Random, data: bytes) -> bytes:
    """Bytes with something changed, put in or taken out; its size may be mended, so that the change is looked at."""
    body = bytearray(data)
    for _ in range(chance.choice((0, 1, 1, 1, 2, 3, 8))):
        at = chance.randrange(len(body) + 1)
        match chance.randrange(5):
            case 0 if at < len(body):
                body[at] ^= 1 << chance.randrange(8)
            case 1:
                body[at:at] = chance.choice(ODD)
            case 2:
                del body[at : at + chance.randrange(1, 5)]
            case 3 if at < len(body):
                body[at] = chance.randrange(256)
            case _:
                body[at : at + 2] = chance.choice(ODD)
    if chance.random() < 0.5 and 2 <= len(body) < 130:
        body[1] = len(body) - 2
    return bytes(body)


def read(decoder: Decoder, parts: list[bytes]) -> tuple[list[Packet], int | None]:
    """The packets that were read, and the reason code if something was refused."""
    came: list[Packet] = []
    try:
        for part in parts:
            for each in decoder.feed(part):
                came.append(each)
    except PacketError as error:
        return came, error.reason
    return came, None


class Tried:
    """Tries packets by their numbers, and counts what became of them."""

    def __init__(self) -> None:
        self.ends: Counter[str] = Counter()

    def __call__(self, seed: int, number: int) -> None:
        """Try one; an AssertionError or whatever else it raises is a problem."""
        chance = random.Random(f"packet {seed} {number}")
        version = chance.choice((MQTT_3_1_1, MQTT_5))
        kind = chance.choice((k.CONNECT, k.PUBLISH, k.SUBSCRIBE, *range(1, 16)))
        if kind == k.AUTH:
            version = MQTT_5
        data = mutated(chance, encode(packet(chance, kind, version), version))
        of_server = kind in BY_A_SERVER or (kind not in BY_A_CLIENT and chance.random() < 0.3)

        def decoder() -> Decoder:
            begun = None if kind == k.CONNECT else version
            return Decoder(begun, of_server=of_server, largest=1_000, topic_aliases=10)

        came, reason = read(decoder(), [data])
        assert read(decoder(), [data[at : at + 1] for at in range(len(data))]) == (came, reason)
        assert reason is None or 0x80 <= reason < 0x100
        self.ends["refused" if reason is not None else "read" if came else "unfinished"] += 1
        for each in came:
            form = each.version if isinstance(each, Connect) else version
            fresh = Decoder(None if isinstance(each, Connect) else form, of_server=of_server, topic_aliases=10)
            assert read(fresh, [encode(each, form)]) == ([each], None)
        if len(came) == 1 and reason is None:
            self._compare(came[0], data, version)

    def _compare(self, ours: Packet, data: bytes, version: int) -> None:
        """With what `mqtt5` reads; it is strict where we need not be, never the other way round."""
        form = ours.version if isinstance(ours, Connect) else version
        if form != MQTT_5 or len(encode(ours, form)) != len(data):
            return
        theirs = oracles.read_by_mqtt5(data)
        self.ends["read by both" if theirs is not None else "read by us alone"] += 1
        assert theirs is None or oracles.agrees(ours, theirs), (ours, theirs)


def main() -> int:
    """Run from the command line."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--packets", type=int, default=1_000_000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--folder", type=Path, default=Path("build/mutated"))
    given = arguments.parse_args()
    run, tried = Run(given.folder, given.seed), Tried()
    problems = run.go_on("packets", tried, given.packets, step=10_000)
    print(json.dumps({"done": run.done, "problems": problems, "seed": given.seed, "ends": tried.ends}))
    return int(problems > 0)


if __name__ == "__main__":
    sys.exit(main())
