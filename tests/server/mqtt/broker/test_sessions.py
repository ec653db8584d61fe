"""Sessions: what outlives a connection and a restart, what is sent again, who takes over, and wills."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from likewise.broker.broker import Broker
from likewise.broker.config import Config, MqttSettings, StoreSettings, TenantLimits
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import RateExceeded
from likewise.server.gateway import Gateway
from likewise.server.mqtt.broker.sessions import SessionRegistry
from likewise.server.mqtt.codec import (
    MQTT_3_1_1,
    MQTT_5,
    Disconnect,
    Pingreq,
    Pingresp,
    Properties,
    Puback,
    Pubcomp,
    Publish,
    Pubrec,
    Pubrel,
    Reason,
    Will,
)
from likewise.testing.clocks import ManualClock
from tests.server.mqtt.broker.conftest import Client, Devices, devices

LAST = 100_000  # seconds


def lasting(home: Devices, name: str, version: int = MQTT_5) -> Client:
    """A client whose session outlives its connection."""
    return home.client(name, version, clean=False, **({"session_expiry": LAST} if version == MQTT_5 else {}))


@pytest.mark.parametrize("version", [MQTT_3_1_1, MQTT_5])
def test_what_comes_while_a_client_is_away_waits_for_it(home: Devices, version: int) -> None:
    """QoS 1 and 2, by topic and by meaning, in order."""
    said = {"session_expiry": LAST} if version == MQTT_5 else {}
    client = lasting(home, f"away-{version}", version)
    client.subscribe(f"away/{version}/#", f"$likewise/q/%7Baway_{version}%20exists%7D", qos=2)
    client.cut()
    with home.client() as writer:
        for n in range(1, 4):
            writer.publish(f"away/{version}/{n}", b"%d" % n, n % 2 + 1)
        writer.publish("other", b'{"away_%d": 1}' % version)
    assert client.again(**said).session_present
    found = client.messages(4)
    topics = [each for each in found if each.topic.startswith("away")]
    assert [each.payload for each in topics if each.qos == 2] == [b"1", b"3"]  # in order for each QoS
    assert [each.payload for each in topics if each.qos == 1] == [b"2"]
    assert len(topics) == 3
    assert client.again(**said).session_present
    assert not client.settled()
    client.cut()


def test_a_session_a_packet_in_flight_and_its_packet_id_survive_a_restart(tmp_path: Path) -> None:
    """QoS 1 and QoS 2 in each of their states; what was acknowledged out of order does not come again."""
    with devices(tmp_path / "data") as found:
        client = lasting(found, "dev")
        client.subscribe("flight/#", qos=2)
        with found.client() as writer:
            for n, qos in enumerate((1, 2, 2, 1, 1)):
                writer.publish(f"flight/{n}", b"%d" % n, qos)
        sent = client.messages(5, acknowledge=False)
        ids = {each.payload: each.packet_id for each in sent}
        assert len(set(ids.values())) == 5
        client.send(Pubrec(ids[b"2"]))
        assert client.next(Pubrel).packet_id == ids[b"2"]
        client.send(Puback(ids[b"3"]), Pingreq())  # before those in front of it
        client.next(Pingresp)
        client.cut()
    with devices(tmp_path / "data") as found:
        client.port = found.port
        assert client.again(session_expiry=LAST).session_present
        assert client.next(Pubrel).packet_id == ids[b"2"]
        again = client.messages(3, acknowledge=False)
        assert {(each.payload, each.packet_id, each.dup) for each in again} == {
            (payload, ids[payload], True) for payload in (b"0", b"1", b"4")
        }
        client.send(Pubcomp(ids[b"2"]), Puback(ids[b"0"]), Puback(ids[b"4"]), Pubrec(ids[b"1"]))
        assert client.next(Pubrel).packet_id == ids[b"1"]
        client.send(Pubcomp(ids[b"1"]))
        with found.client() as writer:
            writer.publish("flight/9", b"9", 2)
        assert [each.payload for each in client.messages(1)] == [b"9"]
        assert client.again(session_expiry=LAST).session_present
        assert not client.settled()
        queue = found.tenant.subscribers["mqtt:dev"]
        found.until(lambda: not queue.pending)
        client.cut()


def test_a_clean_start_forgets_the_session(home: Devices) -> None:
    """With its subscriptions and what waits."""
    client = lasting(home, "forgotten")
    client.subscribe("forgotten", qos=1)
    client.cut()
    with home.client() as writer:
        writer.publish("forgotten", b"1")
    with home.client("forgotten", clean=True) as anew:
        assert not anew.settled()
    home.until(lambda: "mqtt:forgotten" not in home.tenant.subscribers)
    client = Client(home.port, "forgotten")
    assert not client.connect(clean=False, session_expiry=LAST).session_present
    client.cut()


def test_a_session_is_over_after_its_time_and_no_later_than_allowed(tmp_path: Path) -> None:
    """Its subscriber is unregistered; a client that asks for more than is allowed is told what it gets."""
    clock = ManualClock("2024-05-01T12:00:00Z")
    config = Config(mqtt=MqttSettings(session="100 s"))
    with devices(broker=Broker(tmp_path / "data", config, clock=clock)) as found:
        client = Client(found.port, "brief")
        answer = client.connect(clean=False, session_expiry=1_000)
        assert answer.properties.session_expiry == 100
        client.subscribe("a", qos=1)
        client.cut()
        found.until(lambda: not httpx.get(f"{found.url}/v1/connections").json())
        clock.advance(101_000_000)
        found.until(lambda: "mqtt:brief" not in found.tenant.subscribers)
        assert not client.again(session_expiry=1_000).session_present
        client.send(Disconnect(properties=Properties(session_expiry=0)))
        assert client.ended() is None
        assert not client.again(session_expiry=50).session_present
        client.cut()


def test_a_session_outlives_a_step_of_the_clock_with_what_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For an hour; accepting the clock ends it."""
    looked: list[int] = []
    look = SessionRegistry.end_expired

    def counted(self: SessionRegistry, now: int) -> None:
        look(self, now)
        looked.append(now)

    monkeypatch.setattr(SessionRegistry, "end_expired", counted)
    clock = ManualClock("2024-05-01T12:00:00Z")
    config = Config(mqtt=MqttSettings(session="100 s"), store=StoreSettings("1 day"))
    with devices(broker=Broker(tmp_path / "data", config, clock=clock)) as found:
        client = Client(found.port, "patient")
        client.connect(clean=False, session_expiry=100)
        client.subscribe("a", qos=1)
        client.cut()
        found.until(lambda: not httpx.get(f"{found.url}/v1/connections").json())
        with found.client() as writer:
            writer.publish("a", b"1", qos=1)
        clock.step(30 * 86_400_000_000)
        looked.clear()
        found.until(lambda: len(looked) > 2)
        assert "mqtt:patient" in found.tenant.subscribers
        assert client.again(session_expiry=100).session_present
        assert [each.payload for each in client.messages(1)] == [b"1"]
        client.cut()
        found.until(lambda: not httpx.get(f"{found.url}/v1/connections").json())
        clock.step(30 * 86_400_000_000)
        found.broker.clock()
        assert httpx.post(f"{found.url}/v1/clock/accept").json()["accepted"] is True
        found.until(lambda: "mqtt:patient" not in found.tenant.subscribers)


