"""What breaks between brokers: each has a name, and does what the guide says."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import httpx
import msgspec
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

import likewise as lw
from likewise.api import edge_frames as wire
from likewise.broker.config import Config, EdgeSettings, MatchingSettings, ServerSettings
from likewise.broker.log.tokens import make_token
from likewise.defaults import EDGE_ITEMS
from likewise.edge.app import make_edge_broker
from likewise.edge.bounds import Bounds
from likewise.model.announcements.announcement import AnnouncedAttribute, Announcement
from tests.edge.brokers import SMALL, Running, connected, edge, hub, until
from tests.edge.relay import Relay, free_port


def test_a_reset_edge_begins_anew(tmp_path: Path) -> None:
    """Another epoch: its numbers start at one, and nothing of it is taken for something the hub has."""
    with hub() as above:
        above.broker.register(above.tenant, "ann")
        above.broker.subscribe(above.tenant, "ann", [lw.parse("{no2 > 40}", id="bad air")])
        for name in ("one", "other"):
            with edge("roof", above.address, tmp_path / name) as below:
                until(lambda: connected(below), "the line opens")
                below.broker.publish(below.tenant, [lw.event({"no2": 50}, id=name, source="roof")])
                until(lambda: ("bad air", name) in above.got("ann"), "it is delivered")  # noqa: B023
        assert above.got("ann") == {("bad air", "one"), ("bad air", "other")}


def test_an_edge_restored_from_an_older_copy_takes_another_epoch(tmp_path: Path) -> None:
    """The hub has later numbers than the edge ever dealt: its new events are not taken for old ones."""
    with hub() as above:
        above.broker.register(above.tenant, "ann")
        above.broker.subscribe(above.tenant, "ann", [lw.parse("{no2 > 40}", id="bad air")])

        def publish(ids: list[str]) -> None:
            with edge("roof", above.address, tmp_path / "roof") as below:
                until(lambda: connected(below), "the line opens")
                below.broker.publish(below.tenant, [lw.event({"no2": 50}, id=id, source="roof") for id in ids])
                until(lambda: {("bad air", id) for id in ids} <= above.got("ann"), "they are delivered")

        publish(["a"])
        shutil.copytree(tmp_path / "roof", tmp_path / "copy")
        publish(["b", "c", "d"])
        shutil.rmtree(tmp_path / "roof")
        shutil.copytree(tmp_path / "copy", tmp_path / "roof")
        publish(["e"])
        assert above.got("ann") == {("bad air", id) for id in "abcde"}


def test_a_second_edge_of_the_same_name_takes_the_place_of_the_first() -> None:
    """The first is closed; whoever came last is shown."""
    with hub() as above, edge("roof", above.address) as one:
        until(lambda: connected(one), "the first line opens")
        first = above.broker.edges.connected[above.tenant.number, "roof"]
        with edge("roof", above.address) as other:
            until(lambda: connected(other), "the second line opens")
            until(lambda: above.broker.edges.connected.get((above.tenant.number, "roof")) is not first, "it takes over")


def test_a_line_that_falls_silent_is_left_for_the_next_address(tmp_path: Path) -> None:
    """Within three intervals; epoch and sequences stay, and nothing comes twice."""
    config = msgspec.structs.replace(SMALL, edges=EdgeSettings(interval=1.0))
    with hub(config=config) as above:
        one, other = Relay(above.port), Relay(above.port)
        above.broker.register(above.tenant, "ann")
        above.broker.subscribe(above.tenant, "ann", [lw.parse("{no2 > 40}", id="bad air")])
        with edge("roof", f"{one.address},{other.address}", config=config) as below:
            until(lambda: connected(below), "the line opens")
            one.hold()
            below.broker.publish(below.tenant, [lw.event({"no2": 50}, id="e", source="roof")])
            until(lambda: above.got("ann") == {("bad air", "e")}, "it comes by the other")
            assert other.messages["up hello"] >= 1
            assert len(above.tenant.subscriber("ann")) == 1


def test_a_line_that_is_cut_before_an_acknowledgement_doubles_nothing() -> None:
    """The hub has the events; they are sent again, and skipped."""
    with hub() as above:
        relay = Relay(above.port)
        above.broker.register(above.tenant, "ann")
        above.broker.subscribe(above.tenant, "ann", [lw.parse("{no2 > 40}", id="bad air")])
        cuts: list[str] = []

        def cut(way: str, kind: str) -> bool:
            if (way, kind) == ("down", "events-ack") and len(cuts) < 3:
                cuts.append(kind)
                return True
            return False

        relay.before = cut
        with edge("roof", relay.address) as below:
            for n in range(5):
                below.broker.publish(below.tenant, [lw.event({"no2": 50 + n}, id=f"e{n}", source="roof")])
            until(lambda: len(above.got("ann")) == 5 and cuts, "all are delivered")
            assert len(above.tenant.subscriber("ann")) == 5


def test_a_withdrawal_that_the_outbox_has_not_seen_is_not_swept(tmp_path: Path) -> None:
    """A broker that is killed while its outbox is behind: matching is through with the command, the outbox is not."""
    with hub() as above:
        above.broker.register(above.tenant, "ann")
        above.broker.subscribe(above.tenant, "ann", [lw.parse("{no2 > 40}", id="bad air")])
        with edge("roof", above.address, tmp_path) as below:
            until(lambda: connected(below), "the line opens")
            below.broker.publish(below.tenant, [lw.event({"no2": 50}, id="e", source="roof")])
            until(lambda: ("bad air", "e") in above.got("ann"), "it is delivered")
        with make_edge_broker(tmp_path, SMALL) as behind:
            behind.withdraw(behind.tenant("default"), "e")
            behind.wait_until_matched()
            behind.sweep()
        with edge("roof", above.address, tmp_path) as below:
            until(lambda: ("bad air", "e") not in above.got("ann"), "it is withdrawn above, too")
            until(lambda: not swept_commands(below), "what is needed no more goes")


def swept_commands(at: Running) -> list[int]:
    """The commands that are in the log after a sweep."""
    at.broker.wait_until_matched()
    at.broker.sweep()
    with at.broker.store.reading() as tables:
        return [position for (position,) in tables.rows("SELECT position FROM log WHERE kind = 1")]


def test_a_withdrawal_follows_an_event_that_was_dropped_after_it_went_up() -> None:
    """Its acknowledgement is lost with the line, and the outbox lets go of it meanwhile: it may be above."""
    with hub() as above:
        relay = Relay(above.port)
        above.broker.register(above.tenant, "ann")
        above.broker.subscribe(above.tenant, "ann", [lw.parse("{no2 > 40}", id="bad air")])

        def cut(way: str, kind: str) -> bool:
            if (way, kind) == ("down", "events-ack"):
                relay.open = False
                return True
            return False

        relay.before = cut
        with edge("roof", relay.address, bounds=Bounds(bytes=2_000)) as below:
            below.broker.publish(below.tenant, [lw.event({"no2": 50}, id="first", source="roof")])
            until(lambda: not relay.open and above.got("ann"), "the hub has it, and the edge does not know")
            more = [lw.event({"no2": 50}, id=f"e{n}", source="roof") for n in range(100)]
            below.broker.publish(below.tenant, more)
            assert below.uplink is not None
            until(lambda: below.uplink.outbox.counts.dropped, "it is dropped")  # type: ignore[union-attr]
            below.broker.withdraw(below.tenant, "first")
            relay.before = lambda way, kind: False
            relay.open = True
            until(lambda: ("bad air", "e99") in above.got("ann"), "the newest come up")
            until(lambda: ("bad air", "first") not in above.got("ann"), "it is withdrawn above, too")


def test_brokers_that_dial_each_other_are_refused() -> None:
    """A circle is seen from below, and nothing goes round."""
    port = free_port()
    config = msgspec.structs.replace(SMALL, server=ServerSettings(port=port))
    with edge("a", f"http://127.0.0.1:{free_port()}", config=config) as one:
        assert one.uplink is not None
        with edge("b", one.address) as other:
            until(lambda: connected(other), "b dials a")
            one.uplink._addresses[:] = [f"ws://127.0.0.1:{other.port}"]  # and a dials b
            one.broker.register(one.tenant, "ann")
            one.broker.subscribe(one.tenant, "ann", [lw.parse("{no2 > 40}", id="bad air")])
            time.sleep(3)
            assert not connected(one)
            assert sum(1 for _ in other.tenant.live()) <= 1


def test_edges_of_edges_pass_both_ways() -> None:
    """Up over two brokers, down over two brokers, once each."""
    with hub() as above, edge("house", above.address) as house, edge("room", house.address) as room:
        until(lambda: connected(house) and connected(room), "both lines open")
        above.broker.register(above.tenant, "ann")
        above.broker.subscribe(above.tenant, "ann", [lw.parse("{no2 > 40}", id="bad air")])
        room.broker.register(room.tenant, "bob")
        room.broker.subscribe(room.tenant, "bob", [lw.parse("{no2 > 40}", id="bad air")])
        until(lambda: above.tenant.subscribers["edge:house"].subscriptions, "the hub holds bob's")
        for at, name in ((above, "hub"), (house, "house"), (room, "room")):
            at.broker.publish(at.tenant, [lw.event({"no2": 50}, id=name, source=name)])
        wanted = {("bad air", name) for name in ("hub", "house", "room")}
        until(lambda: above.got("ann") == wanted and room.got("bob") == wanted, "both have all three")
        assert len(above.tenant.subscriber("ann")) == len(room.tenant.subscriber("bob")) == 3
        room.broker.withdraw(room.tenant, "room")
        until(lambda: ("bad air", "room") not in above.got("ann"), "a withdrawal passes both, too")


def test_a_token_identifies_edge_and_for_which_sources(tmp_path: Path) -> None:
    """Another edge's name is refused, and so are events of other sources; those it may send are taken."""
    with hub(tmp_path / "hub") as above:
        broker = above.broker
        token = broker.store.commit(
            lambda tables: make_token(tables, "roof", "default", ["edge:roof", "publish:roof/"], broker.clock())
        )
    with hub(tmp_path / "hub") as above:
        above.broker.register(above.tenant, "ann")
        above.broker.subscribe(above.tenant, "ann", [lw.parse("{no2 > 40}", id="bad air")])
        with edge("cellar", above.address, token=token) as wrong:
            until(lambda: any("refuses this edge" in each for each in wrong.broker.troubles()), "it says why")
            assert not connected(wrong)
        with edge("roof", above.address, token=token) as right:
            until(lambda: connected(right), "the line opens")
            right.broker.publish(
                right.tenant,
                [lw.event({"no2": 50}, id="mine", source="roof/1"), lw.event({"no2": 50}, id="not mine", source="x")],
            )
            until(lambda: above.got("ann") == {("bad air", "mine")}, "what it may send is taken")
            until(lambda: above.broker.edges.one_shown(above.tenant, "roof").refused >= 1, "the other is counted")


