"""`likewise.columns`: the columns of an unknown table under requested names and in requested units."""

from __future__ import annotations

import dataclasses
import math
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, TypedDict

import msgspec
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likewise as lw
from likewise.errors import InputError
from likewise.tables import ColumnReport
from likewise.tables.requested import RequestedColumn
from likewise.tables.values import ColumnReading, affine, converted, number_of, sample
from likewise.units import unit, units_of_dimension

WEATHER: dict[str, list[Any]] = {
    "Date & Time": ["2026-01-05 10:00", "2026-01-05 10:05"],
    "Temp - °F": [50.0, 59.0],
    "Inside Temp - °F": [68.0, 68.0],
    "Wind Speed - mph": [10.0, None],
    "Barometer - in Hg": [29.92, 29.9],
}
REQUEST = {
    "when": "date",
    "t_out": "outdoor temperature in degC",
    "t_in": "indoor temperature in degC",
    "wind": "wind speed in m/s",
    "p": "air pressure in hPa",
    "co2": "carbon dioxide in ppm",
}


def as_lists(table: Any) -> dict[str, list[Any]]:
    """Return any table as lists."""
    if isinstance(table, pl.DataFrame):
        return table.to_dict(as_series=False)
    if isinstance(table, pd.DataFrame):
        return {str(name): table[name].tolist() for name in table}
    if isinstance(table, pa.Table):
        return dict(table.to_pydict())
    return {name: list(values) for name, values in table.items()}


@pytest.mark.parametrize("kind", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_each_type_of_table_gives_the_same_columns_in_its_own_type(kind: Any) -> None:
    """pandas, polars, Arrow and mappings."""
    result = lw.columns(kind(WEATHER), REQUEST)
    table = as_lists(result.table)
    assert type(result.table) is type(kind(WEATHER))
    assert table["t_out"] == pytest.approx([10.0, 15.0])
    assert table["t_in"] == pytest.approx([20.0, 20.0])
    assert table["wind"][0] == pytest.approx(4.4704)
    assert table["wind"][1] is None or math.isnan(table["wind"][1])
    assert table["p"][0] == pytest.approx(1013.2, abs=0.1)
    assert table["when"] == WEATHER["Date & Time"]
    assert result.report.missing == ("co2",)


def test_a_table_with_the_capsule_interface_is_read() -> None:
    """Of whatever library."""

    class Frame:
        def __arrow_c_stream__(self, schema: Any = None) -> Any:
            return pa.table(WEATHER).__arrow_c_stream__(schema)  # type: ignore[no-untyped-call]

    assert as_lists(lw.columns(Frame(), ["outdoor temperature in degC"]).table)["outdoor temperature"][0] == 10.0


def test_the_table_is_not_changed_and_keeps_its_index() -> None:
    """A frame of pandas may be indexed by time."""
    frame = pd.DataFrame(WEATHER, index=pd.date_range("2026", periods=2))
    before = frame.copy()
    result = lw.columns(frame, {"t": "outdoor temperature in degC"})
    pd.testing.assert_frame_equal(frame, before)
    assert list(result.table.index) == list(frame.index)


def test_a_name_takes_the_column_that_no_other_name_needs_more() -> None:
    """The assignment is made as a whole, not name by name."""
    table = {"Temp": [5.0], "Inside Temp": [21.0]}
    report = lw.columns(table, ["indoor temperature in degC", "outdoor temperature in degC"]).report
    assert report["outdoor temperature"].column == "Temp"
    assert report["indoor temperature"].column == "Inside Temp"


def test_two_columns_that_serve_equally_well_are_left_to_a_person() -> None:
    """And reported with both."""
    table = {"RH_1": [40.0], "RH_2": [42.0]}
    result = lw.columns(table, {"rh": "relative humidity in %"})
    source = result.report["rh"]
    assert source.column is None
    assert "equally well" in source.note
    assert {other.column for other in source.runners_up} == {"RH_1", "RH_2"}
    assert as_lists(lw.columns(table, {"rh": "relative humidity in %"}, overrides={"rh": "RH_2"}).table) == {
        "rh": [42.0]
    }


def test_a_column_is_not_taken_where_its_values_cannot_be_what_is_requested() -> None:
    """Text for a number, an impossible temperature, another dimension, nothing at all."""
    for values, word in (
        (["ok", "fault"], "no numbers"),
        ([658.0, 700.0], "cannot be"),
        (["3 kW", "4 kW"], "cannot be brought"),
    ):
        source = lw.columns({"outdoor temperature": values}, ["outdoor temperature in degC"]).report[
            "outdoor temperature"
        ]
        assert source.column is None
        assert word in source.note
    empty = lw.columns({"outdoor temperature": [None, None]}, ["outdoor temperature in degC"])
    assert empty.report.missing == ("outdoor temperature",)


def test_a_column_without_a_unit_is_taken_in_the_customary_one_and_says_so() -> None:
    """A bare power is in watts."""
    result = lw.columns({"active power": [2254.0]}, {"p": "active power in kW"})
    assert as_lists(result.table)["p"] == pytest.approx([2.254])
    assert "states no unit; taken in W" in result.report["p"].note


def test_each_value_with_a_unit_of_its_own_is_converted_from_it() -> None:
    """Two units may stand in one column."""
    result = lw.columns({"temperature": ["70 °F", "20 °C", "n/a", None, "21,5 °C", "22 °C"]}, ["temperature in degC"])
    values = as_lists(result.table)["temperature"]
    assert values[:2] == pytest.approx([21.111, 20.0], abs=1e-3)
    assert np.isnan(values[2])
    assert np.isnan(values[3])
    assert values[4] == 21.5


@dataclasses.dataclass
class Room:
    """A request as a class: a unit, a phrase, or the name of the field alone."""

    indoor_temperature: Annotated[float, "degC"]
    wind: Annotated[float, "wind speed in m/s"]
    humidity: float


class Struct(msgspec.Struct):
    """The same as a struct."""

    indoor_temperature: Annotated[float, "degC"]
    wind: Annotated[float, "wind speed in m/s"]
    humidity: float


class Model(pydantic.BaseModel):
    """And as a model."""

    indoor_temperature: Annotated[float, "degC"]
    wind: Annotated[float, "wind speed in m/s"]
    humidity: float


class Typed(TypedDict):
    """And as the type of a mapping."""

    indoor_temperature: Annotated[float, "degC"]
    wind: Annotated[float, "wind speed in m/s"]
    humidity: float


@pytest.mark.parametrize("request_class", [Room, Struct, Model, Typed])
def test_a_class_with_annotated_fields_is_a_request(request_class: type) -> None:
    """Of dataclasses, msgspec, pydantic and typed mappings alike."""
    report = lw.columns(WEATHER, request_class).report
    assert report["indoor_temperature"].column == "Inside Temp - °F"
    assert report["wind"].requested == RequestedColumn("wind", "wind speed", "m/s", "number")
    assert report.missing == ("humidity",)


def test_a_saved_report_repeats_the_decision(tmp_path: Path) -> None:
    """Also on a table whose values would decide otherwise."""
    first = lw.columns(WEATHER, REQUEST)
    first.report.save(tmp_path / "columns.json")
    report = ColumnReport.load(tmp_path / "columns.json")
    assert report == first.report
    again = lw.columns({name: values[:1] for name, values in WEATHER.items()}, report)
    assert as_lists(again.table)["t_out"] == [10.0]
    assert again.report.missing == ("co2",)
    with pytest.raises(InputError, match="no column of the table"):
        lw.columns({"other": [1.0]}, report)


def test_a_file_that_is_no_report_is_refused(tmp_path: Path) -> None:
    """With its name."""
    path = tmp_path / "bad.json"
    for content in (b"{", b'{"columns": [], "v": 9}', b"[]"):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"bad\.json"):
            ColumnReport.load(path)


