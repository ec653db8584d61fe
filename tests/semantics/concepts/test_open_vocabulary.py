"""Words that no inventory lists: names of vocabularies say whether they are the same, then WordNet."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.semantics.concepts.inventory import Concept
from likewise.semantics.concepts.library import load_inventory, shipped_names, vocabulary_names
from likewise.semantics.concepts.name_agreement import VocabularyNames
from likewise.semantics.concepts.rows import print_rows, read_rows
from likewise.semantics.concepts.user_concepts import add_vocabulary
from likewise.semantics.concepts.weights import FacetWeights
from likewise.semantics.library import load_space
from likewise.semantics.measure import Term
from likewise.semantics.measures.sameness import SamenessMeasure
from likewise.semantics.space import Space
from likewise_experiments.vendor.ablation import inventory_without_qualifiers

WORDS = ["supply", "discharge", "return", "air", "water", "flow", "level", "inner", "outer"]
phrases = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
rows = st.lists(
    st.builds(
        Concept,
        st.just("name"),
        phrases,
        labels=st.lists(phrases, max_size=2).map(tuple),
        apart=st.lists(st.sampled_from(["a", "b"]), max_size=2, unique=True).map(tuple),
    ),
    max_size=8,
)


def sameness(**options: object) -> SamenessMeasure:
    found = Space(load_space().files).measure("sameness", **options)
    assert isinstance(found, SamenessMeasure)
    return found


def score(asked: str, seen: str, **options: object) -> float:
    return float(sameness(**options).matrix([Term(asked)], [Term(seen)])[0, 0])


@given(rows)
def test_the_kernel_and_the_plain_agreement_are_the_same(names: list[Concept]) -> None:
    from likewise.semantics.concepts.kernels import word_agreements

    naming = VocabularyNames(names)
    uses = naming.uses(WORDS)
    found = word_agreements(uses, uses, naming.places)
    plain = [[naming.agreement(one, other) for other in WORDS] for one in WORDS]
    assert np.allclose(found, np.array(plain, np.float32), atol=1e-6)
    assert np.allclose(found, found.T)
    assert (np.abs(found) < 1).all()


@pytest.mark.parametrize(
    ("asked", "seen"),
    [
        ("photovoltaic power", "pv_power"),
        ("fan coil unit status", "FCU_status"),
        ("variable frequency drive speed", "vfd_speed"),
        ("heat exchanger temperature", "hx_temp"),
        ("lift position", "elevator_position"),
        ("hive weight", "beehive_weight"),
        ("lorry speed", "truckSpeed"),
    ],
)
def test_words_for_one_thing_are_found(asked: str, seen: str) -> None:
    assert score(asked, seen) >= 0.5


@pytest.mark.parametrize(
    ("asked", "seen"),
    [
        ("ascending speed", "descendingSpeed"),
        ("inner tube pressure", "outer tube pressure"),
        ("nave temperature", "choir_temp"),
        ("lead concentration", "mercury_concentration"),
        ("cat flap open", "dog_flap_open"),
        ("crane load", "hoist_load"),
        ("wave height", "tide_height"),
    ],
)
def test_words_that_tell_two_things_apart_keep_them_apart(asked: str, seen: str) -> None:
    """However related they are: all of these were met when relatedness alone compared them."""
    assert score(asked, seen) < 0.5


def test_names_alone_tell_apart_what_no_list_of_qualifiers_does() -> None:
    """Without any list: Brick names entering water beside leaving water, and calls supply air discharge air too."""
    bare = inventory_without_qualifiers()
    silent = FacetWeights().without("agreement through names")
    apart, same = ("chilled water flow", "hot_water_flow"), ("supply air pressure", "discharge_air_pressure")
    assert score(*apart, inventory=bare) < 0.5 <= score(*same, inventory=bare)
    assert score(*same, inventory=bare) > score(*same, inventory=bare, weights=silent)


def test_the_explanation_quotes_the_names() -> None:
    measure = load_space().measure("sameness", inventory=load_inventory())
    assert isinstance(measure, SamenessMeasure)
    same = measure.explanation(Term("absorption temperature"), Term("attenuation_temperature"))
    assert "call one thing both 'molar absorption" in same
    assert "and 'molar attenuation" in same
    bare = sameness(inventory=inventory_without_qualifiers())
    apart = bare.explanation(Term("entering water temperature"), Term("leaving_water_temperature"))
    assert "vocabularies name both: 'entering water', 'leaving water'" in apart


def test_a_users_own_names_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIKEWISE_CONCEPTS", str(tmp_path / "concepts"))
    before = score("klystron current", "magnetron_current"), score("kelp current", "tuba_current")
    file = tmp_path / "tubes.csv"
    file.write_text(
        "sort,name,labels,apart\nname,klystron current,,tube\nname,magnetron current,,tube\n"
        "name,kelp current,tuba current,tube\n"
    )
    add_vocabulary(file)
    assert score("klystron current", "magnetron_current") < min(0.5, before[0])
    assert score("kelp current", "tuba_current") >= 0.8 > before[1]


def test_shipped_names_read_back_and_name_their_source() -> None:
    shipped = shipped_names()
    assert len(shipped) > 4_000
    assert read_rows(print_rows(shipped), "again") == list(shipped)
    assert {concept.sort for concept in shipped} == {"name"}
    assert all(any(known in c.source for known in ("Brick", "QUDT", "SAREF", "SOSA", "FIWARE")) for c in shipped)
    assert vocabulary_names(load_inventory()).agreement("supply", "discharge") > 0.9
