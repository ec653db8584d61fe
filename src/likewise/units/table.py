"""Table of units, `likewise/data/units.tsv`: everyday ones, and all others, which are loaded on demand.

The file is written by tools/make_unit_table.py (decision 001). Its comments say what each column is.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterator
from typing import Final, NamedTuple

# By os.path: pathlib and importlib.resources cost more to import than the everyday units cost to read, and every
# program that makes an event reads them.
FILE: Final = os.path.join(os.path.dirname(__file__), os.pardir, "data", "units.tsv")
OTHERS: Final = "# All others"  # how the line begins that stands between the two parts


class EverydayUnit(NamedTuple):
    """A row of the first part; an upper-case word of `names` may be something other than a unit."""

    symbol: str
    dimension: str
    factor: str
    offset: str
    spellings: tuple[str, ...]
    names: tuple[str, ...]


def _everyday() -> Iterator[EverydayUnit]:
    with open(FILE, encoding="utf-8", newline="\n") as lines:
        for line in lines:
            if line[0] != "#":
                symbol, dimension, factor, offset, spellings, names, _ = line.split("\t")
                yield EverydayUnit(symbol, dimension, factor, offset, _listed(spellings), _listed(names))
            elif line.startswith(OTHERS):
                return


def other_units() -> Iterator[tuple[str, str, str, tuple[str, ...], tuple[str, ...]]]:
    """Yield symbol, dimension, factor, spellings and codes of each row of the second part.

    A row without a dimension adds spellings and codes to an everyday unit.
    """
    with open(FILE, encoding="utf-8", newline="\n") as file:
        _, _, rest = file.read().partition(OTHERS)
    for line in rest.split("\n")[1:-1]:
        if line[0] != "#":
            symbol, dimension, factor, _, spellings, _, codes = line.split("\t")
            yield symbol, dimension, factor, _listed(spellings), _listed(codes)


def _listed(text: str) -> tuple[str, ...]:
    return tuple(text.split(";")) if text else ()


EVERYDAY: Final = tuple(_everyday())
