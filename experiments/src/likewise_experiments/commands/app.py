"""`likewise eval`: the list of evaluations, each imported when it is called."""

from __future__ import annotations

from typing import Final

from likewise.cli.terminal.lazy import LazyCommand, lazy_app

EVALUATIONS: Final = {
    "all": LazyCommand(
        "likewise_experiments.commands.everything:everything",
        "Run every evaluation, and write one page with all figures.",
    ),
    "relatedness": LazyCommand(
        "likewise_experiments.commands.relatedness:relatedness", "Compare measures with people's judgements."
    ),
    "hybrid": LazyCommand(
        "likewise_experiments.commands.hybrid:hybrid", "Match statements with RDF events, by WordNet, ESA and both."
    ),
    "thematic": LazyCommand(
        "likewise_experiments.commands.thematic:thematic", "Repeat the thematic paper's experiments, on Spark."
    ),
    "sameness": LazyCommand(
        "likewise_experiments.commands.sameness:sameness", "Tell related from the same, on pairs people judged."
    ),
    "units": LazyCommand(
        "likewise_experiments.commands.units:units", "Compare numbers, units and dates with exact arithmetic."
    ),
    "demand": LazyCommand(
        "likewise_experiments.commands.demand:demand", "See whether demand misses nothing, and asks for little more."
    ),
    "near-misses": LazyCommand(
        "likewise_experiments.commands.near_misses:near_misses", "See whether near misses are explained right."
    ),
    "columns": LazyCommand(
        "likewise_experiments.commands.columns:columns", "Take columns of published tables by meaning."
    ),
    "names": LazyCommand("likewise_experiments.commands.names:names", "Score names and payloads of 32 domains."),
    "vendor": LazyCommand(
        "likewise_experiments.commands.vendor:vendor", "Find what vendors call the thing a plain phrase means."
    ),
}

app = lazy_app(EVALUATIONS, help="Evaluate measures on published data.\n\nExample: `likewise eval relatedness --help`")
