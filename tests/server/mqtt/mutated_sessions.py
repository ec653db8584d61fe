"""Whole sessions that nobody would hold with a broker: nothing is an unhandled exception, and good clients are served.

    python -m tests.server.mqtt.mutated_sessions --sessions 10000 [--seed 1] [--folder build/mutated]

Each session follows from the seed and its number: a CONNECT, then messages, subscriptions by topic and by meaning,
acknowledgements of nothing, some of them with bytes changed, cut anyhow; then the line ends. What the broker says must
be MQTT. After every so many a good client connects, subscribes, publishes and gets its message. How far a run has come
is kept in the folder, so it goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import random
import socket
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from likewise.errors import PacketError
from likewise.server.mqtt.codec import (
    MQTT_3_1_1,
    MQTT_5,
    Connack,
    Connect,
    Decoder,
    FilterRequest,
    Packet,
    Pingreq,
    Pingresp,
    Properties,
    Puback,
    Publish,
    Suback,
    Subscribe,
    Unsubscribe,
    Will,
    encode,
)
from likewise.server.mqtt.codec.packet_types import PacketType as k
from tests.fuzzing.run import Run
from tests.server.mqtt.mutated import mutated, packet, properties
from tests.server.mqtt.processes import Running, listening_broker

PATIENCE = 90.0  # seconds an answer may take
LOOKED_AT = 100  # sessions after which a good client comes
MEANINGS = ("{temperature~ > 25 degC}", "{no2 > 40}", "{", "{a~ = b~} threshold 0.3", "{x exists}", "\u20ac", "")
TOPICS = ("a", "a/b", "home/attic/temperature", "$likewise/hot", "$likewise/subscriptions/one", "$SYS/x", "é")
FILTERS = (
    "#",
    "+/+",
    "a/#",
    "home/+/temperature",
    "$likewise/hot",
    "$likewise/q/%7Bno2%20%3E%2040%7D",
    "$likewise/q/%7B",
    "$likewise/matches/one",
    "$likewise/answers/+",
    "$share/g/a/#",
    "$share/g/$likewise/hot",
    "$SYS/#",
    "$likewise/",
)
PAYLOADS = (b'{"temperature": 27.5}', b"21.5", b"", b"ON", b"\xff\x00", b"{no2 > 40}", b"{", b"[" * 2_000, b'{"a":1}')


def hello(chance: random.Random, version: int) -> Connect:
    """A CONNECT of one of a few clients."""
    said = Properties()
    if version == MQTT_5:
        expiry, most = chance.choice((None, 0, 5, 2**32 - 1)), chance.choice((None, 1, 2, 65_535))
        size = chance.choice((None, None, 20, 1_000))
        said = Properties(session_expiry=expiry, receive_maximum=most, maximum_packet_size=size)
    will = None
    if chance.random() < 0.3:
        wished = properties(chance, k.WILL, version)
        will = Will(chance.choice(TOPICS), chance.choice(PAYLOADS), chance.randrange(3), chance.random() < 0.3, wished)
    name = chance.choice(("", *(f"c{n}" for n in range(20))))
    return Connect(name, version, chance.random() < 0.5, chance.choice((0, 1, 60)), will=will, properties=said)


def said(chance: random.Random, version: int) -> Packet:
    """Something that a client says."""
    number, qos = chance.choice((1, 2, 3, 65_535)), chance.randrange(3)
    match chance.randrange(10):
        case 0 | 1 | 2:
            kept = properties(chance, k.PUBLISH, version) if chance.random() < 0.5 else Properties()
            body, retain = chance.choice(PAYLOADS), chance.random() < 0.2
            return Publish(chance.choice(TOPICS), body, qos, retain, False, number * (qos > 0), kept)
        case 3 | 4 | 5:
            user = (("q", chance.choice(MEANINGS)), ("explain", "true"))[: chance.randrange(3)]
            asked = Properties(user=user) if version == MQTT_5 else Properties()
            wishes = tuple(FilterRequest(each, qos) for each in chance.sample(FILTERS, chance.randrange(1, 4)))
            return Subscribe(number, wishes, asked)
        case 6:
            return Unsubscribe(number, tuple(chance.sample(FILTERS, chance.randrange(1, 3))))
        case _:
            kind = chance.choice((k.PUBACK, k.PUBREC, k.PUBREL, k.PUBCOMP, k.PINGREQ, k.DISCONNECT, k.AUTH))
            return packet(chance, kind, version) if version == MQTT_5 or kind != k.AUTH else Puback(number)


def session(seed: int, number: int) -> list[bytes]:
    """What the client of a session sends, in parts."""
    chance = random.Random(f"session {seed} {number}")
    version = chance.choice((MQTT_3_1_1, MQTT_5))
    odd = chance.choice((0.0, 0.1, 0.5))
    first = encode(hello(chance, version), version)
    data = mutated(chance, first) if chance.random() < 0.15 else first
    for _ in range(chance.randrange(13)):
        more = encode(said(chance, version), version)
        data += mutated(chance, more) if chance.random() < odd else more
    cuts = sorted(chance.randrange(len(data) + 1) for _ in range(chance.randrange(5)))
    return [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]


class Expected(NamedTuple):
    """What our own decoder makes of a session: the version it says, and whether it is refused or goes on."""

    version: int | None
    refused: bool
    whole: bool


def expected(parts: list[bytes]) -> Expected:
    """What a broker makes of a session, as far as its packets go."""
    decoder = Decoder(topic_aliases=16)
    try:
        for part in parts:
            list(decoder.feed(part))
    except PacketError:
        return Expected(decoder.version, True, False)
    try:
        last = list(decoder.feed(encode(Pingreq())))
    except PacketError:  # it is the rest of a packet that is not whole
        last = []
    return Expected(decoder.version, False, last == [Pingreq()])


class Sessions:
    """Holds sessions with a broker, and counts how they ended."""

    def __init__(self, broker: Running) -> None:
        self._broker = broker
        self.ends: Counter[str] = Counter()

    def __call__(self, seed: int, number: int) -> None:
        """Hold one; an AssertionError or whatever else it raises is a problem."""
        parts = session(seed, number)
        known = expected(parts)
        decoder, came = Decoder(known.version, of_server=True), 0
        with socket.create_connection(("127.0.0.1", self._broker.port), PATIENCE) as line:
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with suppress(OSError):  # it may have ended already
                for part in (*parts, encode(Pingreq())) if known.whole else parts:
                    line.sendall(part)
                if not known.refused and not known.whole:  # the rest of a packet never comes
                    line.shutdown(socket.SHUT_WR)
            with suppress(ConnectionError):
                while data := line.recv(65_536):
                    if known.version is None:  # it was not understood, and is told so in 3.1.1 or 5
                        came += 1
                        continue
                    packets = list(decoder.feed(data))
                    came += len(packets)
                    if any(isinstance(each, Pingresp) for each in packets):
                        break
        self.ends["answered" if came else "not answered"] += 1
        if number % LOOKED_AT == LOOKED_AT - 1:
            said = self._broker.tracebacks()
            assert not said, said[:4_000]
            self.good(number)

    def good(self, number: int) -> None:
        """A client that does everything right gets what it is promised."""
        name, topic = f"good-{number}", f"good/{number}"
        with socket.create_connection(("127.0.0.1", self._broker.port), PATIENCE) as line:
            decoder = Decoder(MQTT_5, of_server=True)
            line.sendall(encode(Connect(name)) + encode(Subscribe(1, (FilterRequest(topic, 1),))))
            line.sendall(encode(Publish(topic, b"1", 1, packet_id=7)))
            wanted = {Connack, Suback, Puback, Publish}
            while wanted:
                data = line.recv(65_536)
                assert data, f"the connection ended before {wanted} came"
                for each in decoder.feed(data):
                    wanted.discard(type(each))
                    if isinstance(each, Publish):
                        assert (each.topic, each.payload) == (topic, b"1")
        self.ends["good"] += 1


def main() -> int:
    """Run from the command line."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--sessions", type=int, default=10_000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--folder", type=Path, default=Path("build/mutated"))
    given = arguments.parse_args()
    run = Run(given.folder, given.seed)
    with listening_broker() as broker:
        held = Sessions(broker)
        problems = run.go_on("sessions", held, given.sessions, step=500)
    print(json.dumps({"done": run.done, "problems": problems, "seed": given.seed, "ends": held.ends}))
    return int(problems > 0)


if __name__ == "__main__":
    sys.exit(main())
