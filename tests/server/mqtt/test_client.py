"""The MQTT client against brokers that answer as they are told to: versions, refusals, acknowledgements, ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from likewise.server.mqtt.client import BrokerAddress, MessageTooLarge, MqttClient, MqttRefused, publication
from likewise.server.mqtt.codec import (
    MQTT_3_1_1,
    MQTT_5,
    Connack,
    Connect,
    Decoder,
    Disconnect,
    FilterRequest,
    Packet,
    Properties,
    Puback,
    Pubcomp,
    Publish,
    Pubrec,
    Pubrel,
    Reason,
    Suback,
    Subscribe,
    encode,
)
from likewise.server.mqtt.messages import MqttPublication

Reply = Callable[[Packet], list[Packet | bytes]]


class Scripted:
    """A broker whose answers a function gives; `packets` are what it got, over all connections."""

    def __init__(self, reply: Reply) -> None:
        self.packets: list[Packet] = []
        self.connections = 0
        self._reply = reply
        self._writers: list[asyncio.StreamWriter] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.append(writer)
        decoder = Decoder()
        while data := await reader.read(65_536):
            for packet in decoder.feed(data):
                self.packets.append(packet)
                for answer in self._reply(packet):
                    self.send(answer, decoder.version or MQTT_5)
        writer.close()

    def send(self, packet: Packet | bytes, version: int = MQTT_5) -> None:
        """Send a packet, or bytes as they are, over the newest connection."""
        self._writers[-1].write(packet if isinstance(packet, bytes) else encode(packet, version))

    def close(self) -> None:
        for writer in self._writers:
            writer.transport.abort()


@asynccontextmanager
async def scripted(reply: Reply) -> AsyncIterator[tuple[Scripted, BrokerAddress]]:
    broker = Scripted(reply)
    server = await asyncio.start_server(broker.serve, "127.0.0.1", 0)
    try:
        yield broker, BrokerAddress("127.0.0.1", server.sockets[0].getsockname()[1])
    finally:
        server.close()
        broker.close()
        await server.wait_closed()


def accepting(properties: Properties = Properties()) -> Reply:  # noqa: B008 - a frozen value
    """Accept the connection, filters and messages."""

    def reply(packet: Packet) -> list[Packet | bytes]:
        match packet:
            case Connect():
                return [Connack(True, 0, properties)]
            case Subscribe(packet_id=number):
                return [Suback(number, (1,))]
            case Publish(packet_id=number):
                return [Puback(number)]
            case Pubrec(packet_id=number):
                return [Pubrel(number)]
            case _:
                return []

    return reply


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not holds():
            await asyncio.sleep(0.005)


def test_a_broker_of_mqtt_3_1_1_is_spoken_to_in_its_version() -> None:
    """It answers version 5 with return code 1 and closes; the second connection is used from then on."""

    def reply(packet: Packet) -> list[Packet | bytes]:
        if isinstance(packet, Connect) and packet.version == MQTT_5:
            return [b"\x20\x02\x00\x01"]
        return accepting()(packet)

    async def play() -> None:
        async with scripted(reply) as (broker, address):
            client = MqttClient("ann", session_expiry=9)
            assert await client.connect(address)
            assert client.version == MQTT_3_1_1
            message = MqttPublication("a", b"1", "text/plain", (("id", "e1"),))
            assert await asyncio.wait_for(client.publish(message), 60) == 0
            await client.close()
            assert broker.connections == 2
            published = next(packet for packet in broker.packets if isinstance(packet, Publish))
            assert (published.topic, published.payload, published.properties) == ("a", b"1", Properties())

    asyncio.run(play())


def test_a_refused_connection_says_the_code_and_is_closed() -> None:
    """The broker's own words are kept apart: they may quote what it was sent."""
    refused = Connack(False, Reason.NOT_AUTHORIZED, Properties(reason_string="not you, secret"))

    async def play() -> None:
        async with scripted(lambda packet: [refused]) as (_, address):
            client = MqttClient()
            with pytest.raises(MqttRefused, match=r"reason code 0x87 \(not authorized\)") as caught:
                await client.connect(address)
            assert "secret" not in str(caught.value)
            assert caught.value.reason_string == "not you, secret"
            await asyncio.wait_for(asyncio.wait([client.closed]), 60)

    asyncio.run(play())


