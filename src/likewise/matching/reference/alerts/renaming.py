"""Another name for a source, in what alerts know: every place that names it, whatever holds it.

The state of a key names sources in its events (`Heard.source`) and in some fields (`SOURCE_FIELDS`): as names, or as
pairs of a name and a time. What is known twice after a renaming is known once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from likewise.matching.reference.alerts.state import CompactedHistory, HoldingRun, Observation, advance_run
from likewise.model.alerts.clauses import Alert

SOURCE_FIELDS: Final = frozenset(("holding", "stale", "straggled", "active"))


def folded(alert: Alert, base: CompactedHistory, trail: Sequence[Observation]) -> CompactedHistory:
    """Return what is left of a key's events once they are remembered together.

    If two names of one key become one, the failing of either would seem to end what the other began. So what holds is
    found before they are renamed, and single events of before can be withdrawn no more.
    """
    run, last, holding = base.run, base.last, base.last_holding
    for observation in trail:
        run, last, holding = (
            advance_run(run, observation, alert.stale),
            observation,
            observation if observation.holds else holding,
        )
    return CompactedHistory(run, last, holding)


def renamed(value: Any, before: str, after: str | None, *, sources: bool = False) -> Any:
    """Return a part of a key's state with a source under another name.

    Args:
        value: an event, a run, a whole story, or some of them in a tuple or list.
        before: the source's name up to now.
        after: its name from now on; None to leave out what came from it.
        sources: whether texts in `value` are names of sources.

    >>> heard = Observation(0, 5, 5, "kitchen", "e", True, False, False, 1.0, 1.0)
    >>> renamed((heard,), "kitchen", "0x01")[0].source, renamed([heard], "kitchen", None)
    ('0x01', [])
    >>> renamed((("kitchen", 3), ("0x01", 5), ("hall", 4)), "kitchen", "0x01", sources=True)
    (('0x01', 5), ('hall', 4))
    """
    if isinstance(value, Observation):
        if value.source != before:
            return value
        return None if after is None else value._replace(source=after)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        fields: Any = value
        parts = {name: getattr(fields, name) for name in fields._fields}
        result = {name: renamed(part, before, after, sources=name in SOURCE_FIELDS) for name, part in parts.items()}
        if isinstance(value, HoldingRun):  # who holds now is not set aside for its silence
            now = dict(result["holding"])
            result["stale"] = tuple(each for each in result["stale"] if each[0] not in now)
            result["begin"], result["told"] = (value.begin, value.told) if now else (None, False)
        if isinstance(value, CompactedHistory) and value.last is not None:  # silence counts from an event that is left
            result["last"] = result["last"] or result["last_holding"]
        return fields._replace(**result)
    if not isinstance(value, (tuple, list, frozenset)):
        return value
    if sources:
        return type(value)(_sources(value, before, after))
    pairs = ((renamed(each, before, after), each) for each in value)
    return type(value)(each for each, was in pairs if each is not None or was is None)


def _sources(value: Any, before: str, after: str | None) -> list[Any]:
    """Return names, or pairs of a name and a time, each name once, with its latest time."""
    latest: dict[str, Any] = {}
    for each in value:
        name = each if isinstance(each, str) else each[0]
        name = after if name == before else name
        if name is None:
            continue
        if isinstance(each, str):
            latest[name] = name
        else:
            latest[name] = (name, max(each[1], latest[name][1]) if name in latest else each[1])
    return list(latest.values())
