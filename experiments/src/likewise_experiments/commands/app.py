"""`likewise eval`: the list of evaluations, each imported when it is called."""

from __future__ import annotations

from typing import Final

from likewise.cli.terminal.lazy import Lazy, lazy_app

EVALUATIONS: Final = {
    "all": Lazy(
        "likewise_experiments.commands.everything:everything",
        "Run every evaluation, and write one page with all figures.",
    ),
    "relatedness": Lazy(
        "likewise_experiments.commands.relatedness:relatedness", "Compare measures with people's judgements."
    ),
    "hybrid": Lazy(
        "likewise_experiments.commands.hybrid:hybrid", "Match statements with RDF events, by WordNet, ESA and both."
    ),
    "thematic": Lazy(
        "likewise_experiments.commands.thematic:thematic", "Repeat the thematic paper's experiments, on Spark."
    ),
    "sameness": Lazy(
        "likewise_experiments.commands.sameness:sameness", "Tell related from the same, on pairs people judged."
    ),
    "units": Lazy(
        "likewise_experiments.commands.units:units", "Compare numbers, units and dates with exact arithmetic."
    ),
    "demand": Lazy(
        "likewise_experiments.commands.demand:demand", "See whether demand misses nothing, and asks for little more."
    ),
    "near-misses": Lazy(
        "likewise_experiments.commands.near_misses:near_misses", "See whether near misses are explained right."
    ),
    "vendor": Lazy(
        "likewise_experiments.commands.vendor:vendor", "Find what vendors call the thing a plain phrase means."
    ),
}

app = lazy_app(EVALUATIONS, help="Evaluate measures on published data.\n\nExample: `likewise eval relatedness --help`")