@pytest.mark.parametrize(
    ("request_given", "words"),
    [
        ({}, "no column is requested"),
        ([], "no column is requested"),
        ("temperature", "a list of phrases"),
        (3, "a list of phrases"),
        ({"t": 3}, "phrase of the column 't'"),
        ({"t": "a, b"}, "more than one column"),
        ({"t": "temperature in blorps"}, "cannot be read"),
        ({"t": "@source"}, "fact of an event"),
        (["date", "date"], "two requested columns"),
    ],
)
def test_an_impossible_request_is_refused_with_words(request_given: Any, words: str) -> None:
    """Before the table is read."""
    with pytest.raises(InputError, match=words):
        lw.columns(WEATHER, request_given)


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"nobody": "Temp - °F"}, "not requested"),
        ({"t": "Nothing"}, "no column of the table"),
        ({"t": 99}, "5 columns"),
        ({"t": True}, "no column of the table"),
    ],
)
def test_an_impossible_override_is_refused_with_words(overrides: Any, words: str) -> None:
    """It never counts silently."""
    with pytest.raises(InputError, match=words):
        lw.columns(WEATHER, {"t": "outdoor temperature in degC"}, overrides=overrides)


def test_an_override_leaves_a_column_out_and_frees_no_other() -> None:
    """None is a decision."""
    report = lw.columns(WEATHER, REQUEST, overrides={"t_out": None}).report
    assert report["t_out"].column is None
    assert report["t_in"].column == "Inside Temp - °F"


