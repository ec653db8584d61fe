"""QUDT's quantity kinds (https://qudt.org, CC BY 4.0): kinds with the dimensions of their units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from likewise.semantics.concepts.facets import FacetParser
from likewise.semantics.concepts.inventory import Concept, Inventory, label_words
from likewise.semantics.concepts.vocabularies.entries import VocabularyEntry
from likewise.semantics.measure import Term
from likewise.units import find_unit

SOURCE: Final = "QUDT 3.2, CC BY 4.0"
NAMESPACE: Final = "http://qudt.org/vocab/quantitykind/"
KIND: Final = "http://qudt.org/schema/qudt/QuantityKind"
_SPECIFIC: Final = ("ity", "ance", "ence")  # endings of single words that name quantities and little else
_LONGEST: Final = 4
# QUDT's codes of units that our table has under another name, or under the same one; others tell no dimension.
_UNITS: Final = {
    "DEG_C": "degC",
    "DEG_F": "degF",
    "K": "K",
    "V": "V",
    "MilliV": "mV",
    "A": "A",
    "MilliA": "mA",
    "W": "W",
    "KiloW": "kW",
    "V-A": "VA",
    "V-A_Reactive": "var",
    "J": "J",
    "KiloW-HR": "kWh",
    "W-HR": "Wh",
    "HZ": "Hz",
    "PA": "Pa",
    "HectoPA": "hPa",
    "KiloPA": "kPa",
    "BAR": "bar",
    "M": "m",
    "KiloM": "km",
    "MilliM": "mm",
    "M-PER-SEC": "m/s",
    "KiloM-PER-HR": "km/h",
    "M-PER-SEC2": "m/s2",
    "KiloGM": "kg",
    "GM": "g",
    "N": "N",
    "M3": "m3",
    "L": "l",
    "L-PER-SEC": "l/s",
    "M3-PER-HR": "m3/h",
    "M3-PER-SEC": "m3/s",
    "M2": "m2",
    "OHM": "ohm",
    "LUX": "lx",
    "W-PER-M2": "W/m2",
    "RAD": "rad",
    "DEG": "deg",
    "SEC": "s",
    "MIN": "min",
    "HR": "h",
    "PERCENT": "%",
    "PPM": "ppm",
    "MicroGM-PER-M3": "ug/m3",
    "MilliGM-PER-L": "mg/l",
    "BYTE": "B",
    "BIT": "bit",
}


def qudt_concepts(read: Sequence[VocabularyEntry], parser: FacetParser) -> list[Concept]:
    """Return the quantity kinds that the core does not name. Equal ones become one, under the first name.

    A name that the core takes apart (`ambient pressure`) is no kind of its own unless its units are other ones.
    """
    core = parser.inventory
    kinds = {e.iri: e for e in read if KIND in e.types and not e.deprecated}
    out = []
    named: set[str] = set()
    for entry in kinds.values():
        labels = [entry.name, *(kinds[iri].name for iri in entry.same if iri in kinds)]
        labels = [label for label in dict.fromkeys(labels) if _usable(label, core) and label not in named]
        dimension = _dimension(entry)
        if labels and not _is_covered(labels[0], dimension, parser):
            named.update(labels)
            out.append(
                Concept(
                    "kind",
                    labels[0],
                    tuple(labels[1:]),
                    dimensions=(dimension,) if dimension else (),
                    values=("number",),
                    source=SOURCE,
                )
            )
    return out


def _usable(label: str, core: Inventory) -> bool:
    parts = label_words(label)
    if not label.replace(" ", "").isalpha() or len(parts) > _LONGEST or parts in core.labels or parts in core.means:
        return False
    return len(parts) > 1 or (label.endswith(_SPECIFIC) and len(label) > 6)


def _is_covered(label: str, dimension: str, parser: FacetParser) -> bool:
    kinds = parser.facets(Term(label)).kinds
    known = {d for kind in kinds if kind in parser.inventory.kinds for d in parser.inventory.kinds[kind].dimensions}
    return bool(kinds) and (not dimension or dimension in known)


def _dimension(entry: VocabularyEntry) -> str:
    """Return the most common dimension of an entry's units that our table has."""
    units = (find_unit(_UNITS.get(iri.rpartition("/")[2], "")) for iri in entry.units)
    counted = Counter(unit.dimension for unit in units if unit is not None)
    return counted.most_common(1)[0][0] if counted else ""
