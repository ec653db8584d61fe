"""Codec of corrections as SSSOM tables, the simple standard for sharing ontological mappings
(mapping-commons.github.io/sssom).

A mapping is a row of tab-separated values: what is mapped (`subject_id`, `subject_label`, `subject_source`), how
(`predicate_id`), to what (`object_label`), and why it is believed. A unit stands in `other` as `unit=degC`, and what
it is not as `not=power`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final, cast

from likewise.defaults import MAX_CORRECTIONS
from likewise.errors import FormatError, InputError, LimitExceeded
from likewise.semantics.enrichment.corrections import Correction, CorrectionScope

COLUMNS: Final = (
    "subject_id",
    "subject_label",
    "subject_source",
    "predicate_id",
    "object_id",
    "object_label",
    "mapping_justification",
    "author_label",
    "mapping_date",
    "confidence",
    "other",
)
AS_IT_IS: Final = frozenset(("subject_label", "subject_source", "object_label"))  # a name may begin with a blank
END: Final[list[str]] = []
EXACT: Final = "skos:exactMatch"
MANUAL: Final = "semapv:ManualMappingCuration"
_HEAD: Final = (
    "# curie_map:\n#   skos: http://www.w3.org/2004/02/skos/core#\n#   semapv: https://w3id.org/semapv/vocab/\n"
    "#   seen: urn:likewise:seen:\n#   concept: urn:likewise:concept:\n"
    "# mapping_set_id: urn:likewise:corrections\n# license: https://w3id.org/sssom/license/unspecified\n"
)


def write_sssom(corrections: Iterable[Correction]) -> str:
    """Encode corrections as an SSSOM table.

    >>> print(write_sssom([Correction("temp1", "model", "X", means="air temperature")]).splitlines()[-1][:60])
    seen:model/X/temp1	temp1	model:X	skos:exactMatch	concept:air
    """
    out = io.StringIO()
    out.write(_HEAD)
    rows = csv.writer(out, delimiter="\t", lineterminator="\n")
    quoting = csv.writer(out, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_ALL)
    rows.writerow(COLUMNS)
    for each in corrections:
        whose = f"{each.of}:{each.name}" if each.name else ""
        concept = f"concept:{_curie(each.means)}" if each.means else "sssom:NoTermFound"
        day = datetime.fromtimestamp(each.at / 1e6, UTC).date().isoformat() if each.at else ""
        subject = "/".join(_curie(part) for part in (each.of, each.name, each.attribute) if part)
        cells = (
            f"seen:{subject}",
            each.attribute,
            whose,
            EXACT,
            concept,
            each.means,
            MANUAL,
            each.by,
            day,
            "1.0",
            "|".join([f"unit={each.unit}"] * bool(each.unit) + [f"not={denied}" for denied in each.denies]),
        )
        (quoting if "\r" in "".join(cells) else rows).writerow(cells)  # a carriage return is not quoted by itself
    return out.getvalue()


def read_sssom(text: str, by: str = "", at: int = 0) -> list[Correction]:
    """Decode the corrections of an SSSOM table, all or none. A bad row is refused with its line number.

    Args:
        text: The table.
        by: User who made the corrections.
        at: When they were made, in µs.

    >>> said = [Correction("temp1", "model", "X", means="air temperature", unit="degC")]
    >>> read_sssom(write_sssom(said)) == said
    True
    >>> read_sssom("subject_label\\tpredicate_id\\n")
    Traceback (most recent call last):
    likewise.errors.FormatError: line 1: the column `object_label` is missing; this is no SSSOM table
    """
    lines = io.StringIO(text.removeprefix("\ufeff"), newline="").readlines()  # a quoted cell may hold ends of lines
    skipped = next((place for place, line in enumerate(lines) if not line.startswith("#")), len(lines))
    rows = csv.reader(lines[skipped:], delimiter="\t")
    header = [cell.strip() for cell in _next(rows, skipped)]
    for needed in ("subject_label", "predicate_id", "object_label"):
        if needed not in header:
            raise FormatError(f"line {skipped + 1}: the column `{needed}` is missing; this is no SSSOM table")
    corrections = []
    number = skipped + rows.line_num + 1
    while (cells := _next(rows, skipped)) is not END:
        if any(cell.strip() for cell in cells):
            row = {name: cell if name in AS_IT_IS else cell.strip() for name, cell in zip(header, cells, strict=False)}
            corrections.append(_read_row(row, number, by, at))
        if len(corrections) > MAX_CORRECTIONS:
            raise LimitExceeded("corrections of a table", allowed=MAX_CORRECTIONS)
        number = skipped + rows.line_num + 1
    return corrections


def _next(rows: Any, skipped: int) -> list[str]:
    """Return the cells of the next row; `END` after the last."""
    try:
        return cast("list[str]", next(rows, END))
    except csv.Error as error:
        raise FormatError(f"line {skipped + rows.line_num}: {error}") from None


def _read_row(row: dict[str, str], number: int, by: str, at: int) -> Correction:
    if row.get("predicate_id") != EXACT:
        raise FormatError(
            f"line {number}: {row.get('predicate_id', '')[:40]!r} is no predicate that makes a correction; {EXACT} is"
        )
    if row.get("predicate_modifier"):
        raise FormatError(
            f"line {number}: a mapping with the modifier {row['predicate_modifier'][:20]!r} is no meaning"
        )
    of, colon, name = row.get("subject_source", "").partition(":")
    if (of or colon) and of not in ("source", "model"):
        raise FormatError(f"line {number}: `subject_source` is source:NAME or model:NAME, or empty; found {of[:40]!r}")
    other = [part.strip() for part in row.get("other", "").split("|")]
    unit = next((part.removeprefix("unit=") for part in other if part.startswith("unit=")), "")
    denies = tuple(part.removeprefix("not=") for part in other if part.startswith("not="))
    who, when = row.get("author_label") or by, at
    if row.get("mapping_date"):
        try:
            when = int(datetime.fromisoformat(row["mapping_date"]).replace(tzinfo=UTC).timestamp()) * 1_000_000
        except ValueError:
            raise FormatError(f"line {number}: {row['mapping_date'][:40]!r} is no date such as 2026-11-16") from None
    try:
        return Correction(
            row.get("subject_label", ""),
            cast("CorrectionScope", of or "attribute"),
            name,
            row.get("object_label", ""),
            unit,
            who,
            when,
            denies,
        )
    except InputError as error:
        raise FormatError(f"line {number}: {error}") from None


def _curie(text: str) -> str:
    """Return a name as the local part of a compact IRI."""
    return "".join(c if c.isalnum() or c in "-._~" else f"%{ord(c):02X}" if ord(c) < 128 else c for c in text)