def test_an_edge_whose_token_opens_nothing_any_more_says_so(tmp_path: Path) -> None:
    """Above it is known when it was heard last and what it said; at the edge its troubles name the refusal."""
    with hub(tmp_path / "hub") as above:
        now, commit = above.broker.clock(), above.broker.store.commit
        mine = commit(lambda tables: make_token(tables, "roof", "default", ["edge:roof"], now))
        boss_has = commit(lambda tables: make_token(tables, "boss", "default", ["admin"], now))
    with (
        hub(tmp_path / "hub") as above,
        edge("roof", above.address, token=mine) as below,
        httpx.Client(headers={"Authorization": f"Bearer {boss_has}"}, timeout=60) as boss,
    ):
        until(lambda: connected(below), "the line opens")
        ready = f"http://127.0.0.1:{below.port}/readyz"
        assert httpx.get(ready, timeout=60).json()["troubles"] == []
        edges = f"http://127.0.0.1:{above.port}/v1/edges"
        until(lambda: boss.get(edges).json()[0].get("policy"), "it has said how it stands")
        [heard] = boss.get(edges).json()
        boss.delete(f"http://127.0.0.1:{above.port}/v1/tokens/roof").raise_for_status()
        until(lambda: httpx.get(ready, timeout=60).json()["troubles"], "the edge says that it is refused")
        [trouble] = httpx.get(ready, timeout=60).json()["troubles"]
        assert "refuses this edge: not_authenticated" in trouble
        [away] = boss.get(edges).json()
        assert away["state"] == "away"
        assert away["seen"] >= heard["seen"] > 0
        assert away["policy"] == heard["policy"]


