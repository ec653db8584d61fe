"""The published Arrow schema of a table of matches (docs/formats.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from likewise.extras import require

if TYPE_CHECKING:
    import pyarrow as pa

VERSION: Final = 1
METADATA: Final[dict[bytes | str, bytes | str]] = {b"likewise.schema": b"match-batch", b"v": str(VERSION).encode()}


def match_schema() -> pa.Schema:
    """The schema of `MatchBatch.to_arrow()`, version 1.

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