@pytest.mark.parametrize("qos", [1, 2])
def test_a_message_is_acknowledged_when_its_owner_has_stored_it(qos: int) -> None:
    """Not before; and one of QoS 2 that comes again before its release is not stored again."""

    async def play() -> None:
        received: list[MqttPublication] = []
        stored: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def on_message(packet: Publish) -> asyncio.Future[None]:
            received.append(publication(packet))
            return stored

        async with scripted(lambda packet: accepting()(packet) if not isinstance(packet, Pubrec) else []) as (
            broker,
            address,
        ):
            client = MqttClient("ann", session_expiry=9, on_message=on_message)
            await client.connect(address)
            await client.subscribe([FilterRequest("#", qos)])
            properties = Properties(content_type="text/plain", user=(("id", "e1"),), message_expiry=7)
            message = Publish("a/b", b"1", qos, packet_id=5, properties=properties)
            broker.send(message)
            await until(lambda: bool(received))
            await asyncio.sleep(0.05)
            assert not [packet for packet in broker.packets if isinstance(packet, Puback | Pubrec)]
            stored.set_result(None)
            await until(lambda: any(isinstance(packet, Puback | Pubrec) for packet in broker.packets))
            if qos == 2:
                broker.send(message)
                await until(lambda: sum(isinstance(packet, Pubrec) for packet in broker.packets) == 2)
                broker.send(Pubrel(5))
                await until(lambda: Pubcomp(5) in broker.packets)
            assert received == [MqttPublication("a/b", b"1", "text/plain", (("id", "e1"),), 7, qos)]
            await client.close()

    asyncio.run(play())


def test_limits_of_the_broker_are_kept() -> None:
    """How large a packet may be, and how many messages may be unacknowledged."""
    limits = Properties(maximum_packet_size=100, receive_maximum=1)

    async def play() -> None:
        def reply(packet: Packet) -> list[Packet | bytes]:
            return [] if isinstance(packet, Publish) else accepting(limits)(packet)

        async with scripted(reply) as (_, address):
            client = MqttClient()
            await client.connect(address)
            with pytest.raises(MessageTooLarge, match="takes at most 100"):
                client.publish(MqttPublication("a", b"x" * 100))
            client.publish(MqttPublication("a", b"x"))
            with pytest.raises(OverflowError):
                client.publish(MqttPublication("a", b"x"))
            await client.close()

    asyncio.run(play())


@pytest.mark.parametrize("last", [Disconnect(Reason.SERVER_SHUTTING_DOWN), b"\x00\x00", Publish("a", b"1")])
def test_the_end_of_a_connection_is_noticed(last: Packet | bytes) -> None:
    """The broker says goodbye, breaks the protocol, or publishes to a client that only publishes."""

    async def play() -> None:
        async with scripted(accepting()) as (broker, address):
            client = MqttClient()
            await client.connect(address)
            broker.send(last)
            await asyncio.wait_for(asyncio.wait([client.closed]), 60)
            assert client.disconnect_packet == (last if isinstance(last, Disconnect) else None)

    asyncio.run(play())


def test_an_idle_connection_is_pinged() -> None:
    """A broker that does not answer is taken for lost."""

    async def play() -> None:
        async with scripted(accepting(Properties(server_keep_alive=1))) as (broker, address):
            client = MqttClient()
            await client.connect(address)
            await asyncio.wait_for(asyncio.wait([client.closed]), 60)
            assert any(type(packet).__name__ == "Pingreq" for packet in broker.packets)

    asyncio.run(play())
