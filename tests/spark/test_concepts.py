"""Public vocabularies become rows of the inventory, on Spark."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from likewise.errors import InputError
from likewise.semantics.concepts.rows import read_rows
from likewise.spark.concepts import VocabularySource, build_concepts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BRICK = """
@prefix brick: <https://brickschema.org/schema/Brick#> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
brick:Water a brick:Substance ; rdfs:label "Water"@en ; skos:broader brick:Liquid .
brick:Liquid a brick:Substance ; rdfs:label "Liquid"@en .
brick:Blowdown_Water a brick:Substance ; rdfs:label "Blowdown Water"@en, "Eau"@fr ; skos:broader brick:Water .
brick:Chilled_Water a brick:Substance ; rdfs:label "Chilled Water"@en ; skos:broader brick:Water .
brick:Old_Water a brick:Substance ; rdfs:label "Brackish Water"@en ; skos:broader brick:Water ; owl:deprecated true .
"""
QUDT = """
@prefix qudt: <http://qudt.org/schema/qudt/> . @prefix k: <http://qudt.org/vocab/quantitykind/> .
@prefix unit: <http://qudt.org/vocab/unit/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
k:BulkModulus a qudt:QuantityKind ; rdfs:label "Bulk Modulus"@en ; qudt:applicableUnit unit:PA .
k:AmbientPressure a qudt:QuantityKind ; rdfs:label "Ambient Pressure"@en ; qudt:applicableUnit unit:PA .
k:Work a qudt:QuantityKind ; rdfs:label "Work"@en .
"""
NAMES = [
    {"property": "gaugingProfile", "type": "string", "dataModel": "A"},
    {"property": "gaugingProfile", "type": "string", "dataModel": "B"},
    {"property": "relativeHumidity", "type": "number", "dataModel": "A"},
    {"property": "relativeHumidity", "type": "number", "dataModel": "B"},
    {"property": "usedOnce", "type": "string", "dataModel": "A"},
]


def test_vocabularies_add_what_the_core_does_not_say(spark: SparkSession, tmp_path: Path) -> None:
    """Siblings are apart; what the core takes apart, other languages and what is deprecated are left out."""
    (tmp_path / "brick.ttl").write_text(BRICK)
    (tmp_path / "qudt.ttl").write_text(QUDT)
    with gzip.open(tmp_path / "names.json.gz", "wt") as out:
        json.dump(NAMES, out)
    vocabularies = [
        VocabularySource(str(tmp_path / "brick.ttl"), "brick", "Brick"),
        VocabularySource(str(tmp_path / "qudt.ttl"), "qudt", "QUDT"),
        VocabularySource(str(tmp_path / "names.json.gz"), "names", "names"),
    ]
    summary = build_concepts(spark, vocabularies, tmp_path / "out.csv")
    found = {(c.sort, c.name): c for c in read_rows((tmp_path / "out.csv").read_text(), "out")}
    assert found["qualifier", "blowdown"].apart == found["qualifier", "chilled"].apart == ("brick water",)
    assert found["kind", "bulk modulus"].dimensions == ("pressure",)
    assert found["kind", "gauging profile"].values == ("text",)
    left_out = {"ambient pressure", "work", "brackish", "relative humidity", "used once"}
    assert not {name for sort, name in found if sort != "name"} & left_out
    assert found["name", "chilled water"].apart == found["name", "blowdown water"].apart == ("water",)
    assert ("name", "brackish water") not in found
    assert [each.source for each in summary.sources] == ["Brick", "QUDT", "names"]
    assert summary.concepts == len(found)


def test_a_vocabulary_that_cannot_be_read_writes_nothing(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing at"):
        build_concepts(spark, [VocabularySource(str(tmp_path / "absent.ttl"), "brick", "x")], tmp_path / "out.csv")
    with pytest.raises(InputError, match="no file"):
        build_concepts(spark, [VocabularySource(str(tmp_path / "absent.json"), "names", "x")], tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()
