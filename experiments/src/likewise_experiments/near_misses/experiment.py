"""Explanations of near misses, counted by whether they name the reading that was asked about."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from likewise_experiments.near_misses.case import NearMiss

if TYPE_CHECKING:
    from likewise.matching.matcher import Matcher


class WrongNames(msgspec.Struct, frozen=True):
    """An explanation that names another reading, or none."""

    name: str
    text: str
    named: str
    right: tuple[str, ...]
    verdict: str


class NearMissResult(msgspec.Struct, frozen=True):
    """`named` of `misses` explanations name the right reading, `nothing` none, the others another one.

    `sound` says how many of the right ones give the verdict `exact_part_false` or `unit_mismatch`, and `advised` how
    many of all advise a threshold.
    """

    cases: str
    misses: int
    named: int
    nothing: int
    another: int
    sound: int
    advised: int
    met: int
    wrong: tuple[WrongNames, ...]
    versions: dict[str, str] = msgspec.field(default_factory=dict)
    machine: dict[str, str] = msgspec.field(default_factory=dict)


def evaluate_near_misses(misses: Iterable[NearMiss], matcher: Matcher, cases: str) -> NearMissResult:
    """Ask the matcher why each event does not meet its subscription; one that it meets is counted and left out."""
    counts = {"misses": 0, "named": 0, "nothing": 0, "another": 0, "sound": 0, "advised": 0, "met": 0}
    wrong: list[WrongNames] = []
    held: dict[str, str] = {}
    for miss in misses:
        if miss.text not in held:
            held[miss.text] = matcher.add(miss.text)
        found = matcher.explain(miss.event, held[miss.text])
        if found.verdict == "match":
            counts["met"] += 1
            continue
        named = found.predicates[0].attribute
        counts["misses"] += 1
        counts["advised"] += "threshold of" in found.change
        if named in miss.right:
            counts["named"] += 1
            counts["sound"] += found.verdict in ("exact_part_false", "unit_mismatch")
        else:
            counts["another" if named else "nothing"] += 1
            wrong.append(WrongNames(miss.name, miss.text, named, tuple(sorted(miss.right)), found.verdict))
    return NearMissResult(
        cases,
        counts["misses"],
        counts["named"],
        counts["nothing"],
        counts["another"],
        counts["sound"],
        counts["advised"],
        counts["met"],
        tuple(wrong),
    )
