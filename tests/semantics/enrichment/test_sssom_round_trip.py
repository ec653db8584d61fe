"""SSSOM tables: whatever names are made of, a table says what was written into it; bad ones are refused with words."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import FormatError, InputError
from likewise.semantics.enrichment.corrections import Correction
from likewise.semantics.enrichment.sssom import read_sssom, write_sssom

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30).filter(str.strip)
DAY = 86_400 * 1_000_000


@st.composite
def corrections(draw: st.DrawFn) -> Correction:
    of = draw(st.sampled_from(("source", "model", "attribute")))
    name = "" if of == "attribute" else draw(NAMES)
    unit = draw(st.sampled_from(("", "degC", "kPa", "%")))
    means = draw(NAMES) if not unit or draw(st.booleans()) else ""
    try:
        return Correction(f"a{draw(NAMES)}", of, name, means, unit, "", DAY * draw(st.integers(0, 20_000)))  # type: ignore[arg-type]
    except InputError:
        return Correction("a", means="b")


@given(st.lists(corrections(), max_size=5))
def test_a_table_says_what_was_written_into_it(said: list[Correction]) -> None:
    """Tabs, quotes, ends of lines, blanks and signs of every script in names."""
    assert read_sssom(write_sssom(said)) == said


@given(st.text(max_size=300))
def test_any_text_is_a_table_or_is_refused_with_words(text: str) -> None:
    """Never anything else than a `FormatError`."""
    head = "subject_label\tpredicate_id\tobject_label\tsubject_source\tother\tmapping_date\n"
    for made in (text, head + text, head + "a\tskos:exactMatch\t" + text):
        with suppress(FormatError):
            read_sssom(made)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("a\tskos:broadMatch\tb", "no predicate"),
        ("a\tskos:exactMatch\t", "nothing is said"),
        ("a\tskos:exactMatch", "nothing is said"),
        ("\tskos:exactMatch\tb", "names the attribute"),
        ("a\tskos:exactMatch\tb\troom:5", "source:NAME or model:NAME"),
        ("topic\tskos:exactMatch\tb", "of one source or of one model"),
        ("a\tskos:exactMatch\tb\t\tunit=furlongs per fortnight", "furlongs"),
        ("a\tskos:exactMatch\tb\t\t\tyesterday", "no date"),
    ],
)
def test_a_row_that_makes_no_correction_is_refused_with_its_line(row: str, words: str) -> None:
    """So that who wrote it finds it."""
    head = "subject_label\tpredicate_id\tobject_label\tsubject_source\tother\tmapping_date\n"
    with pytest.raises(FormatError, match=f"line 2: .*{words}"):
        read_sssom(head + row)
