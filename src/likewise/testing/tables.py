"""A measure held in memory, for tests that need relatedness but no space.

An engine held in a table: what an event meets is said beforehand.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, ClassVar, get_args

import numpy as np

from likewise.matching.engine import BaseEngine, EngineResult
from likewise.model import Event, Kind, Subscription
from likewise.model.text import fold
from likewise.semantics.measure import Term

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray


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
        self.register(ordinal, subscription)

    def remove(self, ordinal: int) -> None:
        """Forget a subscription."""
        self.unregister(ordinal)

    def find(self, event: Event, at: int) -> EngineResult:
        """Return the matches that the table names for the event."""
        named = self.table.get(event.id or "", ())
        return EngineResult(
            np.array(
                [o for o, subscription in sorted(self.subscriptions.items()) if subscription.id in named], np.int64
            )
        )


class TableMeasure:
    """Relatedness from a table of pairs of terms, in either order; terms are folded, equal ones are 1.

    A pair that is not in the table is 0 or, with a `seed`, one of 0, 1/64, ..., 63/64 fixed by the seed and
    everything the two `Term`s say (text, role, theme, unit, kind, context), about half of them 0.

    >>> measure = TableMeasure({("laptop", "computer"): 0.75})
    >>> measure.matrix([Term("laptop"), Term("desk")], [Term("Computer"), Term("DESK")]).tolist()
    [[0.75, 0.0], [0.0, 1.0]]
    """

    def __init__(
        self, table: Mapping[tuple[str, str], float] | None = None, *, seed: int | None = None, name: str = "table"
    ) -> None:
        self.name = name
        self.seed = seed
        self.table: dict[tuple[str, str], float] = {}
        for (a, b), number in (table or {}).items():
            if not 0 <= number <= 1:
                raise ValueError(f"relatedness lies between 0 and 1; {a!r} and {b!r} have {number}")
            self.table[fold(a), fold(b)] = self.table[fold(b), fold(a)] = number

    def matrix(self, asked: Sequence[Term], seen: Sequence[Term]) -> NDArray[float32]:
        """Return the relatedness of every query term with every event term."""
        import numpy as np

        numbers = [[self._cell(a, s) for s in seen] for a in asked]
        return np.array(numbers, np.float32).reshape(len(asked), len(seen))

    def _cell(self, asked: Term, seen: Term) -> float:
        a, s = fold(asked.text), fold(seen.text)
        if a == s:
            return 1.0
        number = self.table.get((a, s))
        if number is None:
            return 0.0 if self.seed is None else _seeded(self.seed, asked, seen)
        return number

    def configuration(self) -> dict[str, object]:
        """Return the name, the seed and the table."""
        return {"name": self.name, "seed": self.seed, "table": [[a, b, n] for (a, b), n in sorted(self.table.items())]}


@lru_cache(maxsize=65_536)
def _seeded(seed: int, asked: Term, seen: Term) -> float:
    key = repr(
        (
            seed,
            fold(asked.text),
            asked.role,
            asked.theme,
            asked.unit,
            asked.kind,
            asked.context,
            fold(seen.text),
            seen.role,
            seen.theme,
            seen.unit,
            seen.kind,
            seen.context,
        )
    )
    number = int.from_bytes(blake2b(key.encode(), digest_size=2).digest()) % 128
    return max(0, number - 64) / 64
