"""Parts of a report that need no data: what must be exact is compared with what is exact by construction."""

from __future__ import annotations

from likewise_experiments.demand.experiment import evaluate_demand
from likewise_experiments.near_misses.experiment import evaluate_near_misses
from likewise_experiments.near_misses.generated import generated_misses
from likewise_experiments.progress import counting
from likewise_experiments.report.sections import Glance, Section, Table, Text
from likewise_experiments.report.setting import Setting
from likewise_experiments.units.experiment import evaluate_units

SEED = 1


def units(setting: Setting) -> Section:
    """Numbers with units, whole numbers, dates and lists in every engine, beside fractions and pint's definitions."""
    wanted = 4_000 if setting.choices.quick else 1_000_000
    with counting("comparisons", wanted, setting.console) as tell:
        result = evaluate_units(wanted, SEED, lambda done, _: tell(min(done, wanted)))
    rows = tuple((group, f"{count:,}") for group, count in result.groups.items())
    answers = sum(result.engines.values())
    said = f"{answers:,} answers of {len(result.engines)} engines and ways; {result.differences:,} differ."
    return Section(
        "units",
        "Numbers, units, dates and lists are exact",
        (Table(f"{result.comparisons:,} comparisons", ("group", "comparisons"), rows), Text(said)),
        f"likewise eval units --comparisons {wanted} --seed {SEED}",
        (Glance("answers that differ from exact arithmetic", f"{result.differences:,} of {answers:,}", "0"),),
    )


def near_misses(setting: Setting) -> Section:
    """Whether an explanation of what just misses names the reading that was meant."""
    from likewise.matching.matcher import Matcher

    count = 40 if setting.choices.quick else 2_000
    result = evaluate_near_misses(generated_misses(count, SEED), Matcher(space=setting.space), "generated")
    row = tuple(f"{n:,}" for n in (result.misses, result.named, result.another, result.nothing, result.advised))
    heads = ("near misses", "all", "right", "another", "none", "with a threshold")
    return Section(
        "near_misses",
        "Why not: the reading that was meant",
        (Table("Events that miss a subscription by one part", heads, (("generated", *row),)),),
        f"likewise eval near-misses --count {count} --seed {SEED}",
        (Glance("near misses explained by the right reading", f"{result.named:,} of {result.misses:,}"),),
    )


def demand(setting: Setting) -> Section:
    """What edges and sources are asked for, beside what the engines match: nothing wanted may stay behind."""
    pairs, events = (20, 5) if setting.choices.quick else (10_000, 100)
    with counting("pairs", pairs, setting.console) as tell:
        result = evaluate_demand(pairs, events, SEED, lambda done: tell(min(done, pairs)))
    said = (
        f"{result.pairs:,} pairs of subscription and announcement, {result.events:,} events, {result.outside:,} "
        f"of them outside their announcement; {result.sent:,} subscriptions sent where {result.matched:,} matched."
    )
    return Section(
        "demand",
        "Asked of sources: nothing wanted stays behind",
        (Text(said),),
        f"likewise eval demand --pairs {pairs} --events {events} --seed {SEED}",
        (Glance("matches that a source would not have sent", f"{result.missed:,} of {result.matches:,}", "0"),),
    )
