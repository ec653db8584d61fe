"""Declared types reach every engine through the matcher's door, and are saved with it."""

from __future__ import annotations

from pathlib import Path

import pytest

import likewise as lw
from likewise.errors import ArtefactDamaged, ArtefactMissing, FormatError, InputError
from likewise.matching.registry import Choice
from likewise.model import Kind
from likewise.model.hierarchies.types import Hierarchy
from likewise.testing import TableMeasure

TYPES = {"Thermometer": "Sensor", "Sensor": ["Device", "Asset"]}
TURTLE = """
@prefix b: <https://brickschema.org/schema/Brick#> . @prefix s: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix k: <http://www.w3.org/2004/02/skos/core#> . @prefix o: <http://www.w3.org/2002/07/owl#> .
b:Air_Temperature_Sensor s:subClassOf b:Temperature_Sensor, [ a o:Restriction ], b:Air_Temperature_Sensor .
b:Temperature_Sensor k:broader b:Sensor .
b:Sensor s:label "Sensor" .
"""


@pytest.mark.parametrize(
    ("kind", "engine", "text"),
    [
        *(("exact", engine, '{type is-a "device"}') for engine in ("bitmap", "forest", "sgim", "naive")),
        *(("approximate", engine, '{type is-a "device", a~ exists}') for engine in ("thematic", "naive")),
        *(("top", engine, '{type is-a "device"} top 1 within 5 events by value(a)') for engine in ("topk", "naive")),
    ],
)
def test_every_engine_follows_declared_types(kind: Kind, engine: Choice, text: str) -> None:
    """The exact, the relaxed and the ranking ones; what is declared holds over several steps."""
    matcher = lw.Matcher(types=TYPES, measure=TableMeasure({}), engines={kind: engine})
    matcher.add(lw.parse(text, id="s"), at=0)
    assert [len(matcher.match({"type": t, "a": a}, at=a)) for a, t in ((5, "thermometer"), (4, "lamp"))] == [1, 0]
    assert matcher.explain({"type": "Thermometer", "a": 1}, "s", at=9).verdict == "match"


def test_types_come_from_rdf(tmp_path: Path) -> None:
    """rdfs:subClassOf and skos:broader between names; restrictions and steps from a type to itself are left out."""
    path = tmp_path / "brick.ttl"
    path.write_text(TURTLE, encoding="utf-8")
    for given in (path, str(path)):
        matcher = lw.Matcher(types=given)
        matcher.add(lw.parse('{type is-a "sensor"}', id="s"))
        assert len(matcher.match({"type": "Air Temperature Sensor"})) == 1
        assert len(matcher.match({"type": "https://brickschema.org/schema/Brick#Air_Temperature_Sensor"})) == 1
        assert not matcher.match({"type": "pump"})
    path.write_text("<e:a> <e:b> <e:c> .", encoding="utf-8")
    with pytest.raises(FormatError, match="declares no types"):
        lw.Matcher(types=path)
    with pytest.raises(ArtefactMissing):
        lw.Matcher(types=tmp_path / "none.ttl")


def test_a_circle_is_refused_with_its_members() -> None:
    """Whichever way it is declared; the same last part under two names is no circle."""
    with pytest.raises(InputError) as caught:
        lw.Matcher(types={"Thermometer": "Sensor", "Sensor": "device", "Device": "thermometer", "Lamp": "Device"})
    assert all(name in str(caught.value) for name in ("thermometer", "sensor", "device"))
    assert "lamp" not in str(caught.value)
    assert Hierarchy([("https://a.org/Sensor", "https://b.org/Sensor")]).is_a("https://a.org/Sensor", "b:Sensor")


def test_what_is_no_hierarchy_is_refused_at_once() -> None:
    """Before anything is matched."""
    for wrong in (5, [("a", "b")], {"a": 5}, {"a": [5]}, {"a": ""}):
        with pytest.raises(InputError):
            lw.Matcher(types=wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError):
        lw.Matcher(types=TYPES, interpretation=lw.Matcher().interpretation)


def test_types_are_saved_with_the_matcher(tmp_path: Path) -> None:
    """They come back as they were declared; others may be given in their place; damage is refused."""
    matcher = lw.Matcher(types={"http://e.org/HeatPump": "http://e.org/Pump"})
    matcher.add(lw.parse('{type is-a "pump"}', id="s"))
    matcher.save(tmp_path / "m")
    again = lw.Matcher.load(tmp_path / "m")
    assert again.interpretation.types.declared == matcher.interpretation.types.declared
    assert [len(again.match({"type": t})) for t in ("heat pump", "heatpump")] == [1, 0]
    assert [len(again.snapshot().match(lw.event({"type": "heat pump"}))), len(again.alike().interpretation.types)] == [
        1,
        2,
    ]
    assert not lw.Matcher.load(tmp_path / "m", types={"a": "b"}).match({"type": "heat pump"})
    (tmp_path / "m" / "types.json").write_text("[]", encoding="utf-8")
    with pytest.raises(ArtefactDamaged):
        lw.Matcher.load(tmp_path / "m")
