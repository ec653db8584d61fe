"""The parts of a report, each a function from the setting to its section."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from likewise import defaults
from likewise.errors import ArtefactMissing
from likewise.semantics.interpretation import Interpretation
from likewise_experiments.charts.line_charts import Panel, bars, line_charts
from likewise_experiments.hybrid import experiment as rdf
from likewise_experiments.hybrid.plot import hybrid_figure
from likewise_experiments.progress import counting
from likewise_experiments.relatedness.experiment import evaluate
from likewise_experiments.report.drawn import drawn
from likewise_experiments.report.exact_parts import demand, near_misses, units
from likewise_experiments.report.sections import Block, Glance, Section, Table, Text
from likewise_experiments.report.setting import Setting
from likewise_experiments.report.thematic_part import THESAURUS, thematic
from likewise_experiments.sameness.experiment import evaluate_sameness, read_pairs
from likewise_experiments.vendor.ablation import EVERYTHING, ablation_row, variants
from likewise_experiments.vendor.benchmark import Benchmark, read_benchmark
from likewise_experiments.vendor.experiment import chosen_part, measures_of, vendor_experiment, vendor_feedback

JUDGEMENTS: Final = ("EN-WS-353-ALL.txt", "EN-MEN-TR-3k.txt", "EN-RG-65.txt", "EN-MTurk-771.txt", "EN-SIMLEX-999.txt")
PAIRS: Final = "pairs-dev.tsv"
VENDOR: Final = ("lorawan-dev-events.jsonl.gz", "lorawan-dev.tsv", "subscriptions.tsv")
MEASURES: Final = ("esa:metric=raw", "esa:metric=unit", "esa:metric=cosine", "latent", "jcn", "names", "combine")


class Part(NamedTuple):
    """A part: its name, title, the files it reads where they are, and what runs it."""

    name: str
    title: str
    files: tuple[str, ...]
    run: Callable[[Setting], Section]


def relatedness(setting: Setting) -> Section:
    """Spearman's correlation with people's judgements, every measure on every file found."""
    files = [
        path
        for pattern in JUDGEMENTS[: 1 if setting.choices.quick else None]
        for path in setting.all_found(pattern)[:1]
    ]
    files = files or setting.all_found("EN-*.txt")
    if not files:
        raise ArtefactMissing(setting.missing("EN-*.txt"))
    chosen = {said: setting.space.measure(*_named(said)[:1], **_named(said)[1]) for said in MEASURES}
    if setting.choices.model is not None:
        chosen["embeddings"] = setting.space.measure("embeddings", model=setting.choices.model)
    facts: dict[str, dict[str, float]] = {}
    with counting("judged pairs", len(files) * len(chosen), setting.console) as tell:
        for i, path in enumerate(files):
            for j, (said, measure) in enumerate(chosen.items(), 1):
                facts.setdefault(_short(path.name), {})[said] = evaluate(setting.space, path, measure).spearman
                tell(i * len(chosen) + j)
    rows = tuple((f"`{said}`", *(f"{facts[_short(p.name)][said]:.3f}" for p in files)) for said in chosen)
    listed = " ".join(str(path) for path in files)
    model = [f"embeddings:model={setting.choices.model}"] if setting.choices.model is not None else []
    said = " ".join(f"--measure {each}" for each in [*MEASURES, *model])
    return Section(
        "relatedness",
        "People’s judgements of relatedness",
        (Table("Spearman’s rank correlation", ("measure", *(_short(p.name) for p in files)), rows),),
        f"likewise eval relatedness {listed} {said}",
        facts=facts,
    )


def _named(said: str) -> tuple[str, dict[str, str]]:
    name, _, option = said.partition(":")
    key, _, value = option.partition("=")
    return name, {key: value} if key else {}


def _short(name: str) -> str:
    """A file's name as a heading.

    >>> _short("EN-WS-353-ALL.txt")
    'WS-353'
    """
    return name.removeprefix("EN-").removesuffix(".txt").removesuffix("-ALL").removesuffix("-TR-3k")


def hybrid(setting: Setting) -> Section:
    """The hybrid matcher, JCn alone and ESA alone, on every event set found."""
    found = {name: path for name in rdf.SETS if (path := setting.found(rdf.SETS[name].file)) is not None}
    if not found:
        raise ArtefactMissing(setting.missing(*(each.file for each in rdf.SETS.values())))
    named = Interpretation(space=setting.space).statement_measure
    blocks: list[Block] = [
        Text(
            "After section 6 of Hasan, O’Riain and Curry (DEBS 2012): statements against RDF events, relevance by "
            "SPARQL patterns; `hybrid` ranks properties by WordNet and compares values by ESA, the others use one of "
            "the two."
        )
    ]
    glances, commands = [], []
    for name, path in found.items():
        asked, (events, raw, format) = rdf.shipped_subscriptions(name), rdf.read_events(path)
        relevant = rdf.relevant_events(raw, format, asked)
        report = rdf.experiment(events, relevant, asked, named, console=setting.console)
        rows = tuple((v, *(f"{report.best(v, m).maximal_f1:.3f}" for m in rdf.RANKS)) for v in rdf.VARIANTS)
        counts = ", ".join(f"{id}: {count}" for id, count in report.relevant.items())
        left = f"; left out for want of relevant events: {', '.join(report.left_out)}" if report.left_out else ""
        title = rdf.SETS[name].title
        blocks += [
            Text(f"{title}: {report.events:,} events; relevant to each subscription: {counts}{left}."),
            drawn(f"hybrid-{name}", title, lambda report=report: hybrid_figure(report)),  # type: ignore[misc]
            Table(f"Maximal F1, {title}", ("", *(f"m = {m}" for m in rdf.RANKS)), rows),
        ]
        best = {v: report.best(v, defaults.HYBRID_M).maximal_f1 for v in rdf.VARIANTS}
        here = ", ".join(f"{v} {f1:.3f}" for v, f1 in best.items())
        glances.append(Glance(f"hybrid matching, {title.lower()}, F1", here, rdf.SETS[name].paper))
        commands.append(f"likewise eval hybrid --events {path} --subscriptions {name} --out {setting.folder / name}")
    return Section("hybrid", "Hybrid matching of RDF events", tuple(blocks), "\n".join(commands), tuple(glances))


def _development(setting: Setting) -> Benchmark:
    """The vendors that may be looked at; those set aside are never scored here."""
    return chosen_part(read_benchmark(*(setting.file(name) for name in VENDOR)), "dev")


def _vendor_command(setting: Setting) -> str:
    options = zip(("--events", "--gold", "--subscriptions"), VENDOR, strict=True)
    model = f" --model {setting.choices.model}" if setting.choices.model else ""
    return "likewise eval vendor " + " ".join(f"{o} {setting.file(name)}" for o, name in options) + model


def vendor(setting: Setting) -> Section:
    """Phrases against vendors' attributes: ranking by measures and yardsticks, decisions, every vendor."""
    named: list[tuple[str, dict[str, str]]] = [(name, {}) for name in ("esa", "names", "combine", "sameness")]
    measures = measures_of(setting.space, named, setting.choices.model)
    report = vendor_experiment(_development(setting), "dev", measures)
    best = report.ranking[report.decided_by]
    rows = tuple((name, f"{r.maximal_f1:.3f}", f"{r.average_precision:.3f}") for name, r in report.ranking.items())
    decided = tuple(
        (n, *(f"{x:.3f}" for x in (d.precision, d.recall, d.f1, d.by_vendor, d.distinct)))
        for n, d in report.decisions.items()
    )
    exists = report.decisions["exists"]
    facts = {_MEASURE_NAMES.get(name, name): r.maximal_f1 for name, r in report.ranking.items()}
    return Section(
        "vendor",
        "What vendors call the thing",
        (
            Text(
                f"{best.phrases} plain phrases against {best.attributes:,} labelled attributes of {report.vendors} "
                f"vendors ({report.events} example messages). These are the development vendors; a third, set aside, "
                "was scored once (the project’s `docs/ablation.md` has the figures) and is not scored here."
            ),
            Table("Ranking: means over phrases", ("measure", "maximal F1", "average precision"), rows),
            Table(
                f"Decisions of `{report.decided_by}` at its threshold {report.threshold:g}",
                ("condition", "precision", "recall", "F1", "by vendor", "distinct events"),
                decided,
            ),
            drawn(
                "vendors",
                "Mean maximal F1 of the phrases a vendor can answer; the line is the mean over vendors.",
                lambda: bars(best.by_vendor, "By vendor", "maximal F1", mark=_mean(best.by_vendor)),
            ),
        ),
        _vendor_command(setting),
        (
            Glance("vendors’ attributes, mean maximal F1", f"{best.maximal_f1:.3f}", "0.72 aimed at"),
            Glance("decisions at the default threshold, F1", f"{exists.f1:.3f}", "0.70 aimed at"),
        ),
        {"vendors, F1": facts},
    )