def test_sessions_that_end_with_their_connection_leave_nothing_after_a_crash(tmp_path: Path) -> None:
    """Who was registered for one is unregistered at the next start."""
    broker = Broker(tmp_path / "data")
    tenant = broker.tenant("default")
    broker.register(tenant, "mqtt:gone")  # as a broker leaves it that was killed
    broker.register(tenant, "ann")
    broker.close()
    with devices(tmp_path / "data") as found, found.client() as client:
        client.send(Pingreq())
        client.next(Pingresp)
        assert set(found.tenant.subscribers) == {"ann"}


def test_a_newer_connection_takes_over(home: Devices) -> None:
    """The older one is told 0x8E; what was in flight to it comes again to the newer one."""
    older = lasting(home, "twice")
    older.subscribe("twice", qos=1)
    with home.client() as writer:
        writer.publish("twice", b"1")
    [first] = older.messages(1, acknowledge=False)
    newer = Client(home.port, "twice")
    assert newer.connect(clean=False, session_expiry=LAST).session_present
    said = older.ended()
    assert said is not None
    assert said.reason == Reason.SESSION_TAKEN_OVER
    [again] = newer.messages(1)
    assert (again.payload, again.packet_id, again.dup) == (b"1", first.packet_id, True)
    newer.cut()


