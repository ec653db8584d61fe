"""The truth about the demo's city: which reports each shipped subscription should match, and which ones it does.

The simulator knows what each report measures, whatever its vendor calls it. `python -m likewise.demo.truth` plays the
city and prints precision and recall of every subscription, with the products behind each false match and each miss.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from likewise.demo.dialects import Facts
from likewise.demo.simulation import DEMO_SUBSCRIPTIONS, City, Report
from likewise.language import parse
from likewise.matching.matcher import Matcher
from likewise.model import event

SECOND: Final = 1_000_000  # µs
RANKED: Final = 3  # posts in the ranking `worst-air`
WINDOW_S: Final = 30.0  # seconds a reading counts in that ranking

TRUTH: Final[Mapping[str, Callable[[Facts], bool]]] = {
    "heat": lambda facts: facts.get("temperature", 0) > 28,
    "bad-air": lambda facts: facts.get("no2", 0) > 40,
    "loud": lambda facts: facts.get("noise", 0) > 70,
    "jam": lambda facts: facts.get("speed", 99) < 15,
    "car-parks": lambda facts: facts.get("parking", 99) < 20,
    "bins": lambda facts: facts.get("fill", 0) > 80,
    "dark": lambda facts: facts.get("broken lamp", 0) > 0,
    "power": lambda facts: facts.get("power", 0) > 2500,
    "doors": lambda facts: facts.get("open door", 0) > 0,
    "pumps": lambda facts: facts.get("stopped pump", 0) > 0,
    "platform-3": lambda facts: facts.get("platform 3", 0) > 0,
}


class Assessment(NamedTuple):
    """Agreement of a subscription's matches with the truth, and the products that they err on."""

    right: int
    false: Counter[str]
    missed: Counter[str]

    @property
    def precision(self) -> float:
        """Return the share of matches that are true; 1 if there are none."""
        return self.right / (self.right + self.false.total()) if self.right + self.false.total() else 1.0

    @property
    def recall(self) -> float:
        """Return the share of true reports that match; 1 if there are none."""
        return self.right / (self.right + self.missed.total()) if self.right + self.missed.total() else 1.0


def true_matches(reports: Iterable[Report]) -> dict[str, set[str]]:
    """Return the ids of the reports that each subscription should match.

    >>> {name: len(ids) for name, ids in true_matches(City(seed=1).between(0, 60)).items() if name in ("jam", "loud")}
    {'loud': 11, 'jam': 8}
    """
    reports = list(reports)
    true = {name: {report.id for report in reports if holds(report.facts)} for name, holds in TRUTH.items()}
    return {**true, "worst-air": _ranked([report for report in reports if "NO2" in report.payload])}


def _ranked(posts: list[Report]) -> set[str]:
    """Return the reports that are at some moment among the highest: each device counts with its last reading."""
    ends = max((report.seconds for report in posts), default=0.0)
    ranked: set[str] = set()
    for moment in sorted({at for each in posts for at in (each.seconds, each.seconds + WINDOW_S) if at <= ends}):
        counting = {each.device.id: each for each in posts if moment - WINDOW_S < each.seconds <= moment}
        best = sorted(counting.values(), key=lambda each: each.facts["no2"], reverse=True)
        ranked |= {each.id for each in best[:RANKED]}
    return ranked


def matches(reports: Iterable[Report]) -> dict[str, set[str]]:
    """Return the ids of the reports that each shipped subscription matches."""
    matcher = Matcher()
    for subscription in DEMO_SUBSCRIPTIONS:
        matcher.add(parse(subscription.text, id=subscription.id))
    matched: dict[str, set[str]] = {subscription.id: set() for subscription in DEMO_SUBSCRIPTIONS}
    for report in reports:
        reported = event(report.payload, themes=report.themes, id=report.id, source=report.source)
        for match in matcher.match(reported, at=int(report.seconds * SECOND)):
            matched[match.subscription_id].add(str(match.event_id))
    return matched


def assess(reports: Iterable[Report]) -> dict[str, Assessment]:
    """Return how well the matches of each shipped subscription agree with the truth."""
    reports = list(reports)
    products = {report.id: f"{report.device.dialect.vendor} {report.device.dialect.product}" for report in reports}
    true, matched = true_matches(reports), matches(reports)

    def count(ids: set[str]) -> Counter[str]:
        return Counter(products[id] for id in ids)

    return {
        name: Assessment(len(found & true[name]), count(found - true[name]), count(true[name] - found))
        for name, found in matched.items()
    }


def main() -> None:
    """Print the truth table of a city."""
    parser = argparse.ArgumentParser(prog="python -m likewise.demo.truth", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3600.0, help="how long the city runs (a day takes 600 s)")
    parser.add_argument("--seed", type=int, default=1, help="another number is another city")
    parser.add_argument("--devices", type=int, default=60, help="how many devices")
    options = parser.parse_args()
    reports = City(seed=options.seed, devices=options.devices).between(0, options.seconds)
    print(f"{len(reports)} reports of {options.devices} devices in {options.seconds:g} s")
    print(f"{'subscription':14}{'true':>6}{'matched':>9}{'precision':>11}{'recall':>8}  errs on")
    for name, found in assess(reports).items():
        errors = [f"false {n} × {product}" for product, n in found.false.most_common()]
        errors += [f"missed {n} × {product}" for product, n in found.missed.most_common()]
        true, matched = found.right + found.missed.total(), found.right + found.false.total()
        print(f"{name:14}{true:6}{matched:9}{found.precision:11.3f}{found.recall:8.3f}  {', '.join(errors)}")


if __name__ == "__main__":
    main()
