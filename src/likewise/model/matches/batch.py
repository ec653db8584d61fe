"""Matches of many events as arrays and as an Arrow table.

The published Arrow schema of a table of matches (docs/formats.md).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, NamedTuple, get_args

from likewise.errors import MissingDependency
from likewise.extras import require
from likewise.model.match import Cause, Match
from likewise.model.matched_reading import MatchedReading
from likewise.model.probability import AS_SCORED, ProbabilityCurve

if TYPE_CHECKING:
    import pandas
    import pyarrow as pa
    from numpy import float32, signedinteger
    from numpy.typing import NDArray


VERSION: Final = 1
METADATA: Final[dict[bytes | str, bytes | str]] = {b"likewise.schema": b"match-batch", b"v": str(VERSION).encode()}


def match_schema() -> pa.Schema:
    """Return the schema of `MatchBatch.to_arrow()`, version 1.

    >>> match_schema().names
    ['event_index', 'subscription_number', 'subscription_id', 'score', 'probability', 'cause', 'promoted_id']
    """
    require("match", "a table of matches")
    import pyarrow as pa

    fields = [
        pa.field("event_index", pa.int32(), nullable=False),
        pa.field("subscription_number", pa.int64(), nullable=False),
        pa.field("subscription_id", pa.dictionary(pa.int32(), pa.string()), nullable=False),
        pa.field("score", pa.float32(), nullable=False),
        pa.field("probability", pa.float32(), nullable=False),
        pa.field("cause", pa.dictionary(pa.int8(), pa.string()), nullable=False),
        pa.field("promoted_id", pa.string()),
    ]
    return pa.schema(fields, metadata=METADATA)


CAUSES: Final[tuple[Cause, ...]] = get_args(Cause)


class Promotion(NamedTuple):
    """Promotion during a batch: the index of the event that caused it, the match, its subscription's number."""

    event_index: int
    match: Match
    number: int = -1


class ProbabilityCurves(NamedTuple):
    """Probability curves of conditions and statements, and the indices of the subscriptions that are statements."""

    conditions: ProbabilityCurve = AS_SCORED
    statements: ProbabilityCurve = AS_SCORED
    places: tuple[int, ...] = ()


class BatchReadings:
    """Reader of the readings behind the matches of a batch, by index of the event and id of the subscription.

    It refers to the matcher and the events, so a pickled batch has none.
    """

    def __init__(self, read: Callable[[int, str], tuple[MatchedReading, ...]] | None = None) -> None:
        self.read = read

    def __reduce__(self) -> tuple[type[BatchReadings], tuple[()]]:
        return BatchReadings, ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BatchReadings)

    __hash__ = None  # type: ignore[assignment]


NO_READINGS: Final = BatchReadings()
READING_COLUMNS: Final = ("attribute", "value", "unit", "converted", "converted_unit")


