"""A hub and edges: what is wanted goes up, what is met comes down, each once."""

from __future__ import annotations

from pathlib import Path

import httpx

import likewise as lw
from likewise.client import Publisher
from tests.edge.brokers import connected, edge, hub, until


def test_events_of_an_edge_reach_subscribers_above(tmp_path: Path) -> None:
    """An event that is published at the edge is delivered at the hub."""
    with hub() as above:
        above.broker.register(above.tenant, "ann")
        above.broker.subscribe(above.tenant, "ann", [lw.parse("{no2 > 40}", id="bad air")])
        with edge("roof", above.address) as below:
            until(lambda: connected(below), "the line opens")
            events = [lw.event({"no2": n}, id=f"e{n}", source="roof/1") for n in (30, 45, 50)]
            below.broker.publish(below.tenant, events)
            until(lambda: len(above.got("ann")) == 2, "both are delivered")
            assert above.got("ann") == {("bad air", "e45"), ("bad air", "e50")}


def test_what_nobody_asks_for_stays_at_the_edge(tmp_path: Path) -> None:
    """Once a source's words are judged, only what a filter wants goes up."""
    with hub() as above:
        above.broker.register(above.tenant, "ann")
        above.broker.subscribe(above.tenant, "ann", [lw.parse("{no2 > 40}", id="bad air")])
        with edge("roof", above.address) as below:
            until(lambda: connected(below), "the line opens")
            assert below.uplink is not None
            outbox = below.uplink.outbox
            below.broker.publish(below.tenant, [lw.event({"no2": 1}, id="first", source="roof/1")])
            until(lambda: outbox.demand.filters, "the demand comes")
            before = outbox.counts.passed_over
            below.broker.publish(
                below.tenant, [lw.event({"no2": n % 60}, id=f"e{n}", source="roof/1") for n in range(120)]
            )
            until(lambda: len(above.got("ann")) == 38, "all that are wanted are delivered")
            assert outbox.counts.passed_over - before == 82


def test_a_new_subscription_has_the_edges_earlier_events(tmp_path: Path) -> None:
    """Those that are still valid, as with one broker (source C, Figure 9)."""
    with hub() as above, edge("roof", above.address) as below:
        until(lambda: connected(below), "the line opens")
        assert below.uplink is not None
        outbox = below.uplink.outbox
        below.broker.publish(below.tenant, [lw.event({"no2": 1}, id="first", source="roof/1")])
        until(lambda: outbox.demand.groups, "the source is judged")
        below.broker.publish(below.tenant, [lw.event({"no2": n}, id=f"e{n}", source="roof/1") for n in (30, 45, 50)])
        until(lambda: outbox.counts.passed_over == 3, "nobody wants them")
        above.broker.register(above.tenant, "ann")
        above.broker.subscribe(above.tenant, "ann", [lw.parse("{no2 > 40}", id="bad air")])
        until(lambda: above.got("ann") == {("bad air", "e45"), ("bad air", "e50")}, "earlier events come up")


def test_subscribers_at_an_edge_get_what_others_publish(tmp_path: Path) -> None:
    """From the hub and from another edge, once each; and their own edge's events, too."""
    with hub() as above, edge("roof", above.address) as roof, edge("cellar", above.address) as cellar:
        until(lambda: connected(roof) and connected(cellar), "the lines open")
        roof.broker.register(roof.tenant, "bob")
        roof.broker.subscribe(roof.tenant, "bob", [lw.parse("{no2 > 40}", id="bad air")])
        until(lambda: above.tenant.subscribers["edge:roof"].subscriptions, "the hub holds it")
        for at, name in ((above, "hub"), (roof, "roof"), (cellar, "cellar")):
            at.broker.publish(
                at.tenant, [lw.event({"no2": 50}, id=name, source=name), lw.event({"no2": 5}, id=f"{name}-")]
            )
        wanted = {("bad air", "hub"), ("bad air", "roof"), ("bad air", "cellar")}
        until(lambda: roof.got("bob") == wanted, "all three are delivered")
        assert len(roof.tenant.subscriber("bob")) == 3


def test_a_withdrawn_event_is_withdrawn_at_the_other_end() -> None:
    """An event of the edge at the hub, and one of the hub at the edge."""
    with hub() as above, edge("roof", above.address) as roof:
        until(lambda: connected(roof), "the line opens")
        for at, who in ((above, "ann"), (roof, "bob")):
            at.broker.register(at.tenant, who)
            at.broker.subscribe(at.tenant, who, [lw.parse("{no2 > 40}", id="bad air")])
        until(lambda: above.tenant.subscribers["edge:roof"].subscriptions, "the hub holds it")
        roof.broker.publish(roof.tenant, [lw.event({"no2": 50}, id="r", source="roof")])
        above.broker.publish(above.tenant, [lw.event({"no2": 50}, id="h", source="hub")])
        both = {("bad air", "r"), ("bad air", "h")}
        until(lambda: above.got("ann") == both and roof.got("bob") == both, "both have both")
        roof.broker.withdraw(roof.tenant, "r")
        above.broker.withdraw(above.tenant, "h")
        until(lambda: not above.got("ann") and not roof.got("bob"), "neither has any")


