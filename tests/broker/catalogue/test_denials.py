"""What a person says that an attribute is not: the false match ends, for that model, from the next message on."""

from __future__ import annotations

from pathlib import Path

import pytest

import likewise as lw
from likewise.broker.broker import Broker
from likewise.errors import InputError
from likewise.semantics.enrichment.corrections import Correction
from likewise.semantics.enrichment.rows import read_annotations, write_annotations
from likewise.semantics.enrichment.table import AnnotationTable


def delivered(broker: Broker) -> list[str]:
    """The ids of the events that were delivered so far."""
    import json

    broker.wait_until_matched()
    tenant = broker.tenant("default")
    return [json.loads(frame)["event"]["id"] for _, frame in broker.page(tenant, tenant.subscriber("ann"), after=0)]


def reading(id: str, model: str) -> lw.Event:
    return lw.event({"load_watts": 10, "model": model}, id=id, source=f"device {model}")


def test_this_is_not_power_ends_the_false_match_from_the_next_message_on(tmp_path: Path) -> None:
    with Broker(tmp_path) as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        broker.subscribe(tenant, "ann", [lw.parse('{"active power"~ > 3 W}', id="power")])
        broker.publish(tenant, [reading("before", "AX")])
        [number] = broker.announcements.correct(tenant, [Correction("load_watts", "model", "AX", denies=("power",))])
        broker.publish(tenant, [reading("after", "AX"), reading("other model", "BX")])
        assert delivered(broker) == ["before", "other model"]
    with Broker(tmp_path) as broker:  # after a restart, too
        tenant = broker.tenant("default")
        broker.publish(tenant, [reading("restarted", "AX")])
        assert delivered(broker)[-1] == "other model"
        broker.announcements.take_back(tenant, number)
        broker.publish(tenant, [reading("taken back", "AX")])
        assert delivered(broker)[-1] == "taken back"


def test_its_own_name_finds_it_still_exactly_and_by_meaning() -> None:
    said = Correction("load_watts", denies=("power",)).row()
    matcher = lw.Matcher(annotations=[{"key": said.key, "means": said.means}])
    for text in ("{load_watts > 3}", "{load_watts~ > 3}", "{power~ > 3 W}"):
        matcher.add(lw.parse(text, id=text))
    found = {match.subscription_id for match in matcher.match(lw.event({"load_watts": 10}))}
    assert found == {"{load_watts > 3}", "{load_watts~ > 3}"}


def test_what_was_denied_stays_denied_and_what_it_is_stays_said() -> None:
    first = Correction("x", means="fan stage", denies=("power",))
    assert Correction("x", denies=("energy",)).after(first) == Correction(
        "x", means="fan stage", denies=("power", "energy")
    )
    assert Correction("x", means="fan speed").after(first).denies == ("power",)
    assert first.row().means == "fan stage (not power)"


@pytest.mark.parametrize("denied", ["", "a;b", "power)"])
def test_a_denial_that_cannot_be_written_is_refused(denied: str) -> None:
    with pytest.raises(InputError):
        Correction("x", denies=(denied,))


def test_workers_and_streams_are_sent_what_was_denied() -> None:
    """They are sent annotations as CSV, which has it in the name."""
    table = AnnotationTable([Correction("load_watts", "model", "AX", denies=("power", "energy")).row(7)])
    assert [row.means for row in read_annotations(write_annotations(table))] == ["load_watts (not power; energy)"]
