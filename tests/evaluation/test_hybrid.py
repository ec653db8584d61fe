"""The hybrid experiment: relevance by SPARQL, curves for every variant."""

from __future__ import annotations

import bz2
from pathlib import Path

import pytest

from likewise.errors import ArtefactMissing, FormatError
from likewise.evaluation.hybrid import (
    Asked,
    experiment,
    read_events,
    read_subscriptions,
    relevant_events,
    shipped_subscriptions,
)
from likewise.evaluation.hybrid_plot import plot
from likewise.language import parse
from likewise.testing import TableMeasure

TURTLE = b"""@prefix e: <http://e.org/> .
e:m1 a e:SoccerMatch ; e:squad e:Spain ; e:stadium e:FNB .
e:m2 a e:SoccerMatch ; e:squad e:Italy .
e:c1 a e:Concert ; e:place e:Wembley .
"""
ASKED = (
    Asked("1", 'event team "Spain"', "?event <http://e.org/squad> <http://e.org/Spain>"),
    Asked("2", 'event kind "Opera"', "?event a <http://e.org/Opera>"),
)
RELATED = TableMeasure({("team", "squad"): 0.9, ("team", "type"): 0.1})


@pytest.fixture
def events(tmp_path: Path) -> Path:
    """Three RDF events in a compressed file."""
    path = tmp_path / "events.ttl.bz2"
    path.write_bytes(bz2.compress(TURTLE))
    return path


def test_relevance_comes_from_the_patterns_and_empty_needs_are_left_out(events: Path) -> None:
    """One match has Spain; nobody sings an opera."""
    found, raw, format = read_events(events)
    report = experiment(found, relevant_events(raw, format, ASKED), ASKED, RELATED, RELATED)
    assert report.events == 3
    assert report.relevant == {"1": 1}
    assert report.left_out == ("2",)
    assert report.best("hybrid", 5).maximal_f1 == 1.0
    assert {curve.variant for curve in report.curves} == {"hybrid", "jcn", "esa"}


def test_the_picture_is_written(events: Path, tmp_path: Path) -> None:
    """A PNG with the curves."""
    found, raw, format = read_events(events)
    plot(experiment(found, relevant_events(raw, format, ASKED), ASKED, RELATED, RELATED), tmp_path / "h.png")
    assert (tmp_path / "h.png").read_bytes().startswith(b"\x89PNG")


def test_the_shipped_subscriptions_parse_and_their_patterns_are_sparql() -> None:
    """Seven, as in the paper's Table 3."""
    shipped = shipped_subscriptions()
    assert len(shipped) == 7
    assert all(parse(one.text).kind == "statements" for one in shipped)
    assert relevant_events(TURTLE, "ttl", shipped) == {one.id: set() for one in shipped}


def test_bad_files_are_named(tmp_path: Path) -> None:
    """A missing file, a line that is not JSON, a pattern that is not SPARQL."""
    with pytest.raises(ArtefactMissing):
        read_events(tmp_path / "absent.nt")
    (tmp_path / "s.jsonl").write_text('{"id": "1"}\n')
    with pytest.raises(FormatError, match="line 1"):
        read_subscriptions(tmp_path / "s.jsonl")
    with pytest.raises(FormatError, match="not SPARQL"):
        relevant_events(TURTLE, "ttl", [Asked("1", "x", "?event ? ?")])