@pytest.mark.parametrize("table", [None, 3, "text", [{"t": 1}], {"t": 3}, {"t": "text"}, {"a": [1], "b": [1, 2]}])
def test_what_is_no_table_is_refused(table: Any) -> None:
    """Rows are no columns."""
    with pytest.raises(InputError):
        lw.columns(table, ["temperature in degC"])


def test_odd_tables_give_a_report_and_no_error() -> None:
    """No rows, no columns, blank and repeated headers, hostile names, numbers as headers."""
    for table in (
        pd.DataFrame(),
        pd.DataFrame({"temperature": []}),
        pd.DataFrame([[1.0, 2.0]], columns=["temperature", "temperature"]),
        pd.DataFrame({"": [1.0], "  ": [2.0], "\n": [3.0]}),
        pd.DataFrame({0: [1.0], 1: ["a"]}),
        {"x" * 5_000: [1.0], '"; drop table': [1.0], "temperature~ > 3": [1.0]},
        pd.DataFrame({"temperature": pd.Categorical(["a", "b"])}),
        pd.DataFrame({"temperature": [{"a": 1}, [2]]}),
        pd.DataFrame({"temperature": pd.array([1, None], dtype="Int64")}),
        pa.table({"temperature": pa.array(["20", None]).dictionary_encode()}),
        pa.table({"temperature": pa.array([[1], None])}),
        pd.DataFrame({"temperature": [math.inf, -math.inf, 20.0]}),
        {"temperature": [10**400, 1]},
    ):
        report = lw.columns(table, ["temperature in degC", "date"]).report
        assert len(report) == 2


def test_a_table_of_many_columns_is_judged_once() -> None:
    """More columns than an event may have tuples."""
    table: dict[str, list[float]] = {f"channel_{index}": [1.0] for index in range(3_000)}
    table["outdoor temperature"] = [12.0]
    assert lw.columns(table, ["outdoor temperature in degC"]).report["outdoor temperature"].index == 3_000


SYMBOLS = [
    each.symbol for dimension in ("temperature", "pressure", "velocity") for each in units_of_dimension(dimension)
]


@given(st.sampled_from(SYMBOLS), st.data(), st.floats(-1e6, 1e6))
def test_a_column_is_converted_as_a_single_reading_is(symbol: str, data: st.DataObject, number: float) -> None:
    """The whole column by a factor and an offset; one reading exactly."""
    source = unit(symbol)
    target = unit(data.draw(st.sampled_from([each.symbol for each in units_of_dimension(source.dimension)])))
    whole = converted(
        np.array([number, np.nan]), RequestedColumn("t", "t", target.symbol, "number"), ColumnReading(source)
    )
    assert whole is not None
    scale = max(abs(source.to(target, number)), abs(affine(source, target)[1]), 1e-300)
    assert abs(whole[0] - source.to(target, number)) <= 1e-12 * scale
    assert np.isnan(whole[1])


@given(st.lists(st.one_of(st.none(), st.floats(), st.text(max_size=8), st.booleans()), max_size=20))
def test_any_values_are_sampled(values: list[Any]) -> None:
    """Missing ones are left out, and nothing is an error."""
    column = np.empty(len(values), dtype=object)
    column[:] = values
    taken = sample(column)
    assert len(taken.numbers) + len(taken.others) <= len(values)
    for number, symbol in taken.numbers:
        assert math.isfinite(number) or symbol == ""
    assert number_of(True) is None


def test_columns_agree_with_what_a_matcher_selects_row_by_row() -> None:
    """`select` is the reference for one event; the table is converted as a whole."""
    matcher = lw.Matcher()
    matcher.add(
        lw.parse('{x exists} select ("outdoor temperature"~ in degC as t_out, "wind speed"~ in m/s as wind)', id="rows")
    )
    frame = pd.DataFrame({"Temp - °F": [50.0, 61.7, -3.0], "Wind Speed - mph": [1.0, 2.5, 30.0]})
    result = lw.columns(frame, {"t_out": "outdoor temperature in degC", "wind": "wind speed in m/s"}).table
    for index, row in enumerate(frame.to_dict("records")):
        expected = matcher.selected({"x": 1} | {str(name): value for name, value in row.items()}, "rows").values
        assert result.iloc[index].to_dict() == pytest.approx(expected)