def test_no_more_is_in_flight_than_a_client_takes(home: Devices) -> None:
    """Its Receive Maximum; what is acknowledged makes room, in whatever order."""
    with home.client("few", receive_maximum=3) as client, home.client() as writer:
        client.subscribe("few", qos=2)
        for n in range(8):
            writer.publish("few", b"%d" % n, 1 + n % 2)
        first = client.messages(3, acknowledge=False)
        assert not client.settled()
        assert [each.payload for each in first] == [b"0", b"1", b"2"]
        client.send(Puback(first[2].packet_id))
        assert client.messages(1, acknowledge=False)[0].payload == b"3"
        assert not client.settled()
        client.send(Puback(first[0].packet_id), Pubrec(first[1].packet_id))
        client.next(Pubrel)
        client.send(Pubcomp(first[1].packet_id))
        assert [each.payload for each in client.messages(2, acknowledge=False)] == [b"4", b"5"]


def test_what_is_larger_than_a_client_takes_is_not_sent_to_it(home: Devices) -> None:
    """And holds up nothing."""
    with home.client(maximum_packet_size=200) as client, home.client() as writer:
        client.subscribe("large", qos=1)
        for payload in (b"x" * 300, b"y"):
            writer.publish("large", payload, 1)
        assert [each.payload for each in client.messages(1)] == [b"y"]


def test_a_client_that_is_too_slow_loses_qos_0_and_nothing_else(home: Devices) -> None:
    """It holds up nobody; what is acknowledged waits in its queue."""
    with home.client("slow") as slow, home.client() as writer, home.client() as other:
        slow.subscribe("slow", qos=1)
        other.subscribe("slow", qos=0)
        big = b"z" * 200_000
        for _ in range(100):
            writer.publish("slow", big, 0)
            assert other.messages(1)[0].payload == big
        for n in range(3):
            writer.publish("slow", b"%d" % n, 1)
        found: list[bytes] = []
        while found[-3:] != [b"0", b"1", b"2"]:
            found += [each.payload for each in slow.messages(1)]
        assert found.count(big) < 100


# -- wills -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [MQTT_3_1_1, MQTT_5])
def test_a_will_is_published_when_a_connection_breaks_and_not_when_its_client_says_goodbye(
    home: Devices, version: int
) -> None:
    """With its QoS, its mark and its properties."""
    topic = f"will/{version}"
    with home.client() as reader:
        reader.subscribe(topic, qos=2)
        client = Client(home.port, f"dying-{version}", version)
        said = Properties(content_type="text/plain", user=(("why", "gone"),)) if version == MQTT_5 else Properties()
        client.connect(will=Will(topic, b"polite", 1, properties=said))
        client.send(Disconnect())
        client.ended()
        client = Client(home.port, f"dying-{version}", version)
        client.connect(will=Will(topic, b"sudden", 2, True, said))
        client.cut()
        [message] = reader.messages(1)
        assert (message.payload, message.qos) == (b"sudden", 2)
        assert message.properties.user == said.user
        with home.client() as late:
            late.subscribe(topic, qos=1)
            assert [(each.payload, each.retain) for each in late.messages(1)] == [(b"sudden", True)]