def test_items_out_of_order_end_the_line() -> None:
    """Nothing of them is stored, and nothing is acknowledged."""
    event = {"v": 1, "payload": {"no2": 50}, "source": "roof"}
    with hub() as above, connect(f"ws://127.0.0.1:{above.port}/v1/edges/roof") as line:
        line.send(wire.encode_frame(wire.HelloFrame(id="roof", epoch="x")).decode())
        assert isinstance(wire.decode_hub_frame(line.recv(60)), wire.HelloAckFrame)
        items = [[9, event | {"id": "nine"}], [8, event | {"id": "eight"}]]
        line.send(msgspec.json.encode({"type": "events", "items": items, "v": 1}).decode())
        with pytest.raises(ConnectionClosed, match="in the order of their sequences"):
            line.recv(60)  # nothing else is said before
        assert above.broker.edges.one_shown(above.tenant, "roof").sequence == 0


@pytest.mark.parametrize(
    "said",
    [
        {"type": "events", "first": 1, "events": [{}] * (EDGE_ITEMS + 1)},
        {"type": "events", "items": [[1, {}, ["edge"] * 100]]},
        {"type": "health", "policy": "x" * 1000},
    ],
)
def test_what_passes_the_limits_is_no_message(said: dict[str, object]) -> None:
    """What the welcome allows is all that is read."""
    with pytest.raises(lw.LikewiseError, match="no message of the uplink"):
        wire.decode_edge_frame(msgspec.json.encode(said))


