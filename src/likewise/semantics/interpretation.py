"""Semantic settings of a matcher: its space, its measure with feedback, its threshold."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from likewise import defaults
from likewise.errors import ArtefactDamaged, InputError
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.model.probability import AS_SCORED, ProbabilityCurve
from likewise.semantics.enrichment.table import NO_ANNOTATIONS, AnnotationSource
from likewise.semantics.feedback import Feedback, JudgedMeasure

if TYPE_CHECKING:
    from likewise.semantics.measure import Measure
    from likewise.semantics.space import Space


class Interpretation:
    """Space, measure, feedback, threshold and lateness that matchers share. The space is opened on first use.

    `space` and `measure` are an object, a name, or None for the defaults; `cache_bytes` bounds what an engine keeps of
    computed relatedness, `lateness` (µs) is how far an event may lag behind the newest and still enter windows. `types`
    are declared hierarchies that `is-a` follows, `enrichment` what is known about events and laid over them first.
    `forget` (µs) is after how long an alert forgets a key of which nothing came, `alert_lateness` the lateness of
    alerts, if it is another.

    Args:
        space: Space object, name or folder. Default: the embedded space, opened on first use.
        measure: Measure object or name. Default: `sameness`.
        threshold: Score in [0, 1] that a match needs. Default: 0.5.
        cache_bytes: Memory that each engine may use for computed relatedness.
        lateness: µs that an event may lag behind the newest and still enter windows.
        feedback: Judgements that adjust the measure.
        types: Declared type hierarchy that `is-a` follows.
        annotations: Source of the annotation table.
        forget: µs without events after which an alert drops a key.
        alert_lateness: Lateness of alerts. Default: `lateness`.
        stale: µs of silence after which an active source no longer blocks the others of its key.

    >>> Interpretation(threshold=0.4).threshold
    0.4
    """

    def __init__(
        self,
        *,
        space: Space | str | Path | None = None,
        measure: Measure | str | None = None,
        threshold: float | None = None,
        cache_bytes: int = defaults.CACHE_BYTES,
        lateness: int = defaults.LATENESS,
        feedback: Feedback | None = None,
        types: Hierarchy = NO_TYPES,
        annotations: AnnotationSource = NO_ANNOTATIONS,
        forget: int = defaults.ALERT_FORGET,
        alert_lateness: int | None = None,
        stale: int = defaults.ALERT_STALE,
    ) -> None:
        if threshold is not None and not (isinstance(threshold, (int, float)) and 0 <= threshold <= 1):
            raise InputError(f"a threshold lies between 0 and 1, not at {threshold!r}")
        if isinstance(measure, str):
            from likewise.semantics.space import MEASURES

            if measure.partition(":")[0] not in MEASURES:
                raise InputError(f"no measure is named {measure[:40]!r}; there are {', '.join(MEASURES)}")
        self.types: Final = types
        self.annotations: Final = annotations
        self.threshold: Final = defaults.THRESHOLD if threshold is None else threshold
        self.cache_bytes: Final = cache_bytes
        self.lateness: Final = lateness
        self.forget: Final = forget
        self.stale: Final = stale
        self.alert_lateness: Final = lateness if alert_lateness is None else alert_lateness
        self.feedback: Final = Feedback() if feedback is None else feedback
        self._space = space
        self._measure = measure
        self._judged: JudgedMeasure | None = None

    @property
    def space(self) -> Space:
        """The space, opened on first use."""
        from likewise.semantics.library import load_space

        if self._space is None or isinstance(self._space, (str, Path)):
            self._space = load_space(self._space)
        return self._space

    @property
    def source(self) -> Space | str | Path | None:
        """The space as configured, or the opened one; None for the embedded space before its first use."""
        return self._space

    @property
    def measure(self) -> Measure:
        """The measure of relaxed parts with feedback laid over it, made on first use."""
        if self._judged is None:
            if self._measure is None or isinstance(self._measure, str):
                self._measure = self.space.measure(self._measure or defaults.MEASURE)
            self._judged = JudgedMeasure(self._measure, self.feedback)
        return self._judged

    def probability_curve(self, what: Literal["conditions", "statements"]) -> ProbabilityCurve:
        """Return the curve from score to probability: fitted for the measure and stored in the space, else the
        identity.
        """
        name = self.measure.name if what == "conditions" else what
        return self.space.calibration.probability.get(name, AS_SCORED)

    def opened(self) -> tuple[Space, Measure] | None:
        """Return the opened space and the measure without feedback; None before matching needed both."""
        if self._judged is None or self._space is None or isinstance(self._space, (str, Path)):
            return None
        return self._space, self._judged.measure

    def measure_named(self, name: str, **options: object) -> Measure:
        """Return one of the space's measures by name."""
        return self.space.measure(name, **options)

    def statement_measure(self, name: str) -> Measure:
        """Return the measure of statements: `esa` with the cosine, as in the paper; any other as it is."""
        return self.measure_named(name, metric="cosine") if name == "esa" else self.measure_named(name)

    # -- keeping --------------------------------------------------------------------------------

    def configuration(self) -> dict[str, object] | None:
        """Return the configuration that rebuilds the measure; None before its first use."""
        if self._measure is None:
            return None
        return {"name": self._measure} if isinstance(self._measure, str) else self._measure.configuration()

    def space_checksum(self) -> str | None:
        """Return the checksum of the opened space; None before its first use."""
        return None if self._space is None or isinstance(self._space, (str, Path)) else self._space.checksum

    def is_custom_measure(self) -> bool:
        """Return whether the measure is the user's own object, so that no name can rebuild it."""
        if self._measure is None or isinstance(self._measure, str):
            return False
        from likewise.semantics.space import MEASURES

        return self._measure.name not in MEASURES or not self.space.owns_measure(self._measure)

    def restored(self, configuration: dict[str, object] | None, custom: bool, checksum: str | None) -> Interpretation:
        """Return these settings with a saved measure. Another space or another measure is refused."""
        if configuration is None:  # nothing has needed one
            return self
        from likewise.semantics.space import MEASURES

        if checksum is not None and self.space.checksum != checksum:
            raise ArtefactDamaged(
                f"the matcher was saved with the space {checksum[:12]}, but {self.space.checksum[:12]} is open; "
                "name the same space"
            )
        options = dict(configuration)
        name = str(options.pop("name", defaults.MEASURE))
        custom = custom or name not in MEASURES
        if self._measure is None and not custom:
            return self._with(self.space.measure(name, **options) if options else name, self.feedback)
        saved = configuration if custom else self.space.measure(name, **options).configuration()
        configured = self.space.measure(self._measure) if isinstance(self._measure, str) else self._measure
        if (
            configured is None
            or self.is_custom_measure() != custom
            or _plain(configured.configuration()) != _plain(saved)
        ):
            current = "none" if configured is None else f"{configured.name!r}, which is another or configured otherwise"
            raise InputError(
                f"the matcher was saved with the measure {name!r}; load it with measure= and the same one, "
                f"found {current}"
            )
        return self

    def with_feedback(self, feedback: Feedback) -> Interpretation:
        """Return these settings with other judgements."""
        return self._with(self._measure, feedback)

    def _with(self, measure: Measure | str | None, feedback: Feedback) -> Interpretation:
        return Interpretation(
            space=self._space,
            measure=measure,
            threshold=self.threshold,
            cache_bytes=self.cache_bytes,
            lateness=self.lateness,
            feedback=feedback,
            types=self.types,
            annotations=self.annotations,
            forget=self.forget,
            alert_lateness=self.alert_lateness,
            stale=self.stale,
        )


def _plain(configuration: dict[str, object]) -> object:
    """Return a configuration in the form it has after saving."""
    return msgspec.json.decode(msgspec.json.encode(configuration))