def test_a_will_with_a_delay_waits_for_the_client_to_come_back(home: Devices) -> None:
    """Back in time it is not published; 0x04 asks for it; a session that ends publishes it at once."""
    with home.client() as reader:
        reader.subscribe("delayed", qos=1)
        will = Will("delayed", b"1", 1, properties=Properties(will_delay=100_000))
        client = Client(home.port, "delayed")
        client.connect(will=will, clean=False, session_expiry=LAST)
        client.cut()
        assert client.again(will=will, session_expiry=LAST).session_present
        assert not reader.settled()
        soon = Will("delayed", b"2", 1, properties=Properties(will_delay=1))
        client.again(will=soon, session_expiry=LAST)
        client.send(Disconnect(Reason.DISCONNECT_WITH_WILL))
        assert [each.payload for each in reader.messages(1)] == [b"2"]
        client.again(will=will, session_expiry=LAST)
        client.cut()
        with home.client("delayed", clean=True):  # the session ends, so the will is due
            assert [each.payload for each in reader.messages(1)] == [b"1"]


def test_wills_count_against_the_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients that break off all the time publish no more than others may; their wills come later."""
    with devices(limits=TenantLimits(rate=1_000_000)) as home, home.client() as reader:
        reader.subscribe("last/+", qos=1)
        checked: list[int] = []

        def check_rate(gateway: Gateway, tenant: Tenant, count: int) -> None:
            checked.append(count)
            if len(checked) <= 6:
                raise RateExceeded(allowed=1, retry_after=0.01)

        monkeypatch.setattr(Gateway, "check_rate", check_rate)
        for number in range(4):
            client = Client(home.port, f"dies-{number}")
            client.connect(will=Will(f"last/{number}", b"1", 1))
            client.cut()
        assert sorted(each.topic for each in reader.messages(4)) == [f"last/{number}" for number in range(4)]
        assert checked == [1] * 10


def test_a_will_of_who_is_not_heard_of_any_more(home: Devices) -> None:
    """Keep alive: silence for one and a half times as long as the client said."""
    with home.client() as reader:
        reader.subscribe("silent", qos=1)
        client = Client(home.port, "silent")
        client.connect(keep_alive=1, will=Will("silent", b"1", 1))
        assert [each.payload for each in reader.messages(1)] == [b"1"]
        said = client.ended()
        assert said is not None
        assert said.reason == Reason.KEEP_ALIVE_TIMEOUT


def test_a_will_for_the_broker_itself_is_refused(home: Devices) -> None:
    """A subscription cannot be made by dying."""
    client = Client(home.port, "testament")
    assert client.connect(will=Will("$likewise/subscriptions/x", b"{a > 1}")).reason == Reason.TOPIC_NAME_INVALID
    client.ended()


def test_a_will_of_a_lasting_session_is_published_after_a_crash(tmp_path: Path) -> None:
    """The broker is gone, and with it the connection: the client does not come back, so its will is due."""
    data, copy = tmp_path / "data", tmp_path / "copy"
    with devices(data) as found:
        client = lasting(found, "heir")
        client.again(will=Will("crash", b"1", 1), session_expiry=LAST)
        from likewise.broker.admin import backup

        backup(data, copy)  # as a crash at this moment would leave it
        client.cut()
    with devices(copy) as found:
        reader = found.client("reader")
        reader.subscribe("$likewise/q/%7Btopic%20%3D%20crash%7D", qos=1)
        assert [each.payload for each in reader.messages(1)] == [b"1"]
        reader.cut()


def test_messages_published_before_the_first_packet_are_refused(home: Devices) -> None:
    """So is a second CONNECT."""
    client = Client(home.port)
    client.send(Publish("early", b"1"))
    client.ended()
    client = home.client("twofold")
    client.raw(b"\x10\x10\0\4MQTT\4\2\0\x3c\0\4roof")
    said = client.ended()
    assert said is not None
    assert said.reason == Reason.PROTOCOL_ERROR
