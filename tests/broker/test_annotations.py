"""The broker lays annotations over events before it matches them, and keeps the events as they came."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.config import AnnotationSettings, Config, MatchingSettings, read_config
from likewise.broker.queries.dry_run import explain_live
from likewise.errors import ArtefactMissing, FormatError, InputError

ROWS = "key,is,attribute,value,unit,means\nsource,s17,room,room 112,,\nsource,s17,temp1,,degF,\n"


def written(path: Path, text: str, stamp: int) -> Path:
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(stamp, stamp))
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path / "annotations.csv", ROWS, 1_000)


@pytest.fixture
def broker(file: Path, tmp_path: Path) -> Iterator[Broker]:
    with Broker(tmp_path / "data", Config(annotations=AnnotationSettings(str(file)))) as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        broker.subscribe(tenant, "ann", [lw.parse("{room = room 112, temp1 < 30 degC}", id="cool room")])
        yield broker


def met(broker: Broker, id: str, **said: object) -> bool:
    """Publish an event of the source s17 and see whether ann gets it, as it came."""
    tenant = broker.tenant("default")
    broker.publish(tenant, [lw.event(said, source="s17", id=id)])
    broker.wait_until_matched()
    frames = [msgspec.json.decode(f) for _, f in broker.page(tenant, tenant.subscriber("ann"), after=0)]
    found = [frame["event"] for frame in frames if frame["event"]["id"] == id]
    assert all({t["attribute"]: t["value"] for t in event["tuples"]} == said for event in found)
    return bool(found)


def test_an_annotated_event_is_delivered_as_it_came(broker: Broker) -> None:
    """What annotations say counts for matching, explanations and feedback; the event stays what was published."""
    tenant = broker.tenant("default")
    assert met(broker, "e1", temp1=70)
    assert not met(broker, "e2", temp1=99)
    held = tenant.subscription("ann", "cool room")
    explained = explain_live(tenant, held, lw.event({"temp1": 70}, source="s17", id="e1"), 0)
    assert explained.verdict == "match"
    assert any("line 2" in said and "room = room 112" in said for said in explained.annotations)


def test_other_annotations_hold_from_the_next_event_on_and_bad_ones_do_not(broker: Broker, file: Path) -> None:
    """No restart is needed, and a mistake in the file holds up nothing."""
    assert met(broker, "e1", temp1=70)
    written(file, ROWS.replace("room 112", "room 7"), 2_000)
    assert not met(broker, "e2", temp1=70)
    written(file, ROWS + "source,s17,,,,\n", 3_000)
    assert not met(broker, "e3", temp1=70)
    assert broker.annotations is not None
    assert "line 4" in broker.annotations.problem
    written(file, ROWS, 4_000)
    assert met(broker, "e4", temp1=70)


def test_annotations_hold_again_after_a_restart_for_windows_too(file: Path, tmp_path: Path) -> None:
    """What windows hold was ranked as it was annotated."""
    config = Config(annotations=AnnotationSettings(str(file)))
    with Broker(tmp_path / "again", config) as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        best = lw.parse("{room = room 112} top 1 within 9 events by value(temp1 in degC) highest", id="warmest")
        broker.subscribe(tenant, "ann", [best])
        assert met(broker, "e1", temp1=70)
    with Broker(tmp_path / "again", config) as broker:
        assert not met(broker, "e2", temp1=60)
        assert met(broker, "e3", temp1=80)


def test_a_broker_does_not_start_with_annotations_or_types_that_cannot_be_used(file: Path, tmp_path: Path) -> None:
    """The mistake is said before anything is opened."""
    with pytest.raises(ArtefactMissing):
        Broker(None, Config(annotations=AnnotationSettings(str(tmp_path / "none.csv"))))
    written(file, ROWS + "x\n", 2_000)
    with pytest.raises(FormatError, match="line 4"):
        Broker(None, Config(annotations=AnnotationSettings(str(file))))
    circle = (
        "@prefix s: <http://www.w3.org/2000/01/rdf-schema#> . <e:a> s:subClassOf <e:b> . <e:b> s:subClassOf <e:a> ."
    )
    types = written(tmp_path / "types.ttl", circle, 1_000)
    with pytest.raises(InputError, match="circle: e:"):
        Broker(None, Config(matching=MatchingSettings(types=str(types))))


def test_the_configuration_names_annotations_and_types(file: Path, tmp_path: Path) -> None:
    """In the file and in the environment."""
    said = tmp_path / "likewise.toml"
    said.write_text('[annotations]\nfile = "a.csv"\n[matching]\ntypes = "t.ttl"\n', encoding="utf-8")
    found = read_config(said, {"LIKEWISE_ANNOTATIONS_FILE": str(file)})
    assert (found.annotations.file, found.matching.types) == (str(file), "t.ttl")


def test_a_broker_follows_declared_types(tmp_path: Path) -> None:
    """`is-a` goes by the file of the configuration."""
    turtle = "@prefix s: <http://www.w3.org/2004/02/skos/core#> . <e:Thermometer> s:broader <e:Sensor> ."
    types = written(tmp_path / "types.ttl", turtle, 1_000)
    with Broker(None, Config(matching=MatchingSettings(types=str(types)))) as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        broker.subscribe(tenant, "ann", [lw.parse('{type is-a "sensor"}', id="sensors")])
        assert met(broker, "e1", type="Thermometer")
        assert not met(broker, "e2", type="lamp")
