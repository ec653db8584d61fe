"""Groups: each message goes to one member; what one does not acknowledge goes to another, with QoS 2 never."""

from __future__ import annotations

from pathlib import Path

from likewise.server.mqtt.codec import FilterRequest, Puback, Pubrec, Pubrel, Reason, Subscribe
from tests.server.mqtt.broker.conftest import Devices, devices

LAST = 100_000  # seconds


def test_each_message_goes_to_one_member_by_fewest_in_flight(home: Devices) -> None:
    """And to those outside the group as ever; QoS 0 is dealt in turns."""
    with home.client("s1") as one, home.client("s2") as two, home.client() as all_, home.client() as writer:
        for client in (one, two):
            assert client.subscribe("$share/g1/shared/#", qos=1).reasons == (1,)
        all_.subscribe("shared/#", qos=1)
        for n in range(6):
            writer.publish("shared/a", b"%d" % n)
        assert len(all_.messages(6)) == 6
        mine, yours = one.messages(3, acknowledge=False), two.messages(3, acknowledge=False)
        assert sorted(each.payload for each in (*mine, *yours)) == [b"%d" % n for n in range(6)]
        for n in range(4):
            writer.publish("shared/b", b"%d" % n, 0)
        assert len(one.messages(2)) == len(two.messages(2)) == 2


def test_what_a_member_leaves_goes_to_another_except_qos_2(home: Devices) -> None:
    """QoS 2 would be twice: it waits for its own."""
    with home.client("t2") as two, home.client() as writer:
        one = home.client("t1", clean=False, session_expiry=LAST)
        one.subscribe("$share/g2/left", qos=2)
        for n, qos in enumerate((1, 2, 1)):
            writer.publish("left", b"%d" % n, qos)
        [held] = [each for each in one.messages(3, acknowledge=False) if each.payload == b"1"]
        two.subscribe("$share/g2/left", qos=2)
        assert not two.settled()
        one.cut()
        assert {each.payload for each in two.messages(2)} == {b"0", b"2"}
        assert one.again(session_expiry=LAST).session_present
        [again] = one.messages(1, acknowledge=False)
        assert (again.payload, again.packet_id, again.dup) == (b"1", held.packet_id, True)
        assert not two.settled()
        one.cut()


def test_a_group_gets_no_retained_messages_and_no_local_is_refused(home: Devices) -> None:
    """As the standard says."""
    with home.client() as writer, home.client() as reader:
        writer.publish("group/kept", b"1", 1, retain=True)
        assert reader.subscribe("$share/g3/group/kept", qos=1).reasons == (1,)
        assert not reader.settled()
        reader.send(Subscribe(9, (FilterRequest("$share/g3/group/other", 1, no_local=True),)))
        said = reader.ended()
        assert said is not None
        assert said.reason == Reason.PROTOCOL_ERROR


def test_a_group_may_share_a_subscription_by_meaning(home: Devices) -> None:
    """`$share/G/$likewise/NAME`: one of them gets each match."""
    with home.client("m1") as one, home.client("m2") as two, home.client() as writer:
        for client in (one, two):
            answer = client.subscribe("$share/g4/$likewise/hot", qos=1, user=(("q", "{shared_heat > 5}"),))
            assert answer.reasons == (1,)
        for n in (6, 7, 1, 8, 9):
            writer.publish("h", b'{"shared_heat": %d}' % n)
        found = [*one.messages(2, acknowledge=False), *two.messages(2, acknowledge=False)]
        assert {each.topic for each in found} == {"$likewise/hot"}
        assert sorted(each.payload for each in found) == [b'{"shared_heat": %d}' % n for n in (6, 7, 8, 9)]


def test_a_group_ends_with_its_last_member(home: Devices) -> None:
    """Its queue is no longer filled."""
    name = "mqtt-share:g5/ends"
    with home.client("e1") as one:
        one.subscribe("$share/g5/ends", qos=1)
        with home.client("e2") as two:
            two.subscribe("$share/g5/ends", qos=1)
            assert one.unsubscribe("$share/g5/ends").reasons == (0,)
            assert name in home.tenant.subscribers
        home.until(lambda: name not in home.tenant.subscribers)


def test_a_groups_acknowledgements_beyond_the_first_open_one_survive_a_restart(tmp_path: Path) -> None:
    """What is settled does not come again, what is not goes to whoever is there."""
    with devices(tmp_path / "data") as found:
        one = found.client("one", clean=False, session_expiry=LAST)
        one.subscribe("$share/g/kept", qos=2)
        with found.client() as writer:
            for n, qos in enumerate((1, 2, 1)):
                writer.publish("kept", b"%d" % n, qos)
        sent = {each.payload: each.packet_id for each in one.messages(3, acknowledge=False)}
        one.send(Puback(sent[b"2"]), Pubrec(sent[b"1"]))
        one.next(Pubrel)
        one.cut()
    with devices(tmp_path / "data") as found:
        one.port = found.port
        with found.client("two") as two:
            two.subscribe("$share/g/kept", qos=2)
            assert [each.payload for each in two.messages(1)] == [b"0"]
            assert one.again(session_expiry=LAST).session_present
            assert one.next(Pubrel).packet_id == sent[b"1"]
            assert not one.settled()
            assert not two.settled()
        one.cut()
