"""Publish/subscribe by meaning for the Internet of Things.

    import likewise as lw

    s = lw.parse("{temperature~ > 25 degC, city = Galway}", id="warm")
    m = lw.Matcher()
    m.add(s)
    m.match(lw.event({"TempC_SHT": 27.1, "city": "Galway"}))

Names load on first use, so that importing the package stays cheap.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from likewise.client.opening import connect
    from likewise.errors import LikewiseError
    from likewise.formats.arrow.event_batch import EventBatch
    from likewise.language import parse
    from likewise.matching.matcher import Matcher
    from likewise.matching.stream_filter import filter, match
    from likewise.model import Event, Explanation, Match, MatchBatch, Subscription, event
    from likewise.semantics.library import load_space
    from likewise.semantics.measure import Measure, Term
    from likewise.semantics.space import Space
    from likewise.server.embedded import Broker
    from likewise.tables import ColumnReport, columns

__version__ = "0.1.0"

_HOMES = {
    "Broker": "likewise.server.embedded",
    "ColumnReport": "likewise.tables",
    "Event": "likewise.model",
    "EventBatch": "likewise.formats.arrow.event_batch",
    "Explanation": "likewise.model",
    "LikewiseError": "likewise.errors",
    "Match": "likewise.model",
    "MatchBatch": "likewise.model",
    "Matcher": "likewise.matching.matcher",
    "Measure": "likewise.semantics.measure",
    "Space": "likewise.semantics.space",
    "Subscription": "likewise.model",
    "Term": "likewise.semantics.measure",
    "columns": "likewise.tables",
    "connect": "likewise.client.opening",
    "event": "likewise.model",
    "filter": "likewise.matching.stream_filter",
    "load_space": "likewise.semantics.library",
    "match": "likewise.matching.stream_filter",
    "parse": "likewise.language",
}

__all__ = [
    "Broker",
    "ColumnReport",
    "Event",
    "EventBatch",
    "Explanation",
    "LikewiseError",
    "Match",
    "MatchBatch",
    "Matcher",
    "Measure",
    "Space",
    "Subscription",
    "Term",
    "columns",
    "connect",
    "event",
    "filter",
    "load_space",
    "match",
    "parse",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'likewise' has no attribute {name!r}")
    try:
        value = getattr(importlib.import_module(home), name)
    except ModuleNotFoundError as error:
        from likewise.extras import for_module

        raise for_module(error) or error from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
