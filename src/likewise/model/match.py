"""A match: the result of matching one event with one subscription."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from likewise.model.alerts.notification import AlertNotification
from likewise.model.display import html_of, text_of
from likewise.model.mapping import Mapping
from likewise.model.matched_reading import MatchedReading
from likewise.model.probability import AS_SCORED, ProbabilityCurve
from likewise.model.subscription import Kind

Cause = Literal["arrival", "promoted", "held", "cleared", "absent", "returned", "digest"]
ReadingsReader = Callable[[str], tuple[MatchedReading, ...]]  # by the id of a subscription
Bindings = tuple[tuple[tuple[str, str], ...], ...]


class Match:
    """Match of one event with one subscription.

    `mapping` is computed when it is first asked for. `bindings` are the solutions of a graph pattern,
    each as (variable, term) pairs; `rank_value` is the score a top-k window ranks by; `cause` says
    whether the event matched on arrival, was promoted into the k best later, or what an alert says of it; `spoken` has
    the facts of an alert.

    Attributes:
        event_id: Id of the event, None if it has none.
        subscription_id: Id of the subscription.
        kind: Kind of the subscription: `exact`, `approximate`, `top`, `alert`, `statements`, `pattern`, `near` or
            `interest`.
        score: Geometric mean of the relatedness of all relaxed parts, in [0, 1]; 1 if nothing is relaxed.
        product: Product of the relatedness of all relaxed parts.
        bindings: Solutions of a graph pattern, each as (variable, term) pairs.
        rank_value: Value by which a top-k window ranks the event, None for other kinds.
        cause: Why the match is delivered: `arrival` of the event, `promoted` into a window, or a change of an alert.
        spoken: Facts of an alert's notification, None for other kinds.

    >>> Match("e1", "s1", "exact").score
    1.0
    """

    __slots__ = (
        "_likelihood",
        "_mapping",
        "_read",
        "_trace",
        "bindings",
        "cause",
        "event_id",
        "kind",
        "product",
        "rank_value",
        "score",
        "spoken",
        "subscription_id",
    )

    def __init__(
        self,
        event_id: str | None,
        subscription_id: str,
        kind: Kind,
        score: float = 1.0,
        product: float = 1.0,
        trace: Callable[[], Mapping | None] | None = None,
        bindings: Bindings = (),
        rank_value: float | None = None,
        cause: Cause = "arrival",
        likelihood: ProbabilityCurve | float = AS_SCORED,
        spoken: AlertNotification | None = None,
    ) -> None:
        self.event_id = event_id
        self.subscription_id = subscription_id
        self.kind = kind
        self.score = score
        self.product = product
        self.bindings = bindings
        self.rank_value = rank_value
        self.cause = cause
        self.spoken = spoken
        self._trace = trace
        self._likelihood = likelihood
        self._mapping: Mapping | None = None
        self._read: ReadingsReader | None = None

    @property
    def probability(self) -> float:
        """Probability by the score that the match is relevant; 1 if no part is relaxed."""
        likelihood = self._likelihood
        return likelihood if isinstance(likelihood, float) else likelihood.of(self.score)

    @property
    def mapping(self) -> Mapping | None:
        """Mapping of predicates to tuples; None for kinds without a mapping."""
        if self._trace is not None:
            self._mapping = self._trace()
            self._trace = None
        return self._mapping

    @property
    def readings(self) -> tuple[MatchedReading, ...]:
        """Readings that met the subscription, converted to its units; computed on access.

        Empty for kinds without predicates, for a match that was unpickled, and once the subscription was removed.

        >>> import likewise as lw
        >>> m = lw.Matcher()
        >>> _ = m.add({"id": "warm", "text": "{temp > 25 degC}"})
        >>> m.match({"temp": "86 °F"})[0].readings[0].converted
        30.0
        """
        return () if self._read is None else self._read(self.subscription_id)

    def __getstate__(self) -> tuple[None, dict[str, object]]:
        """Return the state to pickle: the computed mapping, and no reader, because it refers to the matcher."""
        _ = self.mapping
        return None, {name: None if name == "_read" else getattr(self, name) for name in self.__slots__}

    def read_by(self, reader: ReadingsReader) -> None:
        """Set what computes `readings`."""
        self._read = reader

    def _facts(self) -> tuple[object, ...]:
        return (
            self.event_id,
            self.subscription_id,
            self.kind,
            self.score,
            self.product,
            self.bindings,
            self.rank_value,
            self.cause,
            self.spoken,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Match) and self._facts() == other._facts()

    def __hash__(self) -> int:
        return hash(self._facts())

    def __repr__(self) -> str:
        extra = "" if self.rank_value is None else f", rank_value={self.rank_value:g}"
        return (
            f"Match(event_id={self.event_id!r}, subscription_id={self.subscription_id!r}, kind={self.kind!r}, "
            f"score={self.score:.4g}, product={self.product:.4g}{extra}, cause={self.cause!r})"
        )

    def __str__(self) -> str:
        return text_of(self)

    def _repr_html_(self) -> str:
        return html_of(self)
