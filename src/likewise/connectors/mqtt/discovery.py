"""Home Assistant's discovery: what a state topic's bare value is called, and the units of its fields.

A configuration names its state topic, a device class or a name, a unit, and where in the payload the value stands
(`value_template`). Abbreviated names (`stat_t`, `unit_of_meas`, `~`) are read as Home Assistant reads them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from likewise.defaults import MAX_DISCOVERED

_LONG: Final = {
    "stat_t": "state_topic", "unit_of_meas": "unit_of_measurement", "dev_cla": "device_class",
    "val_tpl": "value_template", "json_attr_t": "json_attributes_topic", "dev": "device",
}  # fmt: skip
_FIELD: Final = re.compile(r"\{\{\s*value_json((?:\.\w+|\[\s*['\"][^'\"]+['\"]\s*\])+)")
_STEP: Final = re.compile(r"\.(\w+)|\[\s*['\"]([^'\"]+)['\"]\s*\]")


class Announced(NamedTuple):
    """What was announced of a value: its field ('' of a bare one), what it is called, its unit ('' for none)."""

    field: str
    name: str
    unit: str


class Discovery:
    """What was announced, by state topic; bounded, the oldest forgotten first.

    >>> found = Discovery()
    >>> said = {"~": "attic", "stat_t": "~/t", "dev_cla": "temperature", "unit_of_meas": "°C", "name": "Attic"}
    >>> found.learn("homeassistant/sensor/attic/config", said)
    >>> found.bare("attic/t")
    Announced(field='', name='temperature', unit='°C')
    """

    def __init__(self, most: int = MAX_DISCOVERED) -> None:
        self._most = most
        self._topics: dict[str, tuple[str, Announced]] = {}  # by the configuration's own topic
        self._states: dict[str, dict[str, Announced]] = {}  # state topic -> configuration's topic -> what it says

    def learn(self, topic: str, said: Mapping[str, object]) -> None:
        """Remember a configuration; an empty one, or one without a state topic, is forgotten."""
        self._forget(topic)
        base = said.get("~")
        full = {_LONG.get(key, key): value for key, value in said.items()}
        state = full.get("state_topic")
        if not isinstance(state, str) or not state:
            return
        if isinstance(base, str):
            state = base + state[1:] if state.startswith("~") else state
            state = state[:-1] + base if state.endswith("~") else state
        template = full.get("value_template")
        found = _FIELD.search(template) if isinstance(template, str) else None
        field = ".".join(a or b for a, b in _STEP.findall(found[1])) if found else ""
        called = next((str(full[key]) for key in ("device_class", "name") if full.get(key)), "")
        announced = Announced(field, called, str(full.get("unit_of_measurement") or ""))
        self._topics[topic] = (state, announced)
        self._states.setdefault(state, {})[topic] = announced
        while len(self._topics) > self._most:
            self._forget(next(iter(self._topics)))

    def _forget(self, topic: str) -> None:
        state, _ = self._topics.pop(topic, ("", None))
        known = self._states.get(state)
        if known is not None:
            known.pop(topic, None)
            if not known:
                del self._states[state]

    def state_of(self, topic: str) -> str | None:
        """The state topic that a configuration's topic speaks of."""
        found = self._topics.get(topic)
        return None if found is None else found[0]

    def said_of(self, topic: str) -> list[Announced]:
        """Everything that was announced of a state topic."""
        return list(self._states.get(topic, {}).values())

    def bare(self, topic: str) -> Announced | None:
        """What a bare value of a topic is, if that was announced."""
        return next((each for each in self._states.get(topic, {}).values() if not each.field), None)

    def units(self, topic: str) -> dict[str, str]:
        """The units of the fields of a topic's payload."""
        return {each.field: each.unit for each in self._states.get(topic, {}).values() if each.field and each.unit}
