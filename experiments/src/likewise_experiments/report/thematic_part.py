"""The thematic experiment in the report: headline sentences beside the paper's, heat maps, the table of measures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from likewise_experiments.report.drawn import drawn_beside
from likewise_experiments.report.sections import Block, Glance, Section, Table, Text
from likewise_experiments.report.setting import Setting
from likewise_experiments.thematic.experiment import CHOICES, Choices, Report, experiment, figures
from likewise_experiments.thematic.load import EVENTS, SUBSCRIPTIONS
from likewise_experiments.thematic.report import Headline

THESAURUS: Final = "eurovoc*.json*"
QUICK: Final = {"cells": "3x3x2", "events": 1_500, "subscriptions": 30}
CAPTIONS: Final = {
    "f1": "Maximal F1 by the sizes of themes (the paper’s Figure 7). The ring marks the highest cell; on the dashed "
    "line both themes are alike.",
    "f1-error": "How much the samples of a cell differ in F1 (Figure 8).",
    "throughput": "Throughput of a matcher that knows nothing yet (Figure 9).",
    "throughput-error": "How much the samples of a cell differ in throughput (Figure 10).",
}
Show = Callable[[float], str]
ROWS: Final[tuple[tuple[str, Callable[[Headline, Show], str]], ...]] = (
    ("baseline, no themes", lambda h, show: show(h.baseline)),
    ("cells above it", lambda h, _: f"{100 * h.share_above:.0f} % of {h.cells}"),
    ("range of those", lambda h, show: f"{show(h.above_least)} to {show(h.above_most)}" if h.share_above else "none"),
    ("mean of those", lambda h, show: show(h.above_mean) if h.share_above else "none"),
    ("mean of all, 95 % interval", lambda h, s: f"{s(h.mean)} ({s(h.interval[0])} to {s(h.interval[1])})"),
    ("best cell", lambda h, show: f"{show(h.best.mean)} ({h.best.event_size}, {h.best.subscription_size} tags)"),
    ("worst cell", lambda h, show: f"{show(h.worst.mean)} ({h.worst.event_size}, {h.worst.subscription_size} tags)"),
    ("diagonal", lambda h, show: f"{show(h.diagonal_least)} to {show(h.diagonal_most)}"),
    ("mean standard error", lambda h, show: show(h.mean_error) if h.best.samples > 1 else "one sample"),
)
PAPER: Final = (
    ("62 %", "202"),
    ("over 70 % of 900", "over 92 %"),
    ("62 to 85 %", "202 to 838"),
    ("71 %", "320"),
    ("", ""),
    ("85 %", "838"),
    ("4 %", "95"),
    ("59 to 62 %", ""),
    ("7 %", ""),
)


def thematic(setting: Setting) -> Section:
    """Run the experiment in the part's folder, or take what an earlier run left there."""
    chosen = setting.choices
    thesaurus = chosen.thesaurus or str(setting.found(THESAURUS) or "wordnet")
    wanted = Choices(thesaurus, chosen.space, cells=chosen.cells or "quick", model=chosen.model)
    if chosen.quick:
        wanted = msgspec.structs.replace(wanted, **QUICK)
        wanted = msgspec.structs.replace(wanted, cells=chosen.cells or wanted.cells)
    setting.folder.mkdir(parents=True, exist_ok=True)
    report = None if chosen.cells or chosen.quick else _earlier(setting.folder, wanted)
    if report is None:
        report = experiment(wanted, setting.folder, master=chosen.master, console=setting.console)
    cells = f"{len({c.event_size for c in report.cells})}x{len({c.subscription_size for c in report.cells})}"
    samples = max(c.samples for c in report.cells)
    return Section(
        "thematic",
        "Themes",
        (
            _told(report),
            _sentences(report),
            drawn_beside("thematic", CAPTIONS, lambda: figures(report)),
            _measures(report),
        ),
        f"likewise eval thematic --thesaurus {thesaurus} --cells {cells}x{samples}{_size(report)} "
        f"--out {setting.folder}",
        _glances(report),
        {"thematic load, F1": {row.measure: row.f1 for row in report.measures if not row.note}},
    )


def _earlier(folder: Path, wanted: Choices) -> Report | None:
    """The report of an earlier run that differs in its cells at the most."""
    try:
        made = msgspec.json.decode((folder / CHOICES).read_bytes(), type=Choices)
        report = msgspec.json.decode((folder / "report.json").read_bytes(), type=Report)
    except (OSError, msgspec.DecodeError):
        return None
    alike = msgspec.structs.replace(made, cells=wanted.cells, throughput=wanted.throughput)
    return report if alike == wanted else None


def _size(report: Report) -> str:
    """The options of a load that is not the paper's."""
    events = f" --events {report.events}" if report.events != EVENTS else ""
    return events + (f" --subscriptions {report.subscriptions}" if report.subscriptions != SUBSCRIPTIONS else "")


def _told(report: Report) -> Block:
    circular = " Space and thesaurus are both WordNet’s: the experiment is circular." if report.circular else ""
    return Text(
        "After section 5 of Hasan and Curry, “Thematic event processing” (Middleware 2014): "
        f"{report.events:,} events made from {report.seeds} seeds by the thesaurus `{report.thesaurus}`, "
        f"{report.subscriptions} fully relaxed subscriptions, {report.relevant_pairs:,} relevant pairs by lineage "
        f"({report.wider_pairs:,} in the wider reading), {report.sub_experiments:,} sub-experiments with the measure "
        f"`{report.measure}`, {report.grid_seconds:,.0f} s on Spark.{circular}"
    )


def _sentences(report: Report) -> Table:
    timed = report.throughput
    rows = tuple(
        (
            name,
            show(report.quality, _percent),
            show(report.wider_quality, _percent),
            quality,
            show(timed, _whole) if timed is not None else "not timed",
            speed,
        )
        for (name, show), (quality, speed) in zip(ROWS, PAPER, strict=True)
    )
    header = ("", "F1", "F1, wider reading", "the paper’s F1", "events/s", "the paper’s events/s")
    return Table(
        "The paper’s sentences, counted anew; tags are those of the event and of the subscription", header, rows
    )


def _percent(value: float) -> str:
    return f"{100 * value:.1f}\N{NO-BREAK SPACE}%"


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def _glances(report: Report) -> tuple[Glance, ...]:
    q = report.quality
    rows = {row.measure: row.f1 for row in report.measures if not row.note}
    found = [
        Glance("thematic load without themes", _percent(q.baseline), "62 %"),
        Glance(
            "mean of all cells, 95 % interval",
            f"{_percent(q.mean)} ({_percent(q.interval[0])} to {_percent(q.interval[1])})",
        ),
        Glance("cells above the baseline", _percent(q.share_above), "over 70 %"),
        Glance(
            "best cell",
            f"{_percent(q.best.mean)} at {q.best.event_size} event and {q.best.subscription_size} subscription tags",
            "85 %",
        ),
    ]
    if {"combine", "esa:metric=raw"} <= rows.keys():
        gain = rows["combine"] - rows["esa:metric=raw"]
        found.append(Glance("default measure above raw ESA, F1", f"{gain:+.3f}", "+0.080 aimed at"))
    return tuple(found)


def _measures(report: Report) -> Table:
    rows = tuple(
        (f"`{r.measure}`", *((r.note, "") if r.note else (f"{r.f1:.3f}", f"{r.wider_f1:.3f}"))) for r in report.measures
    )
    return Table("Measures on the same load, without themes", ("measure", "F1", "F1, wider reading"), rows)
