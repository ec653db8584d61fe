"""Feedback on disk: one Arrow file, a row for each pair of each judgement."""

from __future__ import annotations

from pathlib import Path

from likewise.errors import ArtefactDamaged, ArtefactVersion
from likewise.semantics.feedback import Feedback, Judgement, TermPair

VERSION = b"1"
COLUMNS = ("judgement", "subscription_id", "event_id", "relevant", "role", "asked", "seen")


def write_feedback(path: Path, feedback: Feedback) -> None:
    """Write every judgement; one without pairs has one row with an empty role."""
    import pyarrow as pa

    rows = [
        (j.number, j.subscription_id, j.event_id, j.relevant, *pair)
        for j in feedback
        for pair in j.pairs or (("", "", ""),)
    ]
    types = (pa.int64(), pa.string(), pa.string(), pa.bool_(), pa.string(), pa.string(), pa.string())
    columns = [pa.array(column, kind) for column, kind in zip(zip(*rows, strict=True), types, strict=True)]
    table = pa.table(columns, names=list(COLUMNS)).replace_schema_metadata({"likewise.feedback": VERSION})
    with pa.OSFile(str(path), "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)


def read_feedback(path: Path) -> Feedback:
    """The judgements of a file that `write_feedback` wrote."""
    import pyarrow as pa

    try:
        with pa.memory_map(str(path)) as source:
            table = pa.ipc.open_file(source).read_all()
    except pa.ArrowInvalid as error:
        raise ArtefactDamaged(f"{path} cannot be read ({error}); restore a copy") from None
    version = (table.schema.metadata or {}).get(b"likewise.feedback")
    if version != VERSION:
        raise ArtefactVersion(
            f"{path} is feedback of version {version!r}; this one reads {VERSION!r}: upgrade likewise"
        )
    judgements: dict[int, Judgement] = {}
    for number, subscription, event, relevant, role, query_text, event_text in zip(
        *(table[name].to_pylist() for name in COLUMNS), strict=True
    ):
        earlier = judgements[number].pairs if number in judgements else ()
        pairs = (*earlier, TermPair(role, query_text, event_text)) if role else earlier
        judgements[number] = Judgement(number, subscription, event, relevant, pairs)
    return Feedback(judgements.values())
