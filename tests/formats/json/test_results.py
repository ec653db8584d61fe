"""Matches, mappings and explanations as JSON, and the published schemas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, ValidationError

from likewise.errors import FormatError, LikewiseError
from likewise.formats.json import (
    SCHEMAS,
    explanation_from_json,
    explanation_to_json,
    mapping_from_json,
    mapping_to_json,
    match_from_json,
    match_to_json,
    schema,
)
from likewise.formats.json.schemas import schema_text, write_schemas
from likewise.model import Correspondence, Explanation, Kind, Mapping, Match, PredicateReport, Verdict
from tests.formats.drawn import TEXT

UNIT = st.floats(0, 1)
MAPPINGS = st.builds(
    Mapping,
    st.lists(st.builds(Correspondence, st.integers(0, 9), st.integers(0, 9), UNIT, UNIT, UNIT), max_size=3).map(tuple),
    UNIT,
    UNIT,
    UNIT,
    st.integers(0, 63),
)
VERDICTS = st.sampled_from(get_args(Verdict))
REPORTS = st.builds(
    PredicateReport,
    TEXT,
    VERDICTS,
    st.none() | st.integers(0, 9),
    TEXT,
    TEXT,
    UNIT,
    UNIT,
    st.booleans(),
    st.lists(TEXT, max_size=2).map(tuple),
    st.lists(st.tuples(TEXT, UNIT), max_size=2).map(tuple),
)
EXPLANATIONS = st.builds(
    Explanation,
    TEXT,
    st.none() | TEXT,
    VERDICTS,
    st.lists(REPORTS, max_size=2).map(tuple),
    TEXT,
    UNIT,
    st.none() | UNIT,
    st.none() | MAPPINGS,
    st.none() | MAPPINGS,
)
BINDINGS = st.lists(st.lists(st.tuples(TEXT, TEXT), max_size=2).map(tuple), max_size=2).map(tuple)


@given(EXPLANATIONS)
def test_an_explanation_written_and_read_again_is_the_same(explanation: Explanation) -> None:
    """And follows its schema."""
    data = explanation_to_json(explanation)
    assert explanation_from_json(data) == explanation
    Draft202012Validator(schema("explanation")).validate(json.loads(data))


@given(
    st.none() | TEXT,
    TEXT,
    st.sampled_from(get_args(Kind)),
    UNIT,
    UNIT,
    st.none() | MAPPINGS,
    BINDINGS,
    st.none() | st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["arrival", "promoted"]),
)
def test_a_match_written_and_read_again_is_the_same(
    event: str | None,
    subscription: str,
    kind: Any,
    score: float,
    product: float,
    mapping: Mapping | None,
    bindings: Any,
    rank: float | None,
    cause: Any,
) -> None:
    """With its mapping if that was asked for; and it follows its schema."""
    match = Match(event, subscription, kind, score, product, lambda: mapping, bindings, rank, cause)
    data = match_to_json(match, mapping=True)
    assert match_from_json(data) == match
    assert match_from_json(data).mapping == mapping
    Draft202012Validator(schema("match")).validate(json.loads(data))


def test_a_mapping_is_computed_for_writing_only_if_it_is_asked_for() -> None:
    """It may be dear."""

    def trace() -> Mapping:
        raise AssertionError("nobody asked")

    assert b"mapping" not in match_to_json(Match("e", "s", "exact", trace=trace))


@given(MAPPINGS)
def test_a_mapping_written_and_read_again_is_the_same(mapping: Mapping) -> None:
    """With all its correspondences."""
    assert mapping_from_json(mapping_to_json(mapping)) == mapping


@pytest.mark.parametrize("read", [match_from_json, mapping_from_json, explanation_from_json])
@pytest.mark.parametrize(
    "data", ["", "[]", "{}", '{"v": 2}', '{"v": 1}', '{"v": 1, "score": NaN}', b"\xff", "[" * 10_000]
)
def test_bad_answers_are_errors_of_the_tree(read: Any, data: Any) -> None:
    """As bad events are."""
    with pytest.raises(LikewiseError):
        read(data)


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_published_schema_is_current(name: str) -> None:
    """`python -m likewise.formats.json.schemas docs/schemas` writes them anew."""
    published = Path(__file__).parents[3] / "docs" / "schemas" / f"{name}.v1.json"
    assert published.read_text(encoding="utf-8") == schema_text(name)
    Draft202012Validator.check_schema(schema(name))


def test_schemas_are_written_to_any_folder(tmp_path: Path) -> None:
    """And there is none but those."""
    assert [path.name for path in write_schemas(tmp_path / "new")] == [f"{name}.v1.json" for name in SCHEMAS]
    with pytest.raises(FormatError, match="there are event, subscription"):
        schema("window")


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("event", {"payload": {"a": 1}}),
        ("event", {"v": 2, "payload": {"a": 1}}),
        ("event", {"v": 1}),
        ("event", {"v": 1, "payload": {}, "tuples": []}),
        ("event", {"v": 1, "tuples": [{"attribute": "a"}]}),
        ("subscription", {"v": 1}),
        ("subscription", {"v": 1, "text": "{a = 1}", "themes": ["x"]}),
        ("subscription", {"v": 1, "text": "{a = 1}", "more": 1}),
        ("subscription", {"v": 1, "body": {"kind": "interest", "vector": "1", "more": 1}}),
        ("subscription", {"v": 1, "body": {"kind": "regex"}}),
        ("match", {"v": 1, "subscription_id": "s"}),
        ("explanation", {"v": 1, "subscription_id": "s", "event_id": None, "verdict": "maybe", "predicates": []}),
    ],
)
def test_a_schema_refuses_what_the_reader_refuses(name: str, document: dict[str, Any]) -> None:
    """Someone who checks before sending is not surprised."""
    with pytest.raises(ValidationError):
        Draft202012Validator(schema(name)).validate(document)
