"""A source that is renamed at an edge is renamed above: alarms go along, in whatever order things come."""

from __future__ import annotations

from pathlib import Path

import likewise as lw
from likewise.broker.config import Config, EdgeSettings, ServerSettings
from likewise.broker.log.entries import RenameSourceCommand
from likewise.broker.log.tokens import make_token
from tests.edge.brokers import connected, edge, hub, until
from tests.server.mqtt.test_source_upgrade import said
from tests.server.mqtt.test_stable_ids import KITCHEN, SMOKE, House

WHOLE = Config(server=ServerSettings(port=0), edges=EdgeSettings(interval=0.5))


def renames(house: House) -> list[RenameSourceCommand]:
    store = house.broker.store
    return [each.value for each in store.entries(0, store.position) if isinstance(each.value, RenameSourceCommand)]


def test_an_address_that_an_edge_learns_later_takes_over_the_alarm_above() -> None:
    """Smoke under the name, its end under the address: one alarm and one `cleared` at the hub."""
    with hub(config=WHOLE) as above:
        ann = House(above.broker)
        ann.subscribe(SMOKE)
        with edge("roof", above.address) as below:
            until(lambda: connected(below), "the line opens")
            house = House(below.broker)
            house.say("zigbee2mqtt/kitchen", {"smoke": True})
            until(lambda: ann.causes() == [("arrival", "zigbee2mqtt/kitchen")], "the alarm comes")
            house.devices(**{KITCHEN: "kitchen"})
            until(lambda: above.tenant.sources.identities.resolve("zigbee2mqtt/kitchen") == KITCHEN, "the hub is told")
            house.say("zigbee2mqtt/kitchen", {"smoke": False})
            until(lambda: len(said(above.broker)) == 2, "its end comes")
            assert ann.causes()[1] == ("cleared", KITCHEN)
            assert above.tenant.sources.identities.labels == {KITCHEN: "kitchen"}
            assert len(renames(ann)) == 1


def test_what_waited_at_the_edge_under_a_name_of_before_is_of_the_device(tmp_path: Path) -> None:
    """The line is down while the source is renamed: what comes later in one go is one device above."""
    with hub(config=WHOLE) as above:
        ann = House(above.broker)
        ann.subscribe(SMOKE)
        with edge("roof", "http://127.0.0.1:9", tmp_path) as below:
            house = House(below.broker)
            house.say("zigbee2mqtt/kitchen", {"smoke": True})
            house.broker.announcements.start_rename(
                house.tenant, RenameSourceCommand("boiler", ("tasmota:boiler",)), lambda result: None
            )
            house.devices(**{KITCHEN: "kitchen"})
            house.say("zigbee2mqtt/kitchen", {"smoke": False})
        with edge("roof", above.address, tmp_path) as below:
            until(lambda: len(said(above.broker)) == 2, "both come")
            assert ann.causes() == [("arrival", KITCHEN), ("cleared", KITCHEN)]
            assert above.tenant.sources.identities.sources_of("boiler") == {"tasmota:boiler"}
        before = len(renames(ann))
        with edge("roof", above.address, tmp_path) as below:
            until(lambda: connected(below), "the line opens again")
            house = House(below.broker)
            house.say("zigbee2mqtt/kitchen", {"smoke": True})
            until(lambda: len(said(above.broker)) == 3, "it goes on")
        assert len(renames(ann)) == before  # what is known is no news


def test_an_edge_of_the_release_before_goes_on_with_its_names() -> None:
    """It sends no renames, and its names are its sources above, whatever was renamed here."""
    with hub(config=WHOLE) as above:
        ann = House(above.broker)
        ann.subscribe(SMOKE)
        with edge("roof", above.address) as below:
            until(lambda: connected(below), "the line opens")
            publish = below.broker.publish
            publish(below.tenant, [lw.event({"smoke": True, "topic": "tele/attic/SENSOR"}, id="a", source="attic")])
            until(lambda: ann.causes() == [("arrival", "attic")], "the alarm comes")
            publish(below.tenant, [lw.event({"smoke": False, "topic": "tele/attic/SENSOR"}, id="b", source="attic")])
            until(lambda: ann.causes() == [("arrival", "attic"), ("cleared", "attic")], "its end comes")


def test_a_bound_edge_renames_its_own_sources_alone(tmp_path: Path) -> None:
    """To names that are nobody's; then what comes under the new name is allowed by the old one."""
    with hub(tmp_path / "hub", WHOLE) as above:
        store, tenant = above.broker.store, above.tenant
        above.broker.publish(tenant, [lw.event({"t": 1}, source="victim")])
        above.broker.learning.wait_until_learnt()
        token = store.commit(lambda c: make_token(c, "e", "default", ["edge:roof", "publish:zigbee2mqtt/kitchen"], 1))
    with hub(tmp_path / "hub", WHOLE) as above:
        ann = House(above.broker)
        ann.subscribe("{smoke exists}")
        above.broker.learning.wait_until_learnt()
        with edge("roof", above.address, token=token) as below:
            until(lambda: connected(below), "the line opens")
            house = House(below.broker)
            for before, after in (("zigbee2mqtt/kitchen", "victim"), ("zigbee2mqtt/hall", "0x07")):
                command = RenameSourceCommand(before, (after,))
                house.broker.announcements.start_rename(house.tenant, command, lambda result: None)
            house.devices(**{KITCHEN: "kitchen"})
            house.say("zigbee2mqtt/kitchen", {"smoke": True})
            until(lambda: ann.causes() == [("arrival", KITCHEN)], "it is allowed")
            known = above.tenant.sources.identities
            assert known.sources_of("zigbee2mqtt/hall") == set()
            assert "victim" not in known.sources_of("zigbee2mqtt/kitchen")
