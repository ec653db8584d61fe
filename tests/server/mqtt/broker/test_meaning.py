"""Subscriptions by meaning, in all three forms, with 3.1.1 and with 5."""

from __future__ import annotations

from urllib.parse import quote

import httpx
import msgspec
import pytest

from likewise.server.mqtt.codec import MQTT_3_1_1, MQTT_5, Publish, Reason
from tests.server.mqtt.broker.conftest import Client, Devices


def named(client: Client, name: str, text: str, qos: int = 1, **more: str) -> tuple[int, ...]:
    return client.subscribe(f"$likewise/{name}", qos=qos, user=(("q", text), *more.items())).reasons


@pytest.mark.parametrize("qos", [0, 1, 2])
def test_a_named_subscription_brings_the_original_payload_and_says_what_was_met(home: Devices, qos: int) -> None:
    """On the topic subscribed to; score, subscriptions, cause, sequence and topic are user properties."""
    with home.client() as reader, home.client() as writer:
        assert named(reader, f"warm{qos}", f"{{room_{qos} > 25 degC}}", qos) == (qos,)
        writer.publish("attic/t", b'{"room_%d": "27 degC", "other": [1, 2]}' % qos, 0, content_type="application/json")
        [message] = reader.messages(1)
        assert (message.topic, message.qos) == (f"$likewise/warm{qos}", qos)
        assert message.payload == b'{"room_%d": "27 degC", "other": [1, 2]}' % qos
        assert message.properties.content_type == "application/json"
        said = dict(message.properties.user)
        assert (said["score"], said["cause"], said["topic"]) == ("1", "arrival", "attic/t")
        assert msgspec.json.decode(said["subscriptions"]) == [{"id": f"warm{qos}", "score": 1.0}]
        assert int(said["sequence"]) > 0
        assert "because" not in said


def test_with_explain_it_says_why(home: Devices) -> None:
    """Which reading met which part."""
    with home.client() as reader, home.client() as writer:
        named(reader, "why", "{lux > 25}", explain="true")
        writer.publish("l", b'{"lux": 30}')
        [message] = reader.messages(1)
        [because] = msgspec.json.decode(dict(message.properties.user)["because"])
        assert because["parts"][0]["attribute"] == "lux"


def test_what_does_not_parse_is_refused_with_the_parsers_words(home: Devices) -> None:
    """0x8F, and nothing is held; 3.1.1 is told that it failed."""
    with home.client("bad") as reader:
        answer = reader.subscribe("$likewise/bad", qos=1, user=(("q", "{temperature >> 25}"),))
        assert answer.reasons == (Reason.TOPIC_FILTER_INVALID,)
        assert "expected" in (answer.properties.reason_string or "")
        for text in ("$likewise/none", "$likewise/+", "$likewise/q/%7B", "$likewise/subscriptions/x", "$likewise/"):
            assert reader.subscribe(text).reasons == (Reason.TOPIC_FILTER_INVALID,), text
    with home.client(version=MQTT_3_1_1) as reader:
        assert reader.subscribe("$likewise/q/%7B", "fine", qos=1).reasons == (0x80, 1)


@pytest.mark.parametrize("version", [MQTT_3_1_1, MQTT_5])
def test_the_text_may_stand_in_the_filter(home: Devices, version: int) -> None:
    """Percent-encoded; in 3.1.1 the JSON delivery comes."""
    text = f"$likewise/q/{quote(f'{{sound_{version} > 25}}', safe='')}"
    with home.client(version=version) as reader, home.client() as writer:
        assert reader.subscribe(text, qos=1).reasons == (1,)
        writer.publish("s", b'{"sound_%d": 30}' % version)
        [message] = reader.messages(1)
        assert message.topic == text
        if version == MQTT_5:
            assert message.payload == b'{"sound_5": 30}'
        else:
            delivery = msgspec.json.decode(message.payload)
            assert (delivery["cause"], delivery["subscriptions"][0]["score"]) == ("arrival", 1.0)
            assert delivery["event"]["payload"]["sound_4"] == 30


