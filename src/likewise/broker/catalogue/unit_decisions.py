"""Units that nobody states, decided for each source over its history, and inputs that nothing is connected to.

A decision is a correction in the log, with a position, by `likewise units 1`: matching, replay, workers, edges and
streams use it as one of a person, which it never takes the place of. It holds from its position on, so that no past
delivery changes. A unit is decided only where the customary one cannot be meant and exactly one other can; where a
reading jumps by a known factor afterwards, that is an event and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import isclose, isfinite
from typing import Final, NamedTuple

from likewise.broker.catalogue.observations import ObservedAttribute, ObservedSource
from likewise.broker.catalogue.views import correction_of
from likewise.broker.tenants.tenant import Tenant
from likewise.matching.common_names.normaliser import ReadingNormaliser
from likewise.matching.common_names.table import CommonName, default_text, read_common_names
from likewise.model import Event, event
from likewise.model.announcements.announcement import SPEAKER
from likewise.semantics.enrichment.corrections import Correction
from likewise.units import unit, units_in_name

BY: Final = "likewise units 1"  # the rule that decides, and its version
UNUSED: Final = "unused input"  # what an input is called that nothing is connected to
LEAST_READINGS: Final = 5
LEAST_DEAD: Final = 50  # readings that are one and the same before an input counts as unused
SURE: Final = 0.9  # the probability that the kind of a reading needs
NO_READING: Final = frozenset({-127.0, 85.0, 127.0, 255.0, 32767.0, -32768.0, 65535.0, 6553.5})  # what sensors say then
OF_THERMOMETERS: Final = frozenset({-127.0, 85.0})  # of which 85 is a temperature, too, but no constant one
NEVER_ZERO: Final = frozenset({"temperature", "pressure", "voltage", "ratio"})  # dimensions; of others 0 is a reading
# The units of a dimension that devices send without saying so, the customary one among them.
ALTERNATIVES: Final = {
    "temperature": ("degC", "degF", "K"),
    "voltage": ("V", "mV"),
    "power": ("W", "kW"),
    "pressure": ("hPa", "kPa", "Pa", "inHg"),
    "current": ("A", "mA"),
}
FACTORS: Final = (10.0, 100.0, 1_000.0)
MOST_CHECKED: Final = 200_000  # attributes that are remembered as looked at


class _Kind(NamedTuple):
    name: CommonName
    dimension: str


class UnitDecisions:
    """Decides units of bare numbers and unused inputs of the sources that were seen lately.

    Args:
        correct: Appends a correction of a tenant to the log.
        take_back: Takes one back by its number.
        report: Publishes an event of the catalogue.
        clock: The time in µs.
    """

    def __init__(
        self,
        correct: Callable[[Tenant, Correction], None],
        take_back: Callable[[Tenant, int], None],
        report: Callable[[Tenant, Event], None],
        clock: Callable[[], int],
    ) -> None:
        self._correct, self._take_back, self._report, self._clock = correct, take_back, report, clock
        self._normalisers: dict[int, ReadingNormaliser] = {}
        self._checked: dict[tuple[int, str, str], int] = {}  # readings when an attribute was looked at last
        self._jumped: set[tuple[int, str, str]] = set()  # that were reported
        self._typical: dict[tuple[int, str, str], float] = {}  # of what was decided or found customary

    def update(self, tenant: Tenant, sources: Iterable[ObservedSource]) -> None:
        """Look at the attributes of some sources that have more readings than last time."""
        for source in sources:
            for each in source.readings:
                if each.unit or not each.kinds & 10 or min(each.times, len(each.line)) < LEAST_READINGS:
                    continue
                key = tenant.number, source.source, each.attribute
                before = self._checked.get(key, 0)
                if each.times < before + max(LEAST_READINGS, before // 4):
                    continue
                if len(self._checked) >= MOST_CHECKED:
                    self._checked.clear()
                    self._typical.clear()
                    self._jumped.clear()
                self._checked[key] = each.times
                self._look(tenant, source, each, key)

    def _look(self, tenant: Tenant, source: ObservedSource, each: ObservedAttribute, key: tuple[int, str, str]) -> None:
        known = correction_of(tenant.sources, each.attribute, source.source, "")
        if known is not None and known[1].by != BY:
            return  # a person said it
        announced = self._announced_unit(tenant, source.source, each.attribute)
        if announced:
            if known is None or known[1].unit != announced:
                self._decide(tenant, source, each, unit=announced)
            return
        numbers = [number for number in each.line if isfinite(number)]
        living = [number for number in numbers if number not in NO_READING]
        if known is not None and known[1].means == UNUSED:
            if living and len(set(numbers)) > 1:
                self._take_back(tenant, known[0])
            return
        kind = self._kind(tenant, each.attribute, numbers)
        if kind is None:
            return
        if self._is_unused(kind, each, numbers):
            self._decide(tenant, source, each, means=UNUSED)
        elif known is not None:
            if not self._watch(tenant, source, each, living, key):
                return
        elif len(living) >= LEAST_READINGS and not units_in_name(each.attribute):
            chosen = likely_unit(kind.name, living)
            if chosen:
                self._decide(tenant, source, each, unit=chosen)
            elif not self._watch(tenant, source, each, living, key):
                return
        self._typical[key] = _typical(living) if living else self._typical.get(key, 0.0)

    @staticmethod
    def _announced_unit(tenant: Tenant, source: str, attribute: str) -> str:
        stored = tenant.sources.announcements.get(source)
        every = () if stored is None else stored.announcement.all_attributes()
        return next((each.unit for each in every if each.unit and each.name == attribute), "")

    def _kind(self, tenant: Tenant, attribute: str, numbers: Sequence[float]) -> _Kind | None:
        """Return what an attribute certainly is, if it has a unit; None if it is not certain."""
        if not numbers:
            return None
        normaliser = self._normalisers.get(tenant.number)
        if normaliser is None:
            names = read_common_names(default_text())
            normaliser = self._normalisers[tenant.number] = ReadingNormaliser(
                names, tenant.stateless.interpretation, SURE
            )
        name = normaliser.kind_of(attribute, numbers[-1])
        return None if name is None or not name.predicate.unit else _Kind(name, unit(name.predicate.unit).dimension)

    def _is_unused(self, kind: _Kind, each: ObservedAttribute, numbers: Sequence[float]) -> bool:
        if each.times < LEAST_DEAD or len(set(numbers)) > 1 or len(numbers) < LEAST_READINGS:
            return False
        constant = numbers[0]
        if constant == 0:
            return kind.dimension in NEVER_ZERO and kind.name.low != 0
        if kind.dimension == "temperature" and constant in OF_THERMOMETERS:
            return True
        return constant in NO_READING and not kind.name.low <= constant <= kind.name.high

    def _decide(
        self, tenant: Tenant, source: ObservedSource, each: ObservedAttribute, means: str = "", unit: str = ""
    ) -> None:
        self._correct(
            tenant,
            Correction(each.attribute, "source", source.source, means=means, unit=unit, by=BY, at=self._clock()),
        )

    def _watch(
        self,
        tenant: Tenant,
        source: ObservedSource,
        each: ObservedAttribute,
        living: Sequence[float],
        key: tuple[int, str, str],
    ) -> bool:
        """Report a jump by a known factor; return whether the reading goes on as it was."""
        before, now = self._typical.get(key, 0.0), _typical(living) if living else 0.0
        if not before or not now:
            return True
        factor = next((f for f in FACTORS if any(isclose(now / before, x, rel_tol=0.15) for x in (f, 1 / f))), 0.0)
        if not factor:
            return True
        sizes = [abs(number) for number in living if number]
        if max(sizes) < min(sizes) * factor**0.5 and key not in self._jumped:  # else the line still holds both
            self._jumped.add(key)
            payload = {"type": "unit jump", "source": source.source, "attribute": each.attribute, "before": before}
            payload |= {"after": now, "factor": factor if now > before else 1 / factor}
            self._report(tenant, event(payload, source=SPEAKER))
        return False


def likely_unit(name: CommonName, numbers: Sequence[float]) -> str:
    """Return the unit that bare numbers are in, if it is not the customary one and no other fits; else ''.

    >>> from likewise.matching.common_names.table import CommonName
    >>> outdoor = CommonName("outdoor_temperature", "outdoor temperature", "degC", low=-60, high=60)
    >>> likely_unit(outdoor, [97.2, 98.67, 96.4]), likely_unit(outdoor, [20, 21.5]), likely_unit(outdoor, [58, 61])
    ('degF', '', 'degF')
    """
    target = unit(name.predicate.unit)
    fitting = [
        symbol
        for symbol in ALTERNATIVES.get(target.dimension, ())
        if all(name.low <= unit(symbol).to(target, number) <= name.high for number in numbers)
    ]
    return fitting[0] if len(fitting) == 1 and fitting[0] != target.symbol else ""


def _typical(numbers: Sequence[float]) -> float:
    """Return the size of numbers: the middle one's."""
    return sorted(map(abs, numbers))[len(numbers) // 2]
