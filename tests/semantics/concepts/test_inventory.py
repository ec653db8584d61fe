"""The inventory: rows, what is refused, vocabularies of one's own, and where the core's words come from."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from likewise.errors import FormatError, InputError
from likewise.semantics.concepts.facets import FacetParser
from likewise.semantics.concepts.inventory import Concept, Inventory
from likewise.semantics.concepts.library import core_inventory, load_inventory, shipped_concepts
from likewise.semantics.concepts.rows import print_rows, read_rows
from likewise.semantics.concepts.user_concepts import add_vocabulary, read_vocabulary, remove_vocabulary
from likewise.semantics.library import load_space
from likewise.semantics.measure import Term
from likewise.semantics.measures.sameness import SamenessMeasure
from likewise.semantics.space import Space
from likewise.semantics.text.identifiers import split_identifier
from likewise.units import find_unit


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "concepts"
    monkeypatch.setenv("LIKEWISE_CONCEPTS", str(folder))
    return folder


def test_rows_print_and_read_back() -> None:
    """Everything that ships, too."""
    shipped = list(shipped_concepts())
    assert read_rows(print_rows(shipped), "again") == shipped


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sort,name\nkind,a\nkid,b\n", "line 3: expected a sort"),
        ("sort,name\nkind,\n", "line 2: the concept has no name"),
        ("sort,name,values\nkind,a,wish\n", "line 2: expected values among"),
        ("sort,name,labels\nkind,a,one two three four five six seven eight nine\n", "at most 8 words"),
        ("sort,nam\nkind,a\n", "line 1: expected the columns"),
        ("sort,name\nkind,a,b,c\n", "line 2: there are more fields"),
        ('sort,name\nkind,"a\n', "this is no CSV"),
        ("", "line 1: expected the columns"),
    ],
)
def test_a_bad_row_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(FormatError, match=re.escape(said)):
        read_rows(text, "mine")


def test_a_cycle_is_refused_with_its_members_and_nothing_is_added(tmp_path: Path, own_folder: Path) -> None:
    file = tmp_path / "round.csv"
    file.write_text("sort,name,broader\nkind,red dust,grey dust\nkind,grey dust,powder\nkind,powder,red dust\n")
    with pytest.raises(InputError, match=r"circle: .* -> .* -> .* -> ") as refused:
        add_vocabulary(file)
    assert all(member in str(refused.value) for member in ("red dust", "grey dust", "powder"))
    assert not list(own_folder.glob("*"))


def test_a_broader_concept_that_nobody_knows_is_refused_with_its_line(tmp_path: Path, own_folder: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("sort,name,broader\nkind,glaze heat,temperature\nkind,shell heat,temprature\n")
    with pytest.raises(FormatError, match=r"mine, line 3: nothing is named 'temprature'.*'temperature'"):
        add_vocabulary(file)
    assert not own_folder.exists()


def test_a_bad_last_row_adds_nothing(tmp_path: Path, own_folder: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("sort,name\nkind,glaze\nkid,other\n")
    with pytest.raises(FormatError):
        add_vocabulary(file)
    assert not own_folder.exists()


def test_an_added_vocabulary_changes_what_names_mean_until_it_is_taken_out(tmp_path: Path) -> None:
    """A plant's own word for a temperature."""

    def score() -> float:
        space = Space(load_space().files)
        measure = space.measure("sameness")
        assert isinstance(measure, SamenessMeasure)
        return float(measure.matrix([Term("temperature")], [Term("qwirk")])[0, 0])

    assert score() == 0
    file = tmp_path / "plant.csv"
    file.write_text("sort,name,labels\nkind,temperature,qwirk\n")
    add_vocabulary(file)
    assert score() > 0.5
    add_vocabulary(file)  # again: the same
    assert score() > 0.5
    remove_vocabulary("plant")
    assert score() == 0
    with pytest.raises(InputError, match="no vocabulary 'plant' was added"):
        remove_vocabulary("plant")


