"""The source's figures beside each other, larger sizes, and a load that rises and falls, as PNG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

COLOURS = ("#1b6ca8", "#d1495b", "#2e933c", "#8d6a9f")
PAPER = 50  # µs a publication at 10,000 subscriptions, as the source says of one matcher


def plots(found: dict[str, Any], folder: Path) -> list[Path]:
    """Draw what was found; the files."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    if rows := list(found.get("figures", {}).values()):
        made.append(_figures(sorted(rows, key=lambda row: row["subscriptions"]), folder / "workers-figures.png"))
    if "rising" in found.get("load", {}):
        made.append(_rising(found["load"]["rising"], folder / "workers-load.png"))
    return made


def _figures(rows: list[dict[str, Any]], path: Path) -> Path:
    """Figures 25 to 27 side by side, on one scale for the first two."""
    from matplotlib.figure import Figure

    numbers = sorted({int(key.split("_")[1]) for key in rows[0] if key.startswith("one_")})
    sizes, matchers = [row["subscriptions"] for row in rows], rows[0]["matchers"]
    figure = Figure(figsize=(11, 3.8), layout="constrained")
    first, second, third = figure.subplots(1, 3)
    for axes, key, field, title in (
        (first, "one", "slowest_us", "One matcher (Figure 25)"),
        (second, "several", "slowest_us", f"The slowest of {matchers} (Figure 26)"),
        (third, "several", "overall_us", f"{matchers} with the coordinator (Figure 27)"),
    ):
        for colour, number in zip(COLOURS, numbers, strict=False):
            axes.plot(
                sizes,
                [row[f"{key}_{number}"][field] for row in rows],
                marker="o",
                markersize=4,
                linewidth=1.6,
                color=colour,
                label=f"{number:,}",
            )
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("subscriptions")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.grid(color="#dddddd", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    first.plot([10_000], [PAPER], marker="*", markersize=9, color="#555555", linestyle="none")
    first.annotate(
        "the source:\nabout 50 at 10,000",
        (10_000, PAPER),
        xytext=(6, -8),
        textcoords="offset points",
        fontsize=8,
        color="#555555",
        ha="right",
        va="top",
    )
    first.set_ylabel("µs of the processor a publication")
    for axes in (first, third):
        axes.set_ylim(0, axes.get_ylim()[1])
    second.set_ylim(first.get_ylim())
    third.set_ylabel("µs of wall time a publication")
    figure.legend(*first.get_legend_handles_labels(), title="publications", loc="outside right center", frameon=False)
    figure.savefig(path, dpi=130)
    return path


def _rising(said: dict[str, Any], path: Path) -> Path:
    """Rate, workers and latency over time, one below the other."""
    from matplotlib.figure import Figure

    rows = said["rows"]
    seconds = [row["second"] for row in rows]
    figure = Figure(figsize=(9, 5.4), layout="constrained")
    rate, workers, latency = figure.subplots(3, sharex=True, height_ratios=(2, 1.3, 2))
    rate.fill_between(seconds, [row["rate"] for row in rows], color=COLOURS[0], alpha=0.25, linewidth=0)
    rate.plot(seconds, [row["rate"] for row in rows], color=COLOURS[0], linewidth=1.6)
    rate.set_ylabel("events a second")
    workers.step(seconds, [row["workers"] for row in rows], where="post", color=COLOURS[2], linewidth=2)
    workers.set_ylabel("workers")
    most = max(row["workers"] for row in rows)
    workers.set_yticks(range(most + 2))
    workers.set_ylim(0, most + 0.6)
    latency.plot(seconds, [row["latency_ms"] for row in rows], color=COLOURS[1], linewidth=1)
    latency.set_yscale("log")
    latency.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    latency.yaxis.set_minor_formatter(lambda value, _: "")
    latency.set_ylabel("latency, ms (log)")
    latency.set_xlabel("seconds")
    for axes in (rate, workers, latency):
        axes.grid(color="#dddddd", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        axes.margins(x=0)
    rate.set_ylim(bottom=0)
    figure.savefig(path, dpi=130)
    return path