def test_a_value_outside_what_was_announced_goes_up() -> None:
    """A wrong range, or a wrong `complete`, loses nothing."""
    with hub() as above, edge("roof", above.address) as below:
        until(lambda: connected(below), "the line opens")
        above.broker.register(above.tenant, "ann")
        above.broker.subscribe(above.tenant, "ann", [lw.parse("{no2 > 400}", id="very bad")])
        said = Announcement("roof", (AnnouncedAttribute("no2", low=0, high=100),), complete=True)
        below.broker.announcements.announce(below.tenant, said)
        assert below.uplink is not None
        until(lambda: below.uplink.outbox.demand.groups, "it is asked for nothing")  # type: ignore[union-attr]
        below.broker.publish(below.tenant, [lw.event({"no2": n}, id=f"e{n}", source="roof") for n in (50, 500)])
        until(lambda: above.got("ann") == {("very bad", "e500")}, "it is delivered")
        assert below.uplink.outbox.counts.passed_over == 1


def test_a_new_demand_lets_nothing_wait_that_went_up() -> None:
    """Events that are above already are looked at again, and do not count as waiting; so the edge can say bye."""
    with hub() as above, edge("roof", above.address) as below:
        until(lambda: connected(below), "the line opens")
        assert below.uplink is not None
        outbox = below.uplink.outbox
        below.broker.publish(below.tenant, [lw.event({"no2": n}, id=f"e{n}", source="roof") for n in range(5)])
        until(lambda: outbox.counts.forwarded == 5 and not outbox.waiting, "all went up: nothing was judged")
        above.broker.register(above.tenant, "ann")
        for number in range(3):
            text = f"{{no2 > {number}}}"
            above.broker.subscribe(above.tenant, "ann", [lw.parse(text, id=text)])
            until(lambda: len(outbox.demand.filters) == number + 1, "it is asked for")  # noqa: B023
            assert (outbox.waiting, outbox.bytes) == (0, 0)


