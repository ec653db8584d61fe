"""Assignment of the columns of a table to requested names, one to one and as a whole.

Each column is judged once for each requested name: by its header (as an attribute of an event is), the unit in the
header, and a sample of its values (type, range, unit in the text). The assignment maximises the sum of probabilities,
so that a column that serves one name better is not taken for another. A name whose column is uncertain, or that another
free column serves equally well, is left out and reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from likewise.defaults import MAX_TERM_LENGTH, MAX_TUPLES
from likewise.errors import InputError
from likewise.extras import require
from likewise.matching.reference.terms import event_attribute_terms
from likewise.model import Event
from likewise.model.event import EventTuple
from likewise.model.text import fold
from likewise.semantics.concepts.comparison import FacetDifference
from likewise.semantics.measure import Term
from likewise.tables.frames import Table, as_table
from likewise.tables.headers import header_name
from likewise.tables.report import ColumnReport, ColumnResult, ColumnSource, RunnerUp
from likewise.tables.requested import RequestedColumn, requested_columns
from likewise.tables.values import SAMPLE, ColumnReading, Sample, converted, reading_of, sample
from likewise.units import unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.matching.matcher import Matcher

CONFIDENCE: Final = 0.5  # below it a column is left out: a wrong column costs more than one to be named by hand
ASSUMED: Final = 0.9  # factor of a column that leaves a qualifier to be assumed, where another column states it
MARGIN: Final = 0.03  # two free columns this near to each other serve a name equally well
RUNNERS_UP: Final = 3
SPREAD: Final = 2_000  # rows of a long table that are looked at for a sample
CERTAIN: Final = 1.0


def columns(
    table: object,
    request: object,
    *,
    overrides: Mapping[str, str | int | None] | None = None,
    confidence: float = CONFIDENCE,
    matcher: Matcher | None = None,
) -> ColumnResult:
    """Return the requested columns of a table, under the requested names and in the requested units.

    Args:
        table: A pandas or polars data frame, an Arrow table, or a mapping of headers to columns. It is not changed.
        request: Mapping of names to phrases (`{"t_out": "outdoor temperature in degC"}`), list of phrases, class with
            annotated fields (a unit or a phrase in `Annotated`), or the report of an earlier call.
        overrides: For requested names the header or position of their column, or None to leave them out.
        confidence: Probability below which a column is left out, in [0, 1].
        matcher: Matcher whose space, measure and feedback decide. Default: what ships with the package.

    Returns:
        The new table, of the type of `table`, and the report: for each name its column, unit, probability, a note and
        runners-up.

    Raises:
        InputError: The table, the request or an override is impossible.

    >>> import likewise as lw
    >>> weather = {"Date": ["2026-01-05"], "Temp - °F": [50.0], "Inside Temp - °F": [68.0]}
    >>> result = lw.columns(weather, {"t_in": "indoor temperature in degC", "t_out": "outdoor temperature in degC"})
    >>> {name: values.tolist() for name, values in result.table.items()}
    {'t_in': [20.0], 't_out': [10.0]}
    """
    require("match", "columns by meaning")
    if not 0.0 <= confidence <= 1.0:
        raise InputError(f"a confidence is a probability from 0 to 1, not {confidence!r}")
    view = as_table(table)
    report = decide(view, request, overrides or {}, confidence, matcher)
    made: dict[str, Any] = {}
    for source in report:
        if source.index is not None and not source.requested.type:
            made[source.requested.name] = view.column(source.index)  # of any type: it stays as it is
        elif source.index is not None:
            values = converted(view.array(source.index), source.requested, _reading(source))
            made[source.requested.name] = view.column(source.index) if values is None else values
    return ColumnResult(view.build(made), report)


def decide(
    view: Table, request: object, overrides: Mapping[str, str | int | None], confidence: float, matcher: Matcher | None
) -> ColumnReport:
    """Return which columns of a table are taken for the requested ones, without converting them.

    Args:
        view: The table.
        request: What `columns` accepts.
        overrides: For requested names the header or position of their column, or None.
        confidence: Probability below which a column is left out.
        matcher: Matcher whose measure decides, None for what ships.
    """
    if isinstance(request, ColumnReport):
        overrides = {each.requested.name: each.column for each in request} | dict(overrides)
        requested = tuple(each.requested for each in request)
        units = {each.requested.name: each.unit for each in request}
    else:
        requested, units = requested_columns(request), {}
    if unknown := next((name for name in overrides if name not in {each.name for each in requested}), None):
        raise InputError(f"an override names {unknown!r}, which is not requested; requested are {_names(requested)}")
    samples = [_sample(view, index) for index in range(len(view.headers))]
    chosen = {name: _index(view, name, column) for name, column in overrides.items()}
    free = [index for index in range(len(view.headers)) if index not in chosen.values()]
    asked = [each for each in requested if each.name not in chosen]
    decisions = {
        each.requested.name: each for each in _assigned(view.headers, samples, asked, free, confidence, matcher)
    }
    for each in requested:
        if each.name in chosen:
            decisions[each.name] = _overridden(
                view.headers, samples, each, chosen[each.name], _fitting(each, units.get(each.name, ""))
            )
    return ColumnReport(tuple(decisions[each.name] for each in requested))


def _reading(source: ColumnSource) -> ColumnReading:
    return ColumnReading(unit(source.unit) if source.unit else None)


def _names(requested: tuple[RequestedColumn, ...]) -> str:
    return ", ".join(repr(each.name) for each in requested[:10]) + (", ..." if len(requested) > 10 else "")


def _index(view: Table, name: str, column: str | int | None) -> int | None:
    """Return the position of the column that an override names."""
    if column is None:
        return None
    if isinstance(column, int) and not isinstance(column, bool):
        if 0 <= column < len(view.headers):
            return column
        raise InputError(f"the override of {name!r} is column {column}; the table has {len(view.headers)} columns")
    positions = [index for index, header in enumerate(view.headers) if header == str(column)]  # also of a MultiIndex
    if len(positions) == 1:
        return positions[0]
    if positions:
        raise InputError(
            f"{len(positions)} columns are headed {column!r}; override {name!r} by position: {positions[:5]}"
        )
    raise InputError(f"the override of {name!r} names {column!r:.80}, which is no column of the table")


def _sample(view: Table, index: int) -> Sample:
    """Return a sample of a column, without reading all of a long one unless few of its rows have values."""
    if view.array_of_rows is not None and view.rows > SPREAD:
        rows = np.linspace(0, view.rows - 1, SPREAD).astype(np.int64)
        found = sample(view.array_of_rows(index, rows))
        if len(found.numbers) + len(found.others) == SAMPLE:
            return found
    return sample(view.array(index))


def _fitting(requested: RequestedColumn, symbol: str) -> str:
    """Return the unit that a report states for a column, if its values can be converted from it."""
    if symbol and unit(symbol).dimension != (unit(requested.unit).dimension if requested.unit else None):
        raise InputError(
            f"the report has {requested.name!r} in {symbol}, which cannot be brought to "
            f"{requested.unit or 'a column without a unit'}"
        )
    return symbol


def _overridden(
    headers: list[str], samples: list[Sample], requested: RequestedColumn, index: int | None, symbol: str
) -> ColumnSource:
    if index is None:
        return ColumnSource(requested, note="left out by an override")
    reading = reading_of(headers[index], samples[index], requested)
    if isinstance(reading, str):  # a person's word counts more than a range
        return ColumnSource(requested, headers[index], index, symbol or requested.unit, CERTAIN, reading)
    decided = "" if reading.unit is None else reading.unit.symbol
    note = reading.note if symbol in ("", decided) else ""  # what is taken for granted is the report's word then
    return ColumnSource(requested, headers[index], index, symbol or decided, CERTAIN, note)


def _assigned(
    headers: list[str],
    samples: list[Sample],
    requested: list[RequestedColumn],
    free: list[int],
    confidence: float,
    matcher: Matcher | None,
) -> list[ColumnSource]:
    """Decide all requested columns that no override names."""
    from scipy.optimize import linear_sum_assignment

    if not requested:
        return []
    usable = [i for i in free if headers[i].strip() and len(headers[i]) <= MAX_TERM_LENGTH and not samples[i].is_empty]
    if not usable:
        return [ColumnSource(each, note="the table has no other column with values") for each in requested]
    probability = _probabilities([headers[i] for i in usable], [samples[i] for i in usable], requested, matcher)
    readings = [[reading_of(headers[i], samples[i], each) for i in usable] for each in requested]
    possible = np.array([[not isinstance(reading, str) for reading in row] for row in readings])
    scores = np.where(possible, probability, 0.0)
    # What stays below the confidence takes no column from another name.
    rows, places = linear_sum_assignment(np.where(scores >= confidence, scores, 0.0), maximize=True)
    taken = dict(zip(rows.tolist(), places.tolist(), strict=True))
    taken = {row: place for row, place in taken.items() if scores[row, place] >= confidence}
    sources = []
    for row, each in enumerate(requested):
        used = {place for other, place in taken.items() if other != row}
        order = [place for place in np.argsort(-probability[row], kind="stable").tolist() if place not in used]
        place = taken.get(row)
        others = tuple(
            RunnerUp(headers[usable[rival]], round(float(probability[row, rival]), 4))
            for rival in order[: RUNNERS_UP + 1]
            if rival != place and probability[row, rival] > 0.05
        )[:RUNNERS_UP]
        if place is None:
            sources.append(
                ColumnSource(
                    each, note=_why_missing(readings[row], order, probability[row], confidence), runners_up=others
                )
            )
            continue
        rivals = [rival for rival in order if rival != place and scores[row, rival] >= scores[row, place] - MARGIN]
        if rivals:
            rival = headers[usable[rivals[0]]]
            note = f"{headers[usable[place]]!r} and {rival!r} serve equally well; choose one by `overrides`"
            first = RunnerUp(headers[usable[place]], round(float(probability[row, place]), 4))
            sources.append(ColumnSource(each, note=note, runners_up=(first, *others)[:RUNNERS_UP]))
            continue
        reading = readings[row][place]
        assert not isinstance(reading, str)  # impossible ones have the score 0
        symbol = "" if reading.unit is None else reading.unit.symbol
        level = round(float(scores[row, place]), 4)
        sources.append(ColumnSource(each, headers[usable[place]], usable[place], symbol, level, reading.note, others))
    return sources


def _why_missing(
    readings: list[ColumnReading | str], order: list[int], probability: NDArray[Any], confidence: float
) -> str:
    """Return why a name got no column: what its best column lacks, if that column is near by its header."""
    for place in order:
        reading = readings[place]
        if probability[place] >= confidence and isinstance(reading, str):
            return reading
    return "no column is near enough"


def _probabilities(
    headers: list[str], samples: list[Sample], requested: list[RequestedColumn], matcher: Matcher | None
) -> NDArray[np.float64]:
    """Return the probability of each column for each requested one (row), by header, unit and kind of value."""
    from likewise.matching.matcher import Matcher

    interpretation = (matcher or Matcher()).interpretation
    terms: list[Term] = []
    dimensions = {unit(each.unit).dimension for each in requested if each.unit}
    for start in range(0, len(headers), MAX_TUPLES):
        tuples = [
            _tuple(*pair, dimensions)
            for pair in zip(headers[start : start + MAX_TUPLES], samples[start : start + MAX_TUPLES], strict=True)
        ]
        terms += event_attribute_terms(Event(tuple(tuples)))
    queries = [
        Term(each.attribute, unit=each.unit, kind="" if each.type == "time" else each.type) for each in requested
    ]
    matrix = interpretation.measure.matrix(queries, terms)
    curve = interpretation.probability_curve("conditions")
    probability = curve.each(matrix).astype(np.float64)
    agreement = getattr(getattr(interpretation.measure, "measure", None), "agreement", None)
    if agreement is not None:
        _prefer_stated(probability, lambda row, place: agreement(queries[row], terms[place]).differences)
    equal = [[fold(each.attribute) == fold(header) for header in headers] for each in requested]
    return np.where(equal, CERTAIN, probability)


def _prefer_stated(
    probability: NDArray[np.float64], differences: Callable[[int, int], Iterable[FacetDifference]]
) -> None:
    """Lower the columns that leave a requested qualifier to be assumed, where another column of the table states it.

    A lone `Temp` may be the outdoor temperature; beside `Inside Temp` it is not the indoor one.
    """
    for row, scores in enumerate(probability):
        near = np.flatnonzero(scores >= 0.5).tolist()
        if len(near) < 2:
            continue
        assumed = [place for place in near if any(each.reason == "covered" for each in differences(row, place))]
        if len(assumed) < len(near):
            probability[row, assumed] *= ASSUMED


def _tuple(header: str, values: Sample, dimensions: set[str]) -> EventTuple:
    """Return a column as one reading: what its header names, and a value that stands for it.

    A unit in brackets tells columns apart where it measures what somebody requested; elsewhere the header alone says
    how near the column is, so that the unit is reported as what keeps it from being taken.
    """
    typical = values.typical()
    plain = typical if isinstance(typical, (bool, int, float)) else str(typical)[:MAX_TERM_LENGTH]
    name, unit = header_name(header)
    if not values.is_numeric:
        return EventTuple(name, plain, "")
    bracketed = unit.symbol if unit is not None and unit.dimension in dimensions else ""
    return EventTuple(name, plain, next((symbol for _, symbol in values.numbers if symbol), bracketed))
