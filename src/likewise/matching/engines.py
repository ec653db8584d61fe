"""Which engine serves which kind of subscription."""

from __future__ import annotations

from typing import TYPE_CHECKING

from likewise.matching.engine import Engine
from likewise.model import Kind

if TYPE_CHECKING:
    from likewise.semantics.interpretation import Interpretation


def make_engine(kind: Kind, interpretation: Interpretation) -> Engine:
    """A fresh engine for one kind of subscription; only its own modules are loaded."""
    shared = interpretation
    match kind:
        case "exact":
            from likewise.matching.bitmap.engine import BitmapEngine

            return BitmapEngine()
        case "approximate":
            from likewise.matching.thematic.engine import ThematicEngine

            return ThematicEngine(shared.measure, shared.threshold, shared.cache_bytes)
        case "top":
            from likewise.matching.topk.engine import TopKEngine

            return TopKEngine(
                shared.measure, shared.threshold, lateness=shared.lateness, cache_bytes=shared.cache_bytes
            )
        case "statements":
            from likewise.matching.hybrid.engine import HybridEngine

            jcn, esa = shared.named("jcn"), shared.named("esa", metric="cosine")
            return HybridEngine(jcn, esa, threshold=shared.threshold, cache_bytes=shared.cache_bytes)
        case "interest":
            from likewise.matching.interests.bitmap import InterestBitmapEngine

            return InterestBitmapEngine()
        case "pattern":
            from likewise.matching.graphs.engine import GraphPatternEngine

            return GraphPatternEngine()
