"""Targets of MQTT against a real Mosquitto: what arrives there, and what a broker that ends or refuses means."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from likewise.api.deliveries import MatchedPart, MatchReason
from likewise.api.sinks import MqttTargetSettings
from likewise.broker.sinks.retry_queue import SinkDelivery
from likewise.server.mqtt.client import publish_packet
from likewise.server.mqtt.codec import encode
from likewise.server.sinks.mqtt import MqttTarget, mqtt_message
from likewise.server.sinks.networks import parse_networks
from likewise.server.sinks.sender import make_parcel
from likewise.server.sinks.target import Parcel, PermanentFailure, TransientFailure
from tests.server.mqtt.conftest import Mosquitto
from tests.server.mqtt.conftest import mosquitto as mosquitto

LOOPBACK = parse_networks(["127.0.0.0/8"])
REASONS = (MatchReason("bad air", 0.9, (MatchedPart("no2 > 40", 1.0, "no2", "45"),)),)


def match(number: int, place: str = "hall/+") -> SinkDelivery:
    tuples = [{"attribute": "no2", "value": 45}, {"attribute": "place", "value": place}]
    event = msgspec.json.encode({"v": 1, "tuples": tuples, "id": f"e{number}"})
    return SinkDelivery(
        f"msg_{number}", number, "arrival", "bad air", 3, 0.9, number, event, b'{"event":' + event + b"}"
    )


def parcel(wanted: MqttTargetSettings, number: int = 1, place: str = "hall/+") -> Parcel:
    return make_parcel(match(number, place), wanted, REASONS if wanted.because else (), "default", "ann")


@asynccontextmanager
async def listening(mosquitto: Mosquitto, topic: str) -> AsyncIterator[list[tuple[str, bytes, dict[str, Any]]]]:
    """Somebody who reads there."""
    import gmqtt

    got: list[tuple[str, bytes, dict[str, Any]]] = []
    subscribed = asyncio.Event()
    client = gmqtt.Client("reader")

    def take(_: Any, topic: str, payload: bytes, qos: int, properties: dict[str, Any]) -> int:
        got.append((topic, payload, properties))
        return 0

    client.on_message = take
    client.on_subscribe = lambda *_: subscribed.set()
    await client.connect("127.0.0.1", mosquitto.port)
    client.subscribe(topic, qos=1)
    await asyncio.wait_for(subscribed.wait(), 60)
    try:
        yield got
    finally:
        with contextlib.suppress(OSError, RuntimeError):
            await client.disconnect()


async def until(holds: Any, seconds: float = 60) -> None:
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(0.02)


def test_a_match_is_published_with_its_score_and_why(mosquitto: Mosquitto) -> None:
    """The topic by its template, the event as payload, the rest as user properties; one connection for many."""
    wanted = MqttTargetSettings(mosquitto.url, "alerts/{{@subscription}}/{{place}}", because=True)

    async def play() -> None:
        async with listening(mosquitto, "alerts/#") as got:
            target = MqttTarget(wanted, "0" * 32, LOOPBACK)
            for number in range(1, 21):
                await target.send(parcel(wanted, number))
            await until(lambda: len(got) == 20)
            await target.close()
            topic, payload, said = got[0]
            assert (topic, msgspec.json.decode(payload)["id"]) == ("alerts/bad air/hall__", "e1")
            properties = dict(said["user_property"])
            assert (properties["id"], properties["score"], properties["cause"], properties["sequence"]) == (
                "msg_1",
                "0.9",
                "arrival",
                "1",
            )
            assert msgspec.json.decode(properties["because"], type=tuple[MatchReason, ...]) == REASONS
            assert said["content_type"] == ["application/json"]
            assert [dict(each["user_property"])["id"] for _, _, each in got] == [f"msg_{n}" for n in range(1, 21)]

    asyncio.run(play())


def test_a_broker_that_ends_or_refuses_is_tried_again(mosquitto: Mosquitto) -> None:
    """Killed, not there, without a password that it wants: not now; back again, it gets what it was not given."""
    wanted = MqttTargetSettings(mosquitto.url, "alerts", form="json", timeout=20)

    async def play() -> None:
        target = MqttTarget(wanted, "1" * 32, LOOPBACK)
        await target.send(parcel(wanted))
        mosquitto.stop(signal.SIGKILL)
        with pytest.raises(TransientFailure):
            await target.send(parcel(wanted, 2))
        mosquitto.admit(False)
        mosquitto.start()
        with pytest.raises(TransientFailure, match="refuses"):
            await target.send(parcel(wanted, 2))
        mosquitto.stop()
        mosquitto.admit(True)
        mosquitto.start()
        async with listening(mosquitto, "alerts") as got:
            await target.send(parcel(wanted, 2))
            await until(lambda: got)
        await target.close()

    asyncio.run(play())


def test_a_topic_too_long_or_a_packet_too_large_is_refused_and_stops_nothing(mosquitto: Mosquitto) -> None:
    """For good, with words; the next match has its turn on the same connection."""
    mosquitto.stop()
    mosquitto.say("max_packet_size 1200")
    mosquitto.start()
    wanted = MqttTargetSettings(mosquitto.url, "alerts/" + "{{place}}" * 100, because=True, timeout=60)
    alone = MqttTargetSettings(mosquitto.url, "alerts", because=True, timeout=60)

    async def play() -> None:
        async with listening(mosquitto, "alerts/#") as got:
            target = MqttTarget(wanted, "3" * 32, LOOPBACK)
            with pytest.raises(PermanentFailure, match="the topic has 70007 bytes"):
                await target.send(parcel(wanted, 1, "x" * 700))
            await target.send(parcel(wanted, 2, "x"))
            await target.close()
            target = MqttTarget(alone, "4" * 32, LOOPBACK)
            bare = parcel(alone, 3, "")
            fits = 1_200 - packet_size(bare, alone)
            fits -= packet_size(parcel(alone, 3, "x" * fits), alone) - 1_200
            with pytest.raises(PermanentFailure, match="has 1201 bytes, and that broker takes at most 1200"):
                await target.send(parcel(alone, 3, "x" * (fits + 1)))
            await target.send(parcel(alone, 4, "x" * fits))
            await target.close()
            await until(lambda: len(got) == 2)

    asyncio.run(play())


def packet_size(of: Parcel, wanted: MqttTargetSettings) -> int:
    """As the client writes it."""
    return len(encode(publish_packet(mqtt_message(of, wanted), 1)))


def test_characters_that_brokers_refuse_are_replaced(mosquitto: Mosquitto) -> None:
    """In topics and in properties: control characters, and what is no character; one event blocks nothing."""
    bad = "a\x00\x1f\x7f\x80\x9f\ufdd0\ufdef\ufffe\uffff\U0001fffe\U0010ffffb"
    wanted = MqttTargetSettings(mosquitto.url, "alerts/{{place}}/{{@subscription}}", because=True, timeout=60)
    reasons = (MatchReason(bad, 0.9, (MatchedPart(bad, 1.0, bad, bad),)),)

    async def play() -> None:
        async with listening(mosquitto, "alerts/#") as got:
            target = MqttTarget(wanted, "5" * 32, LOOPBACK)
            strange = match(1, bad)._replace(subscription=bad)
            await target.send(make_parcel(strange, wanted, reasons, "default", "ann"))
            await until(lambda: got)
            await target.close()
            clean = "a" + "_" * 11 + "b"
            properties = dict(got[0][2]["user_property"])
            assert (got[0][0], properties["subscription"]) == (f"alerts/{clean}/{clean}", clean)
            [why] = msgspec.json.decode(properties["because"], type=tuple[MatchReason, ...])
            assert set(why.id) <= set("a_b\x00\x1f")  # JSON writes these two as \\u0000 and \\u001f

    asyncio.run(play())


def test_a_target_of_mqtt_reaches_no_private_address_unless_allowed(mosquitto: Mosquitto) -> None:
    """Just as webhooks."""

    async def play() -> None:
        wanted = MqttTargetSettings(mosquitto.url, "alerts")
        target = MqttTarget(wanted, "2" * 32, ())
        with pytest.raises(TransientFailure, match="no public address"):
            await target.send(parcel(wanted))
        await target.close()

    asyncio.run(play())
