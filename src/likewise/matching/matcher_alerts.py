"""What a matcher is told about alerts beside events: outages, sources that rest or were announced, what another has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from likewise.matching.engine import AlertingEngine, TimedEngine
from likewise.matching.matcher_queries import MatcherAnswers
from likewise.model.alerts.notification import Key, Why


class MatcherAlerts(MatcherAnswers):
    """A matcher as whoever looks after alerts knows it; see `likewise.Matcher`."""

    def outage(self, by: int, until: int | None = None) -> None:
        """Nothing could be heard for so long (µs): `absent for` counts silence on from there.

        Where it is said `until` when, a key counts on from no later than that: what was heard after the outage began
        is silent only since then.
        """
        if "alert" in self._state.engines:
            cast("AlertingEngine", self._state.engines["alert"]).outage(by, until)

    def unsend(self, id: str, key: Key, event_id: str) -> None:
        """Let the last alarm of a key, naming an event, be one that was never sent: it is sent later if it stands.

        For one who repeats what was done, and finds that it was not.
        """
        if (engine := self._alerts()) is not None and id in self._state.ordinals:
            engine.unsend(self._state.ordinal(id), key, event_id)

    def postpone_expiry(self, by: int) -> None:
        """Let a time (µs) in which nothing came at all bring no key of an alert nearer to being forgotten.

        For one who cannot tell a long pause from a step of the clock.
        """
        if (engine := self._alerts()) is not None:
            engine.postpone_expiry(by)

    def suspend_absence(self, sources: Iterable[str], why: Why, at: int | None = None) -> None:
        """From now on the silence of some sources means nothing: what brings them is down, or they were told to rest.

        >>> import likewise as lw
        >>> m = lw.Matcher()
        >>> _ = m.add(lw.parse("{t exists} absent for 1 min", id="silent"), at=0)
        >>> _ = m.match(lw.event({"t": 1}, source="s1"), at=0)
        >>> m.suspend_absence(["s1"], "unreachable", at=30_000_000), m.advance(3_600_000_000)
        (None, [])
        >>> m.resume_absence(["s1"], "unreachable", at=3_600_000_000)
        >>> [match.cause for match in m.advance(3_630_000_000)]
        ['absent']
        """
        if (engine := self._alerts()) is not None:
            engine.suspend_absence(sources, why, self._clock() if at is None else at)

    def resume_absence(self, sources: Iterable[str], why: Why, at: int | None = None) -> None:
        """The silence of some sources counts again; what passed meanwhile does not."""
        if (engine := self._alerts()) is not None:
            engine.resume_absence(sources, why, self._clock() if at is None else at)

    def suspended_sources(self, why: Why) -> set[str]:
        """The sources whose silence means nothing."""
        engine = self._alerts()
        return set() if engine is None else engine.suspended_sources(why)

    def expect(
        self, id: str, source: str, event_id: str | None = None, *, key: Key | None = None, at: int | None = None
    ) -> None:
        """A source announced what an `absent for` asks for: it is waited for, though nothing of it held yet.

        `event_id` is what `absent` names then, `key` the values of `per` where there is one.
        """
        ordinal = self._state.ordinal(id)
        if self._state.held[ordinal].alert is not None:
            moment = self._clock() if at is None else at
            engine = cast("AlertingEngine", self._state.engine("alert"))
            engine.expect(ordinal, (source,) if key is None else key, source, event_id, moment)

    def unexpect(self, id: str, key: Key, event_id: str) -> None:
        """Nothing is to come from a key any more; one that has held otherwise is watched on."""
        if (engine := self._alerts()) is not None:
            engine.unexpect(self._state.ordinal(id), key, event_id)

    def is_expected(self, id: str, key: Key) -> bool:
        """Whether an alert knows a key."""
        engine = self._alerts()
        return engine is not None and id in self._state.ordinals and engine.is_expected(self._state.ordinal(id), key)

    def rename(self, before: str, after: str) -> None:
        """What a source announced is said by another event now; `absent` will name that one."""
        if (engine := self._alerts()) is not None:
            engine.rename(before, after)

    def rename_source(self, before: str, after: str | None) -> None:
        """Let what alerts know of a source count for another from now on; without one, forget it.

        Nothing is said of it. Where both are known, the key that is active, or was active last, is kept.

        Args:
            before: the source's name up to now.
            after: its name from now on; None if `before` was the name of several by mistake, who begin anew.

        >>> import likewise as lw
        >>> m = lw.Matcher()
        >>> _ = m.add("{smoke = true} once until false")
        >>> len(m.match(lw.event({"smoke": True}, source="kitchen")))
        1
        >>> m.rename_source("kitchen", "0x01")
        >>> len(m.match(lw.event({"smoke": True}, source="0x01")))
        0
        >>> [match.cause for match in m.match(lw.event({"smoke": False}, source="0x01"))]
        ['cleared']
        """
        if (engine := self._alerts()) is not None and before != after:
            engine.rename_source(before, after)

    def _alerts(self) -> AlertingEngine | None:
        return cast("AlertingEngine | None", self._state.engines.get("alert"))

    def next_due(self) -> int | None:
        """When `advance` has something to do for alerts, or an earlier moment; None if there is nothing."""
        engine = self._state.engines.get("alert")
        return None if engine is None else cast("AlertingEngine", engine).next_due()

    def next_move(self) -> int | None:
        """The same for windows, too."""
        engines = [self._state.engines[kind] for kind in ("alert", "top") if kind in self._state.engines]
        moments = [cast("TimedEngine", engine).next_due() for engine in engines]
        return min((moment for moment in moments if moment is not None), default=None)

    def wrong_clocks(self) -> dict[str, tuple[int, int]]:
        """Sources whose clock fell back: the time that the last such event states, and when it came (µs).

        A source is named from when alerts counted an event of it at its arrival until an event comes that is less
        than a day old.
        """
        engine = self._state.engines.get("alert")
        return {} if engine is None else dict(getattr(engine, "clocks", {}))

    def may_name(self, event_id: str) -> bool:
        """Whether what an alert says next may name an event."""
        engine = self._state.engines.get("alert")
        return engine is not None and cast("AlertingEngine", engine).may_name(event_id)

    def adopt(self, other: MatcherAlerts) -> None:
        """Take over what another matcher knows of the alerts that this one holds, too, by their ids."""
        if "alert" in other._state.engines and "alert" in self._state.engines:
            local_ordinals, theirs = self._state.ordinals, other._state.ordinals
            both = {
                theirs[id]: local_ordinals[id]
                for id in theirs
                if id in local_ordinals and other._state.held[theirs[id]].alert
            }
            other_engine = cast("AlertingEngine", other._state.engines["alert"])
            cast("AlertingEngine", self._state.engines["alert"]).adopt(other_engine, both)