def test_an_edge_goes_on_without_a_line_and_catches_up(tmp_path: Path) -> None:
    """Local subscribers are served meanwhile, and what was published goes up when the hub is back."""
    with hub(tmp_path / "hub") as above:
        port = above.port
        above.broker.register(above.tenant, "ann")
        above.broker.subscribe(above.tenant, "ann", [lw.parse("{no2 > 40}", id="bad air")])
        with edge("roof", above.address, tmp_path / "roof") as below:
            until(lambda: connected(below), "the line opens")
            below.broker.publish(below.tenant, [lw.event({"no2": 45}, id="e0", source="roof/1")])
            until(lambda: above.got("ann"), "it is delivered")
    import msgspec

    from tests.edge.brokers import SMALL

    with edge("roof", f"http://127.0.0.1:{port}", tmp_path / "roof") as below:
        below.broker.register(below.tenant, "bob")
        below.broker.subscribe(below.tenant, "bob", [lw.parse("{no2 > 40}", id="here")])
        below.broker.publish(below.tenant, [lw.event({"no2": n}, id=f"e{n}", source="roof/1") for n in (30, 50)])
        until(lambda: below.got("bob") == {("here", "e0"), ("here", "e50")}, "local subscribers are served")
        server = msgspec.structs.replace(SMALL.server, port=port)
        with hub(tmp_path / "hub", msgspec.structs.replace(SMALL, server=server)) as above:
            until(lambda: above.got("ann") == {("bad air", "e0"), ("bad air", "e50")}, "it catches up")


def test_an_edge_connects_to_another_broker_and_disconnects_while_it_runs(tmp_path: Path) -> None:
    """Table 2 of source C: what is published meanwhile waits, and goes up to the broker that is connected next."""
    with hub() as first, hub() as second, edge("roof", first.address, tmp_path / "roof") as below:
        for above in (first, second):
            above.broker.register(above.tenant, "ann")
            above.broker.subscribe(above.tenant, "ann", [lw.parse("{no2 > 40}", id="bad air")])
        until(lambda: connected(below), "the line opens")
        with httpx.Client(base_url=below.address) as http:
            assert http.get("/v1/uplink").json()["state"] == "connected"
            below.broker.publish(below.tenant, [lw.event({"no2": 45}, id="e1", source="roof/1")])
            until(lambda: first.got("ann") == {("bad air", "e1")}, "the first broker delivers")

            uplink = below.uplink
            assert uplink is not None
            with Publisher(below.address) as client:
                assert client.disconnect_from_broker().state == "disconnected"
            until(lambda: uplink.connection is None, "the line closes")
            below.broker.publish(below.tenant, [lw.event({"no2": 50}, id="e2", source="roof/1")])
            until(lambda: http.get("/v1/uplink").json()["waiting"] == 1, "it waits")
            assert first.got("ann") == {("bad air", "e1")}

            with Publisher(below.address) as client:
                assert client.connect_to_broker(second.address).upstream == (second.address.replace("http", "ws"),)
            until(lambda: connected(below), "the other line opens")
            until(lambda: second.got("ann") >= {("bad air", "e2")}, "the second broker delivers what waited")
            assert first.got("ann") == {("bad air", "e1")}
            assert http.put("/v1/uplink", json={"upstream": "ftp://x"}).status_code == 400
        with httpx.Client(base_url=second.address) as http:  # which is none at the edge
            assert http.get("/v1/uplink").status_code == 409


def test_what_was_chosen_holds_after_a_restart_until_another_address_is_given(tmp_path: Path) -> None:
    """As `disconnect` before a crash must not be undone by it."""
    with hub() as above, hub() as other:
        with edge("roof", above.address, tmp_path / "roof") as below, httpx.Client(base_url=below.address) as http:
            until(lambda: connected(below), "the line opens")
            http.delete("/v1/uplink")
        with edge("roof", above.address, tmp_path / "roof") as below, httpx.Client(base_url=below.address) as http:
            assert http.get("/v1/uplink").json()["state"] == "disconnected"
            http.put("/v1/uplink", json={"upstream": other.address})
            until(lambda: connected(below), "it connects again")
            assert below.uplink is not None
            assert below.uplink.address == other.address.replace("http", "ws")
        with edge("roof", f"{above.address},{other.address}", tmp_path / "roof") as below:
            until(lambda: connected(below), "the address that is given counts")
            assert below.uplink is not None
            assert below.uplink.address == above.address.replace("http", "ws")
