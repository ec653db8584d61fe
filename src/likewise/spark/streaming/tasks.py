"""Orders as tasks of one Spark job, each answered with bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from likewise.errors import LikewiseError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

Do = Callable[[bytes], bytes]


def map_orders(spark: SparkSession, orders: list[bytes], do: Do) -> list[bytes]:
    """What `do`, a function of a module that workers have too, makes of each order: one task each, in their order."""
    rows = spark.range(0, len(orders), 1, numPartitions=len(orders)).mapInArrow(
        _mapper(orders, do), "task long, found binary"
    )
    found = {row["task"]: bytes(row["found"]) for row in rows.collect()}
    return [found[number] for number in range(len(orders))]


def rebuild_error(error: str, code: str) -> LikewiseError:
    """The error of a task, as near to its class as can be told by its code."""
    kinds: list[type[LikewiseError]] = [LikewiseError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    found = next((kind for kind in kinds if kind.code == code), LikewiseError)
    made = found.__new__(found)
    Exception.__init__(made, error)
    return made


def _mapper(orders: list[bytes], do: Do) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def mapped(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for number in (int(number) for row in rows for number in row.column(0).to_numpy()):
            columns: list[Any] = [pa.array([number], pa.int64()), pa.array([do(orders[number])], pa.binary())]
            yield pa.RecordBatch.from_arrays(columns, names=["task", "found"])

    return mapped