class MatchBatch(NamedTuple):
    """Matches of a batch as arrays, ordered by event, then by the order of addition.

    Pair i says that event `event_index[i]` met `subscription_ids[subscription_index[i]]` with `score[i]`.
    `numbers` has for each of `subscription_ids` the number the matcher dealt out when it was added: the same in every
    batch, never used for another subscription, and kept when the matcher is saved and loaded.
    `likelihoods` are the curves that make scores probabilities: for conditions, and for statements with the indices of
    the subscriptions that are some.

    Attributes:
        event_index: Index of the event of each match.
        subscription_index: Index into `subscription_ids` of each match.
        score: Score of each match.
        subscription_ids: Ids of the subscriptions.
        promoted: Promotions into windows during the batch.
        likelihoods: Curves from score to probability.
        numbers: Stable number of each of `subscription_ids`; None where the matcher assigned none.
        readings: Reader of the readings that met the subscriptions, for `to_arrow(readings=True)`.
    """

    event_index: NDArray[signedinteger[Any]]
    subscription_index: NDArray[signedinteger[Any]]
    score: NDArray[float32]
    subscription_ids: Sequence[str]
    promoted: tuple[Promotion, ...] = ()
    likelihoods: ProbabilityCurves = ProbabilityCurves()
    numbers: NDArray[signedinteger[Any]] | None = None
    readings: BatchReadings = NO_READINGS

    @property
    def subscription_numbers(self) -> NDArray[signedinteger[Any]]:
        """Stable number for each of `subscription_ids`; its index where the matcher assigned none."""
        import numpy as np

        return np.arange(len(self.subscription_ids)) if self.numbers is None else self.numbers

    def to_arrow(self, *, readings: bool = False) -> pa.Table:
        """Return the matches as an Arrow table of the published schema (docs/formats.md).

        Args:
            readings: Whether to add columns with the reading that met the first predicate of each subscription:
                `attribute`, `value` (as text), `unit`, `converted` and `converted_unit`. They are null for promotions,
                and for a batch that was unpickled. Each match is explained for them, which takes longer than matching.

        >>> import likewise as lw
        >>> m = lw.Matcher()
        >>> _ = m.add({"text": "{x > 1}", "id": "s"})
        >>> m.match_batch([{"x": 2}, {"x": 1}]).to_arrow().to_pylist()[0]["subscription_id"]
        's'
        """
        import numpy as np
        import pyarrow as pa

        schema = match_schema()
        ids = list(self.subscription_ids)
        numbers = self.subscription_numbers
        arrived, promoted = len(self.event_index), [each.match for each in self.promoted]
        place = {id: index for index, id in enumerate(ids)} if promoted else {}
        later = [place.get(match.subscription_id, -1) for match in promoted]
        for spot, match in enumerate(promoted):  # one that no event of the batch met on arrival
            if later[spot] < 0:
                later[spot] = place[match.subscription_id] = len(ids)
                ids.append(match.subscription_id)
        of_later = np.array([each.number for each in self.promoted], np.int64)
        index = np.concatenate([self.subscription_index, np.array(later, np.int64)]).astype(np.int32)
        columns: list[Any] = [
            np.concatenate([self.event_index, [each.event_index for each in self.promoted]]).astype(np.int32),
            np.concatenate([numbers[self.subscription_index], of_later]).astype(np.int64),
            pa.DictionaryArray.from_arrays(index, pa.array(ids, pa.string())),
            np.concatenate([self.score, [match.score for match in promoted]]).astype(np.float32),
            np.concatenate([self.probability, [match.probability for match in promoted]]).astype(np.float32),
            pa.DictionaryArray.from_arrays(
                np.array([0] * arrived + [CAUSES.index(match.cause) for match in promoted], np.int8), pa.array(CAUSES)
            ),
            pa.array([None] * arrived + [match.event_id for match in promoted], pa.string()),
        ]
        table = pa.Table.from_arrays([pa.array(c) if isinstance(c, np.ndarray) else c for c in columns], schema=schema)
        if promoted:
            order = np.lexsort((np.arange(table.num_rows) >= arrived, columns[0]))
            table = table.take(order)
        return self._with_readings(table) if readings else table

    def _with_readings(self, table: pa.Table) -> pa.Table:
        """Append the columns of the readings to a table of matches."""
        import pyarrow as pa

        read, rows = self.readings.read, []
        for event, id, promoted in zip(
            *(table.column(name).to_pylist() for name in ("event_index", "subscription_id", "promoted_id")), strict=True
        ):
            first = next(iter(read(event, id)), None) if read is not None and promoted is None else None
            rows.append(
                (None,) * len(READING_COLUMNS)
                if first is None
                else (
                    first.attribute,
                    str(first.value).lower() if isinstance(first.value, bool) else str(first.value),
                    first.unit,
                    first.converted,
                    first.converted_unit,
                )
            )
        types: tuple[pa.DataType, ...] = (pa.string(), pa.string(), pa.string(), pa.float64(), pa.string())
        for position, (name, type) in enumerate(zip(READING_COLUMNS, types, strict=True)):
            table = table.append_column(pa.field(name, type), pa.array([row[position] for row in rows], type))
        return table

    def to_polars(self, *, readings: bool = False) -> Any:
        """Return the table as a data frame of polars.

        Args:
            readings: As in `to_arrow`.
        """
        if find_spec("polars") is None:
            raise MissingDependency("polars", "", or_else="use to_arrow()")
        return importlib.import_module("polars").from_arrow(self.to_arrow(readings=readings))

    def to_pandas(self, *, readings: bool = False) -> pandas.DataFrame:
        """Return the table as a data frame; ids and causes are categories.

        Args:
            readings: As in `to_arrow`.
        """
        require("match", "a table of matches")
        if find_spec("pandas") is None:
            raise MissingDependency("pandas", "spark", or_else="to_arrow() gives the same table without it")
        frame: pandas.DataFrame = self.to_arrow(readings=readings).to_pandas()
        return frame

    @property
    def probability(self) -> NDArray[float32]:
        """Probability that each match is relevant, computed on access."""
        import numpy as np

        conditions, statements, places = self.likelihoods
        probabilities = conditions.each(self.score)
        if places:
            stated = np.isin(self.subscription_index, places)
            probabilities[stated] = statements.each(self.score[stated])
        return probabilities

    def pairs(self) -> Iterator[tuple[int, str, float]]:
        """Yield each match as (event index, subscription id, score); for small batches and tests."""
        for e, s, score in zip(
            self.event_index.tolist(), self.subscription_index.tolist(), self.score.tolist(), strict=True
        ):
            yield e, self.subscription_ids[s], score
