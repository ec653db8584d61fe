"""What `Matcher.match` and `match_batch` hand out: lazy sequences, and tables."""

from __future__ import annotations

import copy
import pickle
import random

import pytest

import likewise as lw
from likewise.errors import MissingDependency
from likewise.matching.registry import Choice
from likewise.model import Kind
from likewise.model.matches.batch import match_schema
from likewise.model.matches.sequence import Matches
from likewise.testing import TableMeasure

NAIVE: dict[Kind, Choice] = {"exact": "naive", "approximate": "naive"}


def test_a_match_is_made_when_it_is_looked_at_and_only_then() -> None:
    made: list[tuple[int, int]] = []

    def make(start: int, stop: int) -> list[lw.Match]:
        made.append((start, stop))
        return [lw.Match("e", str(n), "exact") for n in range(start, stop)]

    found = Matches(1_000, make)
    assert len(found) == 1_000
    assert bool(found)
    assert not made
    kept = found[7]
    assert made == [(7, 8)]
    assert list(found)[7] is kept
    assert made == [(7, 8), (0, 1_000)]
    assert found[-1].subscription_id == "999"
    assert [m.subscription_id for m in found[2:6:2]] == ["2", "4"]
    with pytest.raises(IndexError):
        found[1_000]


def test_matches_are_like_a_list() -> None:
    one, two = lw.Match("e", "a", "exact"), lw.Match("e", "b", "exact")
    found = Matches(2, lambda start, stop: [one, two][start:stop])
    assert found == [one, two]
    assert [one, two] == found
    assert found != [two, one]
    assert found != [one]
    assert found.__add__([one]) == [one, two, one]
    assert found.__radd__([two]) == [two, one, two]
    assert repr(found) == repr([one, two])
    assert list(reversed(found)) == [two, one]
    assert two in found
    with pytest.raises(TypeError):
        hash(found)


def test_what_was_found_stays_what_it_was_whatever_comes_or_goes_later() -> None:
    chosen = random.Random(4)
    matcher = lw.Matcher(measure=TableMeasure({("laptop", "computer"): 0.9}))
    texts = ("{x > %d}", "{x < %d}", "{x >= %d, device = laptop~}", "{x exists} top 3 within 50 events by value(x)")
    held: dict[str, str] = {}
    kept: list[tuple[Matches, list[lw.Match], int]] = []
    for step in range(600):
        if held and chosen.random() < 0.4:
            id = chosen.choice(list(held))
            matcher.remove(id)
            del held[id]
        else:
            text = chosen.choice(texts)
            text = text % chosen.randrange(10) if "%" in text else text
            held[matcher.add({"text": text, "id": f"s{step}"})] = text
        if step % 3 == 0:
            event = lw.event({"x": chosen.randrange(10), "device": "computer"}, id=str(step))
            plain = lw.Matcher(interpretation=matcher.interpretation, engines=NAIVE)
            for id, text in held.items():
                if " top " not in text:
                    plain.add({"text": text, "id": id})
            expected = list(plain.match(event, at=step))
            kept.append((matcher.match(event, at=step), expected, step))
    for found, expected, step in kept:
        told = [m for m in found if m.kind != "top"]
        assert [(m.subscription_id, m.kind) for m in told] == [(m.subscription_id, m.kind) for m in expected], step
        assert [m.score for m in told] == pytest.approx([m.score for m in expected])
        assert all(m.event_id == str(step) for m in told)


def test_matches_of_several_kinds_come_in_the_order_of_addition() -> None:
    matcher = lw.Matcher(measure=TableMeasure({("laptop", "computer"): 0.9}))
    for n in range(40):
        part = "{device = laptop~}" if n % 3 else "{x > 0}"
        matcher.add({"text": part if n % 7 else "{x exists} top 1 within 9 events by value(x)", "id": f"s{n:02}"})
    found = matcher.match(lw.event({"x": 1, "device": "computer"}, id="e"))
    assert found[3].subscription_id == "s03"
    assert [m.subscription_id for m in found] == [f"s{n:02}" for n in range(40)]


