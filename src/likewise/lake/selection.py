"""What `select` of a subscription named, as a plain table: one row a match, and a column for each name.

In the lake it is a JSON object a row, since each subscription names other things (`likewise.lake.parts`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from likewise.errors import InputError
from likewise.extras import require
from likewise.lake.maintenance import open_lake
from likewise.lake.parts import SELECTED, SUBSCRIPTIONS, read_part
from likewise.lake.storage import Place, place_of
from likewise.lake.view import column_array

if TYPE_CHECKING:
    import pyarrow as pa

_OWN: Final = ("event_id", "time")


def selected(
    lake: str | Place, subscription: str, *, tenant: str | None = None, first_day: str = "", last_day: str = ""
) -> pa.Table:
    """What a subscription selected: `event_id` and `time` of the event, then the columns its `select` names.

    The subscription is named by its id in the change log; several that had the id one after the other give their rows
    together. A name that is also `event_id` or `time` stands for what was selected. What is no plain value
    (`@payload`) is JSON.
    """
    require("match", "what is selected in a lake")
    import pyarrow as pa

    place = place_of(lake)
    parts = open_lake(place)
    told = [row for part in parts.parts(SUBSCRIPTIONS) for row in read_part(place, part).to_pylist()]
    numbers = {row["number"] for row in told if row["id"] == subscription}
    if not numbers:
        known = ", ".join(sorted({row["id"] for row in told})[:10])
        raise InputError(f"no subscription {subscription!r} was matched into {place}; it knows {known or 'none'}")
    rows: list[dict[str, Any]] = []
    for part in parts.parts(SELECTED):
        if tenant in (None, part.tenant) and first_day <= part.day and (not last_day or part.day <= last_day):
            rows += [row for row in read_part(place, part).to_pylist() if row["subscription"] in numbers]
    values = [msgspec.json.decode(row["selected"]) for row in rows]
    names = list(dict.fromkeys(name for each in values for name in each))
    kinds: dict[str, pa.DataType] = {"event_id": pa.string(), "time": pa.timestamp("us", tz="UTC")}
    arrays: dict[str, Any] = {name: pa.array([row[name] for row in rows], kinds[name]) for name in _OWN}
    for name in names:
        arrays[name] = column_array([_plain(each.get(name)) for each in values])
    return pa.table(arrays)


def _plain(value: Any) -> Any:
    return msgspec.json.encode(value).decode() if isinstance(value, dict | list) else value