_MEASURE_NAMES: Final = {"esa": "esa:metric=unit"}  # the yardstick has esa's default metric


def _mean(values: dict[str, float]) -> float:
    return sum(values.values()) / max(1, len(values))


def sameness(setting: Setting) -> Section:
    """Pairs that people judged: how many different ones are kept apart, how many that are the same are found."""
    path = setting.file(PAIRS)
    pairs = read_pairs(path)
    rows = []
    for name in ("combine", "sameness"):
        counted = evaluate_sameness(pairs, setting.space.measure(name), defaults.THRESHOLD, path.name).total
        rows.append((f"`{name}`", f"{counted.apart} of {counted.different}", f"{counted.found} of {counted.same}"))
    return Section(
        "sameness",
        "Related is not the same",
        (Table(f"At the threshold {defaults.THRESHOLD:g}", ("measure", "kept apart", "found"), tuple(rows)),),
        f"likewise eval sameness {path}",
        (Glance("different kept apart; same found", f"{rows[-1][1]}; {rows[-1][2]}", "0.9 and 0.85 aimed at"),),
    )


def feedback(setting: Setting) -> Section:
    """What a few judgements are worth on vendors nobody judged."""
    points = vendor_feedback(_development(setting), setting.space.measure(defaults.MEASURE), defaults.THRESHOLD)
    x = [p.judgements_a_phrase for p in points]
    lines = {
        "maximal F1": (x, [p.maximal_f1 for p in points]),
        "average precision": (x, [p.average_precision for p in points]),
        "F1 of decisions": (x, [p.decision_f1 for p in points]),
    }
    rows = tuple(
        (
            str(p.judgements_a_phrase),
            f"{p.judgements:,}",
            *(f"{f:.3f}" for f in (p.maximal_f1, p.average_precision, p.decision_f1)),
        )
        for p in points
    )
    panel = Panel("Quality on vendors nobody judged", "judgements a phrase", "", lines)
    first, last = points[0], points[-1]
    return Section(
        "feedback",
        "What judgements are worth",
        (
            Text(
                "A person judges the attributes that rank highest for a phrase among two thirds of the development "
                "vendors; quality is measured on the other third."
            ),
            drawn("feedback", "Judgements on some vendors, quality on others.", lambda: line_charts([panel])),
            Table("", ("judgements a phrase", "in all", "maximal F1", "average precision", "F1 of decisions"), rows),
        ),
        f"{_vendor_command(setting)} --feedback",
        (
            Glance(
                f"F1 of decisions after {last.judgements_a_phrase} judgements a phrase",
                f"{last.decision_f1:.3f} (none: {first.decision_f1:.3f})",
            ),
        ),
    )