@pytest.mark.parametrize("header", ["energy [MJ]", "Energy - MJ", "energy_MJ", "energy (MJ)"])
def test_a_unit_at_the_end_of_a_header_is_never_ignored(header: str) -> None:
    """Also one that names of attributes do not state; one that cannot be converted leaves the column out."""
    result = lw.columns({header: [3.6, None]}, {"e": "energy in kWh"})
    assert result.report["e"].unit == "MJ"
    assert result.table["e"].round(9).tolist()[0] == 1.0
    unfit = lw.columns({"temperature [mph]": [50.0]}, {"t": "temperature in degC"})
    assert "cannot be brought to degC" in unfit.report["t"].note
    assert unfit.report.missing == ("t",)


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["1,25", "2,125"], [1.25, 2.125]),
        (["0,125", "3,250"], [0.125, 3.25]),
        (["1,250.5", "3,000", "7"], [1250.5, 3000.0, 7.0]),
        (["1,250,000 W", "-2,000 W"], [1_250_000.0, -2000.0]),
        (["1012,4", "998,1"], [1012.4, 998.1]),
        (["1012,425", "998,100"], [1012.425, 998.1]),
        (["1,250", "13,000"], None),
        (["1,250,000", "1012,425"], None),
        (["1,250", "2.5"], None),
    ],
)
def test_commas_are_read_as_the_whole_column_says(texts: list[str], numbers: list[float] | None) -> None:
    """Where it does not say whether they stand before decimals or thousands, no number is made up."""
    table, report = lw.columns({"power [W]": texts}, {"p": "power in W"})
    if numbers is None:
        assert report.missing == ("p",)
    else:
        assert table["p"].tolist() == numbers


@pytest.mark.parametrize(
    "values",
    [
        [Decimal("50.0"), None, Decimal("51.8")],
        np.ma.array([50.0, 99.0, 51.8], mask=[False, True, False]),
        np.ma.array([50, 99, 51.8], mask=[False, True, False], dtype=object),
    ],
)
def test_decimals_and_masked_values_are_read(values: Any) -> None:
    """What is masked is missing."""
    table, _ = lw.columns({"Temp °F": values}, {"t": "temperature in degC"})
    assert np.allclose(table["t"], [10.0, np.nan, 11.0], equal_nan=True)


def test_categories_of_polars_are_read_and_unreadable_types_are_refused() -> None:
    """Whole numbers of 128 bits have no type in Arrow."""
    frame = pl.DataFrame({"Temp °F": ["50", None, "50"]}, schema={"Temp °F": pl.Categorical})
    assert lw.columns(frame, {"t": "temperature in degC"}).table["t"].to_list() == [10.0, None, 10.0]
    with pytest.raises(InputError, match="cannot be read by Arrow"):
        lw.columns(pl.DataFrame({"x": [1]}, schema={"x": pl.Int128}), {"t": "temperature in degC"})


def test_dictionaries_of_arrow_are_read_with_their_gaps() -> None:
    """Also in several chunks with dictionaries of their own."""
    column = pa.chunked_array([pa.array(["50", None]).dictionary_encode(), pa.array(["68"]).dictionary_encode()])
    table, _ = lw.columns(pa.Table.from_arrays([column], names=["Temp °F"]), {"t": "temperature in degC"})
    assert table["t"].to_pylist() == [10.0, None, 20.0]


def test_an_override_may_name_a_column_of_several_levels() -> None:
    """By the tuple that pandas calls it by."""
    frame = pd.DataFrame([[50.0, 60.0]], columns=pd.MultiIndex.from_tuples([("Temp", "°F"), ("T2", "°F")]))
    result = lw.columns(frame, {"t": "temperature in degC"}, overrides={"t": ("Temp", "°F")})  # type: ignore[dict-item]
    assert result.table["t"].tolist() == [10.0]


def test_a_report_that_was_changed_to_the_impossible_is_refused(tmp_path: Path) -> None:
    """A unit that cannot be converted, and two decisions about one name."""
    weather = {"Temp °F": [50.0], "other": [68.0]}
    report = lw.columns(weather, {"t": "temperature in degC"}).report
    (source,) = report
    unfit = ColumnReport((msgspec.structs.replace(source, unit="mph"),))
    with pytest.raises(InputError, match="in mph, which cannot be brought to degC"):
        lw.columns(weather, unfit)
    ColumnReport((source, source)).save(tmp_path / "twice.json")
    with pytest.raises(InputError, match="two decisions about one name"):
        ColumnReport.load(tmp_path / "twice.json")
    changed = ColumnReport((msgspec.structs.replace(source, column="other"),))
    result = lw.columns(weather, changed)
    assert (result.table["t"].round(9).tolist(), result.report["t"].note) == ([20.0], "")


def test_a_long_table_with_few_values_is_judged_by_them() -> None:
    """A sample of its rows may miss them all."""
    rows = 50_000
    temperatures = np.full(rows, np.nan)
    temperatures[[101, 20_003]] = [50.0, 68.0]
    frame = pd.DataFrame({"Temp °F": temperatures, "Station": ["harbour"] * rows})
    table, report = lw.columns(frame, {"t": "temperature in degC", "station": "station"})
    assert table["t"].dropna().round(9).tolist() == [10.0, 20.0]
    assert report["station"].column == "Station"
