"""Messages of a broker that exists, received with our own codec; Mosquitto is a real one."""

from __future__ import annotations

import socket
import threading
from itertools import islice

import pytest

from likewise.errors import InputError, NotAuthenticated, Unavailable
from likewise.server.mqtt.codec import (
    Connack,
    Connect,
    Decoder,
    Disconnect,
    Packet,
    Properties,
    Publish,
    Reason,
    Suback,
    Subscribe,
    encode,
)
from likewise.server.mqtt.messages import MqttPublication
from likewise.server.mqtt.publisher import MqttPublisher
from likewise.server.mqtt.subscriber import MqttSubscriber
from tests.server.mqtt.conftest import Mosquitto


def taken(line: MqttSubscriber, count: int) -> list[Publish]:
    """The next messages, acknowledged."""
    found = []
    for message in islice(line, count):
        found.append(message)
        line.acknowledge(message)
    return found


@pytest.mark.parametrize("qos", [0, 1, 2])
def test_messages_come_as_they_were_published(mosquitto: Mosquitto, qos: int) -> None:
    """With every QoS, in order; a session of a name gets what came while it was away."""
    lasting = MqttSubscriber(mosquitto.url, client_id="ann", session=60)
    with lasting as line, MqttPublisher(mosquitto.url) as out:
        line.subscribe("home/#", qos)
        out.publish(MqttPublication(f"home/{number}", b"%d" % number, qos=1) for number in range(30))
        came = taken(line, 30)
        assert [(each.topic, each.payload) for each in came] == [(f"home/{n}", b"%d" % n) for n in range(30)]
    if qos:
        with MqttPublisher(mosquitto.url) as out:
            out.publish([MqttPublication("home/later", b"31", qos=1)])
        with lasting as line:
            assert "home/later" in {message.topic for message in taken(line, 1)}


def test_nobody_there_is_said() -> None:
    """With what to look for."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        line = MqttSubscriber(f"mqtt://127.0.0.1:{taken.getsockname()[1]}")
        with pytest.raises(Unavailable, match="is a broker of MQTT running there"):
            line.__enter__()


class Answering:
    """A broker that answers as it is told, once."""

    def __init__(self, *answers: Packet) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._answers = list(answers)
        self.url = f"mqtt://127.0.0.1:{self._listening.getsockname()[1]}"
        self.came: list[Packet] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        connection, _ = self._listening.accept()
        decoder = Decoder()
        with connection:
            while data := connection.recv(65_536):
                for packet in decoder.feed(data):
                    self.came.append(packet)
                    if isinstance(packet, Connect | Subscribe) and self._answers:
                        connection.sendall(encode(self._answers.pop(0)))
        self._listening.close()

    def ended(self) -> list[Packet]:
        self._thread.join(60)
        return self.came


def test_a_refusal_is_said_in_the_brokers_words() -> None:
    """Of a connection and of a subscription; a wrong token is another error."""
    refusing = Answering(Connack(False, Reason.QUOTA_EXCEEDED, Properties(reason_string="1,000 are connected")))
    with pytest.raises(Unavailable, match="1,000 are connected"):
        MqttSubscriber(refusing.url).__enter__()
    refusing = Answering(Connack(False, Reason.BAD_USER_NAME_OR_PASSWORD))
    with pytest.raises(NotAuthenticated, match="bad user name or password"):
        MqttSubscriber(refusing.url, password="wrong").__enter__()
    refused = Suback(1, (Reason.TOPIC_FILTER_INVALID,), Properties(reason_string="line 1, column 2: expected a name"))
    refusing = Answering(Connack(), refused)
    with MqttSubscriber(refusing.url) as line, pytest.raises(InputError, match="line 1, column 2"):
        line.subscribe("$likewise/hot", meaning="{")


def test_a_subscription_by_meaning_is_the_text_in_a_user_property() -> None:
    """Under the name it has."""
    broker = Answering(Connack(), Suback(1, (1,)))
    with MqttSubscriber(broker.url, client_id="ann", session=9, password="lw_x") as line:
        line.subscribe("$likewise/hot", 1, meaning="{no2~ > 40}", explain=True)
    hello, asked, bye = broker.ended()
    assert isinstance(hello, Connect)
    assert (hello.client_id, hello.clean_start, hello.password) == ("ann", False, b"lw_x")
    assert isinstance(asked, Subscribe)
    assert asked.requests[0].filter == "$likewise/hot"
    assert asked.properties.user == (("q", "{no2~ > 40}"), ("explain", "true"))
    assert bye == Disconnect()


def test_the_end_of_a_connection_is_said() -> None:
    """With the broker's reason."""
    broker = Answering(Connack(), Disconnect(Reason.SERVER_SHUTTING_DOWN))
    with MqttSubscriber(broker.url) as line, pytest.raises(InputError, match="server shutting down"):
        line.subscribe("a")
