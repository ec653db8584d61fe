"""Is what an event says what a subscription asks for? A measure's decisions on pairs that people judged.

A file has the columns `kind` (attribute or value), `asked`, `seen`, `same` (0 or 1) and perhaps `category`, with tabs
between them. Related is not the same: opposites, other numbers and other instances are related, and a measure that
lets them pass finds much and tells little apart. So both shares are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast, get_args

import msgspec
import numpy as np

from likewise.errors import FormatError
from likewise.semantics.measure import Measure, Role, Term

if TYPE_CHECKING:
    from numpy.typing import NDArray

COLUMNS: Final = ("kind", "asked", "seen", "same")


class JudgedPair(msgspec.Struct, frozen=True):
    """What was asked, what was seen, and whether it is the same."""

    kind: Role
    asked: str
    seen: str
    same: bool
    category: str = ""


class Counted(msgspec.Struct, frozen=True):
    """How many different pairs were kept apart, and how many that are the same were found."""

    apart: int
    different: int
    found: int
    same: int


class Miss(msgspec.Struct, frozen=True):
    """A pair decided wrongly, and why the measure scored it so."""

    asked: str
    seen: str
    same: bool
    score: float
    category: str
    words: str = ""


class SamenessResult(msgspec.Struct, frozen=True):
    """One file's result at one threshold: in all, by kind, by category, and what was decided wrongly."""

    file: str
    measure: str
    threshold: float
    total: Counted
    kinds: dict[str, Counted]
    categories: dict[str, Counted]
    misses: tuple[Miss, ...]


def read_pairs(path: str | Path) -> list[JudgedPair]:
    """The pairs of a file; empty lines and lines that begin with `#` are skipped."""
    lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    header = lines[0].split("\t") if lines else []
    if not set(COLUMNS) <= set(header):
        raise FormatError(
            f"{path}, line 1: expected the columns {', '.join(COLUMNS)}, found {', '.join(header)[:80]!r}"
        )
    out = []
    for number, line in enumerate(lines[1:], 2):
        if not line.strip() or line.startswith("#"):
            continue
        row = dict(zip(header, line.split("\t"), strict=False))
        kind, same = row.get("kind", ""), row.get("same", "")
        if kind not in get_args(Role) or same not in ("0", "1") or not row.get("asked") or not row.get("seen"):
            raise FormatError(
                f"{path}, line {number}: expected attribute or value, two terms and 0 or 1, found {line[:60]!r}"
            )
        out.append(JudgedPair(cast("Role", kind), row["asked"], row["seen"], same == "1", row.get("category", "")))
    if not out:
        raise FormatError(f"{path} holds no pairs")
    return out


def evaluate_sameness(
    pairs: Sequence[JudgedPair], measure: Measure, threshold: float, file: str = ""
) -> SamenessResult:
    """A measure's decisions on pairs at a threshold."""
    scores = pair_scores(measure, pairs)
    met = scores >= threshold
    everything = range(len(pairs))
    kinds = {kind: [i for i in everything if pairs[i].kind == kind] for kind in get_args(Role)}
    categories = {name: [i for i in everything if pairs[i].category == name] for name in _named(pairs)}
    return SamenessResult(
        file,
        measure.name,
        threshold,
        _counted(pairs, met, everything),
        {kind: _counted(pairs, met, places) for kind, places in kinds.items() if places},
        {name: _counted(pairs, met, places) for name, places in categories.items()},
        tuple(_miss(pairs[i], float(scores[i]), measure) for i in everything if pairs[i].same != bool(met[i])),
    )


def pair_scores(measure: Measure, pairs: Sequence[JudgedPair]) -> NDArray[np.float64]:
    """The score of each pair by itself, as a matcher would ask for it."""
    return np.array([float(measure.matrix([_term(p.kind, p.asked)], [_term(p.kind, p.seen)])[0, 0]) for p in pairs])


def _term(kind: Role, text: str) -> Term:
    return Term(text, kind, kind="text" if kind == "value" else "")


def _named(pairs: Sequence[JudgedPair]) -> list[str]:
    return [name for name, _ in Counter(p.category for p in pairs).most_common() if name]


def _counted(
    pairs: Sequence[JudgedPair], met: np.ndarray[tuple[int], np.dtype[np.bool_]], places: Sequence[int]
) -> Counted:
    different = [bool(met[i]) for i in places if not pairs[i].same]
    same = [bool(met[i]) for i in places if pairs[i].same]
    return Counted(different.count(False), len(different), same.count(True), len(same))


def _miss(pair: JudgedPair, score: float, measure: Measure) -> Miss:
    explained = getattr(measure, "explained", None)
    words = "" if explained is None else explained(_term(pair.kind, pair.asked), _term(pair.kind, pair.seen))
    return Miss(pair.asked, pair.seen, pair.same, round(score, 3), pair.category, words)
