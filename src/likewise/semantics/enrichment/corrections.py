"""Corrections: confirmed meanings and units of attributes, from the users (docs/guides/catalogue.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal

import msgspec

from likewise.errors import InputError
from likewise.model.text import DENIAL, fold
from likewise.semantics.enrichment.annotation import EXACT_KEYS, Annotation
from likewise.semantics.enrichment.table import AnnotationSource, AnnotationTable
from likewise.units import unit

CorrectionScope = Literal["source", "model", "attribute"]
CORRECTION: Final = "correction"


class Correction(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Correction of an attribute of a source, of a model, or of every source (`of`): its meaning, its unit.

    `denies` is what it is not: conditions that ask for that are not met. `by` is who said so, `at` when (µs).

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
    denies: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.attribute.strip():
            raise InputError("a correction names the attribute it is about")
        if not (self.means or self.unit or self.denies):
            raise InputError(f"nothing is said about {self.attribute!r}; say what it means or is not, or its unit")
        if any(not each.strip() or set("();") & set(each) for each in self.denies):
            raise InputError(f"what {self.attribute!r} is not is said in words, without brackets and semicolons")
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
        """Key of the correction: a later one with the same key replaces it."""
        return self.of, self.name if self.of == "source" else fold(self.name), fold(self.attribute)

    def after(self, earlier: Correction) -> Correction:
        """Return what holds once this is said after an earlier one: what was denied stays so.

        One that denies alone leaves what the attribute means, and its unit, as they were.

        >>> said = Correction("t", means="water temperature")
        >>> Correction("t", denies=("power",)).after(said).means
        'water temperature'
        """
        denies = tuple(dict.fromkeys((*earlier.denies, *self.denies)))
        if self.means or self.unit:
            return msgspec.structs.replace(self, denies=denies)
        return msgspec.structs.replace(self, means=earlier.means, unit=earlier.unit, denies=denies)

    def row(self, number: int = 0, source: str = "") -> Annotation:
        """Return the annotation row of the correction; with `source`, the row of that source of the model."""
        key = "source" if source else self.attribute if self.of == "attribute" else self.of
        means = f"{self.means or self.attribute}{DENIAL}{'; '.join(self.denies)})" if self.denies else self.means
        return Annotation(
            key,
            source or self.name,
            "" if key == self.attribute else self.attribute,
            unit=self.unit,
            means=means,
            line=number,
            where=CORRECTION,
        )

    def __str__(self) -> str:
        whose = f" of {self.of} {self.name}" if self.name else ""
        denied = f"not {' and not '.join(self.denies)}" if self.denies else ""
        clauses = [part for part in (self.means, denied, f"in {self.unit}" if self.unit else "") if part]
        return f"{self.attribute}{whose} is {', '.join(clauses)}"


def correction_rows(corrections: Mapping[int, Correction], models: Mapping[str, Iterable[str]]) -> list[Annotation]:
    """Return the annotation rows of corrections, the narrower scope first, so that a source's own win over its model's.

    `models` names the sources of each model (folded) that are known otherwise than by their events.

    >>> said = {3: Correction("t", "model", "X", means="water temperature")}
    >>> [str(row) for row in correction_rows(said, {"x": ["s1"]})]
    ['model is X: t is water temperature', 'source is s1: t is water temperature']
    """
    of_sources = {(each.name, fold(each.attribute)) for each in corrections.values() if each.of == "source"}
    rows = [each.row(number) for number, each in corrections.items() if each.of == "source"]
    for number, each in corrections.items():
        if each.of == "model":
            rows.append(each.row(number))
            known = models.get(fold(each.name), ())
            rows += [each.row(number, source) for source in known if (source, fold(each.attribute)) not in of_sources]
    return rows + [each.row(number) for number, each in corrections.items() if each.of == "attribute"]


class CorrectedAnnotations:
    """Annotations with corrections in front. Where both describe one attribute under one key, the correction wins.

    >>> from likewise.semantics.enrichment.table import NO_ANNOTATIONS
    >>> known = CorrectedAnnotations(NO_ANNOTATIONS)
    >>> known.set_corrections([Correction("t", means="water temperature").row(1)])
    >>> [str(row) for row in known.current()]
    ['t: t is water temperature']
    """

    def __init__(self, below: AnnotationSource) -> None:
        self._below = below
        self._rows: tuple[Annotation, ...] = ()
        self._made: tuple[AnnotationTable, tuple[Annotation, ...], AnnotationTable] | None = None

    @property
    def problem(self) -> str:
        """The reason why a newer version of the underlying table cannot be used; '' if there is none."""
        return self._below.problem

    def set_corrections(self, rows: Iterable[Annotation]) -> None:
        """Replace the corrections."""
        self._rows = tuple(rows)

    def current(self) -> AnnotationTable:
        """Return the current table."""
        below, rows, made = self._below.current(), self._rows, self._made
        if not rows:
            return below
        if made is None or made[0] is not below or made[1] is not rows:
            corrected = {_about(row) for row in rows}
            unchanged = [row for row in below if row.value or _about(row) not in corrected]
            made = self._made = (below, rows, AnnotationTable((*rows, *unchanged), below.name))
        return made[2]


def _about(row: Annotation) -> tuple[object, ...]:
    return fold(row.key), row.relaxed, fold(row.equals), fold(row.target)
