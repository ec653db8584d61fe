"""The encyclopaedia: the form of its domains, what is refused, and that a user's own domain counts."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

import pytest

from likewise.errors import FormatError
from likewise.semantics.concepts.encyclopaedia.entries import COLUMNS, DomainEntry, inventory_concepts, read_entries
from likewise.semantics.concepts.encyclopaedia.form import problems
from likewise.semantics.concepts.facets import FacetParser
from likewise.semantics.concepts.inventory import Inventory
from likewise.semantics.concepts.library import (
    COMPILED,
    compile_encyclopaedia,
    shipped_concepts,
    shipped_entries,
)
from likewise.semantics.concepts.user_concepts import add_vocabulary, remove_vocabulary
from likewise.semantics.library import load_space
from likewise.semantics.measure import Term
from likewise.semantics.space import Space

HEADER = ",".join(COLUMNS)


def row(**fields: str) -> str:
    return ",".join(f'"{fields.get(name, "")}"' for name in COLUMNS)


def domain(*rows: str) -> list[DomainEntry]:
    return read_entries("\n".join((HEADER, *rows)), "mine")


def faults(*rows: str) -> list[str]:
    entries = [*shipped_entries(), *domain(*rows)]
    inventory = Inventory((*shipped_concepts(), *inventory_concepts(domain(*rows))))
    found = problems(entries, inventory, FacetParser(inventory, load_space().vectors.has_word))
    return [fault for fault in found if fault.startswith("mine")]


LANGUAGES = {"de": "Xa", "fr": "Xb", "es": "Xc", "nl": "Xd"}


def test_every_domain_that_ships_has_the_form_it_promises() -> None:
    inventory = Inventory(shipped_concepts())
    parser = FacetParser(inventory, inventory.has_label)
    assert problems(shipped_entries(), inventory, parser) == []


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"id": "Kiln heat", "category": "quantity"}, "2: expected an id"),
        ({"id": "kiln draught", "category": "quantity", "unit": "wonder"}, "3: no unit is spelled 'wonder'"),
        ({"id": "kiln draught", "category": "quantity", "role": "wish"}, "3: expected a role"),
        ({"id": "kiln draught", "category": "quantity", "unit": "Pa"}, "4: a quantity with a unit needs a range"),
        ({"id": "glaze count", "category": "count", "range": "-1.."}, "4: a count begins at 0"),
        ({"id": "kiln draught", "category": "quantity", "kind": "draughtiness"}, "5: no kind is named"),
        (
            {"id": "kiln draught", "category": "quantity", "kind": "pressure", "qualifiers": "kilnish"},
            "5: no qualifier is named 'kilnish'",
        ),
        ({"id": "kiln draught", "category": "quantity", "kind": "pressure"}, "6: neither qualifiers"),
        (
            {"id": "kiln heat", "category": "quantity", "kind": "temperature", "unit": "V", "range": "0..1"},
            "3: V is a unit of voltage",
        ),
        ({"id": "firing", "category": "state", "states": "running"}, "8: a state has at least two states"),
        ({"id": "hot end", "category": "qualifier", "opposite": "cold end"}, "5: no qualifier is named 'cold end'"),
        ({"id": "kiln draught", "category": "quantity", "de": ""}, "9: de is empty"),
        ({"id": "kiln draught", "category": "quantity", "labels": "pull|pull"}, "1: 'pull' stands twice in labels"),
        ({"id": "kiln value", "category": "silent"}, "3: only the general domain"),
        (
            {"id": "wrong side", "category": "qualifier", "group": "water flow", "labels": "return side"},
            "7: 'return side' also stands for 'return'",
        ),
    ],
)  # fmt: skip
def test_a_row_of_the_wrong_form_is_named_with_its_line_and_rule(fields: dict[str, str], said: str) -> None:
    found = faults(row(**{**LANGUAGES, **fields}))
    assert any(fault.startswith("mine, line 2: ") and said in fault for fault in found), found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,category\nx,quantity", "line 1: expected the header"),
        (f"{HEADER}\n{row(id='x', category='wish')}", "line 2: expected a category"),
        (f"{HEADER}\n{row(id='x', category='quantity', range='5')}", "line 2: expected a range"),
        (f"{HEADER}\n{row(id='x', category='quantity', range='5..1')}", "line 2: expected a range"),
        (f"{HEADER}\nx,quantity", "line 2: expected 24 fields"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(FormatError, match=re.escape(said)):
        read_entries(text, "mine")


def test_a_domain_of_the_users_own_counts_like_those_that_ship(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIKEWISE_CONCEPTS", str(tmp_path / "concepts"))
    rows = (
        row(id="kiln", category="qualifier", **LANGUAGES),
        row(id="kiln temperature", category="quantity", kind="temperature", qualifiers="kiln", short="KLT",
            unit="degC", range="0..1500", de="Brandtemperatur", fr="Xb", es="Xc", nl="Xd"),
    )  # fmt: skip
    file = tmp_path / "kiln.csv"
    file.write_text("\n".join((HEADER, *rows)), "utf-8")
    before = load_space().measure("sameness").matrix([Term("kiln temperature")], [Term("Brandtemperatur_1")])[0, 0]
    add_vocabulary(file)
    measure = Space(load_space().files).measure("sameness")
    scores = measure.matrix([Term("kiln temperature")], [Term("Brandtemperatur_1"), Term("KLT")])[0]
    remove_vocabulary("kiln")
    assert before < 0.5 <= scores.min()


def test_the_compiled_encyclopaedia_is_current() -> None:
    """After a change of a domain: `python tools/compile_encyclopaedia.py`."""
    assert (resources.files("likewise") / "data" / COMPILED).read_bytes() == compile_encyclopaedia()


def test_thirty_domains_ship() -> None:
    assert len({entry.domain for entry in shipped_entries()}) >= 30