SKOS = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix x: <http://example.org/> .
x:alarm a skos:Concept ; skos:prefLabel "Plant alarm"@en, "Anlagenalarm"@de .
x:frost a skos:Concept ; skos:prefLabel "Frost guard"@en ; skos:altLabel "ice warning" ; skos:broader x:alarm .
"""
OWL = """
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix x: <http://example.org/> .
x:BeltSpeed a owl:Class ; rdfs:subClassOf x:LineSpeed ; owl:equivalentClass x:Haul_Rate .
x:LineSpeed a owl:Class . x:Haul_Rate a owl:Class .
"""
SSSOM = """#mapping_set_id: https://example.org/set
subject_id\tsubject_label\tpredicate_id\tobject_id\tobject_label
a:1\tkiln heat\tskos:exactMatch\tb:1\tKiln Temperature
a:2\tshell heat\tskos:broadMatch\tb:1\tKiln Temperature
"""


def test_skos_owl_and_sssom_are_read(tmp_path: Path) -> None:
    for name, text in (("s.ttl", SKOS), ("o.ttl", OWL), ("m.tsv", SSSOM)):
        (tmp_path / name).write_text(text)
    skos = {c.name: c for c in read_vocabulary(tmp_path / "s.ttl")}
    assert skos["frost guard"] == Concept("kind", "frost guard", ("ice warning",), ("plant alarm",), source="s")
    owl = {c.name: c for c in read_vocabulary(tmp_path / "o.ttl", "qualifier")}
    assert owl["belt speed"].broader == ("line speed",)
    assert owl["belt speed"].labels == ("haul rate",)
    assert owl["belt speed"].sort == "qualifier"
    mapped = Inventory(read_vocabulary(tmp_path / "m.tsv"))
    assert mapped.kinds["kiln temperature"].labels == ("kiln heat",)
    assert mapped.above("shell heat") == {"kiln temperature"}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("m.tsv", "subject_label\tpredicate_id\tobject_label\na\tskos:exactMatch\t\n", "line 2"),
        ("m.tsv", "#x\nsubject_label\tpredicate_id\tobject_label\na\tskos:likes\tb\n", "line 3"),
        ("m.tsv", "a\tb\n", "expected the columns"),
        ("s.ttl", "@prefix x: <http://x> .\nx:a x:b \n", "s.ttl, line"),
        ("s.ttl", "", "names no concept"),
        ("s.doc", "x", "expected a name ending in"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=said):
        read_vocabulary(tmp_path / name)


def test_rows_of_one_name_are_one_concept() -> None:
    found = Inventory([Concept("kind", "a", ("x",)), Concept("kind", "a", ("y",)), Concept("qualifier", "a")])
    assert found.kinds["a"].labels == ("x", "y")
    assert len(found.concepts) == 2


def test_everything_that_is_meant_by_default_or_broader_is_there() -> None:
    """A word in `broader` or `means` that nothing defines would be a slip of the pen."""
    inventory = load_inventory()
    for concept in core_inventory().concepts:
        known = inventory.kinds if concept.sort == "kind" else inventory.qualifiers
        if concept.sort in ("kind", "qualifier"):
            assert all(name in known for name in concept.broader), concept


def test_the_shipped_vocabularies_name_their_sources() -> None:
    licences = ("BSD-3-Clause", "CC BY 4.0", "W3C Software and Document License")
    ours = ("core", "encyclopaedia: ")
    assert all(c.source.startswith(ours) or c.source.endswith(licences) for c in shipped_concepts())
    assert len({c.source for c in shipped_concepts()}) >= 4


# Abbreviations that no vocabulary below spells out, and where engineers know them from.
ABBREVIATIONS = {
    "IEEE 802.15.4, 3GPP, LoRaWAN specifications": "rssi rsrp rsrq lqi csq imei imsi iccid eui mac sf gnss tx rx",
    "ISO 80000, IEC 60027 and circuit symbols": "t v vcc vdd",
    "IUPAC formulas": "co co2 no no2 n2o so2 o2 o3 h2s nh3 ch4 ch2o hcho h2 nox eco2",
    "clippings of English words": "temp tmp hum batt accel alt lat lng freq dist msg evt idx cnt ctr num nr seq cfg "
    "conf config cmd err btn chn ver rev fw hw sw sn stat sts avg pct perc lvl pwr pow volt curr vol spd vel dir pos "
    "lum illum cond conc cons press baro dev ts id uuid occ alm flt ena precip vbat batv pir voc tvoc pm hdop snr gps",
}


def test_no_word_of_the_core_comes_from_a_vendor_file_alone(shared: Path) -> None:
    """A word that a vendor's file has must be known from WordNet, a public vocabulary, units, or a named convention."""
    events = shared / "data" / "vendor-events" / "lorawan-dev-events.jsonl.gz"
    theirs: set[str] = set()
    with gzip.open(events, "rt", encoding="utf-8") as lines:
        for line in lines:
            theirs |= _names(json.loads(line)["data"])
    space = load_space()
    public = _public_words(shared / "data" / "iot")
    named = {word for words in ABBREVIATIONS.values() for word in words.split()}
    alone = {
        word
        for concept in core_inventory().concepts
        for label in (concept.name, *concept.labels)
        for word in label.casefold().split()
        if word in theirs
        and word not in public | named
        and not space.vectors.has_word(word)
        and find_unit(word) is None
    }
    assert not alone


def _names(value: object) -> set[str]:
    if isinstance(value, dict):
        found = {w.casefold() for key in value for w in (*split_identifier(str(key)), str(key))}
        return found.union(*map(_names, value.values()))
    return set().union(*map(_names, value)) if isinstance(value, list) else set()


def _public_words(folder: Path) -> set[str]:
    """Every word of Brick's, QUDT's, SAREF's, SOSA's and FIWARE's names."""
    found: set[str] = set()
    for path in sorted((folder / "vocabularies").glob("*.ttl*")):
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        found |= {w.casefold() for word in re.findall(r"[A-Za-z0-9]+", raw.decode()) for w in split_identifier(word)}
    with gzip.open(folder / "fiware" / "smartdatamodels.json.gz", "rt", encoding="utf-8") as file:
        properties = {str(item.get("property")) for item in json.load(file)}
    return found | {w.casefold() for name in properties for w in split_identifier(name)}


def test_a_kind_that_is_named_after_another_is_narrower_than_that() -> None:
    """Authors of domains name a `vessel heading`; nobody who asks for a heading means to leave it out."""
    source = "encyclopaedia: ships"
    inventory = Inventory(
        [
            Concept("kind", "heading", source=source),
            Concept("kind", "vessel heading", source=source),
            Concept("kind", "heading of the ship at anchor", source=source),
            Concept("kind", "colour heading"),
        ]
    )
    assert inventory.above("vessel heading") == {"heading"} == inventory.above("heading of the ship at anchor")
    assert not inventory.above("heading")
    assert not inventory.above("colour heading")  # other sources say what is broader themselves


def test_a_label_that_begins_with_a_preposition_is_a_whole_name() -> None:
    """In `organic vapours in air` the air is where they are, not whether something flies."""
    inventory = Inventory(
        [Concept("kind", "airborne", ("in air",)), Concept("kind", "vapours"), Concept("kind", "air")]
    )
    parser = FacetParser(inventory, lambda word: False)
    assert parser.facets(Term("in air")).kinds == ("airborne",)
    assert parser.facets(Term("vapours in air")).kinds == ("vapours",)
