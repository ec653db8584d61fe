"""Corrections: what people said once about what an attribute is, certain from then on (docs/guides/catalogue.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal

import msgspec

from likewise.errors import InputError
from likewise.model.text import fold
from likewise.semantics.enrichment.annotation import EXACT_KEYS, Annotation
from likewise.semantics.enrichment.table import AnnotationSource, AnnotationTable
from likewise.units import unit

CorrectionScope = Literal["source", "model", "attribute"]
CORRECTION: Final = "correction"


class Correction(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """`attribute` of a source, of a model, or of everybody (`of`), means `means`, in `unit` where that is said.

    `by` is who said so, `at` when (µs).

    >>> str(Correction("temp1", "model", "X", means="supply air temperature", unit="degC"))
    'temp1 of model X is supply air temperature, in degC'
    """

    attribute: str
    of: CorrectionScope = "attribute"
    name: str = ""
    means: str = ""
    unit: str = ""
    by: str = ""
    at: int = 0

    def __post_init__(self) -> None:
        if not self.attribute.strip():
            raise InputError("a correction names the attribute it is about")
        if not (self.means or self.unit):
            raise InputError(f"nothing is said about {self.attribute!r}; say what it means, or its unit")
        if (self.of == "attribute") == bool(self.name):
            raise InputError(
                "a correction of a source or a model names it, one that is of every source names none: "
                f"{self.of!r} with {self.name!r} was found"
            )
        if self.of == "attribute" and fold(self.attribute) in EXACT_KEYS:
            raise InputError(
                f"{self.attribute!r} says where an event comes from, so it is the same for everybody; "
                "correct it of one source or of one model"
            )
        if self.unit:
            msgspec.structs.force_setattr(self, "unit", unit(self.unit).symbol)
        self.row()

    @property
    def about(self) -> tuple[str, str, str]:
        """What it is about: there is one correction of it, the last."""
        return self.of, self.name if self.of == "source" else fold(self.name), fold(self.attribute)

    def row(self, number: int = 0, source: str = "") -> Annotation:
        """The annotation it is; of a model with a source, that one's own."""
        key = "source" if source else self.attribute if self.of == "attribute" else self.of
        return Annotation(
            key,
            source or self.name,
            "" if key == self.attribute else self.attribute,
            unit=self.unit,
            means=self.means,
            line=number,
            where=CORRECTION,
        )

    def __str__(self) -> str:
        whose = f" of {self.of} {self.name}" if self.name else ""
        said = [part for part in (self.means, f"in {self.unit}" if self.unit else "") if part]
        return f"{self.attribute}{whose} is {', '.join(said)}"


def correction_rows(corrections: Mapping[int, Correction], models: Mapping[str, Iterable[str]]) -> list[Annotation]:
    """The rows that corrections are: the narrower first, so that a source's own hold before its model's.

    `models` names the sources of each model (folded) that are known otherwise than by their events.

    >>> said = {3: Correction("t", "model", "X", means="water temperature")}
    >>> [str(row) for row in correction_rows(said, {"x": ["s1"]})]
    ['model is X: t is water temperature', 'source is s1: t is water temperature']
    """
    own = {(each.name, fold(each.attribute)) for each in corrections.values() if each.of == "source"}
    rows = [each.row(number) for number, each in corrections.items() if each.of == "source"]
    for number, each in corrections.items():
        if each.of == "model":
            rows.append(each.row(number))
            known = models.get(fold(each.name), ())
            rows += [each.row(number, source) for source in known if (source, fold(each.attribute)) not in own]
    return rows + [each.row(number) for number, each in corrections.items() if each.of == "attribute"]


class CorrectedAnnotations:
    """Annotations with corrections laid before them; where both speak of one attribute under one key, these hold.

    >>> from likewise.semantics.enrichment.table import NO_ANNOTATIONS
    >>> known = Corrected(NO_ANNOTATIONS)
    >>> known.lay([Correction("t", means="water temperature").row(1)])
    >>> [str(row) for row in known.current()]
    ['t: t is water temperature']
    """

    def __init__(self, below: AnnotationSource) -> None:
        self._below = below
        self._rows: tuple[Annotation, ...] = ()
        self._made: tuple[AnnotationTable, tuple[Annotation, ...], AnnotationTable] | None = None

    @property
    def problem(self) -> str:
        """Why a newer version of what lies below cannot be used, if it cannot."""
        return self._below.problem

    def set_corrections(self, rows: Iterable[Annotation]) -> None:
        """Let these rows hold from now on, in place of those of before."""
        self._rows = tuple(rows)

    def current(self) -> AnnotationTable:
        """The rows that hold now."""
        below, rows, made = self._below.current(), self._rows, self._made
        if not rows:
            return below
        if made is None or made[0] is not below or made[1] is not rows:
            said = {_about(row) for row in rows}
            kept = [row for row in below if row.value or _about(row) not in said]
            made = self._made = (below, rows, AnnotationTable((*rows, *kept), below.name))
        return made[2]


def _about(row: Annotation) -> tuple[object, ...]:
    return fold(row.key), row.relaxed, fold(row.equals), fold(row.target)