def test_sensors_of_an_edge_are_woken_and_rested_from_above() -> None:
    """By demand at the hub; a bye ends their leases at once."""
    with hub() as above, edge("roof", above.address) as below:
        until(lambda: connected(below), "the line opens")
        said = Announcement("roof", (AnnouncedAttribute("no2", low=0, high=500),), controllable=True, interval=5.0)
        below.broker.announcements.announce(below.tenant, said)

        def told() -> bool | None:
            sense = below.broker.activation.command(below.tenant, "roof")
            return None if sense is None else sense.on

        until(lambda: told() is False, "nobody asks: it rests")
        above.broker.register(above.tenant, "ann")
        above.broker.subscribe(above.tenant, "ann", [lw.parse("{no2 > 40}", id="bad air")])
        until(lambda: told() is True, "somebody asks: it wakes")
        below.stop()
        until(lambda: "roof" not in above.tenant.sources.announcements, "its lease ends with the bye")


def test_what_the_edge_does_not_serve_is_decided_above_and_said_so() -> None:
    """By meaning: about the edge's own events and about others, with the hub's scores; `decided` says where."""
    full = Config(
        server=ServerSettings(port=0), matching=MatchingSettings(profile="full"), edges=EdgeSettings(interval=2.0)
    )
    with hub(config=full) as above, edge("roof", above.address) as below:
        below.broker.register(below.tenant, "bob")
        held = below.broker.subscribe(below.tenant, "bob", [lw.parse("{air temperature~ > 25 degC}", id="warm")])
        assert below.tenant.decided(held[0]) in ("waiting", "above")
        until(lambda: connected(below), "the line opens")
        until(lambda: below.tenant.decided(held[0]) == "above", "the hub takes it", 120)
        warm = {"temperature": {"value": 30, "unit": "degC"}}
        below.broker.publish(below.tenant, [lw.event(warm, id="mine", source="roof")])
        above.broker.publish(above.tenant, [lw.event(warm, id="other", source="hub")])
        until(lambda: below.got("bob") == {("warm", "mine"), ("warm", "other")}, "both are delivered", 120)
        pages = below.broker.page(below.tenant, below.tenant.subscriber("bob"), after=0)
        scores = {msgspec.json.decode(frame)["subscriptions"][0]["score"] for _, frame in pages}
        [match] = _matched("{air temperature~ > 25 degC}", warm)
        assert scores == {round(match.score, 6)}


def _matched(text: str, payload: Mapping[str, object]) -> list[lw.Match]:
    matcher = lw.Matcher()
    matcher.add(lw.parse(text, id="s"))
    return list(matcher.match(lw.event(payload)))


def test_an_edge_loads_nothing_heavy(tmp_path: Path) -> None:
    """No numba, scipy, pyarrow and no space, whatever it did."""
    code = """
import sys, likewise as lw
from likewise.edge.app import attach_uplink, make_edge_broker
from likewise.server.http.server import make_app
from likewise.server.mqtt.broker.listener import open_sockets
from likewise.edge.uplink import parse_hub_addresses
with make_edge_broker(None) as broker:
    make_app(broker)
    uplink = attach_uplink(broker, "roof", parse_hub_addresses("http://127.0.0.1:9"))
    tenant = broker.tenant("default")
    broker.register(tenant, "bob")
    broker.subscribe(tenant, "bob", [lw.parse("{no2 > 40}", id="x"), lw.parse("{warm~ exists}", id="y")])
    uplink.outbox.start()
    broker.publish(tenant, [lw.event({"no2": 45}, id="e1")])
    broker.wait_until_matched()
    uplink.outbox.stop()
print([name for name in ("numba", "scipy", "pyarrow", "pandas", "likewise.semantics.space") if name in sys.modules])
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert found.stdout.strip().endswith("[]"), found.stdout + found.stderr


@pytest.mark.parametrize("wrong", ["ftp://hub", "hub:8787", ""])
def test_an_address_that_is_none_is_refused(wrong: str) -> None:
    """Before anything starts."""
    from likewise.edge.uplink import parse_hub_addresses

    with pytest.raises(lw.LikewiseError, match="no address of a broker"):
        parse_hub_addresses(wrong)