@pytest.mark.parametrize("version", [MQTT_3_1_1, MQTT_5])
def test_the_text_may_be_published(home: Devices, version: int) -> None:
    """Answered, matched and ended on topics of the session's own; retain is ignored."""
    with home.client(f"by-message-{version}", version) as client, home.client() as writer:
        client.subscribe("$likewise/answers/+", "$likewise/matches/#", qos=1)

        def said(text: str) -> dict[str, object]:
            client.publish("$likewise/subscriptions/wind", text, retain=True)
            [answer] = client.messages(1)
            assert answer.topic == "$likewise/answers/wind"
            found: dict[str, object] = msgspec.json.decode(answer.payload)
            return found

        assert said(f"{{wind_{version} > 5}}") == {"name": "wind", "accepted": True}
        writer.publish("w", b'{"wind_%d": 9}' % version)
        [match] = client.messages(1)
        assert (match.topic, match.qos) == ("$likewise/matches/wind", 1)
        refused = said("{wind >")
        assert refused["accepted"] is False
        assert refused["code"] == "syntax"
        writer.publish("w", b'{"wind_%d": 10}' % version)
        assert client.messages(1)[0].topic == "$likewise/matches/wind"  # the one before holds
        assert said("") == {"name": "wind", "accepted": True}
        assert said("")["accepted"] is False
        writer.publish("w", b'{"wind_%d": 11}' % version)
        assert not client.settled()


def test_a_name_belongs_to_its_session(home: Devices) -> None:
    """Two clients may use the same name for different things."""
    with home.client("n1") as one, home.client("n2") as two, home.client() as writer:
        named(one, "same", "{noise > 1}")
        named(two, "same", "{noise > 5}")
        writer.publish("n", b'{"noise": 3}')
        writer.publish("n", b'{"noise": 7}')
        assert [each.payload for each in one.messages(2)] == [b'{"noise": 3}', b'{"noise": 7}']
        assert [each.payload for each in two.messages(1)] == [b'{"noise": 7}']


def test_earlier_events_come_first_as_anywhere(home: Devices) -> None:
    """With the cause `initial`."""
    with home.client() as writer, home.client() as reader:
        writer.publish("e", b'{"earlier": 1}')
        named(reader, "early", "{earlier exists}")
        [message] = reader.messages(1)
        assert dict(message.properties.user)["cause"] == "initial"


def test_each_subscription_that_is_met_brings_the_message_on_its_own_topic(home: Devices) -> None:
    """And says which others were met by the same event; a topic subscription brings it once more."""
    with home.client() as reader, home.client() as writer:
        named(reader, "a", "{both > 1}")
        named(reader, "b", "{both > 2}")
        reader.subscribe("both", qos=1)
        writer.publish("both", b'{"both": 3}')
        found = reader.messages(3)
        assert sorted(each.topic for each in found) == ["$likewise/a", "$likewise/b", "both"]
        met = dict(next(each for each in found if each.topic == "$likewise/a").properties.user)["subscriptions"]
        assert [each["id"] for each in msgspec.json.decode(met)] == ["a", "b"]


def test_an_event_that_came_over_http_is_met_by_meaning(home: Devices) -> None:
    """Its payload is what was sent."""
    with home.client() as reader:
        named(reader, "web", "{web_no2 > 40}")
        httpx.post(
            f"{home.url}/v1/events", content=b'{"web_no2": 45.0}', headers={"content-type": "application/json"}
        ).raise_for_status()
        assert [each.payload for each in reader.messages(1)] == [b'{"web_no2": 45.0}']


def test_ending_a_subscription_by_meaning(home: Devices) -> None:
    """As any filter."""
    with home.client("ending") as reader, home.client() as writer:
        named(reader, "gone", "{gone > 1}")
        assert reader.unsubscribe("$likewise/gone").reasons == (0,)
        writer.publish("g", b'{"gone": 3}')
        assert not reader.settled()
        assert named(reader, "gone", "{gone > 9}") == (1,)
        reader.send(Publish("g", b'{"gone": 10}', 0))
        assert reader.messages(1)[0].topic == "$likewise/gone"


def test_a_subscription_of_a_session_without_an_end_goes_with_it(home: Devices) -> None:
    """Nobody is registered any more when its connection is over; who only publishes never was."""
    with home.client("pub-only") as writer, home.client("short-lived") as reader:
        writer.publish("x", b"1", 2)
        reader.subscribe("live", qos=0)
        assert not {"mqtt:pub-only", "mqtt:short-lived"} & set(home.tenant.subscribers)
        named(reader, "mine", "{x > 1}")
        assert "mqtt:short-lived" in home.tenant.subscribers
    home.until(lambda: "mqtt:short-lived" not in home.tenant.subscribers)
