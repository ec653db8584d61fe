"""Which engine serves which kind of subscription, and the meaning they share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from likewise import defaults
from likewise.errors import ArtefactDamaged, InputError
from likewise.matching.engine import Engine
from likewise.model import Event, Explanation, Kind, Subscription
from likewise.semantics.feedback import Feedback, JudgedMeasure

if TYPE_CHECKING:
    from likewise.semantics.measure import Measure
    from likewise.semantics.space import Space


class Meaning:
    """The space, measure, threshold and lateness of a matcher; the space is opened when it is first needed."""

    def __init__(
        self,
        *,
        space: Space | str | Path | None = None,
        measure: Measure | str | None = None,
        threshold: float | None = None,
        cache_bytes: int = defaults.CACHE_BYTES,
        lateness: int = defaults.LATENESS,
    ) -> None:
        self.threshold = defaults.THRESHOLD if threshold is None else threshold
        self.cache_bytes = cache_bytes
        self.lateness = lateness
        self._space = space
        self._measure = measure
        self._judged: JudgedMeasure | None = None
        self.feedback = Feedback()

    @property
    def space(self) -> Space:
        """The space, opened on first use."""
        from likewise.semantics.library import load_space

        if self._space is None or isinstance(self._space, (str, Path)):
            self._space = load_space(self._space)
        return self._space

    @property
    def source(self) -> Space | str | Path | None:
        """The space as it was given, or opened since; None for the embedded one while nothing has needed it."""
        return self._space

    @property
    def measure(self) -> Measure:
        """The measure of relaxed parts with feedback laid over it, made on first use."""
        if self._judged is None:
            if self._measure is None or isinstance(self._measure, str):
                self._measure = self.space.measure(self._measure or defaults.MEASURE)
            self._judged = JudgedMeasure(self._measure, self.feedback)
        return self._judged

    def configuration(self) -> dict[str, object] | None:
        """What rebuilds the measure; None while nothing has needed one."""
        if self._measure is None:
            return None
        return {"name": self._measure} if isinstance(self._measure, str) else self._measure.configuration()

    def space_checksum(self) -> str | None:
        """The checksum of the space in use; None while nothing has needed one."""
        return None if self._space is None or isinstance(self._space, (str, Path)) else self._space.checksum

    def is_given(self) -> bool:
        """Whether the measure is the user's own, so that no name brings it back."""
        from likewise.semantics.space import MEASURES

        if self._measure is None or isinstance(self._measure, str):
            return False
        return self._measure.name not in MEASURES or not self.space.made(self._measure)

    def restore(self, configuration: dict[str, object], given: bool, checksum: str | None) -> None:
        """Take up a saved measure; another space or measure than the saved one is refused."""
        from likewise.semantics.space import MEASURES

        if checksum is not None and self.space.checksum != checksum:
            raise ArtefactDamaged(
                f"the matcher was saved with the space {checksum[:12]}, but {self.space.checksum[:12]} is open; "
                "name the same space"
            )
        options = dict(configuration)
        name = str(options.pop("name", defaults.MEASURE))
        given = given or name not in MEASURES
        if self._measure is None and not given:
            self._measure = self.space.measure(name, **options) if options else name
            return
        saved = configuration if given else self.space.measure(name, **options).configuration()
        if isinstance(self._measure, str):
            self._measure = self.space.measure(self._measure)
        found = self._measure
        if found is None or self.is_given() != given or _plain(found.configuration()) != _plain(saved):
            given_now = "none" if found is None else f"{found.name!r}, which is another or configured otherwise"
            raise InputError(
                f"the matcher was saved with the measure {name!r}; load it with measure= and the same one, "
                f"found {given_now}"
            )

    def witnessed(self, explanation: Explanation, event: Event, subscription: Subscription) -> Explanation:
        """The explanation with what made its scores, where the measure is one of the space's own."""
        from likewise.matching.evidence import with_evidence

        if self._judged is None or self._space is None or isinstance(self._space, (str, Path)):
            return explanation
        return with_evidence(explanation, event, subscription, self._space, self._judged.measure, self.feedback)

    def named(self, name: str, **options: object) -> Measure:
        """One of the space's measures by name."""
        return self.space.measure(name, **options)


def _plain(configuration: dict[str, object] | None) -> object:
    """A configuration as it looks after it was saved."""
    return msgspec.json.decode(msgspec.json.encode(configuration))


def make_engine(kind: Kind, meaning: Meaning) -> Engine:
    """A fresh engine for one kind of subscription; only its own modules are loaded."""
    match kind:
        case "exact":
            from likewise.matching.bitmap import BitmapEngine

            return BitmapEngine()
        case "approximate":
            from likewise.matching.thematic import ThematicEngine

            return ThematicEngine(meaning.measure, meaning.threshold, meaning.cache_bytes)
        case "top":
            from likewise.matching.topk import TopKEngine

            return TopKEngine(
                meaning.measure, meaning.threshold, lateness=meaning.lateness, cache_bytes=meaning.cache_bytes
            )
        case "statements":
            from likewise.matching.hybrid import HybridEngine

            jcn, esa = meaning.named("jcn"), meaning.named("esa", metric="cosine")
            return HybridEngine(jcn, esa, threshold=meaning.threshold, cache_bytes=meaning.cache_bytes)
        case "interest":
            from likewise.matching.interest_bitmap import InterestBitmapEngine

            return InterestBitmapEngine()
        case "pattern":
            from likewise.matching.graph_pattern import GraphPatternEngine

            return GraphPatternEngine()
