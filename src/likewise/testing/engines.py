"""An engine held in a table: what an event meets is said beforehand."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar, get_args

import numpy as np

from likewise.matching.engine import BaseEngine, Found
from likewise.model import Event, Kind, Subscription


class TableEngine(BaseEngine):
    """Serves every kind; an event meets the held subscriptions whose ids the table names for its id.

    For tests of what stands around a matcher: nothing is parsed, measured or compiled.

    >>> import likewise as lw
    >>> matcher = lw.Matcher(profile="small", engines={"approximate": lambda _: TableEngine({"e1": {"warm"}})})
    >>> _ = matcher.add(lw.parse("{temperature~ > 25}", id="warm"))
    >>> [match.subscription_id for match in matcher.match(lw.event({"x": 1}, id="e1"))]
    ['warm']
    """

    kinds: ClassVar[frozenset[Kind]] = frozenset(get_args(Kind))

    def __init__(self, table: Mapping[str, Collection[str]]) -> None:
        super().__init__()
        self.table = table

    def add(self, ordinal: int, subscription: Subscription, at: int) -> None:
        """Hold a subscription."""
        self.admit(ordinal, subscription)

    def remove(self, ordinal: int) -> None:
        """Forget a subscription."""
        self.dismiss(ordinal)

    def find(self, event: Event, at: int) -> Found:
        """What the table says of the event."""
        named = self.table.get(event.id or "", ())
        return Found(np.array([o for o, held in sorted(self.subscriptions.items()) if held.id in named], np.int64))