def test_a_table_of_matches_says_what_match_says() -> None:
    matcher = lw.Matcher(measure=TableMeasure({("laptop", "computer"): 0.9}))
    for text, id in (
        ("{x > 3}", "above"),
        ("{x exists} top 1 within 2 events by value(x)", "low"),
        ("{device = laptop~}", "near"),
    ):
        matcher.add({"text": text, "id": id})
    matcher.remove("above")
    matcher.add({"text": "{x > 3}", "id": "above"})
    events = [lw.event({"x": x, "device": "computer"}, id=f"e{x}") for x in (1, 5, 7, 2)]
    table = matcher.match_batch(events, at=[0, 0, 0, 0]).to_arrow()
    assert table.schema.equals(match_schema(), check_metadata=True)
    table.validate(full=True)
    rows = table.to_pylist()
    assert [(r["event_index"], r["subscription_id"], r["cause"], r["promoted_id"]) for r in rows] == [
        (0, "low", "arrival", None),
        (0, "near", "arrival", None),
        (1, "near", "arrival", None),
        (1, "above", "arrival", None),
        (2, "near", "arrival", None),
        (2, "above", "arrival", None),
        (2, "low", "promoted", "e5"),
        (3, "low", "arrival", None),
        (3, "near", "arrival", None),
    ]
    assert {(r["subscription_id"], r["subscription_number"]) for r in rows} == {("low", 1), ("near", 2), ("above", 3)}
    assert [r["score"] for r in rows if r["subscription_id"] == "near"] == pytest.approx([0.9] * 4)


def test_numbers_of_subscriptions_are_the_same_in_every_batch_and_after_loading(tmp_path) -> None:  # type: ignore[no-untyped-def]
    matcher = lw.Matcher()
    for n in range(9):
        matcher.add({"text": f"{{x >= {n}}}", "id": f"s{n}"})
    matcher.remove("s0")
    matcher.remove("s8")
    matcher.save(tmp_path / "m")
    again = lw.Matcher.load(tmp_path / "m")
    for one in (matcher, again):
        for x in (3, 7, 7, 7, 5):  # few matches, then so many that all ids are listed
            rows = one.match_batch([lw.event({"x": x})]).to_arrow().to_pylist()
            assert [(r["subscription_id"], r["subscription_number"]) for r in rows] == [
                (f"s{n}", n) for n in range(1, min(x, 7) + 1)
            ]
    assert again.add({"text": "{x >= 8}", "id": "s8"}) == "s8"
    assert again.match_batch([lw.event({"x": 8})]).to_arrow()["subscription_number"].to_pylist()[-1] == 9


def test_a_table_without_matches_has_the_schema() -> None:
    table = lw.Matcher().match_batch([lw.event({"x": 1})]).to_arrow()
    assert table.num_rows == 0
    assert table.schema.equals(match_schema(), check_metadata=True)


def test_a_data_frame_has_the_same_columns() -> None:
    pytest.importorskip("pandas")
    matcher = lw.Matcher()
    matcher.add({"text": "{x > 1}", "id": "s"})
    frame = matcher.match_batch([lw.event({"x": 2})]).to_pandas()
    assert list(frame.columns) == match_schema().names
    assert frame["subscription_id"].tolist() == ["s"]


def test_a_data_frame_of_polars_has_the_same_columns_with_the_readings() -> None:
    """And may be grouped by them."""
    polars = pytest.importorskip("polars")
    matcher = lw.Matcher()
    matcher.add_many([{"text": "{temperature~ > 25 degC}", "id": "s"}, {"text": "{x exists}", "id": "t"}])
    batch = matcher.match_batch([{"air_temp_f": 81.2}, {"x": True}, {"air_temp_f": 50}])
    assert batch.to_polars().columns == match_schema().names
    frame = batch.to_polars(readings=True)
    assert isinstance(frame, polars.DataFrame)
    assert frame.select("subscription_id", "attribute", "value", "converted_unit").rows() == [
        ("s", "air_temp_f", "81.2", "degC"),
        ("t", "x", "true", ""),
    ]
    assert frame["converted"].to_list() == [pytest.approx(27.333, abs=1e-3), None]
    assert matcher.match_batch([{"y": 1}]).to_polars(readings=True).height == 0


def test_a_data_frame_without_its_package_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("likewise.model.matches.batch.find_spec", lambda name: None)
    batch = lw.Matcher().match_batch([lw.event({"x": 1})])
    with pytest.raises(MissingDependency, match=r"likewise\[spark\].*to_arrow"):
        batch.to_pandas()
    with pytest.raises(MissingDependency, match="pip install polars, or use to_arrow"):
        batch.to_polars()


def test_what_was_found_goes_to_another_process_and_back() -> None:
    """Whatever found it, looked at before or not, and what several kinds found together."""
    matcher = lw.Matcher()
    matcher.add_many(["{a > 1}", "{a > 2}", "{a exists} top 1 within 3 events by sum(a) highest"])
    for found in (matcher.match({"a": 30}), matcher.match({"a": 0}), matcher.match({"a": 40})):
        again = pickle.loads(pickle.dumps(found))
        assert list(again) == list(found)
        assert again == found
        assert copy.deepcopy(found)[-1:] == found[-1:]