def ablation(setting: Setting) -> Section:
    """The default measure without one of its parts at a time."""
    benchmark, rows = _development(setting), []
    all_variants = list(variants(setting.space))
    with counting("variants", len(all_variants), setting.console) as tell:
        for number, (name, measure) in enumerate(all_variants, 1):
            rows.append(ablation_row(name, benchmark, measure))
            tell(number)
    whole = next(row for row in rows if row.name == EVERYTHING)
    return Section(
        "ablation",
        "What each part of the default measure is worth",
        (
            Text("The default measure on the development vendors, whole and with one part left out at a time."),
            Table(
                "",
                ("", "maximal F1", "change", "average precision", "F1 of decisions"),
                tuple(
                    (
                        r.name,
                        f"{r.maximal_f1:.3f}",
                        "" if r is whole else f"{r.maximal_f1 - whole.maximal_f1:+.3f}",
                        f"{r.average_precision:.3f}",
                        f"{r.decision_f1:.3f}",
                    )
                    for r in rows
                ),
            ),
        ),
        f"python benchmarks/ablation.py {setting.file(VENDOR[0]).parent}",
    )


PARTS: Final = (
    Part("relatedness", "People’s judgements of relatedness", ("EN-*.txt",), relatedness),
    Part("thematic", "Themes", (THESAURUS,), thematic),
    Part("hybrid", "Hybrid matching of RDF events", tuple(each.file for each in rdf.SETS.values()), hybrid),
    Part("vendor", "What vendors call the thing", VENDOR, vendor),
    Part("sameness", "Related is not the same", (PAIRS,), sameness),
    Part("feedback", "What judgements are worth", VENDOR, feedback),
    Part("ablation", "What each part of the default measure is worth", VENDOR, ablation),
    Part("units", "Numbers, units, dates and lists are exact", (), units),
    Part("near_misses", "Why not: the reading that was meant", (), near_misses),
    Part("demand", "Asked of sources: nothing wanted stays behind", (), demand),
)
